"""Every test has its own configuration, data and cache folders, a plain terminal, and git without a person's settings."""

import gc
import itertools
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.models import keys
from agent.workspace.clean_room import state_directory
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


@pytest.fixture(scope="session", autouse=True)
def checks_run_with_this_python() -> Iterator[None]:
    """The ``python`` and ``pytest`` of a test's repository are those of this environment, and pytest loads none of its
    plugins: a shim found on PATH and plugins of others take five times as long to start as what is wanted of them. Once all
    is loaded no bytecode is kept: tests change a file more than once within the second that its stamp tells."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath))))
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setattr(sys, "dont_write_bytecode", True)
        yield


@pytest.fixture(scope="session", autouse=True)
def a_search_ends_soon_after_it_found() -> Iterator[None]:
    """What a search for an edit finds within thirty tries of the first that passes is enough to choose from. The application
    goes on for seconds, since the best edit need not be among the first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.repair.search.SETTLE_SECONDS", 0.0)
        patch.setattr("agent.repair.search.SETTLE_TRIES", 30)
        yield


@pytest.fixture(scope="session")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state directory in which the repositories of tests are trusted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRA_STATE_DIR", str(tmp_path_factory.mktemp("trusting") / "state"))
        trust(tmp_path_factory.getbasetemp(), below=True)
        return state_directory()


_homes = itertools.count()


@pytest.fixture(autouse=True)
def own_folders(trusting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person's own configuration, models or history reaches a test. Repositories of tests are trusted."""
    base = trusting.parent / f"home{next(_homes)}"
    shutil.copytree(trusting, base / "state")
    for name in ("config", "data", "cache", "state"):
        monkeypatch.setenv(f"CRA_{name.upper()}_DIR", str(base / name))
    keys.forget_all()
    for name in ("NO_COLOR", "TEXTUAL_THEME", "CRA_MODEL_PATH"):
        monkeypatch.delenv(name, raising=False)
