"""Where the fault is: lines ranked by the tests that run them, functions by their best line, failures by their cause.

The measure is Ochiai's (Abreu et al., PRDC 2006): of a line that ``failed`` failing and ``passed`` passing checks execute,
``failed / sqrt(all failing * (failed + passed))``, from 0 to 1.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from agent.repair.functions import Function

Place = tuple[str, int]
"""A path and a line from 1."""

_WORD = re.compile(r"[A-Za-z]+")
_NAMED_BONUS = 0.15
_BLAMED_BONUS = 0.25
_SAME_CAUSE = 0.5
_EARLIER = 0.5


class Trace(msgspec.Struct, frozen=True):
    """One check: whether it passed, and the lines of the project that it executed."""

    name: str
    passed: bool
    lines: frozenset[Place]
    earlier: frozenset[Place] = frozenset()
    """What the same test executed before a check of it that failed, and that check did not: it may have left behind what
    the check then saw."""


class Suspect(msgspec.Struct, frozen=True):
    """A function that may hold the fault. ``score`` is from 0 to about 1.4, ``lines`` the score of each of its lines,
    ``why`` a few words that name the evidence."""

    function: Function
    score: float
    lines: dict[int, float]
    why: str


def line_scores(traces: Sequence[Trace]) -> dict[Place, float]:
    """Every line that a failing check executes, with its score; at half of it those that only came earlier in its test."""
    failing = [trace for trace in traces if not trace.passed]
    failed = Counter(place for trace in failing for place in trace.lines)
    earlier = Counter(place for trace in failing for place in trace.earlier if place not in failed)
    passed = Counter(place for trace in traces if trace.passed for place in trace.lines)

    def score(place: Place, count: int) -> float:
        return count / math.sqrt(len(failing) * (count + passed[place]))

    direct = {place: score(place, count) for place, count in failed.items()}
    return direct | {place: _EARLIER * score(place, count) for place, count in earlier.items()}


def rank_functions(
    functions: Iterable[Function],
    scores: Mapping[Place, float],
    *,
    task: str = "",
    blamed: Collection[Place] = (),
    called: Collection[str] = (),
) -> list[Suspect]:
    """Functions with a line that a failing check executes, the most suspicious first. ``blamed`` are places that a
    traceback, a crash or a sanitizer names, ``called`` the functions that failing checks call themselves. Without any
    score (nothing could be traced) all functions are ranked, by names and places alone."""
    words = {word.lower() for word in _WORD.findall(task)}
    found = []
    for function in functions:
        lines = {line: score for line in range(function.first, function.last + 1)
                 if (score := scores.get((function.path, line), 0.0)) > 0}  # fmt: skip
        hit = [line for line in range(function.first, function.last + 1) if (function.path, line) in blamed]
        if not lines and not hit and scores:
            continue
        base, why = max(lines.values(), default=0.5 if hit else 0.3), []
        if lines:
            why.append(f"its lines are run by failing checks (Ochiai {base:.2f})")
        for line in hit:
            lines[line] = lines.get(line, 0.5) + _BLAMED_BONUS
        if hit:
            base += _BLAMED_BONUS
            why.append(f"line {hit[0]} is named by the failure")
        own = function.name.rpartition(".")[2]
        if own in called:
            base += _NAMED_BONUS
            why.append("a failing check calls it")
        if own.lower() in task.lower() or ({part.lower() for part in _WORD.findall(own)} & words and len(own) > 3):
            base += _NAMED_BONUS if re.search(rf"\b{re.escape(own)}\b", task) else _NAMED_BONUS / 3
            why.append("the task names it")
        found.append(Suspect(function, round(base, 4), lines, "; ".join(why)))
    return sorted(found, key=lambda one: (-one.score, one.function.last - one.function.first, one.function.path))


def clusters(traces: Sequence[Trace]) -> list[tuple[str, ...]]:
    """Failing checks grouped by what they execute: two belong together when they share at least half of the lines that
    passing checks do not all run, too."""
    passing = [trace.lines for trace in traces if trace.passed]
    common = frozenset.intersection(*passing) if passing else frozenset()
    groups: list[tuple[list[str], set[Place]]] = []
    for trace in traces:
        if trace.passed:
            continue
        own = set(trace.lines - common) or set(trace.lines)
        for names, lines in groups:
            if len(own & lines) >= _SAME_CAUSE * max(1, min(len(own), len(lines))):
                names.append(trace.name)
                lines |= own
                break
        else:
            groups.append(([trace.name], own))
    return [tuple(names) for names, _ in groups]
