"""The adjustment in one call (``decomposed_adjustment`` off).

Policy when the reply cannot be used after its re-ask: the rest of the plan stays as it is, with a Notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.context import RunContext
from agent.judgment.batched import Unreadable, ask_structured
from agent.models.types import ModelError
from agent.planning.adjustment import replies
from agent.planning.adjustment.failures import Failure, step_line
from agent.planning.schema import PlanAdjustment, PlanError, PlanStep, check_steps, ordered
from agent.prompts import adjustment

STAGE = "adjustment"


async def adjust_at_once(
    ctx: RunContext,
    task: str,
    failures: Sequence[Failure],
    remaining: Sequence[PlanStep],
    executed: Sequence[PlanStep],
    diff: str,
) -> PlanAdjustment:
    """One call that sees everything and writes the rest of the plan. An empty list means: drop everything."""
    done = [step.id for step in executed]
    fresh = replies.new_ids(len(failures), [*done, *(step.id for step in remaining)])
    settled: list[tuple[PlanStep, ...]] = []

    def check(reply: Any) -> None:
        settled.append(_accept([replies.as_step(raw) for raw in reply.revised_steps], remaining, done))

    everything = (*remaining, *executed)
    prompt = adjustment.prompt(
        task, [f.text for f in failures], [step_line(s) for s in executed], replies.steps_json(remaining),
        replies.places_text(everything), replies.fitting_diff(ctx, STAGE, diff), fresh,
    )  # fmt: skip
    ids = [*(step.id for step in remaining), *fresh]
    try:
        reply = await ask_structured(
            replies.reply_type(ids, everything, done),
            llm=ctx.llm(STAGE), system=adjustment.SYSTEM, prompt=prompt, item="revised plan", check=check,
        )  # fmt: skip
    except (Unreadable, ModelError) as error:
        if isinstance(error, ModelError) and error.kind != "context":
            raise
        ctx.notice("warning", f"The rest of the plan stays as it was. {error}", STAGE)
        return PlanAdjustment(tuple(remaining), "no usable revision came back", (), how="default")
    return PlanAdjustment(settled[-1], reply.rationale or "revised", tuple(reply.changes_made), how="model")


def _accept(written: Sequence[PlanStep], remaining: Sequence[PlanStep], done: Sequence[str]) -> tuple[PlanStep, ...]:
    old = {step.id: step for step in remaining}
    kept = {step.id for step in written}
    steps = []
    for step in written:
        if step.id in done:
            raise PlanError(f"step {step.id} is done already and cannot be listed again")
        before = old.get(step.id)
        needed = tuple(d for d in step.depends_on if d in kept or d not in old)
        base = before or step
        files, symbols = step.target_files or base.target_files, step.target_symbols or base.target_symbols
        steps.append(PlanStep(step.id, step.description, files, symbols, needed, base.part, base.kind))
    check_steps(steps, known=done)
    return ordered(steps)
