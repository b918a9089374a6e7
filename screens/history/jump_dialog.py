"""Where to jump in a replay."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens import STYLES


class JumpDialog(ModalScreen["str | None"]):
    """An event's number, a time, or a word."""

    CSS_PATH = [STYLES / "dialogs.tcss", STYLES / "learning.tcss"]
    BINDINGS = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def compose(self) -> ComposeResult:
        """One line to type in."""
        with Vertical(classes="dialog"):
            yield Static("Jump to…", markup=False, classes="question")
            yield Static(
                f"An event from 1 to {self.count}, a time such as 12s or 1m05s, or a word: PlanMade, a stage, a symbol.",
                markup=False, classes="explanation",
            )  # fmt: skip
            yield Input(placeholder="event, time or word", id="jump", compact=True)

    def on_mount(self) -> None:
        """Start typing at once."""
        self.query_one(".dialog").border_subtitle = Content("enter jumps · escape cancels")
        self.query_one("#jump").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go there."""
        self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        """Stay."""
        self.dismiss(None)
