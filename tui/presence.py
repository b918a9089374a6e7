"""Notifications while the person looks elsewhere: the terminal's title says what goes on, and when the run waits or has
ended the bell rings and, in terminals that know it (OSC 9), a notification appears.

Nothing is written where there is no terminal of our own: in a browser, in tests, on a pipe.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from agent.events import Event, GateWaiting, RunFinished
from screens.run.session import RunSession
from screens.run.status import pill
from screens.text import one_line

_NOTIFIES = ("iTerm.app", "WezTerm", "ghostty", "vscode", "WarpTerminal")
"""Values of TERM_PROGRAM of terminals that show OSC 9 as a notification; others may print it."""


class Presence:
    """``write`` takes what goes to the terminal, ``ring`` rings its bell."""

    def __init__(self, write: Callable[[str], None], ring: Callable[[], None]) -> None:
        self._write, self._ring = write, ring
        self._title = ""
        self.looked_at = True
        """Whether the window has the focus, as far as the terminal tells."""

    def begin(self) -> None:
        """Remember the title that is there."""
        self._write("\x1b[22;2t")

    def end(self) -> None:
        """Put back the title that was there."""
        self._write("\x1b[23;2t")

    def told(self, session: RunSession, events: Iterable[Event]) -> None:
        """A run has come further."""
        state = session.state
        repo = one_line(state.repo or str(session.repo)).rstrip("/").rpartition("/")[2]
        said = pill(state)[0].partition(" · ")[0]
        self._say_title(f"{said} · {repo} · Clean Room")
        for event in events:
            if isinstance(event, GateWaiting):
                self._call(f"Clean Room waits for you: {repo}")
            elif isinstance(event, RunFinished):
                self._call(f"Clean Room: {event.status}, {repo}")

    def _say_title(self, title: str) -> None:
        if title != self._title:
            self._title = title
            self._write(f"\x1b]2;{title}\x07")

    def _call(self, text: str) -> None:
        if self.looked_at:
            return
        self._ring()
        if os.environ.get("TERM_PROGRAM") in _NOTIFIES or os.environ.get("TERM", "").startswith(("xterm-kitty", "foot")):
            self._write(f"\x1b]9;{text}\x07")
