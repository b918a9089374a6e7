"""Plans without a model: when the facts are enough, and when they are not."""

from __future__ import annotations

import pytest

from agent.planning.facts import plan_from_facts
from agent.planning.schema import Edge, OpenPoint


def point(name: str, path: str = "ring.c", header: str = "ring.h", signature: str = "") -> OpenPoint:
    return OpenPoint(name, path, header, signature or f"int {name}(void)")


RING = (
    point("ring_push", signature="bool ring_push(ring *r, int v)"),
    point("ring_pop", signature="bool ring_pop(ring *r, int *out)"),
    point("size", signature="size_t size(void)"),
    OpenPoint("ring", "ring.c", "ring.h", kind="type"),
)
WHOLE = ["ring", "ring_push", "ring_pop", "size"]


def names(task: str) -> list[str] | None:
    plan = plan_from_facts(task, RING)
    return [step.target_symbols[0] for step in plan.steps] if plan else None


@pytest.mark.parametrize(
    "task",
    [
        "Implement the functions declared in ring.h",
        "Complete the ring buffer",
        "Fill in the stubs in ring.c so that tests/test_ring.c passes",
        "Write the missing functions of src/ring.h",
        "Make the tests pass",
        "Implement all stubs; `ring_push` must return false when full",
        "Implement a ring buffer of fixed size",
    ],
)
def test_the_whole_is_asked_for(task: str) -> None:
    assert names(task) == WHOLE


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        ("Implement ring_push", ["ring", "ring_push"]),
        ("Implement ring_push and ring_pop.", ["ring", "ring_push", "ring_pop"]),
        ("Implement size", ["size"]),
        ("Fix ring_pop, it does nothing", ["ring", "ring_pop"]),
    ],
)
def test_named_functions_come_alone_with_the_types_they_need(task: str, wanted: list[str]) -> None:
    assert names(task) == wanted


@pytest.mark.parametrize(
    "task",
    [
        "Fix the off-by-one in log_write",
        "Implement ring_resize in ring.c",
        "Implement log.c",
        "Add a new function ring_peek",
        "Add tests for ring_push",
        "Rename ring_push to ring_put",
        "Refactor the ring buffer and implement the stubs",
        "The budget is exceeded by one token",
    ],
)
def test_other_tasks_are_not_for_facts(task: str) -> None:
    assert names(task) is None


def test_nothing_open_is_no_plan() -> None:
    assert plan_from_facts("Implement the functions declared in ring.h", ()) is None


def test_functions_wait_for_the_types_they_name_and_for_nothing_else() -> None:
    plan = plan_from_facts("Implement the functions declared in ring.h", RING)
    assert plan is not None
    assert [(s.id, s.kind, s.depends_on) for s in plan.steps] == [
        ("s1", "type_definition", ()),
        ("s2", "function_implement", ("s1",)),
        ("s3", "function_implement", ("s1",)),
        ("s4", "function_implement", ()),
    ]


def test_a_type_is_known_by_its_typedef_too() -> None:
    opaque = OpenPoint("ring", "ring.c", "ring.h", "struct ring", "type", aliases=("ring_t",))
    plan = plan_from_facts("Implement ring_push", (opaque, point("ring_push", signature="bool ring_push(ring_t *r)")))
    assert plan is not None
    assert [(s.target_symbols, s.depends_on) for s in plan.steps] == [(("ring",), ()), (("ring_push",), ("s1",))]


def test_a_known_call_and_an_include_decide_dependencies() -> None:
    points = (point("parse", "parse.c", "parse.h"), point("next_token", "lex.c", "lex.h"), point("peek", "lex.c", "lex.h"))
    edges = (Edge("next_token", "peek"), Edge("parse.c", "lex.h", "include"))
    plan = plan_from_facts("Implement all stubs", points, edges)
    assert plan is not None
    by_name = {s.target_symbols[0]: s for s in plan.steps}
    assert [s.target_symbols[0] for s in plan.steps] == ["peek", "next_token", "parse"]
    assert by_name["next_token"].depends_on == (by_name["peek"].id,)
    assert set(by_name["parse"].depends_on) == {by_name["peek"].id, by_name["next_token"].id}


def test_functions_that_use_each_other_do_not_end_the_plan() -> None:
    points = (point("is_even"), point("is_odd"))
    plan = plan_from_facts("Implement all stubs", points, (Edge("is_even", "is_odd"), Edge("is_odd", "is_even")))
    assert plan is not None
    assert len(plan.steps) == 2
    assert "use each other" in plan.notes[0]


def test_two_files_with_the_same_static_name_are_two_steps() -> None:
    points = (point("helper", "a.c", ""), point("helper", "b.c", ""))
    plan = plan_from_facts("Implement all stubs", points)
    assert plan is not None
    assert [s.target_files for s in plan.steps] == [("a.c",), ("b.c",)]
