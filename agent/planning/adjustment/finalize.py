"""From verdicts to the revised steps: one call held to the verdicts, else the verdicts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from agent.context import RunContext
from agent.judgment.batched import Unreadable, ask_structured
from agent.models.types import ModelError
from agent.planning.adjustment import replies
from agent.planning.adjustment.failures import Failure
from agent.planning.schema import AdjustmentVerdicts, PlanAdjustment, PlanError, PlanStep, check_steps, ordered
from agent.prompts import adjustment_finalize
from agent.shortening import short_line

STAGE = "adjustment_finalize"


class Case(msgspec.Struct, frozen=True):
    """Everything a finalize has to agree with. ``new`` maps an id for a new step to the failure it is for."""

    remaining: tuple[PlanStep, ...]
    executed: tuple[PlanStep, ...]
    failures: tuple[Failure, ...]
    verdicts: AdjustmentVerdicts
    new: dict[str, int]

    @property
    def kept(self) -> dict[str, PlanStep]:
        """The viable remaining steps by id."""
        return {step.id: step for step in self.remaining if self.verdicts.step_viability.get(step.id)}

    @property
    def done(self) -> tuple[str, ...]:
        """Ids of the executed steps."""
        return tuple(step.id for step in self.executed)

    def blamed(self, step: str) -> tuple[Failure, ...]:
        """The failures that a step was found to have caused."""
        return tuple(self.failures[number] for number in self.verdicts.root_causes.get(step, ()))


def make_case(
    remaining: Sequence[PlanStep], executed: Sequence[PlanStep], failures: Sequence[Failure], verdicts: AdjustmentVerdicts
) -> Case:
    """The case with an id ready for each new step."""
    taken = [step.id for step in (*remaining, *executed)]
    ids = replies.new_ids(len(verdicts.new_steps_needed), taken)
    new = dict(zip(ids, verdicts.new_steps_needed, strict=True))
    return Case(tuple(remaining), tuple(executed), tuple(failures), verdicts, new)


async def finalize(ctx: RunContext, task: str, case: Case, diff: str) -> PlanAdjustment:
    """One ``adjustment_finalize`` call, one re-ask when it contradicts the verdicts, then :func:`deterministic`."""
    settled: list[tuple[PlanStep, ...]] = []

    def check(reply: Any) -> None:
        settled.append(agree(case, [replies.as_step(raw) for raw in reply.revised_steps]))

    everything = (*case.remaining, *case.executed)
    prompt = adjustment_finalize.prompt(
        task, verdicts_text(case), replies.steps_json(tuple(case.kept.values())), replies.places_text(everything),
        replies.fitting_diff(ctx, STAGE, diff),
    )  # fmt: skip
    try:
        reply = await ask_structured(
            replies.reply_type([*case.kept, *case.new], everything, case.done),
            llm=ctx.llm(STAGE), system=adjustment_finalize.SYSTEM, prompt=prompt, item="revised plan", check=check,
        )  # fmt: skip
    except (Unreadable, ModelError) as error:
        if isinstance(error, ModelError) and error.kind != "context":
            raise
        ctx.notice("warning", f"The revised plan is put together from the verdicts alone. {error}", STAGE)
        return deterministic(case)
    changes = tuple(reply.changes_made) or changes_of(case)
    rationale = reply.rationale or "revised by the verdicts"
    return PlanAdjustment(settled[-1], rationale, changes, verdicts=case.verdicts, how="model")


def agree(case: Case, written: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """The steps of a reply if they follow the verdicts. A reply cannot change the targets or the kind of a kept step.

    Raises:
        PlanError: naming the first contradiction: a dropped or finished step that came back, a kept one that is missing,
            a caused failure that left its step unchanged, a new step nobody asked for or one that is missing.
    """
    kept, ids = case.kept, [step.id for step in written]
    for step in written:
        if step.id in case.done:
            raise PlanError(f"step {step.id} is done already and cannot be listed again")
        if step.id not in kept and step.id not in case.new:
            known = any(step.id == other.id for other in case.remaining)
            raise PlanError(f"step {step.id} " + ("was judged INVALID" if known else "is neither kept nor asked for"))
        unchanged = step.id in kept and step.description == " ".join(kept[step.id].description.split())
        if unchanged and case.blamed(step.id):
            raise PlanError(f"step {step.id} caused a failure, but its description is unchanged")
    for needed in kept:
        if needed not in ids:
            raise PlanError(f"step {needed} was judged VALID, but is missing")
    for needed, failure in case.new.items():
        if needed not in ids:
            raise PlanError(f"failure [{failure}] needs a new step with the id {needed}, which is missing")
    settled = [_settled(case, step) for step in written]
    check_steps(settled, known=case.done)
    return ordered(settled)


def _settled(case: Case, step: PlanStep) -> PlanStep:
    gone = {other.id for other in case.remaining} - set(case.kept)
    needed = tuple(d for d in step.depends_on if d not in gone)
    old = case.kept.get(step.id)
    if old is None:
        suspect = _place_of(case, case.new[step.id])
        files = step.target_files or (suspect.target_files if suspect else ())
        return msgspec.structs.replace(step, target_files=files, depends_on=needed)
    text = step.description if case.blamed(step.id) else old.description
    before = needed or tuple(d for d in old.depends_on if d not in gone)
    return msgspec.structs.replace(old, description=text, depends_on=before)


def deterministic(case: Case) -> PlanAdjustment:
    """The revised steps from the verdicts alone: kept as they are, blamed ones with their failures noted, one new step for
    each failure that needs one."""
    gone = {other.id for other in case.remaining} - set(case.kept)
    steps = []
    for step in case.kept.values():
        notes = "".join(f" Avoid this failure: {_short(failure.text)}" for failure in case.blamed(step.id))
        needed = tuple(d for d in step.depends_on if d not in gone)
        steps.append(msgspec.structs.replace(step, description=step.description + notes, depends_on=needed))
    for name, number in case.new.items():
        suspect = _place_of(case, number)
        files = suspect.target_files if suspect else ()
        shown = _short(case.failures[number].signal.message)
        steps.append(PlanStep(name, f"Repair what this failure shows: {shown}", files))
    check_steps(steps, known=case.done)
    changes = changes_of(case)
    return PlanAdjustment(ordered(steps), "by the verdicts alone", changes, verdicts=case.verdicts, how="deterministic")


def _place_of(case: Case, failure: int) -> PlanStep | None:
    """The step whose files a new step works in when it names none: the one whose result told of the failure."""
    origin = case.failures[failure].step_id
    everything = (*case.executed, *case.remaining)
    return next((s for s in everything if s.id == origin), everything[-1] if everything else None)


def changes_of(case: Case) -> tuple[str, ...]:
    """What the verdicts change, a sentence each."""
    dropped = [f"{step.id} is dropped" for step in case.remaining if step.id not in case.kept]
    blamed = {step: case.blamed(step) for step in case.kept}
    revised = [f"{step} is revised: it caused {_short(found[0].text)}" for step, found in blamed.items() if found]
    added = [f"{name} is new, for {_short(case.failures[number].signal.message)}" for name, number in case.new.items()]
    return (*dropped, *revised, *added)


def verdicts_text(case: Case) -> str:
    """The verdicts in words, as the finalize prompt shows them."""
    lines = ["Step viability:"]
    for step in case.remaining:
        word = "VALID" if step.id in case.kept else "INVALID, left out"
        lines.append(f"- {step.id} ({step.description}): {word}")
    lines.append("Root causes:")
    causes = [
        f"- {step} caused failure [{number}]: {case.failures[number].text}"
        + (" (this step is done; do not list it)" if step in case.done else "")
        for step, numbers in case.verdicts.root_causes.items()
        for number in numbers
    ]
    lines += causes or ["- none found"]
    lines.append("New steps needed:")
    lines += [f"- {name} for failure [{n}]: {case.failures[n].text}" for name, n in case.new.items()] or ["- none"]
    return "\n".join(lines)


def _short(failure: str) -> str:
    return short_line(failure, 200)
