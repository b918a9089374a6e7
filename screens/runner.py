"""What the screens need from the engine: a run that can be started and listened to, and the application's services.

The command line (``tui``) puts these together; tests hand in their own.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from textual.message import Message

from agent.audit.reader import CallTexts
from agent.config.schema import Config
from agent.events import CallProgress, Envelope, RunFinished
from agent.gate import Gate


class RunRequested(Message):
    """The person wants this task done there; ``resume`` is the run to go on with, if it is not a new one."""

    def __init__(self, task: str, repo: Path, resume: str = "") -> None:
        super().__init__()
        self.task, self.repo, self.resume = task, repo, resume


class RunHandle(Protocol):
    """One run that has not begun yet. Execute it once, then say what becomes of its change."""

    async def execute(self) -> RunFinished:
        """Do the work. Emits RunStarted first, and DiffReady and RunFinished last, whatever happens."""
        ...

    def stop(self, why: str = "") -> None:
        """Stop soon: at the next decision, breaking off a call or command that is under way. ``why`` is a sentence where it
        was not the person's wish."""
        ...

    async def apply(self) -> tuple[bool, str]:
        """Bring the change into the person's files, whole or not at all. Returns whether it was, and a sentence.

        Emits DiffResolved when it was."""
        ...

    async def keep(self) -> str:
        """Leave the change on its branch; a sentence that says where. Emits DiffResolved."""
        ...

    async def discard(self) -> str:
        """Delete the branch; a sentence. Emits DiffResolved."""
        ...

    async def pick(self, number: int) -> tuple[bool, str]:
        """Take another of the edits that make the checks pass. Returns whether it was done, and a sentence.

        Emits RepairChosen and DiffReady when it was."""
        ...

    def listen(self, listener: Callable[[Envelope], None]) -> None:
        """``listener`` hears every event after it was committed, on the event loop's thread."""
        ...

    def watch(self, onlooker: Callable[[CallProgress], None]) -> None:
        """``onlooker`` is told what a text has come to while the model writes it, a few times a second."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and files. Called once, when nothing more is asked of it."""
        ...


class StartRun(Protocol):
    """Makes a run ready. Whatever can be refused is refused here, before anything is changed."""

    async def __call__(self, task: str, repo: Path, config: Config, *, gate: Gate, resume: str = "") -> RunHandle:
        """The handle of a new run, or with ``resume`` (its id) of an earlier one that goes on.

        Raises:
            Exception: its text says what is wrong, as a sentence for the person; a ``hint`` attribute says what to do.
        """
        ...


@dataclass(frozen=True)
class ModelState:
    """Whether the models can answer. ``hint`` says what to do; ``can_fetch`` whether fetching would help."""

    ok: bool
    text: str
    hint: str = ""
    can_fetch: bool = False


@dataclass(frozen=True)
class FetchProgress:
    """How far a download has come: bytes (``total`` 0 when unknown) and what is being done."""

    done: int
    total: int
    text: str = ""


@dataclass(frozen=True)
class DemoTask:
    """A ready-made task."""

    name: str
    title: str
    task: str
    language: str = ""


@dataclass(frozen=True)
class RecentRun:
    """An earlier run as the list shows it; ``started`` is ISO 8601, ``undecided`` says that its change waits for a decision,
    ``resumable`` that it never said how it ended and that its place is still there."""

    run_id: str
    task: str
    repo: str
    status: str = ""
    started: str = ""
    calls: int = 0
    seconds: float = 0.0
    undecided: bool = False
    resumable: bool = False


async def _unknown_model() -> ModelState:
    return ModelState(False, "The model was not checked.")


async def _cannot_fetch(progress: Callable[[FetchProgress], None]) -> None:
    raise RuntimeError("Fetching models is not set up here.")


async def _no_prediction(task: str, repo: Path) -> int | None:
    return None


@dataclass
class Services:
    """What the application can do, as functions. Only ``start_run`` has no stand-in."""

    start_run: StartRun
    load_config: Callable[[Path], Config] = lambda repo: Config()
    model_state: Callable[[], Awaitable[ModelState]] = _unknown_model
    pull_model: Callable[[Callable[[FetchProgress], None]], Awaitable[None]] = _cannot_fetch
    predicted_calls: Callable[[str, Path], Awaitable[int | None]] = _no_prediction
    demos: Callable[[], list[DemoTask]] = list
    prepare_demo: Callable[[str], Path] = Path
    recent_runs: Callable[[Path], list[RecentRun]] = lambda repo: []
    call_texts: Callable[[Path, int], CallTexts | None] = lambda repo, call_id: None
    clock: Callable[[], float] = time.monotonic
    extra: dict[str, Any] = field(default_factory=dict)
