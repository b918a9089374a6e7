"""What has to change: open points that the task names are known, the rest is one call (``change_point_enum``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from agent.context import RunContext
from agent.judgment.batched import ask_structured
from agent.planning.asked_for import named_points
from agent.planning.replies import menu_text
from agent.planning.schema import OpenPoint
from agent.planning.target_menu import Menu, Target
from agent.prompts import change_point_enum
from agent.values import Value

STAGE = "change_point_enum"
MAX_POINTS = 10
"""Every pair of points may become a call: ten make 45."""

Change = Literal["modify", "add", "delete"]


class ChangePoint(Value, frozen=True):
    """One place that changes, how, and why in a sentence."""

    target: Target
    change: Change
    why: str

    @property
    def text(self) -> str:
        """The point as prompts and part descriptions show it."""
        return f"{self.change} {self.target.key}: {self.why}"


async def change_points(
    ctx: RunContext, *, task: str, task_context: str, menu: Menu, open_points: Sequence[OpenPoint]
) -> tuple[ChangePoint, ...]:
    """The places that have to change, each once.

    Raises:
        Unreadable: if neither reply could be used.
        ModelError: if the model cannot answer.
    """
    got: list[tuple[ChangePoint, ...]] = []

    def check(reply: object) -> None:
        got.append(_read(getattr(reply, "points"), menu))  # noqa: B009 - a type made at run time

    await ask_structured(
        _reply_type(menu), llm=ctx.llm(STAGE), system=change_point_enum.SYSTEM, item="task", task_context=task_context,
        prompt=change_point_enum.prompt(menu_text(menu.targets), menu.open_ended), check=check,
    )  # fmt: skip
    known = [
        ChangePoint(Target(p.path, p.name), "modify", f"{p.name} is not written yet: {p.why or 'implement it'}")
        for p in named_points(task, open_points)
    ]
    unique: dict[str, ChangePoint] = {}
    for point in (*got[-1], *known):
        unique.setdefault(point.target.key, point)
    return tuple(unique.values())


def _reply_type(menu: Menu) -> type[Any]:
    enum: dict[str, Any] = {} if menu.open_ended else {"enum": [t.key for t in menu.targets]}
    point = msgspec.defstruct(
        "Point",
        [
            ("target", Annotated[str, Meta(extra_json_schema=enum)] if enum else str),
            ("change", Change),
            ("why", Annotated[str, Meta(min_length=1)]),
        ],
    )
    points = Annotated[list[point], Meta(min_length=1, max_length=MAX_POINTS)]  # type: ignore[valid-type]
    return msgspec.defstruct("Reply", [("points", points)])


def _read(raw: Sequence[Any], menu: Menu) -> tuple[ChangePoint, ...]:
    points = []
    for number, point in enumerate(raw, 1):
        if not point.why.strip():
            raise ValueError(f"point {number} does not say what has to change")
        points.append(ChangePoint(menu.find(point.target), point.change, " ".join(point.why.split())))
    return tuple(points)
