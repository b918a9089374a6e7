"""Which of the steps that are done wrote what the failing checks point at, the most probable first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agent.flow.relevant_failures import lines_about
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.language.test_names import test_function
from agent.languages import named
from agent.planning.adjustment.adjust import find_causes
from agent.planning.adjustment.evidence import evidence
from agent.planning.adjustment.failures import Failure
from agent.planning.schema import StepResult
from agent.regular_files import read_inside
from agent.repair.functions import Function, functions_of, walk
from agent.values import CheckResult, FailureSignal, PlanStep


class Blame:
    """Ranks the steps of one run. It remembers which were done again in vain for the same failures: they stand behind the
    others then, since the next version of a function that is right changes nothing."""

    def __init__(self, parts: RunParts, runner: StepRunner) -> None:
        self._parts = parts
        self._runner = runner
        self._vain: Counter[tuple[frozenset[str], str]] = Counter()

    async def ranked(self, now: CheckResult, signals: tuple[FailureSignal, ...]) -> list[PlanStep]:
        """Executed steps to do again: those that the failing tests use, told apart by the passing ones; where no test is
        known, by root-cause verdicts where they are on, else by the failures' own words; at last those that tests call."""
        found = await asyncio.to_thread(self.by_tests, now, self._runner.done) or await self._by_words(now, signals)
        return sorted(found, key=lambda step: self._vain[_key(now, step)])

    def in_vain(self, now: CheckResult, step: PlanStep) -> None:
        """Remember that ``step`` was done again for the failures of ``now`` and mended nothing."""
        self._vain[_key(now, step)] += 1

    def by_tests(self, now: CheckResult, done: Sequence[PlanStep]) -> list[PlanStep]:
        """The steps that wrote what failing tests use, the most suspicious first; none where the tests do not tell.
        Blocking."""
        failing = [test_function(one) for one in now.failing]
        told: dict[str, float] = {}
        for step in (one for one in done if one.kind == "function_implement"):
            suspicion = max((self._runner.suspicion(name, failing) or 0.0 for name in step.target_symbols), default=0.0)
            if suspicion:
                told[step.id] = suspicion
        return sorted((step for step in done if step.id in told), key=lambda step: -told[step.id])

    async def _by_words(self, now: CheckResult, signals: tuple[FailureSignal, ...]) -> list[PlanStep]:
        done = self._runner.done
        if now.passed or now.failed:  # the tests compile and run, so the headers that were laid down are right
            done = [step for step in done if step.kind != "scaffold"]
        found = await find_causes(
            self._parts.ctx,
            task=self._parts.found.task,
            results=[StepResult("checks", False, now.output[-4000:], signals=signals)],
            executed=done,
            cumulative_diff=await self._parts.workspace.diff(),
            round_no=self._runner.rounds,
        )
        by_id = {step.id: step for step in done}
        blamed = [by_id[name] for name in found.rework if name in by_id]
        if not blamed and len(done) > 1:
            written = [step for step in done if step.kind == "function_implement"]
            return [step for step in written if any(map(self._runner.is_tested, step.target_symbols))]
        blamed = blamed or done  # where one step did all there is nobody else to blame
        if found.how != "evidence":
            return blamed
        reading = await asyncio.to_thread(_reading_steps, self._parts.workspace.root, done)
        ordered = sorted(dict.fromkeys([*blamed, *_named(now, done)]), key=lambda step: step.id in reading)
        if ordered[0] != blamed[0]:
            first, reader = (", ".join(step.target_symbols) for step in (ordered[0], blamed[0]))
            text = f"{first} is written anew first: {reader} only reads what other functions set."
            self._parts.ctx.notice("info", text, "repair")
        return ordered


def _key(now: CheckResult, step: PlanStep) -> tuple[frozenset[str], str]:
    return frozenset(now.failing), step.id


def _named(now: CheckResult, done: Sequence[PlanStep]) -> list[PlanStep]:
    """The functions that the failing checks name in their own names or lines, the best supported first."""
    told = [lines_about(one, now.output) for one in now.failing]
    failures = [Failure(FailureSignal("test_failure", text, "error_info"), "") for text in told]
    written = [step for step in done if step.kind == "function_implement"]
    points = {step.id: sum(evidence(one, step, written) for one in failures) for step in written}
    return sorted((step for step in written if points[step.id]), key=lambda step: -points[step.id])


def _only_reads(function: Function) -> bool:
    return named(function.language).acting_nodes.isdisjoint(node.type for node in walk(function.body))


def _reading_steps(root: Path, done: Sequence[PlanStep]) -> set[str]:
    """The steps whose functions only read state: they call, set and repeat nothing. A failing line often
    holds one, and there is little in it that can be wrong. Blocking."""
    found: dict[str, bool] = {}
    for path in {path for step in done for path in step.target_files}:
        try:
            functions = functions_of(path, read_inside(root, root / path))
        except OSError:
            continue
        found |= {one.name: _only_reads(one) for one in functions}
    return {step.id for step in done if step.target_symbols and all(found.get(name) for name in step.target_symbols)}
