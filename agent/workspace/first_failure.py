"""Compare checks that end at the first failing assertion: a later line of the same function is further.

A test program with one ``main`` full of ``assert`` has no counts to compare; the line it stops at shows progress.
"""

from __future__ import annotations

import re

import msgspec

from agent.values import CheckResult

_SAID = (
    # glibc: prog: file.c:30: main: Assertion `x' failed.
    re.compile(
        r"(?:^|: )(?P<file>[^\s:]+):(?P<line>\d+): (?:.* )?(?P<function>\w+)(?:\([^)]*\))?: Assertion [`'‘].* failed\.", re.M
    ),
    # musl: Assertion failed: x (file.c: main: 30)
    re.compile(r"^Assertion failed: .* \((?P<file>[^\s:]+): (?P<function>\w+): (?P<line>\d+)\)$", re.M),
    # BSD, macOS: Assertion failed: (x), function main, file file.c, line 30.
    re.compile(r"^Assertion failed: .*, function (?P<function>\w+), file (?P<file>[^,]+), line (?P<line>\d+)\.", re.M),
)


class Stop(msgspec.Struct, frozen=True):
    """The assertion that ended a program. ``line`` counts from 1."""

    path: str
    function: str
    line: int


def stopped_at(output: str) -> Stop | None:
    """The last assertion of C that ended a program, according to ``output``; None when none did."""
    last = max((match for say in _SAID for match in say.finditer(output)), key=lambda match: match.start(), default=None)
    return Stop(last["file"], last["function"], int(last["line"])) if last else None


def further(before: CheckResult, now: CheckResult) -> int:
    """1 when ``now`` stopped at a later line of the same function than ``before``, -1 when at an earlier one; else 0.

    Checks that count what passes are not judged by this: their counts say more.
    """
    if before.ok or now.ok or before.passed or now.passed:
        return 0
    old, new = stopped_at(before.output), stopped_at(now.output)
    if old is None or new is None or (old.path, old.function) != (new.path, new.function):
        return 0
    return (new.line > old.line) - (new.line < old.line)
