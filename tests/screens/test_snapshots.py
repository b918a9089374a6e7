"""A few states worth looking at, pinned. Look at a changed one before updating it: ``pytest --snapshot-update``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from agent import events as ev
from tests.screens.driving import ReplayApp, home_services
from tests.screens.recorded import Recorder, failing, ring_buffer, worked_example
from tui.app import CraApp

Compare = Callable[..., bool]


def _until_read(*keys: str) -> Callable[[Pilot[Any]], Any]:
    """Press keys and wait until the card's texts have been read."""

    async def before(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause(0.2)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    return before


def _waiting() -> Recorder:
    recorder = worked_example()
    head = recorder.envelopes[:40]
    last = next(e.event for e in reversed(head) if isinstance(e.event, ev.CallStarted))
    recorder.envelopes = [e for e in head if not (isinstance(e.event, ev.CallFinished) and e.event.call_id == last.call_id)]
    verdict = bool(recorder.texts[last.call_id].verdict)
    recorder.add(ev.GateWaiting("verdict", last.stage, last.item, last.call_id, verdict, "step"))
    return recorder


def test_home(snap_compare: Compare) -> None:
    assert snap_compare(CraApp(home_services()), terminal_size=(120, 36), run_before=_until_read())


def test_cascade(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(worked_example()), terminal_size=(120, 36), run_before=_until_read("1", "0"))


def test_waiting_for_a_decision(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(_waiting(), live=True), terminal_size=(120, 36), run_before=_until_read())


def test_compile_narrow(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(ring_buffer("compile")), terminal_size=(80, 24), run_before=_until_read("2"))


def test_calls_narrow(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(worked_example()), terminal_size=(80, 24), run_before=_until_read("0", "up"))


def test_diff_wide(snap_compare: Compare) -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    assert snap_compare(app, terminal_size=(200, 50), run_before=_until_read("5"))


def test_adjust(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(failing()), terminal_size=(120, 36), run_before=_until_read("4"))


def test_help(snap_compare: Compare) -> None:
    assert snap_compare(ReplayApp(ring_buffer()), terminal_size=(80, 24), run_before=_until_read("question_mark"))
