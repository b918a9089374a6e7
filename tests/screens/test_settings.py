"""The settings screen: found by words, checked while typing, tried out, shown as a diff, saved with comments kept."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, Switch

from agent.config.schema import load, repo_config_path, user_config_path
from agent.models.router import Router
from screens.dialogs import Confirm
from screens.lines import LinesView
from screens.settings.dialogs import OverrideDialog, SaveDialog
from screens.settings.form import FieldRow
from screens.settings.model import fields
from screens.settings.overrides import OverrideTable
from screens.settings.screen import SettingsScreen
from tests.fakes import ScriptedServer
from tests.fakes.script import Answer
from tests.screens.driving import home_services
from tests.tui.journey import until
from tui.app import CraApp

MINE = '# mine\n[models] # who\nseed = 7 # lucky\n\n[models.overrides]\nscope = "small" # cheap\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty repository; the person's file has a comment on every line."""
    user_config_path().parent.mkdir(parents=True, exist_ok=True)
    user_config_path().write_text(MINE)
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


async def _open(app: CraApp, pilot: Pilot[int]) -> SettingsScreen:
    await pilot.pause()
    await pilot.press("f6")
    await pilot.pause()
    assert isinstance(app.screen, SettingsScreen)
    return app.screen


def _app(repo: Path) -> CraApp:
    return CraApp(home_services(), repo=repo)


@asynccontextmanager
async def settings(repo: Path) -> AsyncIterator[tuple[CraApp, Pilot[int], SettingsScreen]]:
    """The application with the settings open."""
    app = _app(repo)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        yield app, pilot, await _open(app, pilot)


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Each key, and what comes of it."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


async def _find(screen: SettingsScreen, pilot: Pilot[int], words: str) -> FieldRow:
    screen.query_one("#settings-search", Input).value = words
    await pilot.pause()
    return screen.form.rows()[0]


async def _fill(screen: SettingsScreen, pilot: Pilot[int], words: str, value: str) -> FieldRow:
    row = await _find(screen, pilot, words)
    row.query_one(Input).value = value
    await pilot.pause()
    return row


async def test_every_key_of_the_schema_is_found_by_its_name_and_by_what_it_does(repo: Path) -> None:
    async with settings(repo) as (_app, pilot, screen):
        assert len(fields()) > 40
        for field in fields():
            assert field.description and field.matches([field.key])
        row = await _find(screen, pilot, "yes/no per pair")
        assert row.field.name == "orchestrator.decomposed_part_grouping"
        assert len(screen.form.rows()) == 1 and screen.form.sections.option_count == 1
        screen.query_one("#settings-search", Input).value = "zzz"
        await pilot.pause()
        assert screen.query_one("#settings-nothing").display and not screen.form.rows()


async def test_a_section_is_entered_before_its_fields_are_made(repo: Path) -> None:
    async with settings(repo) as (app, pilot, screen):
        names = [str(option.id) for option in screen.form.sections.options]
        screen.form.sections.highlighted = names.index("judgment")
        await until(pilot, lambda: screen.form.section == "judgment")
        screen.form._show("retrieval", screen.form._found())
        screen.form.enter()  # in the same turn: a key that is typed ahead, on a slow machine
        screen.form.sync()
        await until(pilot, lambda: app.focused is not None and app.focused.has_class("value"))
        row = screen.form.rows()[0]
        assert row.field.section == "retrieval" and app.focused in row.walk_children()


async def test_typing_is_checked_and_a_wrong_value_cannot_be_saved(repo: Path) -> None:
    async with settings(repo) as (app, pilot, screen):
        row = await _find(screen, pilot, "concurrency")
        control = row.query_one(Input)
        control.focus()
        control.value = "many"
        await pilot.pause()
        assert row.error == "Expected a whole number of at least 1 and at most 512 or 'auto', not 'many'."
        assert "✗ Expected" in str(row.query_one(".field-about", Static).content)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, SettingsScreen) and user_config_path().read_text() == MINE
        control.value = "513"
        await pilot.pause()
        assert row.error
        control.value = "8"
        await pilot.pause()
        assert not row.error and "set here" in str(row.query_one(".field-state", Static).content)


async def test_a_switch_is_saved_after_its_diff_was_seen_and_comments_survive(repo: Path) -> None:
    async with settings(repo) as (app, pilot, screen):
        row = await _find(screen, pilot, "decomposed_scaffold")
        row.query_one(Switch).focus()
        await press(pilot, "space")
        assert "1 change not saved" in str(screen.query_one("#settings-title", Static).content)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, SaveDialog)
        assert "+decomposed_scaffold = true" in app.screen.query_one(LinesView).plain
        assert user_config_path().read_text() == MINE
        await press(pilot, "y")
        assert user_config_path().read_text() == MINE + "\n[orchestrator]\ndecomposed_scaffold = true\n"
        assert app.config.orchestrator.decomposed_scaffold is True
        await pilot.press("f3")  # take it out again
        await pilot.pause()
        assert row.query_one(Switch).value is False
        assert "taken out" in str(row.query_one(".field-state", Static).content)


async def test_a_stage_gets_its_own_model_and_the_next_call_goes_to_it(repo: Path) -> None:
    app = _app(repo)
    async with ScriptedServer([("int count", Answer("yes", p_yes=0.93))], models=("judge",)) as server:  # noqa: SIM117
        async with app.run_test(size=(140, 40), notifications=True) as pilot:
            screen = await _open(app, pilot)
            screen.form.sections.highlighted = 1
            table = screen.query_one(OverrideTable)
            await pilot.pause()
            table.focus()
            await press(pilot, "a")
            dialog = app.screen
            assert isinstance(dialog, OverrideDialog)
            dialog.query_one("#stage", Input).value = "precison"
            await pilot.pause()
            assert "Did you mean 'precision'?" in str(dialog.query_one("#fault", Static).content)
            dialog.query_one("#stage", Input).value = "precision"
            dialog.query_one("#model", Input).value = "judge"
            dialog.query_one("#base_url", Input).value = server.base_url
            dialog.query_one("#provider").value = "openai"  # type: ignore[attr-defined]
            dialog.query_one("#max_tokens", Input).value = "9000"
            await pilot.pause()
            assert "leaves no room" in str(dialog.query_one("#fault", Static).content)
            dialog.query_one("#max_tokens", Input).value = ""
            await pilot.pause()
            await press(pilot, "ctrl+s")
            assert table.row == "precision" and table.removable
            await pilot.press("t")
            await app.workers.wait_for_complete()
            assert table.trials["precision"].ok is True, table.trials
            await pilot.press("o")
            await app.workers.wait_for_complete()
            assert "yes, P(yes) 0.93" in table.trials["precision"].text
            assert server.calls[-1].model == "judge" and server.calls[-1].body["max_tokens"] == 16
            await press(pilot, "ctrl+s", "y")
    target = Router(load(repo).models).target("precision_pass2")
    assert (target.model, target.provider, target.base_url) == ("judge", "openai", server.base_url)
    assert '[models.overrides]\nscope = "small" # cheap\nprecision = ' in user_config_path().read_text()


async def test_a_trial_that_takes_long_is_given_up_with_escape_and_blocks_nothing(repo: Path) -> None:
    user_config_path().write_text("")
    async with ScriptedServer("yes", latency=20) as server:
        user_config_path().write_text(f'[models]\nprovider = "openai"\nbase_url = "{server.base_url}"\n')
        app = _app(repo)
        async with app.run_test(size=(120, 40)) as pilot:
            screen = await _open(app, pilot)
            screen.form.sections.highlighted = 1
            table = screen.query_one(OverrideTable)
            await pilot.pause()
            table.focus()
            await pilot.press("o")
            while not table.trying:
                await pilot.pause(0.02)
            await pilot.press("down")
            assert table.row == "reasoning"
            await pilot.press("escape")
            await app.workers.wait_for_complete([w for w in app.workers if w.group == "trial"] or None)
            await pilot.pause()
            assert not table.trying and table.trials["coding"].text == "given up"
            assert isinstance(app.screen, SettingsScreen)


async def test_an_override_is_taken_out(repo: Path) -> None:
    async with settings(repo) as (_app, pilot, screen):
        screen.form.sections.highlighted = 1
        await pilot.pause()
        table = screen.query_one(OverrideTable)
        table.focus()
        await pilot.press("d")  # a role cannot be taken out
        assert "scope" in table.rows
        table.highlighted = table.rows.index("scope")
        await press(pilot, "d", "ctrl+s", "y")
    assert not tomllib.loads(user_config_path().read_text())["models"].get("overrides")
    assert "# cheap" in user_config_path().read_text()


async def test_the_repositorys_file_is_chosen_and_says_what_it_inherits(repo: Path) -> None:
    async with settings(repo) as (_app, pilot, screen):
        row = await _find(screen, pilot, "sampling seed")
        assert "set here" in str(row.query_one(".field-state", Static).content)
        await press(pilot, "f2")
        assert "this repository's file" in str(screen.query_one("#settings-title", Static).content)
        assert "your file" in str(row.query_one(".field-state", Static).content)
        assert row.query_one(Input).value == "7"
        row.query_one(Input).value = "9"
        await pilot.pause()
        await press(pilot, "ctrl+s", "y", "f2")
        assert "says 9, and wins" in str(row.query_one(".field-about", Static).content)
    assert repo_config_path(repo).read_text() == "[models]\nseed = 9\n"
    assert (repo / ".clean_room" / ".gitignore").read_text() == "*\n"
    assert user_config_path().read_text() == MINE and load(repo).models.seed == 9


async def test_a_file_that_changed_meanwhile_is_shown_again_and_not_overwritten(repo: Path) -> None:
    async with settings(repo) as (_app, pilot, screen):
        await _fill(screen, pilot, "sampling seed", "11")
        await press(pilot, "ctrl+s")
        user_config_path().write_text(MINE + "# by hand\n")
        await press(pilot, "y")
        assert user_config_path().read_text() == MINE + "# by hand\n"
        await press(pilot, "ctrl+s", "y")
    assert user_config_path().read_text() == MINE.replace("7", "11") + "# by hand\n"


async def test_a_file_that_changed_before_the_diff_is_in_it_and_one_that_broke_is_left_as_it_is(
    repo: Path, toasts: list[str]
) -> None:
    async with settings(repo) as (app, pilot, screen):
        await _fill(screen, pilot, "sampling seed", "11")
        user_config_path().write_text(MINE + "[models\n")
        for _ in range(2):
            await press(pilot, "ctrl+s")
            assert app.screen is screen and "not valid TOML" in toasts[-1]
        user_config_path().write_text("# by hand\n" + MINE)
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, SaveDialog) and "# by hand" in app.screen.diff
        assert any("changed elsewhere meanwhile" in text for text in toasts)
        await press(pilot, "y")
    assert user_config_path().read_text() == "# by hand\n" + MINE.replace("7", "11")


async def test_keys_that_clash_are_not_saved(repo: Path, toasts: list[str]) -> None:
    async with settings(repo) as (app, pilot, screen):
        row = await _fill(screen, pilot, "keys by action", "run.step=x")
        await press(pilot, "ctrl+s")
        assert app.screen is screen and "x is already the key of run.stop" in toasts[-1]
        row.query_one(Input).value = "run.step=f7"
        await pilot.pause()
        await press(pilot, "ctrl+s", "y")
        assert app.own_keys == {"run.step": "f7"}, "they count at once"
    assert "f7" in user_config_path().read_text()


async def test_leaving_with_changes_asks(repo: Path) -> None:
    async with settings(repo) as (app, pilot, screen):
        await _fill(screen, pilot, "sampling seed", "11")
        await pilot.press("escape")  # the search first
        assert screen.query_one("#settings-search", Input).value == ""
        await press(pilot, "escape")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "n")
        assert app.screen is screen
        await press(pilot, "escape", "y")
        assert app.screen is app.home
    assert user_config_path().read_text() == MINE


async def test_a_file_that_is_wrong_says_so_and_hostile_text_is_shown_as_it_is(repo: Path) -> None:
    user_config_path().write_text('[models]\ncoding = "a[/b] [red]buf[i]\\u001b[31m"\n')
    async with settings(repo) as (app, pilot, screen):
        row = await _find(screen, pilot, "writes code")
        assert "a[/b] [red]buf[i]" in row.query_one(Input).value
        await press(pilot, "escape", "escape")
        user_config_path().write_text("[modles]\n[/b]\n")
        broken = await _open(app, pilot)
        assert "modles" in str(broken.query_one("#settings-fault", Static).content) or broken.fault
        await pilot.press("ctrl+s", "f2", "escape")
        await until(pilot, lambda: app.screen is app.home)  # leaving takes its time on a busy machine
    assert user_config_path().read_text() == "[modles]\n[/b]\n"


async def test_no_size_crashes(repo: Path) -> None:
    app = _app(repo)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await _open(app, pilot)
        screen.form.sections.highlighted = 1
        await pilot.pause()
        for size in ((40, 12), (20, 8), (12, 5), (4, 3), (1, 1), (200, 50)):
            await pilot.resize_terminal(*size)
            screen.query_one(OverrideTable).focus()
            await press(pilot, "a")
            await pilot.press("escape")
