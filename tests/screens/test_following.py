"""What is shown of work under way: cards that follow their call, steps before the diff, verdicts a person overruled."""

from __future__ import annotations

import asyncio

from textual.pilot import Pilot

from agent import events as ev
from agent.audit.reader import CallTexts
from agent.events import Envelope
from agent.state.run_state import RunState
from agent.values import PlanStep
from screens.panes.cascade import CascadePane
from screens.panes.diff import DiffPane
from screens.run.card_screen import CardScreen
from tests.screens.driving import ReplayApp
from tests.screens.recorded import Recorder


def _texts(raw: str | None) -> CallTexts:
    return CallTexts(1, "r", 1, "scope", "a.py", system="Judge.", task_context="Task\n", question="File: a.py?\n", raw=raw)


def _asked() -> Recorder:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("A task", "/home/ada/repo", "cra/x"))
    recorder.add(ev.StageStarted("scope", 1, "scope"))
    recorder.add(ev.CallStarted(1, "scope", "a.py", "model"))
    return recorder


def _answer(app: ReplayApp) -> None:
    assert app.session is not None
    event = ev.CallFinished(1, "scope", "a.py", True, 0.9, explanation="P(yes) 0.90")
    app.session.receive(Envelope("r", 9, 1.0, event))
    app.session.flush()


async def _until(pilot: Pilot, app: ReplayApp, words: str) -> str:
    assert isinstance(app.screen, CardScreen)
    for _ in range(100):
        if words in app.screen.card.plain:
            break
        await pilot.pause()
        await asyncio.sleep(0.05)
    return app.screen.card.plain


async def test_an_open_card_follows_its_call_and_reads_again_what_the_log_did_not_have() -> None:
    recorder = _asked()
    app = ReplayApp(recorder)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        plain = await _until(pilot, app, "waiting for the model")
        assert "File: a.py?" not in plain
        recorder.texts[1] = _texts(None)  # the log has the question only now
        assert "File: a.py?" in await _until(pilot, app, "File: a.py?")
        _answer(app)
        plain = await _until(pilot, app, "P(yes) 0.90")
        assert "waiting for the model" not in plain and "raw answer" not in plain
        await asyncio.sleep(0.2)  # a first reading finds no answer yet
        recorder.texts[1] = _texts("Yes")
        assert "“Yes”" in await _until(pilot, app, "raw answer")
        session = app.session
        await pilot.press("escape")
        await pilot.pause()
        assert session is not None and len(session.on_flush) == 1, "a closed card listens no more"


async def test_enter_at_the_moment_of_the_answer_shows_the_texts_in_the_end() -> None:
    recorder = _asked()
    app = ReplayApp(recorder)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        _answer(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "raw answer" not in await _until(pilot, app, "P(yes) 0.90")
        recorder.texts[1] = _texts("Yes")
        plain = await _until(pilot, app, "raw answer")
        assert "“Yes”" in plain and "File: a.py?" in plain and "Judge." in plain


def _fold(*events: ev.Event) -> RunState:
    state = RunState()
    for number, event in enumerate(events, 1):
        state.apply(Envelope("r", number, number / 10, event))  # type: ignore[arg-type]
    return state


def test_before_the_diff_its_pane_lists_the_steps_committed() -> None:
    steps = (PlanStep("s1", "Write push", ("a.c",)), PlanStep("s2", "Write pop", ("a.c",)))
    start = (ev.RunStarted("A task", "/home/ada/repo", "cra/x"), ev.PlanMade(steps))
    assert "no diff yet" in DiffPane().build(_fold(*start), 80)[0].plain
    state = _fold(*start, ev.StepFinished("s1", True, "", "0123456789abcdef", ("a.c",)), ev.StepFinished("s2", False))
    plain = "\n".join(row.plain for row in DiffPane().build(state, 80))
    assert "1 step is committed on cra/x" in plain and "The diff is shown at the end." in plain
    assert "01234567  Write push" in plain and "Write pop" not in plain


def test_the_cascade_marks_what_a_person_overruled() -> None:
    state = _fold(
        ev.StageStarted("scope", 2, "scope"),
        ev.CallStarted(1, "scope", "a.py"), ev.CallFinished(1, "scope", "a.py", True, source="overrule", overruled=True),
        ev.FileScoped("a.py", 2, "imports b", True),
        ev.CallStarted(2, "scope", "b.py"), ev.CallFinished(2, "scope", "b.py", True),
        ev.FileScoped("b.py", 2, "named alike", True),
        ev.StageStarted("precision_pass1", 1, "precision"),
        ev.CallStarted(3, "precision_pass1", "a.py:f"),
        ev.CallFinished(3, "precision_pass1", "a.py:f", False, source="overrule", overruled=True),
    )  # fmt: skip
    pane = CascadePane()
    pane.toggled = {("fold", "files in scope"), ("fold", "symbols relevant? no")}
    rows = [row.plain.strip() for row in pane.build(state, 100)]
    assert any(row.startswith("✎ a.py") and "overruled, yes: imports b" in row for row in rows)
    assert any(row.startswith("✓ b.py") for row in rows)
    assert any(row.startswith("f ") and "✎relevant? no" in row for row in rows)
