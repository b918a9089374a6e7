"""The app asks before a repository's commands run, and starts the run on a yes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent import events as ev
from agent.launch import NotTrusted
from agent.workspace.trust import is_trusted
from screens.dialogs import Confirm
from screens.run.screen import RunScreen
from tests.screens.driving import ScriptedRun, services
from tui.app import CraApp


async def _idle(run: ScriptedRun) -> None:
    run.emit(ev.RunFinished("complete", "Done."))


@pytest.mark.parametrize("answer", ["y", "n"])
async def test_a_repository_that_is_not_trusted_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setenv("CRA_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "repo").mkdir()
    made = services(_idle)
    real = made.start_run

    async def start_run(task: str, repo: Path, *rest: Any, **more: Any) -> Any:
        if not is_trusted(repo):
            raise NotTrusted(repo, "A run executes `make test` in a copy of it.")
        return await real(task, repo, *rest, **more)

    made.start_run = start_run  # type: ignore[assignment]
    app = CraApp(made, repo=tmp_path / "repo", task="Do it", start=True)
    async with app.run_test(size=(120, 36)) as pilot:
        for _ in range(200):
            await pilot.pause()
            if isinstance(app.screen, Confirm):
                break
        assert isinstance(app.screen, Confirm) and "make test" in app.screen.text
        await pilot.press(answer)
        for _ in range(200):
            await pilot.pause()
            if isinstance(app.screen, RunScreen) or answer == "n":
                break
        assert isinstance(app.screen, RunScreen) == (answer == "y") == is_trusted(tmp_path / "repo")
