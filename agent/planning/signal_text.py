"""Text of a failure: cleaned for reading, cut to the lines that matter."""

from __future__ import annotations

import re

from agent.log_text import without_escapes, without_stamps

_LONG = 200_000
_ENDS = 1000
_MOST_TELLING = 50
_TELLING = re.compile(
    r"(?i)error|fail|undefined|fehler|erreur|エラー|错误|ошибка|오류|not found|cannot|fault|abort|traceback|assert"
    r"|sanitizer|\*\*\*|timed out|not ok|conflict|reject|panic|[✗✘✖❌]"
)
_LONGEST_LINE = 1000  # some patterns take time with the square of a line's length


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
    """Without colour codes and time stamps, long lines cut; of a very long text both ends, and what lies around telling
    words."""
    lines = [line[:_LONGEST_LINE] for line in without_stamps(without_escapes(text)).splitlines()]
    if len(text) > _LONG:
        lines = _ends_and_telling(lines)
    return "\n".join(lines)


def _ends_and_telling(lines: list[str]) -> list[str]:
    """The first and last lines and, since an error may stand in the middle, the neighbours of lines that could be one."""
    kept = {*range(min(_ENDS, len(lines))), *range(max(0, len(lines) - _ENDS), len(lines))}
    telling = [number for number, line in enumerate(lines) if _TELLING.search(line)]
    for number in [*telling[:_MOST_TELLING], *telling[-_MOST_TELLING:]]:
        kept.update(range(max(0, number - 8), min(len(lines), number + 9)))
    return [lines[number] for number in sorted(kept)]
