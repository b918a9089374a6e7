"""Where a run is to stop: the breakpoints that are set, one to add, any to take out."""

from __future__ import annotations

import fnmatch

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.gate import Breakpoint
from agent.stages import STAGES, binary_stages, stage_named
from screens import STYLES
from screens.text import LABEL, MUTED, WARN, line, stage_short


class BreakpointDialog(ModalScreen["list[Breakpoint]"]):
    """Dismisses with the breakpoints as they are listed: what is taken out is out, however the dialog is left."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape", "leave", "Close", show=False)]

    def __init__(self, current: list[Breakpoint], stage: str = "", item: str = "") -> None:
        super().__init__()
        self.points, self.item = list(current), item
        self.stage = stage_short(stage) if stage in binary_stages() else ""

    def compose(self) -> ComposeResult:
        """What is set already, then stage and item globs and a band of P(yes) for another."""
        with Vertical(classes="dialog", id="breakpoints"):
            yield Static("Stop the run at…", markup=False, classes="question")
            yield Static("", markup=False, id="points-title")
            yield PointList(id="points", markup=False, compact=True)
            yield Static(
                "Stops before a decision whose question and item match. * stands for anything; a plain word is looked for"
                " anywhere in the item.",
                markup=False, classes="explanation",
            )  # fmt: skip
            yield Input(self.stage, placeholder="question, such as relevant? or bug? (empty: any)", id="stage",
                        compact=True)  # fmt: skip
            yield Input(self.item, placeholder="item, such as can_fit (empty: any)", id="item", compact=True)
            yield Input(
                placeholder="only when P(yes) is between, such as 0.4-0.6; or: defaulted", id="when", compact=True
            )
            yield Static(_names(), markup=False, id="fault")
            with Horizontal(classes="buttons"):
                yield Button("Add", id="add", variant="primary", compact=True)
                yield Button("Remove", id="remove", compact=True)
                yield Button("Remove all", id="clear", compact=True)
                yield Button("Close", id="close", compact=True)

    def on_mount(self) -> None:
        """Start typing at once; with breakpoints set, the list is one tab before."""
        self._show()
        self.query_one(".dialog").border_subtitle = Content("enter adds · escape closes")
        self.query_one("#stage").focus()

    @property
    def shown(self) -> OptionList:
        """The breakpoints."""
        return self.query_one("#points", OptionList)

    def _show(self) -> None:
        points = self.shown
        place = points.highlighted or 0
        points.clear_options()
        points.add_options([Option(line(("‖ ", WARN), describe(point))) for point in self.points])
        points.display = bool(self.points)
        title = self.query_one("#points-title", Static)
        title.display = bool(self.points)
        title.update(line(("set now", LABEL), ("  d takes the chosen one out", MUTED)))
        if self.points:
            points.highlighted = min(place, len(self.points) - 1)
        self.query_one("#remove", Button).disabled = not self.points
        self.query_one("#clear", Button).disabled = not self.points

    def take_out(self) -> None:
        """Take the chosen breakpoint out."""
        place = self.shown.highlighted
        if place is not None and place < len(self.points):
            del self.points[place]
            self._show()
            if not self.points:
                self.query_one("#stage").focus()

    def on_input_changed(self) -> None:
        """What was wrong is being mended; the names of the stages are shown again."""
        self.query_one("#fault", Static).update(_names())

    def on_input_submitted(self) -> None:
        """Enter adds."""
        self._add()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "add":
                self._add()
            case "remove":
                self.take_out()
            case "clear":
                self.points.clear()
                self.dismiss(self.points)
            case _:
                self.action_leave()

    def action_leave(self) -> None:
        """Close; what is listed is set."""
        self.dismiss(self.points)

    def _add(self) -> None:
        stage, item, when = (self.query_one(f"#{name}", Input).value.strip() for name in ("stage", "item", "when"))
        try:
            point = parse_breakpoint(stage, item, when)
        except ValueError as error:
            self.query_one("#fault", Static).update(line((str(error), WARN)) + Content("\n") + _names())
            self.query_one("#stage" if not _stops_at(stage_named(stage)) else "#when").focus()
            return
        self.dismiss([*(other for other in self.points if other != point), point])


class PointList(OptionList):
    """The breakpoints that are set."""

    BINDINGS = [Binding("d,delete,backspace", "take_out", "Remove", show=False)]

    def action_take_out(self) -> None:
        """The chosen one out."""
        screen = self.screen
        assert isinstance(screen, BreakpointDialog)
        screen.take_out()


_WILD = set("*?[")


def _names() -> Content:
    """The questions that can be stopped at, in the words the run screen uses."""
    words = (stage_short(name).replace(" ", "\N{NO-BREAK SPACE}") for name in binary_stages())
    return line(("questions  ", LABEL), ("  ".join(words), MUTED))


def _stops_at(pattern: str) -> bool:
    """Whether a yes/no stage is meant, for only those wait: an empty pattern stands for all."""
    return not pattern or any(fnmatch.fnmatchcase(name, pattern) for name in binary_stages())


def parse_breakpoint(stage: str, item: str, when: str) -> Breakpoint:
    """A breakpoint from what was typed.

    An item without a wildcard is looked for anywhere: what is asked about is shown by its name and known by file and name.

    Raises:
        ValueError: when no stage is called so, or the condition cannot be read; its text says what is expected.
    """
    said, stage = stage, stage_named(stage)
    if not _stops_at(stage):
        asked = said.rstrip("?").lower()
        if any(asked == stage_short(name) or fnmatch.fnmatchcase(name, stage) for name in STAGES):
            raise ValueError(f"{said} is not a yes/no decision, so the run would never stop there.")
        raise ValueError(f"There is no question {said}, so the run would never stop there. A file or symbol goes below it.")
    if item and not _WILD & set(item):
        item = f"*{item}*"
    if when.lower() in ("", "always"):
        return Breakpoint(stage or "*", item or "*")
    if when.lower() in ("defaulted", "default"):
        return Breakpoint(stage or "*", item or "*", defaulted=True)
    low, sign, high = when.replace("–", "-").partition("-")
    try:
        band = (float(low), float(high)) if sign else None
    except ValueError:
        band = None
    if band is None or not 0 <= band[0] <= band[1] <= 1:
        raise ValueError("The condition is two numbers from 0 to 1, such as 0.4-0.6, or the word defaulted.")
    return Breakpoint(stage or "*", item or "*", band)


def describe(point: Breakpoint) -> str:
    """A breakpoint in words."""
    stage = "any question" if point.stage == "*" else f"the question {stage_short(point.stage) or point.stage}"
    text = stage + (", any item" if point.item == "*" else f", item {point.item}")
    if point.band is not None:
        text += f", P(yes) {point.band[0]:.2f} to {point.band[1]:.2f}"
    return text + (", defaulted answers" if point.defaulted else "")
