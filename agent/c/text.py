"""The shape of a C file as the preprocessor sees it: comments, strings, directives, conditionals, brace depth.

Everything works on text decoded as Latin-1, so that an offset is a byte offset whatever the file's encoding is, and
nothing here ever fails on text that is no valid C.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from agent.c.conditions import evaluate

_OPAQUE = re.compile(
    r"//(?:[^\n\\]|\\\r?\n|\\)*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)
_NEWLINE = re.compile("\n")
_NOT_NEWLINE = re.compile(r"[^\n\r]")
_DIRECTIVE = re.compile(r"^[ \t\f\v]*(?:#|%:|\?\?=)[ \t\f\v]*([A-Za-z_]\w*)?((?:[^\n\\]|\\\r?\n|\\)*)", re.MULTILINE)
_INCLUDE_TARGET = re.compile(r'\s*(?:<([^>\n]+)>|"([^"\n]+)")')
_NAME = re.compile(r"[A-Za-z_]\w*")

BOM = "\xef\xbb\xbf"
"""A UTF-8 byte-order mark as Latin-1 text."""

FEATURE_MACROS = frozenset(
    [
        "_GNU_SOURCE",
        "_POSIX_C_SOURCE",
        "_POSIX_SOURCE",
        "_XOPEN_SOURCE",
        "_XOPEN_SOURCE_EXTENDED",
        "_DEFAULT_SOURCE",
        "_BSD_SOURCE",
        "_SVID_SOURCE",
        "_ISOC99_SOURCE",
        "_ISOC11_SOURCE",
        "_ISOC2X_SOURCE",
        "_LARGEFILE_SOURCE",
        "_LARGEFILE64_SOURCE",
        "_FILE_OFFSET_BITS",
        "_TIME_BITS",
        "_ATFILE_SOURCE",
        "_REENTRANT",
        "_THREAD_SAFE",
        "_FORTIFY_SOURCE",
        "_DARWIN_C_SOURCE",
        "_NETBSD_SOURCE",
        "_OPENBSD_SOURCE",
        "__EXTENSIONS__",
        "_ALL_SOURCE",
        "_MINIX",
        "__STDC_FORMAT_MACROS",
        "__STDC_LIMIT_MACROS",
        "__STDC_CONSTANT_MACROS",
        "__STDC_WANT_LIB_EXT1__",
        "__STDC_WANT_IEC_60559_BFP_EXT__",
        "__USE_MINGW_ANSI_STDIO",
        "_CRT_SECURE_NO_WARNINGS",
        "WIN32_LEAN_AND_MEAN",
        "_WIN32_WINNT",
        "WINVER",
        "NOMINMAX",
    ]
)
"""Macros that change what the headers after them declare (feature_test_macros(7), and their cousins elsewhere)."""


def mask(text: str) -> str:
    """``text`` with comments blanked and the insides of literals blanked; same length, same line breaks."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] == "/":
            return _NOT_NEWLINE.sub(" ", found)
        return found[0] + _NOT_NEWLINE.sub(" ", found[1:-1]) + found[-1] if len(found) > 1 else found

    return _OPAQUE.sub(blank, text)


@dataclass(slots=True)
class Directive:
    """A preprocessor line. ``line``/``end_line`` are 1-based and inclusive; ``end`` is the offset after its newline."""

    keyword: str
    argument: str
    line: int
    end_line: int
    start: int
    end: int
    depth: int = 0
    live: bool | None = True
    braces: int = 0


@dataclass(slots=True)
class Include:
    """An ``#include``. ``live`` is None where only a compiler could tell; ``depth`` 0 is the top level, guard aside."""

    name: str
    system: bool
    line: int
    end_line: int
    depth: int
    live: bool | None
    braces: int


@dataclass(slots=True)
class _Branch:
    """One open conditional: whether its current branch is live, and whether a branch was taken already."""

    directive: Directive
    outer: bool | None
    live: bool | None
    taken: bool | None
    macros: dict[str, str | None] = field(default_factory=dict)


def _both(outer: bool | None, inner: bool | None) -> bool | None:
    if outer is False or inner is False:
        return False
    return None if outer is None or inner is None else True


class CText:
    """One C file, analysed once: ``directives``, ``includes``, ``guard`` and line arithmetic.

    ``macros`` are the predefined macros of the compiler (name to body); they decide ``#ifdef``.
    """

    def __init__(self, text: str, macros: dict[str, str] | None = None) -> None:
        self.text = text
        self._opaque: tuple[list[int], list[int]] | None = None
        self.masked = mask(text)
        if text.startswith(BOM):
            self.masked = " " * len(BOM) + self.masked[len(BOM) :]
        self.starts = [0, *map(re.Match.end, _NEWLINE.finditer(text))]
        self.macros: dict[str, str | None] = dict(macros or {})
        self.directives = self._read_directives()
        self.guard = self._find_guard()
        self.defined: dict[str, int] = {}
        self._walk()
        self.includes = [self._include(d) for d in self.directives if d.keyword in ("include", "include_next", "import")]
        self.includes = [i for i in self.includes if i.name]

    @property
    def line_count(self) -> int:
        """Lines of the file; a last line without newline counts, an empty one after the last newline does not."""
        return len(self.starts) - (1 if self.starts[-1] == len(self.text) and len(self.starts) > 1 else 0)

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds ``offset``."""
        return bisect_right(self.starts, offset)

    def line_text(self, line: int) -> str:
        """The text of a 1-based line without its line break; empty when there is no such line."""
        if not 1 <= line <= len(self.starts):
            return ""
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")

    def masked_line(self, line: int) -> str:
        """A 1-based line with comments and the insides of literals blanked."""
        if not 1 <= line <= len(self.starts):
            return ""
        end = self.starts[line] if line < len(self.starts) else len(self.masked)
        return self.masked[self.starts[line - 1] : end]

    def dead(self, line: int) -> bool:
        """Whether a 1-based line is certainly left out by a conditional."""
        place = bisect_right(self.turns, line, key=lambda turn: turn[0]) - 1
        return place >= 0 and self.turns[place][1] is False

    def opaque_at(self, offset: int) -> bool:
        """Whether ``offset`` is inside a comment or a literal (not at its first character)."""
        if self._opaque is None:
            spans = [m.span() for m in _OPAQUE.finditer(self.text)]
            self._opaque = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._opaque
        place = bisect_right(starts, offset - 1) - 1
        return place >= 0 and offset < ends[place]

    def _read_directives(self) -> list[Directive]:
        found = []
        for match in _DIRECTIVE.finditer(self.masked):
            keyword = match.group(1) or ""
            end = match.end() + (1 if match.end() < len(self.masked) else 0)
            argument = (
                self.text[match.start(2) : match.end(2)]
                if keyword in ("include", "include_next", "import")
                else (match.group(2).replace("\\\r\n", " ").replace("\\\n", " ").strip())
            )
            first = self.line_of(match.start())
            last = self.line_of(max(match.start(), match.end() - (1 if match.end() > match.start() else 0)))
            found.append(Directive(keyword, argument, first, last, match.start(), end))
        return found

    def _find_guard(self) -> tuple[int, int] | None:
        """Indexes (first, last) of the directives that are the file's own include guard, or None."""
        ds = self.directives
        if len(ds) < 3 or self.masked[: ds[0].start].strip():
            return None
        opened = ds[0]
        if opened.keyword == "ifndef":
            name = opened.argument.split()[0] if opened.argument.split() else ""
        elif opened.keyword == "if" and (m := re.fullmatch(r"!\s*defined\s*\(?\s*(\w+)\s*\)?", opened.argument)):
            name = m.group(1)
        else:
            return None
        second = ds[1]
        if second.keyword != "define" or not second.argument.split() or second.argument.split()[0] != name:
            return None
        if name in FEATURE_MACROS or self.masked[opened.end : second.start].strip():
            return None
        depth = 0
        for index, directive in enumerate(ds):
            if directive.keyword in ("if", "ifdef", "ifndef"):
                depth += 1
            elif directive.keyword in ("else", "elif", "elifdef", "elifndef") and depth == 1:
                return None
            elif directive.keyword == "endif":
                depth -= 1
                if depth == 0:
                    after = self.masked[directive.end :].strip()
                    return (0, index) if index == len(ds) - 1 and not after else None
        return None

    def _walk(self) -> None:
        """Set depth, liveness and brace depth of every directive."""
        stack: list[_Branch] = []
        self.turns: list[tuple[int, bool | None]] = []
        macros = dict(self.macros)
        braces, last = 0, 0
        guard_first = self.guard[0] if self.guard else -1
        for index, d in enumerate(self.directives):
            live = stack[-1].live if stack else True
            if live is not False:
                braces = self._count_braces(last, d.start, braces)
            last = d.end
            if d.keyword in ("if", "ifdef", "ifndef"):
                d.depth, d.live, d.braces = self._depth(stack), live, braces
                condition = True if index == guard_first else _condition(d, macros)
                stack.append(_Branch(d, live, _both(live, condition), condition))
                self.turns.append((d.line, stack[-1].live))
                continue
            if d.keyword in ("else", "elif", "elifdef", "elifndef") and stack:
                top = stack[-1]
                condition = True if d.keyword == "else" else _condition(d, macros)
                if top.taken is True:
                    condition = False
                elif top.taken is None and condition is not False:
                    condition = None
                top.live = _both(top.outer, condition)
                top.taken = True if top.taken is True or condition is True else (top.taken if condition is False else None)
                d.depth, d.live, d.braces = self._depth(stack[:-1]), top.outer, braces
                self.turns.append((d.line, top.live))
                continue
            if d.keyword == "endif" and stack:
                top = stack.pop()
                d.depth, d.live, d.braces = self._depth(stack), top.outer, braces
                self.turns.append((d.line, top.outer))
                continue
            d.depth, d.live, d.braces = self._depth(stack), live, braces
            self._remember_macro(d, macros)

    def _depth(self, stack: list[_Branch]) -> int:
        guarded = 1 if self.guard and stack and stack[0].directive is self.directives[self.guard[0]] else 0
        return len(stack) - guarded

    def _count_braces(self, start: int, end: int, braces: int) -> int:
        piece = self.masked[start:end]
        return max(0, braces + piece.count("{") - piece.count("}"))

    def _remember_macro(self, d: Directive, macros: dict[str, str | None]) -> None:
        match = _NAME.match(d.argument)
        if not match or d.live is False:
            return
        name = match.group()
        if d.keyword == "define":
            self.defined.setdefault(name, d.line)
            function_like = d.argument[match.end() : match.end() + 1] == "("
            macros[name] = None if function_like or d.live is None else d.argument[match.end() :].strip()
        elif d.keyword == "undef":
            macros.pop(name, None)

    def _include(self, d: Directive) -> Include:
        match = _INCLUDE_TARGET.match(d.argument)
        name = (match.group(1) or match.group(2) or "") if match else ""
        return Include(name.strip(), bool(match and match.group(1)), d.line, d.end_line, d.depth, d.live, d.braces)


def _condition(d: Directive, macros: dict[str, str | None]) -> bool | None:
    if d.keyword in ("ifdef", "ifndef", "elifdef", "elifndef"):
        name = d.argument.split()[0] if d.argument.split() else ""
        return (name in macros) != (d.keyword in ("ifndef", "elifndef"))
    return evaluate(d.argument, macros)
