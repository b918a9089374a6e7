"""What onlookers hear of a text while it is written, and what the log holds of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.audit.reader import LogReader
from agent.events import CallFinished, CallProgress, CallStarted
from agent.judgment.binary import run_binary_judgment
from agent.judgment.live import SECONDS_BETWEEN, LiveText
from agent.models.types import ModelError
from tests.fakes import Answer, ScriptedServer
from tests.fakes.context import Recorded, run_context

CODE = "int ring_count(const ring_buffer *rb)\n{\n    return rb->count;\n}\n" * 8


async def write(ctx: Recorded) -> str:
    return (await ctx.llm("function_implement").generate(system="s", prompt="Write it.", item="ring_count")).text


async def test_onlookers_hear_the_text_at_a_bounded_rate_and_the_log_holds_it_once(tmp_path: Path) -> None:
    async with ScriptedServer(Answer(CODE, pace=0.005)) as server, run_context(tmp_path, server) as ctx:
        heard: list[CallProgress] = []
        ctx.onlookers.append(heard.append)
        assert await write(ctx) == CODE
        await ctx.log.durable()
        assert [type(event) for event in ctx.events] == [CallStarted, CallFinished]
        finished = ctx.of(CallFinished)[0]
    assert heard and all(CODE.startswith(one.text) and one.call_id == finished.call_id for one in heard)
    assert len(heard) <= 2 + (heard[-1].seconds - heard[0].seconds) / SECONDS_BETWEEN
    assert [one.tokens for one in heard] == sorted(one.tokens for one in heard)
    assert 0 <= heard[0].waited <= heard[0].seconds
    reader = LogReader(tmp_path / ".clean_room" / "raw.sqlite")
    try:
        assert [call.raw for call in reader.calls("r1")] == [CODE]
        assert [type(envelope.event) for envelope in reader.events("r1")] == [CallStarted, CallFinished]
    finally:
        reader.close()


async def test_a_text_is_streamed_whoever_looks_on_and_a_yes_or_no_never(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server) as ctx:
        await write(ctx)
        ctx.onlookers.append(lambda progress: None)
        await write(ctx)
        keys: dict[str, Any] = {"format_item": str, "item_key": str, "stage_name": "scope"}
        await run_binary_judgment(["a"], system_prompt="s", task_context="t", llm=ctx.llm("scope"), **keys)
    assert [call.body["stream"] for call in server.calls] == [True, True, False]


async def test_an_onlooker_s_fault_costs_the_call_nothing(tmp_path: Path) -> None:
    async with ScriptedServer(CODE) as server, run_context(tmp_path, server) as ctx:
        heard: list[CallProgress] = []
        ctx.onlookers += [_fails, heard.append]
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["exception"]))
        assert await write(ctx) == CODE
    assert heard and isinstance(faults[0], ZeroDivisionError)


async def test_a_stream_that_fails_is_a_call_that_failed(tmp_path: Path) -> None:
    async with ScriptedServer(Answer(CODE, fault="garbage_line")) as server, run_context(tmp_path, server) as ctx:
        ctx.onlookers.append(lambda progress: None)
        with pytest.raises(ModelError):
            await write(ctx)
        await ctx.log.durable()
        assert "not what a model server sends" in ctx.of(CallFinished)[0].error


def _fails(progress: CallProgress) -> None:
    raise ZeroDivisionError


class _Script:
    """An answer, and a clock."""

    tokens = 0
    now = 0.0

    def so_far(self) -> str:
        return "x" * self.tokens


def test_after_a_retry_it_begins_anew_at_once() -> None:
    script, heard = _Script(), list[CallProgress]()
    live = LiveText(7, heard.append, lambda: script.now)
    for script.now, script.tokens in ((4.0, 1), (4.1, 2), (4.2, 3), (5.0, 1), (5.05, 2), (5.21, 3)):
        live(script)
    assert [(one.seconds, one.waited, one.tokens) for one in heard] == [
        (4.0, 4.0, 1), (4.2, 4.0, 3), (5.0, 5.0, 1), (5.21, 5.0, 3),
    ]  # fmt: skip
