"""A tolerant second look at C: finds functions and types that macros or split braces hide from a grammar.

Works on source whose comments, strings and characters are blanked. Braces are counted per preprocessor branch: an
``#else`` begins at the depth of its ``#if``, so ``#ifdef A / int f(int a) { / #else / int f(void) { / #endif`` balances.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent.c.symbols.words import NEVER_DECLARED
from agent.c.syntax.branches import Conditionals
from agent.language.symbols import SymbolKind

_PIECE = re.compile(
    rb"^[ \t]*#[ \t]*(?P<directive>\w*)(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[{}();=\[\],*])",
    re.M,
)
_INSIDE = re.compile(rb"^[ \t]*#[ \t]*(?P<directive>\w*)(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)|(?P<mark>[{}])", re.M)
"""What counts of the insides of a body: the rest of it declares nothing."""

_BASE_TYPES = frozenset(b"void char short int long float double signed unsigned _Bool bool const volatile".split())
_TYPE_WORDS: dict[bytes, SymbolKind] = {b"struct": "struct", b"union": "union", b"enum": "enum"}
_SHOUT = re.compile(rb"[A-Z_][A-Z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class TopLevel:
    """Something declared at top level. ``body_start`` is -1 for all but functions. Byte offsets, ``end`` exclusive."""

    name: str
    kind: SymbolKind
    start: int
    end: int
    body_start: int = -1
    static: bool = False


@dataclass(slots=True)
class _Group:
    """A parenthesised group at statement level: ``name (…)``."""

    name: bytes
    name_at: int
    start: int
    end: int = -1
    inner: list[tuple[bytes, int]] = field(default_factory=list)
    only_names: bool = True


class _Scanner:
    """One pass over the pieces of a file; collects ``TopLevel``."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.found: list[TopLevel] = []
        self.depth = 0
        self.base = 0  # depth of enclosing extern "C" blocks
        self.parens = 0
        self.conditionals = Conditionals()
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
        self.type_: tuple[SymbolKind, bytes] | None = None

    def run(self) -> list[TopLevel]:
        at, outside = 0, True
        while at >= 0:
            at, outside = self.read(_PIECE if outside else _INSIDE, at, outside), not outside
        return self.found

    def read(self, pattern: re.Pattern[bytes], at: int, outside: bool) -> int:
        """Reads on until a body begins or ends, and returns that offset, -1 at the end of the code."""
        for match in pattern.finditer(self.code, at):
            kind = match.lastgroup
            if kind == "word":
                self.word(match.group(), match.start())
            elif kind == "mark":
                self.mark(match.group(), match.start())
            else:
                self.directive(match)
            if (self.depth == self.base) != outside:
                return match.end()
        return -1

    def directive(self, match: re.Match[bytes]) -> None:
        word = match.group("directive")
        after, _ = self.conditionals.step(word, match.group("rest"), match.span(), (self.depth, self.parens))
        if isinstance(after, tuple):
            self.depth, self.parens = after
        if word.startswith(b"el") and self.depth == self.base:
            self.clear()

    def top(self) -> bool:
        return self.depth == self.base and self.parens == 0

    def word(self, word: bytes, offset: int) -> None:
        if self.parens:
            if self.groups and self.groups[-1].end < 0:
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
        elif self.start < 0 and mark in (b"*", b"["):
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
        groups = [g for g in self.groups if g.name not in NEVER_DECLARED and g.name not in _BASE_TYPES and g.end > 0]
        if not groups or (self.words and self.words[0] == b"typedef"):
            return None
        telling = [g for g in groups if re.search(rb"[A-Za-z_]|\A\W*\Z", self.code[g.start + 1 : g.end - 1])]
        groups = telling or groups  # printflike(1, 2) holds no parameters
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
            self.open_type()
            if group is not None and not (self.words and self.words[-1] in _TYPE_WORDS):
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

    def open_type(self) -> None:
        """Remembers ``struct name {``, which becomes a symbol at the semicolon behind its closing brace."""
        if len(self.words) > 1 and self.words[-2] in _TYPE_WORDS and self.last is not None and not self.groups:
            self.type_ = (_TYPE_WORDS[self.words[-2]], self.words[-1])

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
        self.types_end(offset)
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

    def types_end(self, offset: int) -> None:
        if self.type_ is not None:
            kind, name = self.type_
            self.found.append(TopLevel(name.decode(), kind, self.start, offset + 1))
        if self.words and self.words[0] == b"typedef":
            if self.groups and self.groups[0].inner:
                name = self.groups[0].inner[-1][0]
            elif not self.groups and len(self.words) > 1 and self.last is not None:
                name = self.last[0]
            else:
                return
            self.found.append(TopLevel(name.decode(), "typedef", self.start, offset + 1))

    def add(self, group: _Group, start: int, end: int, body: int) -> None:
        name = group.name
        inner = [word for word, _ in group.inner]
        if body >= 0 and group.name_at == start and _SHOUT.match(name) and inner and group.only_names:
            name = b"_".join(inner)  # TEST(group, case) { … }: what tells these apart is the arguments
        kind: SymbolKind = "function" if body >= 0 else "prototype"
        self.found.append(TopLevel(name.decode(), kind, start, end, body, b"static" in self.words))


def declarations(code: bytes) -> list[TopLevel]:
    """Functions, prototypes, named types and typedefs at top level of blanked code, in order of appearance."""
    return _Scanner(code).run()
