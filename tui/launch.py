"""Opens the application on the engine."""

from __future__ import annotations

from pathlib import Path

from agent.config import load
from tui.app import CraApp
from tui.services import engine_services


def launch(repo: Path, *, task: str = "", start: bool = False) -> int:
    """Open the window on a repository, with a task filled in, or already started. Returns the exit code.

    Raises:
        ConfigError: a configuration file is wrong.
    """
    app = CraApp(engine_services(repo), config=load(repo), repo=repo, task=task, start=start)
    app.run()
    return app.return_code or 0
