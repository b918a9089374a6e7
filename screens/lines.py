"""A scrolling view of prepared lines: only the lines on screen are turned into cells, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import get_character_cell_size
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from screens.painting import PaintedView

Target = tuple[str, object]
"""What a line leads to: a kind such as ``call`` or ``fold``, and which."""


def wrapped(lines: Sequence[Content], width: int) -> list[Content]:
    """The lines folded to ``width`` cells; what is folded keeps its line's indent. Nothing is added to the text and nothing
    taken from it but the blanks at a fold."""
    return [part for row in lines for part in folded(row, width)]


def folded(row: Content, width: int) -> list[Content]:
    """One line in parts of at most ``width`` cells, between words where there are any."""
    if width < 4 or row.cell_length <= width:
        return [row]
    plain = row.plain
    indent = min(len(plain) - len(plain.lstrip(" ")) + 2, max(0, width // 3))
    parts: list[Content] = []
    start = 0
    while start < len(plain):
        end, following = _cut(plain, start, width - indent if parts else width)
        part = row[start:end]
        parts.append(Content(" " * indent) + part if parts else part)
        start = following
    return parts


def _cut(plain: str, start: int, room: int) -> tuple[int, int]:
    """Where a part that begins at ``start`` ends, and where the next begins."""
    cells, place, blank = 0, start, 0
    while place < len(plain):
        cells += get_character_cell_size(plain[place])
        if cells > room:
            break
        if plain[place] == " " and plain[start:place].strip():
            blank = place
        place += 1
    if place == len(plain):
        return place, place
    if blank and not _fits_whole(plain, blank + 1, room):
        blank = 0  # it is cut anyway: what stands before it, such as a mark, is not left alone on a line
    end = place if plain[place] == " " else blank or max(place, start + 1)
    following = end
    while following < len(plain) and plain[following] == " ":
        following += 1
    return end, following


def _fits_whole(plain: str, start: int, room: int) -> bool:
    """Whether the word from ``start`` on fits into a line of ``room`` cells."""
    word = plain[start : start + room + 1].lstrip(" ").partition(" ")[0]
    return sum(map(get_character_cell_size, word)) <= room


def _same(before: Sequence[Content], after: Sequence[Content], place: int) -> bool:
    if place >= len(before) or place >= len(after):
        return place >= len(before) and place >= len(after)
    old, new = before[place], after[place]
    return old is new or (old.plain == new.plain and old.spans == new.spans)


class LinesView(PaintedView, can_focus=True):
    """Shows a list of lines; long ones are folded unless ``fold`` is False, then they scroll sideways.

    Some lines may lead somewhere (``targets``): then up and down go from one to the next and enter opens it. The first
    ``sticky`` lines stay in sight whatever is scrolled to. :meth:`find` marks words and goes to them.
    """

    BINDINGS = [
        Binding("up", "line(-1)", "Up", show=False),
        Binding("down", "line(1)", "Down", show=False),
    ]
    DEFAULT_CSS = """
    LinesView { text-wrap: nowrap; text-overflow: clip; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
                scrollbar-size-horizontal: 1; overflow-x: hidden; }
    """
    fold = True

    class Opened(Message):
        """A line that leads somewhere was chosen."""

        def __init__(self, view: LinesView, target: Target) -> None:
            super().__init__()
            self.view, self.target = view, target

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.source: list[Content] = []
        self.lines: list[Content] = []
        self.sticky = 0
        self.words = ""
        self.found: list[int] = []
        self.here: int | None = None
        """Of the places found, the line that was gone to last."""
        self.target: Target | None = None
        self._targets: Mapping[int, Target] = {}
        self._at: dict[int, Target] = {}
        self._origins: list[int] = []
        self._strips: dict[int, Strip] = {}
        self._painted_at: tuple[object, ...] = ()

    @property
    def plain(self) -> str:
        """Everything it shows, as text for the clipboard."""
        return "\n".join(row.plain for row in self.source)

    def set_lines(self, lines: list[Content], targets: Mapping[int, Target] | None = None, sticky: int = 0) -> None:
        """Replace what is shown; the scroll position stays where it can. ``targets`` are by line of ``lines``."""
        self.source, self._targets, self.sticky = lines, targets or {}, sticky
        if self.target not in self._targets.values():
            self.target = next(iter(self._targets.values()), None)
        self._layout_lines()

    def _layout_lines(self) -> None:
        width = self.scrollable_content_region.width
        before, self.lines, self._origins = self.lines, [], []
        for number, row in enumerate(self.source):
            parts = folded(row, width) if self.fold else [row]
            self.lines += parts
            self._origins += [number] * len(parts)
        first = {origin: place for place, origin in reversed(list(enumerate(self._origins)))} if self._targets else {}
        self._at = {first[number]: target for number, target in self._targets.items() if number in first}
        self._look_for_words()
        widest = width if self.fold else max((row.cell_length for row in self.lines), default=0)
        changed = [place for place in self._strips if not _same(before, self.lines, place)]
        for place in changed:
            del self._strips[place]
        self.grow(Size(max(width, widest), len(self.lines)))
        self._refresh_changed(before, width)

    def _refresh_changed(self, before: Sequence[Content], width: int) -> None:
        top = self.scroll_offset.y
        here = (width, top, self.sticky, self.words, self.target, self.has_focus)
        if here != self._painted_at:
            self._painted_at = here
            self._strips.clear()
            self.refresh()
            return
        for y in range(self.scrollable_content_region.height):
            if not _same(before, self.lines, y if y < self.sticky else top + y):
                self.refresh_line(top + y)

    def on_resize(self) -> None:
        """Fold again."""
        self._layout_lines()

    def forget_styles(self) -> None:
        """Lines are painted again."""
        self._strips.clear()
        super().forget_styles()

    # -- lines that lead somewhere

    def action_line(self, by: int) -> None:
        """To the next line that leads somewhere, a line at a time where none is in sight."""
        places = sorted(self._at)
        here = next((place for place in places if self._at[place] == self.target), None)
        following = None
        if here is not None:
            after = [place for place in places if (place > here if by > 0 else place < here)]
            following = (after[0] if by > 0 else after[-1]) if after else None
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if following is not None and top - 1 <= following <= top + height:
            self.target = self._at[following]
            self._strips.clear()
            self.refresh()
            self._bring(following)
        else:
            self.scroll_relative(y=by, animate=False)

    def _bring(self, place: int) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if place >= self.sticky and place < top + self.sticky:
            self.scroll_to(y=place - self.sticky, animate=False, immediate=True)
        elif place >= top + height:
            self.scroll_to(y=place - height + 1, animate=False, immediate=True)

    def open_target(self) -> bool:
        """Open the line in front. False when there is none."""
        if self.target is None:
            return False
        self.post_message(self.Opened(self, self.target))
        return True

    def on_focus(self) -> None:
        """The line in front is marked."""
        self._strips.clear()
        self.refresh()

    on_blur = on_focus

    # -- finding

    def find(self, words: str, by: int = 0) -> str:
        """Mark ``words`` (case does not count) and go to the next place (``by`` 1 or -1), or the first from here on.
        Returns such as ``3 of 12``, "" when there is nothing to find."""
        self.words = words.lower()
        self._strips.clear()
        self._look_for_words()
        self.refresh()
        if not self.found:
            self.here = None
            return "not found" if self.words else ""
        if by and self.here in self.found:
            number = (self.found.index(self.here) + by) % len(self.found)
        else:
            top = self.scroll_offset.y + self.sticky
            number = min((n for n, place in enumerate(self.found) if place >= top), default=0)
        self.here = self.found[number]
        self.scroll_to(y=self.here - self.sticky, animate=False, immediate=True)
        return f"{number + 1} of {len(self.found)}"

    def _look_for_words(self) -> None:
        self.found = [n for n, row in enumerate(self.lines) if self.words in row.plain.lower()] if self.words else []

    # -- painting

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.width
        place = y if y < self.sticky else scroll_y + y
        if place >= len(self.lines):
            return self.blank(width)
        strip = self._strips.get(place)
        if strip is None:
            strip = self._strips[place] = self._painted(place, width)
        return strip.crop(scroll_x, scroll_x + width)

    def _painted(self, place: int, width: int) -> Strip:
        row = self.lines[place]
        if self.words and place in self.found:
            plain, start = row.plain.lower(), 0
            while (start := plain.find(self.words, start)) >= 0:
                row = row.stylize("reverse bold" if place == self.here else "reverse", start, start + len(self.words))
                start += len(self.words)
        if self.target is not None and self._at.get(place) == self.target:
            style = "on $primary 40%" if self.has_focus else "on $primary 15%"
            row = row.pad_right(max(0, width - row.cell_length)).stylize_before(style)
        return self.paint(row, max(1, row.cell_length, width))
