"""The panel on the right: its tabs in the border, following the action unless pinned. Where there is room a second pane
stands under the one in front; where there is not, a line under the tabs keeps the last incident in sight."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from agent import events as ev
from agent.state.records import Incident
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.panes.dwell import DWELL_SECONDS, Dwell
from screens.panes.incidents import headline, pane_of
from screens.panes.order import BY_NAME, PANES, key_of
from screens.text import MUTED, fit, line

_WAYS = (("{n} ", 9, 2), ("{n} ", 9, 1), ("{n}", 9, 1), ("", 9, 1), ("{n}", 4, 1), ("", 4, 1), ("{n}", 0, 1))
"""Ways to write the tabs, the roomiest first: the key before the name, letters of the name, cells between two."""

_LEAST_CAUSE = 8
"""Cells of its cause that a headline keeps."""


def _label(name: str, key: str, letters: int) -> tuple[str, str]:
    """Key and name of a tab."""
    whole, short, number = ("Calls", "Calls", "0") if name == "calls" else _words(name)
    title = whole if letters > 4 else short if letters else ""
    return (key.format(n=number) if title else number), title


def _cells(label: tuple[str, str]) -> int:
    return sum(map(len, label))


def _words(name: str) -> tuple[str, str, str]:
    pane = BY_NAME[name]
    return pane.title, pane.short, key_of(name)


def squeezed(told: Content, width: int) -> Content:
    """A headline ``cause → cure → outcome`` in ``width`` cells: the cause gives way, since the outcome says most."""
    if told.cell_length <= width:
        return told
    cause, *rest = told.split(" → ")
    after = Content.assemble(*((Content.styled(" → ", MUTED) + part) for part in rest))
    return fit(fit(cause, max(_LEAST_CAUSE, width - after.cell_length)) + after, width)


class TabPanel(Container):
    """Holds the panes. ``calls`` is a tab of its own only on a narrow screen, where the call list is one of the panes."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.tab = name

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.second = ""
        self.pinned = False
        self.narrow = False
        self.wide = False
        self.calls_on_top = False
        self.dwell = Dwell("cascade")
        self.incident: Incident | None = None
        self._second_since = float("-inf")
        self._spans: list[tuple[int, int, str]] = []
        self._state = RunState()
        self._made: dict[str, Pane] = {}

    def compose(self) -> ComposeResult:
        """The line of the last incident and all panes; one or two are displayed."""
        yield Static("", id="incident", markup=False)
        for pane in PANES:
            yield pane(id=f"pane-{pane.name}")

    def on_mount(self) -> None:
        """Show the first tab."""
        self._switch()

    @property
    def current(self) -> str:
        """The tab in front."""
        return self.dwell.front

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        return self._pane(self.current)

    def _pane(self, name: str) -> Pane:
        if name not in self._made:  # looked up once: this is asked eight times a flush
            self._made[name] = self.query_one(f"#pane-{name}", Pane)
        return self._made[name]

    def show_tab(self, name: str, now: float) -> None:
        """A person brings a tab to the front, at ``now`` by the session's clock."""
        if name != self.current:
            self.dwell.chosen(name, now)
            self._switch()

    def set_pinned(self, pinned: bool) -> None:
        """Keep the tab, or follow the action."""
        self.pinned = pinned
        self._title()

    def set_place(self, narrow: bool, calls_on_top: bool, wide: bool = False) -> None:
        """On a narrow screen the calls are a tab too; then the panel may be covered by it. On a wide one there are two
        panes."""
        self.narrow, self.calls_on_top, self.wide = narrow, narrow and calls_on_top, wide
        self._switch()

    def update_state(self, state: RunState, events: Sequence[ev.Event], now: float) -> None:
        """Hand the state down; follow the action."""
        self._state = state
        if not self.pinned:
            self.dwell.hear(events)
        self.follow(now)
        incident = state.incidents[-1] if state.incidents else None
        if incident is not None or self.incident is not None:
            self.incident = incident
            self._choose_second(now)
            if any(not isinstance(event, ev.CallStarted | ev.CallFinished) for event in events) or not events:
                self._show_incident()
        for name in BY_NAME:
            self._pane(name).update_state(state)

    def follow(self, now: float) -> float | None:
        """Bring forward what has waited long enough, but nothing while a view is enlarged. Returns the seconds until
        something else may be due."""
        if self.pinned or (self.is_attached and self.screen.maximized is not None):
            return None
        before = self.dwell.front
        if self.dwell.look(now) != before:
            self._choose_second(now)
            self._switch()
        return self.dwell.due(now)

    def _choose_second(self, now: float) -> None:
        """The pane under the one in front: that of the last incident, else the plan, else the funnel."""
        if self.second and self.second != self.current and now < self._second_since + DWELL_SECONDS:
            return
        wanted = [pane_of(self.incident)] if self.incident is not None else []
        wanted += ["plan"] if self._state.steps else []
        wanted += ["cascade", "log"]
        second = next(name for name in wanted if name != self.current)
        if second != self.second:
            self.second, self._second_since = second, now
            self._switch()

    def _show_incident(self) -> None:
        view = self.query_one("#incident", Static)
        view.display = self.incident is not None and not self.wide
        self.set_class(not view.display, "-quiet")
        if view.display and self.incident is not None:
            keys = line(("i ", "bold"))
            room = max(4, self.size.width - 2 - keys.cell_length)
            view.update(keys + squeezed(headline(self.incident), room), layout=False)

    def _switch(self) -> None:
        two = self.wide and not self.narrow
        if two and (not self.second or self.second == self.current):
            self.second = next(name for name in ("plan", "cascade") if name != self.current)
        focused = next((name for name in BY_NAME if self._pane(name).has_focus), "")
        for name in BY_NAME:
            pane = self._pane(name)
            first, second = name == self.current, two and name == self.second
            pane.display = first or second
            pane.set_class(second, "-second")
            pane.set_on_top((first or second) and not self.calls_on_top)
        if focused and not self._pane(focused).display:
            self.screen.set_focus(self.pane)
        if two:
            self.move_child(self._pane(self.second), after=self._pane(self.current))
        self.name_second()
        self._show_incident()
        self._title()

    def name_second(self) -> None:
        """Of two panes the second has its name above it, since the tabs mark the first."""
        for name in BY_NAME:
            pane = self._pane(name)
            if pane.has_class("-second") and not pane.has_class("-maximized"):
                pane.border_title = Content(f" {pane.title} ")
            elif not pane.has_class("-maximized"):
                pane.border_title = ""

    def on_descendant_focus(self) -> None:
        """The frame says whether keys go to a pane."""
        self._frame()

    def on_descendant_blur(self) -> None:
        """The same."""
        self._frame()

    def _frame(self) -> None:
        """A class and not ``:focus-within``, for which the styles of all panes are worked out at every move from one to
        another."""
        focused = self.screen.focused
        self.set_class(focused is not None and self in focused.ancestors, "-focused")

    def on_resize(self) -> None:
        """The titles follow the width."""
        self._title()
        self._show_incident()

    def tab_titles(self, width: int) -> Content:
        """The tabs as one line, written in the same way whichever is in front. When they do not fit, first the gaps go, then
        the keys, then letters of the names, of that in front last."""
        names = ["calls", *BY_NAME] if self.narrow else list(BY_NAME)
        front = "calls" if self.calls_on_top else self.current
        for key, letters, gap in _WAYS:
            short, whole = ([_label(name, key, size) for name in names] for size in (letters, 9))
            longer = max(_cells(one) - _cells(other) for one, other in zip(whole, short, strict=True))
            if sum(map(_cells, short)) + longer + gap * (len(names) - 1) <= width:  # whichever is in front
                break
        labels = [one if name == front else other for name, one, other in zip(names, whole, short, strict=True)]
        self._spans = []
        parts: list[Content] = []
        x = 0
        for name, (number, title) in zip(names, labels, strict=True):
            style = "bold $text-primary" if name == front else ""
            parts.append(line((number, style or MUTED), (title, style)))
            self._spans.append((x, x + len(number) + len(title), name))
            x += len(number) + len(title) + gap
        return Content(" " * gap).join(parts)

    def _title(self) -> None:
        self.border_title = self.tab_titles(self.outer_size.width - (2 if self.calls_on_top else 6))
        self.border_subtitle = Content("pinned · t follows again") if self.pinned else ""

    def on_click(self, event: events.Click) -> None:
        """A click on a tab's name."""
        if event.widget is not self or event.y != 0:
            return
        for start, end, name in self._spans:
            if start <= event.x - 2 <= end:
                self.post_message(self.Chosen(name))
                return
