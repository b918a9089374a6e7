"""Measurements, and decisions of a person."""

from __future__ import annotations

from typing import Literal

from agent.events.base import Event
from agent.values import CheckResult


class ChecksStarted(Event, frozen=True):
    """The checks are about to run: before the first change (``baseline``), or for the step ``step_id``."""

    command: str
    baseline: bool = False
    step_id: str = ""


class ChecksRun(Event, frozen=True):
    """Checks were run. The first of a run is the baseline (``now`` is None)."""

    baseline: CheckResult
    now: CheckResult | None = None
    newly_passing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    step_id: str = ""


class DiffReady(Event, frozen=True):
    """The run has a change to offer. ``added`` and ``removed`` count lines; ``protected`` are changed files that measure the
    change, such as tests."""

    diff: str
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    branch: str = ""
    protected: tuple[str, ...] = ()


class DiffResolved(Event, frozen=True):
    """What became of the diff: applied to the person's tree, kept on its branch, or discarded; undone when an applied one
    was taken back (it is on its branch then)."""

    choice: Literal["applied", "kept", "discarded", "undone"]
    detail: str = ""


class GateWaiting(Event, frozen=True):
    """The run waits for a person. ``reason`` says why, such as a breakpoint."""

    kind: Literal["verdict", "stage", "choice"]
    stage: str = ""
    item: str = ""
    call_id: int | None = None
    verdict: bool | None = None
    reason: str = ""


class GateResolved(Event, frozen=True):
    """A person, or a setting, let the run go on. ``verdict`` is the one that is used."""

    kind: Literal["verdict", "stage", "choice"]
    action: str
    stage: str = ""
    item: str = ""
    call_id: int | None = None
    verdict: bool | None = None
