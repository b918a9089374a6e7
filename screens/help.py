"""Every key of the screen behind it, from the one table of actions, and what the pane in front is."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from screens import STYLES
from screens.actions import key_names, of_screen
from screens.lines import LinesView
from screens.panes.pane_help import PaneHelp
from screens.text import LABEL, STRONG, line

_INDENT = 20

_GLYPHS = (
    ("✓ yes   ✗ no", "the verdict"),
    ("? no", "not an answer: the stage's default was applied"),
    ("✎ yes", "overruled by a person"),
    ("‖ yes?", "waits for you"),
    ("» text", "a text was asked for, not a decision"),
    ("reused", "the answer came from an earlier call; nothing was asked"),
)

_ABOUT = {
    "home": "Say what is to be done, choose a repository, start. A ready-made task is started with enter.",
    "relabel": "One call at a time: say what the right answer is. Labels are kept at once and train better answers.",
    "calibrate": "Where to cut a model's P(yes), from your labels. The estimate is for calls it has not seen.",
    "evaluate": "Ask any model the labelled questions again: F1, Brier and calibration error with 95 % intervals.",
    "history": "Every run of this repository. Enter opens one as it was; m and = compare two.",
    "replay": "A run as it was, event by event. At its end it shows what the run showed.",
    "settings": "Every setting with what it does. Nothing is written before you have seen what would change.",
    "run": "Every row is one question to a model. Select one to see what was asked and how the verdict came about.",
}


class HelpScreen(ModalScreen[None]):
    """Keys of one group, then those of the whole application."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape,q,question_mark,f1", "dismiss_help", "Close", show=False)]

    def __init__(self, group: str, keymap: Mapping[str, str], pane: PaneHelp | None = None) -> None:
        super().__init__()
        self.group, self.keymap, self.pane = group, keymap, pane

    def compose(self) -> ComposeResult:
        """One scrolling list."""
        with Vertical(classes="dialog wide"):
            yield LinesView(id="help")

    def on_mount(self) -> None:
        """Fill it."""
        box = self.query_one(".dialog")
        box.border_title = Content("Help")
        box.border_subtitle = Content("escape closes")
        self.query_one(LinesView).focus()

    def on_resize(self) -> None:
        """The descriptions are folded to the width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        view = self.query_one(LinesView)
        view.set_lines(help_lines(self.group, self.keymap, view.scrollable_content_region.width, self.pane))

    def action_dismiss_help(self) -> None:
        """Close."""
        self.dismiss()


def help_lines(group: str, keymap: Mapping[str, str], width: int = 0, pane: PaneHelp | None = None) -> list[Content]:
    """The lines of the help for a screen and, before them, for the pane in front; with a ``width`` what does not fit is
    folded under its beginning."""
    lines = [line(_ABOUT[group]), Content("")] if group in _ABOUT else []
    if pane is not None:
        about = textwrap.wrap(pane.about, width - 2) if width > 20 else [pane.about]
        lines += [line((f"Here: {pane.title}", LABEL)), *(line(f"  {row}") for row in about)]
        for name, text in pane.keys:
            lines += _entry(name, text, width)
        lines.append(Content(""))
    taken: set[str] = set()  # a screen's own action may have the key of one that works everywhere
    for title, actions in of_screen(group):
        lines.append(line((title, LABEL)))
        for action in actions:
            keys = [key for key in keymap.get(action.id, action.keys).split(",") if key not in taken]
            lines += _entry(key_names(",".join(keys)) if keys else "^p", action.description, width)
        taken |= {key for action in actions for key in keymap.get(action.id, action.keys).split(",")}
        lines.append(Content(""))
    lines += _entry("^p", "Palette: every action by name, and the themes.", width)
    lines += _entry("tab", "To the next pane.", width)
    if group in ("run", "replay"):
        lines += [Content(""), line(("Marks", LABEL))]
        for glyph, text in _GLYPHS:
            lines += _entry(glyph, text, width)
    return lines


def _entry(name: str, text: str, width: int) -> list[Content]:
    rows = textwrap.wrap(text, width - _INDENT) if width > _INDENT + 12 else [text]
    head = line((f"  {name:<{_INDENT - 2}}", STRONG), rows[0])
    return [head, *(Content(" " * _INDENT + row) for row in rows[1:])]
