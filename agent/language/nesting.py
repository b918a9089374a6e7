"""How deeply code is nested: a model that repeats an opening bracket until its limit writes thousands of levels, which
parsers and whoever walks their trees answer with seconds of work."""

from __future__ import annotations

import re

MAX_NESTING = 200
"""Levels beyond which code is not read. Python's own parser stops at 200 brackets; C promises 63 of a full expression and
127 of blocks (C11, 5.2.4.1)."""

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python's parser raises on text that it cannot read; the last two when expressions are nested too deeply."""

_STEP = re.compile(r"(?P<up>[(\[{]|^[ \t]*#[ \t]*if)|(?P<down>[)\]}]|^[ \t]*#[ \t]*endif)", re.M)


def nesting_problem(bare: str) -> str:
    """A sentence when brackets or ``#if`` in ``bare`` (code with comments and literals blanked) are nested too deeply, else
    "". One pass."""
    depth = 0
    for step in _STEP.finditer(bare):
        depth = depth + 1 if step["up"] else max(0, depth - 1)
        if depth > MAX_NESTING:
            return f"The reply nests brackets more than {MAX_NESTING} deep, so it was not read. Write it flat."
    return ""


def partners(text: str, pair: str) -> dict[int, int]:
    """Where each opening mark of ``pair`` (two characters) is closed, by position; one that is never closed is left out."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for mark in re.finditer(f"[{re.escape(pair)}]", text):
        if mark[0] == pair[0]:
            waiting.append(mark.start())
        elif waiting:
            found[waiting.pop()] = mark.start()
    return found
