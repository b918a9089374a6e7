"""A tolerant second look at C: finds functions by their shape where macros or split braces hide them from a grammar.

Works on source whose comments, strings and characters are blanked. Braces are counted per preprocessor branch: an
``#else`` begins at the depth of its ``#if``, so ``#ifdef A / int f(int a) { / #else / int f(void) { / #endif`` balances.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent.index.symbols.lexical import blank

_NOISE = re.compile(
    rb"//(?:[^\n\\]|\\.|\\\r?\n)*|/\*.*?(?:\*/|\Z)"
    rb'|"(?:[^"\\\n]|\\.|\\\r?\n)*(?:"|(?=\n)|\Z)'
    rb"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.|\\\r?\n)*(?:'|(?=\n)|\Z)",
    re.S,
)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w*)(?:[^\n\\]|\\\r?\n|\\.)*", re.M)
_PIECE = re.compile(
    rb"^[ \t]*#[ \t]*(?P<directive>\w*)(?:[^\n\\]|\\\r?\n|\\.)*|(?P<word>[A-Za-z_]\w*)|(?P<mark>[{}();=\[\],*])", re.M
)
_BRACE = re.compile(rb"^[ \t]*#[ \t]*(\w*)(?:[^\n\\]|\\\r?\n|\\.)*|([{}])", re.M)
_NEVER_NAMES = frozenset(
    b"if while for switch return sizeof do else case goto typedef struct union enum _Alignas _Alignof alignas alignof "
    b"_Static_assert static_assert __attribute__ __attribute __declspec asm __asm__ __asm typeof __typeof__ defined".split()
)
_BASE_TYPES = frozenset(b"void char short int long float double signed unsigned _Bool bool const volatile".split())
_SHOUT = re.compile(rb"[A-Z_][A-Z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Found:
    """A function-shaped thing at top level. ``body_start`` is -1 for a prototype. Byte offsets, ``end`` exclusive."""

    name: str
    name_at: int
    start: int
    end: int
    body_start: int
    static: bool


@dataclass(slots=True)
class _Group:
    """A parenthesised group at statement level: ``name (…)``."""

    name: bytes
    name_at: int
    start: int
    end: int = -1
    inner: list[tuple[bytes, int]] = field(default_factory=list)
    only_names: bool = True


def blanked(source: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Source with comments, strings and character constants blanked (same length), and the comments' (start, end)."""
    comments: list[tuple[int, int]] = []

    def replace(match: re.Match[bytes]) -> bytes:
        if match.group()[:1] == b"/":
            comments.append(match.span())
        return blank(match)

    return _NOISE.sub(replace, source), comments


def directives(code: bytes) -> list[re.Match[bytes]]:
    """Every preprocessor line, continuation lines included; group 1 is the directive's word."""
    return list(_DIRECTIVE.finditer(code))


def one_branch(code: bytes, source: bytes) -> bytes:
    """``source`` with all branches but the first of every conditional blanked whose branches leave unequal brace depths.

    Such a conditional cannot be parsed whole. Lengths and offsets stay as they are.
    """
    out = bytearray(source)
    depth = 0
    # Of each open conditional: depth at the #if, depth after its first branch and where that ended (-1 before), whether
    # a later branch ended elsewhere, start and end of the #if itself.
    open_: list[list[int]] = []
    for match in _BRACE.finditer(code):
        word, mark = match.groups()
        if word is not None:
            if word in (b"if", b"ifdef", b"ifndef"):
                open_.append([depth, -1, -1, 0, match.start(), match.end()])
            elif open_ and word in (b"else", b"elif", b"elifdef", b"elifndef"):
                top = open_[-1]
                if top[1] < 0:
                    top[1], top[2] = depth, match.start()
                elif depth != top[1]:
                    top[3] = 1
                depth = top[0]
            elif open_ and word == b"endif":
                top = open_.pop()
                if top[1] >= 0:
                    if depth != top[1] or top[3] or top[1] != top[0]:
                        out[top[2] : match.end()] = _spaces(out[top[2] : match.end()])
                        out[top[4] : top[5]] = _spaces(out[top[4] : top[5]])
                    depth = top[1]
                elif depth != top[0]:
                    out[top[4] : top[5]] = _spaces(out[top[4] : top[5]])
                    out[match.start() : match.end()] = _spaces(out[match.start() : match.end()])
        elif mark == b"{":
            depth += 1
        elif mark == b"}":
            depth = max(0, depth - 1)
    return bytes(out)


def _spaces(piece: bytearray) -> bytes:
    return re.sub(rb"[^\n]", b" ", bytes(piece))


class _Scanner:
    """One pass over the pieces of a file; collects ``Found``."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.found: list[Found] = []
        self.depth = 0
        self.base = 0  # depth of enclosing extern "C" blocks
        self.parens = 0
        self.branches: list[tuple[int, int, int]] = []
        self.first_exit: list[tuple[int, int] | None] = []
        self.knr: tuple[int, _Group] | None = None
        self.pending: tuple[_Group, int] | None = None
        self.pending_start = -1
        self.clear()

    def clear(self) -> None:
        self.start = -1
        self.words: list[bytes] = []
        self.groups: list[_Group] = []
        self.last: tuple[bytes, int] | None = None
        self.assigned = False

    def run(self) -> list[Found]:
        for match in _PIECE.finditer(self.code):
            kind = match.lastgroup
            if kind == "word":
                if self.depth == self.base:
                    self.word(match.group(), match.start())
            elif kind == "mark":
                self.mark(match.group(), match.start())
            else:
                self.directive(match.group("directive"))
        return self.found

    def directive(self, word: bytes) -> None:
        if word in (b"if", b"ifdef", b"ifndef"):
            self.branches.append((self.depth, self.parens, len(self.found)))
            self.first_exit.append(None)
        elif self.branches and word.startswith(b"el"):
            if self.first_exit[-1] is None:
                self.first_exit[-1] = (self.depth, self.parens)
            self.depth, self.parens, _ = self.branches[-1]
            if self.depth == self.base:
                self.clear()
        elif self.branches and word == b"endif":
            self.branches.pop()
            exit_ = self.first_exit.pop()
            if exit_ is not None:
                self.depth, self.parens = exit_

    def top(self) -> bool:
        return self.depth == self.base and self.parens == 0

    def word(self, word: bytes, offset: int) -> None:
        if self.parens:
            if self.groups:
                group = self.groups[-1]
                group.inner.append((word, offset))
                if word in _BASE_TYPES:
                    group.only_names = False
            return
        if self.start < 0:
            self.start = offset
        self.words.append(word)
        self.last = (word, offset)

    def mark(self, mark: bytes, offset: int) -> None:
        if mark == b"(":
            self.open_paren(offset)
        elif mark == b")":
            self.close_paren(offset)
        elif mark == b"{":
            self.open_brace(offset)
        elif mark == b"}":
            self.close_brace(offset)
        elif not self.top():
            if self.parens == 1 and self.groups and mark in b"*[":
                self.groups[-1].only_names = False
        elif mark == b";":
            self.statement_ends(offset)
        elif mark == b"=":
            self.assigned = True
        elif self.start < 0 and mark == b"*":
            self.start = offset

    def open_paren(self, offset: int) -> None:
        if self.depth != self.base:
            return
        if self.parens == 0 and self.last is not None and self.start >= 0:
            name, at = self.last
            self.groups.append(_Group(name, at, offset))
        self.parens += 1

    def close_paren(self, offset: int) -> None:
        if self.depth != self.base:
            return
        self.parens = max(0, self.parens - 1)
        self.last = None
        if self.parens == 0 and self.groups and self.groups[-1].end < 0:
            self.groups[-1].end = offset + 1

    def named(self) -> _Group | None:
        """The group that holds the parameters, judged by what stands before and behind each candidate."""
        groups = [g for g in self.groups if g.name not in _NEVER_NAMES and g.name not in _BASE_TYPES and g.end > 0]
        if not groups or (self.words and self.words[0] == b"typedef"):
            return None
        shouted = [bool(_SHOUT.match(g.name)) for g in groups]
        if len(groups) == 1 or not shouted[0] or shouted[1]:
            return groups[0]
        gap = self.code[groups[0].end : groups[1].name_at]
        if groups[0].name_at == self.start and b"\n" in gap[: len(gap) - len(gap.lstrip()) + 1] and gap.strip():
            # A macro call on its own line, without a semicolon, stands above the function.
            self.start = groups[1].name_at - len(gap.lstrip())
            self.words = gap.split()
        return groups[1]

    def open_brace(self, offset: int) -> None:
        if self.parens and self.depth == self.base:
            self.parens = 0  # an unclosed parenthesis above: a body starts afresh
        if self.depth == self.base:
            if self.words == [b"extern"] and not self.groups:
                self.base += 1
                self.depth += 1
                self.clear()
                return
            group = None if self.assigned else self.named()
            if group is not None and not (self.words and self.words[-1] in (b"struct", b"union", b"enum")):
                self.pending = (group, offset)
                self.pending_start = self.start
            elif self.knr is not None and self.start < 0:
                self.pending_start, group = self.knr
                self.pending = (group, offset)
                self.words = [b"static"] if self.code[self.pending_start :].startswith(b"static") else []
            else:
                self.pending = None
            self.knr = None
        self.depth += 1

    def close_brace(self, offset: int) -> None:
        if self.depth == self.base and self.base > 0:
            self.base -= 1
        self.depth = max(0, self.depth - 1)
        if self.depth != self.base:
            return
        if self.pending is not None:
            group, body = self.pending
            self.add(group, self.pending_start, offset + 1, body)
            self.pending = None
            self.clear()
        elif not self.words or self.groups:
            self.clear()

    def statement_ends(self, offset: int) -> None:
        group = None if self.assigned else self.named()
        if group is not None and len(self.words) > 1 and group.name_at != self.start:
            behind = self.code[group.end : offset].split()
            if group.only_names and behind and group.inner:
                self.knr = (self.start, group)
            else:
                self.knr = None
                self.add(group, self.start, offset + 1, -1)
        elif self.assigned or self.groups or (self.words and self.words[0] == b"typedef"):
            self.knr = None
        self.clear()

    def add(self, group: _Group, start: int, end: int, body: int) -> None:
        name, at = group.name, group.name_at
        inner = [word for word, _ in group.inner]
        if body >= 0 and at == start and _SHOUT.match(name) and inner and group.only_names:
            name = b"_".join(inner)  # TEST(group, case) { … }: what tells these apart is the arguments
            at = group.inner[0][1]
        self.found.append(Found(name.decode(), at, start, end, body, b"static" in self.words))


def functions(code: bytes) -> list[Found]:
    """Function definitions and prototypes at top level of blanked code, in order of appearance."""
    return _Scanner(code).run()
