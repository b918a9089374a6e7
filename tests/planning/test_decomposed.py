"""Planning by many small decisions: what is asked, what is not, and what a wrong answer can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.events import CallStarted, Notice, StageFinished
from agent.planning.plan import make_plan
from agent.planning.schema import Edge, KnownSymbol, OpenPoint, Plan
from tests.fakes.script import Answer
from tests.planning.engine import Engine, as_json, engine

SYMBOLS = tuple(
    KnownSymbol(name, path, "function", "primary")
    for name, path in (("load", "store.py"), ("save", "store.py"), ("show", "view.py"), ("main", "app.py"))
)
FILES = ("store.py", "view.py", "app.py")
BOTH = {"decomposed_planning": True, "decomposed_part_grouping": True}
ENUM, GROUP, PART, STEPS, ORDER = (
    "List every place", "belong to the same part", "Part A:", "Cut it into steps", "Step A:",
)  # fmt: skip


async def plan_of(run: Engine, task: str = "Keep a version number in the file", **kwargs: Any) -> Plan:
    values: dict[str, Any] = {"package_text": "code", "files": FILES, "symbols": SYMBOLS, "open_points": (), "edges": ()}
    return await make_plan(run.ctx, task=task, **{**values, **kwargs})


def points(*keys: str) -> str:
    return as_json({"points": [{"target": key, "change": "modify", "why": f"change {key}"} for key in keys]})


def steps(*keys: str) -> str:
    return as_json({"steps": [{"do": f"do {key}", "targets": [key], "after": []} for key in keys]})


def asked(run: Engine, stage: str) -> list[str]:
    return [e.item for e in run.events if isinstance(e, CallStarted) and e.stage == stage]


def yes_between(*pairs: tuple[str, str]) -> Any:
    """Yes where the first name stands in the prompt's first line of the pair and the second in its second."""

    def answer(call: Any) -> bool:
        lines = call.prompt.splitlines()
        first = next(line for line in lines if line.startswith(("First change", "Part A", "Step A")))
        second = next(line for line in lines if line.startswith(("Second change", "Part B", "Step B")))
        return any(a in first and b in second for a, b in pairs)

    return answer


async def test_the_whole_walk(tmp_path: Path) -> None:
    script = [
        (ENUM, points("store.py:load", "store.py:save", "view.py:show")),
        (GROUP, yes_between(("store.py:load", "store.py:save"))),
        (PART, yes_between(("view.py:show", "store.py:load"))),
        (STEPS, steps("store.py:load", "store.py:save")),
        (ORDER, yes_between(("do store.py:load", "do store.py:save"))),
    ]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
    assert plan.how == "decomposed"
    assert [(s.part, s.target_symbols, s.depends_on) for s in plan.steps] == [
        ("p1", ("save",), ()),
        ("p1", ("load",), ("s2",)),
        ("p2", ("show",), ("s1", "s2")),
    ]
    assert len(plan.parts) == 2
    assert len(asked(run, "part_grouping")) == 3, "every unordered pair of three points"
    assert len(asked(run, "part_dependency")) == 2, "every ordered pair of two parts"
    assert len(asked(run, "step_dependency")) == 2
    assert len(asked(run, "step_design")) == 1, "a part of one change needs no design"
    assert not asked(run, "symbol_targeting"), "all symbols are known already"


async def test_one_change_point_is_one_call(tmp_path: Path) -> None:
    async with engine(tmp_path, [(ENUM, points("store.py:save"))], **BOTH) as run:
        plan = await plan_of(run)
    assert run.stages() == ["change_point_enum"]
    assert plan.steps[0].description == "change store.py:save"


async def test_mutual_yes_dependencies_do_not_kill_the_run(tmp_path: Path) -> None:
    def dependent(call: Any) -> Answer:
        waits = "Part A: modify store.py" in call.prompt
        return Answer("yes", p_yes=0.6 if waits else 0.9)

    script = [(ENUM, points("store.py:save", "view.py:show")), (GROUP, False), (PART, dependent)]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
    assert [(s.target_symbols, s.depends_on) for s in plan.steps] == [(("save",), ()), (("show",), ("s1",))]
    assert any("p1 and p2 were each to wait for the other" in note and "p1 does not wait" in note for note in plan.notes)


async def test_everything_yes_still_ends_in_a_plan(tmp_path: Path) -> None:
    keys = ("store.py:load", "store.py:save", "view.py:show", "app.py:main", "store.py")
    script = [(ENUM, points(*keys)), (STEPS, steps(*keys[:4])), ("Answer yes or no", True)]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
    assert max(len([s for s in plan.steps if s.part == part]) for part in ("p1", "p2")) <= 4
    assert any("a part holds at most 4 changes" in note for note in plan.notes)
    assert {s.id for s in plan.steps} == {f"s{n}" for n in range(1, len(plan.steps) + 1)}


async def test_known_uses_are_not_asked_about(tmp_path: Path) -> None:
    script = [(ENUM, points("store.py:save", "view.py:show")), (GROUP, False)]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run, edges=(Edge("show", "save"),))
        assert not asked(run, "part_dependency")
    assert [(s.target_symbols, s.depends_on) for s in plan.steps] == [(("save",), ()), (("show",), ("s1",))]


async def test_unreadable_pairs_are_apart_and_said(tmp_path: Path) -> None:
    script = [(ENUM, points("store.py:save", "view.py:show")), ("Answer yes or no", "perhaps")]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
        notices = await run.seen(Notice)
    assert [s.depends_on for s in plan.steps] == [(), ()]
    assert {n.stage for n in notices} == {"part_grouping", "part_dependency"}


async def test_grouping_in_one_call_when_its_toggle_is_off(tmp_path: Path) -> None:
    script = [
        (ENUM, points("store.py:load", "store.py:save", "view.py:show")),
        ("Write the parts as lists", as_json({"parts": [[1, 3], [2]]})),
        (STEPS, steps("store.py:load", "view.py:show")),
    ]
    async with engine(tmp_path, script, decomposed_planning=True) as run:
        plan = await plan_of(run)
    assert asked(run, "part_grouping") == ["all changes"]
    assert [s.part for s in plan.steps] == ["p1", "p1", "p2"]


async def test_a_grouping_that_loses_a_change_is_refused_then_files_decide(tmp_path: Path) -> None:
    script = [
        (ENUM, points("store.py:load", "store.py:save", "view.py:show")),
        ("Write the parts as lists", as_json({"parts": [[1, 2]]})),
        (STEPS, steps("store.py:load", "store.py:save")),
    ]
    async with engine(tmp_path, script, decomposed_planning=True) as run:
        plan = await plan_of(run)
    assert len(asked(run, "part_grouping")) == 2
    assert [s.part for s in plan.steps] == ["p1", "p1", "p2"]
    assert any("grouped by file" in note for note in plan.notes)


async def test_a_change_that_names_a_file_is_asked_for_its_symbols(tmp_path: Path) -> None:
    script = [
        (ENUM, points("store.py")),
        ("Which of them have to be rewritten", as_json({"symbols": ["load", "save"]})),
        (STEPS, steps("store.py:load", "store.py:save")),
    ]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
    assert [s.target_symbols for s in plan.steps] == [("load",), ("save",)]


async def test_a_design_that_forgets_a_change_gets_a_step_for_it(tmp_path: Path) -> None:
    script = [(ENUM, points("store.py:load", "store.py:save")), (GROUP, True), (STEPS, steps("store.py:load"))]
    async with engine(tmp_path, script, **BOTH) as run:
        plan = await plan_of(run)
    assert [s.target_symbols for s in plan.steps] == [("load",), ("save",)]
    assert any("no step covered store.py:save" in note for note in plan.notes)


async def test_unusable_points_fall_back_visibly(tmp_path: Path) -> None:
    async with engine(tmp_path, "no idea", **BOTH) as run:
        plan = await plan_of(run)
        assert any("No usable plan" in notice.text for notice in await run.seen(Notice))
    assert plan.how == "default"


async def test_open_points_that_the_task_names_are_change_points_without_being_asked_for(tmp_path: Path) -> None:
    open_points = (OpenPoint("store_open", "store.c", "store.h", why="stub"),)
    async with engine(tmp_path, [(ENUM, points("view.py:show")), (GROUP, False)], **BOTH) as run:
        plan = await plan_of(run, "Rename show and have it call store_open", open_points=open_points)
    assert ("function_implement", ("store_open",)) in [(s.kind, s.target_symbols) for s in plan.steps]


async def test_stages_tell_their_counts(tmp_path: Path) -> None:
    script = [(ENUM, points("store.py:save", "view.py:show")), (GROUP, False)]
    async with engine(tmp_path, script, **BOTH) as run:
        await plan_of(run)
        finished = {e.stage: e.counts for e in await run.seen(StageFinished)}
    assert finished == {
        "part_grouping": {"asked": 1, "yes": 0, "no": 1},
        "part_dependency": {"asked": 2, "yes": 0, "no": 2},
    }
