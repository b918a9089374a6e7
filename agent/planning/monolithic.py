"""A plan from one call, and one more for each part that holds several changes (``decomposed_planning`` off).

Policy when a reply cannot be used after its one re-ask: the plan falls back to one step over the symbols that
retrieval called directly involved, visibly (a Notice, ``how="default"``). Without such symbols planning fails with a
sentence. A part whose own plan cannot be used becomes one step, with a Notice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from agent.context import RunContext
from agent.judgment.batched import Unreadable, ask_structured
from agent.models.types import ModelError
from agent.planning.replies import Draft, menu_text, merge_same_targets, read_drafts, reply_type, to_steps
from agent.planning.schema import Plan, PlanError, PlanStep
from agent.planning.target_menu import Menu, Target
from agent.prompts import meta_plan, part_plan

T = TypeVar("T")

STAGE = "meta_plan"
PART_STAGE = "part_plan"
MAX_FALLBACK = 4
"""Symbols of the step that stands in for a plan, the best-ranked: each of them will be rewritten."""


async def monolithic_plan(ctx: RunContext, *, task: str, package: str, menu: Menu) -> Plan:
    """One ``meta_plan`` call; a ``part_plan`` call for each of several parts that has more than one target.

    Raises:
        PlanError: if no plan could be made and there is nothing to fall back on.
        ModelError: if the model cannot answer.
    """

    async def ask(task_context: str) -> tuple[Draft, ...]:
        question = meta_plan.prompt(menu_text(menu.targets), menu.open_ended)
        return merge_same_targets(await ask_drafts(ctx, STAGE, "parts", task_context, question, "plan", menu))

    try:
        task_context, parts = await ask_with_code_if_it_fits(ctx, task, package, STAGE, ask)
    except Unreadable as error:
        return fallback(ctx, task, menu, str(error), STAGE)
    if len(parts) == 1:
        return Plan(to_steps(parts), "monolithic")
    return await _plan_parts(ctx, task_context, parts)


async def ask_with_code_if_it_fits(
    ctx: RunContext, task: str, package: str, stage: str, ask: Callable[[str], Awaitable[T]]
) -> tuple[str, T]:
    """The task context that all planning calls of a run share, and what ``ask`` returns for it. Where the code of
    ``package`` does not fit in the model's window, both are without it, with a Notice.

    Raises:
        ModelError: if the model cannot answer, for another reason than the length of the prompt.
    """
    shared = meta_plan.task_context(task, package)
    try:
        return shared, await ask(shared)
    except ModelError as error:
        if error.kind != "context" or not package:
            raise
        ctx.notice("warning", f"The plan is made without the code in view, which does not fit: {error}", stage)
        shared = meta_plan.task_context(task, "")
        return shared, await ask(shared)


async def _plan_parts(ctx: RunContext, task_context: str, parts: Sequence[Draft]) -> Plan:
    steps: list[PlanStep] = []
    last: dict[int, tuple[str, ...]] = {}
    notes: list[str] = []
    for number, part in enumerate(parts, 1):
        drafts, note = await _part_steps(ctx, task_context, number, part)
        notes += [note] if note else []
        before = tuple(step for n in part.after for step in last[n])
        made = to_steps(drafts, part=f"p{number}", start=len(steps) + 1, before=before)
        steps += made
        last[number] = tuple(step.id for step in made)
    return Plan(tuple(steps), "monolithic", tuple(part.do for part in parts), tuple(notes))


async def _part_steps(ctx: RunContext, task_context: str, number: int, part: Draft) -> tuple[tuple[Draft, ...], str]:
    whole = (msgspec.structs.replace(part, after=()),)
    if len(part.targets) == 1:
        return whole, ""
    own = Menu(part.targets)
    question = part_plan.prompt(number, part.do, menu_text(part.targets))
    try:
        drafts = await ask_drafts(ctx, PART_STAGE, "steps", task_context, question, f"part {number}", own)
        return merge_same_targets(drafts), ""
    except Unreadable as error:
        note = f"Part {number} is done as one step, since no plan of it could be used. {error}"
        ctx.notice("warning", note, PART_STAGE)
        return whole, note


async def ask_drafts(
    ctx: RunContext, stage: str, field: str, task_context: str, question: str, item: str, menu: Menu
) -> tuple[Draft, ...]:
    """Ask for a list of drafts over a menu; one re-ask with the error.

    Raises:
        Unreadable: if neither reply could be used.
    """
    got: list[tuple[Draft, ...]] = []

    def check(reply: object) -> None:
        got.append(read_drafts(getattr(reply, field), menu))

    await ask_structured(
        reply_type(field, menu), llm=ctx.llm(stage), system=meta_plan.SYSTEM, prompt=question, item=item,
        task_context=task_context, check=check,
    )  # fmt: skip
    return got[-1]


def fallback(ctx: RunContext, task: str, menu: Menu, why: str, stage: str) -> Plan:
    """One step over the directly involved symbols, with a Notice.

    Raises:
        PlanError: if there are none.
    """
    if not menu.primary:
        raise PlanError(
            f"No plan could be made. {why} No symbol was found to be directly involved either, so there is nothing to "
            "fall back on: name the files or functions in the task, or use a stronger model for planning."
        )
    targets = menu.primary[:MAX_FALLBACK]
    names = ", ".join(target.symbol for target in targets)
    note = f"No usable plan came back, so the task is done as one step over {names}. {why}"
    ctx.notice("warning", note, stage)
    return Plan(one_step(task, targets), "default", (), (note,))


def one_step(task: str, targets: Sequence[Target]) -> tuple[PlanStep, ...]:
    """The whole task as a single step."""
    return to_steps((Draft(" ".join(task.split()), tuple(targets)),))
