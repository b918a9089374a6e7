"""Whole runs with every toggle off, and on: which calls are made is what the toggles say, and nothing else."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from agent import events as ev
from agent.config.schema import Orchestrator
from agent.workspace.demo import create_demo
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder
from tests.flow.planner import TablePlanner, bare_readme, plans_two_changes
from tests.flow.test_run import of, play

TOGGLES = [field.name for field in msgspec.structs.fields(Orchestrator) if field.name.startswith("decomposed_")]
ERRORS = ("error_classify_include", "error_classify_signature", "error_classify_definition")
RETRIEVAL = {"task_analysis", "scope", "similarity", "precision_pass1", "precision_pass2", "precision_pass3"}
SOURCE, HEADER = (SOLUTIONS / "hash_table.c").read_bytes(), (SOLUTIONS / "hash_table.h").read_bytes()
NEW_TABLE = (
    "Write a hash table with string keys and int values in a new header and a new source file: insert, lookup, delete and "
    "resize."
)
FILLED = "Let a text that fills the token budget to the last token be accepted, so that the last file stays in the window"


async def calls_of(
    repo: Path, script: object, task: str, on: bool, hidden: tuple[str, ...] = (), edits: bool = True
) -> tuple[ev.RunFinished, list[ev.Envelope], dict[str, int]]:
    """A run with all toggles ``on`` or off (``edits``: the search for an edit as well), and its calls by stage, those of
    retrieval left out."""
    async with ScriptedServer(script) as server:
        sections = {"orchestrator": {**dict.fromkeys(TOGGLES, on), **({} if edits else {"decomposed_repair": False})}}
        finished, heard, _ = await play(repo, server, task, hidden=hidden, sections=sections)
    return finished, heard, dict(Counter(c.stage for c in of(heard, ev.CallFinished) if c.stage not in RETRIEVAL))


@pytest.mark.parametrize("on", [False, True])
async def test_a_plan_and_a_scaffold_by_one_call_each_or_by_many(tmp_path: Path, on: bool) -> None:
    repo = create_demo("hash_table", tmp_path / "hash")
    bare_readme(repo)
    finished, heard, calls = await calls_of(repo, TablePlanner(SOURCE, HEADER), NEW_TABLE, on, ("acceptance/",))
    assert finished.status == "complete", finished.reason
    assert calls.pop("function_implement") == 7 and calls.pop("test_implement") == 1
    assert of(heard, ev.PlanMade)[0].how == ("decomposed" if on else "monolithic")
    if on:
        assert calls == {"change_point_enum": 1, "part_grouping": 1, "step_design": 1, "interface_enum": 1, "header_gen": 1}
    else:
        assert calls == {"meta_plan": 1, "scaffold": 1}


@pytest.mark.parametrize("on", [False, True])
async def test_an_adjustment_by_one_call_or_by_verdicts(tmp_path: Path, on: bool) -> None:
    repo = create_demo("token_budget", tmp_path / "budget")
    finished, heard, calls = await calls_of(repo, plans_two_changes, FILLED, on)
    rounds = of(heard, ev.AdjustmentStarted)
    assert finished.tests_after is not None and finished.tests_after.ok and finished.status == "partial"
    assert rounds and calls.pop("implement") > 3
    assert [adjusted.calls for adjusted in of(heard, ev.PlanAdjusted)] == [one.expected_calls for one in rounds]
    if on:
        assert set(calls) == {
            "change_point_enum", "part_grouping", "part_dependency", "adjustment_step_viability", "adjustment_root_cause",
            "adjustment_new_step", "adjustment_finalize",
        }  # fmt: skip
    else:
        assert calls == {"meta_plan": 1, "adjustment": len(rounds)}


@pytest.mark.parametrize("on", [False, True])
async def test_an_unclear_error_and_a_failing_check_are_asked_about_only_where_that_is_on(tmp_path: Path, on: bool) -> None:
    (tmp_path / "times.h").write_text("/* 2 * x */\nint twice(int x);\n/* 3 * x */\nint thrice(int x);\n")
    stub = "/* stub */\n    return 0;"
    (tmp_path / "times.c").write_text(
        f'#include "times.h"\n\nint twice(int x)\n{{\n    {stub}\n}}\n\nint thrice(int x)\n{{\n    {stub}\n}}\n'
    )
    (tmp_path / "test_times.c").write_text(
        '#include <assert.h>\n#include "times.h"\n\n'
        "int main(void)\n{\n    assert(twice(2) == 4);\n    assert(thrice(2) == 6);\n    return 0;\n}\n"
    )
    (tmp_path / "Makefile").write_text("test:\n\t$(CC) -o check test_times.c times.c && ./check\n")
    right = "int twice(int x)\n{\n    return 2 * x;\n}\n\nint thrice(int x)\n{\n    return 3 * x;\n}\n"
    first = {
        "twice": "int twice(int x)\n{\n    whole_t y = x;\n    return 2 * y;\n}",
        "thrice": "int thrice(int x)\n{\n    return 4 * x;\n}",
    }
    coder = Coder(right.encode(), first, verdicts={"Compiler output:": "no"})
    finished, heard, calls = await calls_of(
        tmp_path, coder, "Implement the functions declared in times.h", on, edits=False
    )
    assert finished.status == "complete", finished.reason
    assert coder.asked == ["twice", "twice", "thrice", "thrice"]
    asked = {stage for stage in calls if stage.startswith(("error_", "adjustment"))}
    assert asked == (set(ERRORS) | {"adjustment_root_cause"} if on else set())
    assert of(heard, ev.PlanAdjusted)[-1].how == ("verdicts" if on else "evidence")
