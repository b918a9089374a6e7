"""The line at the top says what a run waits for: a model that loads, or a server that another program uses."""

from __future__ import annotations

import pytest

from agent import events as ev
from agent.events import Envelope
from agent.models.waiting import WAITING
from screens.run.status import StatusBar
from tests.screens.driving import ReplayApp
from tests.screens.recorded import Recorder


def _asked() -> Recorder:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("A task", "/home/ada/repo", "cra/x", model="qwen2.5-coder-1.5b"))
    recorder.add(ev.ModelStatus("loading", text="small (another program is loading a model)"))
    return recorder


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_the_status_says_what_is_waited_for(width: int) -> None:
    app = ReplayApp(_asked(), live=True)
    async with app.run_test(size=(width, 36)) as pilot:
        await pilot.pause(0.1)
        session, bar = app.session, app.screen.query_one(StatusBar)
        assert session is not None

        def then(*events: ev.Event) -> str:
            for event in events:
                session.receive(Envelope("r", 9, 1.0, event))  # type: ignore[arg-type]
            session.flush()
            return bar.render().plain

        said = then()
        assert "loading model" in said and ("another program is loading" in said) == (width >= 100)
        said = then(ev.ModelStatus("ready", text="small"), ev.CallStarted(1, "function_implement", "push", binary=False))
        assert "writing" in said and ("qwen2.5-coder-1.5b" in said) == (width >= 100)
        assert f"● {WAITING}" in then(ev.ModelStatus("waiting", text=WAITING))
        assert "waiting" not in then(ev.ModelStatus("ready", text="small"))
        assert "writing" in bar.render().plain
        assert "waiting" not in then(ev.RunFinished("stopped"))


async def test_while_the_person_is_waited_for_calls_asked_ahead_do_not_hide_it() -> None:
    app = ReplayApp(_asked(), live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.1)
        session, bar = app.session, app.screen.query_one(StatusBar)
        assert session is not None
        events: list[ev.Event] = [
            ev.CallStarted(1, "scope", "a.c"), ev.GateWaiting("verdict", "scope", "a.c", 1, True),
            ev.CallStarted(2, "scope", "b.c"), ev.ModelStatus("waiting", text=WAITING), ev.ModelStatus("ready"),
        ]  # fmt: skip
        for event in events:
            session.receive(Envelope("r", 9, 1.0, event))  # type: ignore[arg-type]
            session.flush()
        assert "‖ waiting for you" in bar.render().plain
