"""One call with nothing folded away; it follows the call while that is asked, waits and is answered."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from agent import events as ev
from agent.audit.reader import CallTexts
from agent.state.records import ShownCall
from screens import STYLES
from screens.finding import FindLine
from screens.panes.card import CardView, call_title
from screens.run.session import RunSession


class CardScreen(ModalScreen[None]):
    """The whole card."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [
        Binding("escape,q,enter", "close", "Close", show=False),
        Binding("c", "copy", "Copy", show=False),
        Binding("slash", "find", "Find", show=False),
    ]

    def __init__(
        self, call: ShownCall, texts: CallTexts | None, session: RunSession, read: Callable[[int], CallTexts | None]
    ) -> None:
        super().__init__()
        self.call, self.texts, self.session, self.read = call, texts, session, read

    def compose(self) -> ComposeResult:
        """One scrolling text, and the line in which words are looked for in it."""
        with Vertical(classes="dialog wide"):
            yield FindLine()
            yield CardView(id="whole-card", whole=True)

    def on_mount(self) -> None:
        """Fill it and listen."""
        box = self.query_one(".dialog")
        box.border_title = call_title(self.call, self.app.size.width - 10)
        box.border_subtitle = Content("/ finds · c copies · escape closes")
        card = self.card
        card.read = self.read
        self.refresh_call([])
        if self.texts is not None:
            card.set_texts(self.texts)
        self.session.on_flush.append(self.refresh_call)
        self.session.on_writing.append(self._show_writing)
        self.set_interval(0.5, self._show_writing)
        card.focus()

    def on_unmount(self) -> None:
        """Stop listening."""
        if self.refresh_call in self.session.on_flush:
            self.session.on_flush.remove(self.refresh_call)
        if self._show_writing in self.session.on_writing:
            self.session.on_writing.remove(self._show_writing)

    @property
    def card(self) -> CardView:
        """What is shown."""
        return self.query_one(CardView)

    def refresh_call(self, events: list[ev.Event]) -> None:
        """Show the call as it is now."""
        if self.is_attached:
            self.call = self.session.state.call(self.call.call_id) or self.call
            self.card.show_call(self.call, self.session.pending_verdict(self.call))
            self._show_writing()

    def _show_writing(self) -> None:
        """What has come of its text, while it is written."""
        if self.is_attached:
            self.card.show_writing(self.session.writing.get(self.call.call_id), self.session.now())

    def action_copy(self) -> None:
        """Copy everything shown."""
        self.app.copy_to_clipboard(self.card.plain)

    def action_find(self) -> None:
        """Look for words in it."""
        self.query_one(FindLine).look_in(self.card, "the card")

    def action_close(self) -> None:
        """Close."""
        self.dismiss()
