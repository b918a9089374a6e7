"""Which failing checks have to do with what the run wrote. Facts only: names, the failures' own lines, who calls whom.

A check that failed before the run and still fails is no reason to rewrite anything, nor does it spoil the result, when
nothing that was written bears on it: the stubs that nobody asked for keep their tests failing. In this order:

1. A check that did not fail before counts.
2. A task that is about the failing checks themselves (fix, make the tests pass) makes all of them count.
3. The name of the check and the lines about it: what they say of the functions written against what they say of functions
   that are still open (the same points as in ``planning.adjustment.evidence``). More for the written ones: it counts.
   Any for the open ones: it does not.
4. What the test calls, directly or through others: it counts if that reaches something written and nothing that is open.
5. A check that cannot be found: it counts unless functions are open that could explain it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence

import msgspec

from agent.flow.outcome import RunOutcome
from agent.flow.survey import Survey
from agent.index import Index
from agent.language.test_names import test_function
from agent.planning.adjustment.evidence import symbol_evidence
from agent.planning.adjustment.special_methods import use_pattern
from agent.planning.signals import signals_from_output
from agent.task.intent import Intent
from agent.values import CheckResult, PlanStep
from agent.workspace.checks import compare
from agent.workspace.git import WorkspaceError
from agent.workspace.worktree import Workspace

_BODIES = frozenset({"function", "method", "property", "macro"})
_WORDS = re.compile(r"[^\W\d]\w*")
_LOCATED = re.compile(r"^\S+?:\d+:(?:\d+:)?\s*")
_CALLS_DEEP = 3
_READ_AT_MOST = 300


class WrittenSymbols(msgspec.Struct, frozen=True):
    """What a run wrote (``symbols``, by their own names) and what is still without a body (``open``)."""

    symbols: frozenset[str]
    open: frozenset[str]


async def written_by(workspace: Workspace, found: Survey, done: Sequence[PlanStep]) -> WrittenSymbols:
    """The functions that ``done`` steps name, and those whose text is not as it was at the run's beginning."""
    names = {_own(name) for step in done for name in step.target_symbols}
    for path in await workspace.changed_files():
        try:
            before = await workspace.content_at(workspace.base, path)
        except WorkspaceError:  # it is new
            before = b""
        names |= await asyncio.to_thread(_changed, found.index, path, before)
    await asyncio.to_thread(found.refresh_open)
    still_open = {_own(function.name) for function in found.functions}
    return WrittenSymbols(frozenset(names - still_open), frozenset(still_open))


async def failures_left(workspace: Workspace, found: Survey, outcome: RunOutcome) -> tuple[str, ...] | None:
    """The failures at a run's end that have to do with what it wrote; None when there is nothing to look at. A task about
    the failing checks is judged by all of them only when no check passes that did not before."""
    now = outcome.final
    if now is None or now.ok or not now.failing:
        return None
    done = [step for step in outcome.planned if step.id in outcome.steps_done]
    written = await written_by(workspace, found, done)
    intent = Intent() if compare(outcome.baseline, now)[0] else found.intent
    return await asyncio.to_thread(relevant_failures, outcome.baseline, now, written, found.index, intent)


def relevant_failures(
    before: CheckResult | None, now: CheckResult, written: WrittenSymbols, index: Index, intent: Intent
) -> tuple[str, ...]:
    """Those of the failures of ``now`` that have to do with what was written: names of checks, or messages where the checks
    have no names. Blocking: reads the index."""
    if now.ok:
        return ()
    named = bool(now.failing)
    failing = now.failing if named else _messages(now)
    old = set() if before is None else set(before.failing if named else _messages(before))
    if before is None or before.ok or not failing or intent.repairs or intent.about_checks:
        return failing or (f"exit code {now.exit_code}",)
    reader = _Reader(index)
    return tuple(
        one
        for one in failing
        if one not in old or _bears(one, lines_about(one, now.output) if named else one, written, reader if named else None)
    )


def lines_about(name: str, output: str) -> str:
    """The lines of ``output`` that name a check, each with the line above where that tells a place: C checks that print
    ``file:line: what was not true`` do so before the verdict. The places themselves are left out: they hold file names."""
    lines = output.splitlines()
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    found = [name]
    for number, line in enumerate(lines):
        if word.search(line):
            above = lines[number - 1] if number else ""
            found += [above, line] if _LOCATED.match(above) else [line]
    return "\n".join(_LOCATED.sub("", line) for line in found)


def _bears(name: str, text: str, written: WrittenSymbols, reader: _Reader | None) -> bool:
    everything = sorted(written.symbols | written.open)
    ours = max((symbol_evidence(text, symbol, everything) for symbol in written.symbols), default=0)
    theirs = max((symbol_evidence(text, symbol, everything) for symbol in written.open), default=0)
    if ours or theirs:
        return ours > theirs
    reached = reader.reached(name) if reader is not None else None
    if reached is None:
        return not written.open
    return bool(reached & written.symbols) and not reached & written.open


class _Reader:
    """Follows the names in the text of a test to the functions of the project and on from there."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._bodies: dict[str, list[tuple[str, int, int]]] | None = None
        self._special: list[tuple[str, re.Pattern[str]]] = []
        self._sources: dict[str, bytes] = {}

    def reached(self, name: str) -> frozenset[str] | None:
        """Every name that the test uses, through at most three calls; None when there is no such test."""
        if self._bodies is None:
            self._bodies = {}
            for symbol in self.index.symbols():
                if symbol.kind in _BODIES:
                    self._bodies.setdefault(symbol.name, []).append((symbol.path, symbol.start, symbol.end))
            self._special = [(one, use) for one in sorted(self._bodies) if (use := use_pattern(one)) is not None]
        layer = {test_function(name)}
        if not layer & self._bodies.keys():
            return None
        found: set[str] = set()
        seen: set[str] = set()
        for _ in range(_CALLS_DEEP + 1):
            seen |= layer
            words = {word for one in sorted(layer)[:_READ_AT_MOST] for word in self._words(one)}
            found |= words
            layer = (words & self._bodies.keys()) - seen
        return frozenset(found)

    def _words(self, name: str) -> Collection[str]:
        words: set[str] = set()
        for path, start, end in (self._bodies or {}).get(name, ()):
            source = self._sources.setdefault(path, b"") or self.index.source(path)
            self._sources[path] = source
            text = source[start:end].decode("utf-8", "replace")
            words |= set(_WORDS.findall(text))
            words |= {special for special, use in self._special if use.search(text)}
        return words


def _messages(result: CheckResult) -> tuple[str, ...]:
    return tuple(signal.message for signal in signals_from_output(result.output, result.command, result.exit_code))


def _changed(index: Index, path: str, before: bytes) -> set[str]:
    """The functions of a file whose text is not in ``before``."""
    source = index.source(path)
    return {one.name for one in index.symbols(path) if one.kind in _BODIES and source[one.start : one.end] not in before}


def _own(symbol: str) -> str:
    return symbol.rpartition(".")[2]
