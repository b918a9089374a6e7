"""Every action of the application, declared once: its keys, footer text, palette entry and help line come from here.

``id`` is what ``[ui.keys]`` in the configuration names, such as ``run.step = "f8"``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from screens.panes.order import PANES, key_of


@dataclass(frozen=True)
class Action:
    """Something a person can do. ``action`` is what Textual runs; ``footer`` whether its key is shown at the bottom: on its
    own screen, or on the screens named; ``short`` is the word used there when the label is long, ``other`` the word while
    what it does is the other way round (its screen says when: :class:`~screens.keyed.KeyedScreen`). Where the footer is too
    narrow, the highest ``spare`` goes first; 0 stays."""

    id: str
    keys: str
    label: str
    description: str
    action: str
    footer: bool | tuple[str, ...] = False
    display: str = ""
    priority: bool = False
    short: str = ""
    other: str = ""
    spare: int = 0

    @property
    def group(self) -> str:
        """The screen it belongs to: the part of the id before the dot."""
        return self.id.partition(".")[0]

    def in_footer(self, screen: str) -> bool:
        """Whether its key is shown at the bottom of a screen."""
        return self.footer if isinstance(self.footer, bool) else screen in self.footer

    def word(self, turned: bool) -> str:
        """The word in the footer; ``turned`` when it would do the other thing."""
        return self.other if turned and self.other else self.short or self.label


QUEUES = ("to label", "disputed", "unreadable", "model was wrong", "labelled", "all")
"""The ready-made queues of the relabelling screen, in the order of their keys 1 to 6."""

ACTIONS: tuple[Action, ...] = (
    Action("home.start", "f5,ctrl+r,ctrl+enter", "Start", "Start the task; so does enter in its box.", "start", True, "F5"),
    Action("home.fetch", "f2", "Fetch the model", "Download the default local model.", "fetch", True, short="Fetch"),
    Action("home.check", "f4", "Check the model", "Check again whether the model can be reached.", "check_model"),
    Action("home.return", "f3", "Back to the run", "Go back to the run you left.", "return_to_run", True, short="Run"),
    Action("home.left", "f7", "Run left behind", "Continue a run that did not finish, or open one whose change is waiting.",
           "left_behind", True, short="Last run"),
    Action("run.pause", "space,p", "Pause", "Pause at the next decision; when paused, go on.", "pause", True, "space",
           other="Go on"),
    Action("run.step", "s", "One decision", "Use this decision and wait at the next one.", "step", True, short="Step"),
    Action("run.stage", "S", "One stage", "Run to the end of the stage and wait there.", "step_stage", True, short="Stage"),
    Action("run.yes", "y", "Yes is right", "Answer yes to the waiting decision.", "answer('yes')", True, short="Yes"),
    Action("run.no", "n", "No is right", "Answer no to the waiting decision.", "answer('no')", True, short="No"),
    Action("run.skip", "K", "Rest of stage", "Accept the rest of this stage without asking.", "skip_stage"),
    Action("run.apply", "a", "Apply", "Apply the diff to your own files.", "choose('apply')", True),
    Action("run.keep", "w", "Keep", "Leave your files alone; keep the work on its branch.", "choose('keep')", True),
    Action("run.discard", "d", "Discard", "Delete the work and its branch.", "choose('discard')", True),
    Action("run.edit", "e", "Another edit", "Look at all edits that make the checks pass, and take another one.", "edit",
           True, short="Edits"),
    Action("run.undo", "U", "Undo the apply", "Take the applied change out of your files, if they are still as it left"
           " them.", "undo", True, short="Undo"),
    Action("run.again", "R", "Go on or try again", "Continue a run that stopped, or start a failed task again.",
           "again", True, short="Again"),
    Action("run.model", "m", "Another model", "Choose another model in the settings.", "model", True, short="Model"),
    Action("run.break", "b", "Breakpoint", "Stop at a stage, an item, an unsure answer.", "breakpoint", True, short="Break",
           spare=1),
    Action("run.stop", "x", "Stop", "Stop the run; what is done so far is kept.", "stop", True),
    Action("run.filter", "slash", "Filter or find", "Show only calls with these words; in another pane, find them.",
           "filter", True, "/", short="Filter", spare=2),
    Action("run.relabel", "r", "Relabel", "Open the selected call for relabelling.", "relabel", True, spare=3),
    Action("run.newest", "G,end", "Newest call", "Follow the newest call again.", "follow"),
    Action("run.down", "j", "Down", "Move down in the focused pane.", "move(1)"),
    Action("run.up", "k", "Up", "Move up in the focused pane.", "move(-1)"),
    Action("run.card", "enter", "Whole card", "Show everything about the selected call.", "open_card"),
    Action("run.calls", "0", "Calls", "Go to the list of calls.", "tab('calls')"),
    *(
        Action(f"run.{pane.name}", key_of(pane.name), pane.title, f"Show the {pane.title} pane.", f"tab('{pane.name}')")
        for pane in PANES
    ),
    Action("run.incident", "i", "Last incident", "Show the pane of the last incident: a compile error, a change of plan, an"
           " overruled verdict.", "incident", short="Incident"),
    Action("run.pin", "t", "Pin the tab", "Keep this tab in front, or let the tabs follow the action.", "pin",
           other="Follow", spare=4),
    Action("run.copy", "c", "Copy", "Copy what the focused pane shows.", "copy"),
    Action("run.zoom", "z", "Enlarge", "Give the focused pane the whole screen, or take it back.", "zoom", other="Shrink"),
    Action("run.escape", "escape", "Close", "Close the enlarged pane, the filter, the pane in front; then leave a run that"
           " is over.", "escape"),
    Action("run.back", "q", "Home", "Leave the screen; a run goes on meanwhile.", "back", True, other="Back"),
    Action("relabel.yes", "y", "Yes is right", "The right answer is yes.", "label('yes')", True, short="Yes"),
    Action("relabel.no", "n", "No is right", "The right answer is no.", "label('no')", True, short="No"),
    Action("relabel.agree", "enter", "Agree", "The model is right.", "agree", True),
    Action("relabel.skip", "space", "Skip", "Leave it for later; it stays in the queue.", "skip", True, "space"),
    Action("relabel.undo", "u", "Undo", "Take the last label back.", "undo", True),
    Action("relabel.redo", "U", "Redo", "Restore the label that was taken back.", "undo(True)"),
    Action("relabel.comment", "f", "Comment", "Say why; it is kept with the label.", "comment", True, short="Note",
           spare=3),
    Action("relabel.guidelines", "g", "Guidelines", "What yes and no mean here.", "guidelines", True, short="Guide"),
    Action("relabel.blind", "h", "Blind", "Hide the model's answers until you give yours, or show them.", "blind", True,
           other="Show", spare=2),
    Action("relabel.source", "v", "Source", "The whole source that the item is about, which the model did not see.",
           "source", True, spare=4),
    Action("relabel.order", "o", "Order", "The next order: certainty, disagreement, random, newest, oldest.", "order"),
    Action("relabel.filter", "slash", "Filter", "Show only calls that pass a filter.", "filter", True, "/", spare=1),
    Action("relabel.previous", "left_square_bracket", "Previous", "To the previous call.", "go(-1)"),
    Action("relabel.next", "right_square_bracket", "Next", "To the next call.", "go(1)"),
    *(
        Action(f"relabel.queue{number}", str(number), f"Queue: {name}", f"Show the calls: {name}.", f"queue('{number}')")
        for number, name in enumerate(QUEUES, 1)
    ),
    Action("relabel.export", "e", "Export", "Write the labels as training files.", "export", True),
    Action("relabel.evaluate", "E", "Evaluate", "Ask any model the labelled questions again and measure its answers.",
           "evaluate", True, spare=5),
    Action("relabel.copy", "c", "Copy", "Copy the card.", "copy"),
    Action("relabel.back", "q,escape", "Back", "Leave; every label is already saved.", "back", True, "q"),
    Action("calibrate.apply", "a", "Apply", "Use this threshold from the next run on.", "apply", True),
    Action("calibrate.all", "A", "Apply all", "Use every threshold that is better than the one in use.", "apply_all", True),
    Action("calibrate.shared", "s", "All repositories", "The labels of all your repositories together, from your own store"
           " (judgment.pool).", "shared", True, short="All", other="This one", spare=3),
    Action("calibrate.relabel", "r", "Relabel", "Label more calls of this stage and model.", "relabel", True),
    Action("calibrate.export", "e", "Export", "Write the labels as training files.", "export", True),
    Action("calibrate.copy", "c", "Copy", "Copy what the focused pane shows.", "copy"),
    Action("calibrate.back", "q,escape", "Back", "Leave.", "back", True, "q"),
    Action("calibrate.evaluate", "E", "Evaluate", "Ask any model the labelled questions again and measure its answers.",
           "evaluate", True, spare=1),
    Action("evaluate.start", "f5,ctrl+r", "Ask", "Ask the chosen models the chosen questions.", "start", True, "F5"),
    Action("evaluate.stop", "x", "Stop", "Stop asking; what was answered is kept and measured.", "stop", True),
    Action("evaluate.choose", "space,enter", "Choose", "Take the row in front, or leave it out.", "choose", True, "space"),
    Action("evaluate.add", "a", "Add a model", "Name a model that is not listed; NAME+ADAPTER adds an adapter.", "add", True,
           short="Add"),
    Action("evaluate.relabel", "r", "Relabel", "Label more calls.", "relabel", True, spare=1),
    Action("evaluate.calibrate", "T", "Thresholds", "Fit thresholds to the labels.", "calibrate", True, spare=2),
    Action("evaluate.export", "e", "Export", "Write the labels as training files, with rows held out.", "export", True,
           spare=3),
    Action("evaluate.copy", "c", "Copy", "Copy what the focused pane shows.", "copy"),
    Action("evaluate.back", "q,escape", "Back", "Leave; asks first while questions are being asked.", "back", True, "q"),
    Action("history.open", "enter", "Open", "Open the run: everything it showed, as it showed it.", "open", True),
    Action("history.mark", "m,space", "Mark", "Mark the run to compare another with it.", "mark", True, "m", spare=2),
    Action("history.diff", "equals_sign", "Compare", "Compare the selected run with the marked one.", "diff", True, "="),
    Action("history.again", "n", "Run again", "Start the same task again, with the current settings.", "again", True,
           short="Again", spare=5),
    Action("history.resume", "R", "Resume", "Continue a run that did not finish.", "resume", True),
    Action("history.apply", "a", "Apply", "Apply the change that waits to your own files; asks.", "decide('apply')", True),
    Action("history.keep", "w", "Keep", "Leave your files alone; keep the change on its branch.", "decide('keep')", True),
    Action("history.discard", "d", "Discard", "Discard the change that is waiting; asks.", "decide('discard')", True),
    Action("history.relabel", "r", "Relabel", "Label the calls of this run.", "relabel", True, spare=3),
    Action("history.calibrate", "T", "Thresholds", "Fit thresholds to the labels.", "calibrate", True, spare=4),
    Action("history.evaluate", "E", "Evaluate", "Ask any model the labelled questions again and measure its answers.",
           "evaluate", True, spare=6),
    Action("history.export", "e", "Export", "Write the labels of this run as training files.", "export"),
    Action("history.delete", "delete,backspace", "Delete", "Delete the run, its calls and labels; asks.", "delete", True,
           "del"),
    Action("history.copy", "c", "Copy", "Copy what the focused pane shows.", "copy"),
    Action("history.back", "q,escape", "Back", "Leave.", "back", True, "q"),
    Action("replay.play", "space,p", "Play", "Play or pause the replay.", "play", True, "space", other="Pause"),
    Action("replay.faster", "plus,greater_than_sign", "Faster", "1x, 10x, 100x, at once.", "speed(1)", display="+"),
    Action("replay.slower", "minus,less_than_sign", "Slower", "Back towards 1x.", "speed(-1)", display="-"),
    Action("replay.event", "full_stop", "Next event", "One event forward.", "event(1)", display="."),
    Action("replay.before", "comma", "Event before", "One event back.", "event(-1)", display=","),
    Action("replay.jump", "J", "Jump", "To an event, a time, a stage or a word.", "jump", True),
    Action("settings.search", "slash,ctrl+f", "Search", "Show only settings that contain these words.", "search", True, "/",
           spare=1),
    Action("settings.save", "ctrl+s", "Save", "Show what would change in the file, then save it.", "save", True),
    Action("settings.file", "f2", "Other file", "Edit your own file, or this repository's.", "switch_file", True, spare=2),
    Action("settings.reset", "f3", "Take out", "Remove the focused setting from the file.", "reset", True),
    Action("settings.add", "a", "Add", "Give a stage or a group of stages its own model.", "add_override", True),
    Action("settings.edit", "e", "Edit", "Change the chosen stage's model.", "edit_override", True),
    Action("settings.remove", "d,delete", "Remove", "Remove the chosen stage's own model.", "remove_override", True, "d"),
    Action("settings.test", "t", "Test connection", "Check whether the chosen model can answer.", "try_connection", True,
           short="Test"),
    Action("settings.ask", "o", "Ask one question", "Ask the chosen model one yes/no question.", "try_question", True,
           short="Ask"),
    Action("settings.back", "escape,q", "Back", "Leave; asks when something is not saved.", "back", True, "esc"),
    Action("app.history", "f9", "History", "Earlier runs: open, replay, compare, resume.", "open_screen('history')",
           ("home",)),
    Action("app.relabel", "f8", "Relabel calls", "Label calls: they become training pairs.", "open_screen('relabel')"),
    Action("app.calibrate", "f10", "Thresholds", "Fit thresholds to labels; compare models.", "open_screen('calibrate')"),
    Action("app.evaluate", "f11", "Evaluate", "Ask any model the labelled questions again and measure its answers.",
           "open_screen('evaluate')"),
    Action("app.settings", "f6", "Settings", "Every setting, with what it does.", "open_screen('settings')", ("home",)),
    Action("app.help", "question_mark,f1", "Help", "Every key of this screen.", "help", True, "?"),
    Action("app.screenshot", "f12", "Screenshot", "Save what is on screen as an SVG picture.", "snapshot"),
    Action("app.quit", "ctrl+q", "Quit", "Leave the application; asks while a run is going on.", "quit", True, "^q", True,
           spare=9),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


LIVE_ONLY = frozenset({"answer", "skip_stage", "pause", "step", "step_stage", "breakpoint", "stop", "choose"})
"""What needs a run that goes on, or has just ended: not for a replay."""
TITLES = {"calibrate": "Thresholds", "settings": "Settings", "app": "Everywhere"}
"""What a group is called on screen, where that is not its own name."""


def of_group(group: str) -> list[Action]:
    """The actions of a group."""
    return [action for action in ACTIONS if action.group == group]


def of_screen(group: str) -> list[tuple[str, list[Action]]]:
    """(Title, actions) of everything that works on a screen: its own, those of the run that a replay shows, the general."""
    found = [(TITLES.get(group, group.title()), of_group(group))]
    if group == "replay":
        run = [action for action in of_group("run") if action.action.partition("(")[0] not in LIVE_ONLY]
        found.append(("Run", run))
    return [(title, actions) for title, actions in (*found, (TITLES["app"], of_group("app"))) if actions]


def bindings(group: str) -> list[BindingType]:
    """Textual bindings of a screen's actions; their ids let a keymap replace the keys."""
    return [
        Binding(
            action.keys, action.action, action.word(False), show=action.in_footer(group),
            key_display=action.display or (action.keys.upper() if _FUNCTION_KEY.fullmatch(action.keys) else None),
            tooltip=action.description, id=action.id, priority=action.priority,
        )
        for action in of_group(group)
    ]  # fmt: skip


_FUNCTION_KEY = re.compile(r"f\d+")
_KEY_NAMES = {
    "question_mark": "?", "slash": "/", "equals_sign": "=", "delete": "del",
    "full_stop": ".", "comma": ",", "plus": "+", "minus": "-", "less_than_sign": "<",
    "greater_than_sign": ">", "left_square_bracket": "[", "right_square_bracket": "]", "escape": "esc",
}  # fmt: skip


def _key_name(key: str) -> str:
    key = key.strip()
    return _KEY_NAMES.get(key) or (key.upper() if _FUNCTION_KEY.fullmatch(key) else key.replace("ctrl+", "^"))


def key_text(action: Action, keymap: Mapping[str, str]) -> str:
    """The keys of an action as a person reads them, after their own choice of keys."""
    return key_names(keymap.get(action.id, action.keys))


def key_names(keys: str) -> str:
    """Keys by Textual's names as a person reads them."""
    return "  ".join(_key_name(key) for key in keys.split(","))
