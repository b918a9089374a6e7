"""The line at the top: what is worked on, what is happening (exactly one thing), for how long, with which model."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from agent.state.records import ShownStage
from agent.state.run_state import RunState
from screens.run.session import RunSession
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, about_time, clean, duration, line, one_line, plural

_STYLES = {
    "idle": MUTED, "waiting for you": f"bold {WARN}", "complete": f"bold {GOOD}", "partial": f"bold {WARN}",
    "failed": f"bold {BAD}", "stopped": f"bold {WARN}",
}  # fmt: skip
_LOOK_BACK = 64
"""Calls looked back over for an estimate."""
_GLYPHS = {"idle": "○", "waiting for you": "‖", "complete": "✓", "partial": "◐", "failed": "✗", "stopped": "■"}


def pill(state: RunState) -> tuple[str, str]:
    """The one thing that is happening, with its count, and its style."""
    activity = state.activity
    text: str = activity
    stage = state.stages.get(state.current_stage)
    if activity in ("judging", "waiting for you") and stage is not None and stage.total and not stage.done:
        text = f"{activity} {stage.asked}/{stage.total}"
        left = seconds_left(state, stage) if activity == "judging" else None
        text += f" · ~{about_time(left)}" if left is not None else ""
    if activity == "writing":
        now = [function for function in state.functions.values() if function.status == "writing"]
        if now:
            text = f"writing {one_line(now[-1].started.symbol)}"
    return f"{_GLYPHS.get(activity, '●')} {text}", _STYLES.get(activity, f"bold {LABEL}")


def seconds_left(state: RunState, stage: ShownStage) -> float | None:
    """About how long the rest of a stage takes: the median of its latest calls, as many at once as are asked now. None
    before three were measured."""
    latest = state.calls[-_LOOK_BACK:]
    answers = [call.answer for call in latest if call.done and call.stage == stage.name]
    took = sorted(answer.ms for answer in answers if answer.ms and not answer.cached)
    if len(took) < 3 or stage.total is None:
        return None
    at_once = max(1, sum(not call.done and not call.broken_off for call in latest))
    return max(0, stage.total - stage.asked) * took[len(took) // 2] / 1000 / at_once


class StatusBar(Widget):
    """One line. The pill, the clock and the model keep their place; the task gives way."""

    DEFAULT_CSS = "StatusBar { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, session: RunSession, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session

    def render(self) -> Content:
        """Left: repository and task. Right: pill, clock, model."""
        state, width = self.session.state, self.size.width
        text, style = pill(state)
        tokens = self.session.writing.tokens
        if tokens and state.activity in ("writing", "planning"):
            text = f"{text} {plural(tokens, 'token'):>10}"
        waiting = state.activity == "waiting for the model server" and not tokens
        if waiting and state.model_note:
            text = f"{text.split()[0]} {one_line(state.model_note)}"
        model = one_line(state.started.model if waiting or not state.model_note else state.model_note)
        points = len(self.session.gate.breakpoints) if self.session.live else 0
        stops = f"{plural(points, 'break')}  " if points else ""  # breakpoints that are set, as their key is called
        clock, name = f"  {duration(self.session.elapsed())}", f"  {model}" if width >= 100 else ""
        right = line((stops, WARN), (text, style), clock, (name, MUTED))
        repo = clean(state.repo or str(self.session.repo)).rstrip("/").rpartition("/")[2]
        task = one_line(state.task or self.session.task)
        left = line(("Clean Room", f"bold {LABEL}"), "  ", (repo, STRONG), (f" · {task}", ""))
        room = width - right.cell_length - 2
        if room < 4:
            return right.truncate(max(1, width), ellipsis=True)
        left = left.truncate(room, ellipsis=True)
        return left + Content(" " * (width - left.cell_length - right.cell_length)) + right
