"""When all steps are done and checks still fail: the step to blame is done anew with the failure shown, kept if better."""

from __future__ import annotations

import asyncio

from agent.events import FailureSignals
from agent.flow.diagnosis import SOURCE
from agent.flow.relevant_failures import relevant_failures, written_by
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.planning.adjustment.adjust import find_causes
from agent.planning.schema import StepResult
from agent.planning.signals import as_shown
from agent.values import CheckResult, FailureSignal, PlanStep

REWORKED = 3
"""Steps done anew in one round, the most probable first."""


class Rework:
    """The rounds after the plan: failed functions once more, then what the failing checks point at.

    Checks that failed before and have nothing to do with what was written are no reason for a round.
    """

    def __init__(self, parts: RunParts, runner: StepRunner) -> None:
        self.parts = parts
        self.runner = runner
        self.ctx = parts.ctx

    async def run(self) -> None:
        """Work until the checks pass, nothing gets better, or the rounds are used up."""
        while self.runner.has_rounds and await self._needed():
            async with self.ctx.stage("repair", title=f"repair, round {self.runner.next_round()}") as report:
                better = await self._failed_steps() | await self._failing_checks()
                report.counts = {"mended": int(better)}
            if not better:
                break
        self.parts.outcome.mended = self._repaired()

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
            self.ctx.notice("info", text, "repair")
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
        for step in (await self._blamed(now, signals))[:REWORKED]:
            own = [fault.signal for fault in why.faults if fault.function in step.target_symbols]
            failure = as_shown(own or _about(reasons, why.told) or signals)
            result, _ = await self.runner.carry_out(step, failure, anew=True)
            if result.success:
                return True
        return False

    async def _blamed(self, now: CheckResult, signals: tuple[FailureSignal, ...]) -> list[PlanStep]:
        """Executed steps to do anew: by root-cause verdicts where they are on, else by the failures' own words; where
        nothing tells one function from the other, those that the tests call."""
        done = self.runner.done
        if now.passed or now.failed:  # the tests compile and run, so the headers that were laid down are right
            done = [step for step in done if step.kind != "scaffold"]
        found = await find_causes(
            self.ctx,
            task=self.parts.found.task,
            results=[StepResult("checks", False, now.output[-4000:], signals=signals)],
            executed=done,
            cumulative_diff=await self.parts.workspace.diff(),
            round_no=self.runner.rounds,
        )
        by_id = {step.id: step for step in done}
        blamed = [by_id[name] for name in found.rework if name in by_id]
        if blamed or len(done) == 1:
            return blamed or done  # where one step did all there is nobody else to blame
        written = [step for step in done if step.kind == "function_implement"]
        return [step for step in written if any(map(self.runner.is_tested, step.target_symbols))]


def _about(reasons: tuple[str, ...], signals: tuple[FailureSignal, ...]) -> tuple[FailureSignal, ...]:
    """The signals that tell of one of the ``reasons``, and what sanitizers found; all of them when that is none."""
    told = (one for one in signals if one.source == SOURCE or any(reason in one.message for reason in reasons))
    return tuple(told) or signals
