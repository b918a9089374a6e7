"""A scrolling view of prepared lines: only the lines on screen are turned into cells, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


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


class LinesView(ScrollView, can_focus=True):
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
        self.lines = wrapped(self.source, width) if self.fold else self.source
        widest = width if self.fold else max((row.cell_length for row in self.lines), default=0)
        self._strips.clear()
        self.virtual_size = Size(max(width, widest), len(self.lines))
        self.refresh()

    def on_resize(self) -> None:
        """Fold again."""
        self._layout_lines()

    def notify_style_update(self) -> None:
        """Another theme: colours are resolved again."""
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.width
        base = self.visual_style
        place = scroll_y + y
        if place >= len(self.lines):
            return Strip.blank(width, base.rich_style)
        strip = self._strips.get(place)
        if strip is None:
            row = self.lines[place]
            strips = Visual.to_strips(
                self, row, max(1, row.cell_length, width), 1, base, apply_selection=False, pad=True
            )
            strip = strips[0] if strips else Strip.blank(width, base.rich_style)
            self._strips[place] = strip
        return strip.crop(scroll_x, scroll_x + width)
