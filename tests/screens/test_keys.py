"""The footer: one key with one meaning a screen, words that follow the state, nothing cut; escape never leaves a run."""

from __future__ import annotations

import random
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from agent import events as ev
from agent.gate import Breakpoint
from agent.labels.guidelines import guideline
from agent.stages import binary_stages
from screens.actions import of_screen
from screens.history.screen import HistoryScreen
from screens.keyed import KeyFooter
from screens.learning.calibrate import CalibrateScreen
from screens.learning.label_card import meanings
from screens.learning.relabel import RelabelScreen
from screens.run.breakpoint_dialog import BreakpointDialog
from screens.run.prompt import prompt_lines
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.text import stage_short, stage_title
from tests.labels.filled import Filled
from tests.screens.driving import ReplayApp, ScriptedRun, home_services
from tests.screens.recorded import ring_buffer, worked_example
from tests.screens.test_learning import LearningApp, filled, settle  # noqa: F401 - a fixture
from tests.screens.test_run_screen import _app, _settle, _start
from tui.app import CraApp


def shown(pilot: Pilot) -> dict[str, str]:
    """Key to word of what the footer shows."""
    return {key.display: key.word for key in pilot.app.screen.query_one(KeyFooter).keys}


@pytest.mark.parametrize("group", ["home", "run", "replay", "relabel", "calibrate", "evaluate", "history", "settings"])
def test_a_key_means_one_thing_on_a_screen(group: str) -> None:
    keys = [key for _, actions in of_screen(group) for action in actions for key in action.keys.split(",")]
    assert len(keys) > 10 and sorted(keys) == sorted(set(keys))


def test_every_question_is_named_in_words_and_has_its_yes_and_no(tmp_path: Path) -> None:
    for stage in binary_stages():
        assert stage_title(stage).endswith("?") and len(stage_short(stage)) <= 10, stage
        told = [word for word, _ in meanings(guideline(tmp_path, stage).text)]
        assert told in (["yes", "no"], []), stage
    assert [word for word, _ in meanings("- **Yes**: a\n\n- **No**: b: c\nIt depends: on it")] == ["yes", "no"]


async def test_pause_says_go_on_while_paused() -> None:
    app = _app()
    async with app.run_test(size=(120, 36)) as pilot:
        await _start(app, pilot)
        await pilot.pause()
        assert shown(pilot)["space"] == "Go on"
        assert app.screen.turned("run.pause")
        app.screen.session.gate.mode = "run"
        app.screen.session.state.waiting = None
        app.screen.refresh_state([])
        await pilot.pause()
        assert shown(pilot)["space"] == "Pause"


async def test_the_footer_of_a_change_to_decide_on_has_no_key_twice() -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        words = shown(pilot)
        assert (words["a"], words["w"], words["d"]) == ("Apply", "Keep", "Discard")
        assert "k" not in words


async def test_escape_closes_one_thing_at_a_time_and_stays_with_a_run_that_goes_on(toasts: list[str]) -> None:
    app = _app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await _start(app, pilot)
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await pilot.press("3", "z")
        await pilot.pause()
        assert screen.maximized is not None
        await pilot.press("escape")
        assert screen.maximized is None and screen.panel.pane.has_focus
        await pilot.press("escape")
        assert screen.stream.has_focus
        await pilot.press("slash", "x", "escape")
        assert not screen.stream.words
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert app.screen is screen, "a run that goes on is not left by escape"
        assert any("q goes to Home" in text for text in toasts)
        await pilot.press("q")
        await _settle(app, pilot)
        assert app.screen is app.home
        assert "F3 goes back to it" in str(app.home.query_one("#home-run").render())
        assert shown(pilot)["F3"] == "Run"
        await pilot.press("f3")
        await pilot.press("x", "y")
        await _settle(app, pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.home, "of a run that is over escape is the way out"
        assert not app.home.query_one("#home-run").display


async def test_home_says_when_the_run_that_was_left_waits() -> None:
    async def script(run: ScriptedRun) -> None:
        run.emit(ev.StageStarted("scope", 1, "scope"))
        await run.ask(1, "scope", "a.py:one", True)
        run.emit(ev.DiffReady("+x\n", ("a.c",), 1, 0, "cra/x"))

    app = _app(script)
    async with app.run_test(size=(80, 24)) as pilot:
        await _start(app, pilot)
        await pilot.press("q")
        await _settle(app, pilot)
        line = app.home.query_one("#home-run")
        assert "waits for you" in str(line.render())
        app.session.gate.resume()
        await _settle(app, pilot)
        assert "its change waits for your decision" in str(line.render())


async def test_a_breakpoint_can_be_taken_out() -> None:
    app = _app()
    async with app.run_test(size=(80, 24)) as pilot:
        await _start(app, pilot)
        gate = app.session.gate
        gate.breakpoints = [Breakpoint("scope", "*two*"), Breakpoint("precision_*"), Breakpoint(defaulted=True)]
        await pilot.press("b")
        await pilot.pause()
        dialog = app.screen
        assert isinstance(dialog, BreakpointDialog)
        points = dialog.query_one("#points", OptionList)
        assert points.option_count == 3
        points.focus()
        await pilot.press("down", "d")
        assert points.option_count == 2
        await pilot.press("escape")
        await pilot.pause()
        assert gate.breakpoints == [Breakpoint("scope", "*two*"), Breakpoint(defaulted=True)]
        await pilot.press("b")
        await pilot.pause()
        for button in ("#add", "#remove", "#clear", "#close"):
            assert app.screen.query_one(button).region.bottom <= 24, "the buttons are in sight"
        app.screen.query_one("#remove").press()
        await pilot.pause()
        app.screen.query_one("#remove").press()
        await pilot.pause()
        assert app.focused is app.screen.query_one("#stage"), "none is left: on to the next one"
        await pilot.press("escape")
        await pilot.pause()
        assert gate.breakpoints == []


async def test_the_breakpoint_dialog_names_the_stages_and_forgets_a_fault_that_is_being_mended() -> None:
    app = _app()
    async with app.run_test(size=(80, 24)) as pilot:
        await _start(app, pilot)
        await pilot.press("b")
        await pilot.pause()
        fault, stage = app.screen.query_one("#fault"), app.screen.query_one("#stage")
        assert "relevant?" in str(fault.render()) and "no question" not in str(fault.render())
        stage.value = "relevance"
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        said = str(fault.render())
        assert "no question relevance" in said and "relevant?" in said
        assert app.screen.query_one("#close").region.bottom <= 24, "the buttons are in sight"
        await pilot.press("x")
        await pilot.pause()
        assert "no question" not in str(fault.render())
        stage.value = "relevant?"
        await pilot.press("enter")
        await pilot.pause()
        assert app.session.gate.breakpoints == [Breakpoint("precision_pass1")]


def fits(pilot: Pilot) -> bool:
    """Whether every key of the footer is in sight."""
    keys = pilot.app.screen.query_one(KeyFooter).keys
    apart = all(0 <= one.start < one.end <= other.start for one, other in pairwise(keys))
    return bool(keys) and apart and keys[-1].end < pilot.app.size.width


async def test_home_shows_the_settings_key_and_fits() -> None:
    app = CraApp(home_services())
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for name in ("demos", "task", "repo", "recent"):
            app.screen.query_one(f"#{name}").focus()
            await pilot.pause()
            assert shown(pilot)["F6"] == "Settings" and shown(pilot)["F9"] == "History", name
            assert fits(pilot)
        assert app.screen.query_one("#home").max_scroll_y == 0 or app.home.recent


@pytest.mark.parametrize("screen", [RelabelScreen, CalibrateScreen, HistoryScreen])
async def test_the_footer_is_there_at_once_and_fits(filled: Filled, screen: type, monkeypatch) -> None:  # noqa: F811
    go = threading.Event()
    import agent.audit.reader as reader

    def slow(self: object, path: Path) -> None:
        assert go.wait(20)
        real(self, path)

    real = reader.LogReader.__init__
    if screen is not RelabelScreen:
        monkeypatch.setattr(reader.LogReader, "__init__", slow)
    app = LearningApp(lambda made: screen(made, repo=filled.repo))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert shown(pilot)["q"] == "Back" and shown(pilot)["?"] == "Help", "while the log is still being read"
        go.set()
        await settle(pilot)
        assert fits(pilot), shown(pilot)


@pytest.mark.parametrize("width", [80, 120])
async def test_the_run_footer_fits(width: int) -> None:
    app = _app()
    async with app.run_test(size=(width, 24)) as pilot:
        await _start(app, pilot)
        await pilot.pause()
        assert fits(pilot), shown(pilot)
    app = ReplayApp(worked_example(), live=True)
    async with app.run_test(size=(width, 24)) as pilot:
        await settle(pilot)
        assert fits(pilot), shown(pilot)


def test_a_recording_offers_no_keys_where_the_run_had_waited() -> None:
    session = RunSession(clock=lambda: 0.0)
    for waiting in (
        ev.GateWaiting("verdict", "precision_pass1", "a.c:one", 1, True, "step"),
        ev.GateWaiting("stage", "precision_pass1", "", None, None, "stage"),
    ):
        session.state.waiting = waiting
        (only,) = prompt_lines(session, 80)
        assert "waited here for the person" in only.plain and "is right" not in only.plain and "go on" not in only.plain


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_what_is_open_says_how_it_is_closed(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer())
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("1", "z")
        await settle(pilot)
        pane = app.run_screen().panel.pane
        assert shown(pilot)["z"] == "Shrink" and fits(pilot) and str(pane.border_title) == "Cascade"
        await pilot.press("z", "0", "slash")
        await settle(pilot)
        assert shown(pilot)["esc"] == "Take it away" and str(pane.border_title) == ""
        await pilot.press("escape", "5", "slash")
        await settle(pilot)
        assert shown(pilot)["esc"] == "Close"


async def test_keys_in_quick_succession_mean_the_pane_that_the_first_one_shows() -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for key in ("4", "5", "z"):
            app.simulate_key(key)  # as from a terminal: nobody waits in between
        await settle(pilot)
        assert app.run_screen().maximized is app.run_screen().panel.pane
        assert any("@@" in strip.text for strip in app.screen._compositor.render_strips())


async def test_keys_go_to_what_is_seen_when_something_comes_forward_by_itself() -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = app.run_screen()
        assert screen.panel.current == "diff" and screen.panel.pane.has_focus, "it covers the calls"
        await pilot.resize_terminal(120, 40)
        await pilot.press("0")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert screen.stream.has_focus and screen.query_one("#centre").display, "what has the focus stays in sight"
        await pilot.resize_terminal(120, 40)
        screen.panel.pane.focus()
        await settle(pilot)
        screen.panel.set_pinned(False)
        screen.panel.dwell.want("plan", 3)
        screen.panel.follow(screen.session.now() + 10)
        await settle(pilot)
        assert screen.panel.current == "plan" and screen.panel.pane.has_focus


async def test_a_view_that_is_enlarged_gives_way_to_the_one_that_is_asked_for_and_to_no_other() -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen = app.run_screen()
        await pilot.press("5", "z", "3")
        await settle(pilot)
        assert screen.panel.current == "plan" and screen.maximized is screen.panel.pane and screen.panel.pane.display
        screen.panel.set_pinned(False)
        screen.panel.dwell.want("compile", 3)
        screen.panel.follow(screen.session.now() + 10)
        await settle(pilot)
        assert screen.panel.current == "plan" and screen.maximized is screen.panel.pane
        await pilot.press("0")
        await settle(pilot)
        assert screen.maximized is screen.stream
        await pilot.press("z")
        assert screen.maximized is None


_OTHERS = ("tab", "shift+tab", "escape", "enter", "up", "down", "pageup", "end", "slash", "space")
_PRESSED = (*"012345678zjkGtibsSynK", *_OTHERS)
_SIZES = ((80, 24), (120, 40), (200, 60), (60, 16))


@pytest.mark.parametrize("seed", [4])
async def test_whatever_is_pressed_the_focus_is_in_sight(seed: int) -> None:
    app, rnd, pressed = ReplayApp(ring_buffer("diff"), live=True), random.Random(seed), list[str]()
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for _ in range(50):
            if rnd.random() < 0.08:
                await pilot.resize_terminal(*rnd.choice(_SIZES))
            pressed.append(rnd.choice(_PRESSED))
            await pilot.press(pressed[-1])
            await pilot.pause()
            for view in (app.focused, app.screen.maximized):
                assert view is None or all(part.display for part in view.ancestors_with_self), (view, pressed[-6:], app.size)
