"""The call stream: one row a call, painted line by line, so that its cost does not grow with the number of calls."""

from __future__ import annotations

from bisect import bisect_left

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from agent.state.records import ShownCall
from agent.state.run_state import RunState
from screens.painting import PaintedView
from screens.panes.call_row import Columns, filtered, haystack, heading, row
from screens.text import MUTED

_CACHE_ROWS = 2000
_LOOK_BACK = 64
"""Rows looked back over for the newest answer; more than are usually in flight."""


class CallStream(PaintedView, can_focus=True):
    """Rows of ``state.calls``; follows the newest until the person moves away, and says how many came since."""

    BINDINGS = [
        Binding("up", "cursor(-1)", "Up", show=False),
        Binding("down", "cursor(1)", "Down", show=False),
        Binding("pageup", "cursor_page(-1)", "Page up", show=False),
        Binding("pagedown", "cursor_page(1)", "Page down", show=False),
        Binding("home", "cursor_home", "First", show=False),
    ]
    DEFAULT_CSS = """
    CallStream { text-wrap: nowrap; text-overflow: clip; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
                 overflow-x: hidden; }
    """

    class Selected(Message):
        """Another call is selected; None when there is none."""

        def __init__(self, call: ShownCall | None) -> None:
            super().__init__()
            self.call = call

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = RunState()
        self.follow = True
        self.words: tuple[str, ...] = ()
        self.places: list[int] | None = None  # indices into state.calls while a filter is on
        self.cursor = 0
        self.unseen = 0
        self.marked: dict[int, str] = {}
        """Calls with a mark of their own before the row: ≈ an uncertain verdict, ✎ a label."""
        self.labelled: frozenset[int] = frozenset()
        """Calls that a person has labelled: they carry ✎."""
        self._seen = 0
        self._rows = 0  # rows at the last look: the state's own list grows without telling
        self._open: set[int] = set()  # rows not answered yet, while a filter is on
        self._texts: list[str] = []  # what a filter looks in, made when the first filter is typed
        self._announced: int | None = None
        self._chosen: int | None = None
        """The call that the person moved to: what a filter hides of it, the next filter may show again."""
        self._cache: dict[tuple[object, ...], Strip] = {}
        self._painted: list[tuple[object, ...]] = []

    # -- data

    @property
    def count(self) -> int:
        """Rows that pass the filter."""
        return len(self.state.calls) if self.places is None else len(self.places)

    def call_at(self, place: int) -> ShownCall | None:
        """The call of a row."""
        if not 0 <= place < self.count:
            return None
        return self.state.calls[place if self.places is None else self.places[place]]

    @property
    def selected(self) -> ShownCall | None:
        """The call under the cursor."""
        return self.call_at(self.cursor)

    def update_state(self, state: RunState) -> None:
        """Take in what was folded: new rows, answered rows."""
        if state is not self.state:
            self.state, self._seen, self.cursor, self._announced, self._chosen = state, 0, 0, None, None
            self.places, self._texts = [] if self.words else None, []
            self._open.clear()
            self._cache.clear()
        before = self._rows
        if self.places is not None:
            self._filter_new(self.places)
        self._seen = len(state.calls)
        if not self.follow:
            self.unseen += max(0, self.count - before)
        self._settle()

    def _filter_new(self, places: list[int]) -> None:
        calls = self.state.calls
        self._add_texts()
        answered = [place for place in self._open if calls[place].done]
        self._open.difference_update(answered)
        for place in filtered(calls, self._texts, answered, self.words):
            at = bisect_left(places, place)
            if at == len(places) or places[at] != place:
                places.insert(at, place)
        new = range(self._seen, len(calls))
        self._open.update(place for place in new if not calls[place].done)
        places.extend(filtered(calls, self._texts, new, self.words))

    def _add_texts(self) -> None:
        self._texts.extend(haystack(call) for call in self.state.calls[len(self._texts) :])

    def set_filter(self, text: str) -> None:
        """Show only calls that contain all of these words."""
        if self._chosen is None and self.selected is not None:
            self._chosen = self.selected.call_id
        self.words = tuple(text.lower().split())
        calls = self.state.calls
        self.places, self._open = None, set()
        if self.words:
            self._add_texts()
            self.places = filtered(calls, self._texts, range(len(calls)), self.words)
            self._open = {place for place, call in enumerate(calls) if not call.done}
        if not self.follow and self._chosen is not None:
            self._put(self._chosen)
        self._settle()

    def select(self, call_id: int) -> None:
        """Put the cursor on a call; on the next one that is shown, where a filter hides it."""
        if call_id in self.state.call_index:
            self._chosen = call_id
            self._put(call_id)
            self._settle()

    def _put(self, call_id: int) -> None:
        place = self.state.call_index[call_id]
        if self.places is not None:
            place = min(bisect_left(self.places, place), max(0, len(self.places) - 1))
        self.cursor = place

    def follow_newest(self) -> None:
        """Follow the tail again."""
        self.follow, self.unseen = True, 0
        self._settle()

    def _settle(self) -> None:
        self._rows = self.count
        if self.follow:
            self.cursor = self._newest()
        self.cursor = min(self.cursor, max(0, self.count - 1))
        size = Size(self.scrollable_content_region.width, self.count + 1)
        self.grow(size)
        self._show_cursor()
        self.border_subtitle = self._subtitle()
        self._refresh_changed()
        call = self.selected
        if (call.call_id if call else None) != self._announced:
            self._announced = call.call_id if call else None
            self.post_message(self.Selected(call))

    def _newest(self) -> int:
        """The row to follow: the decision that waits, else the newest answer, or a text while it is being written."""
        last = max(0, self.count - 1)
        waiting = self.state.waiting
        if waiting is not None and waiting.call_id is not None and self.places is None:
            return self.state.call_index.get(waiting.call_id, last)
        for place in range(last, max(-1, last - _LOOK_BACK), -1):
            call = self.call_at(place)
            if call is not None and (call.done or not call.binary):
                return place
        return last

    def _refresh_changed(self) -> None:
        """Repaint the rows that look different now."""
        width, height = self.scrollable_content_region.size
        top = round(self.scroll_y)
        keys = [(width, top, height), *(self._key(place, width) for place in range(top, top + height - 1))]
        if not self._painted or self._painted[0] != keys[0]:
            self.refresh()
        else:
            for y, (old, new) in enumerate(zip(self._painted, keys, strict=False)):
                if y and old != new:
                    self.refresh_line(top + y)
        self._painted = keys

    def mark_of(self, call: ShownCall) -> str:
        """The mark before a row."""
        labelled = call.call_id in self.labelled or call.answer.overruled
        return "✎" if labelled else self.marked.get(call.call_id, "")

    def _key(self, place: int, width: int) -> tuple[object, ...]:
        """Everything that a row's looks depend on."""
        call = self.call_at(place)
        if call is None:
            return (None, self.count == 0 and place == 0 and bool(self.words))
        waiting = self.state.waiting is not None and self.state.waiting.call_id == call.call_id
        on = place == self.cursor
        digits = len(str(len(self.state.calls)))
        mark = self.mark_of(call)
        came = (call.done, call.broken_off, call.verdict, call.outcome)
        return (call.call_id, came, mark, on, on and self.has_focus, waiting, width, digits)

    def _subtitle(self) -> str | Content:
        if self.unseen and not self.follow:
            return Content(f"{self.unseen} new · G to follow")
        if self.places is not None:
            return Content(f"{self.count} of {len(self.state.calls)}")
        return Content(f"{self.count}") if self.count else ""

    # -- moving

    def _show_cursor(self) -> None:
        height = self.scrollable_content_region.height - 1
        if height <= 0:
            return
        top = round(self.scroll_y)
        if self.follow:
            target = max(0, self.count - height)
        elif self.cursor < top:
            target = self.cursor
        elif self.cursor >= top + height:
            target = self.cursor - height + 1
        else:
            return
        if target != top:
            self.scroll_to(y=target, animate=False, immediate=True)
            if round(self.scroll_y) != target:  # the new rows are not laid out yet
                self.call_after_refresh(self.scroll_to, y=target, animate=False, immediate=True)

    def _move(self, place: int) -> None:
        self.cursor = min(max(0, place), max(0, self.count - 1))
        self._chosen = self.selected.call_id if self.selected is not None else None
        if self.cursor == self.count - 1:
            self.follow, self.unseen = True, 0
        self._settle()

    def action_cursor(self, by: int) -> None:
        """Move the cursor by rows."""
        self.follow = False
        self._move(self.cursor + by)

    def action_cursor_page(self, by: int) -> None:
        """Move the cursor by pages."""
        self.follow = False
        self._move(self.cursor + by * max(1, self.scrollable_content_region.height - 2))

    def action_cursor_home(self) -> None:
        """Move to the first row."""
        self.follow = False
        self._move(0)

    def on_click(self, event: events.Click) -> None:
        """Select the row under the mouse."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y >= 1:
            self.follow = False
            self._move(round(self.scroll_y) + offset.y - 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scrolling up with the wheel stops following."""
        self.follow = False

    def on_resize(self) -> None:
        """Columns follow the width."""
        self._cache.clear()
        self._settle()

    def forget_styles(self) -> None:
        """Rows are painted again."""
        self._cache.clear()
        super().forget_styles()

    # -- painting

    def render_line(self, y: int) -> Strip:
        """The heading on the first line, calls below."""
        width = self.scrollable_content_region.width
        if width <= 0:
            return self.blank(self.size.width)
        columns = Columns.fitting(width, len(self.state.calls))
        if y == 0:
            return self.paint(heading(columns), width)
        place = round(self.scroll_y) + y - 1
        call = self.call_at(place)
        if call is None:
            if place == 0 and not self.count:
                text = "No call matches the filter." if self.words else "No calls yet."
                return self.paint(Content.styled(f"  {text}", MUTED), width)
            return self.blank(width)
        waiting = self.state.waiting is not None and self.state.waiting.call_id == call.call_id
        pending = self.state.waiting.verdict if waiting and self.state.waiting else None
        on = place == self.cursor
        key = self._key(place, width)
        strip = self._cache.get(key)
        if strip is None:
            if len(self._cache) > _CACHE_ROWS:
                self._cache.clear()
            number = self.state.call_index[call.call_id] + 1
            content = row(
                call, number, columns, waiting=waiting, pending=pending, cursor=on, mark=self.mark_of(call)
            )
            if on:
                style = "on $primary 40%" if self.has_focus else "on $primary 20%"
                content = content.pad_right(max(0, width - content.cell_length)).stylize_before(style)
            strip = self._cache[key] = self.paint(content, width)
        return strip
