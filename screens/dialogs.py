"""A small question in front of a screen: yes or no."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from screens import STYLES
from screens.text import clean


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
