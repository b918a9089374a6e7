"""A log of 100,000 calls: opening its run from the history, filtering its calls, and filtering them for relabelling.

Run it with ``python -m benchmarks.large_log [--calls N]``. Goals: open in 2 s, a typed key of a filter in
200 ms, 300 MB of memory. All seconds are CPU seconds of this process, threads included, so that other programs on the
machine disturb them little. What a key costs includes the painting that it causes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from agent import events as ev
from agent.audit.log import AuditLog, log_path
from agent.events import Event, encode_event
from benchmarks.stream import MODEL, _megabytes, _no_run
from screens.history.replay import ReplayScreen
from screens.history.screen import HistoryScreen
from screens.learning.relabel import RelabelScreen
from screens.panes.calls import CallStream
from screens.runner import Services
from tui.app import CraApp

TYPED = ("slash", *"symbol_99 no")
_STAGE = "precision_pass1"
_SHA = "0" * 64


def _events(calls: int) -> Iterator[Event]:
    yield ev.RunStarted("Make it fast", ".")
    yield ev.StageStarted(_STAGE, total=calls)
    for n in range(1, calls + 1):
        item, p_yes = _item(n), (n % 100) / 100
        yield ev.CallStarted(n, _STAGE, item, MODEL)
        yield ev.CallFinished(n, _STAGE, item, n % 3 == 0, p_yes, p_yes, 0.4, "threshold", model=MODEL, ms=4.0)
    yield ev.StageFinished(_STAGE)
    yield ev.RunFinished("complete", calls=calls)


def _item(n: int) -> str:
    return f"src/module_{n % 977}.c:symbol_{n}"


def write_log(repo: Path, calls: int) -> None:
    """A finished run of so many yes/no calls."""
    log = AuditLog(log_path(repo))
    connection = log.db.conn
    connection.execute("begin")
    connection.execute(
        "insert into runs (id, task, repo, started_at, status, calls) values ('big', 'Make it fast', ?, '2026-01-01', ?, ?)",
        (str(repo), "complete", calls),
    )
    connection.execute("insert into prompts (sha, text) values (?, ?)", (_SHA, "Is the symbol relevant?"))
    connection.executemany(
        "insert into events (run_id, seq, t, type, data) values ('big', ?, ?, ?, ?)",
        ((n, n / 1000, type(event).__name__, encode_event(event).decode()) for n, event in enumerate(_events(calls), 1)),
    )
    connection.executemany(
        "insert into calls (id, run_id, seq, stage, item, binary, system_sha, task_context_sha, question, raw, verdict,"
        " p_yes, score, threshold, source, model, ms, created_at)"
        f" values (?1, 'big', ?1, '{_STAGE}', ?2, 1, '{_SHA}', '{_SHA}', ?2, ?3, ?4, ?5, ?5, 0.4, 'threshold', '{MODEL}',"
        " 4.0, '2026-01-01')",
        ((n, _item(n), "yes" if n % 3 == 0 else "no", int(n % 3 == 0), (n % 100) / 100) for n in range(1, calls + 1)),
    )
    connection.execute("commit")
    log.close()


async def _until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.05)  # rarely, so that waiting is not measured


async def _painted(app: CraApp) -> None:
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def _cost(work: Callable[[], Awaitable[object]]) -> float:
    before = time.process_time()
    await work()
    return time.process_time() - before


async def _type(app: CraApp, key: str) -> None:
    app.simulate_key(key)
    await asyncio.sleep(0.05)
    await _painted(app)


async def _keys(app: CraApp) -> str:
    costs = [(await _cost(lambda key=key: _type(app, key))) * 1000 for key in TYPED][1:]  # type: ignore[misc]
    return f"p50 {statistics.median(costs):.0f} ms, max {max(costs):.0f} ms (n={len(costs)})"


async def history(repo: Path) -> list[tuple[str, str]]:
    """Opening the run from the history, then typing a filter."""
    app = CraApp(Services(_no_run))
    async with app.run_test(size=(120, 40)):
        app.push_screen(HistoryScreen(app.services, repo=repo))
        await _until(lambda: isinstance(app.screen, HistoryScreen) and app.screen.runs)

        async def opened() -> None:
            app.simulate_key("enter")
            await _until(lambda: isinstance(app.screen, ReplayScreen) and app.screen.query(CallStream))
            await _painted(app)

        seconds = await _cost(opened)
        keys = await _keys(app)
        shown = app.screen.query_one(CallStream).count
    return [("open from the history", f"{seconds:.2f} s"), (f"filter the call stream ({shown:,} left)", keys)]


async def relabelling(repo: Path) -> list[tuple[str, str]]:
    """Opening all calls for labelling, then typing a filter."""
    app = CraApp(Services(_no_run))

    def screen() -> RelabelScreen | None:
        return app.screen if isinstance(app.screen, RelabelScreen) and app.screen.item is not None else None

    async with app.run_test(size=(120, 40)):

        async def opened() -> None:
            app.push_screen(RelabelScreen(app.services, repo=repo))
            await _until(screen)
            await _painted(app)

        seconds = await _cost(opened)
        keys = await _keys(app)
        front = screen()
        shown = len(front.labels.queue) if front is not None and front.labels is not None else 0
    return [("open for relabelling", f"{seconds:.2f} s"), (f"filter to relabel ({shown:,} left)", keys)]


async def measure(calls: int) -> list[tuple[str, str]]:
    """The rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        write_log(repo, calls)
        rows = await history(repo)
        rows.append(("memory at its highest so far", f"{_megabytes():.0f} MB"))
        rows += await relabelling(repo)
        rows.append(("memory at its highest, both opened one after the other", f"{_megabytes():.0f} MB"))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    args = parser.parse_args()
    for name, value in asyncio.run(measure(args.calls)):
        print(f"{name:<44} {value}")


if __name__ == "__main__":
    main()
