"""A recorded run, played again: through the same fold and the same screen as when it was live."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from agent.audit.history import fold
from agent.events import Envelope, Event, encode_event
from screens import STYLES
from screens.actions import LIVE_ONLY, bindings
from screens.history.jump_dialog import JumpDialog
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.runner import Services
from screens.text import LABEL, MUTED, duration, line

SPEEDS = (1.0, 10.0, 100.0, float("inf"))
_TICK = 1 / 15


class Replay:
    """Where a replay stands. ``position`` events of ``envelopes`` are folded into ``session.state``."""

    def __init__(self, session: RunSession, envelopes: list[Envelope], position: int | None = None) -> None:
        self.session = session
        self.envelopes = envelopes
        self.position = 0
        self.t = 0.0
        self.speed = 1
        self.playing = False
        self.seek(len(envelopes) if position is None else position)

    def seek(self, position: int) -> list[Event]:
        """Go to where ``position`` events have happened. Returns the events that were folded in on the way forwards."""
        position = max(0, min(position, len(self.envelopes)))
        if position < self.position:
            self.session.state = fold(self.envelopes[:position])
            came: list[Event] = []
        else:
            new = self.envelopes[self.position : position]
            fold(new, self.session.state)
            came = [envelope.event for envelope in new]
        self.position = position
        self.t = self.envelopes[position - 1].t if position else 0.0
        return came

    def advance(self, seconds: float) -> list[Event]:
        """Let ``seconds`` pass at the present speed."""
        pace = SPEEDS[self.speed]
        if pace == float("inf"):
            came = self.seek(len(self.envelopes))
        else:
            target = self.t + seconds * pace
            came = self.seek(bisect_right(self.envelopes, target, lo=self.position, key=lambda envelope: envelope.t))
            self.t = max(target, self.t)
        if self.at_end:
            self.playing = False
            self.t = self.length
        return came

    @property
    def length(self) -> float:
        """Seconds from the first event to the last."""
        return self.envelopes[-1].t if self.envelopes else 0.0

    @property
    def at_end(self) -> bool:
        """Whether everything has been played."""
        return self.position >= len(self.envelopes)

    def toggle(self) -> None:
        """Play on, or pause; from the end it starts again."""
        if not self.playing and self.at_end:
            self.seek(0)
        self.playing = not self.playing

    def find(self, wanted: str) -> int | None:
        """The position right after the event that ``wanted`` means: a number, a time such as ``12s`` or ``1m05s``, or a
        word in the next event that holds it (from here on, then from the start)."""
        wanted = wanted.strip()
        if wanted.isdigit():
            return min(int(wanted), len(self.envelopes))
        minutes = re.fullmatch(r"(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", wanted)
        if minutes and wanted and (minutes[1] or minutes[2]):
            target = 60 * int(minutes[1] or 0) + float(minutes[2] or 0)
            return bisect_right(self.envelopes, target, key=lambda envelope: envelope.t)
        word = wanted.lower().encode()
        places = list(range(len(self.envelopes)))
        for place in places[self.position :] + places[: self.position]:
            if word and word in encode_event(self.envelopes[place].event).lower():
                return place + 1
        return None

    def bar(self) -> Content:
        """One line: what is played, how far, how fast."""
        pace = SPEEDS[self.speed]
        speed = "at once" if pace == float("inf") else f"{pace:.0f}×"
        mark = "▶ playing" if self.playing else "■ at its end" if self.at_end else "‖ paused"
        said = f"  event {self.position}/{len(self.envelopes)} · {duration(self.t)} of {duration(self.length)} · {speed}"
        keys = "   + − speed  . , event"
        return line(("replay ", LABEL), mark, (said, "bold"), (keys, MUTED))


class ReplayScreen(RunScreen):
    """The run screen over a recording."""

    CSS_PATH = [STYLES / "run.tcss", STYLES / "learning.tcss"]  # type: ignore[assignment]
    BINDINGS = bindings("replay")
    ACTION_GROUP = "replay"

    def __init__(self, replay: Replay, services: Services) -> None:
        super().__init__(replay.session, services)
        self.replay = replay
        self._ticked = services.clock()
        self._played = False

    def compose(self) -> ComposeResult:
        """The run screen with a line that says where the replay stands."""
        yield Static(self.replay.bar(), id="replay-bar", markup=False)
        yield from super().compose()

    def on_mount(self) -> None:
        """Listen to the clock."""
        self.set_interval(_TICK, self._play_on)

    def _play_on(self) -> None:
        now = self.services.clock()
        passed, self._ticked = now - self._ticked, now
        if self.replay.playing:
            self._show(self.replay.advance(max(passed, 0.0)))

    def _show(self, events: list[Event]) -> None:
        self.query_one("#replay-bar", Static).update(self.replay.bar())
        self.refresh_state(events)
        if self.replay.playing != self._played:
            self._played = self.replay.playing
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What would need a live run is not offered."""
        if action in LIVE_ONLY and not (action == "choose" and self.session.deciding):
            return False
        return super().check_action(action, parameters)

    def turned(self, action_id: str) -> bool:
        """While it plays, the key pauses; and it was not opened from Home."""
        if action_id == "replay.play":
            return self.replay.playing
        return action_id == "run.back" or super().turned(action_id)

    def action_play(self) -> None:
        """Play on or pause."""
        self._ticked = self.services.clock()
        self.replay.toggle()
        self._show([])

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        self.replay.speed = max(0, min(self.replay.speed + by, len(SPEEDS) - 1))
        self._show([])

    async def action_event(self, by: int) -> None:
        """One event forwards or back."""
        await self._go(self.replay.position + by)

    def action_jump(self) -> None:
        """Ask where to."""

        def asked(wanted: str | None) -> None:
            if not wanted:
                return
            place = self.replay.find(wanted)
            if place is None:
                self.app.notify(f"No event of this run holds {wanted!r}.", severity="warning", markup=False)
                return
            self.run_worker(self._go(place), group="replay", exclusive=True, exit_on_error=False)

        self.app.push_screen(JumpDialog(len(self.replay.envelopes)), asked)

    async def _go(self, place: int) -> None:
        self.replay.playing = False
        came = await asyncio.to_thread(self.replay.seek, place)
        if self.narrow and not self.panel.pinned and self.session.state.diff is None:
            self._put_calls_on_top(True)  # back from the end, where the diff was brought to the front
        self._show(came)
