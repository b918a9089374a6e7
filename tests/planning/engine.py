"""A run whose models are a scripted server over real HTTP; everything else is the engine's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agent.events import CallStarted, Event
from tests.fakes.context import Recorded, run_context
from tests.fakes.server import ScriptedServer

E = TypeVar("E", bound=Event)


class Engine:
    """A run context and its server."""

    def __init__(self, ctx: Recorded, server: ScriptedServer) -> None:
        self.ctx = ctx
        self.server = server

    @property
    def events(self) -> list[Event]:
        """Everything emitted and committed so far."""
        return self.ctx.events

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
    async with (
        ScriptedServer(script) as server,
        run_context(tmp_path, server, orchestrator=orchestrator, models={"concurrency": 4}) as ctx,
    ):
        yield Engine(ctx, server)


def as_json(value: Any) -> str:
    """A reply in JSON."""
    return msgspec.json.encode(value).decode()
