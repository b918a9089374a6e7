"""From a part to its steps (``symbol_targeting``, ``step_design``, ``step_dependency``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent.context import RunContext
from agent.judgment.batched import Unreadable, ask_structured
from agent.planning.change_points import ChangePoint
from agent.planning.monolithic import ask_drafts
from agent.planning.pair_questions import uses, waits_for
from agent.planning.part_grouping import Part
from agent.planning.replies import Draft, menu_text, merge_same_targets, to_steps
from agent.planning.schema import Edge, PlanStep
from agent.planning.target_menu import Menu, Target
from agent.prompts import step_dependency, step_design, symbol_targeting

TARGETING = "symbol_targeting"
DESIGN = "step_design"
DEPENDENCY = "step_dependency"


async def target_symbols(ctx: RunContext, task_context: str, part: Part, menu: Menu) -> tuple[ChangePoint, ...]:
    """The part's points with their symbols. A point that names a symbol stays; for one that names a file the model is
    asked."""
    settled: dict[str, ChangePoint] = {}
    for point in part.points:
        for found in await _symbols_of(ctx, task_context, point, menu):
            settled.setdefault(found.target.key, found)
    return tuple(settled.values())


async def _symbols_of(ctx: RunContext, task_context: str, point: ChangePoint, menu: Menu) -> tuple[ChangePoint, ...]:
    here = [t for t in menu.targets if t.path == point.target.path and t.symbol]
    if point.target.symbol or not here or point.change == "add":
        return (point,)
    own = Menu(tuple(here))
    name = Annotated[str, Meta(extra_json_schema={"enum": [t.symbol for t in here]})]
    reply_type: type[Any] = msgspec.defstruct("Reply", [("symbols", Annotated[list[name], Meta(max_length=8)])])
    try:
        reply = await ask_structured(
            reply_type, llm=ctx.llm(TARGETING), system=symbol_targeting.SYSTEM, item=point.target.key,
            task_context=task_context,
            prompt=symbol_targeting.prompt(point.target.path, point.why, "\n".join(f"- {t.symbol}" for t in here)),
            check=lambda value: [own.find(written) for written in value.symbols],
        )  # fmt: skip
    except Unreadable as error:
        ctx.notice("warning", f"The change in {point.target.path} names no symbols. {error}", TARGETING)
        return (point,)
    found = tuple(dict.fromkeys(own.find(written) for written in reply.symbols))
    return tuple(msgspec.structs.replace(point, target=target) for target in found) or (point,)


async def design_steps(
    ctx: RunContext,
    task_context: str,
    task: str,
    part: Part,
    points: Sequence[ChangePoint],
    edges: Sequence[Edge],
    start: int,
) -> tuple[tuple[PlanStep, ...], tuple[str, ...]]:
    """The part's steps, numbered from ``start``, with their dependencies on each other.

    A part of one change is one step; that needs no call. A change that no designed step covers becomes a step of its own.

    Returns:
        (steps, notes)
    """
    drafts, notes = await _drafts(ctx, task_context, part, points)
    steps = to_steps(drafts, part=part.id, start=start)
    owners = {step.id: step.target_symbols or step.target_files for step in steps}
    text = {step.id: f"{step.description} (in {', '.join(owners[step.id])})" for step in steps}
    known = uses([(e.source, e.target) for e in edges], owners)
    needs, given_up = await waits_for(
        ctx, DEPENDENCY, tuple(owners), known,
        system=step_dependency.SYSTEM, context=step_dependency.context(task, part.plan.description),
        item=lambda pair: step_dependency.item(text[pair[0]], text[pair[1]]),
    )  # fmt: skip
    return tuple(msgspec.structs.replace(s, depends_on=needs[s.id]) for s in steps), (*notes, *given_up)


async def _drafts(
    ctx: RunContext, task_context: str, part: Part, points: Sequence[ChangePoint]
) -> tuple[tuple[Draft, ...], tuple[str, ...]]:
    if len(points) == 1:
        return (Draft(points[0].why, (points[0].target,)),), ()
    own = Menu(tuple(p.target for p in points))
    question = step_design.prompt(part.plan.description, [p.text for p in points], menu_text(own.targets))
    try:
        drafts = merge_same_targets(await ask_drafts(ctx, DESIGN, "steps", task_context, question, part.id, own))
    except Unreadable as error:
        note = f"Part {part.id} is done as one step, since no design of it could be used. {error}"
        ctx.notice("warning", note, DESIGN)
        return (Draft(part.plan.description, own.targets),), (note,)
    missing = _uncovered(drafts, points)
    note = f"Part {part.id}: no step covered {', '.join(p.target.key for p in missing)}, so a step was added for each."
    return (*drafts, *(Draft(p.why, (p.target,)) for p in missing)), (note,) if missing else ()


def _uncovered(drafts: Sequence[Draft], points: Sequence[ChangePoint]) -> tuple[ChangePoint, ...]:
    covered: set[Target] = {target for draft in drafts for target in draft.targets}
    return tuple(point for point in points if point.target not in covered)
