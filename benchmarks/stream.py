"""The call stream under load: 100,000 call events through the state, and key to paint while 1,000 events a second arrive.

Run it with ``python -m benchmarks.stream [--calls N] [--keys N]``. Goal: p95 of key to paint at most 50 ms.
Key to paint is the time from a key event entering the application to the end of the refresh it caused.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import sys
import time
from pathlib import Path

from agent import events as ev
from agent.config.schema import Config
from agent.events import Envelope
from agent.gate import Gate
from agent.state.run_state import RunState
from screens.panes.calls import CallStream
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.runner import RunHandle, Services
from tui.app import CraApp

MODEL = "qwen2.5-coder-1.5b"
_RATE = 1000
_TICK = 0.01


def call_events(first: int, count: int) -> list[Envelope]:
    """``count`` calls, two events each; their numbers begin at ``first``."""
    found = []
    for n in range(first, first + count):
        item, t = f"src/module_{n % 977}.c:symbol_{n}", n / 1000
        found.append(Envelope("bench", 2 * n, t, ev.CallStarted(n, "precision_pass1", item, MODEL)))
        p_yes = (n % 100) / 100
        done = ev.CallFinished(n, "precision_pass1", item, n % 3 == 0, p_yes, source="threshold", model=MODEL, ms=4.0)
        found.append(Envelope("bench", 2 * n + 1, t, done))
    return found


async def _no_run(task: str, repo: Path, config: Config, *, gate: Gate, resume: str = "") -> RunHandle:
    raise RuntimeError("the benchmark starts no run")


class BenchApp(CraApp):
    """The application over a session that the benchmark feeds."""

    def __init__(self, session: RunSession) -> None:
        super().__init__(Services(_no_run))
        self.session = session

    def on_mount(self) -> None:
        session = self.session
        assert session is not None
        session._schedule = self.set_timer
        self.call_later(self.show_session, session)


def fold(events: list[Envelope]) -> tuple[RunState, float]:
    """The state of these events and the seconds it took."""
    state = RunState()
    start = time.perf_counter()
    for envelope in events:
        state.apply(envelope)
    return state, time.perf_counter() - start


async def key_to_paint(app: CraApp, stream: CallStream, keys: int, gap: float) -> list[float]:
    """Milliseconds of each of ``keys`` cursor keys, alternating up and down, ``gap`` seconds apart."""
    found = []
    for number in range(keys):
        start, before = time.perf_counter(), stream.cursor
        app.simulate_key("up" if number % 4 < 2 else "down")
        while stream.cursor == before:
            await asyncio.sleep(0)
        painted = asyncio.Event()
        app.screen.call_after_refresh(painted.set)
        await painted.wait()
        found.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(gap)
    return found


async def feed(session: RunSession, first: int, stop: asyncio.Event) -> int:
    """1,000 events a second until told to stop. Returns how many were sent."""
    sent, begin = 0, time.perf_counter()
    events = iter(call_events(first, _RATE * 60))
    while not stop.is_set():
        due = int((time.perf_counter() - begin) * _RATE)
        for _ in range(max(0, due - sent)):
            envelope = next(events, None)
            if envelope is None:
                return sent
            session.receive(envelope)
            sent += 1
        await asyncio.sleep(_TICK)
    return sent


async def measure(calls: int, keys: int) -> list[tuple[str, str]]:
    """The rows of the table."""
    events = call_events(1, calls)
    state, seconds = fold(events)
    del events
    session = RunSession(clock=time.monotonic)
    session.state = state
    app = BenchApp(session)
    each = seconds / calls / 2 * 1e6
    rows = [(f"fold {calls:,} calls ({2 * calls:,} events)", f"{seconds:.2f} s, {each:.1f} µs an event")]
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.5)
        assert isinstance(app.screen, RunScreen)
        stream = app.screen.query_one(CallStream)
        start = time.perf_counter()
        stream.set_filter("symbol_9999")
        rows.append((f"filter {calls:,} rows", f"{(time.perf_counter() - start) * 1000:.0f} ms, {stream.count} rows"))
        stream.set_filter("")
        stream.follow_newest()
        await pilot.pause()
        quiet = await key_to_paint(app, stream, keys, 0.02)
        stop = asyncio.Event()
        feeding = asyncio.create_task(feed(session, calls + 1, stop))
        busy_from = time.process_time()
        wall = time.perf_counter()
        busy = await key_to_paint(app, stream, keys, 0.02)
        share = (time.process_time() - busy_from) / (time.perf_counter() - wall)
        stop.set()
        sent = await feeding
    rows += [
        ("key to paint, nothing arriving", _quantiles(quiet)),
        (f"key to paint, {_RATE:,} events a second", _quantiles(busy)),
        ("events fed meanwhile", f"{sent:,}; {share:.0%} of one core"),
        ("memory at its highest", f"{_megabytes():.0f} MB"),
        ("ratio p95 / goal of 50 ms", f"{_quantile(busy, 0.95) / 50:.2f}"),
    ]
    return rows


def _megabytes() -> float:
    unit = 1024**2 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def _quantiles(values: list[float]) -> str:
    return f"p50 {statistics.median(values):.1f} ms, p95 {_quantile(values, 0.95):.1f} ms (n={len(values)})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=150)
    args = parser.parse_args()
    for name, value in asyncio.run(measure(args.calls, args.keys)):
        print(f"{name:<44} {value}")


if __name__ == "__main__":
    main()
