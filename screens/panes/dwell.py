"""Which pane comes to the front by itself, and for how long: long enough to read it, the most important first.

A pane that was brought forward stays for at least :data:`DWELL_SECONDS`. What else would have come forward meanwhile waits:
of that the most important, and of equals the newest, is next. A pane with an incident is not put away for routine before
:data:`INCIDENT_SECONDS`.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent import events as ev
from agent.stages import stage_of
from screens.panes.base import Rank, Wish
from screens.panes.order import BY_NAME, PANES

DWELL_SECONDS = 2.5
INCIDENT_SECONDS = 6.0


def wish_of(event: ev.Event) -> tuple[str, Rank] | None:
    """The pane that an event makes interesting, and how much. A call does so by its stage's pane."""
    if isinstance(event, ev.CallFinished):
        pane = stage_of(event.stage).pane
        return (pane, 2 if event.overruled else 1) if pane and (event.overruled or pane == PANES[0].name) else None
    found = _WISHES.get(type(event))
    if found is None:
        return None
    name, wish = found
    rank = wish(event) if callable(wish) else wish
    return (name, rank) if rank is not None else None


_WISHES: dict[type[ev.Event], tuple[str, Wish]] = {
    event: (pane.name, wish) for pane in PANES for event, wish in pane.wishes.items()
}


class Dwell:
    """Decides; holds no widget. ``now`` is in seconds of any clock that does not go back."""

    def __init__(self, first: str) -> None:
        self.front = first
        self._since = float("-inf")
        self._rank: int = 1
        self._wish: tuple[str, int] | None = None
        self.settled = False
        """The end of the run has chosen its pane: nothing more comes forward by itself."""

    def hear(self, events: Iterable[ev.Event]) -> None:
        """Take in what happened."""
        for event in events:
            if isinstance(event, ev.RunStarted):
                self.settled = False
            wish = wish_of(event)
            if wish is not None and wish[0] in BY_NAME:
                self.want(*wish)

    def want(self, pane: str, rank: int) -> None:
        """``pane`` should come forward."""
        if self.settled and rank < 3:
            return
        if pane == self.front:
            self._rank = max(rank, self._rank)
            return
        if self._wish is None or rank >= self._wish[1]:
            self._wish = (pane, rank)

    def look(self, now: float) -> str:
        """The pane that should be in front now."""
        if self._wish is None:
            return self.front
        pane, rank = self._wish
        if now >= self._since + self._stay(rank):
            self._show(pane, rank, now)
        return self.front

    def due(self, now: float) -> float | None:
        """Seconds until :meth:`look` would say something else; None while nothing waits."""
        if self._wish is None:
            return None
        return max(0.0, self._since + self._stay(self._wish[1]) - now)

    def chosen(self, pane: str, now: float) -> None:
        """A person brought ``pane`` to the front."""
        self._show(pane, 1, now)

    def _stay(self, rank: int) -> float:
        return INCIDENT_SECONDS if self._rank == 2 and rank < 2 else DWELL_SECONDS

    def _show(self, pane: str, rank: int, now: float) -> None:
        self.front, self._since, self._rank, self._wish = pane, now, rank, None
