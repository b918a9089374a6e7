"""A run whose process was killed, taken up from the history: nothing shown is lost, nothing decided is asked again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from agent.workspace.demo import load_demo
from screens.history.replay import ReplayScreen
from screens.history.screen import HistoryScreen
from screens.panes.calls import CallStream
from screens.run.ending import ending_lines
from screens.run.screen import RunScreen
from tests.fakes.script import RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring
from tests.tui.journey import SIZE, application, calls_of, configure, ended, logged, until

pytestmark = pytest.mark.timeout(400)  # seconds each on a quiet machine
TASK = load_demo("ring_buffer").task


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return small_ring(tmp_path / "ring", ("ring_push", "ring_pop", "ring_clear", "ring_max"))


def checkout(repo: Path) -> tuple[str, dict[str, bytes]]:
    """What the person sees in their own tree: git's state and every tracked file."""
    said = [
        subprocess.run(["git", *words], cwd=repo, capture_output=True, text=True, check=True).stdout
        for words in (["status", "--porcelain"], ["rev-parse", "HEAD"], ["branch", "--show-current"], ["ls-files"])
    ]
    return "".join(said), {name: (repo / name).read_bytes() for name in said[-1].split()}


async def _killed_midway(repo: Path, server: ScriptedServer, coder: Coder) -> None:
    """``cra run`` in a process of its own, killed once it has begun its third function."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tui", "run", TASK, "--repo", str(repo), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    async with asyncio.timeout(100):
        while len(coder.asked) < 3:
            assert process.returncode is None, "it ended by itself"
            await asyncio.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL
    while server.in_flight:
        await asyncio.sleep(0.01)


def _has_ended(history: HistoryScreen) -> bool:
    return not history.runs[0].unfinished


def _asked(calls: list[RecordedCall]) -> set[tuple[str, str]]:
    return {(call.system, call.prompt) for call in calls}


async def test_a_killed_run_is_opened_from_the_history_and_resumed_to_its_end(ring: Path) -> None:
    coder = Coder((SOLUTIONS / "ring_buffer.c").read_bytes())
    before = checkout(ring)
    async with ScriptedServer(coder, latency=0.02) as server:
        configure(ring, server)
        await _killed_midway(ring, server, coder)
        assert checkout(ring) == before
        app = application(ring, TASK)
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            await pilot.pause()
            await pilot.press("f9")
            await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.runs)
            history = app.screen
            assert isinstance(history, HistoryScreen) and history.run is not None
            run = history.run
            assert run.unfinished and run.place and run.task == TASK
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
            shown = app.screen
            assert isinstance(shown, ReplayScreen)
            then, rows = shown.session.state, calls_of(ring, run.run_id)
            assert not shown.session.live and then.finished is None
            assert [(call.call_id, call.item) for call in then.calls] == [(row.call_id, row.item) for row in rows]
            judged = [row for row in rows if row.binary and row.verdict is not None]
            decided = {(row.system, row.task_context + row.question) for row in judged}
            written = {name for name, function in then.functions.items() if function.status == "done"}
            committed = {step.step.target_symbols for step in then.steps.values() if step.finished}
            assert decided and written and committed
            asked_before = len(server.calls)
            await pilot.press("q")
            await until(pilot, lambda: app.screen is history)
            await pilot.press("R")
            await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen is not shown)
            session = await ended(pilot, app)
            state = session.state
            assert state.run_id == run.run_id and app.screen.query_one(CallStream).count == len(state.calls)
            assert [call.call_id for call in state.calls][: len(rows)] == [row.call_id for row in rows]
            assert state.t >= then.t and set(then.functions) <= set(state.functions)
            assert state == logged(ring, run.run_id), "what is shown of both halves is what the log holds"
            await pilot.press("w", "q")
            await until(pilot, lambda: app.screen is history)
            await until(pilot, partial(_has_ended, history))
            listed = history.runs[0]
        again = server.calls[asked_before:]
    assert decided.isdisjoint(_asked(again)), "no decided item was asked about again"
    functions = [name for call in again if (name := coder._wanted(call.prompt))]
    assert functions and {name for names in committed for name in names}.isdisjoint(functions)
    reused = [call for call in state.calls[len(rows) :] if call.answer.cached]
    assert state.finished is not None and state.finished.stubs_left == 0 and len(reused) == state.finished.cached_calls > 0
    assert listed.status == "complete" and listed.calls == len(state.calls) - len(reused), "those before count"
    assert state.finished.calls == listed.calls, "the end says what the list says"
    assert checkout(ring) == before


async def test_a_run_that_ended_partial_goes_on_with_what_failed_and_another_model(tmp_path: Path) -> None:
    repo = small_ring(tmp_path / "ring")
    coder = Coder((SOLUTIONS / "ring_buffer.c").read_bytes())
    right = coder.functions["ring_max"]
    coder.functions["ring_max"] = "int ring_max(const ring_buffer *ring)\n{\n    return ring->wrong;\n}"
    async with ScriptedServer(coder) as server:
        configure(repo, server)
        app = application(repo, TASK)
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            first = await ended(pilot, app, "partial")
            assert first.state.finished is not None
            keys = ending_lines(first, first.state.finished, 200)[-1].plain
            assert "R go on with the function that failed" in keys and "m choose another model" in keys
            coder.functions["ring_max"] = right
            configure(repo, server, models={"coding": "stronger"})
            asked = len(coder.asked)
            await pilot.press("R")
            await until(pilot, lambda: app.session is not first)
            session = await ended(pilot, app)
    assert session.state.run_id == first.state.run_id
    assert set(coder.asked[asked:]) == {"ring_max"}, "what holds is not asked for again"
