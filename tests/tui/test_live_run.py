"""The application over the real engine and a scripted model: what is shown is what is logged."""

from __future__ import annotations

import asyncio
import dataclasses
import subprocess
from pathlib import Path

import pytest

from agent.audit.reader import LogReader
from agent.config.schema import load
from agent.state.run_state import RunState
from agent.workspace.demo import load_demo
from screens.panes.calls import CallStream
from screens.panes.card import CardView
from screens.run.screen import RunScreen
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring
from tests.tui.journey import configure, until
from tui.app import CraApp
from tui.services import engine_services

RING = (SOLUTIONS / "ring_buffer.c").read_bytes()
pytestmark = pytest.mark.timeout(400)  # seconds each on a quiet machine
TASK = load_demo("ring_buffer").task


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return small_ring(tmp_path / "ring")


def _app(repo: Path) -> CraApp:
    return CraApp(engine_services(repo), config=load(repo), repo=repo, task=TASK)


async def test_the_app_shows_what_the_log_holds_row_for_row_and_applies_the_change(ring: Path) -> None:
    coder = Coder(RING)
    async with ScriptedServer(lambda call: dataclasses.replace(coder(call), pace=0.002)) as server:
        configure(ring, server)
        app = _app(ring)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await pilot.pause()
            await pilot.press("enter")  # the start button has the focus
            await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.query(CardView))
            card = app.screen.query_one(CardView)
            await until(pilot, lambda: "answer so far" in card.plain)
            await until(pilot, lambda: app.session is not None and app.session.state.finished is not None)
            session = app.session
            assert session is not None and isinstance(app.screen, RunScreen)
            assert session.state.status == "complete", session.state.finished
            assert any(call.body["stream"] for call in server.calls), "texts were heard while they were written"
            await until(pilot, session.ready)
            shown = app.screen.query_one(CallStream)
            reader = LogReader(ring / ".clean_room" / "raw.sqlite")
            rows = list(reader.calls(session.state.run_id))
            assert [(call.call_id, call.stage, call.item) for call in session.state.calls] == [
                (row.call_id, row.stage, row.item) for row in rows
            ]
            for call, row in zip(session.state.calls, rows, strict=True):
                got = call.answer
                assert (got.verdict, got.p_yes, got.defaulted) == (row.verdict, row.p_yes, row.defaulted), row.item
                assert (got.cached, got.overruled, got.explanation) == (row.cached, row.overruled, row.explanation)
            assert shown.count == len(rows) > 0
            replayed = RunState()
            for envelope in reader.events(session.state.run_id):
                replayed.apply(envelope)
            assert replayed == session.state, "a replay of the log gives the state that was shown"
            reader.close()
            await pilot.press("a")
            await until(pilot, lambda: session.state.diff_choice == "applied")
    tested = await asyncio.to_thread(subprocess.run, ["make", "test"], cwd=ring, capture_output=True)
    assert tested.returncode == 0
