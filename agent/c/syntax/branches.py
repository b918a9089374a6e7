"""Preprocessor conditionals that cut through code: which branch to follow so that braces balance.

One consistent world is followed: what a first ``#ifdef X`` assumes holds for every later condition on ``X`` in the file,
so ``#ifndef A / if (x) / #else / if (y) { / #endif … #ifdef A / } / #endif`` balances.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.language.lexical import blank_bytes

_DEFINED = re.compile(rb"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?\Z")


@dataclass(slots=True)
class Conditional:
    """One ``#if … #endif``: the depth before it, after each branch, and the spans of its directives."""

    entry: object
    taken: int
    ends: list[object] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)

    def exit(self) -> object:
        """The depth behind the ``#endif`` in the world that is followed."""
        return self.ends[self.taken] if 0 <= self.taken < len(self.ends) else self.entry

    def even(self) -> bool:
        """True when every branch leaves the depth as it found it, so that it does not matter which is followed."""
        return all(end == self.entry for end in self.ends)


class Conditionals:
    """Follows the directives of one file. Depths are opaque to it: whatever the caller counts."""

    def __init__(self) -> None:
        self._assumed: dict[bytes, bool] = {}
        self._open: list[Conditional] = []

    def step(self, word: bytes, condition: bytes, span: tuple[int, int], depth: object) -> tuple[object, Conditional | None]:
        """Takes in one directive; returns the depth from here on, and the conditional that just closed."""
        if word in (b"if", b"ifdef", b"ifndef"):
            self._open.append(Conditional(depth, 0 if self._holds(word, condition) else -1, lines=[span]))
        elif self._open and word in (b"else", b"elif", b"elifdef", b"elifndef"):
            top = self._open[-1]
            top.ends.append(depth)
            top.lines.append(span)
            if top.taken < 0 and (word == b"else" or self._holds(word[2:], condition)):
                top.taken = len(top.ends)
            return top.entry, None
        elif self._open and word == b"endif":
            top = self._open.pop()
            top.ends.append(depth)
            top.lines.append(span)
            return top.exit(), top
        return depth, None

    def _holds(self, word: bytes, condition: bytes) -> bool:
        text = b" ".join(condition.split())
        if word == b"if":
            if text in (b"0", b"1"):
                return text == b"1"
            match = _DEFINED.match(text)
            wanted = not (match and match.group(1))
            text = match.group(2) if match else text
        else:
            wanted = word == b"ifdef" or word == b"def"
        return self._assumed.setdefault(text, wanted) == wanted


def one_branch(plain: bytes, directives: Iterable[re.Match[bytes]], source: bytes) -> bytes:
    """``source`` with one branch left of every conditional that cuts through braces, the rest of it blanked.

    ``plain`` is the source with comments, strings and directives blanked. Lengths and offsets stay as they are.
    """
    out = bytearray(source)
    depth = at = 0
    conditionals = Conditionals()
    for line in directives:
        word, condition = line.groups()
        depth += plain.count(b"{", at, line.start()) - plain.count(b"}", at, line.start())
        at = line.end()
        after, closed = conditionals.step(word, condition, line.span(), depth)
        depth = after if isinstance(after, int) else depth
        if closed is not None and not closed.even():
            _keep_taken(out, closed)
    return bytes(out)


def _keep_taken(out: bytearray, conditional: Conditional) -> None:
    lines = conditional.lines
    for index, (start, end) in enumerate(lines):
        kept = index == conditional.taken
        stop = lines[index + 1][0] if index + 1 < len(lines) and not kept else end
        out[start:stop] = blank_bytes(bytes(out[start:stop]))
