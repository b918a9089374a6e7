"""What the help says about the pane in front: what it shows, and the keys that are its own."""

from __future__ import annotations

from typing import NamedTuple

from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Select, Switch, TextArea

from screens.panes.order import PANES


class PaneHelp(NamedTuple):
    """A pane's name, what it is, and (keys, what they do)."""

    title: str
    about: str
    keys: tuple[tuple[str, str], ...] = ()


_ROWS = (("↑ ↓  j k", "One row up or down."), ("pgup pgdn", "One page."), ("home end", "To the first or the last row."))
_SCROLL = (("↑ ↓", "Scroll by a line."), ("pgup pgdn", "Scroll by a page."), ("home end", "To the top or the end."))
_CHOICE = (("↑ ↓", "Choose."), ("enter", "Take the chosen one."))
_LINE = (("^a ^e", "To the beginning or the end."), ("^u ^k", "Delete to the beginning or the end."))

_BY_ID: dict[str, tuple[str, str]] = {
    "task": ("Task", "What is to be done, in your own words. Name files and functions where you can. Tab leaves the box."),
    "repo": ("Repository", "The folder to work on. Runs work in a copy; your files change only when you apply a diff."),
    "demos": ("Ready-made tasks", "Enter copies a small repository to your data directory and starts its task there."),
    "recent": ("Recent runs", "Enter opens a run in the history. One marked undecided has a change that waits for you."),
    "calls": ("Calls", "One row a question: its item, the verdict, P(yes), milliseconds. It follows the newest call until "
              "you move; G follows again."),
    "card": ("Card", "The selected call whole: the prompt with its item, the raw answer, and how the verdict came about."),
    "phases": ("Phases", "What has been done and what comes next, with counts of what passed."),
    "filter": ("Filter", "Shows only calls that hold all the words. Enter keeps it, escape takes it away."),
    "queue": ("Queue", "The calls to label, in the order named at the bottom right. Nothing is ever left out of it."),
    "label-card": ("Card", "The call in front: what was asked, what the model said, what you say the right answer is."),
    "guidelines": ("Guidelines", "What yes and no mean for this question. Write your own in .clean_room/guidelines."),
    "label-filter": ("Filter", "stage: run: model: with a name, yes, no, defaulted, disputed, labelled, or any words."),
    "runs": ("Runs", "Newest first. ✓ complete, ◐ partial, ✗ failed, ■ stopped, … unfinished; » is the marked one."),
    "run-facts": ("Run", "How the run ended and what became of its change; or the comparison of two."),
    "fits": ("Questions and models", "✓ a threshold better than the one in use, ! one that is not, · too few labels yet."),
    "fit": ("Threshold", "How often the model was right, the curve over all thresholds, and what to expect of the best."),
    "settings-sections": ("Sections", "The parts of the configuration file. Enter goes to the fields."),
    "settings-search": ("Search", "Shows only settings whose name or description holds all the words."),
    "overrides": ("Models by stage", "The two roles, then every stage or group that has a model of its own."),
} | {f"pane-{pane.name}": (pane.title, pane.about) for pane in PANES}  # fmt: skip


def pane_help(widget: Widget | None) -> PaneHelp | None:
    """The help of the focused widget; of the nearest around it that has some; None for one that needs none."""
    if widget is None:
        return None
    for each in (widget, *widget.ancestors):
        known = _BY_ID.get(getattr(each, "id", None) or "")
        if known is not None:
            return PaneHelp(*known, _keys(widget))
        if each.has_class("field"):
            return PaneHelp("Setting", "Checked while you type; nothing is written before ^s shows the difference.",
                            _keys(widget))  # fmt: skip
    return None


def _keys(widget: Widget) -> tuple[tuple[str, str], ...]:
    if isinstance(widget, TextArea):
        return (("^z ^y", "Undo, redo."), *_LINE)
    if isinstance(widget, Input):
        return _LINE
    if isinstance(widget, OptionList):
        return _CHOICE
    if isinstance(widget, Select | Switch | Button):
        return (("enter", "Change it."),)
    return _ROWS if hasattr(widget, "set_rows") or widget.id == "calls" else _SCROLL
