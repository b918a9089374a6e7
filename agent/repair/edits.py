"""What a candidate is: one small edit, or a few, of text that is there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

import msgspec


class Edit(msgspec.Struct, frozen=True):
    """Bytes ``start`` to ``end`` of ``path`` become ``text``. Places count in the file before any edit."""

    path: str
    start: int
    end: int
    text: str


class Candidate(msgspec.Struct, frozen=True):
    """A change that may mend the fault. ``source`` says who proposed it: an operator, the model that filled a gap, two edits
    put together. ``line`` counts from 1. ``rank`` is how promising it is, higher first."""

    edits: tuple[Edit, ...]
    operator: str
    path: str
    function: str
    line: int
    source: str = "operator"
    rank: float = 0.0

    @property
    def size(self) -> int:
        """Characters taken away and put in."""
        return sum(len(edit.text) + edit.end - edit.start for edit in self.edits)


def apply_edits(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """The text with all edits of one file made.

    Raises:
        ValueError: two edits overlap.
    """
    last = len(source) + 1
    for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
        if edit.end > last:
            raise ValueError("edits overlap")
        source = source[: edit.start] + edit.text.encode("utf-8", "surrogateescape") + source[edit.end :]
        last = edit.start
    return source


def texts_of(candidate: Candidate, sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The whole files after a candidate, by path."""
    paths = dict.fromkeys(edit.path for edit in candidate.edits)
    return {path: apply_edits(sources[path], tuple(one for one in candidate.edits if one.path == path)) for path in paths}


def unified(candidate: Candidate, sources: Mapping[str, bytes]) -> str:
    """The candidate as a unified diff."""
    parts = []
    for path, text in texts_of(candidate, sources).items():
        before = sources[path].decode("utf-8", "replace").splitlines(keepends=True)
        after = text.decode("utf-8", "replace").splitlines(keepends=True)
        parts += [line if line.endswith("\n") else line + "\n" for line in
                  difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", n=2)]  # fmt: skip
    return "".join(parts)


_BLANK = re.compile(rb"[ \t]+")


def normal_text(source: bytes) -> bytes:
    """The text by which two candidates are the same: blank space at line ends, between words and on blank lines is left
    out; the indentation is kept, since it has a meaning in Python."""
    lines = []
    for line in source.splitlines():
        body = line.strip()
        if body:
            lines.append(line[: len(line) - len(line.lstrip())] + _BLANK.sub(b"", body))
    return b"\n".join(lines)
