"""What fits the window is taken without a question, where the plan follows from facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import events as ev
from agent.retrieval.whole_repository import REASON
from agent.workspace.git import run_git
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder, small_ring
from tests.flow.test_run import RING, TASK, of, play
from tests.repair.operators_on import only


@pytest.mark.parametrize("ask", [False, True])
async def test_nothing_is_asked_that_changes_nothing_unless_wanted(tmp_path: Path, ask: bool) -> None:
    async with ScriptedServer(Coder(RING)) as server:
        sections = {"retrieval": {"always_ask": ask}}
        finished, heard, _ = await play(small_ring(tmp_path / "ring"), server, TASK, sections=sections)
    stages = {call.stage for call in of(heard, ev.CallStarted)}
    notes = [stage.note for stage in of(heard, ev.StageFinished) if stage.stage == "scope"]
    assert finished.status == "complete"
    assert bool(stages & {"scope", "precision_pass1"}) is ask
    assert ("all fit, not asked" in notes[0]) is not ask
    assert any(one.reason == REASON for one in of(heard, ev.FileScoped)) is not ask


async def test_a_repair_is_asked_about_since_its_answers_choose_the_suspects(tmp_path: Path) -> None:
    async with ScriptedServer(Coder(RING)) as server:
        task, few = "Fix ring_peek: it returns the newest element", {"repair": only("comparison")}
        _, heard, _ = await play(small_ring(tmp_path / "ring"), server, task, sections=few)
    assert {call.stage for call in of(heard, ev.CallStarted)} & {"scope", "precision_pass1"}


async def test_a_long_test_file_brings_no_questions_where_the_plan_follows_from_facts(tmp_path: Path) -> None:
    repo = small_ring(tmp_path / "ring")
    more = "".join(f"\nstatic int helper_{n}(void)\n{{\n    return {n};\n}}\n" for n in range(90))
    (repo / "test_more.c").write_text('#include "ring_buffer.h"\n' + more)
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "A long test")
    task = "Implement the functions declared in ring_buffer.h so that the tests in test_more.c pass."
    async with ScriptedServer(Coder(RING)) as server:
        _, heard, _ = await play(repo, server, task)
    assert not {call.stage for call in of(heard, ev.CallStarted)} & {"task_analysis", "scope", "precision_pass1"}
    taken = [one.path for one in of(heard, ev.FileScoped) if one.included]
    assert "ring_buffer.h" in taken and "test_more.c" not in taken
