"""Actions, keys, palette, help, themes, clipboard."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette

from agent.config.schema import Config, Ui
from screens.actions import ACTIONS, BY_ID, key_text
from screens.help import HelpScreen, help_lines
from screens.keymap import read_keymap
from screens.run.screen import RunScreen
from screens.table import SCREENS, has_screen, make_screen
from tests.screens.driving import ReplayApp, home_services
from tests.screens.recorded import ring_buffer, worked_example
from tui.app import CraApp
from tui.clipboard import copy_file, copy_text
from tui.palette import ActionCommands


def test_ids_are_unique_and_every_run_action_exists() -> None:
    assert len(BY_ID) == len(ACTIONS)
    for action in ACTIONS:
        name = action.action.partition("(")[0]
        owner = {"run": RunScreen, "app": CraApp}.get(action.group)
        if owner is not None:
            assert hasattr(owner, f"action_{name}"), action.id


def test_help_names_every_action_with_the_keys_in_force() -> None:
    text = "\n".join(row.plain for row in help_lines("run", {"run.step": "f8"}))
    for action in ACTIONS:
        if action.group == "run":
            assert action.description in text
    assert "F8" in text and key_text(BY_ID["run.step"], {}) == "s"


async def test_keys_can_be_remapped() -> None:
    app = ReplayApp(worked_example(), config=Config(ui=Ui(keys={"run.filter": "f9"})))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("f9")
        await pilot.pause()
        assert app.screen.query_one("#filter").display


@pytest.mark.parametrize(
    ("wanted", "used", "said"),
    [
        ({"run.step": "x", "run.stop": "s"}, {"run.step": "x", "run.stop": "s"}, ""),
        ({"run.step": "F7, Ctrl+K"}, {"run.step": "f7,ctrl+k"}, ""),
        ({"run.step": "?"}, {"run.step": "question_mark"}, ""),
        ({"run.step": ","}, {"run.step": "comma"}, ""),
        ({"run.step": "x"}, {}, "run.step keeps its key, s: x is already the key of run.stop"),
        ({"run.step": "[", "run.stop": "["}, {"run.step": "left_square_bracket"}, "[ is already the key of run.step"),
        ({"app.quit": "q"}, {}, "q is already the key of run.back"),
        ({"run.step": "ctrl+q"}, {}, "^q is already the key of app.quit"),
        ({"replay.play": "j"}, {}, "j is already the key of run.down"),
        ({"run.step": "escpe"}, {}, "Did you mean 'escape'?"),
        ({"run.step": ""}, {}, "'' is not a key"),
        ({"run.step": "strg+x"}, {}, "'strg+x' is not a key"),
        ({"run.step": "ctrl+p"}, {}, "is the palette"),
        ({"run.stp": "f7"}, {}, "there is no action 'run.stp'. Did you mean 'run.stop'?"),
    ],
)
def test_own_keys_are_read_or_refused_with_a_sentence(wanted: dict[str, str], used: dict[str, str], said: str) -> None:
    got, faults = read_keymap(wanted)
    assert got == used and [said in fault for fault in faults] == ([True] if said else [])


async def test_a_clash_is_said_and_both_keys_do_what_they_did(toasts: list[str]) -> None:
    keys = {"run.zoom": "c", "run.copy": "z", "run.pin": "b", "run.filter": "f9"}
    app = ReplayApp(worked_example(), config=Config(ui=Ui(keys=keys)))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.pause()
        assert any("run.pin keeps its key, t: b is already the key of run.break" in text for text in toasts)
        await pilot.press("t", "c")
        await pilot.pause()
        screen = app.run_screen()
        assert screen.panel.pinned and screen.maximized is not None, "two keys that were exchanged do what was wished"
        text = "\n".join(row.plain for row in help_lines("run", app.own_keys))
        assert "  c                 Give the focused pane" in text and "  ^p                Earlier runs" in text


async def test_help_says_what_the_pane_in_front_is() -> None:
    app = ReplayApp(worked_example(), live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        for key, title in (("0", "Calls"), ("3", "Plan"), ("5", "Diff")):
            await pilot.press(key, "question_mark")
            await pilot.pause()
            assert f"Here: {title}" in app.screen.query_one("#help").plain
            await pilot.press("escape")
    home = CraApp(home_services())
    async with home.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        for name, title in (("demos", "Ready-made tasks"), ("task", "Task"), ("start", "")):
            home.screen.query_one(f"#{name}").focus()
            await pilot.press("f1")
            await pilot.pause()
            text = home.screen.query_one("#help").plain
            assert f"Here: {title}" in text if title else "Here:" not in text
            await pilot.press("escape")


async def test_palette_reaches_every_action_that_works_now() -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        provider = ActionCommands(app.screen)
        labels = [hit.text async for hit in provider.discover()]
        assert {"Apply", "Keep", "Discard", "Filter or find", "Help", "Quit", "Screenshot"} <= set(labels)
        assert "One decision" not in labels, "the run has ended"
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"pin the tab", "enter")
        await pilot.pause(0.3)


async def test_help_opens_and_closes() -> None:
    app = CraApp(home_services())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.screen.query_one("#demos").focus()
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.home


async def test_ctrl_c_names_the_key_that_leaves(toasts: list[str]) -> None:
    app = CraApp(home_services(), config=Config(ui=Ui(keys={"app.quit": "f13"})))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        app.screen.query_one("#demos").focus()
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert any("Press F13 to leave" in text and "[" not in text for text in toasts)


@pytest.mark.parametrize("theme", ["ansi-dark", "clean-room-light", "nord"])
async def test_themes(theme: str) -> None:
    app = ReplayApp(worked_example(), config=Config(ui=Ui(theme=theme)))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.theme == theme
        app.theme = "textual-dark"
        await pilot.pause()


@pytest.mark.parametrize("theme", ["ansi-dark", "clean-room-light"])
async def test_added_and_removed_lines_can_be_read_in_every_theme(theme: str) -> None:
    app = ReplayApp(ring_buffer(), config=Config(ui=Ui(theme=theme)))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await pilot.pause()
        pane = app.run_screen().panel.pane
        signed = [strip for strip in map(pane.render_line, range(pane.size.height)) if strip.text[:1] in ("+", "-")]
        assert len(signed) > 5
        for segment in (part for strip in signed for part in strip if part.text.strip() and part.style):
            ground = segment.style.bgcolor
            assert ground is not None and ground.is_default if app.native_ansi_color else ground != segment.style.color


async def test_an_unknown_theme_is_named(toasts: list[str]) -> None:
    app = CraApp(home_services(), config=Config(ui=Ui(theme="no-such")))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        assert any("no-such" in text for text in toasts)


async def test_an_unknown_action_in_the_keys_is_named_with_the_nearest(toasts: list[str]) -> None:
    app = CraApp(home_services(), config=Config(ui=Ui(keys={"run.stepp": "f8"})))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        assert any("run.stepp" in text and "'run.step'?" in text for text in toasts)


async def test_no_color_still_says_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        shown = app.run_screen().stream.render_line(1).text
        assert "✓ yes" in shown or "✗ no" in shown


def test_what_is_copied_is_also_in_a_file() -> None:
    said = copy_text("a[/b] é")
    assert copy_file().read_text(encoding="utf-8") == "a[/b] é"
    assert str(copy_file()) in said


async def test_copying_from_the_card() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.2)
        await pilot.press("c")
        await pilot.pause()
        assert "P(yes)" in copy_file().read_text(encoding="utf-8")


def test_every_listed_screen_can_be_imported() -> None:
    for name in filter(has_screen, SCREENS):
        module, _, attribute = SCREENS[name].partition(":")
        assert hasattr(__import__(module, fromlist=[attribute]), attribute), name
    with pytest.raises(KeyError):
        make_screen("no such screen", home_services())
