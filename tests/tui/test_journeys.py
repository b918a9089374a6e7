"""Whole journeys by keys alone, over the real engine, git, SQLite and HTTP: from a task to what the person keeps of it."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent.config.schema import load
from agent.events import GateWaiting
from agent.prompts import precision_pass1
from agent.retrieval.precision import symbol_facts
from agent.verdict.threshold import thresholds_path
from agent.workspace.demo import create_demo, load_demo
from screens.history.replay import ReplayScreen
from screens.history.screen import HistoryScreen
from screens.home.screen import HomeScreen
from screens.learning.calibrate import CalibrateScreen
from screens.learning.export_dialog import ExportDialog
from screens.learning.label_model import LabelSession
from screens.learning.relabel import RelabelScreen
from screens.panes.calls import CallStream
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.settings.dialogs import OverrideDialog, SaveDialog
from screens.settings.overrides import OverrideTable
from screens.settings.screen import SettingsScreen
from screens.table import make_screen
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run_other_demos import fixes_budget
from tests.labels.filled import Filled
from tests.tui.journey import SIZE, application, calls_of, configure, ended, logged, until

pytestmark = pytest.mark.timeout(400)  # seconds each on a quiet machine
TASK = load_demo("token_budget").task
REMAINING = "budget.py:BudgetTracker.remaining"
"""A symbol that the scripted model finds relevant."""


@pytest.fixture
def budget(tmp_path: Path) -> Path:
    return create_demo("token_budget", tmp_path / "budget")


async def _another(pilot: Pilot[int], session: RunSession, before: GateWaiting) -> GateWaiting:
    """The next decision that waits."""
    await until(pilot, lambda: session.waiting is not None and session.waiting is not before)
    assert session.waiting is not None
    return session.waiting


async def test_overruling_one_verdict_changes_a_class_and_leaves_a_label(budget: Path) -> None:
    async with ScriptedServer(fixes_budget, shut=True) as server:
        configure(budget, server)
        app = application(budget, TASK)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.press("space")
            server.open()
            session = app.session
            assert session is not None
            await until(pilot, lambda: session.waiting is not None)
            waiting = session.waiting
            assert waiting is not None and (waiting.kind, waiting.stage) == ("verdict", "scope")
            await pilot.press("S")
            await until(pilot, lambda: session.waiting is not None and session.waiting.kind == "stage")
            await pilot.press("s")
            while True:
                waiting = await _another(pilot, session, waiting)
                assert waiting.stage == "precision_pass1"
                if waiting.item == REMAINING:
                    break
                await pilot.press("s")
            assert waiting.verdict is True
            await pilot.press("n")
            await until(pilot, lambda: session.waiting is not waiting)
            await pilot.press("space")
            await ended(pilot, app)
            symbol = session.state.symbols[REMAINING]
            assert symbol.classified is not None and symbol.classified.detail_level == "excluded"
            assert {number: call.verdict for number, call in symbol.calls.items()} == {1: False}
            call = session.state.call(waiting.call_id or 0)
            assert call is not None
            assert (call.verdict, call.answer.overruled, call.answer.source) == (False, True, "overrule")
            assert session.state == logged(budget, session.state.run_id)
    with sqlite3.connect(budget / ".clean_room" / "raw.sqlite") as db:
        assert db.execute("select call_id, label, source from labels").fetchall() == [(waiting.call_id, 0, "overrule")]
        asked = db.execute("select stage from calls where item = ?", (REMAINING,)).fetchall()
    assert asked == [("precision_pass1",)], "what was overruled is not asked about again"


async def test_an_edited_override_is_used_by_the_next_run_and_not_by_the_one_that_goes_on(budget: Path) -> None:
    async with ScriptedServer(fixes_budget, shut=True) as server:
        configure(budget, server)
        app = application(budget, TASK)
        async with app.run_test(size=(140, 40)) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.press("space")
            server.open()
            session = app.session
            assert session is not None
            await until(pilot, lambda: session.waiting is not None)
            await pilot.press("q")  # home; the run waits meanwhile
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))
            await pilot.press("f6")
            await until(pilot, lambda: isinstance(app.screen, SettingsScreen))
            await pilot.pause()
            screen = app.screen
            assert isinstance(screen, SettingsScreen)
            await pilot.press("f2")  # the repository's file
            await pilot.pause()
            screen.form.sections.highlighted = 1
            await pilot.pause()
            screen.query_one(OverrideTable).focus()
            await pilot.press("a")
            await until(pilot, lambda: isinstance(app.screen, OverrideDialog))
            for name, text in (("stage", "implement"), ("model", "writer"), ("max_tokens", "777")):
                app.screen.query_one(f"#{name}", Input).focus()
                await pilot.press(*text)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: app.screen is screen)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(app.screen, SaveDialog))
            await pilot.press("y")
            await until(pilot, lambda: app.screen is screen and "implement" in load(budget).models.overrides)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))
            await pilot.press("f3")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.press("space")
            await ended(pilot, app)
            first = [call for call in server.calls if "```python" in call.prompt]
            assert len(first) == 1 and first[0].model != "writer" and first[0].body["max_tokens"] != 777
            await pilot.press("w")
            await until(pilot, lambda: not session.deciding)
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))
            await pilot.press("f5")
            await until(pilot, lambda: app.session is not session and isinstance(app.screen, RunScreen))
            again = await ended(pilot, app)
            second = [call for call in server.calls if "```python" in call.prompt][1:]
            assert [(call.model, call.body["max_tokens"]) for call in second] == [("writer", 777)]
    written = [call for call in calls_of(budget, again.state.run_id) if call.stage == "implement"]
    assert [call.model for call in written] == ["writer"]


async def test_a_finished_run_is_played_again_to_the_very_state_that_was_shown(budget: Path) -> None:
    async with ScriptedServer(fixes_budget) as server:
        configure(budget, server)
        app = application(budget, TASK)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            live = (await ended(pilot, app)).state
            found = live.symbols[REMAINING].classified
            assert found is not None and found.detail_level == "primary", "nobody overruled anything here"
            await pilot.press("w")
            await until(pilot, lambda: live.diff_choice == "kept")
            await pilot.press("f9")
            await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.runs)
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
            screen = app.screen
            assert isinstance(screen, ReplayScreen)
            assert screen.session.state == live
            await until(pilot, lambda: screen.query_one(CallStream).count == len(live.calls))
            screen.replay.seek(0)
            while not screen.replay.at_end:  # one by one, as when it is played
                screen.replay.seek(screen.replay.position + 1)
            assert screen.session.state == live
            screen.replay.seek(len(screen.replay.envelopes) // 2)
            assert screen.session.state != live
            screen.replay.seek(len(screen.replay.envelopes))
            assert screen.session.state == live


def _labelled(labels: LabelSession, count: int) -> bool:
    return len(labels.done) == count == sum(item.own for item in labels.items)


async def test_ten_calls_of_a_run_are_relabelled_two_taken_back_and_the_rest_exported(budget: Path, tmp_path: Path) -> None:
    given: dict[int, bool] = {}
    async with ScriptedServer(fixes_budget) as server:
        configure(budget, server)
        app = application(budget, TASK)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            session = await ended(pilot, app)
            await pilot.press("f9")
            await until(pilot, lambda: isinstance(app.screen, HistoryScreen) and app.screen.runs)
            await pilot.press("r")
            await until(pilot, lambda: isinstance(app.screen, RelabelScreen) and app.screen.item is not None)
            screen = app.screen
            assert isinstance(screen, RelabelScreen) and screen.labels is not None
            labels = screen.labels
            for number, key in enumerate("yynnyynnyn", 1):
                assert screen.item is not None
                given[screen.item.call_id] = key == "y"
                await pilot.press(key)
                await until(pilot, partial(_labelled, labels, number))
            await pilot.press("u", "u")
            await until(pilot, partial(_labelled, labels, 8))
            for call_id in list(given)[-2:]:
                del given[call_id]
            await pilot.press("e")
            await until(pilot, lambda: isinstance(app.screen, ExportDialog))
            app.screen.query_one("#out", Input).value = str(tmp_path / "pairs")
            await pilot.press("enter")
            await until(pilot, lambda: (tmp_path / "pairs" / "run.toml").is_file())
            await pilot.app.workers.wait_for_complete([w for w in app.workers if w.group == "export"] or None)
    files = [path for path in (tmp_path / "pairs").glob("*.jsonl") if path.name != "ids.jsonl"]
    rows = [json.loads(text) for path in files for text in path.read_text().splitlines()]
    texts = {call.call_id: call for call in calls_of(budget, session.state.run_id)}
    expected = [(texts[n].system, texts[n].task_context + texts[n].question, "yes" if y else "no") for n, y in given.items()]
    read = [tuple(message["content"] for message in row["prompt"] + row["completion"]) for row in rows]
    assert sorted(read) == sorted(expected)


ASKED: dict[str, dict[str, bool]] = {"retrieval": {"always_ask": True}, "orchestrator": {"decomposed_repair": False}}
"""Every file and symbol is judged, although the checks alone could lead to the fault."""


def shy(call: RecordedCall) -> Answer:
    """Says no to every symbol; P(yes) is a little higher for those of the budget."""
    if call.system == precision_pass1.SYSTEM:
        return Answer("no", p_yes=0.36 if "in budget.py" in call.prompt.split("Symbol:")[-1] else 0.08)
    return fixes_budget(call)


def earlier_labels(repo: Path, tasks: int = 6) -> None:
    """Labels of earlier sittings on other tasks: the same shy model, right in order, below one half throughout."""
    filled = Filled(repo)
    for task in range(tasks):
        filled.run(f"earlier{task}", repo=str(repo))
        for number in range(6):
            yes = number % 3 == 0
            call = filled.call(
                f"earlier{task}", f"f{task}.py:s{number}", False, 0.3 + number / 100 if yes else 0.05 + number / 100,
                stage="precision_pass1", model="m1", system=precision_pass1.SYSTEM, task_context=f"Task: {task}\n\n",
                rank=(number * 5) % 6 + 1, facts=symbol_facts("function", 5 + number),
            )  # fmt: skip
            filled.label(call, yes)
    filled.log.close()


async def test_labels_become_a_threshold_that_decides_the_next_run(budget: Path) -> None:
    """Run, relabel, calibrate, apply, run again: the item comes out right without an overrule, and the card says by what."""
    earlier_labels(budget)
    async with ScriptedServer(shy) as server:
        configure(budget, server, models={"coding": "m1", "reasoning": "m1"}, **ASKED)
        app = application(budget, TASK)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            session = await ended(pilot, app)
            before = next(c for c in session.state.calls if (c.stage, c.item) == ("precision_pass1", REMAINING))
            assert (before.verdict, before.answer.source) == (False, "parsed")
            wanted = make_screen("relabel", app.services, repo=budget, call_id=before.call_id)
            app.push_screen(wanted)
            await until(pilot, lambda: isinstance(app.screen, RelabelScreen) and app.screen.item is not None)
            screen = app.screen
            assert isinstance(screen, RelabelScreen) and screen.labels is not None
            assert screen.item is not None and screen.item.call_id == before.call_id
            await pilot.press("y")
            await until(pilot, partial(_labelled_yes, screen.labels, before.call_id))
            await until(pilot, lambda: "relevant? can be fitted" in screen.said)
            await pilot.press("f10")
            await until(pilot, lambda: isinstance(app.screen, CalibrateScreen) and app.screen.fits)
            fits = app.screen
            assert isinstance(fits, CalibrateScreen) and fits.fit is not None and fits.fit.offered, fits.fit
            await pilot.press("a")
            await until(pilot, lambda: not isinstance(app.screen, CalibrateScreen))
            await pilot.press("y")
            await until(pilot, lambda: thresholds_path(budget).is_file())
        again = application(budget, f"{TASK} Keep its interface.")
        async with again.run_test(size=SIZE) as pilot:
            await pilot.pause()
            await pilot.press("enter")
            session = await ended(pilot, again)
    after = next(c for c in session.state.calls if (c.stage, c.item) == ("precision_pass1", REMAINING))
    assert (after.verdict, after.answer.source, after.answer.overruled) == (True, "threshold", False)
    assert "fitted to 37 labels" in after.answer.explanation and "P(yes) 0.36" in after.answer.explanation


def _labelled_yes(labels: LabelSession, call_id: int) -> bool:
    return any(item.call_id == call_id and item.own and item.label for item in labels.items)
