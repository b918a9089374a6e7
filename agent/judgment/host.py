"""What a judgment needs of the run that it is made in. ``agent.context.RunContext`` is one; judgment does not import it."""

from __future__ import annotations

from typing import Protocol

from agent.audit.log import AuditLog
from agent.config.schema import Config
from agent.events import Event
from agent.gate import Gate
from agent.models.concurrency import Flight
from agent.models.types import ModelTarget, ProgressCallback, Provider
from agent.verdict.threshold import Thresholds


class Router(Protocol):
    """Which model answers a stage (``agent/models/router.py``)."""

    def escalated(self, stage: str, failed: int) -> ModelTarget:
        """The model that writes after ``failed`` versions."""
        ...

    def target(self, stage: str) -> ModelTarget:
        """The stage's model and limits."""
        ...

    def provider(self, target: ModelTarget) -> Provider:
        """The pooled provider that speaks to it."""
        ...

    def flight(self, target: ModelTarget) -> Flight:
        """The slots at its server."""
        ...

    async def aclose(self) -> None:
        """Close connections and end child processes."""
        ...


class Examples(Protocol):
    """The labelled examples that a stage's yes/no questions begin with."""

    def __call__(self, stage: str, system: str) -> str:
        """The text before the task context, the same for every item of a run; "" for none."""
        ...


class Host(Protocol):
    """A run, as seen by its judgments."""

    run_id: str
    config: Config
    log: AuditLog
    router: Router
    gate: Gate
    thresholds: Thresholds
    examples: Examples

    def emit(self, event: Event) -> None:
        """Log an event and tell the listeners."""
        ...

    def notice(self, level: str, text: str, stage: str = "") -> None:
        """A sentence for the person."""
        ...

    def next_call(self) -> int:
        """The next call's number in the run, from 1."""
        ...

    def live(self, call_id: int) -> ProgressCallback | None:
        """The callback for a call's answer while it is written; None where nothing watches."""
        ...
