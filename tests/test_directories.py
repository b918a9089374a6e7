"""The folders of this program are the same for all of its parts, wherever the person moves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config.schema import user_config_path
from agent.directories import data_directory, state_directory
from agent.labels.store import store_path
from agent.models.store import adapters_dir, models_dir
from tui.clipboard import copy_file


def test_a_moved_data_folder_moves_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CRA_DATA_DIR", " ~/moved ")
    monkeypatch.delenv("CRA_STATE_DIR", raising=False)
    moved = tmp_path / "moved"
    assert data_directory() == moved
    assert (models_dir(), adapters_dir(), copy_file()) == (moved / "models", moved / "adapters", moved / "copied.txt")
    assert state_directory() == moved / "state" and store_path().is_relative_to(moved / "state")


def test_state_and_configuration_are_moved_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CRA_STATE_DIR", "~/state")
    monkeypatch.setenv("CRA_CONFIG_DIR", "~/config")
    assert state_directory() == tmp_path / "state" and user_config_path() == tmp_path / "config" / "config.toml"
