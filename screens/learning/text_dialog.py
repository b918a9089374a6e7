"""A line of text to type: a comment on a label, the name of a model."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from screens import STYLES
from screens.text import clean


class TextDialog(ModalScreen["str | None"]):
    """One line of text; enter keeps it, escape changes nothing."""

    CSS_PATH = [STYLES / "dialogs.tcss", STYLES / "learning.tcss"]
    BINDINGS = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, question: str, text: str = "", placeholder: str = "") -> None:
        super().__init__()
        self.question, self.text, self.placeholder = question, text, placeholder

    def compose(self) -> ComposeResult:
        """What it is about, and a line to type in."""
        with Vertical(classes="dialog"):
            yield Static(clean(self.question), markup=False, classes="question")
            yield Input(self.text, placeholder=self.placeholder, id="note", compact=True)

    def on_mount(self) -> None:
        """Start typing at once."""
        self.query_one(".dialog").border_subtitle = Content("enter keeps · escape cancels")
        self.query_one("#note").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep it."""
        self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        """Leave it as it was."""
        self.dismiss(None)
