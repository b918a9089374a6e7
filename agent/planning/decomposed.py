"""A plan from many small decisions (``decomposed_planning``).

change_point_enum → part_grouping → part_dependency → for each part symbol_targeting → step_design → step_dependency. What
is a fact is not asked. Without readable change points it falls back as ``monolithic`` does. An unreadable answer about a
pair means that the two are separate and independent. A cycle is broken at the weaker yes.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.context import RunContext
from agent.graph import topological_order
from agent.judgment.batched import Unreadable
from agent.planning.change_points import STAGE, ChangePoint, change_points
from agent.planning.monolithic import ask_with_code_if_it_fits, fallback
from agent.planning.part_grouping import group_points, order_parts
from agent.planning.schema import Edge, OpenPoint, Plan, PlanStep
from agent.planning.steps import design_steps, target_symbols
from agent.planning.target_menu import Menu


async def decomposed_plan(
    ctx: RunContext, *, task: str, package: str, menu: Menu, open_points: Sequence[OpenPoint], edges: Sequence[Edge]
) -> Plan:
    """Parts in order, each with its steps; a step waits for all steps of the parts that its own part waits for.

    Raises:
        PlanError: if no plan could be made and there is nothing to fall back on.
        ModelError: if the model cannot answer.
        Stopped: if the person stopped the run.
    """

    async def ask(task_context: str) -> tuple[ChangePoint, ...]:
        return await change_points(ctx, task=task, task_context=task_context, menu=menu, open_points=open_points)

    try:
        task_context, points = await ask_with_code_if_it_fits(ctx, task, package, STAGE, ask)
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
