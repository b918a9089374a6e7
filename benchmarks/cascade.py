"""How long the three passes over symbols take when the next one is asked ahead, against each waiting for the one before.

    python -m benchmarks.cascade [--symbols 120] [--in-flight 8,32,64] [--rounds 2]

The scripted server answers every question after 50 to 400 ms, the same question always alike, and says yes to six in ten.
Both ways ask the same questions; printed are the better time of each and the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from agent.judgment.ahead import Ahead
from agent.retrieval.call_budget import Allowance
from agent.retrieval.precision import classify_symbols
from agent.retrieval.types import ScopedSymbol, TaskFacts
from tests.fakes.context import run_context
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer

FASTEST, SLOWEST = 0.05, 0.4
"""Seconds of an answer."""

YES = 0.6
"""The share of questions that are answered with yes."""


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=120)
    parser.add_argument("--in-flight", default="8,32,64")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(f"{'in flight':>9} {'calls':>6} {'waiting s':>10} {'ahead s':>8} {'ratio':>6}")
    for width in map(int, options.in_flight.split(",")):
        waiting, ahead, calls = [], [], 0
        for _ in range(options.rounds):
            with patch.object(Ahead, "ask", lambda _self, _question: None):
                seconds, calls = asyncio.run(classified(options.symbols, width))
            waiting.append(seconds)
            seconds, asked = asyncio.run(classified(options.symbols, width))
            ahead.append(seconds)
            if asked != calls:
                raise SystemExit(f"{asked} calls were made when asking ahead, and {calls} without it.")
        line = f"{width:>9} {calls:>6} {min(waiting):>10.2f} {min(ahead):>8.2f}"
        print(f"{line} {min(ahead) / min(waiting):>6.2f}")


async def classified(count: int, width: int) -> tuple[float, int]:
    """Seconds and calls of the three passes over so many symbols, ``width`` calls in flight."""
    symbols = [
        ScopedSymbol("a.c", f"f{n}", "function", 1, 4, f"int f{n}(void)", rank=n) for n in range(1, count + 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ScriptedServer(answer) as server,
            run_context(Path(folder), server, models={"concurrency": width}) as ctx,
        ):
            began = time.perf_counter()
            await classify_symbols(ctx, symbols, TaskFacts("Fix the budget"), Allowance(600.0, 0, time.monotonic))
            return time.perf_counter() - began, len(server.calls)


def answer(call: RecordedCall) -> Answer:
    """By the question's digest, so that both ways get the same answers as late."""
    digest = hashlib.sha256(call.text.encode()).digest()
    latency = FASTEST + (SLOWEST - FASTEST) * digest[0] / 255
    return Answer("yes" if digest[1] < YES * 256 else "no", latency=latency)


if __name__ == "__main__":
    main()
