"""The replies of planning calls: types made for one menu, so that a grammar can hold the model to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent.planning.schema import PlanStep
from agent.planning.target_menu import Menu, Target
from agent.shortening import short_line
from agent.values import Value

MAX_DRAFTS = 8
"""The most parts of a plan, or steps of a part. Work that needs more is several tasks."""


class Draft(Value, frozen=True):
    """A part or step as the model wrote it, targets resolved. ``after`` holds numbers from 1 of earlier drafts."""

    do: str
    targets: tuple[Target, ...]
    after: tuple[int, ...] = ()


def reply_type(field: str, menu: Menu) -> type[Any]:
    """A struct with one list ``field`` of drafts whose targets are an enum of the menu's keys.

    The enum stands in the JSON schema only: a provider without grammars may answer in other words, and those are
    resolved leniently by :func:`read_drafts`.
    """
    enum: dict[str, Any] = {} if menu.open_ended else {"enum": [t.key for t in menu.targets]}
    target = Annotated[str, Meta(extra_json_schema=enum)] if enum else str
    draft = msgspec.defstruct(
        "Draft",
        [
            ("do", Annotated[str, Meta(min_length=1)]),
            ("targets", Annotated[list[target], Meta(min_length=1, max_length=8)]),  # type: ignore[valid-type]
            ("after", list[Annotated[int, Meta(ge=1, le=MAX_DRAFTS)]], msgspec.field(default_factory=list)),
        ],
    )
    drafts = Annotated[list[draft], Meta(min_length=1, max_length=MAX_DRAFTS)]  # type: ignore[valid-type]
    return msgspec.defstruct("Reply", [(field, drafts)])


def read_drafts(raw: Sequence[Any], menu: Menu) -> tuple[Draft, ...]:
    """The drafts with their targets found on the menu and their references checked.

    A part that waits for itself or for a later one is taken to mean "in this order", which the list already says.

    Raises:
        ValueError: if a target is not on the menu, or a reference is to no draft; the text names it.
    """
    drafts = []
    for number, draft in enumerate(raw, 1):
        wrong = [n for n in draft.after if n > len(raw)]
        if wrong:
            raise ValueError(f"number {number} comes after {wrong[0]}, but there are only {len(raw)}")
        if not draft.do.strip():
            raise ValueError(f"number {number} does not say what to do")
        targets = tuple(dict.fromkeys(menu.find(written) for written in draft.targets))
        after = tuple(sorted({n for n in draft.after if n < number}))
        drafts.append(Draft(" ".join(draft.do.split()), targets, after))
    return tuple(drafts)


def merge_same_targets(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Drafts that change exactly the same things become one: a small model likes to plan "find", "fix" and "test"."""
    home: dict[frozenset[str], int] = {}
    moved: dict[int, int] = {}
    merged: list[Draft] = []
    for number, draft in enumerate(drafts, 1):
        where = frozenset(target.key for target in draft.targets)
        if where not in home:
            home[where] = len(merged)
            merged.append(draft)
        else:
            first = merged[home[where]]
            do = first.do if draft.do in first.do else f"{first.do} {draft.do}"
            merged[home[where]] = msgspec.structs.replace(first, do=do, after=first.after + draft.after)
        moved[number] = home[where] + 1
    # A merged draft may now wait for a later one; the order of the list decides.
    return tuple(
        msgspec.structs.replace(d, after=tuple(sorted({moved[n] for n in d.after if moved[n] < number})))
        for number, d in enumerate(merged, 1)
    )


def to_steps(drafts: Sequence[Draft], *, part: str = "", start: int = 1, before: Sequence[str] = ()) -> tuple[PlanStep, ...]:
    """Drafts as plan steps ``s<start>`` and on; each also depends on the steps ``before``."""
    return tuple(
        PlanStep(
            f"s{start + i}",
            draft.do,
            tuple(dict.fromkeys(target.path for target in draft.targets)),
            tuple(dict.fromkeys(target.symbol for target in draft.targets if target.symbol)),
            (*before, *(f"s{start + n - 1}" for n in draft.after)),
            part,
        )
        for i, draft in enumerate(drafts)
    )


def menu_text(targets: Sequence[Target]) -> str:
    """The menu as the prompt shows it: one target a line, with what is known of it."""
    return "\n".join(f"- {t.key}" + (f"  ({short_line(t.note, 80)})" if t.note else "") for t in targets)
