"""Checks, the diff and what waits for a person, folded into the state."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.state.shown import Shown


def _checks_started(state: Shown, e: ev.ChecksStarted) -> None:
    state.checks_running = e.command
    state.activity = "testing"


def _checks(state: Shown, e: ev.ChecksRun) -> None:
    state.baseline, state.checks_running = e.baseline, ""
    if e.now is not None:
        state.checks, state.newly_passing, state.newly_failing = e.now, e.newly_passing, e.newly_failing


def _diff(state: Shown, e: ev.DiffReady) -> None:
    state.diff = e


def _diff_resolved(state: Shown, e: ev.DiffResolved) -> None:
    state.diff_choice = e.choice


def _gate_waiting(state: Shown, e: ev.GateWaiting) -> None:
    state.waiting = e
    state.activity = "waiting for you"


def _gate_resolved(state: Shown, e: ev.GateResolved) -> None:
    state.waiting = None
    state.activity = "judging"


HANDLERS: dict[type, Callable[..., None]] = {
    ev.ChecksStarted: _checks_started,
    ev.ChecksRun: _checks,
    ev.DiffReady: _diff,
    ev.DiffResolved: _diff_resolved,
    ev.GateWaiting: _gate_waiting,
    ev.GateResolved: _gate_resolved,
}
