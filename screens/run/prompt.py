"""The box at the bottom of the run screen: what waits for the person, or how the run ended, and what to do next."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from agent.events import GateWaiting
from screens.run.ending import ending_lines
from screens.run.session import RunSession
from screens.text import MUTED, STRONG, WARN, fit, line, one_line, stage_short, stage_title


class Prompt(Static):
    """Hidden while there is nothing to say."""

    class Resized(Message):
        """It takes another number of lines, or none."""

    def __init__(self, session: RunSession, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.session = session
        self.can_focus = False
        self.shown: list[Content] = []

    def sync(self) -> None:
        """Say what is to be said now."""
        lines = prompt_lines(self.session, self.app.size.width - 4)
        if lines != self.shown:
            self.shown = lines
            self.display = bool(lines)
            self.update(Content("\n").join(lines))

    def on_resize(self) -> None:
        """Others make room."""
        self.post_message(self.Resized())

    on_hide = on_resize


def prompt_lines(session: RunSession, width: int = 120) -> list[Content]:
    """The lines for a session's present state, for so many cells."""
    state = session.state
    if state.waiting is not None:
        if session.reviewing and session.handle is not None:
            return _reviewing(session, width)
        return _waiting(state.waiting, width) if session.handle is not None else [fit(_waited(state.waiting), width)]
    if state.finished is not None:
        return ending_lines(session, state.finished, width)
    if session.stopping:
        when = "when the call in flight has come back; the work so far is kept"
        return [line(("■ stopping ", f"bold {WARN}"), when)]
    if session.live and session.gate.mode == "step":
        return [line(("‖ pausing ", f"bold {WARN}"), "at the next decision  ", ("space goes on", MUTED))]
    if session.live and session.gate.mode == "stage":
        return [line(("‖ pausing ", f"bold {WARN}"), "at the end of this stage  ", ("space goes on", MUTED))]
    return []


def _waited(waiting: GateWaiting) -> Content:
    """Of a recording: nothing can be answered any more."""
    if waiting.kind == "stage":
        what = f"at the end of stage {stage_short(waiting.stage) or waiting.stage}"
    elif waiting.kind == "choice":
        what = f"with edit {one_line(waiting.item)}"
    else:
        what = f"{stage_short(waiting.stage)} {one_line(waiting.item)}  model: {'yes' if waiting.verdict else 'no'}"
    return line((f"‖ waited here for the person  {what}", MUTED))


def _waiting(waiting: GateWaiting, width: int) -> list[Content]:
    if waiting.kind == "stage":
        done = line(("‖ end of stage ", f"bold {WARN}"), (stage_short(waiting.stage) or waiting.stage, STRONG))
        return [done, _keys(("S", "next stage"), ("s", "one decision"), ("space", "go on"))]
    if waiting.kind == "choice":
        return _choosing(waiting, width)
    says = "yes" if waiting.verdict else "no"
    why = "  (a breakpoint stopped here)" if waiting.reason == "breakpoint" else ""
    for question in (stage_title(waiting.stage), stage_short(waiting.stage)):
        head = line(
            ("‖ ", f"bold {WARN}"), (question, STRONG), f" {one_line(waiting.item)}  the verdict would be ",
            (says, f"bold {WARN}"), (why, MUTED),
        )  # fmt: skip
        if head.cell_length <= width:
            break
    for take in (f"take “{says}”, stop at the next", f"take “{says}”"):
        keys = _keys(("y", "yes is right"), ("n", "no is right"), ("s", take), ("K", "rest of stage"), ("space", "go on"))
        if keys.cell_length <= width:
            break
    return [head, keys]


def _choosing(waiting: GateWaiting, width: int) -> list[Content]:
    """Several edits pass: one is about to be written."""
    head = line(
        ("‖ ", f"bold {WARN}"), ("several edits make the checks pass", STRONG), "  edit ",
        (one_line(waiting.item), f"bold {WARN}"), " would be written",
    )  # fmt: skip
    keys = _keys(("e", "see them, take another"), ("s", "write it, stop at the next"), ("space", "go on"))
    return [fit(head, width), keys]


def _reviewing(session: RunSession, width: int) -> list[Content]:
    """The end of a stage, where its verdicts can still be reversed."""
    calls = [call for call in session.state.calls if call.stage == session.reviewing and call.verdict is not None]
    yes = sum(bool(call.verdict) for call in calls)
    doubtful = session.doubtful()
    head = line(
        ("‖ end of stage ", f"bold {WARN}"), (stage_short(session.reviewing), STRONG), f"  {yes} of {len(calls)} yes",
        (f"  ≈ marks the {len(doubtful)} least certain" if doubtful else "", MUTED),
    )  # fmt: skip
    for turn in ("of the selected row: yes is right", "yes is right"):
        keys = _keys(("y", turn), ("n", "no is right"), ("S", "next stage"), ("space", "go on"))
        if keys.cell_length <= width:
            break
    return [fit(head, width), keys]


def _keys(*pairs: tuple[str, str]) -> Content:
    return Content("  ").join([line((key, STRONG), f" {text}") for key, text in pairs])
