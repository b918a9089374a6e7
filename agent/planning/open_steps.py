"""Steps over things that are not written yet: one function a step, so that each is written alone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from agent.planning.schema import OpenPoint, PlanStep


def split_open(steps: Sequence[PlanStep], open_points: Sequence[OpenPoint]) -> tuple[PlanStep, ...]:
    """Give every open point a step of its own kind; what else a step targets stays together behind them.

    A model asked for one function at a time is right far more often than when asked for several.
    A step that depended on a split step depends on all its pieces. A point that two steps name is written in the first.
    """
    if not open_points:
        return tuple(steps)
    by_place = {(point.path, point.name): point for point in open_points}
    pieces: dict[str, tuple[str, ...]] = {}
    made: list[PlanStep] = []
    writer: dict[tuple[str, str], str] = {}
    for step in steps:
        found = [p for p in by_place.values() if p.name in step.target_symbols and p.path in step.target_files]
        fresh = [p for p in found if (p.path, p.name) not in writer]
        own = [_open_step(step, p) for p in fresh]
        writer |= {(p.path, p.name): piece.id for p, piece in zip(fresh, own, strict=True)}
        elsewhere = [writer[(p.path, p.name)] for p in found if p not in fresh]
        rest = tuple(s for s in step.target_symbols if s not in {p.name for p in found})
        if rest or not found:
            after = (*step.depends_on, *elsewhere, *(piece.id for piece in own))
            own.append(msgspec.structs.replace(step, target_symbols=rest, depends_on=after))
        pieces[step.id] = tuple([piece.id for piece in own] or elsewhere)
        made += own
    return tuple(msgspec.structs.replace(s, depends_on=_pieces_of(s, pieces)) for s in made)


def _open_step(step: PlanStep, point: OpenPoint) -> PlanStep:
    kind = "type_definition" if point.kind == "type" else "function_implement"
    name = step.id if step.target_symbols == (point.name,) else f"{step.id}.{point.name}"
    return msgspec.structs.replace(step, id=name, target_files=(point.path,), target_symbols=(point.name,), kind=kind)


def _pieces_of(step: PlanStep, pieces: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    needed = (piece for d in step.depends_on for piece in pieces.get(d, (d,)))
    return tuple(dict.fromkeys(piece for piece in needed if piece != step.id))
