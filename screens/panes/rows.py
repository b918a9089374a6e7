"""A list of rows with a cursor; only the rows on screen are made, whatever their number."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from screens.text import MUTED

RowOf = Callable[[int, int], Content]
"""(row number from 0, width in cells) to one line."""


class RowList(ScrollView, can_focus=True):
    """Shows ``count`` rows made by ``row_of``. ``heading`` is a line above them; ``empty`` is said when there are none."""

    BINDINGS = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "go(0)", "First", show=False),
        Binding("end", "go(-1)", "Last", show=False),
    ]
    DEFAULT_CSS = """
    RowList { text-wrap: nowrap; text-overflow: clip; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
              overflow-x: hidden; background: transparent; min-width: 1; }
    """

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: RowList, row: int) -> None:
            super().__init__()
            self.rows, self.row = rows, row

        @property
        def control(self) -> RowList:
            """The list it happened in."""
            return self.rows

    class Chosen(Moved):
        """A row was clicked twice."""

    def __init__(self, *, empty: str = "Nothing here.", id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = empty
        self.count = 0
        self.cursor = 0
        self.row_of: RowOf = lambda row, width: Content("")
        self.heading: Callable[[int], Content] | None = None

    @property
    def _head(self) -> int:
        return 1 if self.heading is not None else 0

    def set_rows(self, count: int, row_of: RowOf, cursor: int | None = None) -> None:
        """Replace the rows; the cursor goes to ``cursor``, or stays where it can."""
        self.count, self.row_of = count, row_of
        self.cursor = max(0, min(self.cursor if cursor is None else cursor, count - 1))
        self._measure()
        self._reveal()
        self.refresh()

    def select(self, row: int) -> None:
        """Move the cursor and tell."""
        row = max(0, min(row, self.count - 1))
        if row != self.cursor:
            self.cursor = row
            self._reveal()
            self.refresh()
            self.post_message(self.Moved(self, row))

    def action_move(self, by: int) -> None:
        """One row up or down."""
        self.select(self.cursor + by)

    def action_page(self, by: int) -> None:
        """One page up or down."""
        self.select(self.cursor + by * max(1, self._visible - 1))

    def action_go(self, row: int) -> None:
        """To the first (0) or the last (-1) row."""
        self.select(row if row >= 0 else self.count - 1)

    def on_click(self, event: events.Click) -> None:
        """The clicked row; a double click chooses it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < self._head:
            return
        row = self.scroll_offset.y + offset.y - self._head
        if 0 <= row < self.count:
            self.select(row)
            if event.chain == 2:
                self.post_message(self.Chosen(self, row))

    def on_resize(self) -> None:
        """A new width makes other rows."""
        self._measure()
        self._reveal()

    @property
    def _visible(self) -> int:
        return max(1, self.scrollable_content_region.height - self._head)

    def _measure(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self.count + self._head)

    def _reveal(self) -> None:
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        elif self.cursor >= top + self._visible:
            self.scroll_to(y=self.cursor - self._visible + 1, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the screen; the heading stays at the top."""
        width = self.scrollable_content_region.width
        if width <= 0:
            return Strip.blank(0)
        if self.heading is not None and y == 0:
            return self._strip(self.heading(width), width)
        row = self.scroll_offset.y + y - self._head
        if self.count == 0:
            said = Content.styled(self.empty, MUTED).wrap(width)
            return self._strip(said[row] if row < len(said) else Content(""), width)
        if not 0 <= row < self.count:
            return self._strip(Content(""), width)
        content = self.row_of(row, width)
        if row == self.cursor:
            style = "on $primary 40%" if self.has_focus else "on $primary 20%"
            content = (content + Content(" " * max(0, width - content.cell_length))).stylize_before(style)
        return self._strip(content, width)

    def _strip(self, content: Content, width: int) -> Strip:
        content = content.truncate(width, ellipsis=True) if content.cell_length > width else content
        strips = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False, pad=True)
        return strips[0] if strips else Strip.blank(width, self.visual_style.rich_style)
