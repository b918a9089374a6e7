"""A plan without a model: every open point that the task asks for becomes a step."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from agent.graph import break_cycles
from agent.planning.asked_for import asked_for, declared_besides
from agent.planning.schema import Edge, OpenPoint, Plan, PlanStep, check_steps, ordered
from agent.task.intent import read_intent


def plan_from_facts(task: str, open_points: Sequence[OpenPoint], edges: Sequence[Edge] = ()) -> Plan | None:
    """The plan that the facts alone make, or None when the task is not (only) about what is declared and missing.

    ``open_points`` come in the order of their headers, which decides wherever no fact does. A function depends on the
    open types that its signature names, on the open points it is known to use, and on those of the files that its
    file includes; all others stay independent of each other, so that they can be written at the same time.
    """
    wanted = asked_for(task, open_points)
    return _plan_of(wanted, open_points, edges) if wanted else None


def with_declared(plan: Plan, task: str, open_points: Sequence[OpenPoint], edges: Sequence[Edge] = ()) -> Plan:
    """``plan`` of a repair, after the steps that write what the task wants besides: while that is open, checks fail that
    say nothing about the repair."""
    wanted = declared_besides(task, open_points)
    if not wanted:
        return plan
    first = _plan_of(wanted, open_points, edges)
    names = {point.name for point in wanted}
    left = [step for step in plan.steps if not names.issuperset(step.target_symbols or ("",))]
    ids = {step.id: f"s{number}" for number, step in enumerate(left, len(first.steps) + 1)}
    later = [
        msgspec.structs.replace(
            step, id=ids[step.id], depends_on=tuple(ids[each] for each in step.depends_on if each in ids),
            target_symbols=tuple(name for name in step.target_symbols if name not in names),
        )
        for step in left
    ]  # fmt: skip
    return Plan((*first.steps, *later), plan.how, plan.parts, (*first.notes, *plan.notes))


def _plan_of(wanted: Sequence[OpenPoint], open_points: Sequence[OpenPoint], edges: Sequence[Edge]) -> Plan:
    wanted = _with_types(wanted, open_points)
    ids = {_key(point): f"s{number}" for number, point in enumerate(wanted, 1)}
    needs, given_up = break_cycles(list(ids.values()), _needs(wanted, edges, ids))
    steps = tuple(_step(point, ids[_key(point)], needs[ids[_key(point)]]) for point in wanted)
    check_steps(steps)
    names = {ids[_key(point)]: point.name for point in wanted}
    notes = tuple(f"{names[a]} and {names[b]} use each other; {names[a]} does not wait for {names[b]}" for a, b in given_up)
    return Plan(ordered(steps), "facts", (), notes)


def plan_untold(
    task: str, untold: Sequence[str], open_points: Sequence[OpenPoint], edges: Sequence[Edge] = ()
) -> Plan | None:
    """One scaffold step for a header that does not declare what tests use, when the task wants the code that they test; the
    open points that the task asks for come after it. ``untold`` are the header and its source."""
    intent = read_intent(task)
    if not untold or intent.repairs or intent.other_work or not (intent.completes or intent.creates):
        return None
    first = PlanStep("i1", " ".join(task.split()), tuple(untold), (), (), "", "scaffold")
    note = f"The tests use what {untold[0]} does not declare: it is declared as they use it."
    rest = plan_from_facts(task, open_points, edges)
    later = [msgspec.structs.replace(step, depends_on=(*step.depends_on, "i1")) for step in rest.steps] if rest else []
    return Plan((first, *later), "facts", (), (note, *(rest.notes if rest else ())))


def _with_types(wanted: Sequence[OpenPoint], points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """The wanted points, types first, with the open types that their signatures name."""
    chosen = [p for p in points if p in wanted or any(_names_type(user, p) for user in wanted)]
    return tuple(sorted({_key(p): p for p in chosen}.values(), key=lambda point: point.kind != "type"))


def _names_type(user: OpenPoint, used: OpenPoint) -> bool:
    """Whether a function's signature names an open type, by any of its names."""
    if used.kind != "type" or user.kind != "function":
        return False
    return not {used.name, *used.aliases}.isdisjoint(re.findall(r"\w+", user.signature))


def _needs(
    wanted: Sequence[OpenPoint], edges: Sequence[Edge], ids: dict[tuple[str, str], str]
) -> dict[tuple[str, str], float | None]:
    """(step, step it needs) to how firmly: 1.0 a type in the signature, 0.9 a call, 0.8 an include."""
    needs: dict[tuple[str, str], float | None] = {}
    calls = {(edge.source, edge.target) for edge in edges if edge.kind == "call"}
    includes = {(edge.source, edge.target) for edge in edges if edge.kind == "include"}
    for user in wanted:
        for used in wanted:
            if used is user:
                continue
            weight = 0.0
            if _names_type(user, used):
                weight = 1.0
            elif (user.name, used.name) in calls:
                weight = 0.9
            elif _unit(user) != _unit(used) and any((a, b) in includes for a in _files(user) for b in _files(used)):
                weight = 0.8
            if weight:
                needs[ids[_key(user)], ids[_key(used)]] = weight
    return needs


def _step(point: OpenPoint, step: str, needs: tuple[str, ...]) -> PlanStep:
    declared = f", as declared in {point.header}" if point.header and point.header != point.path else ""
    if point.kind == "type":
        text = f"Define {point.name} in {point.path}{declared}: it is declared without its members."
    else:
        text = f"Implement {point.name} in {point.path}{declared}."
    kind = "type_definition" if point.kind == "type" else "function_implement"
    return PlanStep(step, text, (point.path,), (point.name,), needs, "", kind)  # type: ignore[arg-type]


def _key(point: OpenPoint) -> tuple[str, str]:
    return point.path, point.name


def _unit(point: OpenPoint) -> str:
    return point.header or point.path


def _files(point: OpenPoint) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in (point.path, point.header) if path))
