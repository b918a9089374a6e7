"""Opens the application on the engine."""

from __future__ import annotations

import shlex
from pathlib import Path

from agent.config.schema import load
from agent.state.run_state import RunState
from tui.app import CraApp
from tui.exit_codes import STOPPED
from tui.say import say
from tui.services import engine_services


def launch(repo: Path, *, task: str = "", start: bool = False) -> int:
    """Open the window on a repository, with a task filled in, or already started. Returns the exit code. A change that was
    left undecided is named at the end, so that it is found again.

    Raises:
        ConfigError: a configuration file is wrong.
    """
    app = CraApp(engine_services(repo), config=load(repo), repo=repo, task=task, start=start)
    app.run()
    if app.session is not None and (words := undecided_words(app.session.state, app.session.repo)):
        say(words, err=True)
    return STOPPED if app.why_ended else app.return_code or 0


def undecided_words(state: RunState, repo: Path) -> str:
    """Where the change of a run waits on which nobody decided; "" if there is none."""
    finished, diff = state.finished, state.diff
    if finished is None or finished.applied or diff is None or not diff.diff.strip() or state.diff_choice:
        return ""
    place = f" on branch {state.started.branch}" if state.started.branch else ""
    return f"A change waits for your decision{place}. To decide: cra --repo {shlex.quote(str(repo))}, then F9."
