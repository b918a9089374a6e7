"""The log: what happened, in sentences, without the calls, which have their own list."""

from __future__ import annotations

import re
from itertools import zip_longest

from textual.content import Content

from agent import events as ev
from agent.stages import stage_of
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.panes.sentences import sentence
from screens.text import BAD, LABEL, MUTED, WARN, duration, line, one_line

_SHOWN = 1000
_NOTICE = {"info": ("i", LABEL), "warning": ("!", WARN), "error": ("✗", BAD)}


class LogPane(Pane):
    """One sentence an event; keeps to the end while the end is in view. What is copied names the event and
    its fields too."""

    name, title, short = "log", "Log", "Log"
    about = "Every event of the run, in order."
    look = "look at what went wrong"
    wishes = {ev.Notice: lambda event: 2 if event.level == "error" else None}
    follows_end = True
    empty = "Nothing happened yet."

    def build(self, state: RunState, width: int) -> list[Content]:
        """The newest events, oldest of them first."""
        newest = state.log[-_SHOWN:]
        after = [event for _, event in newest[1:]]
        lines = [
            _entry(t, event) for (t, event), following in zip_longest(newest, after)
            if not _told_elsewhere(event, following)
        ]  # fmt: skip
        if len(state.log) > _SHOWN:
            hidden = len(state.log) - _SHOWN
            lines.insert(0, Content.styled(f"… {hidden} earlier events; the audit log has them all", MUTED))
        return lines or [Content.styled(self.empty, MUTED)]

    @property
    def plain(self) -> str:
        """Every sentence with the event's own name and fields, for the clipboard."""
        rows = (
            f"{duration(t).rjust(6)}  {sentence(event)}  [{type(event).__name__}] {event_text(event)}".rstrip()
            for t, event in self.state.log
        )
        return "\n".join(rows) or self.empty


def _told_elsewhere(event: ev.Event, following: ev.Event | None) -> bool:
    """Whether a later line says it all: of a wait or a search that goes on the last one, of a phase its end."""
    match event, following:
        case ev.ModelStatus(status="waiting"), ev.ModelStatus(status="waiting"):
            return True
        case ev.CandidatesTried(), ev.CandidatesTried():
            return event.source == following.source
        case ev.CascadePass(), ev.StageFinished():
            return True
        case ev.StageStarted(), _:
            return not stage_of(event.stage).binary
    return False


def _entry(t: float, event: ev.Event) -> Content:
    clock = duration(t).rjust(6)
    said = sentence(event) or f"{_plainly(type(event).__name__)} {event_text(event)}"
    glyph, style = _NOTICE[event.level] if isinstance(event, ev.Notice) else (" ", "")
    return line((f"{clock} ", MUTED), (f"{glyph} ", f"bold {style}" if style else ""), (said, style))


def _plainly(name: str) -> str:
    """``CompileStarted`` as ``compile started``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def event_text(event: ev.Event) -> str:
    """The fields of an event, shortened to one line."""
    parts = []
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if value in ("", None, (), {}, 0, 0.0):
            continue
        text = _short(value)
        if text:
            parts.append(f"{name}={text}")
    return "  ".join(parts)


def _short(value: object) -> str:
    if isinstance(value, str):
        text = one_line(value[:200])
        return text if len(text) <= 80 else text[:79] + "…"
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        shown = [_short(item) for item in value[:6]]
        return "(" + ", ".join(item for item in shown if item) + (", …)" if len(value) > 6 else ")")
    if isinstance(value, dict):
        return ", ".join(f"{_short(key)} {_short(item)}" for key, item in list(value.items())[:6])
    names = ("id", "message", "command", "question")
    ident = next((text for name in names if (text := getattr(value, name, ""))), "")
    return one_line(str(ident))[:60] or type(value).__name__
