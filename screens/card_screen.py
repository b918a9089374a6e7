"""One call with nothing folded away."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from agent.audit.reader import CallTexts
from agent.state import Call
from screens import STYLES
from screens.lines import LinesView
from screens.panes.card import call_title, card_lines


class CardScreen(ModalScreen[None]):
    """The whole card."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [
        Binding("escape,q,enter", "close", "Close", show=False),
        Binding("c", "copy", "Copy", show=False),
    ]

    def __init__(self, call: Call, texts: CallTexts | None, pending: bool | None) -> None:
        super().__init__()
        self.call, self.texts, self.pending = call, texts, pending

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with Vertical(classes="dialog wide"):
            yield LinesView(id="whole-card")

    def on_mount(self) -> None:
        """Fill it."""
        box = self.query_one(".dialog")
        box.border_title = call_title(self.call, self.app.size.width - 10)
        box.border_subtitle = Content("c copies · escape closes")
        view = self.query_one(LinesView)
        view.set_lines(card_lines(self.call, self.texts, self.pending, whole=True))
        view.focus()

    def action_copy(self) -> None:
        """Copy everything shown."""
        self.app.copy_to_clipboard(self.query_one(LinesView).plain)

    def action_close(self) -> None:
        """Close."""
        self.dismiss()
