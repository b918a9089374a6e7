"""The lines of a test before the one that failed: what was called there is what the failure is about.

A C assertion tells its own text and place, `assert(strcmp(sb.data, want) == 0)`, and not which function had been called to
fill `sb`. The lines above do; the nearest call of a function that the run wrote is the most probable one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from agent.planning.signals import MESSAGE_CAP
from agent.regular_files import read_inside
from agent.values import FailureSignal
from agent.workspace.protected import is_hidden, is_test_file

FURTHEST = 12
"""Lines above the failing one that are looked at."""

LONGEST = 300
"""Characters of the lines that are told; the nearest are kept."""

_PLACE = re.compile(r"(?P<path>[^\s:()\"'`]+\.(?:c|cc|cpp|h|py)):(?P<line>\d+)\b")
_ENDS = re.compile(r"^(?:\}|def |class |\w.*\)\s*\{?\s*$)")


def with_lines(
    signals: Sequence[FailureSignal], root: Path, written: Collection[str], hidden: tuple[str, ...] = ()
) -> tuple[FailureSignal, ...]:
    """The failures of tests that name a place but none of the ``written`` functions, with the lines that led to it. Others
    are as they were. Blocking: reads the files that are named, except ``hidden`` ones, which a model does not see."""
    if not written:
        return tuple(signals)
    calls = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(written)))})\s*\(")
    return tuple(one if calls.search(one.message) else _told(one, root, calls, hidden) for one in signals)


def _told(signal: FailureSignal, root: Path, calls: re.Pattern[str], hidden: tuple[str, ...]) -> FailureSignal:
    for place in _PLACE.finditer(signal.message):
        path = os.path.normpath(place["path"])
        if os.path.isabs(path):
            path = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
        if path.startswith("..") or not is_test_file(path) or is_hidden(path, hidden):
            continue
        if lines := _leading(root, root / path, int(place["line"]), calls):
            shown = f"\nWhat led there ({path}):\n{lines}"
            return msgspec.structs.replace(signal, message=signal.message[: MESSAGE_CAP - len(shown)] + shown)
    return signal


def _leading(root: Path, path: Path, line: int, calls: re.Pattern[str]) -> str:
    """The lines from the nearest call above down to ``line``; "" when there is no call in the same function."""
    try:
        lines = read_inside(root, path).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    for first in range(min(line, len(lines)) - 1, max(line - FURTHEST, 0) - 1, -1):
        if first < line - 1 and _ENDS.match(lines[first]):
            return ""
        if calls.search(lines[first]):
            return "\n".join(lines[first:line])[-LONGEST:]
    return ""
