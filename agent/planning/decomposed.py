"""A plan from many small decisions (``decomposed_planning``).

change_point_enum → part_grouping → part_dependency → for each part symbol_targeting → step_design → step_dependency. What
is a fact is not asked. Policies: no readable change points: as in ``monolithic``, one step over the directly involved
symbols, or a sentence; an unreadable answer about a pair: apart, no dependency; a cycle is broken at the weaker yes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.context import RunContext
from agent.graph import topological_order
from agent.judgment.batched import Unreadable
from agent.models.types import ModelError
from agent.planning.change_points import STAGE, ChangePoint, change_points
from agent.planning.monolithic import fallback
from agent.planning.part_grouping import group_points, order_parts
from agent.planning.schema import Edge, OpenPoint, Plan, PlanStep
from agent.planning.steps import design_steps, target_symbols
from agent.planning.target_menu import Menu
from agent.prompts import meta_plan


async def decomposed_plan(
    ctx: RunContext, *, task: str, package: str, menu: Menu, open_points: Sequence[OpenPoint], edges: Sequence[Edge]
) -> Plan:
    """Parts in order, each with its steps; a step waits for all steps of the parts that its own part waits for.

    Raises:
        PlanError: if no plan could be had and there is nothing to fall back on.
        ModelError: if the model cannot answer.
        Stopped: if the person stopped the run.
    """
    try:
        task_context, points = await _points(ctx, task, package, menu, open_points)
    except Unreadable as error:
        return fallback(ctx, task, menu, str(error), STAGE)
    groups, notes = await group_points(ctx, task, points)
    parts, meta, given_up = await order_parts(ctx, task, groups, edges)
    all_notes = [*notes, *given_up]
    by_id = {part.id: part for part in parts}
    steps: list[PlanStep] = []
    made: dict[str, tuple[str, ...]] = {}
    for name in topological_order(list(by_id), {part.id: part.plan.depends_on for part in parts}):
        part = by_id[name]
        targeted = await target_symbols(ctx, task_context, part, menu)
        own, more = await design_steps(ctx, task_context, task, part, targeted, edges, len(steps) + 1)
        before = tuple(step for needed in part.plan.depends_on for step in made[needed])
        steps += [msgspec.structs.replace(step, depends_on=(*before, *step.depends_on)) for step in own]
        made[name] = tuple(step.id for step in own)
        all_notes += more
    return Plan(tuple(steps), "decomposed", tuple(part.description for part in meta.parts), tuple(all_notes))


async def _points(
    ctx: RunContext, task: str, package: str, menu: Menu, open_points: Sequence[OpenPoint]
) -> tuple[str, tuple[ChangePoint, ...]]:
    """The beginning that this run's planning calls share, and the change points. Without the code if it does not fit."""
    shared = meta_plan.task_context(task, package)
    try:
        return shared, await change_points(ctx, task=task, task_context=shared, menu=menu, open_points=open_points)
    except ModelError as error:
        if error.kind != "context" or not package:
            raise
        ctx.notice("warning", f"The plan is made without the code in view, which does not fit: {error}", STAGE)
        shared = meta_plan.task_context(task, "")
        return shared, await change_points(ctx, task=task, task_context=shared, menu=menu, open_points=open_points)
