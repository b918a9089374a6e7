"""Where the run meets the search for an edit: when it is worth while, and what becomes of what it found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

import msgspec

from agent.context import RunContext
from agent.events import PlanMade, RepairChosen, StepFinished, StepStarted
from agent.flow.checks import RunChecks
from agent.flow.diagnosis import crashed
from agent.flow.limits import limits_of
from agent.flow.other_edits import OtherEdits
from agent.flow.outcome import RunOutcome
from agent.flow.progress import FoundEdit
from agent.repair.passing import PassingEdit
from agent.repair.phase import Mended, RepairPhase, Task
from agent.task.intent import read_intent
from agent.values import CheckResult, PlanStep
from agent.workspace.git import WorkspaceError
from agent.workspace.protected import called_by, is_writable
from agent.workspace.worktree import Workspace

WRITTEN = ("function_implement", "type_definition")
"""Kinds of steps that write what is declared and open."""

PARTLY, NEARLY = 0.2, 0.6
"""Shares of the checks that pass from which an edit of what was written is searched for: one by rule, which costs no call,
and one with lines that the model fills. What passes the larger share is searched before more versions are drawn."""

MOST_IN_PLACE = 3
"""Edits that are tried in the run's place, one after the other: its build is the project's own, a copy's may differ."""

QUICK_SECONDS = 8.0
"""Seconds for edits that are read from what the checks say of one version."""

SLOWEST_VERSION = 10.0
"""Seconds of the checks up to which a version that was just drawn is searched for an edit."""

SLOWEST = 90.0
"""Seconds of the checks up to which edits are searched for."""


def after_writing(task: str) -> bool:
    """Whether the search has to wait: the task also wants what is declared, and no edit makes checks pass that need it."""
    intent = read_intent(task)
    return intent.repairs and intent.completes


def passes_partly(best: CheckResult | None, share: float) -> bool:
    """Whether at least ``share`` of the checks pass with what was written, so that a small edit may be all that lacks."""
    return best is not None and not best.ok and (best.passed or 0) >= share * ((best.passed or 0) + (best.failed or 0)) > 0


async def search_repair(
    ctx: RunContext,
    workspace: Workspace,
    task: str,
    checks: RunChecks,
    outcome: RunOutcome,
    *,
    hidden: tuple[str, ...] = (),
    with_model: bool = True,
    before: Mapping[str, bytes] | None = None,
    budget_s: float | None = None,
    fills: bool = True,
) -> OtherEdits | None:
    """Search for an edit that makes the failing checks pass; commit it and account for it. None when nothing was kept.

    Worth while when the task is a repair, or in what a run wrote, and checks fail that ran at all. ``before`` are then the
    files that it wrote, as they were before: only functions that are new in them are edited, and an edit that mends a part
    of the failures is kept. ``budget_s`` seconds at most, where that is less than the configuration allows. ``fills``: lines
    and functions that a model writes are tried, too.

    Raises:
        ModelError: the model cannot answer. Stopped: the person stopped the run.
    """
    best = checks.best
    if best is None or not (before or read_intent(task).repairs) or not can_search(ctx, best):
        return None
    faults = await checks.faults() if crashed(best) else []
    work = msgspec.structs.replace(
        await _task(ctx, workspace, task, checks, hidden, before or {}),
        with_model=with_model,
        blamed=frozenset((fault.path, fault.line) for fault in faults),
        findings=tuple(fault.signal.message for fault in faults),
        budget_s=budget_s,
        fills=fills,
    )
    done = await RepairPhase(ctx, workspace, work).run()
    if done.chosen is None:
        for part in done.parts:
            if await _keep_part(ctx, workspace, checks, outcome, part):
                break
        return None
    others = [edit for edit in done.edits.values() if edit.number != done.chosen.number]
    for edit in [done.chosen, *others][:MOST_IN_PLACE]:
        if edit is not done.chosen:
            why = "An edit before it passed in a copy and was not kept in the run's place."
            ctx.emit(RepairChosen(edit.number, why, guess=True))
        if await _holds_in_place(ctx, workspace, checks, outcome, edit, sound=bool(faults)):
            return OtherEdits(ctx, workspace, checks, done.edits, edit.number)
    return None


async def _task(
    ctx: RunContext,
    workspace: Workspace,
    task: str,
    checks: RunChecks,
    hidden: tuple[str, ...],
    before: Mapping[str, bytes],
) -> Task:
    """What a search works on; where there are files ``before``, only these may change."""
    env = {"LDLIBS": " ".join(checks.libraries)} if checks.libraries else {}
    called = await asyncio.to_thread(called_by, workspace.root, checks.command)

    def writable(path: str) -> bool:
        own = not before or path in before
        return own and is_writable(workspace.root, path, hidden, called=called, submodules=workspace.submodules)

    return Task(task, checks.command, writable, limits_of(ctx), env, before=before)


async def set_right(
    ctx: RunContext, workspace: Workspace, task: str, checks: RunChecks, now: CheckResult, hidden: tuple[str, ...] = ()
) -> bool:
    """Search for an edit that is read from what the checks say ``now`` of the version that stands there, and write it.
    Returns whether one was found.

    Raises:
        Stopped: the person stopped the run.
    """
    if not can_search(ctx, now):
        return False
    return (await search_version(ctx, workspace, task, checks, QUICK_SECONDS, hidden, quick=True)).chosen is not None


async def search_version(
    ctx: RunContext,
    workspace: Workspace,
    task: str,
    checks: RunChecks,
    seconds: float,
    hidden: tuple[str, ...] = (),
    *,
    quick: bool = False,
) -> Mended:
    """Search for an edit by rule of what the run wrote and stands there now, for so many ``seconds``; with ``quick`` only
    for one that is read from what the checks say. One that makes all checks pass is written.

    Raises:
        Stopped: the person stopped the run.
    """
    work = await _task(ctx, workspace, task, checks, hidden, await as_it_began(workspace))
    only_rules = msgspec.structs.replace(work, with_model=False, fills=False, quick=quick, budget_s=seconds)
    return await RepairPhase(ctx, workspace, only_rules).run()


async def as_it_began(workspace: Workspace) -> dict[str, bytes]:
    """The files that the run changed, as they were when it began, b"" for new ones."""
    found: dict[str, bytes] = {}
    for path in await workspace.changed_files():
        try:
            found[path] = await workspace.content_at(workspace.base, path)
        except WorkspaceError:  # it is new
            found[path] = b""
    return found


async def _holds_in_place(
    ctx: RunContext,
    workspace: Workspace,
    checks: RunChecks,
    outcome: RunOutcome,
    edit: PassingEdit,
    *,
    sound: bool,
) -> bool:
    """Write an edit that made all checks pass in a copy, and keep it where they pass in the run's place too; ``sound``: only
    where sanitizers, which blamed the code before, find nothing any more: what reads memory that was never set passes by
    chance when the memory lies elsewhere. Returns whether it is kept."""
    for path, text in edit.texts.items():
        workspace.write_bytes(path, text)
    step = _step_of(edit, outcome)
    _announce(ctx, outcome, step, "search", "an edit that makes the failing checks pass was found")
    now = await checks.final()
    why = "" if now is not None and now.ok and not checks.regressed(now) else "it fails in the worktree."
    if not why and sound:
        left = await checks.faults()
        why = f"sanitizers still find a fault: {left[0].signal.message}" if left else ""
    if why or now is None:
        await workspace.rollback(await workspace.head())
        outcome.planned = outcome.planned[:-1]
        ctx.emit(StepFinished(step.id, False, f"The edit passed in a copy but {why}", rolled_back=True))
        return False
    await _keep(ctx, workspace, checks, outcome, step, now)
    outcome.mended, outcome.final = True, now
    return True


def can_search(ctx: RunContext, best: CheckResult) -> bool:
    """Whether the search is switched on, something fails, and the checks are fast enough to be repeated for each edit."""
    if not ctx.config.orchestrator.decomposed_repair or best.ok:
        return False
    if best.seconds > SLOWEST:
        text = f"The checks take {best.seconds:.0f} s, too long to be repeated for each edit, so the search is skipped."
        ctx.notice("info", text, "repair")
    return best.seconds <= SLOWEST


def _step_of(edit: PassingEdit, outcome: RunOutcome) -> PlanStep:
    number = 1 + sum(step.id.startswith("r") for step in outcome.planned)
    return PlanStep(f"r{number}", f"Mend {edit.function}: {edit.what}", tuple(edit.texts), (edit.function,))


def _announce(ctx: RunContext, outcome: RunOutcome, step: PlanStep, how: Literal["search", "facts"], note: str) -> None:
    outcome.planned = (*outcome.planned, step)
    ctx.emit(PlanMade(outcome.planned, how, notes=(note,)))
    ctx.emit(StepStarted(step.id, step.description))


async def _keep(
    ctx: RunContext, workspace: Workspace, checks: RunChecks, outcome: RunOutcome, step: PlanStep, now: CheckResult
) -> None:
    checks.accept(now)
    commit = await workspace.commit(f"{step.id}: {step.description}"[:200])
    outcome.step_done(step.id)
    ctx.emit(StepFinished(step.id, True, "", commit, step.target_files))


async def _keep_part(
    ctx: RunContext, workspace: Workspace, checks: RunChecks, outcome: RunOutcome, edit: PassingEdit
) -> bool:
    """Write an edit that mends a part of the failures, where the checks of the worktree say the same. Returns whether they
    do."""
    step, best = _step_of(edit, outcome), checks.best
    for path, text in edit.texts.items():
        workspace.write_bytes(path, text)
    _announce(ctx, outcome, step, "facts", "an edit makes more of the checks pass")
    now = await checks.after_step(step.id)
    if now is None or best is None or checks.lost(now) or (now.passed or 0) <= (best.passed or 0):
        await workspace.rollback(await workspace.head())
        outcome.planned = outcome.planned[:-1]
        ctx.emit(StepFinished(step.id, False, "No more checks pass with it in the worktree.", rolled_back=True))
        return False
    await _keep(ctx, workspace, checks, outcome, step, now)
    return True


async def mend_again(ctx: RunContext, checks: RunChecks, outcome: RunOutcome, edit: FoundEdit) -> bool:
    """Account for an edit that was committed before the run was broken off, and tell of it once more. Always True."""
    outcome.planned = (*outcome.planned, edit.step)
    ctx.emit(PlanMade(outcome.planned, "search", notes=("The edit was found before the run was broken off.",)))
    now = await checks.final()
    if now is not None:
        checks.accept(now)
    outcome.step_done(edit.step.id)
    outcome.mended, outcome.final = True, now
    if edit.end is not None:
        ctx.emit(edit.end)
    return True
