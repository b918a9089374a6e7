"""A line for the words to be found in a view of lines."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input, Static

from screens.lines import LinesView


class LineBox(Input):
    """A box of one line whose place on the screen does not depend on what is in it: a letter that is typed lays out
    nothing anew, where Textual's own box has the whole screen laid out and painted for it."""

    virtual_size = Reactive(Size(0, 0), layout=False)


class FilterBox(LineBox):
    """Where the words of a filter are typed. The footer says how to leave it."""

    BINDINGS = [Binding("enter", "submit", "Keep the filter"), Binding("escape", "screen.escape", "Take it away")]


class FindBox(LineBox):
    """Where the words are typed that are looked for."""

    BINDINGS = [Binding("enter", "submit", "Next place")]


class FindLine(Horizontal):
    """Hidden until :meth:`look_in`. Enter and down go to the next place, up to the one before, escape closes it."""

    BINDINGS = [
        Binding("escape", "close", "Close"),
        Binding("down", "go(1)", "Next place", show=False),
        Binding("up", "go(-1)", "Place before", show=False),
    ]
    DEFAULT_CSS = """
    FindLine { height: 1; display: none; padding: 0 1; background: $surface; }
    FindLine Input { width: 1fr; height: 1; border: none; padding: 0 1; background: $surface; }
    FindLine Static { width: auto; color: $foreground 60%; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view: LinesView | None = None
        """Where words are looked for; None while the line is hidden."""

    def compose(self) -> ComposeResult:
        """The words, and at the right how many places hold them."""
        yield FindBox(compact=True, select_on_focus=False)
        yield Static("", markup=False)

    @property
    def count(self) -> str:
        """The place and the number of places, as ``3 of 12``."""
        return str(self.query_one(Static).content)

    def look_in(self, view: LinesView, name: str) -> None:
        """Show the line. What is typed next goes into it."""
        self.view = view
        box = self.query_one(Input)
        box.value, box.placeholder = "", f"find in {name}: enter goes to the next place, escape closes"
        self.query_one(Static).update("")
        self.display = True
        self.screen.set_focus(box)  # at once: what is typed next must not be taken for commands

    @on(Input.Changed)
    def _look(self, event: Input.Changed) -> None:
        event.stop()
        self._find(0)

    @on(Input.Submitted)
    def _look_on(self, event: Input.Submitted) -> None:
        event.stop()
        self._find(1)

    def action_go(self, by: int) -> None:
        """To the next place, or the one before."""
        self._find(by)

    def _find(self, by: int) -> None:
        if self.view is not None:
            self.query_one(Static).update(Content(self.view.find(self.query_one(Input).value, by)))

    def action_close(self) -> None:
        """Back to the view, with nothing marked in it."""
        view, self.view = self.view, None
        self.display = False
        if view is not None:
            view.find("")
            self.screen.set_focus(view if view.display else None)  # another may have taken its place meanwhile
            if not view.display:
                self.screen.focus_next()
