"""The frame around a stage of judgments: its start, its counts, its end, and the gate at its edge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.context import RunContext
from agent.events import StageFinished, StageStarted


@asynccontextmanager
async def stage(ctx: RunContext, name: str, total: int, title: str = "") -> AsyncIterator[dict[str, int]]:
    """StageStarted, the block, StageFinished with the counts that the block put into the dictionary, the gate.

    Raises:
        Stopped: if the person stops the run at the stage's end.
    """
    counts: dict[str, int] = {}
    began = ctx.clock()
    ctx.emit(StageStarted(name, total, title))
    yield counts
    ctx.emit(StageFinished(name, round((ctx.clock() - began) * 1000, 1), counts))
    await ctx.gate.stage_edge(name)
