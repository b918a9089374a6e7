"""Events of a run as a whole: its start and end, its stages, notices for the person."""

from __future__ import annotations

from typing import Literal

from agent.events.base import Event
from agent.values import CheckResult, RunStatus


class RunStarted(Event, frozen=True):
    """A run began, or was resumed (``resumed_from`` is then its id). ``model`` names the models."""

    task: str
    repo: str
    branch: str = ""
    base_commit: str = ""
    worktree: str = ""
    model: str = ""
    resumed_from: str = ""


class RunFinished(Event, frozen=True):
    """The last event of a run. ``functions`` counts functions written and compiled, ``stubs_left`` those still stubs."""

    status: RunStatus
    reason: str = ""
    calls: int = 0
    cached_calls: int = 0
    seconds: float = 0.0
    functions: int = 0
    functions_failed: int = 0
    stubs_left: int = 0
    includes_added: int = 0
    tests_before: CheckResult | None = None
    tests_after: CheckResult | None = None
    branch: str = ""
    applied: bool = False


class StageStarted(Event, frozen=True):
    """A stage began. ``total`` is the number of items it will look at, None when it cannot be known."""

    stage: str
    total: int | None = None
    title: str = ""


class StageFinished(Event, frozen=True):
    """A stage is over. ``counts`` are figures to show, by name; ``note`` is a sentence."""

    stage: str
    ms: float = 0.0
    counts: dict[str, int] = {}
    note: str = ""


class Notice(Event, frozen=True):
    """Something the person should read. ``text`` is a whole sentence: what happened, where, what to do."""

    level: Literal["info", "warning", "error"]
    text: str
    stage: str = ""


class ModelStatus(Event, frozen=True):
    """What the model server is doing: it loads, is ready, cannot be reached, or lets the run wait (it is silent, or
    busy with another program)."""

    status: Literal["loading", "ready", "unreachable", "waiting"]
    model: str = ""
    text: str = ""
