"""Earlier runs: listed, opened again, compared, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.history import delete_run, diff_runs, events_of, fold, list_runs
from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.events import (
    ChecksRun,
    DiffReady,
    Envelope,
    Event,
    PlanMade,
    RunFinished,
    RunStarted,
)
from agent.judgment.binary import run_binary_judgment
from agent.state.run_state import RunState
from agent.values import CheckResult, PlanStep
from agent.workspace.git import run_git
from agent.workspace.worktree import Workspace
from tests.fakes import ScriptedServer
from tests.fakes.context import run_context
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "repo")
    yield made
    made.log.close()


def emit(filled: Filled, run_id: str, *events: Event) -> None:
    for seq, event in enumerate(events, 1):
        filled.log.append(Envelope(run_id, seq, seq / 10, event))  # type: ignore[arg-type]
    filled.log.flush()


async def test_a_replayed_run_folds_to_the_state_of_the_live_one(tmp_path: Path) -> None:
    live = RunState()
    script = [("File: a", "yes"), ("File: b", "perhaps")]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        ctx.listeners.append(live.apply)
        ctx.emit(RunStarted("t", str(tmp_path), model="m"))
        async with ctx.stage("scope", 3, "Which files matter") as report:
            await run_binary_judgment(
                ["a", "b", "c"], system_prompt="s", task_context="t\n\n", llm=ctx.llm("scope"),
                format_item=lambda name: f"File: {name} buf[i] a[/b]", item_key=lambda name: name, stage_name="scope",
            )  # fmt: skip
            report.counts["yes"] = 1
        ctx.emit(RunFinished("complete", calls=ctx.calls, seconds=1.0))
        await ctx.log.durable()
        await asyncio.sleep(0)
    reader = LogReader(tmp_path / ".clean_room" / "raw.sqlite")
    replayed = fold(events_of(reader, "r1"))
    reader.close()
    assert replayed == live and len(live.calls) == 3 and live.finished is not None


def test_runs_are_listed_newest_first_with_what_they_came_to(filled: Filled) -> None:
    filled.run("r1", task="one", model="m1", branch="cra/r1")
    filled.run("r2", task="two")
    call = filled.call("r1", "a.c")
    filled.label(call, True)
    filled.label(call, False)
    filled.call("r2", "a.c")
    emit(filled, "r1", RunStarted("one", "."), RunFinished("partial", "A test fails.", calls=1, seconds=3.5))
    emit(filled, "r2", RunStarted("two", "."))
    reader = LogReader(filled.path)
    second, first = list_runs(reader, filled.repo)
    reader.close()
    assert (first.run_id, first.status, first.calls, first.labels, first.seconds) == ("r1", "partial", 1, 1, 3.5)
    assert (first.reason, first.branch, first.model, first.unfinished) == ("A test fails.", "cra/r1", "m1", False)
    assert (second.status, second.calls, second.unfinished, second.place, second.seconds) == ("", 1, True, False, 0.1)


def step(number: int, text: str) -> PlanStep:
    return PlanStep(f"s{number}", text)


def test_two_runs_side_by_side(filled: Filled) -> None:
    ok, bad = CheckResult("make test", 0, True, 3, 0), CheckResult("make test", 1, False, 1, 2)
    for run_id, verdicts in (("r1", {"a": True, "b": False, "c": True}), ("r2", {"a": True, "b": True, "d": False})):
        filled.run(run_id, task="same")
        for item, verdict in verdicts.items():
            filled.call(run_id, item, verdict, 0.6)
    emit(
        filled, "r1", RunStarted("same", ".", model="m1"), PlanMade((step(1, "write f"),)), DiffReady("d", ("a.c",)),
        ChecksRun(bad), ChecksRun(bad, bad), RunFinished("failed", "Tests fail.", seconds=2),
    )  # fmt: skip
    emit(
        filled, "r2", RunStarted("same", ".", model="m2"), PlanMade((step(1, "write f"), step(2, "write g"))),
        DiffReady("d", ("a.c", "b.c")), ChecksRun(bad), ChecksRun(bad, ok), RunFinished("complete", seconds=1),
    )  # fmt: skip
    reader = LogReader(filled.path)
    diff = diff_runs(reader, "r1", "r2")
    reader.close()
    assert [(change.item, change.before, change.after) for change in diff.changed] == [("b", False, True)]
    assert ([c.item for c in diff.only_before], [c.item for c in diff.only_after], diff.same) == (["c"], ["d"], 1)
    assert diff.status == ("failed", "complete") and diff.models == ("m1", "m2")
    assert [len(steps) for steps in diff.steps] == [1, 2]
    assert diff.files == (("a.c",), ("a.c", "b.c"))
    assert diff.checks[0].startswith("fail: 1 passed, 2 failed") and diff.checks[1].startswith("pass: 3 passed")


async def test_deleting_takes_worktree_branch_and_rows_and_leaves_the_rest(filled: Filled) -> None:
    repo = filled.repo
    run_git(repo, "init", "-q")
    (repo / "a.c").write_text("int x;\n")
    run_git(repo, "add", "a.c")
    run_git(repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    place = await Workspace.create(repo, "r1")
    for run_id in ("r1", "r2"):
        filled.run(run_id)
        call = filled.call(run_id, "a.c", task_context=f"only {run_id}\n", examples=f"examples of {run_id}\n")
        filled.label(call, True)
        emit(filled, run_id, RunStarted("t", "."), RunFinished("complete"))
    reader = LogReader(filled.path)
    assert next(run for run in list_runs(reader, repo) if run.run_id == "r1").place
    text = await delete_run(repo, "r1")
    assert "1 call, 1 label, 2 events" in text and "cra/r1 was deleted" in text
    assert not place.top.exists()
    assert run_git(repo, "rev-parse", "-q", "--verify", "refs/heads/cra/r1", check=False).returncode != 0
    assert [run.run_id for run in list_runs(reader, repo)] == ["r2"]
    left = reader.select("select text from prompts order by text")
    assert {("only r2\n",), ("examples of r2\n",)} <= set(left)
    assert not {("only r1\n",), ("examples of r1\n",)} & set(left)
    assert len(list(reader.calls("r2"))) == 1 and reader.select("select count(*) from labels") == [(1,)]
    reader.close()
    assert (repo / "a.c").read_text() == "int x;\n"
    with pytest.raises(LogError, match="holds no run r1"):
        await delete_run(repo, "r1")
