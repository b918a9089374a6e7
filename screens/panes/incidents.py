"""Unusual events, one line each: for the strip under the tabs and as the heading of their own pane."""

from __future__ import annotations

from textual.content import Content

from agent.events import CallFinished
from agent.stages import stage_of
from agent.state.records import Incident
from screens.panes.base import Pane
from screens.panes.order import BY_NAME, PANES
from screens.text import MUTED, STRONG, VERDICT_WORDS, WARN, line, one_line


def pane_of(incident: Incident) -> str:
    """The pane that tells the whole of it."""
    if isinstance(incident, CallFinished):
        return stage_of(incident.stage).pane if stage_of(incident.stage).pane in BY_NAME else PANES[0].name
    return _teller(incident).name


def headline(incident: Incident) -> Content:
    """Such as ``✗ memset undeclared → <string.h> → ✓ recompiled 2→0``."""
    return _of_overruled(incident) if isinstance(incident, CallFinished) else _teller(incident).headline(incident)


def _teller(incident: Incident) -> type[Pane]:
    return next(pane for pane in PANES if pane.incident is type(incident))


def _of_overruled(overruled: CallFinished) -> Content:
    said, model = VERDICT_WORDS[bool(overruled.verdict)], VERDICT_WORDS[not overruled.verdict]
    question = stage_of(overruled.stage).short or overruled.stage
    return line(("✎ ", f"bold {WARN}"), f"{question} {one_line(overruled.item)} ", (f"{model} → {said}", STRONG),
                (", by you", MUTED))  # fmt: skip
