"""Painting lines straight into cells, for views whose cost must not grow with what they hold."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style


class PaintedView(ScrollView):
    """A Line-API view. Styles are resolved once a theme; growing does not lay out the screen again."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._resolved: dict[str, Style] = {}

    def forget_styles(self) -> None:
        """The theme or the background has changed."""
        self._resolved.clear()

    def notify_style_update(self) -> None:
        """Colours are resolved again."""
        self.forget_styles()
        super().notify_style_update()

    def grow(self, size: Size) -> None:
        """Set the size of what can be scrolled over.

        Assigning ``virtual_size`` would lay out the whole screen and so repaint every pane; only the scroll bar has to
        know (it asks for a layout itself when it appears or goes).
        """
        if size != self.virtual_size:
            self.set_reactive(ScrollView.virtual_size, size)
            self._scroll_update(size)

    def paint(self, content: Content, width: int) -> Strip:
        """One line of content as cells, cut or filled to ``width``."""
        base = self.visual_style
        segments = [Segment(text, style.rich_style) for text, style in content.render(base, "", self._style)]
        return Strip(segments).adjust_cell_length(width, base.rich_style)

    def blank(self, width: int) -> Strip:
        """An empty line."""
        return Strip.blank(width, self.visual_style.rich_style)

    def _style(self, style: str | Style) -> Style:
        if isinstance(style, Style):
            return style
        found = self._resolved.get(style)
        if found is None:
            found = self._resolved[style] = self._get_style(style)
        return found
