"""The three binary stages of an adjustment. Every verdict is emitted as an event at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.context import RunContext
from agent.events import CallFinished, NewStepVerdict, RootCauseVerdict, ViabilityVerdict
from agent.judgment.binary import AllOmitted, run_binary_judgment
from agent.planning.adjustment.evidence import by_evidence
from agent.planning.adjustment.failures import Failure, step_line, step_text
from agent.planning.schema import PlanError, PlanStep
from agent.prompts import adjustment_new_step, adjustment_root_cause, adjustment_step_viability
from agent.values import Value

VIABILITY = "adjustment_step_viability"
ROOT_CAUSE = "adjustment_root_cause"
NEW_STEP = "adjustment_new_step"


class Cause(Value, frozen=True):
    """A yes to "did this step cause this failure", with the P(yes) where the model tells."""

    failure: int
    step_id: str
    p_yes: float | None = None


async def step_viability(
    ctx: RunContext, task: str, failures: Sequence[Failure], remaining: Sequence[PlanStep]
) -> dict[str, bool]:
    """Whether each remaining step stays. A step whose answer cannot be read is dropped. Without failures all stay, and no
    call is made.

    Raises:
        PlanError: if no answer could be read at all.
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    if not failures or not remaining:
        return {step.id: True for step in remaining}
    verdicts: dict[str, bool] = {}

    def hear(step: PlanStep, event: CallFinished) -> None:
        verdicts[step.id] = bool(event.verdict)
        defaulted = event.defaulted and not event.overruled
        ctx.emit(ViabilityVerdict(step.id, bool(event.verdict), defaulted, event.call_id))

    async with ctx.stage(VIABILITY, len(remaining)) as report:
        try:
            await run_binary_judgment(
                remaining,
                system_prompt=adjustment_step_viability.SYSTEM,
                task_context=adjustment_step_viability.context(task, [f.text for f in failures]),
                llm=ctx.llm(VIABILITY),
                format_item=lambda step: adjustment_step_viability.item(step_text(step)),
                item_key=lambda step: step.id,
                stage_name=VIABILITY,
                default_action="excluded",
                on_verdict=hear,
                fail_if_all_omitted=True,
            )
        except AllOmitted as error:
            raise PlanError(f"The plan cannot be adjusted. {error}") from error
        kept = sum(verdicts.values())
        report.counts = {"asked": len(remaining), "yes": kept, "no": len(remaining) - kept}
    return verdicts


async def root_causes(
    ctx: RunContext, task: str, failures: Sequence[Failure], steps: Sequence[PlanStep], diff: str
) -> tuple[Cause, ...]:
    """Which of ``steps`` caused which failure, one call a pair; an unreadable answer means that it did not.

    For each failure the steps that its own text points at are asked first, and that place is the rank of the judgment.
    """
    pairs = [
        (number, rank, step)
        for number, failure in enumerate(failures)
        for rank, step in enumerate(by_evidence(failure, steps), 1)
    ]
    if not pairs:
        return ()
    found: list[Cause] = []

    def hear(pair: tuple[int, int, PlanStep], event: CallFinished) -> None:
        number, _, step = pair
        if event.verdict:
            found.append(Cause(number, step.id, event.p_yes if event.score is None else event.score))
        defaulted = event.defaulted and not event.overruled
        ctx.emit(RootCauseVerdict(number, step.id, bool(event.verdict), defaulted, event.call_id))

    async with ctx.stage(ROOT_CAUSE, len(pairs)) as report:
        await run_binary_judgment(
            pairs,
            system_prompt=adjustment_root_cause.SYSTEM,
            task_context=adjustment_root_cause.context(task, diff),
            llm=ctx.llm(ROOT_CAUSE),
            format_item=lambda pair: adjustment_root_cause.item(failures[pair[0]].text, step_text(pair[2])),
            item_key=lambda pair: f"{pair[0]}:{pair[2].id}",
            label_item=lambda pair: f"F{pair[0] + 1} {pair[2].id}",
            rank=lambda pair: pair[1],
            stage_name=ROOT_CAUSE,
            default_action="not_attributed",
            on_verdict=hear,
        )
        report.counts = {"asked": len(pairs), "yes": len(found), "no": len(pairs) - len(found)}
    return tuple(found)


async def new_steps(
    ctx: RunContext, task: str, unattributed: Mapping[int, Failure], remaining: Sequence[PlanStep]
) -> tuple[int, ...]:
    """Which of the failures that no step caused need a step of their own; an unreadable answer means that none is needed."""
    if not unattributed:
        return ()
    needed: list[int] = []

    def hear(pair: tuple[int, Failure], event: CallFinished) -> None:
        if event.verdict:
            needed.append(pair[0])
        defaulted = event.defaulted and not event.overruled
        ctx.emit(NewStepVerdict(pair[0], bool(event.verdict), defaulted, event.call_id))

    async with ctx.stage(NEW_STEP, len(unattributed)) as report:
        await run_binary_judgment(
            list(unattributed.items()),
            system_prompt=adjustment_new_step.SYSTEM,
            task_context=adjustment_new_step.context(task, [step_line(step) for step in remaining]),
            llm=ctx.llm(NEW_STEP),
            format_item=lambda pair: adjustment_new_step.item(pair[1].text),
            item_key=lambda pair: pair[0],
            label_item=lambda pair: f"F{pair[0] + 1}",
            stage_name=NEW_STEP,
            default_action="no_new_step",
            on_verdict=hear,
        )
        report.counts = {"asked": len(unattributed), "yes": len(needed), "no": len(unattributed) - len(needed)}
    return tuple(needed)
