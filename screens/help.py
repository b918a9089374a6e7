"""Every key of the screen behind it, from the one table of actions."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from screens import STYLES
from screens.actions import key_text, of_group
from screens.lines import LinesView
from screens.text import LABEL, MUTED, STRONG, line

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
    "history": "Every run of this repository. Enter opens one as it was; m and d compare two.",
    "run": "Every row is one question to a model. Select one to see what was asked and how the verdict came about.",
}


class HelpScreen(ModalScreen[None]):
    """Keys of one group, then those of the whole application."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [Binding("escape,q,question_mark,f1", "dismiss_help", "Close", show=False)]

    def __init__(self, group: str, keymap: Mapping[str, str]) -> None:
        super().__init__()
        self.group, self.keymap = group, keymap

    def compose(self) -> ComposeResult:
        """One scrolling list."""
        with Vertical(classes="dialog wide"):
            yield LinesView(id="help")

    def on_mount(self) -> None:
        """Fill it."""
        box = self.query_one(".dialog")
        box.border_title = Content("Help")
        box.border_subtitle = Content("escape closes")
        view = self.query_one(LinesView)
        view.set_lines(help_lines(self.group, self.keymap))
        view.focus()

    def action_dismiss_help(self) -> None:
        """Close."""
        self.dismiss()


def help_lines(group: str, keymap: Mapping[str, str]) -> list[Content]:
    """The lines of the help for a screen."""
    lines = [line(_ABOUT[group]), Content("")] if group in _ABOUT else []
    for title, name in ((group.title(), group), ("Everywhere", "app")):
        actions = of_group(name)
        if not actions:
            continue
        lines.append(line((title, LABEL)))
        lines += [line((f"  {key_text(a, keymap):<18}", STRONG), a.description) for a in actions]
        lines.append(Content(""))
    lines += [line(("  ^p                ", STRONG), "Palette: every action by name, and the themes.")]
    lines += [line(("  tab               ", STRONG), "To the next pane.")]
    if group == "run":
        lines += [Content(""), line(("Marks", LABEL))]
        lines += [line((f"  {glyph:<18}", STRONG), (text, MUTED)) for glyph, text in _GLYPHS]
    return lines
