"""One task from start to end. This file names the steps; the rooms do the work."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import msgspec

from agent.audit.log import LogError
from agent.context import RunContext
from agent.events import DiffReady, RunFinished, RunStarted
from agent.flow.change import RunChange
from agent.flow.checks import RunChecks
from agent.flow.combinations import combine_versions
from agent.flow.contracts import tell_contracts
from agent.flow.diffs import count_lines
from agent.flow.documenting import document_changes
from agent.flow.linking import link_changed
from agent.flow.other_edits import OtherEdits
from agent.flow.outcome import RunOutcome, judge_outcome
from agent.flow.plan import follows_from_facts, plan_run
from agent.flow.planned_tests import write_planned_tests
from agent.flow.progress import EarlierProgress, progress_of
from agent.flow.relevant_failures import failures_left
from agent.flow.reported_fault import GUESS_SECONDS, ReportedFault
from agent.flow.rework import Rework
from agent.flow.run_parts import RunParts
from agent.flow.search_repair import WRITTEN, after_writing, mend_again, search_repair
from agent.flow.soundness import mend_unsound
from agent.flow.steps import StepRunner
from agent.flow.survey import NothingToRead, Survey, survey
from agent.gate import Stopped
from agent.index import IndexUnavailable
from agent.judgment.batched import Unreadable
from agent.judgment.binary import AllOmitted
from agent.labels.store import gather_if_pooled
from agent.models.types import ModelError
from agent.planning.schema import Plan, PlanError
from agent.values import RunStatus
from agent.workspace.git import WorkspaceError
from agent.workspace.lease import RunLease
from agent.workspace.protected import decides_tests
from agent.workspace.worktree import Workspace


class NothingWithoutModel(Exception):
    """A run without a model has done what it can: small edits that make failing checks pass."""

    def __str__(self) -> str:
        return (
            "Without a model only failing checks are repaired, by small edits, and none was found that makes them pass. "
            "Run the task again with a model."
        )


_BREAKS_OFF = (
    ModelError, AllOmitted, Unreadable, PlanError, WorkspaceError, NothingToRead, IndexUnavailable, NothingWithoutModel,
)  # fmt: skip
"""Errors that end a run with a sentence. Anything else is a fault of ours and ends it with its traceback in the log."""


class Run:
    """A task on a repository. Make it with :func:`agent.launch.open_run`, listen with ``ctx.listeners``, execute it
    once, then say what becomes of the change: :meth:`apply`, :meth:`keep` or :meth:`discard`."""

    def __init__(
        self,
        ctx: RunContext,
        task: str,
        workspace: Workspace,
        *,
        hidden: tuple[str, ...] = (),
        apply_when_complete: bool = False,
        resumed: bool = False,
        lease: RunLease | None = None,
        with_model: bool = True,
    ) -> None:
        self.ctx = ctx
        self.task = task
        self.workspace = workspace
        self.hidden = hidden
        self.apply_when_complete = apply_when_complete
        self.resumed = resumed
        self.with_model = with_model
        self.outcome = RunOutcome()
        self.checks = RunChecks(ctx, workspace, hidden)
        self.change = RunChange(workspace, ctx.log, ctx.emit)
        self.edits: OtherEdits | None = None
        self._lease = lease
        self._task: asyncio.Task[Any] | None = None
        self._why_stopped = "The person stopped the run."

    async def execute(self) -> RunFinished:
        """Do the task. Every way out ends in a RunFinished event; work done so far stays on the run's branch.

        Raises:
            LogError: if the log cannot be written any more; then there is no such event.
        """
        broken: tuple[RunStatus, str] | None = None
        self._task = asyncio.current_task()
        try:
            await self._phases()
        except (Stopped, asyncio.CancelledError):
            broken = "stopped", self._why_stopped
        except LogError:
            raise  # there is nowhere left to say anything
        except _BREAKS_OFF as error:
            broken = self._broken_off(error)
        except Exception as error:
            broken = self._broken_off(error)
            await self._finish(broken)
            raise
        self._task = None
        return await self._finish(broken)

    async def _phases(self) -> None:
        self._announce()
        known = self.ctx.log.first_checks(self.ctx.run_id) if self.resumed else None
        earlier = await asyncio.to_thread(progress_of, self.ctx) if self.resumed else None
        if self.resumed:
            await self.workspace.rollback(earlier.commit if earlier and earlier.commit else self.workspace.base)
        self.outcome.baseline = await self.checks.baseline(known)
        if not self._searches_later() and await self._mended_at_first(earlier):
            return
        if not self.with_model:
            raise NothingWithoutModel
        found = await survey(self.ctx, self.workspace, self.task, self.hidden, settled=follows_from_facts)
        parts = RunParts.of(self.ctx, self.workspace, found, self.checks, self.outcome)
        runner = StepRunner(parts)
        try:
            if earlier is not None and earlier.planned:
                plan = await runner.take_up(earlier)
            else:
                plan = await plan_run(self.ctx, found, self.outcome.baseline)
                self.outcome.planned = plan.steps
            await self._steps(runner, plan, earlier)
            await link_changed(parts, runner)
            await Rework(parts, runner).run()
            await combine_versions(parts, runner)
            await mend_unsound(parts, runner)
            if self.ctx.config.orchestrator.documentation_pass:
                await document_changes(parts)
            await write_planned_tests(parts, runner)
            self.outcome.budget_spent = parts.budget.spent
            await self._measure(found)
            await tell_contracts(parts, runner)
        finally:
            parts.close()

    async def _mended_at_first(self, earlier: EarlierProgress | None) -> bool:
        """Whether an edit mends what fails, or what a test shows that is written first."""
        reported = ReportedFault(self.ctx, self.workspace, self.task, self.checks, self.hidden)
        if earlier is None or earlier.mended is None:
            await reported.show(self.with_model and not (earlier is not None and earlier.searched))
        mended = await self._mended_by_search(earlier, small=reported.guess is not None)
        while not mended and await reported.guess_again():
            mended = await self._mended_by_search(None, small=True)
        self.outcome.guessed = reported.guess.shown if reported.guess is not None else ""
        return mended

    async def _steps(self, runner: StepRunner, plan: Plan, earlier: EarlierProgress | None) -> None:
        if not self._searches_later():
            await runner.run(plan)
            return
        await runner.run(msgspec.structs.replace(plan, steps=tuple(one for one in plan.steps if one.kind in WRITTEN)))
        await self._mended_by_search(earlier)
        await runner.run(msgspec.structs.replace(plan, steps=tuple(one for one in plan.steps if one.kind not in WRITTEN)))

    def _searches_later(self) -> bool:
        return self.with_model and after_writing(self.task)

    async def _mended_by_search(self, earlier: EarlierProgress | None, small: bool = False) -> bool:
        """Whether an edit mends what fails, a ``small`` one only where that is a guess; a run that goes on does not search
        again where it had searched."""
        if earlier is not None and earlier.mended is not None:
            return await mend_again(self.ctx, self.checks, self.outcome, earlier.mended)
        if earlier is not None and (earlier.searched or (earlier.planned and not self._searches_later())):
            return False
        self.edits = await search_repair(
            self.ctx, self.workspace, self.task, self.checks, self.outcome, hidden=self.hidden, with_model=self.with_model,
            fills=not small, budget_s=GUESS_SECONDS if small else None,
        )  # fmt: skip
        return self.edits is not None

    def _announce(self) -> None:
        workspace = self.workspace
        model = self.ctx.router.target("function_implement").model if self.with_model else ""
        places = (str(workspace.repo), workspace.branch, workspace.base, str(workspace.root))
        self.ctx.emit(RunStarted(self.task, *places, model, self.ctx.run_id if self.resumed else ""))
        for note in workspace.notes:
            self.ctx.notice("info", note)

    async def _measure(self, found: Survey) -> None:
        self.outcome.final = await self.checks.final()
        self.outcome.relevant = await failures_left(self.workspace, found, self.outcome)
        self.outcome.stubs_left = len(await asyncio.to_thread(found.still_open, self.outcome.targets))

    async def _finish(self, broken: tuple[RunStatus, str] | None) -> RunFinished:
        ctx, outcome = self.ctx, self.outcome
        diff = await self._show_diff()
        status, reason = broken or judge_outcome(outcome, bool(diff))
        applied = status == "complete" and self.apply_when_complete and (await self.apply())[0]
        finished = RunFinished(
            status, reason, ctx.calls, ctx.cached_calls, round(ctx.seconds(), 1), len(outcome.functions_done),
            len(outcome.functions_failed), outcome.stubs_left, len(ctx.includes), outcome.baseline, outcome.final,
            self.workspace.branch if diff else "", applied,
        )  # fmt: skip
        ctx.emit(finished)
        await ctx.log.durable()
        self._let_go()
        return finished

    async def _show_diff(self) -> str:
        try:
            await self.workspace.commit("Work in progress when the run ended")
            diff = await self.workspace.diff()
            files = await self.workspace.changed_files()
        except WorkspaceError as error:
            self.ctx.notice("error", f"The diff cannot be shown: {error}")
            return ""
        self.outcome.changed = tuple(files)
        deciding = tuple(path for path in files if decides_tests(path))
        self.ctx.emit(DiffReady(diff, tuple(files), *count_lines(diff), self.workspace.branch, deciding))
        return diff

    def _broken_off(self, error: Exception) -> tuple[RunStatus, str]:
        text = f"{error} {getattr(error, 'hint', '')}".strip() or type(error).__name__
        return ("partial" if self.outcome.steps_done else "failed"), text

    async def apply(self) -> tuple[bool, str]:
        """Bring the change into the person's files, whole or not at all. Returns whether it was, and a sentence."""
        return await self.change.apply()

    async def keep(self) -> str:
        """Leave the change on its branch. Returns a sentence that says where."""
        return await self.change.keep()

    async def discard(self) -> str:
        """Delete the branch. Returns a sentence."""
        return await self.change.discard()

    async def pick(self, number: int) -> tuple[bool, str]:
        """Take another of the edits that make the checks pass. Returns whether it was done, and a sentence."""
        if self.edits is None:
            return False, "There is no other edit to take."
        try:
            lease = RunLease(self.workspace.repo, self.ctx.run_id)
        except WorkspaceError as error:
            return False, str(error)
        try:
            done, text = await self.edits.pick(number)
            if done:
                await self._show_diff()
        except WorkspaceError as error:
            return False, f"Edit {number} could not be written: {error}"
        finally:
            lease.release()
        return done, text

    def stop(self, why: str = "") -> None:
        """Stop at the next decision; a call or command that is under way is broken off. ``why`` is a sentence for the log
        where it was not the person's wish."""
        self._why_stopped = why or self._why_stopped
        self.ctx.gate.stop()
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """Commit the log, let go of models and of the run's place."""
        self._let_go()
        await self.ctx.router.aclose()
        self.ctx.log.close()
        with contextlib.suppress(LogError):  # the labels are in the repository's log; the next run gathers them
            await asyncio.to_thread(gather_if_pooled, self.ctx.log.path, self.ctx.config)

    def _let_go(self) -> None:
        """Its end is in the log: what becomes of the change may be decided elsewhere, too."""
        if self._lease is not None:
            self._lease.release()
