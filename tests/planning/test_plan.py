"""Plans of one call: schema-constrained, checked, with a visible way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.events import Notice, PlanMade
from agent.planning.plan import make_plan
from agent.planning.schema import KnownSymbol, OpenPoint, Plan, PlanError
from tests.planning.engine import Engine, as_json, engine

FILES = ("budget.py", "tests/test_budget.py")
SYMBOLS = (
    KnownSymbol("BudgetTracker.can_fit", "budget.py", "method", "primary", "def can_fit(self, text)"),
    KnownSymbol("BudgetTracker.remaining", "budget.py", "method", "primary", "def remaining(self)"),
    KnownSymbol("estimate_tokens", "budget.py", "function", "supporting"),
)
TASK = "The budget tracker lets through one token too many: fix the off-by-one"


async def plan_of(run: Engine, task: str = TASK, **kwargs: Any) -> Plan:
    values = {"package_text": "class BudgetTracker: ...", "files": FILES, "symbols": SYMBOLS, "open_points": ()}
    return await make_plan(run.ctx, task=task, **{**values, **kwargs})


def reply(*parts: dict[str, Any], field: str = "parts") -> str:
    return as_json({field: list(parts)})


def part(do: str, *targets: str, after: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"do": do, "targets": list(targets), "after": list(after)}


async def test_one_call_one_step(tmp_path: Path) -> None:
    answer = reply(part("Compare with <= in can_fit.", "budget.py:BudgetTracker.can_fit"))
    async with engine(tmp_path, answer) as run:
        plan = await plan_of(run)
        (made,) = await run.seen(PlanMade)
    assert [(s.id, s.target_files, s.target_symbols) for s in plan.steps] == [
        ("s1", ("budget.py",), ("BudgetTracker.can_fit",))
    ]
    assert plan.how == "monolithic"
    assert made.steps == plan.steps
    assert run.stages() == ["meta_plan"]


async def test_the_grammar_offers_only_what_exists_and_no_tests(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(part("x", "budget.py"))) as run:
        await plan_of(run)
        schema = run.server.calls[0].body["response_format"]["json_schema"]["schema"]
    enum = schema["properties"]["parts"]["items"]["properties"]["targets"]["items"]["enum"]
    assert enum[:2] == ["budget.py:BudgetTracker.can_fit", "budget.py:BudgetTracker.remaining"]
    assert "budget.py" in enum
    assert not any("test" in key for key in enum)


async def test_several_parts_get_a_plan_each_where_there_is_something_to_plan(tmp_path: Path) -> None:
    both = ("budget.py:BudgetTracker.can_fit", "budget.py:BudgetTracker.remaining")
    script = [
        ("Part 2 of the plan", reply(part("a", both[0]), part("b", both[1], after=(1,)), field="steps")),
        ("What may be changed", reply(part("first", "budget.py:estimate_tokens"), part("then", *both, after=(1,)))),
    ]
    async with engine(tmp_path, script) as run:
        plan = await plan_of(run, "Count tokens by words")
    assert run.stages() == ["meta_plan", "part_plan"]
    assert [(s.id, s.part, s.depends_on) for s in plan.steps] == [
        ("s1", "p1", ()),
        ("s2", "p2", ("s1",)),
        ("s3", "p2", ("s1", "s2")),
    ]
    assert plan.parts == ("first", "then")


async def test_find_fix_and_verify_over_the_same_thing_are_one_step(tmp_path: Path) -> None:
    place = "budget.py:BudgetTracker.can_fit"
    answer = reply(part("Find it.", place), part("Fix it.", place, after=(1,)), part("Test it.", place, after=(2,)))
    async with engine(tmp_path, answer) as run:
        plan = await plan_of(run)
    assert [s.description for s in plan.steps] == ["Find it. Fix it. Test it."]
    assert plan.steps[0].depends_on == ()


async def test_short_names_are_understood(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(part("x", "can_fit", "remaining()"))) as run:
        plan = await plan_of(run)
    assert plan.steps[0].target_symbols == ("BudgetTracker.can_fit", "BudgetTracker.remaining")


async def test_an_unknown_target_is_asked_again_with_the_reason(tmp_path: Path) -> None:
    script = [
        ("could not be used", reply(part("x", "budget.py:BudgetTracker.can_fit"))),
        ("What may be changed", reply(part("x", "src/other.py"))),
    ]
    async with engine(tmp_path, script) as run:
        plan = await plan_of(run)
        again = run.server.calls[1].prompt
    assert "'src/other.py' is none of the targets" in again
    assert plan.how == "monolithic"


async def test_garbage_falls_back_to_the_primary_symbols_and_says_so(tmp_path: Path) -> None:
    async with engine(tmp_path, "I would rather talk about the weather.") as run:
        plan = await plan_of(run)
        notices = await run.seen(Notice)
    assert plan.how == "default"
    assert plan.steps[0].target_symbols == ("BudgetTracker.can_fit", "BudgetTracker.remaining")
    assert plan.steps[0].description == TASK
    assert any("No usable plan came back" in notice.text for notice in notices)
    assert len(run.server.calls) == 2


async def test_garbage_with_nothing_to_fall_back_on_fails_with_a_sentence(tmp_path: Path) -> None:
    async with engine(tmp_path, "no idea") as run:
        with pytest.raises(PlanError, match="name the files or functions"):
            await plan_of(run, symbols=())
        assert not await run.seen(PlanMade)


async def test_a_repair_with_one_place_asks_nothing(tmp_path: Path) -> None:
    async with engine(tmp_path, "no") as run:
        plan = await plan_of(run, symbols=SYMBOLS[:1])
        assert not run.server.calls
    assert plan.how == "facts"
    assert plan.steps[0].target_symbols == ("BudgetTracker.can_fit",)


async def test_a_class_gives_way_to_its_methods(tmp_path: Path) -> None:
    symbols = (KnownSymbol("BudgetTracker", "budget.py", "class", "primary"), SYMBOLS[0])
    async with engine(tmp_path, "no") as run:
        plan = await plan_of(run, symbols=symbols)
        assert not run.server.calls
    assert plan.steps[0].target_symbols == ("BudgetTracker.can_fit",)


async def test_stubs_are_planned_without_a_call(tmp_path: Path) -> None:
    points = (OpenPoint("ring_push", "ring.c", "ring.h", "bool ring_push(ring *r, int v)"),)
    async with engine(tmp_path, "no") as run:
        plan = await plan_of(run, "Implement the functions declared in ring.h", open_points=points)
        assert not run.server.calls
    assert (plan.how, plan.steps[0].kind) == ("facts", "function_implement")


async def test_open_functions_in_a_models_plan_become_steps_of_their_own(tmp_path: Path) -> None:
    points = tuple(OpenPoint(name, "ring.c", "ring.h") for name in ("ring_push", "ring_pop"))
    answer = reply(part("Write both.", "ring.c:ring_push", "ring.c:ring_pop"), part("Use them.", "budget.py", after=(1,)))
    async with engine(tmp_path, answer) as run:
        plan = await plan_of(run, "Add a queue to the tracker", open_points=points)
    kinds = {s.id: (s.kind, s.target_symbols) for s in plan.steps}
    assert kinds == {
        "s1.ring_push": ("function_implement", ("ring_push",)),
        "s1.ring_pop": ("function_implement", ("ring_pop",)),
        "s2": ("implement", ()),
    }
    assert plan.steps[-1].depends_on == ("s1.ring_push", "s1.ring_pop")


async def test_new_files_may_be_named_only_when_asked_for(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(part("x", "src/cache.py"))) as run:
        plan = await plan_of(run, "Create a module for caching estimates")
        assert plan.steps[0].target_files == ("src/cache.py",)
    (tmp_path / "b").mkdir()
    async with engine(tmp_path / "b", reply(part("x", "../cache.py"))) as run:
        plan = await plan_of(run, "Create a module for caching estimates")
        assert plan.how == "default"


async def test_the_planning_calls_share_their_beginning(tmp_path: Path) -> None:
    both = ("budget.py:BudgetTracker.can_fit", "budget.py:BudgetTracker.remaining")
    script = [
        ("of the plan:", reply(part("a", both[0]), field="steps")),
        ("What may be changed", reply(part("first", *both), part("then", "budget.py", after=(1,)))),
    ]
    async with engine(tmp_path, script) as run:
        await plan_of(run, "Count tokens by words")
        first, second = run.server.calls
    assert first.system == second.system
    assert second.prompt.startswith(first.prompt[: first.prompt.index("What may be changed")])
