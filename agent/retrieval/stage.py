"""The frame of a stage: started, finished with counts and time, and the gate at its edge."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agent.events import StageFinished, StageStarted

if TYPE_CHECKING:
    from agent.context import RunContext


@asynccontextmanager
async def stage(ctx: RunContext, name: str, total: int | None = None, title: str = "") -> AsyncIterator[dict[str, int]]:
    """Yields the counts that its end will tell. After an error there is no end: the run says what happened."""
    ctx.emit(StageStarted(name, total, title))
    began = time.perf_counter()
    counts: dict[str, int] = {}
    yield counts
    ctx.emit(StageFinished(name, round((time.perf_counter() - began) * 1000, 1), counts))
    await ctx.gate.stage_edge(name)
