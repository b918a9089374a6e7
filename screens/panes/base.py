"""What the panes on the right have in common: lines built from the folded state, and only when they can be seen."""

from __future__ import annotations

from textual.content import Content

from agent.state.run_state import RunState
from screens.lines import LinesView, Target


class Pane(LinesView):
    """One pane. A hidden pane only notes that something changed; it builds its lines when it is shown."""

    title = ""
    empty = "Nothing yet."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self.state = RunState()
        self.stale = True
        self.on_top = False
        self.toggled: set[Target] = set()
        """The parts that a person has opened or closed, against what is open by itself."""
        self._leading: dict[int, Target] = {}
        self._sticky = 0

    def update_state(self, state: RunState) -> None:
        """The state has moved on."""
        self.state = state
        self.stale = True
        if self.on_top:
            self.rebuild()

    def set_on_top(self, on_top: bool) -> None:
        """Whether a person can see this pane now."""
        self.on_top = on_top
        if on_top and self.stale:
            self.rebuild()

    def rebuild(self) -> None:
        """Build the lines anew and keep following the end if it was in view."""
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        self.stale = False
        following = self.follows_end and self.scroll_offset.y >= self.max_scroll_y - 1
        self._leading, self._sticky = {}, 0
        lines = self.build(self.state, width)
        self.set_lines(lines, self._leading, self._sticky)
        if following:
            self.scroll_end(animate=False, immediate=True)

    follows_end = False

    def leads(self, number: int, target: Target) -> None:
        """While building: the line of this number leads to ``target``."""
        self._leading[number] = target

    def keep(self, lines: int) -> None:
        """While building: the first ``lines`` lines stay in sight."""
        self._sticky = lines

    def toggle(self, target: Target) -> None:
        """Open or close a part."""
        self.toggled ^= {target}
        self.rebuild()

    def on_resize(self) -> None:
        """A new width may change what is built, not only how it is folded."""
        if self.on_top:
            self.rebuild()
        else:
            self.stale = True

    def build(self, state: RunState, width: int) -> list[Content]:
        """The lines for a state; ``width`` in cells."""
        raise NotImplementedError
