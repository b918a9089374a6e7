"""The steps of a plan in order: done, checked, committed or rolled back, and the plan adjusted after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import msgspec

from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import Candidate
from agent.events import FailureSignals, PlanAdjusted, PlanMade, StepFinished, StepStarted
from agent.flow.progress import EarlierProgress
from agent.flow.run_parts import RunParts
from agent.flow.worker import StepWorker, Work
from agent.planning.adjustment.adjust import adjust
from agent.planning.interface_tests import KIND as TESTS
from agent.planning.interface_tests import grown
from agent.planning.schema import Plan, PlanError, StepResult
from agent.planning.signals import as_shown, signal_of, signals_from_output
from agent.values import CheckResult, FailureCategory, PlanStep
from agent.workspace.first_failure import further

QUICK_CHECKS = 30.0
"""Seconds of the baseline up to which the checks run after every step; slower ones run once, at the end."""

_FACT_KINDS = ("function_implement", "type_definition")


class StepRunner:
    """Runs a plan. ``executed`` are the steps that were carried out, whatever came of them, in order."""

    def __init__(self, parts: RunParts) -> None:
        self.ctx = parts.ctx
        self.workspace = parts.workspace
        self.found = parts.found
        self.checks = parts.checks
        self.outcome = parts.outcome
        self.tree = parts.tree
        self.compiler = parts.compiler
        self.worker = StepWorker(parts)
        self.executed: list[PlanStep] = []
        self.rounds = 0
        self.redone: set[str] = set()
        self.waited: set[str] = set()

    @property
    def done(self) -> list[PlanStep]:
        """The executed steps that stand."""
        return [step for step in self.executed if step.id in self.outcome.steps_done]

    @property
    def versions(self) -> Collection[tuple[OpenFunction, list[Candidate]]]:
        """Every version of each C function that compiled in this run."""
        return self.worker.versions.values()

    def suspicion(self, name: str, failing: Collection[str]) -> float | None:
        """How much the failing test functions speak against a function; see :class:`TestContract`. Blocking."""
        return self.worker.contract.suspicion(name, failing)

    def tests_of(self, name: str) -> frozenset[str]:
        """The test functions that use a function. Blocking."""
        return self.worker.contract.concerning(name)

    @property
    def helpers(self) -> frozenset[str]:
        """The functions that came along with the versions of this run, as they were written."""
        return self.worker.helpers

    def callers(self, language: str) -> tuple[bytes, ...]:
        """The files of tests in a language, which tell how symbols are used."""
        return self.worker.contract.sources(language)

    def by_facts(self, step: PlanStep) -> bool:
        """Whether a step was done without a model: it has nothing else to say of it then."""
        return bool(step.target_symbols) and all(self.worker.tries.get(name) == 0 for name in step.target_symbols)

    def tries_at(self, name: str) -> int:
        """How often a model was asked for a function."""
        return self.worker.tries.get(name, 0)

    def is_tested(self, name: str) -> bool:
        """Whether the tests of the repository call a function."""
        return self.worker.contract.calls(name)

    @property
    def may_adjust(self) -> bool:
        """Whether ``orchestrator.max_adjustment_rounds`` allows another adjustment of the plan."""
        return self.rounds < self.ctx.config.orchestrator.max_adjustment_rounds

    @property
    def may_rework(self) -> bool:
        """Whether ``coding.rework_rounds`` allows another round of rework; adjustments count too."""
        return self.rounds < self.ctx.config.coding.rework_rounds

    def next_round(self) -> int:
        """Begin another round of adjustment or rework. Returns its number, from 1."""
        self.rounds += 1
        return self.rounds

    async def take_up(self, earlier: EarlierProgress) -> Plan:
        """Go on where a run was broken off. Returns what is left of its plan; what was done is reported once more, so
        that a reader of this part of the run alone sees it."""
        self.executed = earlier.restore(self.outcome)
        self.rounds = earlier.rounds
        self.ctx.count_earlier(includes=earlier.includes)
        await self.worker.recall([self.workspace.base, *earlier.scaffolds], self.workspace)
        note = f"The run continues: {len(self.outcome.steps_done)} of its {len(earlier.planned)} steps are done."
        self.ctx.emit(PlanMade(earlier.planned, earlier.how, notes=(note,)))
        for step in self.executed:
            self.ctx.emit(earlier.results[step.id])
        return Plan(earlier.left, earlier.how)

    async def run(self, plan: Plan) -> None:
        """Carry out ``plan`` as far as it goes.

        Raises:
            ModelError, Stopped, PlanError: the run cannot go on; what was committed stays.
        """
        queue = [step for step in plan.steps if step.kind != TESTS]  # those come last: flow.planned_tests
        while queue and not self._mended(queue):
            batch = self._batch(queue)
            if len(batch) > 1:
                queue = queue[len(batch) :]
                await self.carry_out_together(batch)
                continue
            step = queue.pop(0)
            result, more = await self.carry_out(step)
            if not result.success and (first := self._needed_first(step, queue)) is not None:
                queue = [first, step, *(left for left in queue if left.id != first.id)]
                continue
            if more:
                queue = [*more, *queue]
                self._announce(queue)
            if not result.success and self.may_adjust and self._plan_is_hit(step, queue):
                queue = await self._adjust(result, queue)

    async def carry_out(
        self, step: PlanStep, failure: str = "", *, anew: bool = False
    ) -> tuple[StepResult, tuple[PlanStep, ...]]:
        """One step: done, checked, committed, or rolled back to the commit before it. A step that breaks what passed
        before is tried once more with the failure shown."""
        self.ctx.emit(StepStarted(step.id, step.description))
        await self.ctx.gate.pass_point()
        start = await self.workspace.head()
        failure = failure or self._known_failure(step)
        of_stubs = frozenset() if anew else await asyncio.to_thread(self._tests_of_stubs, [step])
        for last in (False, True):
            work = await self.worker.do(step, failure, anew=anew)
            if not work.ok:
                return await self._fail(step, start, work.reason, kind=work.kind), ()
            now = await self.checked(step)
            if not self.checks.regressed(now, of_stubs) and not (anew and not await self._better(now)):
                return await self._keep(step, now), work.more
            failure = self._failure_text(now)
            await self.roll_back(start)
            if last or anew:
                break
        why = "it did not improve the checks" if anew else "it broke checks that passed before"
        return await self._fail(step, start, f"{why}. {failure}".strip(), now), ()

    async def carry_out_together(self, steps: list[PlanStep]) -> list[StepResult]:
        """Write the functions of ``steps`` concurrently: several are asked for at once, files are touched one at a time.
        Each has its commit, and the checks run once. If that made them worse, all is rolled back and each is done alone,
        so that the one to blame is found.

        Raises:
            ModelError, Stopped: as :meth:`carry_out`.
        """
        lock = asyncio.Lock()
        start = await self.workspace.head()

        async def write(step: PlanStep) -> tuple[str, Work]:
            commits: list[str] = []

            async def kept() -> None:
                commits.append(await self.workspace.commit(f"{step.id}: {step.description}"[:200]))

            self.ctx.emit(StepStarted(step.id, step.description))
            work = await self.worker.do(step, lock=lock, kept=kept)
            return commits[-1] if work.ok and commits else "", work

        await self.ctx.gate.pass_point()
        of_stubs = await asyncio.to_thread(self._tests_of_stubs, steps)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(write(step)) for step in steps]
        outcomes = [task.result() for task in tasks]
        now = await self.checked(steps[-1])
        if self.checks.regressed(now, of_stubs):
            await self.roll_back(start)
            return [(await self.carry_out(step))[0] for step in steps]
        self.checks.accept(now)
        await asyncio.to_thread(self.tree.catch_up)
        return [self._report(step, commit, work) for step, (commit, work) in zip(steps, outcomes, strict=True)]

    def _tests_of_stubs(self, steps: Collection[PlanStep]) -> frozenset[str]:
        """The test functions that use what ``steps`` are to write and what has no body yet. Blocking."""
        self.found.refresh_open()
        names = {name for step in steps for name in step.target_symbols} & {one.name for one in self.found.functions}
        return frozenset().union(*map(self.tests_of, names))

    def _report(self, step: PlanStep, commit: str, work: Work) -> StepResult:
        why = "" if commit else work.reason
        self.note(step, ok=bool(commit), why=why)
        self.ctx.emit(
            StepFinished(step.id, bool(commit), why, commit, step.target_files if commit else (), rolled_back=not commit)
        )
        return StepResult(step.id, bool(commit), why, signals=() if commit else (signal_of(work.kind, why),))

    def _needed_first(self, step: PlanStep, queue: list[PlanStep]) -> PlanStep | None:
        """The step that defines what ``step`` was missing when it failed, once a step."""
        name = self.compiler.take_need()
        if not name or step.id in self.waited:
            return None
        self.waited.add(step.id)
        found = next((left for left in queue if name in left.target_symbols), None)
        return found or self.step_for(name)

    def step_for(self, name: str) -> PlanStep | None:
        """A step that defines an open function or type of this name which is not done yet, None when there is none."""
        return self.worker.step_for(name, self.outcome.functions_done)

    def _mended(self, queue: list[PlanStep]) -> bool:
        """Whether the checks of a repair, which failed, pass now: the steps that are left were guesses at its place."""
        before, best = self.checks.before, self.checks.best
        if before is None or before.ok or best is None or not best.ok or not self.found.intent.repairs:
            return False
        text = "The checks pass, so the repair is done: the rest of the plan is not needed."
        self.ctx.emit(PlanAdjusted(tuple(queue), (), text, (), 0, "facts"))
        self.outcome.replan(queue, ())
        return True

    def _batch(self, queue: list[PlanStep]) -> list[PlanStep]:
        flight = self.ctx.router.flight(self.ctx.router.target("function_implement"))
        return _ready_batch(queue, self.outcome.steps_done, flight.limit)

    async def _keep(self, step: PlanStep, now: CheckResult | None) -> StepResult:
        self.checks.accept(now)
        before = await self.workspace.head()
        commit = await self.workspace.commit(f"{step.id}: {step.description}"[:200])
        files = tuple(await self.workspace.changed_files(before))
        await asyncio.to_thread(self.tree.catch_up)
        self.note(step, ok=True)
        self.ctx.emit(StepFinished(step.id, True, "", commit, files))
        return StepResult(step.id, True)

    async def _fail(
        self,
        step: PlanStep,
        start: str,
        reason: str,
        now: CheckResult | None = None,
        kind: FailureCategory = "test_failure",
    ) -> StepResult:
        await self.roll_back(start)
        self.note(step, ok=False, why=reason)
        signals = tuple(signals_from_output(now.output, now.command, now.exit_code)) if now is not None else ()
        signals = signals or (signal_of(kind, reason),)
        self.ctx.emit(FailureSignals(signals, step.id))
        self.ctx.emit(StepFinished(step.id, False, reason, rolled_back=True))
        return StepResult(step.id, False, reason, signals=signals)

    async def roll_back(self, start: str) -> None:
        """Files, branch and index as they were at ``start``."""
        await self.workspace.rollback(start)
        await asyncio.to_thread(self.tree.catch_up)

    def note(self, step: PlanStep, *, ok: bool, why: str = "") -> None:
        """Account for a step that was carried out."""
        if step not in self.executed:
            self.executed.append(step)
        self.outcome.note(step, ok=ok, why=why)

    async def checked(self, step: PlanStep) -> CheckResult | None:
        """The checks after a step, where they are quick enough and can say something."""
        before = self.checks.before
        if before is None or before.seconds > QUICK_CHECKS or step.kind == "scaffold":
            return None
        return await self.checks.after_step(step.id)

    async def _better(self, now: CheckResult | None) -> bool:
        """Whether the checks pass or come further than before, or sanitizers blame less."""
        best = self.checks.best
        if now is None or best is None:
            return now is not None and now.ok
        if (now.ok and not best.ok) or (now.passed or 0) > (best.passed or 0) or further(best, now) > 0:
            return True
        checks = self.checks
        if not checks.faulty or now.timed_out:  # what hangs reaches no fault, and is no better for it
            return False
        faulty = await checks.faulty_in(now)
        if not checks.faulty - faulty:
            return False
        checks.blame(faulty)
        return True

    def _known_failure(self, step: PlanStep) -> str:
        """What the checks say before an edit of code that is there: the bug to be mended may be in it."""
        before = self.checks.before
        return "" if step.kind in _FACT_KINDS or before is None or before.ok else self._failure_text(before)

    @staticmethod
    def _failure_text(now: CheckResult | None) -> str:
        return "" if now is None else as_shown(signals_from_output(now.output, now.command, now.exit_code))

    def _plan_is_hit(self, step: PlanStep, queue: list[PlanStep]) -> bool:
        """Whether a failure bears on what remains: not when only independent facts are left to be written."""
        return any(left.kind not in _FACT_KINDS or step.id in left.depends_on for left in queue)

    async def _adjust(self, result: StepResult, queue: list[PlanStep]) -> list[PlanStep]:
        number, diff = self.next_round(), await self.workspace.diff()
        try:
            async with self.ctx.stage("adjustment") as report:
                changed = await adjust(
                    self.ctx, task=self.found.task, results=[result], remaining=queue, executed=self.executed,
                    cumulative_diff=diff, round_no=number,
                )  # fmt: skip
                report.counts = {"calls": changed.calls, "steps": len(changed.revised_steps)}
        except PlanError as error:
            self.ctx.notice("warning", f"{error} The plan goes on as it was.", "adjustment")
            return queue
        self.outcome.replan(queue, changed.revised_steps)
        again = [
            step
            for step in self.executed
            if step.id in changed.rework and step.id in self.outcome.steps_failed and step.id not in self.redone
        ]
        self.redone |= {step.id for step in again}
        settled = {step.id for step in self.executed} - {step.id for step in again}
        return again + [_without(step, settled) for step in changed.revised_steps]

    def _announce(self, queue: list[PlanStep]) -> None:
        """Show a plan that grew: a scaffold knows its functions only once its headers are there."""
        self.outcome.planned = grown(self.outcome.planned, queue)
        self.ctx.emit(PlanMade(self.outcome.planned, "facts", notes=("the scaffold added the functions to write",)))


def _ready_batch(queue: list[PlanStep], done: set[str], limit: int) -> list[PlanStep]:
    """The functions at the head of ``queue``, at most ``limit``, that wait for none that is not ``done``."""
    batch: list[PlanStep] = []
    for step in queue[:limit]:
        if step.kind != "function_implement" or not set(step.depends_on) <= done:
            break
        batch.append(step)
    return batch


def _without(step: PlanStep, settled: set[str]) -> PlanStep:
    """A revised step no longer waits for steps that are done or given up."""
    return msgspec.structs.replace(step, depends_on=tuple(d for d in step.depends_on if d not in settled))
