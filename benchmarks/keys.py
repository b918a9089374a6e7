"""Key to paint for every kind of key: on a recorded run of 20,000 calls, and while a run of 200 calls is going on.

Run it with ``python -m benchmarks.keys [--calls N] [--rounds N]``. Goal: p95 at most 50 ms. The time is from the key
entering the application until what it changes is painted. The live run brings 20 calls a second, with the other events
that a run has; its compiles fail now and then, so that panes come forward.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator

from agent import events as ev
from agent.events import Envelope
from agent.values import Diagnostic, PlanStep
from benchmarks.stream import MODEL, BenchApp, _quantile, _quantiles, call_events, fold
from screens.run.screen import RunScreen
from screens.run.session import RunSession

_CALLS_A_SECOND = 20
_GOAL = 50.0
_PATIENCE = 5.0
_MOVES = 4

Times = dict[str, list[float]]
"""Milliseconds by kind of key."""


async def key_times(app: BenchApp, rounds: int) -> Times:
    """``rounds`` times: move, type a filter, take it away, show panes, enlarge one and shrink it."""
    screen = app.screen
    assert isinstance(screen, RunScreen)
    stream, panel = screen.stream, screen.panel
    found: Times = {"": [], "move": [], "filter": [], "pane": [], "enlarge": []}

    async def press(kind: str, key: str, done: Callable[[], bool]) -> None:
        start = time.perf_counter()
        app.simulate_key(key)
        while not done():
            await asyncio.sleep(0)
            if time.perf_counter() - start > _PATIENCE:
                raise TimeoutError(f"{key} had no effect ({kind})")
        painted = asyncio.Event()
        screen.call_after_refresh(painted.set)
        await painted.wait()
        found[kind].append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(0.02)

    async def silently(key: str, done: Callable[[], bool]) -> None:
        await press("", key, done)

    for _ in range(rounds):
        await silently("0", lambda: stream.has_focus)
        await silently("G", lambda: stream.cursor > _MOVES)  # a live run that began anew has few rows at first
        for key in ("up", "up", "up", "down"):
            before = stream.cursor
            await press("move", key, lambda before=before: stream.cursor != before)  # type: ignore[misc]
        await silently("slash", lambda: not stream.has_focus)
        typed = ""
        for letter in "module":
            typed += letter
            await press("filter", letter, lambda typed=typed: " ".join(stream.words) == typed)  # type: ignore[misc]
        await silently("escape", lambda: not stream.words)
        for key, name in (("1", "cascade"), ("3", "plan"), ("7", "log"), ("2", "compile")):
            await press("pane", key, lambda name=name: panel.current == name)  # type: ignore[misc]
        await press("enlarge", "z", lambda: screen.maximized is not None)
        await press("enlarge", "z", lambda: screen.maximized is None)
    del found[""]
    return found


def live_events(calls: int) -> Iterator[Envelope]:
    """A run of ``calls`` calls; the times of its events say when they are due, in seconds."""
    number = 0

    def envelope(event: ev.AnyEvent, t: float) -> Envelope:
        nonlocal number
        number += 1
        return Envelope("bench", number, t, event)

    yield envelope(ev.RunStarted("Make it fast", "."), 0.0)
    steps = tuple(PlanStep(f"s{n}", f"Write function {n}", ("src/a.c",), (f"function_{n}",)) for n in range(1, 9))
    yield envelope(ev.PlanMade(steps, "facts"), 0.0)
    wrong = Diagnostic("error", "'memset' undeclared (first use in this function)", "src/a.c", 12, 5, includes=("string.h",))
    for n in range(calls):
        t = n / _CALLS_A_SECOND
        if n % 20 == 0:
            step = steps[n // 20 % len(steps)]
            yield envelope(ev.StageStarted("precision_pass1", 20), t)
            yield envelope(ev.StepStarted(step.id, step.description), t)
            yield envelope(ev.FunctionStarted(step.target_symbols[0], "src/a.c"), t)
            yield envelope(ev.CompileFinished("src/a.c", False, (wrong,), 40.0, symbol=step.target_symbols[0]), t)
            yield envelope(ev.IncludeAdded("src/a.c", "string.h", 3, symbol=step.target_symbols[0]), t)
            yield envelope(ev.CompileFinished("src/a.c", True, (), 40.0, symbol=step.target_symbols[0]), t)
        item = f"src/module_{n % 17}.c:symbol_{n}"
        yield envelope(ev.CallStarted(n + 1, "precision_pass1", item, MODEL), t)
        done = ev.CallFinished(n + 1, "precision_pass1", item, n % 3 == 0, (n % 100) / 100, model=MODEL, ms=50.0)
        yield envelope(done, t)


async def feed(session: RunSession, stop: asyncio.Event) -> None:
    """The events of a run of 200 calls when they are due, and of another after it, until told to stop."""
    while not stop.is_set():
        begin = time.perf_counter()
        for envelope in live_events(200):
            while (wait := envelope.t - (time.perf_counter() - begin)) > 0 and not stop.is_set():
                await asyncio.sleep(min(wait, 0.05))
            if stop.is_set():
                return
            session.receive(envelope)


async def measured(calls: int, rounds: int, size: tuple[int, int]) -> Times:
    """The times on a recorded run of ``calls`` calls, or on a live one where ``calls`` is 0."""
    session = RunSession(clock=time.monotonic)
    if calls:
        session.state, _ = fold(call_events(1, calls))
    app = BenchApp(session)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.5)
        stop = asyncio.Event()
        feeding = None
        if not calls:
            feeding = asyncio.create_task(feed(session, stop))
            await asyncio.sleep(1.0)
        times = await key_times(app, rounds)
        stop.set()
        if feeding is not None:
            await feeding
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    for width, height in ((80, 24), (120, 40), (200, 60)):
        for name, calls in ((f"{args.calls:,} calls", args.calls), ("live, 200 calls", 0)):
            times = asyncio.run(measured(calls, args.rounds, (width, height)))
            every = [one for kind in times.values() for one in kind]
            share = f"{_quantile(every, 0.95) / _GOAL:.2f} of the goal"
            print(f"{f'{width}x{height}':<8} {name:<16} all      {_quantiles(every)}  {share}", flush=True)
            for kind, values in times.items():
                print(f"{'':<25} {kind:<8} {_quantiles(values)}", flush=True)


if __name__ == "__main__":
    main()
