"""A run context whose models are a scripted server over real HTTP; everything else is the engine's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agent.audit.log import AuditLog
from agent.config import Config, merge
from agent.context import RunContext
from agent.events import CallStarted, Event
from agent.models.openai import OpenAIProvider
from agent.models.types import ModelTarget, Provider
from tests.fakes.server import ScriptedServer

E = TypeVar("E", bound=Event)


class OneServer:
    """A router that sends every stage to one server."""

    def __init__(self, base_url: str) -> None:
        self.base = ModelTarget("openai", "scripted", base_url, context_window=8192, max_tokens=1024)
        self._provider = OpenAIProvider(base_url)

    def target(self, stage: str) -> ModelTarget:
        return self.base

    def provider(self, target: ModelTarget) -> Provider:
        return self._provider

    async def aclose(self) -> None:
        await self._provider.aclose()


class Engine:
    """A run context, its server and what it emitted."""

    def __init__(self, ctx: RunContext, server: ScriptedServer) -> None:
        self.ctx = ctx
        self.server = server
        self.events: list[Event] = []
        ctx.listeners.append(lambda envelope: self.events.append(envelope.event))

    async def seen(self, kind: type[E]) -> list[E]:
        """The events of a kind so far."""
        await self.ctx.log.durable()
        return [event for event in self.events if isinstance(event, kind)]

    def stages(self) -> list[str]:
        """The stage of every call, in order."""
        return [event.stage for event in self.events if isinstance(event, CallStarted)]


@asynccontextmanager
async def engine(tmp_path: Path, script: Any, **orchestrator: Any) -> AsyncIterator[Engine]:
    """A run against a scripted server; keyword arguments go to ``[orchestrator]``."""
    config: Config = merge({"orchestrator": orchestrator, "models": {"concurrency": 4}})
    log = AuditLog(tmp_path / "raw.sqlite")
    async with ScriptedServer(script) as server:
        router = OneServer(server.base_url)
        ctx = RunContext(run_id="r1", config=config, log=log, router=router)
        try:
            yield Engine(ctx, server)
        finally:
            await router.aclose()
            await log.durable()
            log.close()


def as_json(value: Any) -> str:
    """A reply in JSON."""
    return msgspec.json.encode(value).decode()
