"""The gate: where a decision waits, what the person can do, and what the events say about it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent.events import Event, GateResolved, GateWaiting
from agent.gate import Breakpoint, Gate, PendingVerdict, Stopped


def pending(item: str = "a.c", **fields: Any) -> PendingVerdict:
    return PendingVerdict(**{"call_id": 1, "stage": "scope", "item": item, "verdict": True, **fields})


async def waiting_on(gate: Gate, verdict: PendingVerdict) -> "asyncio.Task[str]":
    task: asyncio.Task[Any] = asyncio.create_task(gate.verdict(verdict))
    await asyncio.sleep(0)
    return task


async def test_a_running_gate_lets_everything_pass_without_events() -> None:
    events: list[Event] = []
    gate = Gate(events.append)
    assert await gate.verdict(pending()) == "accept"
    assert events == []


async def test_a_flip_in_step_mode_is_reported_with_the_verdict_that_is_used() -> None:
    events: list[Event] = []
    gate = Gate(events.append, "step")
    task = await waiting_on(gate, pending())
    assert gate.waiting == "verdict"
    assert gate.resolve("overrule")
    assert await task == "overrule"
    assert isinstance(events[0], GateWaiting)
    assert isinstance(events[1], GateResolved) and events[1].verdict is False


async def test_skipping_to_the_end_of_a_stage_stops_again_in_the_next() -> None:
    gate = Gate(mode="step")
    task = await waiting_on(gate, pending())
    gate.resolve("skip_stage")
    await task
    assert await gate.verdict(pending("b.c")) == "accept"
    await gate.stage_edge("scope")
    again = await waiting_on(gate, pending("c.c", stage="precision_pass1"))
    assert gate.waiting == "verdict"
    gate.resolve("accept")
    assert await again == "accept"


@pytest.mark.parametrize(
    ("point", "verdict", "stops"),
    [
        (Breakpoint("scope"), pending(), True),
        (Breakpoint("precision_*"), pending(), False),
        (Breakpoint("precision_*"), pending(stage="precision_pass2"), True),
        (Breakpoint(item="*.h"), pending("ring.h"), True),
        (Breakpoint(item="*.h"), pending("ring.c"), False),
        (Breakpoint(band=(0.4, 0.6)), pending(p_yes=0.5), True),
        (Breakpoint(band=(0.4, 0.6)), pending(p_yes=0.9), False),
        (Breakpoint(band=(0.4, 0.6)), pending(), False),
        (Breakpoint(defaulted=True), pending(defaulted=True), True),
        (Breakpoint(defaulted=True), pending(), False),
    ],
)
async def test_breakpoints(point: Breakpoint, verdict: PendingVerdict, stops: bool) -> None:
    gate = Gate()
    gate.breakpoints.append(point)
    task = await waiting_on(gate, verdict)
    assert (gate.waiting == "verdict") is stops
    gate.resolve("accept")
    assert await task == "accept"


async def test_stopping_while_waiting_raises_and_every_later_decision_raises() -> None:
    gate = Gate(mode="step")
    task = await waiting_on(gate, pending())
    gate.stop()
    with pytest.raises(Stopped):
        await task
    with pytest.raises(Stopped):
        await gate.stage_edge("scope")


async def test_step_stage_waits_at_the_edge_only() -> None:
    gate = Gate(mode="stage")
    assert await gate.verdict(pending()) == "accept"
    edge = asyncio.create_task(gate.stage_edge("scope"))
    await asyncio.sleep(0)
    assert gate.waiting == "stage"
    gate.resume()
    await edge
    assert gate.mode == "run"


async def test_step_stage_goes_on_over_what_only_gathered_facts() -> None:
    gate = Gate(mode="stage")
    await gate.stage_edge("index", decided=False)
    assert gate.mode == "stage" and gate.waiting != "stage"


async def test_a_choice_waits_where_a_verdict_of_its_stage_would() -> None:
    events: list[Event] = []
    gate = Gate(events.append)
    assert await gate.choice("fitting", "1 constant, a.py:2", 1) == 1 and events == []
    gate.pause()
    steps: list[tuple[Callable[[], bool], int]] = [(lambda: gate.take(3), 3), (lambda: gate.resolve("continue"), 1)]
    for act, number in steps:
        assert not gate.take(3)
        waits = asyncio.create_task(gate.choice("fitting", "1 constant, a.py:2", 1))
        await asyncio.sleep(0)
        assert gate.waiting == "choice" and act()
        assert await waits == number
    assert [(type(one).__name__, getattr(one, "action", "")) for one in events] == [
        ("GateWaiting", ""), ("GateResolved", "take"), ("GateWaiting", ""), ("GateResolved", "continue"),
    ]  # fmt: skip
    gate.mode = "run"
    gate.breakpoints.append(Breakpoint("fitting"))
    waits = asyncio.create_task(gate.choice("fitting", "2", 2))
    await asyncio.sleep(0)
    gate.stop()
    with pytest.raises(Stopped):
        await waits


def test_resolving_when_nothing_waits_says_so() -> None:
    assert Gate().resolve("accept") is False
