"""The gate: where a decision waits for a person.

Modes: ``run`` lets everything pass, ``step`` waits before each verdict is used, ``stage`` waits at the end of each stage.
Breakpoints stop a running run at a stage, an item, an uncertain or a defaulted answer.
"""

from __future__ import annotations

import asyncio
import fnmatch
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from agent.events import Event, GateResolved, GateWaiting

Mode = Literal["run", "step", "stage"]
Action = Literal["accept", "overrule", "skip_stage", "continue", "stop"]


class Stopped(Exception):
    """The person stopped the run. Work so far stays on its branch."""


class Breakpoint(msgspec.Struct, frozen=True):
    """Stops at a verdict whose stage and item match the globs and, if given, whose P(yes) lies in ``band`` (low, high)
    or whose answer was defaulted."""

    stage: str = "*"
    item: str = "*"
    band: tuple[float, float] | None = None
    defaulted: bool = False

    def matches(self, pending: PendingVerdict) -> bool:
        """Whether this breakpoint stops at a verdict."""
        if not (fnmatch.fnmatchcase(pending.stage, self.stage) and fnmatch.fnmatchcase(pending.item, self.item)):
            return False
        if self.band is not None and not (pending.p_yes is not None and self.band[0] <= pending.p_yes <= self.band[1]):
            return False
        return pending.defaulted or not self.defaulted


class PendingVerdict(msgspec.Struct, frozen=True):
    """A verdict that is about to be used."""

    call_id: int
    stage: str
    item: str
    verdict: bool
    p_yes: float | None = None
    defaulted: bool = False


class Gate:
    """One run's gate. ``emit`` takes the events; the interface calls :meth:`resolve`, :meth:`pause` and so on."""

    def __init__(self, emit: Callable[[Event], None] | None = None, mode: Mode = "run") -> None:
        self.emit = emit or (lambda event: None)
        self.mode: Mode = mode
        self.breakpoints: list[Breakpoint] = []
        self.stopped = False
        self._waiting: asyncio.Future[str] | None = None
        self._kind = ""
        self._overrule: Callable[[int], bool] | None = None
        self._taken: int | None = None
        self._reviewed: set[str] = set()
        self._skipped: set[str] = set()
        self.waited = 0.0
        """Seconds that a person was waited for."""

    @property
    def waiting(self) -> str:
        """What the gate waits for: ``verdict``, ``stage``, ``choice``, or "" when it does not."""
        return self._kind if self._waiting is not None else ""

    @property
    def stepping(self) -> bool:
        """Whether verdicts may have to wait, so that asking ahead should stay within the concurrency limit."""
        return self.mode == "step" or bool(self.breakpoints)

    def pause(self) -> None:
        """Wait at the next decision."""
        self.mode = "step"

    def resume(self) -> None:
        """Let everything pass from here on."""
        self.mode = "run"
        self.resolve("continue")

    def step_stage(self) -> None:
        """Run to the end of the current stage and wait there."""
        self.mode = "stage"
        self.resolve("continue")

    def stop(self) -> None:
        """Stop the run at the next decision, or now if one waits."""
        self.stopped = True
        self.resolve("stop")

    def resolve(self, action: str) -> bool:
        """Answer what is waiting. False when nothing was."""
        if self._waiting is None or self._waiting.done():
            return False
        self._waiting.set_result(action)
        return True

    def report_to(self, emit: Callable[[Event], None]) -> None:
        """Hand ``emit`` the events from now on: a gate may be made before its run."""
        self.emit = emit

    @property
    def reviews(self) -> bool:
        """Whether the verdicts of a stage wait at its end for a review."""
        return self.mode == "stage"

    async def review(self, stage: str, overrule: Callable[[int], bool]) -> None:
        """The end of a stage's verdicts, before any of them is used: the person may reverse them with :meth:`overrule`.
        ``overrule`` reverses the verdict of a call, and says whether there is such a call.

        Raises:
            Stopped: if the person stopped the run.
        """
        self._raise_if_stopped()
        self._reviewed.add(stage)
        self.emit(GateWaiting("stage", stage=stage, reason="review"))
        self._overrule = overrule
        try:
            action = await self._wait("stage")
        finally:
            self._overrule = None
        self.emit(GateResolved("stage", action, stage=stage))
        self._raise_if_stopped()

    def overrule(self, call_id: int) -> bool:
        """While a stage is reviewed: reverse the verdict of one of its calls. False when the call is not one of them."""
        return self._overrule is not None and self._overrule(call_id)

    def waits_for(self, pending: PendingVerdict) -> bool:
        """Whether a person is asked before this verdict is used."""
        return bool(self._reason(pending))

    async def verdict(self, pending: PendingVerdict) -> Action:
        """Wait for the person if the mode or a breakpoint says so. Returns ``accept`` or ``overrule``.

        Raises:
            Stopped: if the person stopped the run.
        """
        self._raise_if_stopped()
        reason = self._reason(pending)
        if not reason:
            return "accept"
        place = {"stage": pending.stage, "item": pending.item, "call_id": pending.call_id, "verdict": pending.verdict}
        self.emit(GateWaiting("verdict", reason=reason, **place))  # type: ignore[arg-type]
        action = await self._wait("verdict")
        if action == "skip_stage":
            self._skipped.add(pending.stage)
        used = (not pending.verdict) if action == "overrule" else pending.verdict
        self.emit(GateResolved("verdict", action, **{**place, "verdict": used}))  # type: ignore[arg-type]
        self._raise_if_stopped()
        return "overrule" if action == "overrule" else "accept"

    async def choice(self, stage: str, item: str, chosen: int) -> int:
        """One of several numbered candidates is about to be used: wait where a verdict of ``stage`` would. The person may
        take another one with :meth:`take`. Returns the number to use.

        Raises:
            Stopped: if the person stopped the run.
        """
        self._raise_if_stopped()
        reason = self._reason(PendingVerdict(0, stage, item, True))
        if not reason:
            return chosen
        self.emit(GateWaiting("choice", stage=stage, item=item, reason=reason))
        self._taken = None
        action = await self._wait("choice")
        self.emit(GateResolved("choice", action, stage=stage, item=item))
        self._raise_if_stopped()
        return chosen if self._taken is None else self._taken

    def take(self, number: int) -> bool:
        """While a choice waits: use this candidate. False when none waits."""
        if self.waiting != "choice":
            return False
        self._taken = number
        return self.resolve("take")

    async def pass_point(self) -> None:
        """A place between two pieces of work where a run may be stopped.

        Raises:
            Stopped: if the person stopped the run.
        """
        self._raise_if_stopped()

    async def stage_edge(self, stage: str, decided: bool = True) -> None:
        """The end of a stage. ``decided``: whether there is anything to look at; where only facts were gathered a run that
        is stepped through goes on.

        Raises:
            Stopped: if the person stopped the run.
        """
        self._raise_if_stopped()
        self._skipped.discard(stage)
        reviewed = stage in self._reviewed
        self._reviewed.discard(stage)
        if self.mode != "stage" or reviewed or not decided:
            return
        self.emit(GateWaiting("stage", stage=stage, reason="end of stage"))
        action = await self._wait("stage")
        self.emit(GateResolved("stage", action, stage=stage))
        self._raise_if_stopped()

    def _reason(self, pending: PendingVerdict) -> str:
        if any(point.matches(pending) for point in self.breakpoints) and pending.stage not in self._skipped:
            return "breakpoint"
        return "step" if self.mode == "step" and pending.stage not in self._skipped else ""

    async def _wait(self, kind: str) -> str:
        self._kind = kind
        self._waiting = asyncio.get_running_loop().create_future()
        began = time.monotonic()
        try:
            return await self._waiting
        finally:
            self.waited += time.monotonic() - began
            self._waiting = None
            self._kind = ""

    def _raise_if_stopped(self) -> None:
        if self.stopped:
            raise Stopped
