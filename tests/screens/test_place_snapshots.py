"""Home with runs, the history with a change that waits, the settings with a stage's own model, at the sizes people have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.workspace.clean_room import work_folder
from screens.history.screen import HistoryScreen
from screens.settings.screen import SettingsScreen
from tests.screens.driving import home_services
from tests.screens.test_keys import shown
from tests.screens.test_learning import settle
from tests.screens.test_learning_snapshots import NAMES, SIZES, Compare, _shown, repo
from tui.app import CraApp

__all__ = ["repo"]
WAITS = "20261127-190355-9c01"


@pytest.mark.parametrize("size", [SIZES[0], SIZES[2]], ids=[NAMES[0], NAMES[2]])
def test_home_with_runs(snap_compare: Compare, size: tuple[int, int]) -> None:
    made = home_services()
    runs = made.recent_runs(Path())
    made.recent_runs = lambda folder: [replace(runs[0], undecided=True), *runs[1:]]
    app = CraApp(made, task="Implement the functions declared in ring_buffer.h")
    assert snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_a_change_that_waits(snap_compare: Compare, repo: Path, size: tuple[int, int]) -> None:
    (work_folder(repo) / f"{WAITS}.json").write_text("{}")
    assert _shown(snap_compare, lambda made: HistoryScreen(made, repo=repo), size, "down")


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_settings(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / ".config" / "cra"
    monkeypatch.setenv("CRA_CONFIG_DIR", str(config))
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[models]\nprovider = "ollama"\n[models.overrides]\nprecision = "qwen3:0.6b"\n')

    async def before(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        pilot.app.push_screen(SettingsScreen(home_services()))
        await settle(pilot)
        for key in ("down", "enter", "down", "down"):
            await pilot.press(key)
            await settle(pilot)
        assert "d" in shown(pilot), "what can be done with the chosen row is offered"

    assert snap_compare(CraApp(home_services()), terminal_size=size, run_before=before)
