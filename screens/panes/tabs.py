"""The panel on the right: one pane at a time, its tabs in the border, following the action unless pinned."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from agent import events as ev
from agent.state.run_state import RunState
from screens.actions import PANES
from screens.panes.adjust import Adjust
from screens.panes.base import Pane
from screens.panes.cascade import Cascade
from screens.panes.checks import Checks
from screens.panes.compile import Compile
from screens.panes.diff import Diff
from screens.panes.log import Log
from screens.panes.plan import Plan
from screens.text import MUTED, line

_PANES: tuple[type[Pane], ...] = (Cascade, Compile, Plan, Adjust, Diff, Checks, Log)


def pane_for(event: ev.Event) -> str:
    """The tab that an event makes interesting, or ""."""
    match event:
        case ev.FileScoped() | ev.CascadePass() | ev.SymbolClassified() | ev.ContextAssembled():
            return "cascade"
        case ev.CallFinished() if event.stage.startswith(("precision", "scope")):
            return "cascade"
        case ev.ErrorClassified() | ev.IncludeAdded() | ev.RecoveryDone():
            return "compile"
        case ev.CompileFinished() if not event.ok:
            return "compile"
        case ev.PlanMade() | ev.StepStarted() | ev.FunctionImplemented() | ev.FunctionFailed():
            return "plan"
        case ev.FunctionStarted() if event.attempt == 1:
            return "plan"
        case ev.AdjustmentStarted() | ev.ViabilityVerdict() | ev.RootCauseVerdict() | ev.PlanAdjusted():
            return "adjust"
        case ev.ChecksStarted() | ev.ChecksRun():
            return "checks"
        case ev.DiffReady():
            return "diff"
        case ev.Notice() if event.level == "error":
            return "log"
    return ""


_SHORT = {"cascade": "Casc", "compile": "Comp", "adjust": "Adj", "checks": "Chk"}


_WAYS = (("{n} ", 9, 2), ("{n} ", 9, 1), ("{n}", 9, 1), ("", 9, 1), ("{n} ", 4, 1), ("{n}", 0, 1))
"""Ways to write the tabs, the roomiest first: the key before the name, letters of the name, cells between two."""


def _label(name: str, key: str, letters: int) -> tuple[str, str]:
    """Key and name of a tab."""
    number = "0" if name == "calls" else str(PANES.index(name) + 1)
    title = name.title() if letters > 4 else _SHORT.get(name, name.title()) if letters else ""
    return (key.format(n=number) if title else number), title


class TabPanel(Container):
    """Holds the panes. ``calls`` is a tab of its own only on a narrow screen, where the call list is one of the panes."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.tab = name

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.current = "cascade"
        self.pinned = False
        self.narrow = False
        self.calls_on_top = False
        self._spans: list[tuple[int, int, str]] = []

    def compose(self) -> ComposeResult:
        """All panes; one is displayed."""
        for name, pane in zip(PANES, _PANES, strict=True):
            yield pane(id=f"pane-{name}")

    def on_mount(self) -> None:
        """Show the first tab."""
        self._switch()

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        return self.query_one(f"#pane-{self.current}", Pane)

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front."""
        if name != self.current:
            self.current = name
            self._switch()

    def set_pinned(self, pinned: bool) -> None:
        """Keep the tab, or follow the action."""
        self.pinned = pinned
        self._title()

    def set_place(self, narrow: bool, calls_on_top: bool) -> None:
        """On a narrow screen the calls are a tab too; then the panel may be covered by it."""
        self.narrow, self.calls_on_top = narrow, narrow and calls_on_top
        self._switch()

    def update_state(self, state: RunState, events: Iterable[ev.Event] = ()) -> None:
        """Hand the state down; follow the action."""
        wanted = ""
        for event in events:
            wanted = pane_for(event) or wanted
        if wanted and not self.pinned:
            self.show_tab(wanted)
        for pane in self.query(Pane):
            pane.update_state(state)

    def _switch(self) -> None:
        for pane in self.query(Pane):
            on_top = pane.id == f"pane-{self.current}"
            pane.display = on_top
            pane.set_on_top(on_top and not self.calls_on_top)
        self._title()

    def on_resize(self) -> None:
        """The titles follow the width."""
        self._title()

    def tab_titles(self, width: int) -> Content:
        """The tabs as one line. When they do not fit, first the gaps go, then the keys, then letters of the names, of that
        in front last."""
        names = ["calls", *PANES] if self.narrow else list(PANES)
        front = "calls" if self.calls_on_top else self.current
        for key, letters, gap in _WAYS:
            labels = [_label(name, key, 9 if name == front else letters) for name in names]
            if sum(len(number) + len(title) for number, title in labels) + gap * (len(labels) - 1) <= width:
                break
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
