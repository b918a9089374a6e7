"""What the journeys share: a demo, the real engine behind the application, a scripted model, and waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w
from textual.pilot import Pilot

from agent.audit.history import events_of, fold
from agent.audit.reader import CallTexts, LogReader
from agent.config.schema import load, repo_config_path
from agent.state.run_state import RunState
from agent.workspace.trust import trust
from screens.run.session import RunSession
from tests.fakes.server import ScriptedServer
from tui.app import CraApp
from tui.services import engine_services

SIZE = (120, 40)


def configure(repo: Path, server: ScriptedServer, **sections: dict[str, Any]) -> None:
    """The repository's configuration: every model is the scripted one. All that can be asked is asked, and a bug goes to
    the model, since it is the decisions and what is written that journeys look at."""
    models = {"provider": "openai", "base_url": server.base_url, **sections.pop("models", {})}
    sections.setdefault("retrieval", {}).setdefault("always_ask", True)
    sections.setdefault("orchestrator", {}).setdefault("decomposed_repair", False)
    path = repo_config_path(repo)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomli_w.dumps({"models": models, **sections}), encoding="utf-8")
    trust(repo)


def application(repo: Path, task: str) -> CraApp:
    """The application as ``cra`` starts it there."""
    return CraApp(engine_services(repo), config=load(repo), repo=repo, task=task)


async def until(pilot: Pilot[int], condition: Callable[[], object], seconds: float = 120) -> None:
    """Until something holds; generous, for a busy machine. What is in front is said when it never does."""
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            session = getattr(pilot.app, "session", None)
            state = session.state if session is not None else None
            last = [event for _, event in state.log[-3:]] if state is not None else []
            raise TimeoutError(f"{pilot.app.screen}, {state and (state.activity, len(state.calls), state.waiting)}, {last}")
        await pilot.pause(0.05)


async def ended(pilot: Pilot[int], app: CraApp, status: str = "complete") -> RunSession:
    """The session in front, once its run has said how it ended."""
    await until(pilot, lambda: app.session is not None and app.session.state.finished is not None)
    session = app.session
    assert session is not None and session.state.status == status, session and session.state.finished
    await until(pilot, lambda: session.ready() and not [w for w in app.workers if w.group == "run" and not w.is_finished])
    session.flush()
    return session


def logged(repo: Path, run_id: str) -> RunState:
    """The state that a run's log leads to."""
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    try:
        return fold(events_of(reader, run_id))
    finally:
        reader.close()


def calls_of(repo: Path, run_id: str) -> list[CallTexts]:
    """A run's calls with their texts."""
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    try:
        return list(reader.calls(run_id))
    finally:
        reader.close()
