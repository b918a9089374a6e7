"""A scrolling view of prepared lines: only the lines on screen are turned into cells, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip

from screens.painting import PaintedView


def wrapped(lines: Sequence[Content], width: int) -> list[Content]:
    """The lines folded to ``width`` cells; what is folded keeps its line's indent."""
    if width < 4:
        return list(lines)
    result: list[Content] = []
    for row in lines:
        if row.cell_length <= width:
            result.append(row)
            continue
        plain = row.plain
        indent = min(len(plain) - len(plain.lstrip(" ")) + 2, max(0, width // 3))
        head, *rest = row.wrap(width)
        result.append(head)
        if rest:
            tail = Content("").join(part if i == 0 else Content(" ") + part for i, part in enumerate(rest))
            result.extend(Content(" " * indent) + part for part in tail.wrap(max(1, width - indent)))
    return result


def _same(before: Sequence[Content], after: Sequence[Content], place: int) -> bool:
    if place >= len(before) or place >= len(after):
        return place >= len(before) and place >= len(after)
    old, new = before[place], after[place]
    return old is new or (old.plain == new.plain and old.spans == new.spans)


class LinesView(PaintedView, can_focus=True):
    """Shows a list of lines; long ones are folded unless ``fold`` is False, then they scroll sideways."""

    DEFAULT_CSS = """
    LinesView { text-wrap: nowrap; text-overflow: clip; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
                scrollbar-size-horizontal: 1; overflow-x: hidden; }
    """
    fold = True

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.source: list[Content] = []
        self.lines: list[Content] = []
        self._strips: dict[int, Strip] = {}
        self._painted_at = (0, 0)

    @property
    def plain(self) -> str:
        """Everything it shows, as text for the clipboard."""
        return "\n".join(row.plain for row in self.source)

    def set_lines(self, lines: list[Content]) -> None:
        """Replace what is shown; the scroll position stays where it can."""
        self.source = lines
        self._layout_lines()

    def _layout_lines(self) -> None:
        width = self.scrollable_content_region.width
        before, self.lines = self.lines, wrapped(self.source, width) if self.fold else self.source
        widest = width if self.fold else max((row.cell_length for row in self.lines), default=0)
        changed = [place for place in self._strips if not _same(before, self.lines, place)]
        for place in changed:
            del self._strips[place]
        self.grow(Size(max(width, widest), len(self.lines)))
        self._refresh_changed(before, width)

    def _refresh_changed(self, before: Sequence[Content], width: int) -> None:
        top = self.scroll_offset.y
        if (width, top) != self._painted_at:
            self._painted_at = (width, top)
            self._strips.clear()
            self.refresh()
            return
        for place in range(top, top + self.scrollable_content_region.height):
            if not _same(before, self.lines, place):
                self.refresh_line(place)

    def on_resize(self) -> None:
        """Fold again."""
        self._layout_lines()

    def forget_styles(self) -> None:
        """Lines are painted again."""
        self._strips.clear()
        super().forget_styles()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.width
        place = scroll_y + y
        if place >= len(self.lines):
            return self.blank(width)
        strip = self._strips.get(place)
        if strip is None:
            row = self.lines[place]
            strip = self._strips[place] = self.paint(row, max(1, row.cell_length, width))
        return strip.crop(scroll_x, scroll_x + width)
