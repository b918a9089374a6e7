"""Independent functions written at the same time: several are asked for at once, files are touched one at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.events import StepFinished, StepStarted
from agent.planning.schema import StepResult
from agent.planning.signals import signal_of
from agent.values import PlanStep

if TYPE_CHECKING:
    from agent.flow.steps import StepRunner
    from agent.flow.worker import Work


def ready_batch(queue: list[PlanStep], done: set[str], limit: int) -> list[PlanStep]:
    """The functions at the head of ``queue``, at most ``limit``, that wait for none that is not ``done``."""
    batch: list[PlanStep] = []
    for step in queue[:limit]:
        if step.kind != "function_implement" or not set(step.depends_on) <= done:
            break
        batch.append(step)
    return batch


async def carry_out_together(runner: StepRunner, steps: list[PlanStep]) -> list[StepResult]:
    """Write the functions of ``steps`` concurrently, a commit each, and check once. If that made the checks worse, all is
    rolled back and each is done alone, so that the one to blame is found.

    Raises:
        ModelError, Stopped: as :meth:`StepRunner.carry_out`.
    """
    lock = asyncio.Lock()
    start = await runner.workspace.head()

    async def write(step: PlanStep) -> tuple[str, Work]:
        commits: list[str] = []

        async def kept() -> None:
            commits.append(await runner.workspace.commit(f"{step.id}: {step.description}"[:200]))

        runner.ctx.emit(StepStarted(step.id, step.description))
        work = await runner.worker.do(step, lock=lock, kept=kept)
        return commits[-1] if work.ok and commits else "", work

    await runner.ctx.gate.pass_point()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(write(step)) for step in steps]
    outcomes = [task.result() for task in tasks]
    now = await runner.checked(steps[-1])
    if runner.checks.regressed(now):
        await runner.roll_back(start)
        return [(await runner.carry_out(step))[0] for step in steps]
    runner.checks.accept(now)
    await asyncio.to_thread(runner.tree.catch_up)
    return [_report(runner, step, commit, work) for step, (commit, work) in zip(steps, outcomes, strict=True)]


def _report(runner: StepRunner, step: PlanStep, commit: str, work: Work) -> StepResult:
    why = "" if commit else work.reason
    runner.note(step, ok=bool(commit), why=why)
    files = step.target_files if commit else ()
    runner.ctx.emit(StepFinished(step.id, bool(commit), why, commit, files, rolled_back=not commit))
    return StepResult(step.id, bool(commit), why, signals=() if commit else (signal_of(work.kind, why),))
