"""Evaluation in the application: choose, ask, stop, keep; over real HTTP with a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.audit.history import list_runs
from agent.audit.reader import LogReader
from agent.config.schema import Config, merge
from agent.labels.export import ExportOptions, export
from agent.workspace.clean_room import private_file
from screens.learning.calibrate import CalibrateScreen
from screens.learning.evaluate import EvaluateScreen
from screens.learning.relabel import RelabelScreen
from screens.text import stage_short
from tests.fakes import Answer, RecordedCall, ScriptedServer
from tests.labels.filled import Filled
from tests.screens.test_learning import LearningApp, settle
from tests.tui.journey import until

SIZES = [(80, 24), (120, 40), (200, 60)]
NAMES = [f"{width}x{height}" for width, height in SIZES]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Six tasks with two labelled questions each: the even files are relevant; m1 said yes to all."""
    made = Filled(tmp_path / "repo")
    for task in range(6):
        made.run(f"r{task}", repo=str(made.repo), model="m1")
        for number in (0, 1):
            call = made.call(f"r{task}", f"f{task}{number}.c", True, 0.6, task_context=f"Task: {task}\n\n")
            made.label(call, number == 0)
    made.label(made.call("r0", "errors alike", True, 0.7, stage="similarity"), True)
    yield made
    made.log.close()


def answers(call: RecordedCall) -> Answer:
    """Right on all but one."""
    yes = "0.c" in call.prompt or "f31" in call.prompt
    return Answer("yes" if yes else "no", p_yes=0.9 if yes else 0.2)


def opened(filled: Filled, server: ScriptedServer, make: Any = None) -> LearningApp:
    models = {"provider": "openai", "base_url": server.base_url, "coding": "m2", "reasoning": "m2"}
    app = LearningApp(make or (lambda made: EvaluateScreen(made, repo=filled.repo)))
    app.services.load_config = lambda repo: merge({"models": models})
    return app


def shown(app: LearningApp) -> str:
    return str(app.screen.query_one("#scores").plain)  # type: ignore[attr-defined]


def front(app: LearningApp) -> EvaluateScreen:
    assert isinstance(app.screen, EvaluateScreen)
    return app.screen


async def to_row(pilot: Pilot[Any], app: LearningApp, words: str) -> None:
    """The cursor to the row with these words."""
    screen = front(app)
    names = [screen._row(row, 60).plain for row in screen.listed]
    screen.rows.select(next(n for n, name in enumerate(names) if words in name))
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
async def test_two_models_are_asked_and_compared(filled: Filled, size: tuple[int, int]) -> None:
    async with ScriptedServer(answers, models=("m2", "m3")) as server:
        app = opened(filled, server)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            assert "as configured (m2)" in shown(app) and "13 calls" in shown(app)
            await pilot.press("a", *"m3", "enter")
            await to_row(pilot, app, stage_short("similarity"))
            await pilot.press("space")
            assert front(app).stages == ["scope"] and "24 calls" in shown(app)
            await pilot.press("f5")
            await until(pilot, lambda: front(app).done is not None)
            await settle(pilot)
            text = shown(app)
            assert len(server.calls) == 24
            assert "12 questions of 6 tasks" in text and "m2 and m3: kappa 1.00" in text
            assert "F1" in text and "Brier" in text and "ECE" in text and ".92" in text, "6 right yes, one wrong"
            assert ".92 ." in text, "with its interval"
            assert "m1" in text and "measured here on its own training rows" in text
            assert all(row.cell_length <= size[0] for row in front(app).facts.lines)
    reader = LogReader(filled.path)
    runs = [run for run in list_runs(reader) if "Evaluation of" in run.task]
    reader.close()
    assert sorted(run.status for run in runs) == ["complete", "complete"]


async def test_it_can_be_stopped_and_keeps_what_it_has(filled: Filled) -> None:
    async with ScriptedServer(answers, latency=0.05) as server:
        app = opened(filled, server)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            assert not app.screen.check_action("stop", ()) and app.screen.check_action("start", ())
            await pilot.press("f5")
            await until(pilot, lambda: " of 13" in shown(app) and len(server.calls) >= 4)
            assert app.screen.check_action("stop", ()) and not app.screen.check_action("start", ())
            app.start_task("anything", filled.repo)
            await pilot.press("x")
            await until(pilot, lambda: front(app).done is not None)
            assert "Stopped after" in shown(app) and "F1" in shown(app)
            asked = len(server.calls)
            assert 4 <= asked < 13 and app.session is None, "no task was started beside it"
            await pilot.press("r")
            await settle(pilot)
            assert isinstance(app.screen, RelabelScreen)


async def test_leaving_while_it_asks_stops_it_after_a_question(filled: Filled) -> None:
    async with ScriptedServer(answers, latency=0.05) as server:
        app = opened(filled, server, lambda made: CalibrateScreen(made, repo=filled.repo))
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await pilot.press("E")
            await settle(pilot)
            await pilot.press("f5")
            await until(pilot, lambda: len(server.calls) >= 2)
            await pilot.press("q")
            await pilot.pause()
            await pilot.press("y")
            await until(pilot, lambda: isinstance(app.screen, CalibrateScreen))
    reader = LogReader(filled.path)
    (run,) = [run for run in list_runs(reader) if "Evaluation of" in run.task]
    reader.close()
    assert run.status == "stopped" and 2 <= run.calls < 13


async def test_only_rows_that_an_export_held_out(filled: Filled) -> None:
    reader = LogReader(filled.path)
    out = private_file(filled.repo, "exports", "pairs")
    out.parent.mkdir(parents=True, exist_ok=True)
    report = export(reader, out, ExportOptions(test_fraction=0.4))
    reader.close()
    held = report.files["test.jsonl"]
    async with ScriptedServer(answers) as server:
        app = opened(filled, server)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await to_row(pilot, app, "held out in pairs")
            await pilot.press("enter")
            assert f"{held} calls" in shown(app)
            await pilot.press("f5")
            await until(pilot, lambda: front(app).done is not None)
            assert len(server.calls) == held and "on its own training rows" not in shown(app)


async def test_a_model_that_cannot_be_asked_is_said(filled: Filled) -> None:
    async with ScriptedServer("yes", models=("another",)) as server:
        app = opened(filled, server)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await pilot.press("f5")
            await until(pilot, lambda: bool(front(app).fault))
            assert "m2" in shown(app) and app.screen.check_action("start", ())


async def test_nothing_labelled_and_the_key_from_everywhere(tmp_path: Path) -> None:
    app = LearningApp(lambda made: RelabelScreen(made, repo=tmp_path))
    app.services.load_config = lambda repo: Config()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("f11")
        await settle(pilot)
        assert "No label yet" in shown(app)
        await pilot.press("f5", "x", "space", "escape")
        await settle(pilot)
        assert isinstance(app.screen, RelabelScreen)
