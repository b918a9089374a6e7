"""The frame of the screens over a repository's log: title, list on the left, details on the right, a line of news."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from agent.audit.log import LogError, known_log
from agent.audit.reader import LogReader
from agent.config.errors import ConfigError
from agent.labels.queue import Filter
from screens import STYLES
from screens.keyed import KeyedScreen, KeyFooter
from screens.learning.export_dialog import ExportDialog
from screens.lines import LinesView
from screens.panes.rows import RowList
from screens.runner import Services
from screens.table import make_screen
from screens.text import LABEL, MUTED, line, one_line
from screens.workers import start


class LogScreen(KeyedScreen[None]):
    """The frame. What is read is read after the screen has appeared, so that its keys are there at once."""

    CSS_PATH = STYLES / "learning.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    NAME: ClassVar[str] = ""

    def __init__(self, services: Services, repo: Path) -> None:
        super().__init__()
        self.services, self.repo = services, repo

    @property
    def log_file(self) -> Path:
        """The repository's log; it may not be there yet."""
        return known_log(self.repo)

    def compose(self) -> ComposeResult:
        """Title on top, list and facts side by side, news and keys at the bottom."""
        yield Static("", id="learn-title", markup=False)
        yield from self.above()
        with Horizontal(id="learn-body"):
            yield from self.body()
        yield Static("", id="learn-said", markup=False)
        yield KeyFooter()

    def above(self) -> Iterable[Widget]:
        """What stands between the title and the list."""
        return ()

    def body(self) -> Iterable[Widget]:
        """List and facts."""
        raise NotImplementedError

    def name_it(self, facts: str, *more: str | tuple[str, str]) -> None:
        """The line at the top: the screen's name, then facts."""
        self.query_one("#learn-title", Static).update(line((self.NAME, f"bold {LABEL}"), "  ", (facts, MUTED), *more))

    def say(self, text: str) -> None:
        """The line above the keys."""
        if self.is_attached:
            self.query_one("#learn-said", Static).update(Content(one_line(text)))

    def export_of(self, wanted: Filter) -> None:
        """Ask how the labels of some calls are to be written."""
        self.app.push_screen(ExportDialog(self.repo, wanted))

    def action_evaluate(self) -> None:
        """Measure models on the labels."""
        self.app.push_screen(make_screen("evaluate", self.services, repo=self.repo))

    def action_back(self) -> None:
        """Leave."""
        self.dismiss()


class ListScreen(LogScreen):
    """A log screen with one list and one text about the row in front. ``ids`` are those of the two."""

    ids: ClassVar[tuple[str, str]] = ("", "")
    LIST_TITLE: ClassVar[str] = ""
    EMPTY: ClassVar[str] = ""

    def body(self) -> Iterable[Widget]:
        """The list and the text."""
        yield RowList(id=self.ids[0], empty=self.EMPTY)
        yield LinesView(id=self.ids[1])

    def on_mount(self) -> None:
        """Read the log."""
        self.rows.border_title = Content(self.LIST_TITLE)
        self.rows.heading = self.heading
        self.rows.focus()
        self.reload(self.first_key())

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(f"#{self.ids[0]}", RowList)

    @property
    def facts(self) -> LinesView:
        """The text."""
        return self.query_one(f"#{self.ids[1]}", LinesView)

    def heading(self, width: int) -> Content:
        """The names above the columns."""
        raise NotImplementedError

    def first_key(self) -> str:
        """The row to begin at."""
        return ""

    def read(self, reader: LogReader) -> Any:
        """What is shown, read in a thread.

        Raises:
            LogError, ConfigError: its sentence is shown.
        """
        raise NotImplementedError

    def take(self, found: Any, select: str) -> None:
        """Show what was read, None when there is nothing; the cursor goes to the row whose key is ``select``."""
        raise NotImplementedError

    def show_facts(self) -> None:
        """Show what the row in front is about."""
        raise NotImplementedError

    def reload(self, select: str = "") -> None:
        """Read the log again."""
        start(self, self.load, select, group="load")

    async def load(self, select: str = "") -> None:
        """Read the log and show it."""
        found, fault = None, ""
        try:
            found = await asyncio.to_thread(self.with_log, self.read) if self.log_file.is_file() else None
        except (LogError, ConfigError) as error:
            fault = str(error)
        if self.is_attached:
            self.rows.empty = fault or self.EMPTY
            self.take(found, select)

    def with_log(self, read: Any) -> Any:
        """What ``read(reader)`` returns. For a thread.

        Raises:
            LogError: the log cannot be read.
        """
        reader = LogReader(self.log_file)
        try:
            return read(reader)
        finally:
            reader.close()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        if event.rows is self.rows and not isinstance(event, RowList.Chosen):
            self.show_facts()
            self.facts.scroll_home(animate=False)

    def action_copy(self) -> None:
        """Copy the text."""
        self.app.copy_to_clipboard(self.facts.plain)
