"""Text of a failure: cleaned for reading, cut to the lines that matter."""

from __future__ import annotations

import re

_SCANNED = 200_000
_LONGEST_LINE = 1000  # some patterns take time with the square of a line's length
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def window(lines: list[str], centre: int, cap: int, start: int = 0, end: int | None = None) -> str:
    """Whole lines around line ``centre``, as many as fit in ``cap`` characters; that line is in, cut when it must be.

    Only lines from ``start`` up to, not with, ``end`` (default: all) are taken.
    """
    end = len(lines) if end is None else end
    if not lines:
        return ""
    first = last = centre
    size = len(lines[centre])
    if size >= cap:
        return lines[centre].strip()[:cap]
    grew = True
    while grew:
        grew = False
        for place in (last + 1, first - 1):
            if start <= place < end and size + len(lines[place]) + 1 <= cap:
                size += len(lines[place]) + 1
                first, last = min(first, place), max(last, place)
                grew = True
    return "\n".join(lines[first : last + 1]).strip()


def last_line(text: str) -> int:
    """Number of the last line of ``text`` that is not blank, 0 if none."""
    lines = text.splitlines()
    return max((number for number, line in enumerate(lines) if line.strip()), default=0)


def prepared(text: str) -> str:
    """Without colour codes, long lines cut; the middle of a very long text left out: verdicts stand at the ends."""
    if len(text) > _SCANNED:
        text = f"{text[: _SCANNED // 4]}\n{text[-_SCANNED * 3 // 4 :]}"
    plain = _ANSI.sub("", text).replace("\0", "")
    return "\n".join(line[:_LONGEST_LINE] for line in plain.splitlines())
