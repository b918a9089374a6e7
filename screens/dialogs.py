"""Small questions in front of a screen: a yes/no, and where to stop."""

from __future__ import annotations

import fnmatch

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from agent.gate import Breakpoint
from agent.models.stages import STAGES
from screens import STYLES
from screens.text import MUTED, clean


class Confirm(ModalScreen[bool]):
    """A question with two answers. ``y`` and ``n`` answer it; escape means no."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("n,escape,q", "answer(False)", "No", show=False),
        Binding("left,right", "other", "Other button", show=False),
    ]

    def __init__(self, question: str, text: str = "", yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self.question, self.text, self.words = question, text, (yes, no)

    def compose(self) -> ComposeResult:
        """Question, what it means, two buttons; "no" has the focus."""
        with Vertical(classes="dialog"):
            yield Static(clean(self.question), markup=False, classes="question")
            if self.text:
                yield Static(clean(self.text), markup=False, classes="explanation")
            with Horizontal(classes="buttons"):
                yield Button(Content(f"y  {self.words[0]}"), id="yes", variant="warning")
                yield Button(Content(f"n  {self.words[1]}"), id="no")

    def on_mount(self) -> None:
        """The safe answer first."""
        self.query_one("#no").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button was chosen."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer by key."""
        self.dismiss(yes)

    def action_other(self) -> None:
        """To the other button."""
        self.focus_next()


class BreakpointDialog(ModalScreen["list[Breakpoint] | None"]):
    """Where the run should stop. Dismisses with the new list, None when nothing changes."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, current: list[Breakpoint], stage: str = "", item: str = "") -> None:
        super().__init__()
        self.current, self.stage, self.item = current, stage, item

    def compose(self) -> ComposeResult:
        """Stage and item globs, a band of P(yes), what is set already."""
        with Vertical(classes="dialog"):
            yield Static("Stop the run at…", markup=False, classes="question")
            yield Static(
                "A decision whose stage and item match. * stands for anything: precision_*, ring_buffer.h:*. A plain word"
                " is looked for anywhere in the item.",
                markup=False, classes="explanation",
            )  # fmt: skip
            yield Input(self.stage, placeholder="stage, such as precision_pass1 (empty: any)", id="stage", compact=True)
            yield Input(self.item, placeholder="item, such as can_fit (empty: any)", id="item", compact=True)
            yield Input(
                placeholder="only when P(yes) is between, such as 0.4-0.6; or: defaulted", id="when", compact=True
            )
            yield Static(self._list(), markup=False, id="set", classes="explanation")
            with Horizontal(classes="buttons"):
                yield Button("Add", id="add", variant="primary")
                yield Button("Clear all", id="clear", disabled=not self.current)
                yield Button("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Start typing at once."""
        self.query_one("#stage").focus()

    def _list(self) -> Content:
        if not self.current:
            return Content.styled("none is set", MUTED)
        return Content("\n").join([Content(f"‖ {describe(point)}") for point in self.current])

    def on_input_submitted(self) -> None:
        """Enter adds."""
        self._add()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Add, clear, cancel."""
        if event.button.id == "add":
            self._add()
        else:
            self.dismiss([] if event.button.id == "clear" else None)

    def action_cancel(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)

    def _add(self) -> None:
        stage, item, when = (self.query_one(f"#{name}", Input).value.strip() for name in ("stage", "item", "when"))
        try:
            point = parse_breakpoint(stage, item, when)
        except ValueError as error:
            self.query_one("#set", Static).update(Content(str(error)))
            self.query_one("#stage" if not _is_stage(stage) else "#when").focus()
            return
        self.dismiss([*self.current, point])


_WILD = set("*?[")


def _is_stage(pattern: str) -> bool:
    """Whether any stage is meant: an empty pattern stands for all."""
    return not pattern or any(fnmatch.fnmatchcase(name, pattern) for name in STAGES)


def parse_breakpoint(stage: str, item: str, when: str) -> Breakpoint:
    """A breakpoint from what was typed.

    An item without a wildcard is looked for anywhere: what is asked about is shown by its name and known by file and name.

    Raises:
        ValueError: when no stage is called so, or the condition cannot be read; its text says what is expected.
    """
    if not _is_stage(stage):
        raise ValueError(f"There is no stage {stage}, so the run would never stop there. A file or symbol goes below it.")
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
    text = f"stage {point.stage}, item {point.item}"
    if point.band is not None:
        text += f", P(yes) {point.band[0]:.2f} to {point.band[1]:.2f}"
    return text + (", defaulted answers" if point.defaulted else "")
