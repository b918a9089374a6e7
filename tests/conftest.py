"""Every test has its own configuration, data and cache folders, a plain terminal, and git without a person's settings."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.models import keys
from agent.workspace.trust import trust


def pytest_collection_finish() -> None:
    """What pytest itself holds lives as long as it does: three thousand tests, looked through by every full collection.
    Collecting seldom takes a third off a test that starts an application."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test pulls the plug, so nothing need be pressed down to the platter: not by us, not by git.

    Git reads this file in place of the person's own settings, here and in every child process.
    """
    folder = tmp_path_factory.mktemp("git")
    settings = folder / "config"
    (folder / "template").mkdir()
    settings.write_text(f"[core]\n\tfsync = none\n[init]\n\tdefaultBranch = main\n\ttemplateDir = {folder / 'template'}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        patch.setenv("GIT_CONFIG_GLOBAL", str(settings))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person's own configuration, models or history reaches a test. Repositories of tests are trusted."""
    base: Path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CRA_CONFIG_DIR", str(base / "config"))
    monkeypatch.setenv("CRA_DATA_DIR", str(base / "data"))
    monkeypatch.setenv("CRA_CACHE_DIR", str(base / "cache"))
    monkeypatch.setenv("CRA_STATE_DIR", str(base / "state"))
    keys.forget_all()
    trust(tmp_path_factory.getbasetemp(), below=True)
    for name in ("NO_COLOR", "TEXTUAL_THEME", "CRA_MODEL_PATH"):
        monkeypatch.delenv(name, raising=False)
