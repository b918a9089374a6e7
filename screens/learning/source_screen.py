"""The whole source that a question was about, with the parts that the model did not see."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from screens import STYLES
from screens.learning.item_source import item_source, numbered
from screens.lines import LinesView
from screens.text import WARN, line, one_line


class SourceScreen(ModalScreen[None]):
    """``item`` is what the call names; the symbol comes into sight."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape,q,enter,v", "close", "Close", show=False)]

    def __init__(self, repo: Path, item: str) -> None:
        super().__init__()
        self.repo, self.item = repo, item

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        with Vertical(classes="dialog wide"):
            yield LinesView(id="source")

    def on_mount(self) -> None:
        """Read the file and go to the symbol."""
        box = self.query_one(".dialog")
        box.border_title = Content(one_line(self.item))
        box.border_subtitle = Content("as it is now · escape closes")
        view = self.query_one(LinesView)
        source = item_source(self.repo, self.item)
        none = f"{one_line(self.item)} names no file of {self.repo} as it is now."
        lines = [line((none, WARN))] if source is None else numbered(source)
        view.fold = False
        view.set_lines(lines)
        view.focus()
        self.call_after_refresh(view.scroll_to, y=max(0, (source.line if source else 0) - 3), animate=False)

    def action_close(self) -> None:
        """Back to the card."""
        self.dismiss()
