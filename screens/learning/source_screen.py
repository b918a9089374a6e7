"""The source that a question was about, whole: what the model did not see may be what decides."""

from __future__ import annotations

import re
from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from screens import STYLES
from screens.code import code_lines
from screens.lines import LinesView
from screens.text import MUTED, WARN, line, one_line

_LARGEST = 400_000
"""Bytes of a file that are read."""


class SourceScreen(ModalScreen[None]):
    """``item`` is ``path``, ``path:symbol`` or two paths; the first symbol of that name comes into sight."""

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
        lines, place = source_lines(self.repo, self.item)
        view.fold = False
        view.set_lines(lines)
        view.focus()
        self.call_after_refresh(view.scroll_to, y=max(0, place - 2), animate=False)

    def action_close(self) -> None:
        """Back to the card."""
        self.dismiss()


def source_lines(repo: Path, item: str) -> tuple[list[Content], int]:
    """The lines of the file that an item names, numbered, and the line (from 0) of its symbol."""
    words = [word.strip(",;()") for word in item.split()]
    for word in [item, *words]:
        path, _, symbol = word.partition(":")
        file = repo / path
        if path and file.is_file() and file.resolve().is_relative_to(repo.resolve()):
            break
    else:
        return [line((f"{one_line(item)} names no file of {repo} as it is now.", WARN))], 0
    text = file.read_bytes()[:_LARGEST].decode("utf-8", "replace")
    name = symbol.rpartition(".")[2]
    found = re.search(rf"^[^\n]*\b{re.escape(name)}\b\s*[({{:=]", text, re.M) if name else None
    place = text.count("\n", 0, found.start()) if found else 0
    rows = code_lines(text, path)
    wide = len(str(len(rows)))
    return [line((f"{number:>{wide}} ", MUTED), row) for number, row in enumerate(rows, 1)], place
