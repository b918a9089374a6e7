"""Calls a second through run_binary_judgment with the log on, against a bare httpx loop on the same scripted server.

    python -m benchmarks.throughput [--items 600] [--latency 0.005] [--in-flight 1,8,64] [--rounds 3] [--panes]
                                    [--litellm PROGRAM --backends 4]

The server answers after a fixed latency from a process of its own, so that its work is not counted as ours. Both sides send
the same bodies over one pooled client. Printed per number in flight: best rate of each side over the rounds, and the ratio
(goal 0.95 or more). With ``--panes`` the run's screen hears every event and paints meanwhile. ``--litellm`` puts a LiteLLM
proxy before several such servers: what a fleet of hosts looks like from here (goal 0.9 or more at 64 in flight).
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import secrets
import tempfile
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from agent.audit.log import AuditLog, Listener, log_path
from agent.config.schema import Config, merge
from agent.context import RunContext
from agent.judgment.binary import run_binary_judgment
from agent.models.openai import OpenAIProvider
from agent.models.router import Router
from agent.models.types import CompletionRequest
from agent.prompts import scope
from agent.prompts.task_context import task_context
from benchmarks.proxy import litellm_proxy
from benchmarks.stream import BenchApp
from screens.run.session import RunSession
from tests.fakes.server import ScriptedServer

MODEL, KEY_ENV = "coder", "CRA_BENCHMARK_KEY"
TASK = "Fix the off-by-one error in the token budget calculation that drops the last file from the context window"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=600, help="calls per measurement (at 1 in flight: a quarter)")
    parser.add_argument("--latency", type=float, default=0.005, help="the server's seconds per answer")
    parser.add_argument("--in-flight", default="1,8,64")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--panes", action="store_true", help="with the run's screen open")
    parser.add_argument("--litellm", default="", help="the program litellm, to go over its proxy")
    parser.add_argument("--backends", type=int, default=4, help="servers behind the proxy")
    options = parser.parse_args()
    key = os.environ[KEY_ENV] = f"sk-{secrets.token_hex(16)}"
    with ExitStack() as stack:
        backends = options.backends if options.litellm else 1
        urls = [stack.enter_context(serving(options.latency, plain=bool(options.litellm))) for _ in range(backends)]
        base_url = stack.enter_context(litellm_proxy(options.litellm, urls, MODEL, key)) if options.litellm else urls[0]
        head = f"{'in flight':>9} {'calls':>6} {'bare/s':>9} {'judged/s':>9} {'ratio':>6}"
        print(f"{head} {'bare CPU ms':>12} {'judged CPU ms':>14}")
        for width in map(int, options.in_flight.split(",")):
            count = options.items // 4 if width == 1 else options.items
            bare, judged = asyncio.run(measure(base_url, count, width, options.rounds, key, panes=options.panes))
            line = f"{width:>9} {count:>6} {bare.rate:>9.1f} {judged.rate:>9.1f} {judged.rate / bare.rate:>6.3f}"
            print(f"{line} {bare.cpu_ms:>12.2f} {judged.cpu_ms:>14.2f}")


class Best:
    """The best rate (calls a second) and the least processor time (ms a call) over the rounds."""

    def __init__(self) -> None:
        self.rate = 0.0
        self.cpu_ms = float("inf")

    def take(self, count: int, seconds: float, cpu: float) -> None:
        """One round."""
        self.rate = max(self.rate, count / seconds)
        self.cpu_ms = min(self.cpu_ms, 1000 * cpu / count)


class serving:
    """The scripted server in a process of its own; yields its base URL."""

    def __init__(self, latency: float, *, plain: bool = False) -> None:
        self.latency, self.plain = latency, plain

    def __enter__(self) -> str:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.latency, self.plain), daemon=True)
        self.process.start()
        url: str = ours.recv()
        return url

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.join(5)


def _serve(pipe: Connection, latency: float, plain: bool) -> None:
    async def run() -> None:
        async with ScriptedServer("yes", kind="plain" if plain else "llama", latency=latency, record=False) as server:
            pipe.send(server.base_url)
            await asyncio.Event().wait()

    asyncio.run(run())


async def measure(
    base_url: str, count: int, width: int, rounds: int, key: str = "", *, panes: bool = False
) -> tuple[Best, Best]:
    """(bare, judged), the best of ``rounds``; the two take turns so that a busy machine hits both."""
    bare, judged = Best(), Best()
    body = await body_of(base_url, width)
    for number in range(rounds):
        items = [f"src/part_{number}_{n}.py" for n in range(count)]
        judged.take(count, *await (judge_on_screen if panes else judge)(base_url, items, width))
        bare.take(count, *await bare_loop(base_url, body, items, width, key))
    return bare, judged


def configuration(base_url: str, width: int) -> Config:
    """The default configuration on the scripted server."""
    models = {
        "provider": "openai",
        "base_url": base_url,
        "coding": MODEL,
        "reasoning": MODEL,
        "concurrency": width,
        "api_key_env": KEY_ENV,
    }
    return merge({"models": models})


async def judge_on_screen(base_url: str, items: list[str], width: int) -> tuple[float, float]:
    """As :func:`judge`, with the run's screen open and hearing every event."""
    session = RunSession(clock=time.monotonic)
    async with BenchApp(session).run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.5)
        return await judge(base_url, items, width, session.receive)


async def judge(base_url: str, items: list[str], width: int, listener: Listener | None = None) -> tuple[float, float]:
    """Seconds and processor seconds for all items through the engine, with a fresh log on disk."""
    config = configuration(base_url, width)
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(log_path(Path(folder)))
        log.start_run("bench", task=TASK, repo=folder)
        ctx = RunContext(run_id="bench", config=config, log=log, router=Router(config.models))
        if listener is not None:
            ctx.listeners.append(listener)
        await ask(ctx, ["warm-up.py"])
        began, cpu = time.perf_counter(), time.process_time()
        verdicts = await ask(ctx, items)
        seconds, spent = time.perf_counter() - began, time.process_time() - cpu
        assert len(verdicts) == len(items) and all(verdicts.values())
        await log.durable()
        await ctx.router.aclose()
        log.close()
    return seconds, spent


async def body_of(base_url: str, width: int) -> dict[str, Any]:
    """The request that the engine sends to this server, with room for the item."""
    target = Router(configuration(base_url, width).models).target("scope")
    provider = OpenAIProvider(base_url)
    try:
        kind = await provider.kind(target)
    finally:
        await provider.aclose()
    return provider.body(CompletionRequest(scope.SYSTEM, "", "scope", target, yes_no=True), kind)


async def ask(ctx: RunContext, items: list[str]) -> dict[Any, bool]:
    """The judgment under measurement."""
    verdicts, _ = await run_binary_judgment(
        items,
        system_prompt=scope.SYSTEM,
        task_context=task_context(TASK),
        llm=ctx.llm("scope"),
        format_item=question,
        item_key=lambda path: path,
        stage_name="scope",
        rank=lambda path: 1,
    )
    return verdicts


def question(path: str) -> str:
    """One item."""
    return scope.item(path, 4, "python", "search match, place 3", purpose="Tracks the token budget", domain="budget")


async def bare_loop(base_url: str, body: dict[str, Any], items: list[str], width: int, key: str) -> tuple[float, float]:
    """Seconds and processor seconds for the same requests with nothing around them but a JSON parse."""
    headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=width, max_keepalive_connections=width)
    async with httpx.AsyncClient(base_url=base_url, headers=headers, limits=limits, timeout=30) as client:
        gate = asyncio.Semaphore(width)

        async def one(path: str) -> str:
            system, user = body["messages"]
            filled = {**body, "messages": [system, {**user, "content": task_context(TASK) + question(path)}]}
            async with gate:
                reply = await client.post("/v1/chat/completions", json=filled)
            text: str = reply.json()["choices"][0]["message"]["content"]
            return text

        await one("warm-up.py")
        began, cpu = time.perf_counter(), time.process_time()
        answers = await asyncio.gather(*[one(path) for path in items])
        seconds, spent = time.perf_counter() - began, time.process_time() - cpu
        assert set(answers) == {"yes"}
    return seconds, spent


if __name__ == "__main__":
    main()
