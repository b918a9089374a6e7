"""What the panes on the right have in common: what each declares of itself, and lines that are built from the folded state
only when they can be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from textual.content import Content

from agent.events import Event
from agent.state.run_state import RunState
from screens.lines import LinesView, Target

Rank = Literal[1, 2, 3]
"""The rank of an event for bringing its pane to the front: 1 routine, 2 an incident (compile error, adjustment, overrule,
repair), 3 the end."""
Wish = Rank | Callable[[Any], Rank | None]
"""A rank, or what tells it of the event; None for no wish."""


class Pane(LinesView):
    """One pane. A hidden pane only notes that something changed; it builds its lines when it is shown.

    All that is to be said of a pane stands in its class; its place among the tabs is in :mod:`screens.panes.order`.
    """

    name: ClassVar[str] = ""
    """What keys and commands call it."""
    title: ClassVar[str] = ""
    short: ClassVar[str] = ""
    """Its title where the tabs have little room; at most four letters."""
    about: ClassVar[str] = ""
    """What it shows, for the help."""
    look: ClassVar[str] = ""
    """What is offered at the end of a run that this pane explains."""
    empty: ClassVar[str] = "Nothing yet."
    wishes: ClassVar[Mapping[type[Event], Wish]] = {}
    """The events that bring it to the front."""
    incident: ClassVar[type | None] = None
    """The incidents that it tells of."""

    @staticmethod
    def headline(incident: Any, /) -> Content:
        """One of its incidents on one line."""
        raise NotImplementedError

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self.state = RunState()
        self.stale = True
        self.on_top = False
        self.toggled: set[Target] = set()
        """The parts that a person has opened or closed, against what is open by itself."""
        self._leading: dict[int, Target] = {}
        self._sticky = 0

    def update_state(self, state: RunState) -> None:
        """The state has moved on."""
        self.state = state
        self.stale = True
        if self.on_top:
            self.rebuild()

    def set_on_top(self, on_top: bool) -> None:
        """Whether a person can see this pane now."""
        self.on_top = on_top
        if on_top and self.stale:
            self.rebuild()

    def rebuild(self) -> None:
        """Build the lines anew and keep following the end if it was in view."""
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        self.stale = False
        following = self.follows_end and self.scroll_offset.y >= self.max_scroll_y - 1
        self._leading, self._sticky = {}, 0
        lines = self.build(self.state, width)
        self.set_lines(lines, self._leading, self._sticky)
        if following:
            self.scroll_end(animate=False, immediate=True)

    follows_end = False

    def leads(self, number: int, target: Target) -> None:
        """While building: the line of this number leads to ``target``."""
        self._leading[number] = target

    def keep(self, lines: int) -> None:
        """While building: the first ``lines`` lines stay in sight."""
        self._sticky = lines

    def toggle(self, target: Target) -> None:
        """Open or close a part."""
        self.toggled ^= {target}
        self.rebuild()

    def on_resize(self) -> None:
        """A new width may change what is built, not only how it is folded."""
        if self.on_top:
            self.rebuild()
        else:
            self.stale = True

    def build(self, state: RunState, width: int) -> list[Content]:
        """The lines for a state; ``width`` in cells."""
        raise NotImplementedError
