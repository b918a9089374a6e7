"""The shape of a C file as the preprocessor sees it: comments, strings, directives, conditionals, brace depth.

Everything works on text decoded as Latin-1, so that an offset is a byte offset whatever the file's encoding is, and
nothing here ever fails on text that is not valid C.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from agent.c.preprocessor.comments import mask, noise
from agent.c.preprocessor.conditions import evaluate
from agent.c.preprocessor.directives import BRANCHES, CONDITIONALS, Directive, include_of, read_directives
from agent.c.preprocessor.guards import find_guard

_NEWLINE = re.compile("\n")
_NAME = re.compile(r"[A-Za-z_]\w*")

BOM = "\xef\xbb\xbf"
"""A UTF-8 byte-order mark as Latin-1 text."""

@dataclass(slots=True)
class _Branch:
    """One open conditional: whether its current branch is live, and whether a branch was taken already."""

    directive: Directive
    outer: bool | None
    live: bool | None
    taken: bool | None


def _both(outer: bool | None, inner: bool | None) -> bool | None:
    if outer is False or inner is False:
        return False
    return None if outer is None or inner is None else True


class CText:
    """One C file, analysed once: ``directives``, ``includes``, ``guard`` and line arithmetic.

    ``macros`` are the predefined macros of the compiler (name to body); they decide ``#ifdef``.
    """

    def __init__(self, text: str, macros: Mapping[str, str] | None = None) -> None:
        self.text = text
        self._opaque: tuple[list[int], list[int]] | None = None
        self.masked = mask(text)
        if text.startswith(BOM):
            self.masked = " " * len(BOM) + self.masked[len(BOM) :]
        self.starts = [0, *map(re.Match.end, _NEWLINE.finditer(text))]
        self.macros: Mapping[str, str | None] = macros or {}
        self.directives = read_directives(text, self.masked, self.starts)
        self.guard = find_guard(self.directives, self.masked)
        self.defined: dict[str, int] = {}
        self._walk()
        self.includes = [found for d in self.directives if (found := include_of(d)) is not None]

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
            spans = list(noise(self.text))
            self._opaque = [one.start for one in spans], [one.end for one in spans]
        starts, ends = self._opaque
        place = bisect_right(starts, offset - 1) - 1
        return place >= 0 and offset < ends[place]

    def _walk(self) -> None:
        """Set depth, liveness and brace depth of every directive."""
        stack: list[_Branch] = []
        self.turns: list[tuple[int, bool | None]] = []
        macros: Mapping[str, str | None] = self.macros
        braces, last = 0, 0
        guard_first = self.guard.opened if self.guard else -1
        for index, d in enumerate(self.directives):
            live = stack[-1].live if stack else True
            if live is not False:
                braces = self._count_braces(last, d.start, braces)
            last = d.end
            if d.keyword in CONDITIONALS:
                d.depth, d.live, d.braces = self._depth(stack), live, braces
                condition = True if index == guard_first else _condition(d, macros)
                stack.append(_Branch(d, live, _both(live, condition), condition))
                self.turns.append((d.line, stack[-1].live))
                continue
            if d.keyword in BRANCHES and stack:
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
            if d.keyword in ("define", "undef") and live is not False:
                macros = self._with_macro(d, macros)

    def _depth(self, stack: list[_Branch]) -> int:
        guarded = 1 if self.guard and stack and stack[0].directive is self.directives[self.guard.opened] else 0
        return len(stack) - guarded

    def _count_braces(self, start: int, end: int, braces: int) -> int:
        piece = self.masked[start:end]
        return max(0, braces + piece.count("{") - piece.count("}"))

    def _with_macro(self, d: Directive, macros: Mapping[str, str | None]) -> Mapping[str, str | None]:
        """``macros`` as a ``#define`` or ``#undef`` leaves them; those given are copied before the first change."""
        match = _NAME.match(d.argument)
        if not match:
            return macros
        changed = dict(macros) if macros is self.macros else macros
        assert isinstance(changed, dict)
        name = match.group()
        if d.keyword == "define":
            self.defined.setdefault(name, d.line)
            function_like = d.argument[match.end() : match.end() + 1] == "("
            changed[name] = None if function_like or d.live is None else d.argument[match.end() :].strip()
        else:
            changed.pop(name, None)
        return changed


def _condition(d: Directive, macros: Mapping[str, str | None]) -> bool | None:
    if d.keyword in ("ifdef", "ifndef", "elifdef", "elifndef"):
        name = d.argument.split()[0] if d.argument.split() else ""
        return (name in macros) != (d.keyword in ("ifndef", "elifndef"))
    return evaluate(d.argument, macros)
