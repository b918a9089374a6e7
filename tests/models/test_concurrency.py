"""How many calls are under way at one server: fixed, or found by measuring. A simulated server keeps simulated time."""

from __future__ import annotations

import asyncio
import heapq
from pathlib import Path

import pytest

from agent.judgment.binary import run_binary_judgment
from agent.models.concurrency import FIRST, MOST, Flight
from tests.fakes.context import run_context
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer


class Simulated:
    """A server that works on ``width`` calls at once, ``seconds`` each; more wait, or are refused beyond ``queue``."""

    def __init__(self, width: int, seconds: float = 0.2, queue: int | None = None) -> None:
        self.width, self.seconds, self.queue = width, seconds, queue
        self.now = 0.0
        self.most = self.refusals = 0

    def run(self, flight: Flight, calls: int) -> list[int]:
        """Answers so many calls, as many under way as ``flight`` allows; the limits that were in force."""
        return asyncio.run(self._run(flight, calls))

    async def _run(self, flight: Flight, calls: int) -> list[int]:
        limits: list[int] = []
        events: list[tuple[float, int, asyncio.Future[None]]] = []
        free = [0.0] * self.width

        async def call(number: int) -> None:
            async with flight.slot():
                self.most = max(self.most, flight.under_way)
                if self.queue is not None and len(events) >= self.queue:
                    self.refusals += 1
                    flight.refused()
                begin = max(self.now, heapq.heappop(free))
                heapq.heappush(free, begin + self.seconds)
                done = asyncio.get_running_loop().create_future()
                heapq.heappush(events, (begin + self.seconds, number, done))
                await done
                flight.answered()
                limits.append(flight.limit)

        tasks = [asyncio.create_task(call(number)) for number in range(calls)]
        while not all(task.done() for task in tasks):
            for _ in range(10):
                await asyncio.sleep(0)
            if events:
                self.now, _, done = heapq.heappop(events)
                done.set_result(None)
        return limits


@pytest.mark.parametrize(("width", "least", "most"), [(1, 1, 8), (8, 8, 16), (64, 64, 128)])
def test_the_limit_rises_to_what_the_server_does_at_once(width: int, least: int, most: int) -> None:
    server = Simulated(width)
    flight = Flight(None, clock=lambda: server.now)
    limits = server.run(flight, 3000)
    settled = limits[-1500:]
    assert sum(least <= limit <= most for limit in settled) > 0.8 * len(settled)
    assert 3000 / server.now >= 0.8 * width / server.seconds


def test_a_server_without_end_is_asked_as_much_as_is_allowed() -> None:
    server = Simulated(1000)
    flight = Flight(None, clock=lambda: server.now)
    server.run(flight, 4000)
    assert flight.limit == MOST == server.most


def test_refusals_halve_the_limit_once_a_burst() -> None:
    server = Simulated(64, queue=20)
    flight = Flight(None, clock=lambda: server.now)
    server.run(flight, 1500)
    assert 8 <= flight.limit <= 20 and 0 < server.refusals < 200


def test_a_fixed_number_stays_whatever_the_server_says() -> None:
    server = Simulated(64)
    flight = Flight(3, clock=lambda: server.now)
    server.run(flight, 100)
    flight.refused()
    assert flight.limit == 3 == server.most


def test_few_calls_measure_nothing() -> None:
    """A server that is asked less than it could do is not judged by that."""
    server = Simulated(64)
    flight = Flight(None, clock=lambda: server.now)
    for _ in range(20):
        server.run(flight, FIRST - 1)
    assert flight.limit == FIRST and flight.rates == {}


async def test_a_cancelled_wait_gives_its_place_back() -> None:
    flight = Flight(1)
    async with flight.slot():
        waiting = [asyncio.create_task(flight._enter(flight._waiting)) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    await waiting[1]
    assert flight.under_way == 1


async def test_a_server_that_refuses_is_asked_less(tmp_path: Path) -> None:
    """Over HTTP: a 429 now and then; every item gets its answer all the same."""
    seen: list[RecordedCall] = []

    def script(call: RecordedCall) -> Answer:
        refused = len(seen) % 9 == 4
        seen.append(call)
        return Answer("", status=429) if refused else Answer("yes")

    async with ScriptedServer(script) as server, run_context(tmp_path, server, models={"concurrency": "auto"}) as ctx:
        llm = ctx.llm("scope")
        verdicts, omitted = await run_binary_judgment(
            list(range(40)), system_prompt="Answer yes or no.", task_context="Task\n", llm=llm, format_item=str,
            item_key=lambda item: item, stage_name="scope",
        )  # fmt: skip
        assert len(verdicts) == 40 and not omitted and all(verdicts.values())
        assert llm.flight.limit < FIRST


async def test_a_patient_caller_waits_for_all_others() -> None:
    flight, order = Flight(1), []

    async def call(name: str, patient: bool) -> None:
        async with flight.slot(patient=patient):
            order.append(name)

    async with flight.slot():
        calls = [asyncio.create_task(call(name, name == "patient")) for name in ("patient", "one", "two")]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert order == ["one", "two", "patient"]
