"""From change points to parts, and the order of parts (``part_grouping``, ``part_dependency``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from agent.context import RunContext
from agent.judgment.batched import Unreadable, ask_structured
from agent.planning.change_points import ChangePoint
from agent.planning.pair_questions import group_by_questions, uses, waits_for
from agent.planning.schema import Edge, MetaPlan, MetaPlanPart
from agent.prompts import part_dependency, part_grouping
from agent.values import Value

GROUPING = "part_grouping"
DEPENDENCY = "part_dependency"
MAX_PART = 4
"""Change points in one part. The cap keeps one wrong yes from chaining the whole task together."""


class Part(Value, frozen=True):
    """A part with its change points; ``plan`` is its line in the meta plan."""

    plan: MetaPlanPart
    points: tuple[ChangePoint, ...]

    @property
    def id(self) -> str:
        return self.plan.id

    @property
    def names(self) -> tuple[str, ...]:
        """Symbols and files of the part, as edges name them."""
        return names_of(self.points)


def names_of(points: Sequence[ChangePoint]) -> tuple[str, ...]:
    """Symbol names and paths that edges may mention. A path stands for itself only where no symbol is known."""
    return tuple(dict.fromkeys(p.target.symbol or p.target.path for p in points))


class _Grouping(Value, frozen=True):
    parts: Annotated[list[list[Annotated[int, Meta(ge=1)]]], Meta(min_length=1)]


async def group_points(
    ctx: RunContext, task: str, points: Sequence[ChangePoint]
) -> tuple[tuple[tuple[ChangePoint, ...], ...], tuple[str, ...]]:
    """Points that belong together: a yes/no per pair with ``decomposed_part_grouping``, else one call.

    Returns:
        (groups, notes)
    """
    if len(points) == 1:
        return (tuple(points),), ()
    if not ctx.config.orchestrator.decomposed_part_grouping:
        return await _group_at_once(ctx, task, points)
    by_key = {point.target.key: point for point in points}
    found = await group_by_questions(
        ctx, GROUPING, tuple(by_key), cap=MAX_PART,
        system=part_grouping.SYSTEM, context=part_grouping.context(task),
        item=lambda pair: part_grouping.item(by_key[pair[0]].text, by_key[pair[1]].text),
    )  # fmt: skip
    notes = tuple(f"{a} and {b} stay apart: a part holds at most {MAX_PART} changes" for a, b in found.refused)
    return tuple(tuple(by_key[key] for key in keys) for keys in found.groups), notes


async def _group_at_once(
    ctx: RunContext, task: str, points: Sequence[ChangePoint]
) -> tuple[tuple[tuple[ChangePoint, ...], ...], tuple[str, ...]]:
    def check(reply: _Grouping) -> None:
        if sorted(n for part in reply.parts for n in part) != list(range(1, len(points) + 1)):
            raise ValueError(f"every number from 1 to {len(points)} must be in exactly one part")

    try:
        reply = await ask_structured(
            _Grouping, llm=ctx.llm(GROUPING), system=part_grouping.SYSTEM_ALL, item="all changes", check=check,
            prompt=part_grouping.context(task) + part_grouping.prompt_all([p.text for p in points]),
        )  # fmt: skip
    except Unreadable as error:
        note = f"The changes are grouped by file, since no grouping could be used. {error}"
        ctx.notice("warning", note, GROUPING)
        files = dict.fromkeys(p.target.path for p in points)
        return tuple(tuple(p for p in points if p.target.path == path) for path in files), (note,)
    return tuple(tuple(points[n - 1] for n in sorted(part)) for part in reply.parts if part), ()


async def order_parts(
    ctx: RunContext, task: str, groups: Sequence[Sequence[ChangePoint]], edges: Sequence[Edge]
) -> tuple[tuple[Part, ...], MetaPlan, tuple[str, ...]]:
    """Parts in the given order with their dependencies: known uses are facts, one yes/no for each other ordered pair."""
    points = {f"p{number}": tuple(members) for number, members in enumerate(groups, 1)}
    text = {name: "; ".join(p.text for p in members) for name, members in points.items()}
    known = uses([(e.source, e.target) for e in edges], {name: names_of(members) for name, members in points.items()})
    needs, notes = await waits_for(
        ctx, DEPENDENCY, tuple(points), known,
        system=part_dependency.SYSTEM, context=part_dependency.context(task),
        item=lambda pair: part_dependency.item(text[pair[0]], text[pair[1]]),
    )  # fmt: skip
    parts = tuple(
        Part(MetaPlanPart(name, text[name], tuple(dict.fromkeys(p.target.path for p in members)), needs[name]), members)
        for name, members in points.items()
    )
    return parts, MetaPlan(tuple(part.plan for part in parts), task), notes
