"""One run as the application sees it: the folded state, the events still to be folded, and the gate's controls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast

from agent.events import CallProgress, DiffResolved, Envelope, Event, GateWaiting, RunFinished
from agent.flow.change import Choice, decide, take_back
from agent.gate import Gate
from agent.state.records import ShownCall
from agent.state.run_state import RunState
from agent.workspace import record
from screens.panes.writing import WritingNow
from screens.runner import RunHandle

FLUSH_SECONDS = 1 / 30
"""Events reach the screen in batches, at most thirty a second."""

_DONE: dict[str, Literal["applied", "kept", "discarded"]] = {"apply": "applied", "keep": "kept", "discard": "discarded"}

Flushed = Callable[[list[Event]], None]


_DOUBT = 0.15
_MOST_DOUBTFUL = 5


def _margin(call: ShownCall) -> float:
    """How far a verdict is from the opposite one: 0 for a default."""
    if call.answer.defaulted:
        return 0.0
    score = call.answer.score if call.answer.score is not None else call.answer.p_yes
    if score is None:
        return 1.0
    return abs(score - (call.answer.threshold if call.answer.threshold is not None else 0.5))


class RunSession:
    """Folds events into ``state`` in batches and tells ``on_flush`` what came. Without a handle it is a replay."""

    def __init__(
        self,
        *,
        task: str = "",
        repo: Path | None = None,
        gate: Gate | None = None,
        handle: RunHandle | None = None,
        clock: Callable[[], float],
        schedule: Callable[[float, Callable[[], None]], Any] | None = None,
        grace: float = 0.5,
    ) -> None:
        self.task = task
        self.repo = repo or Path()
        self.gate = gate or Gate()
        self.handle = handle
        self.state = RunState()
        self.on_flush: list[Flushed] = []
        self.on_writing: list[Callable[[], None]] = []
        self.writing = WritingNow()
        self.stopping = False
        self.choosing = False
        self.undecided = False
        """Of a recording: its change still waits for a decision."""
        self._resumable: bool | None = None
        self._clock = clock
        self._schedule = schedule
        self._grace = grace
        self._pending: list[Envelope] = []
        self._scheduled = False
        self._written = False
        self._heard_at = clock()
        self._prompted_at = float("-inf")

    def now(self) -> float:
        """The session's clock."""
        return self._clock()

    # -- events

    def receive(self, envelope: Envelope) -> None:
        """Take an event in; it is folded with the next batch."""
        self._pending.append(envelope)
        self._flush_soon()

    def progressed(self, progress: CallProgress) -> None:
        """A text has come further; it is shown with the next batch and folded into nothing."""
        self.writing.hear(progress, self.now())
        self._written = True
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._schedule is not None and not self._scheduled:
            self._scheduled = True
            self._schedule(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Fold what has come and tell the screens."""
        self._scheduled = False
        if self._written:
            self._written = False
            for look in list(self.on_writing):
                look()
        if not self._pending:
            return
        batch, self._pending = self._pending, []
        for envelope in batch:
            self.state.apply(envelope)
        self._heard_at = self.now()
        events: list[Event] = [envelope.event for envelope in batch]
        self.writing.follow(events, self._heard_at)
        waiting = self.state.waiting
        stopped_by_itself = waiting is not None and waiting in events and waiting.reason == "breakpoint"
        if stopped_by_itself or (self.deciding and any(isinstance(event, RunFinished) for event in events)):
            self._prompted_at = self._heard_at
        for listener in list(self.on_flush):
            listener(events)

    def broken(self, error: BaseException) -> None:
        """The run ended without saying so: fold in an end that does."""
        self.flush()
        if self.state.finished is None:
            reason = str(error) or type(error).__name__
            counts = sum(isinstance(call.verdict, bool) or call.done for call in self.state.calls)
            end = RunFinished("failed", f"The run broke off: {reason}", calls=counts, seconds=self.state.t)
            self.receive(Envelope(self.state.run_id, 0, self.state.t, end))
            self.flush()

    @property
    def live(self) -> bool:
        """Whether there is work that leaving would interrupt."""
        return self.handle is not None and self.state.finished is None

    @property
    def deciding(self) -> bool:
        """Whether the run has ended with a change and nobody has said yet what becomes of it."""
        state = self.state
        if self.handle is None and not self.undecided:
            return False
        if state.finished is None or state.finished.applied or state.diff_choice or self.choosing:
            return False
        return state.diff is not None and bool(state.diff.diff.strip())

    @property
    def resumable(self) -> bool:
        """Whether the run has ended with its place still there, so that it can go on where it stopped."""
        end = self.state.finished
        if end is None or end.status == "complete" or self.state.diff_choice:
            self._resumable = None
            return False
        if self._resumable is None:
            self._resumable = self.state.run_id in record.recorded(self.repo)
        return self._resumable

    def elapsed(self) -> float:
        """Seconds since the run began; stands still when it has ended."""
        if not self.live:
            return self.state.seconds
        return self.state.seconds + max(0.0, self._clock() - self._heard_at)

    # -- the gate

    @property
    def waiting(self) -> GateWaiting | None:
        """What the run waits for a person to say."""
        return self.state.waiting

    def pending_verdict(self, call: ShownCall | None) -> bool | None:
        """A call's verdict while it waits at the gate, otherwise None."""
        waiting = self.waiting
        return waiting.verdict if waiting is not None and call is not None and waiting.call_id == call.call_id else None

    def ready(self) -> bool:
        """False while a prompt that appeared by itself is so new that a key was probably meant for something else."""
        return self._clock() - self._prompted_at >= self._grace

    @property
    def paused(self) -> bool:
        """Whether the next decision will wait."""
        return self.gate.mode != "run"

    def toggle_pause(self) -> None:
        """Pause at the next decision, or go on."""
        if self.paused or self.waiting is not None:
            self.gate.resume()
        else:
            self.gate.pause()

    def step(self) -> None:
        """Use the decision that waits and wait at the next one."""
        self.gate.pause()
        self.gate.resolve("accept" if self.waiting and self.waiting.kind == "verdict" else "continue")

    def step_stage(self) -> None:
        """Run to the end of the stage."""
        self.gate.step_stage()

    def answer(self, right: bool) -> bool:
        """Say what the right verdict of the waiting decision is. True when it overruled the model."""
        waiting = self.waiting
        if waiting is None or waiting.kind != "verdict":
            return False
        overruled = bool(waiting.verdict) != right
        self.gate.resolve("overrule" if overruled else "accept")
        return overruled

    @property
    def reviewing(self) -> str:
        """The stage under review, whose verdicts can be reversed before they are used; "" for none."""
        waiting = self.waiting
        return waiting.stage if waiting is not None and waiting.kind == "stage" and waiting.reason == "review" else ""

    def revise(self, call: ShownCall, right: bool) -> bool:
        """Give the right answer for a call of the stage under review. True when that reversed its verdict."""
        if call.stage != self.reviewing or call.verdict is right:
            return False
        return self.gate.overrule(call.call_id)

    def doubtful(self) -> list[ShownCall]:
        """The least certain calls of the stage under review, the least certain first."""
        if not self.reviewing:
            return []
        calls = [call for call in self.state.calls if call.stage == self.reviewing and call.verdict is not None]
        return sorted((call for call in calls if _margin(call) < _DOUBT), key=_margin)[:_MOST_DOUBTFUL]

    def skip_stage(self) -> None:
        """Accept the rest of the stage."""
        if self.waiting is not None and self.waiting.kind == "verdict":
            self.gate.resolve("skip_stage")

    def stop(self, why: str = "") -> None:
        """Stop the run: at the next decision, or by breaking off what is under way. ``why`` is a sentence where it was not
        the person's wish."""
        self.stopping = True
        self.gate.stop()
        if self.handle is not None:
            self.handle.stop(why)

    # -- what becomes of the change

    async def choose(self, choice: str) -> tuple[bool, str]:
        """Apply, keep or discard the change of a finished run. Returns whether it was done, and a sentence."""
        handle = self.handle
        if not self.deciding:
            return False, "There is nothing to decide."
        self.choosing = True
        try:
            if handle is None:
                return await self._choose_later(choice)
            if choice == "apply":
                return await handle.apply()
            return True, await (handle.discard() if choice == "discard" else handle.keep())
        except Exception as error:
            return False, str(error)
        finally:
            self.choosing = False

    @property
    def may_pick(self) -> bool:
        """Whether another edit that makes the checks pass can be taken: the run is still at hand, and its change waits, or
        the run waits before it writes one."""
        repair = self.state.repair
        waits = self.deciding or self.gate.waiting == "choice"
        return self.handle is not None and waits and repair is not None and len(repair.candidates) > 1

    async def pick(self, number: int) -> tuple[bool, str]:
        """Take another edit that makes the checks pass. Returns whether it was done, and a sentence."""
        if self.handle is None or not self.may_pick:
            return False, "There is no other edit to take."
        if self.gate.take(number):
            return True, f"Edit {number} is written. What you said is kept as a label."
        self.choosing = True
        try:
            return await self.handle.pick(number)
        finally:
            self.choosing = False

    async def _choose_later(self, choice: str) -> tuple[bool, str]:
        """Decide on the change of a recorded run."""
        done, text = await decide(self.repo.resolve(), self.state.run_id, cast("Choice", choice))
        if done:
            word: Literal["applied", "kept", "discarded"] = _DONE[choice]
            self.resolved(DiffResolved(word, text))
        return done, text

    def resolved(self, event: DiffResolved) -> None:
        """Show what became of the change, which the history has logged."""
        newest = self.state.log[-1][0] if self.state.log else self.state.t
        self.receive(Envelope(self.state.run_id, 0, newest, event))
        self.flush()

    async def take_back(self) -> tuple[bool, str]:
        """Take the applied change out of the person's files again. Returns whether it was done, and a sentence."""
        try:
            done, text = await take_back(self.repo.resolve(), self.state.run_id)
        except Exception as error:
            return False, str(error)
        if done:
            self.resolved(DiffResolved("undone", text))
        return done, text

    async def close(self) -> None:
        """Let go of the run; an undecided change stays on its branch."""
        handle, self.handle = self.handle, None
        if handle is not None:
            await handle.aclose()
