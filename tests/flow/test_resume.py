"""A run that was killed goes on where its last step ended, and ends as it would have without."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from agent import events as ev
from agent.audit.history import list_runs
from agent.audit.log import log_path
from agent.audit.reader import LogReader
from agent.flow.progress import read_progress
from agent.values import PlanStep
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder, small_ring
from tests.flow.test_run import RING, TASK, play

KILLED = """
import asyncio, os, sys
from pathlib import Path
from agent.launch import open_run

async def main():
    repo, url, kind, number, task = sys.argv[1:]
    run = await open_run(task, Path(repo), extra={"models": {"provider": "openai", "base_url": url}})
    seen = 0
    def heard(envelope):
        nonlocal seen
        seen += type(envelope.event).__name__ == kind
        if seen == int(number):
            os._exit(9)
    run.ctx.listeners.append(heard)
    await run.execute()

asyncio.run(main())
"""


def shown(repo: Path, branch: str) -> str:
    return subprocess.run(["git", "diff", "HEAD", branch], cwd=repo, capture_output=True, text=True).stdout


def only_run(repo: Path) -> str:
    reader = LogReader(log_path(repo))
    try:
        [run] = list_runs(reader, repo)
    finally:
        reader.close()
    return run.run_id


async def test_a_killed_run_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = small_ring(tmp_path / "whole")
    coder = Coder(RING)
    async with ScriptedServer(coder) as server:
        expected, _, _ = await play(whole, server, TASK)
        asked = len(coder.asked)
        wanted = (expected.status, expected.reason, expected.functions, expected.stubs_left, expected.includes_added)
        for kind, number in (("FunctionImplemented", 2), ("StepFinished", 3), ("DiffReady", 1)):
            killed, before = small_ring(tmp_path / kind), len(coder.asked)
            command = [sys.executable, "-c", KILLED, str(killed), server.base_url, kind, str(number), TASK]
            child = await asyncio.create_subprocess_exec(*command)
            assert await child.wait() == 9, kind
            finished, _, _ = await play(killed, server, TASK, resume=only_run(killed))
            got = (finished.status, finished.reason, finished.functions, finished.stubs_left, finished.includes_added)
            assert got == wanted, kind
            assert shown(killed, finished.branch) == shown(whole, expected.branch) != "", kind
            assert len(coder.asked) - before <= asked + 1, "at most the function under way is asked for again"


async def test_a_run_that_ended_goes_on_with_what_failed_and_another_model(tmp_path: Path) -> None:
    repo = small_ring(tmp_path / "ring")
    weak = Coder(RING)
    weak.functions["ring_max"] = "int ring_max(const ring_buffer *ring)\n{\n    return ring->wrong;\n}"
    async with ScriptedServer(weak) as server:
        first, _, _ = await play(repo, server, TASK)
    assert (first.status, first.functions_failed) == ("partial", 1), first.reason
    strong = Coder(RING)
    async with ScriptedServer(strong) as server:
        finished, _, _ = await play(repo, server, TASK, resume=only_run(repo), sections={"models": {"coding": "stronger"}})
    assert (finished.status, finished.functions_failed) == ("complete", 0), finished.reason
    assert set(strong.asked) == {"ring_max"}, "what holds is not asked for again"


S1, S2 = (PlanStep(name, name, ("a.c",), (name,), (), "", "function_implement") for name in ("s1", "s2"))
MADE = ev.PlanMade((S1, S2), "facts")


def test_progress_without_a_plan_is_none() -> None:
    assert read_progress([ev.RunStarted("x", "r", "b", "c", "w", "m")]) is None


def test_what_is_done_is_not_left_and_its_commit_is_vouched_for() -> None:
    found = read_progress([MADE, ev.StepStarted("s1"), ev.StepFinished("s1", True, "", "c1"), ev.StepStarted("s2")])
    assert found is not None
    assert (found.commit, [step.id for step in found.left], found.executed) == ("c1", ["s2"], ["s1"])


def test_the_last_failure_of_a_plan_happens_once_more_and_none_after_the_plan() -> None:
    failed = [MADE, ev.StepFinished("s1", True, "", "c1"), ev.StepFinished("s2", False, "no")]
    found, later = read_progress(failed), read_progress([*failed, ev.StageStarted("link")])
    assert found is not None and [step.id for step in found.left] == ["s2"]
    assert later is not None and later.left == () and later.executed == ["s1", "s2"]


def test_a_failed_repair_leaves_a_step_done() -> None:
    events = [MADE, ev.StepFinished("s1", True, "", "c1"), ev.StepFinished("s2", True, "", "c2"), ev.StageStarted("repair")]
    found = read_progress([*events, ev.StepFinished("s1", False, "no better")])
    assert found is not None and found.results["s1"].ok and found.left == ()


def test_steps_that_an_adjustment_gives_back_come_first() -> None:
    failed = [MADE, ev.StepFinished("s1", False, "no"), ev.PlanAdjusted((S2,), (S2,), rework=("s1",))]
    found = read_progress(failed)
    assert found is not None and [step.id for step in found.left] == ["s1", "s2"]


def test_a_dropped_step_is_not_left() -> None:
    found = read_progress([MADE, ev.PlanAdjusted((S1, S2), (S2,))])
    assert found is not None and [step.id for step in found.left] == ["s2"] and found.dropped == {"s1"}


def test_a_found_edit_is_known_apart_from_the_plan() -> None:
    edit = PlanStep("r1", "Mend f: < becomes <=", ("a.c",), ("f",))
    told = [ev.PlanMade((S1, edit), "search"), ev.StepStarted("r1"), ev.StepFinished("r1", True, "", "c9")]
    alone = read_progress([ev.PlanMade((edit,), "search"), *told[1:]])
    assert alone is not None and alone.planned == () and alone.mended is not None
    assert (alone.mended.step, alone.commit, alone.left) == (edit, "c9", ())
    both = read_progress([ev.PlanMade((S1,)), ev.StepFinished("s1", True, "", "c1"), *told])
    assert both is not None and both.planned == (S1,) and both.mended is not None and both.commit == "c9"
    under_way = read_progress(told[:2])
    assert under_way is None, "the search is made once more"
    failed = read_progress([ev.PlanMade((S1,)), *told[:2], ev.StepFinished("r1", False, "fails")])
    assert failed is not None and failed.mended is None and failed.searched and failed.left == (S1,)
