"""When all steps are done and checks still fail: the step to blame is done again with the failure shown, kept if better."""

from __future__ import annotations

import asyncio
import enum

from agent.events import FailureSignals
from agent.flow.blame import Blame
from agent.flow.diagnosis import SOURCE, crashed
from agent.flow.relevant_failures import relevant_failures, written_by
from agent.flow.run_parts import RunParts
from agent.flow.search_repair import NEARLY, PARTLY, as_it_began, passes_partly, search_repair
from agent.flow.steps import StepRunner
from agent.flow.version_search import VersionSearch
from agent.planning.signals import as_shown
from agent.values import CheckResult, FailureSignal

FIRST_SEARCH, NEAR_SEARCH = 15.0, 30.0
"""Seconds of the first search of a state, and of one where nearly all checks pass. Of 15 searches that mended what was
written 11 had taken 15 s or less, all of them 30 s; the 32 that found nothing took 50 s (median), the time of several fresh
versions."""

LONGEST_SEARCH = 60.0
"""Seconds of a search once fresh versions were no better."""

REWORKED = 3
"""Steps done again in one round, the most probable first."""


class _Depth(enum.IntEnum):
    """How thoroughly a state was searched for an edit."""

    FIRST = 1
    LONG = 2
    WITH_MODEL = 3


class Rework:
    """The rounds after the plan: failed functions once more, then what the failing checks point at.

    Checks that failed before and have nothing to do with what was written are no reason for a round.
    """

    def __init__(self, parts: RunParts, runner: StepRunner) -> None:
        self.parts = parts
        self.runner = runner
        self.ctx = parts.ctx
        self.blame = Blame(parts, runner)
        self.versions = VersionSearch(parts, runner)
        self._searched: dict[str, _Depth] = {}
        self._told_why_not = False

    async def run(self) -> None:
        """Work until the checks pass, or the rounds or the budget are used up. A round that mends nothing is no reason to
        stop: the next one draws other versions. One that mends something leaves a state of which none was drawn yet, so
        that long searches wait."""
        budget = self.parts.budget
        await self._by_rules()
        while self.runner.may_rework and await self._needed() and budget.allows():
            async with self.ctx.stage("repair", title=f"repair, round {self.runner.next_round()}") as report:
                report.note = budget.shown()
                better = await self._failed_steps()
                await self._by_rules()
                better |= await self._failing_checks()
                report.counts = {"mended": int(better)}
            await self._by_rules()
            if not better:
                await self._by_small_edits(NEARLY, _Depth.WITH_MODEL)
                await self._by_small_edits(PARTLY, _Depth.LONG)
        self.parts.outcome.mended = self._repaired()

    async def _by_rules(self) -> None:
        """Search the versions that were written for an edit by rule, shortly, then what stands there."""
        while not self.parts.outcome.steps_failed and await self._needed():
            best, done = self.parts.checks.best, self.runner.done
            blamed = await asyncio.to_thread(self.blame.by_tests, best, done) if best is not None else []
            names = [name for step in blamed or done for name in step.target_symbols]
            if not await self.versions.run(names, standing=not self._may_be_near(PARTLY)):
                break
        await self._by_small_edits(PARTLY)

    async def _by_small_edits(self, share: float, depth: _Depth = _Depth.FIRST) -> None:
        """Search for an edit of what was written, once for each state of it and ``depth``, where ``share`` of the checks
        pass or a crash hides what the others say. One that mends a part is kept, and the next is searched for. Edits by rule
        cost no call of a model, so they are tried before anything is rewritten, but not for long; lines that a model fills
        come after."""
        parts = self.parts
        while not parts.outcome.steps_failed and await self._needed() and self._may_be_near(share):
            head, left = await parts.workspace.head(), parts.budget.seconds_left
            if self._searched.get(head, 0) >= depth or left == 0:
                return
            self._searched[head] = depth
            first = NEAR_SEARCH if self._may_be_near(NEARLY) else FIRST_SEARCH
            longest = first if depth == _Depth.FIRST else LONGEST_SEARCH
            await search_repair(
                self.ctx, parts.workspace, parts.found.task, parts.checks, parts.outcome,
                hidden=parts.found.hidden, with_model=depth == _Depth.WITH_MODEL, before=await as_it_began(parts.workspace),
                budget_s=min(longest, left or longest),
            )  # fmt: skip
            await asyncio.to_thread(parts.tree.catch_up)

    def _may_be_near(self, share: float) -> bool:
        best = self.parts.checks.best
        return passes_partly(best, share) or (best is not None and not best.ok and not best.passed and crashed(best))

    async def _needed(self) -> bool:
        best = self.parts.checks.best
        if self._repaired():
            return False
        if self.parts.outcome.steps_failed:
            return True
        if best is None or best.ok:
            return False
        if not await self._relevant(best):
            text = "The failing checks failed before and have nothing to do with what was written, so nothing is rewritten."
            if not self._told_why_not:
                self.ctx.notice("info", text, "repair")
            self._told_why_not = True
            return False
        return True

    def _repaired(self) -> bool:
        """Whether a repair is done: a step that came to nothing was a guess at its place, and another try would only change
        code that works."""
        before, best = self.parts.checks.before, self.parts.checks.best
        failed_then = before is not None and not before.ok
        return failed_then and best is not None and best.ok and self.parts.found.intent.repairs

    async def _relevant(self, now: CheckResult) -> tuple[str, ...]:
        """The failures that are a reason to write something anew."""
        found, before = self.parts.found, self.parts.checks.before
        written = await written_by(self.parts.workspace, found, self.runner.done)
        return await asyncio.to_thread(relevant_failures, before, now, written, found.index, found.intent)

    async def _failed_steps(self) -> bool:
        """Functions that did not come to anything get another try, now that the others are there."""
        outcome = self.parts.outcome
        again = [step for step in self.runner.executed if step.id in outcome.steps_failed]
        better = False
        for step in again:
            if not self.parts.budget.allows():
                break
            why = f"An earlier version was refused: {outcome.steps_failed[step.id]}"
            result, _ = await self.runner.carry_out(step, why)
            better |= result.success
        return better

    async def _failing_checks(self) -> bool:
        now = self.parts.checks.best
        if now is None or now.ok or not self.runner.executed:
            return False
        now = await self.parts.checks.after_step("") or now
        if now.ok:
            self.parts.checks.accept(now)
            return True
        reasons = await self._relevant(now)
        if not reasons:
            return False
        functions = sorted({name for step in self.runner.executed for name in step.target_symbols})
        why = await self.parts.checks.explain(now, functions)
        signals = _about(reasons, why.signals)
        self.ctx.emit(FailureSignals(signals))
        self.parts.checks.blame(why.faulty)
        blamed = [step for step in await self.blame.ranked(now, signals) if not self.runner.by_facts(step)]
        for step in blamed[:REWORKED]:
            if not self.parts.budget.allows():
                break
            own = [fault.signal for fault in why.faults if fault.function in step.target_symbols]
            missed = "" if own else await asyncio.to_thread(self.runner.worker.missed, step.target_symbols, now)
            failure = missed or as_shown(own or _about(reasons, why.told) or signals)
            result, _ = await self.runner.carry_out(step, failure, anew=True)
            if result.success:
                return True
            self.blame.in_vain(now, step)
        return False


def _about(reasons: tuple[str, ...], signals: tuple[FailureSignal, ...]) -> tuple[FailureSignal, ...]:
    """The signals that tell of one of the ``reasons``, and what sanitizers found; all of them when that is none."""
    told = (one for one in signals if one.source == SOURCE or any(reason in one.message for reason in reasons))
    return tuple(told) or signals
