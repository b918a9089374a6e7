"""The edits that make the checks pass: one of them is written, another one can be taken in its place."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agent.state.records import RepairState
from screens import STYLES
from screens.panes.diff import diff_lines
from screens.panes.repair import candidate_row
from screens.text import MUTED, clean


class EditDialog(ModalScreen["int | None"]):
    """Dismisses with the number of the edit to take; None for leaving it as it is."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape,q", "leave", "Close", show=False)]

    def __init__(self, repair: RepairState) -> None:
        super().__init__()
        self.repair = repair

    def compose(self) -> ComposeResult:
        """The list, what tells two of them apart, the diff of the one under the cursor."""
        with Vertical(classes="dialog wide", id="edits"):
            yield Static("Each of these edits makes the checks pass", markup=False, classes="question")
            rows = [Option(candidate_row(one, one is self.repair.taken)) for one in self.repair.candidates]
            yield OptionList(*rows, id="points", markup=False, compact=True)
            differing = self.repair.chosen.differing if self.repair.chosen is not None else ""
            yield Static(Content.styled(clean(differing), MUTED), markup=False, id="differing")
            yield Static("", markup=False, id="edit-diff")

    def on_mount(self) -> None:
        """At the edit that is written."""
        self.query_one(".dialog").border_subtitle = Content("enter takes it · escape leaves it as it is")
        self.query_one("#differing").display = bool(self.repair.chosen and self.repair.chosen.differing)
        shown = self.query_one("#points", OptionList)
        taken = self.repair.taken
        shown.highlighted = self.repair.candidates.index(taken) if taken in self.repair.candidates else 0
        shown.focus()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        one = self.repair.candidates[event.option_index]
        self.query_one("#edit-diff", Static).update(Content("\n").join(diff_lines(one.passed.diff)))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        one = self.repair.candidates[event.option_index]
        self.dismiss(None if one is self.repair.taken else one.passed.number)

    def action_leave(self) -> None:
        """Leave it as it is."""
        self.dismiss(None)
