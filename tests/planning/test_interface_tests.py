"""Which plans get test steps, where the tests go, and that no existing test is ever a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.planning.interface_tests import grown, plan_only_tests, with_test_steps
from agent.planning.plan import make_plan
from agent.planning.schema import KnownSymbol, OpenPoint, Plan, PlanStep, check_steps
from agent.planning.test_location import Project, place_for_test
from agent.task.intent import read_intent
from agent.workspace.protected import is_test_file
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer
from tests.planning.engine import as_json

NEW_LIST = "Create a new module for lists"
PROJECT = Project(("app.c", "Makefile"))
BOTH = {"decomposed_planning": True, "decomposed_part_grouping": True}


async def planned(tmp_path: Path, answer: Any, task: str, project: Project, **kwargs: Any) -> Plan:
    toggles = {"orchestrator": kwargs.pop("orchestrator", {}), "coding": kwargs.pop("coding", {})}
    values: dict[str, Any] = {"package_text": "", "files": ("app.c",), "symbols": (), "open_points": ()}
    async with ScriptedServer(answer) as server, run_context(tmp_path, server, **toggles) as ctx:
        return await make_plan(ctx, task=task, project=project, **{**values, **kwargs})


def steps_for_tests(plan: Plan) -> list[PlanStep]:
    check_steps(plan.steps)
    return [step for step in plan.steps if step.kind == "test_implement"]


async def test_facts_a_scaffold_is_followed_by_its_test(tmp_path: Path) -> None:
    plan = await planned(tmp_path, "no", "Write a list in src/list.h and src/list.c.", PROJECT)
    assert plan.how == "facts" and [step.kind for step in plan.steps] == ["scaffold", "test_implement"]
    (test,) = steps_for_tests(plan)
    assert (test.target_files, test.depends_on, test.interface) == (("tests/test_list.c",), ("s1",), ("src/list.h",))


@pytest.mark.parametrize("decomposed", [False, True])
async def test_a_models_scaffold_too_and_the_tests_it_planned_itself_are_set_apart(tmp_path: Path, decomposed: bool) -> None:
    keys = ["list.h", "list.c", "tests/test_list.c"]
    parts = [{"do": "Write the list with its test.", "targets": keys}]
    points = [{"target": key, "change": "add", "why": f"write {key}"} for key in keys]
    replies = [
        ("Write the plan as", as_json({"parts": parts})),
        ("List every place", as_json({"points": points})),
        ("Cut it into steps", as_json({"steps": parts})),
        ("", "yes"),
    ]
    plan = await planned(tmp_path, replies, NEW_LIST, PROJECT, orchestrator=BOTH if decomposed else {})
    assert plan.how == ("decomposed" if decomposed else "monolithic")
    scaffold = next(step for step in plan.steps if step.kind == "scaffold")
    assert scaffold.target_files == ("list.h", "list.c")
    (test,) = steps_for_tests(plan)
    assert test.target_files == ("tests/test_list.c",) and test is plan.steps[-1] and scaffold.id in test.depends_on


async def test_a_models_step_on_a_test_file_is_a_test_step_and_an_existing_one_is_left_alone(tmp_path: Path) -> None:
    project = Project(("budget.py", "tests/test_budget.py"))
    parts = [
        {"do": "Count better.", "targets": ["budget.py"]},
        {"do": "Extend the tests.", "targets": ["tests/test_budget.py"], "after": [1]},
    ]
    task = "Count better and extend the tests"
    files = ("budget.py", "tests/test_budget.py")
    plan = await planned(tmp_path, as_json({"parts": parts}), task, project, files=files)
    (test,) = steps_for_tests(plan)
    assert test.target_files == ("tests/test_budget_2.py",) and test.interface == ("budget.py",)
    assert (test.depends_on, plan.steps[0].target_files) == (("s1",), ("budget.py",))
    assert any("stays as it is" in note for note in plan.notes)


async def test_switched_off_there_is_no_step_unless_the_task_asks(tmp_path: Path) -> None:
    off = {"interface_tests": False}
    task = "Write a list in src/list.h and src/list.c."
    assert not steps_for_tests(await planned(tmp_path, "no", task, PROJECT, coding=off))
    assert steps_for_tests(await planned(tmp_path / "2", "no", f"{task} Add tests.", PROJECT, coding=off))


async def test_nothing_new_means_no_step_and_asking_means_one_for_what_is_changed(tmp_path: Path) -> None:
    project = Project(("ring.h", "ring.c"))
    points = (OpenPoint("ring_push", "ring.c", "ring.h", "int ring_push(int)", why="stub"),)
    plain = await planned(tmp_path, "no", "Implement the functions in ring.h", project, open_points=points)
    assert not steps_for_tests(plain)
    task = "Implement the functions in ring.h, with tests."
    asked = await planned(tmp_path / "2", "no", task, project, open_points=points)
    (test,) = steps_for_tests(asked)
    assert test.interface == ("ring.h",) and test.depends_on == ("s1",)


def test_a_new_module_and_a_new_public_function_bring_a_test_and_a_private_one_does_not() -> None:
    project = Project(("words.py",))
    new = PlanStep("s1", "Write it", ("lines.py",))
    added = PlanStep("s2", "Add it", ("words.py",), ("count_lines",))
    private = PlanStep("s3", "Add it", ("words.py",), ("_split",))
    there = PlanStep("s4", "Change it", ("words.py",), ("count_words",))

    def brought(step: PlanStep) -> list[tuple[str, ...]]:
        plan = with_test_steps(Plan((step,), "facts"), "Do it", {"count_words"}, project, True)
        return [one.interface for one in steps_for_tests(plan)]

    assert (brought(new), brought(added)) == ([("lines.py",)], [("words.py",)])
    assert (brought(private), brought(there)) == ([], [])


def test_a_plan_that_grows_keeps_its_tests_last_and_waiting_for_all_of_it() -> None:
    scaffold = PlanStep("s1", "Lay it", ("a.h", "a.c"), kind="scaffold")
    test = PlanStep("s2", "Test it", ("tests/test_a.c",), (), ("s1",), "", "test_implement", ("a.h",))
    new = [PlanStep(f"s1.{name}", f"Implement {name}", ("a.c",), (name,), ("s1",)) for name in "fg"]
    steps = grown((scaffold, test), new)
    assert [step.id for step in steps] == ["s1", "s1.f", "s1.g", "s2"]
    assert steps[-1].depends_on == ("s1", "s1.f", "s1.g")


@pytest.mark.parametrize(
    ("source", "paths", "place"),
    [
        ("src/ring.h", (), "tests/test_ring.c"),
        ("src/ring.h", ("test/data.txt",), "test/test_ring.c"),
        ("src/ring.h", ("tests/test_list.c", "src/ring.c"), "tests/test_ring.c"),
        ("src/ring.h", ("src/ring.c", "src/ring_test.c", "src/list.c", "src/list_test.c"), "src/ring_2_test.c"),
        ("src/ring.h", ("t/tests/unit/list_test.c", "t/tests/unit/map_test.c"), "t/tests/unit/ring_test.c"),
        ("pkg/words.py", ("tests/test_lines.py",), "tests/test_words.py"),
        ("pkg/words.py", ("tests/other/test_a.py", "tests/pkg/test_b.py"), "tests/pkg/test_words.py"),
        ("pkg/words.py", ("pkg/words.py", "pkg/lines.py", "pkg/lines_test.py"), "pkg/words_test.py"),
        ("pkg/words.py", ("tests/a/test_words.py",), "tests/a/test_words_2.py"),
        ("pkg/__init__.py", (), "tests/test_pkg.py"),
        ("notes.txt", (), ""),
    ],
)
def test_where_a_test_goes(source: str, paths: tuple[str, ...], place: str) -> None:
    got = place_for_test(source, Project(paths))
    assert got == place
    assert not got or is_test_file(got)


def test_a_name_that_is_taken_on_the_disk_or_hidden_is_never_used() -> None:
    taken = {"tests/test_ring.c", "tests/test_ring_2.c"}
    assert place_for_test("ring.h", Project((), taken.__contains__)) == "tests/test_ring_3.c"
    assert place_for_test("ring.h", Project((), hidden=("tests/",))) == ""


@pytest.mark.parametrize(
    ("task", "asks"),
    [
        ("Add tests for ring.h", True),
        ("Fix the crash and add a regression test.", True),
        ("Implement the functions in ring.h with tests", True),
        ("Add a function foo to a.py and tests for it", True),
        ("Extend the unit tests", True),
        ("Fix the failing tests", False),
        ("Implement f so that the tests pass", False),
        ("Complete the functions; all tests in tests/ must pass", False),
        ("Add a test flag to the command line", False),
        ("Add support for running tests in parallel", False),
        ("Write a program to test it", False),
    ],
)
def test_who_asks_for_tests(task: str, asks: bool) -> None:
    assert read_intent(task).wants_tests is asks


@pytest.mark.parametrize(
    ("task", "interface"),
    [
        ("Write unit tests for ring.c.", ("src/ring.h",)),
        ("Add tests for budget.py", ("budget.py",)),
        ("Write tests for budget.py and implement foo", ()),
        ("Write tests", ()),
        ("Fix budget.py and add tests", ()),
        ("Add tests for no_such.py", ()),
    ],
)
def test_a_task_for_tests_alone_needs_no_model(task: str, interface: tuple[str, ...]) -> None:
    plan = plan_only_tests(task, Project(("src/ring.h", "src/ring.c", "budget.py")))
    assert (plan.steps[0].interface if plan else ()) == interface


def test_symbols_of_a_package_are_known(tmp_path: Path) -> None:
    """A method that retrieval found is no new function."""
    symbol = KnownSymbol("Budget.left", "budget.py", "method", "primary")
    step = PlanStep("s1", "Change it", ("budget.py",), (symbol.name,))
    assert with_test_steps(Plan((step,), "facts"), "Do it", {symbol.name}, Project(("budget.py",)), True).steps == (step,)
