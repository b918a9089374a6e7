"""C from scratch is laid down as one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.planning.new_c import merge_new_c, plan_new_c
from agent.planning.plan import make_plan
from agent.planning.schema import PlanStep, check_steps
from tests.planning.engine import as_json, engine

TASK = "Write a hash table in src/hash_table.h and src/hash_table.c, as README.md specifies: insert, lookup and resize."


def test_files_named_by_the_task_that_are_not_there_are_one_scaffold_step() -> None:
    plan = plan_new_c(TASK, ("Makefile",))
    assert plan is not None
    (step,) = plan.steps
    assert (step.kind, step.target_files) == ("scaffold", ("src/hash_table.h", "src/hash_table.c"))
    assert step.description == TASK


@pytest.mark.parametrize(
    ("task", "files"),
    [
        (TASK, ("src/hash_table.h",)),
        ("Write a program in main.c", ()),
        ("Fix the crash: src/list.h is missing", ()),
        ("Write src/list.h and use it in tool.py", ()),
        ("Explain list.h", ()),
        ("Write ../list.h", ()),
    ],
)
def test_everything_else_is_not(task: str, files: tuple[str, ...]) -> None:
    assert plan_new_c(task, files) is None


async def test_it_needs_no_call(tmp_path: Path) -> None:
    async with engine(tmp_path, "no") as run:
        plan = await make_plan(run.ctx, task=TASK, package_text="", files=(), symbols=(), open_points=())
        assert not run.server.calls
    assert plan.steps[0].kind == "scaffold"


async def test_a_models_plan_over_new_c_files_is_merged(tmp_path: Path) -> None:
    parts = [
        {"do": "Declare the list.", "targets": ["list.h"]},
        {"do": "Write the list.", "targets": ["list.c"], "after": [1]},
        {"do": "Use it.", "targets": ["app.c"], "after": [2]},
    ]
    async with engine(tmp_path, as_json({"parts": parts})) as run:
        plan = await make_plan(
            run.ctx, task="Create a new module for lists", package_text="", files=("app.c",), symbols=(), open_points=()
        )
    assert [(s.kind, s.target_files, s.depends_on) for s in plan.steps] == [
        ("scaffold", ("list.h", "list.c"), ()),
        ("implement", ("app.c",), ("s1",)),
    ]
    assert plan.steps[0].description == "Declare the list. Write the list."


def test_merging_makes_no_circle() -> None:
    steps = (
        PlanStep("s1", "a", ("x.h",)),
        PlanStep("s2", "b", ("app.c",), (), ("s1",)),
        PlanStep("s3", "c", ("x.c",), (), ("s2",)),
    )
    merged = merge_new_c(steps, ("app.c",))
    check_steps(merged)
    assert [(s.id, s.depends_on) for s in merged] == [("s1", ()), ("s2", ("s1",))]


def test_merging_keeps_every_reference_valid() -> None:
    steps = (
        PlanStep("s1", "a", ("app.c",)),
        PlanStep("s2", "b", ("x.h",), (), ("s1",)),
        PlanStep("s3", "c", ("x.c",), (), ("s2",)),
        PlanStep("s4", "d", ("app.c",), (), ("s3", "s2")),
    )
    merged = merge_new_c(steps, ("app.c",))
    check_steps(merged)
    assert [(s.id, s.depends_on) for s in merged] == [("s1", ()), ("s2", ("s1",)), ("s4", ("s2",))]
