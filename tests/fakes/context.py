"""A run context on a scripted server: real HTTP, real SQLite, the real router."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent.audit.log import AuditLog, log_path
from agent.config.schema import merge
from agent.context import RunContext
from agent.events import Envelope, Event
from agent.gate import Gate
from agent.models.router import Router
from agent.verdict.threshold import Thresholds
from tests.fakes.server import ScriptedServer


class Recorded(RunContext):
    """A context that remembers its events."""

    events: list[Event]

    def of(self, kind: type[Event]) -> list[Any]:
        """The events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def run_context(
    folder: Path,
    server: ScriptedServer,
    *,
    gate: Gate | None = None,
    thresholds: Thresholds | None = None,
    run_id: str = "r1",
    **sections: dict[str, Any],
) -> AsyncIterator[Recorded]:
    """A context whose models answer from ``server``; keyword arguments are configuration sections."""
    models = {"provider": "openai", "base_url": server.base_url, **sections.pop("models", {})}
    config = merge({"models": models, **sections})
    log = AuditLog(log_path(folder))
    log.start_run(run_id, task="t", repo=str(folder))
    ctx = Recorded(run_id=run_id, config=config, log=log, router=Router(config.models), gate=gate, thresholds=thresholds)
    ctx.events = []

    def remember(envelope: Envelope) -> None:
        ctx.events.append(envelope.event)

    ctx.listeners.append(remember)
    try:
        yield ctx
    finally:
        await ctx.log.durable()
        await ctx.router.aclose()
        log.close()
