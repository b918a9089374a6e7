"""How a model writes a revised plan: steps over known ids, files and symbols, so that a grammar can hold it to them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from agent.context import RunContext
from agent.planning.schema import PlanStep

SHARE = 0.5
"""Part of the context window that the diff may take in a revision call; its end is kept."""


def reply_type(ids: Iterable[str], steps: Sequence[PlanStep], done: Iterable[str]) -> type[Any]:
    """A struct ``revised_steps``, ``rationale``, ``changes_made``; ids, targets and references are enums in its schema."""
    own = list(dict.fromkeys(ids))
    files = list(dict.fromkeys(path for step in steps for path in step.target_files))
    symbols = list(dict.fromkeys(symbol for step in steps for symbol in step.target_symbols))
    step = msgspec.defstruct(
        "Step",
        [
            ("id", _one_of(own)),
            ("description", Annotated[str, Meta(min_length=1)]),
            ("target_files", list[_one_of(files)], msgspec.field(default_factory=list)),  # type: ignore[misc]
            ("target_symbols", list[_one_of(symbols)], msgspec.field(default_factory=list)),  # type: ignore[misc]
            ("depends_on", list[_one_of([*own, *done])], msgspec.field(default_factory=list)),  # type: ignore[misc]
        ],
    )
    # The limit is only in the schema: a longer reply lists a step that it should not, and its re-ask names that step.
    limit = Meta(extra_json_schema={"maxItems": max(1, len(own))})
    return msgspec.defstruct(
        "Reply",
        [
            ("revised_steps", Annotated[list[step], limit]),  # type: ignore[valid-type]
            ("rationale", str, ""),
            ("changes_made", Annotated[list[str], Meta(max_length=10)], msgspec.field(default_factory=list)),
        ],
    )


def _one_of(words: Sequence[str]) -> Any:
    return Annotated[str, Meta(extra_json_schema={"enum": list(words)})] if words else str


def as_step(raw: Any) -> PlanStep:
    """A step of a reply as a plan step."""
    return PlanStep(
        raw.id.strip(), " ".join(raw.description.split()), tuple(raw.target_files), tuple(raw.target_symbols),
        tuple(dict.fromkeys(needed for needed in raw.depends_on if needed != raw.id)),
    )  # fmt: skip


def steps_json(steps: Sequence[PlanStep]) -> str:
    """Steps as a revision prompt shows them."""
    shown = [
        {"id": s.id, "description": s.description, "target_files": s.target_files, "target_symbols": s.target_symbols,
         "depends_on": s.depends_on}
        for s in steps
    ]  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(shown), indent=1).decode()


def places_text(steps: Sequence[PlanStep]) -> str:
    """The files and symbols that the steps name, in one line."""
    named = dict.fromkeys(name for step in steps for name in (*step.target_files, *step.target_symbols))
    return ", ".join(named) or "none known"


def new_ids(count: int, taken: Iterable[str]) -> tuple[str, ...]:
    """``n1``, ``n2`` ... that no step has."""
    used = set(taken)
    free = (f"n{number}" for number in itertools.count(1) if f"n{number}" not in used)
    return tuple(itertools.islice(free, count))


def fitting_diff(ctx: RunContext, stage: str, diff: str) -> str:
    """The end of a diff that leaves room in the stage's window (three characters a token, a cautious guess)."""
    room = int(ctx.llm(stage).target.context_window * 3 * SHARE)
    return diff if len(diff) <= room else "[the beginning is left out]\n" + diff[-room:]
