"""Where in a file a piece of text is: exactly, or but for white space; and what comes nearest when it is nowhere."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

_NEAREST_AT_LEAST = 0.5
_NEAREST_LINES = 4000


class Match(msgspec.Struct, frozen=True):
    """The one place: offsets in the text searched, and the replacement fitted to it (with ``\\n`` line endings)."""

    start: int
    end: int
    replacement: str
    how: str


class Nearest(msgspec.Struct, frozen=True):
    """The part of a file most like a text; ``line`` is 1-based, ``ratio`` difflib's (1.0 is equal)."""

    text: str = ""
    line: int = 0
    ratio: float = 0.0


def find_match(text: str, search: str, replace: str) -> Match | int:
    """The only place of ``text`` that ``search`` names, or how many places there are (0, 2, 3 ...).

    Line endings make no difference. Whole lines count before parts of lines, exact before white-space-tolerant, so
    that a looser reading never makes an exact one ambiguous.
    """
    lines = _lines(text)
    bare = [line.rstrip("\r\n") for line in lines.contents]
    for wanted, new in (_block(search, replace), _trimmed(search, replace)):
        places = _runs(bare, wanted)
        if places:
            return len(places) if len(places) > 1 else lines.match(places[0], wanted, new, "exact")
    within = _within(text, search, replace)
    if within is not None:
        return within
    for key in (str.rstrip, _squeezed):
        places = _runs([key(line) for line in lines.contents], [key(line) for line in wanted])
        if len(places) > 1:
            return len(places)
        if places:
            old = lines.contents[places[0] : places[0] + len(wanted)]
            return lines.match(places[0], wanted, _reindented(new, wanted, old), "whitespace")
    return 0


class _Lines(msgspec.Struct, frozen=True):
    contents: list[str]
    starts: list[int]

    def match(self, first: int, wanted: Sequence[str], new: Sequence[str], how: str) -> Match:
        """The match of ``wanted`` at line ``first``; without ``new`` the lines go with their line endings."""
        last = first + len(wanted) - 1
        start = self.starts[first]
        end = self.starts[last] + len(self.contents[last].rstrip("\r\n"))
        if not new:
            end = self.starts[last] + len(self.contents[last])
        return Match(start, end, "\n".join(new), how)


def _lines(text: str) -> _Lines:
    contents = re.findall(r"[^\n]*\n|[^\n]+$", text)
    starts, at = [], 0
    for line in contents:
        starts.append(at)
        at += len(line)
    return _Lines(contents, starts)


def _block(search: str, replace: str) -> tuple[list[str], list[str]]:
    """Both parts as lines; an empty replacement has none."""
    unix = replace.replace("\r\n", "\n")
    return search.replace("\r\n", "\n").split("\n"), unix.split("\n") if unix else []


def _trimmed(search: str, replace: str) -> tuple[list[str], list[str]]:
    """Both parts without the blank lines at the ends of ``search``, which a model adds or leaves out by whim."""
    wanted, new = _block(search, replace)
    for end in (0, -1):
        while wanted and not wanted[end].strip():
            wanted.pop(end)
            if new and not new[end].strip():
                new.pop(end)
    return wanted, new


def _runs(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    if not wanted:
        return []
    first, size = wanted[0], len(wanted)
    return [at for at in range(len(lines) - size + 1) if lines[at] == first and list(lines[at : at + size]) == list(wanted)]


def _within(text: str, search: str, replace: str) -> Match | int | None:
    """A match that begins or ends inside a line; None when there is none."""
    unix = text.replace("\r\n", "\n")
    wanted = search.replace("\r\n", "\n").strip("\n")
    places = [found.start() for found in re.finditer(f"(?={re.escape(wanted)})", unix)] if wanted else []
    if not places:
        return None
    if len(places) > 1:
        return len(places)
    breaks = [found.start() - index for index, found in enumerate(re.finditer("\r\n", text))]
    low, high = places[0], places[0] + len(wanted)
    # a position in the text without \r lies as many characters further as there are \r before it
    start, end = low + bisect_right(breaks, low - 1), high + bisect_right(breaks, high - 1)
    return Match(start, end, replace.replace("\r\n", "\n").strip("\n"), "exact")


def _squeezed(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _reindented(new: Sequence[str], wanted: Sequence[str], old: Sequence[str]) -> list[str]:
    """``new`` with the indentation of ``old`` where the model wrote that of ``wanted``."""
    pairs = [
        (_indent(ours), _indent(theirs.rstrip("\r\n"))) for ours, theirs in zip(wanted, old, strict=True) if ours.strip()
    ]
    shifts = sorted(set(pairs), key=lambda pair: -len(pair[0]))
    fitted = []
    for line in new:
        indent = _indent(line)
        shift = next(((ours, theirs) for ours, theirs in shifts if indent.startswith(ours)), pairs[0])
        ours, theirs = shift
        fitted.append(theirs + line[len(ours) :] if line.strip() and indent.startswith(ours) else line)
    return fitted


def nearest_text(text: str, search: str) -> Nearest:
    """The run of as many lines as ``search`` has that is most like it; empty when nothing is half alike."""
    lines = [line.rstrip("\r\n") for line in _lines(text).contents][:_NEAREST_LINES]
    wanted, _ = _trimmed(search, "")
    if not wanted or not lines:
        return Nearest()
    goal = "\n".join(line.strip() for line in wanted)
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(goal)
    best = Nearest(ratio=_NEAREST_AT_LEAST)
    for at in range(max(1, len(lines) - len(wanted) + 1)):
        window = lines[at : at + len(wanted)]
        matcher.set_seq1("\n".join(line.strip() for line in window))
        if matcher.real_quick_ratio() <= best.ratio or matcher.quick_ratio() <= best.ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best.ratio:
            best = Nearest("\n".join(window), at + 1, ratio)
    return best if best.text else Nearest()
