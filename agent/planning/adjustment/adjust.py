"""After a failure: what stays of the plan, which step is to blame, what is missing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.context import RunContext
from agent.events import AdjustmentStarted, PlanAdjusted
from agent.planning.adjustment.evidence import evidence
from agent.planning.adjustment.failures import Failure, expected_calls, failures_of
from agent.planning.adjustment.finalize import finalize, make_case
from agent.planning.adjustment.single import adjust_at_once
from agent.planning.adjustment.verdicts import Cause, new_steps, root_causes, step_viability
from agent.planning.schema import AdjustmentVerdicts, PlanAdjustment, PlanStep, StepResult


async def adjust(
    ctx: RunContext,
    *,
    task: str,
    results: Sequence[StepResult] | None,
    remaining: Sequence[PlanStep],
    executed: Sequence[PlanStep],
    cumulative_diff: str = "",
    round_no: int = 1,
) -> PlanAdjustment:
    """The remaining steps as revised after ``results``, and the executed steps whose work is to be done again.

    ``remaining`` are the steps not begun, ``executed`` those carried out, the failed one among them. Without failures the
    remaining steps come back unchanged, without remaining steps nothing does; neither makes a call.
    Emits AdjustmentStarted, each verdict, PlanAdjusted.

    Raises:
        PlanError: if no viability answer could be read at all.
        ModelError: if the model cannot answer.
        Stopped: if the person stopped the run.
    """
    failures, left_out = failures_of(results)
    if not failures:
        return PlanAdjustment(tuple(remaining), "No failures detected: the steps are unchanged.", how="unchanged")
    if not remaining:
        return PlanAdjustment((), "No steps remain.", how="unchanged")
    decomposed = ctx.config.orchestrator.decomposed_adjustment
    expected = expected_calls(len(failures), len(remaining), len(executed)) if decomposed else 1
    _started(ctx, round_no, failures, left_out, remaining, executed, expected)
    before = ctx.calls + ctx.cached_calls
    if decomposed:
        made = await _by_verdicts(ctx, task, failures, remaining, executed, cumulative_diff)
    else:
        made = await adjust_at_once(ctx, task, failures, remaining, executed, cumulative_diff)
        made = msgspec.structs.replace(made, rework=rework_order(failures, executed, ()))
    texts = tuple(failure.text for failure in failures)
    made = msgspec.structs.replace(made, calls=ctx.calls + ctx.cached_calls - before, failures=texts)
    told = (made.revised_steps, made.rationale, made.changes_made, made.calls, made.how, made.rework)
    ctx.emit(PlanAdjusted(tuple(remaining), *told))
    return made


async def _by_verdicts(
    ctx: RunContext,
    task: str,
    failures: Sequence[Failure],
    remaining: Sequence[PlanStep],
    executed: Sequence[PlanStep],
    diff: str,
) -> PlanAdjustment:
    viability = await step_viability(ctx, task, failures, remaining)
    viable = [step for step in remaining if viability[step.id]]
    causes = await root_causes(ctx, task, failures, [*viable, *executed], diff)
    blamed = {cause.failure for cause in causes}
    unattributed = {number: failure for number, failure in enumerate(failures) if number not in blamed}
    needed = await new_steps(ctx, task, unattributed, viable)
    signals = tuple(failure.signal for failure in failures)
    verdicts = AdjustmentVerdicts(viability, _by_step(causes), needed, signals)
    made = await finalize(ctx, task, make_case(remaining, executed, failures, verdicts), diff)
    covered = [*causes, *(Cause(number, "") for number in needed)]
    return msgspec.structs.replace(made, rework=rework_order(failures, executed, covered))


async def find_causes(
    ctx: RunContext,
    *,
    task: str,
    results: Sequence[StepResult] | None,
    executed: Sequence[PlanStep],
    cumulative_diff: str = "",
    round_no: int = 1,
) -> PlanAdjustment:
    """When every step is done and checks still fail: which executed steps are to be done again (``rework``, in order).

    One root-cause call for each failure and step with ``decomposed_adjustment``; without it the failures' own text decides
    and nothing is asked. ``revised_steps`` stays empty. Emits as :func:`adjust` does.

    Raises:
        ModelError, Stopped: as :func:`adjust`.
    """
    failures, left_out = failures_of(results)
    if not failures or not executed:
        return PlanAdjustment((), "Nothing to attribute.", how="unchanged")
    decomposed = ctx.config.orchestrator.decomposed_adjustment
    _started(ctx, round_no, failures, left_out, (), executed, len(failures) * len(executed) if decomposed else 0)
    before = ctx.calls + ctx.cached_calls
    causes = await root_causes(ctx, task, failures, executed, cumulative_diff) if decomposed else ()
    again = rework_order(failures, executed, causes)
    steps = tuple(step for name in again for step in executed if step.id == name)
    verdicts = AdjustmentVerdicts({}, _by_step(causes), (), tuple(failure.signal for failure in failures))
    how = "verdicts" if causes else "evidence"
    text = f"To be done again: {', '.join(again)}." if again else "No step was found to have caused the failures."
    calls = ctx.calls + ctx.cached_calls - before
    ctx.emit(PlanAdjusted(steps, steps, text, (), calls, how))
    return PlanAdjustment((), text, (), again, verdicts, calls, how, tuple(failure.text for failure in failures))


def rework_order(failures: Sequence[Failure], executed: Sequence[PlanStep], causes: Sequence[Cause]) -> tuple[str, ...]:
    """The executed steps to do again, the most probable first.

    First those that a failure was attributed to: the better the failure's text supports it, then the higher P(yes), the
    earlier. A failure that nothing was attributed to (and that gets no new step) falls back on the step its own text
    supports best; a text that supports none adds none.
    """
    place = {step.id: number for number, step in enumerate(executed)}
    by_id = {step.id: step for step in executed}
    strength: dict[str, tuple[float, float]] = {}
    for cause in causes:
        if cause.step_id in by_id:
            found = evidence(failures[cause.failure], by_id[cause.step_id], executed)
            p_yes = 0.5 if cause.p_yes is None else cause.p_yes
            strength[cause.step_id] = max(strength.get(cause.step_id, (0, 0.0)), (found, p_yes))
    order = sorted(strength, key=lambda step: (-strength[step][0], -strength[step][1], place[step]))
    covered = {cause.failure for cause in causes}
    for number, failure in enumerate(failures):
        if number in covered:
            continue
        best = max(executed, key=lambda step: (evidence(failure, step, executed), -place[step.id]), default=None)
        if best is not None and best.id not in order and evidence(failure, best, executed):
            order.append(best.id)
    return tuple(order)


def _by_step(causes: Sequence[Cause]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for cause in causes:
        found.setdefault(cause.step_id, []).append(cause.failure)
    return {step: tuple(sorted(numbers)) for step, numbers in found.items()}


def _started(
    ctx: RunContext,
    round_no: int,
    failures: Sequence[Failure],
    left_out: int,
    remaining: Sequence[PlanStep],
    executed: Sequence[PlanStep],
    expected: int,
) -> None:
    signals = [failure.signal for failure in failures]
    told, kinds = tuple(signal.message for signal in signals), tuple(signal.category for signal in signals)
    names = tuple(step.id for step in remaining), tuple(step.id for step in executed)
    ctx.emit(AdjustmentStarted(round_no, told, names[0], names[1], expected, kinds))
    if left_out:
        ctx.notice("info", f"{left_out} more failures are left for a later round; the first {len(told)} are looked at now.")
