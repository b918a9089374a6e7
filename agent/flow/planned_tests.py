"""The test steps of a plan, when all else is done: written, run, kept or not. They cannot spoil what was achieved."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath

from agent.coding.writing.generated_tests import TestsWritten, implement_tests
from agent.events import PlanAdjusted, StepFinished, StepStarted
from agent.flow.isolated_tests import IsolatedTests
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.languages import is_interface, is_module
from agent.models.types import ModelError
from agent.planning.interface_tests import KIND
from agent.values import CheckResult, PlanStep
from agent.workspace.protected import is_test_file

STAGE = "interface_tests"
_NOTHING_TO_TEST = "no header or module was found that they could test"
UNASKED = 2
"""Tries at tests that nobody asked for: they may not cost more than what they test."""

_TOLD = 5
"""Dropped tests that get a notice of their own."""


async def write_planned_tests(parts: RunParts, runner: StepRunner) -> None:
    """Carry out the test steps, a commit each. A step that comes to nothing leaves no file and a notice; whether that
    matters for the run's result is for ``flow.outcome`` to say.

    Raises:
        Stopped: if the person stopped the run.
    """
    outcome = parts.outcome
    settled = outcome.steps_done | outcome.tests_not_kept.keys()
    steps = [step for step in outcome.planned if step.kind == KIND and step.id not in settled]
    outcome.tests_asked = parts.found.intent.wants_tests
    if steps and not outcome.tests_asked and not parts.budget.allows():
        for step in steps:
            outcome.tests_not_kept[step.id] = "the budget of the run was used up before"
        steps = []
    if steps:
        async with parts.ctx.stage(STAGE, len(steps), title="tests of the interface") as report:
            kept = [await _Writing(parts, runner, step).carry_out() for step in steps]
            report.counts = {"kept": sum(kept), "not kept": len(kept) - sum(kept)}
    outcome.tests_kept = any(is_test_file(path) for path in await parts.workspace.changed_files())
    if outcome.tests_asked and not outcome.tests_kept:
        outcome.tests_not_kept.setdefault("", _NOTHING_TO_TEST)


class _Writing:
    """One test step."""

    def __init__(self, parts: RunParts, runner: StepRunner, step: PlanStep) -> None:
        self.parts, self.runner, self.step, self.ctx = parts, runner, step, parts.ctx
        self.path = next(iter(step.target_files), "")

    async def carry_out(self) -> bool:
        """Returns whether tests were kept."""
        parts, step = self.parts, self.step
        interface = await self._interface()
        if not interface:
            return self._drop()
        self.ctx.emit(StepStarted(step.id, step.description))
        await self.ctx.gate.pass_point()
        start = await parts.workspace.head()
        isolated, tries = IsolatedTests(parts, interface), self.ctx.config.coding.max_attempts
        try:
            done = await implement_tests(
                self.ctx, step, files=parts.tree.files, compile=parts.compiler, interface=interface, run=isolated.run,
                task=parts.found.task, max_attempts=tries if parts.outcome.tests_asked else min(tries, UNASKED),
                flavour=await isolated.flavour() if is_module(self.path) else "",
            )  # fmt: skip
        except ModelError as error:
            done = TestsWritten(False, self.path, reason=str(error))
        now: CheckResult | None = None
        reason = done.reason
        if done.ok:
            now, reason = await self._with_the_rest(start, interface)
        if reason:
            return await self._give_up(start, reason)
        await self._keep(done, now, isolated.by_hand)
        return True

    async def _interface(self) -> tuple[str, ...]:
        """The files to test, as they came to be; () when none of what the step waits for was done."""
        parts, files = self.parts, self.parts.tree.files
        planned = {step.id for step in parts.outcome.planned}
        needs = planned.intersection(self.step.depends_on)
        if needs and not needs & parts.outcome.steps_done:
            return ()
        there = tuple(path for path in self.step.interface if files.exists(path))
        offers = is_module if is_module(self.path) else is_interface
        changed = (path for path in await parts.workspace.changed_files() if offers(path))
        return there or tuple(path for path in changed if files.exists(path) and parts.tree.writable(path))

    async def _with_the_rest(self, start: str, interface: tuple[str, ...]) -> tuple[CheckResult | None, str]:
        """The project's checks with the new file there, and why it cannot stay, "" when it can."""
        changed = set(await self.parts.workspace.changed_files(start)) - {self.path, *interface}
        if changed:
            return None, f"it compiles only with a change of {', '.join(sorted(changed))}"
        checks = self.parts.checks
        now = await checks.after_step(self.step.id)
        if checks.regressed(now):
            return now, f"{checks.command} fails with {self.path} there, and does not without it"
        return now, ""

    async def _keep(self, done: TestsWritten, now: CheckResult | None, by_hand: str) -> None:
        parts, step = self.parts, self.step
        known = self._is_run_by(now)
        parts.checks.accept(now)
        before = await parts.workspace.head()
        commit = await parts.workspace.commit(f"{step.id}: {step.description}"[:200])
        files = tuple(await parts.workspace.changed_files(before))
        await asyncio.to_thread(parts.tree.catch_up)
        self.runner.note(step, ok=True)
        count = len(done.tests)
        self.ctx.emit(StepFinished(step.id, True, f"{count} test{'s pass' if count > 1 else ' passes'}", commit, files))
        for name, why in list(done.dropped.items())[:_TOLD]:
            text = f"{name} was taken out of {self.path}, because it fails: {why}. Either it or the code is wrong."
            self.ctx.notice("warning", text, STAGE)
        if not known:
            whose = "The project's checks do not run" if now is not None else "There are no checks that run"
            self.ctx.notice("info", f"{whose} {self.path}. Run it with: {by_hand}", STAGE)

    def _is_run_by(self, now: CheckResult | None) -> bool:
        best = self.parts.checks.best
        if now is None:
            return False
        more = best is not None and (now.passed or 0) > (best.passed or 0)
        return more or PurePosixPath(self.path).stem in now.output

    async def _give_up(self, start: str, reason: str) -> bool:
        await self.runner.roll_back(start)
        self.parts.outcome.tests_not_kept[self.step.id] = reason
        self.ctx.emit(StepFinished(self.step.id, False, reason, rolled_back=True))
        self.ctx.notice("warning", f"The tests planned in {self.path} were not kept: {reason}", STAGE)
        return False

    def _drop(self) -> bool:
        """What the step would test did not come to be."""
        outcome = self.parts.outcome
        outcome.planned = tuple(step for step in outcome.planned if step.id != self.step.id)
        outcome.tests_not_kept[self.step.id] = f"what they would test was not written ({', '.join(self.step.interface)})"
        text = f"{self.path} is not written: there is nothing that it could test."
        self.ctx.emit(PlanAdjusted((self.step,), (), text, (), 0, "facts"))
        return False
