"""The home screen: what a newcomer sees, how a task is started, what happens without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.events import Key
from textual.geometry import Size
from textual.widgets import Input, OptionList, Static, TextArea

from agent.audit.log import known_log
from agent.workspace.clean_room import adopt
from screens.home.fetch_dialog import FetchDialog
from screens.home.lines import guide, prediction
from screens.home.model_box import ModelBox
from screens.home.screen import Guide
from screens.run.screen import RunScreen
from screens.runner import FetchProgress, ModelState, RecentRun
from tests.screens.driving import DEMOS, ScriptedRun, home_services
from tests.tui.journey import until
from tui.app import CraApp


async def _one(run: ScriptedRun) -> None:
    await run.ask(1, "scope", "a.c", True)


async def test_enter_starts_the_ready_made_task(tmp_path: Path) -> None:
    made = home_services(_one)
    made.prepare_demo = lambda name: tmp_path
    app = CraApp(made)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.focused is app.screen.query_one("#demos")
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, RunScreen)
        assert app.session is not None and app.session.task == DEMOS[0].task
        assert app.session.repo == tmp_path


async def test_in_a_repository_what_is_typed_goes_into_the_task(tmp_path: Path) -> None:
    app = CraApp(home_services(_one), repo=tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("W", "h", "y", "question_mark", "alt+enter", "N", "o", "w")
        await pilot.pause()
        assert app.screen is app.home and app.session is None
        assert app.home.task_text == "Why?\nNow"
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.session is not None and app.session.task == "Why?\nNow"


async def test_up_brings_earlier_tasks_back_and_down_what_was_typed(tmp_path: Path) -> None:
    app = CraApp(home_services(_one), repo=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.home is not None
        earlier = [run.task for run in app.home.recent]
        await pilot.press("a", "b", "up")
        assert app.home.task_text == earlier[0]
        await pilot.press("up")
        assert app.home.task_text == earlier[1]
        await pilot.press("up", "down", "down")
        assert app.home.task_text == "ab"
        await pilot.press("up", "end", "!", "home", "up")
        assert app.home.task_text == f"{earlier[0]}!", "what was changed is not replaced"


async def test_what_is_typed_before_the_first_picture_is_not_lost(tmp_path: Path) -> None:
    app = CraApp(home_services(_one), repo=tmp_path)
    assert app._early == []
    await app.on_event(Key("F", "F"))
    await app.on_event(Key("x", "x"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("!")
        assert app.home is not None and app.home.task_text == "Fx!"


async def test_without_a_model_start_offers_to_fetch_it_and_goes_on(tmp_path: Path) -> None:
    there = []

    async def state() -> ModelState:
        return ModelState(bool(there), "ready" if there else "not here yet", can_fetch=not there)

    async def pull(progress: Callable[[FetchProgress], None]) -> None:
        progress(FetchProgress(1_000_000, 2_000_000, "fetching"))
        there.append(True)

    made = home_services(_one)
    made.model_state, made.pull_model = state, pull
    app = CraApp(made, task="Fix it", repo=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, FetchDialog) and app.session is None
        await pilot.press("y")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert there and app.session is not None and app.session.task == "Fix it"


async def test_a_run_that_did_not_end_is_said_and_gone_on_with(tmp_path: Path) -> None:
    made = home_services(_one)
    left = RecentRun("r9", "Mend it", str(tmp_path), started="2026-11-27T09:00:00+00:00", resumable=True)
    made.recent_runs = lambda repo: [left]
    app = CraApp(made, repo=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        said = app.screen.query_one("#home-run", Static)
        assert said.display and "A run did not finish: F7 continues it   Mend it" in str(said.content)
        await pilot.press("f7")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.session is not None and app.session.task == "Mend it"


async def test_state_of_elsewhere_that_was_moved_aside_is_said_until_it_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".clean_room").mkdir()
    (tmp_path / ".clean_room" / "raw.sqlite").write_text("another machine's")
    made = home_services(_one)
    made.recent_runs = lambda repo: [known_log(repo)][:0]
    for taken_over in (False, True):
        if taken_over:
            adopt(tmp_path)
        app = CraApp(made, repo=tmp_path)
        async with app.run_test(size=(80, 24)) as pilot:
            await app.workers.wait_for_complete()
            await pilot.pause()
            said = app.screen.query_one("#home-aside", Static)
            assert said.display is not taken_over
            assert "cra trust --state" in str(said.render()).ljust(78)[:78]


def test_what_happens_then_has_its_height_before_it_is_shown_first() -> None:
    room = Size(120, 40)
    for width in (40, 56, 100):
        assert Guide(id="guide").get_content_height(room, room, width) == len(guide(width).plain.splitlines()) >= 7


def test_the_prediction_says_how_long_by_what_was_measured_here() -> None:
    runs = [RecentRun("a", "t", "r", calls=40, seconds=160.0), RecentRun("b", "t", "r", calls=2, seconds=90.0)]
    assert prediction(40, runs) == "about 40 calls to the model, 3 minutes"
    assert prediction(40, []) == "about 40 calls to the model" and prediction(None, runs) == ""


async def test_a_task_given_has_its_start_button_focused_and_enter_starts_it(tmp_path: Path) -> None:
    app = CraApp(home_services(_one), task="Fix it", repo=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.focused is app.screen.query_one("#start")
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, RunScreen)


async def test_ctrl_r_starts_from_inside_the_task(tmp_path: Path) -> None:
    app = CraApp(home_services(_one), repo=tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        app.screen.query_one(TextArea).focus()
        await pilot.press(*"Fix", "ctrl+r")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.session is not None and app.session.task == "Fix"


async def test_what_is_missing_is_said(toasts: list[str]) -> None:
    app = CraApp(home_services(_one))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.pause()
        await pilot.press("f5")
        assert app.focused is app.screen.query_one("#task")
        app.screen.query_one(TextArea).text = "Fix it"
        await pilot.press("f5")
        assert app.focused is app.screen.query_one("#repo")
        app.screen.query_one("#repo", Input).value = "/no/such/folder"
        await pilot.press("f5")
        await until(pilot, lambda: any("/no/such/folder" in text for text in toasts))
        app.screen.query_one("#repo", Input).value = __file__
        await pilot.press("f5")
        await until(pilot, lambda: any("is a file, not a folder. Give the path" in text for text in toasts))
        assert app.session is None


async def test_without_a_model_it_can_be_fetched_here() -> None:
    fetched = asyncio.Event()

    async def state() -> ModelState:
        if fetched.is_set():
            return ModelState(True, "ready")
        return ModelState(False, "The model is not on this machine yet (1.1 GB).", "cra models pull qwen", True)

    async def pull(progress: Callable[[FetchProgress], None]) -> None:
        progress(FetchProgress(500, 1000, "part 3 of 6"))
        fetched.set()

    made = home_services(_one)
    made.model_state, made.pull_model = state, pull
    app = CraApp(made)
    async with app.run_test(size=(120, 36)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        box = app.screen.query_one(ModelBox)
        assert box.can_fetch
        await pilot.press("f2")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert box.state is not None and box.state.ok and not box.can_fetch


async def test_a_failed_fetch_says_why_and_can_be_tried_again(toasts: list[str]) -> None:
    async def state() -> ModelState:
        return ModelState(False, "not there", "pull it", True)

    async def pull(progress: Callable[[FetchProgress], None]) -> None:
        raise OSError("No space left on device [28]")

    made = home_services(_one)
    made.model_state, made.pull_model = state, pull
    app = CraApp(made)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("f2")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert any("[28]" in text for text in toasts)
        assert app.screen.query_one(ModelBox).can_fetch


async def test_tiny_terminals_do_not_crash() -> None:
    app = CraApp(home_services(_one))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for size in ((1, 1), (3, 40), (4, 2), (9, 9), (14, 3), (19, 6), (40, 10), (101, 5)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await pilot.resize_terminal(120, 36)
        await pilot.pause()
        assert app.screen.query_one("#demos", OptionList).option_count == len(DEMOS)
