"""A switch that shows whether it is on by a mark, not by colour alone."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


class Tick(Widget, can_focus=True):
    """``[x] text`` or ``[ ] text``; space, enter or a click change it."""

    BINDINGS = [Binding("space,enter", "change", "Tick", show=False)]
    DEFAULT_CSS = """
    Tick { width: auto; height: 1; margin-right: 3; }
    Tick:focus { background: $primary 40%; }
    """
    value: reactive[bool] = reactive(False)

    def __init__(self, text: str, value: bool = False, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.text = text
        self.set_reactive(Tick.value, value)

    class Changed(Message):
        """It is on now, or off."""

    def watch_value(self) -> None:
        """Tell."""
        self.post_message(self.Changed())

    def render(self) -> Content:
        """The mark and the text."""
        return Content(f"[{'x' if self.value else ' '}] {self.text}")

    def action_change(self) -> None:
        """The other way."""
        self.value = not self.value

    def on_click(self) -> None:
        """The other way."""
        self.action_change()
