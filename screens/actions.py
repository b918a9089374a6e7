"""Every action of the application, declared once: its keys, footer text, palette entry and help line come from here.

``id`` is what ``[ui.keys]`` in the configuration names, such as ``run.step = "f8"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True)
class Action:
    """Something a person can do. ``action`` is what Textual runs; ``footer`` whether its key is shown at the bottom."""

    id: str
    keys: str
    label: str
    description: str
    action: str
    footer: bool = False
    display: str = ""
    priority: bool = False

    @property
    def group(self) -> str:
        """The screen it belongs to: the part of the id before the dot."""
        return self.id.partition(".")[0]


PANES = ("cascade", "compile", "plan", "adjust", "diff", "checks", "log")
"""The tabs on the right, in the order of their keys 1 to 7."""

ACTIONS: tuple[Action, ...] = (
    Action("home.start", "f5,ctrl+r,ctrl+enter", "Start", "Start the task on the repository shown.", "start", True, "F5/^r"),
    Action("home.fetch", "f2", "Fetch the model", "Download the default local model.", "fetch", True),
    Action("home.check", "f4", "Check the model", "Look again whether the model can be reached.", "check_model"),
    Action("home.return", "f3", "Back to the run", "Go back to the run that is going on.", "return_to_run", True),
    Action("run.pause", "space,p", "Pause/go on", "Pause at the next decision, or go on.", "pause", True, "space"),
    Action("run.step", "s", "One decision", "Use this decision and wait at the next one.", "step", True),
    Action("run.stage", "S", "One stage", "Run to the end of the stage and wait there.", "step_stage", True),
    Action("run.yes", "y", "Yes is right", "While a decision waits: the right answer is yes.", "answer('yes')", True),
    Action("run.no", "n", "No is right", "While a decision waits: the right answer is no.", "answer('no')", True),
    Action("run.skip", "K", "Rest of stage", "Accept the rest of this stage without asking.", "skip_stage"),
    Action("run.apply", "a", "Apply", "Apply the diff to your own tree.", "choose('apply')", True),
    Action("run.keep", "k", "Keep", "Leave your tree alone; keep the work on its branch.", "choose('keep')", True),
    Action("run.discard", "d", "Discard", "Throw the work and its branch away.", "choose('discard')", True),
    Action("run.break", "b", "Breakpoint", "Stop the run at a stage, an item or an uncertain answer.", "breakpoint", True),
    Action("run.stop", "x", "Stop", "Stop the run; what is done so far is kept.", "stop", True),
    Action("run.filter", "slash", "Filter", "Show only calls that contain these words.", "filter", True, "/"),
    Action("run.relabel", "r", "Relabel", "Open the selected call for relabelling.", "relabel", True),
    Action("run.newest", "G,end", "Newest call", "Follow the newest call again.", "follow"),
    Action("run.down", "j", "Down", "Move down in the focused pane.", "move(1)"),
    Action("run.up", "k", "Up", "Move up in the focused pane.", "move(-1)"),
    Action("run.card", "enter", "Whole card", "Show everything about the selected call.", "open_card"),
    Action("run.calls", "0", "Calls", "Go to the list of calls.", "tab('calls')"),
    *(
        Action(f"run.{name}", str(number), name.title(), f"Show the {name.title()} pane.", f"tab('{name}')")
        for number, name in enumerate(PANES, 1)
    ),
    Action("run.pin", "t", "Pin the tab", "Keep this tab in front, or let the tabs follow the action.", "pin"),
    Action("run.copy", "c", "Copy", "Copy what the focused pane shows.", "copy"),
    Action("run.zoom", "z", "Enlarge", "Give the focused pane the whole screen, or take it back.", "zoom"),
    Action("run.back", "q,escape", "Home", "Go to the home screen; a run goes on meanwhile.", "back", True, "q"),
    Action("app.help", "question_mark,f1", "Help", "Every key of this screen.", "help", True, "?"),
    Action("app.screenshot", "f12", "Screenshot", "Save what is on screen as an SVG picture.", "snapshot"),
    Action("app.quit", "ctrl+q", "Quit", "Leave the application; asks while a run is going on.", "quit", True, "^q", True),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def of_group(group: str) -> list[Action]:
    """The actions of a screen."""
    return [action for action in ACTIONS if action.group == group]


def bindings(group: str) -> list[BindingType]:
    """Textual bindings of a screen's actions; their ids let a keymap replace the keys."""
    return [
        Binding(
            action.keys, action.action, action.label, show=action.footer, key_display=action.display or None,
            tooltip=action.description, id=action.id, priority=action.priority,
        )
        for action in of_group(group)
    ]  # fmt: skip


_KEY_NAMES = {"question_mark": "?", "slash": "/", "full_stop": "."}


def key_text(action: Action, keymap: Mapping[str, str]) -> str:
    """The keys of an action as a person reads them, after their own choice of keys."""
    keys = keymap.get(action.id, action.keys)
    return ", ".join(_KEY_NAMES.get(key.strip(), key.strip().replace("ctrl+", "^")) for key in keys.split(","))
