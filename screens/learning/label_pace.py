"""The figures of one session of labelling: how many labels, how often the model was right, how fast. Undone labels do not
count."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from agent.labels.book import LabelRow

_BREAK = 120.0
"""Seconds: a longer gap between two labels was a break and counts as this much."""


class PacedLabel(NamedTuple):
    """One row written in a sitting: a label, given ``at`` a time in seconds, or a comment (``at`` None)."""

    call_id: int
    before: LabelRow | None
    after: LabelRow | None
    at: float | None = None
    model_verdict: bool | None = None


def sitting(done: Sequence[PacedLabel], left: int) -> list[str]:
    """The numbers in words, of what was written and not taken back; a call labelled twice counts once, by its last label.

    ``left`` is how many calls are still to be labelled.
    """
    newest = {entry.call_id: entry for entry in done if entry.at is not None and entry.after is not None}
    if not newest:
        return []
    parts = [f"{len(newest)} in this session"]
    compared = [entry for entry in newest.values() if entry.model_verdict is not None]
    if compared:
        right = sum(entry.after is not None and entry.after.label is entry.model_verdict for entry in compared)
        parts.append(f"model right {right} of {len(compared)}")
    pace = _pace(sorted(entry.at for entry in newest.values() if entry.at is not None))
    if pace:
        minutes = left / pace
        parts.append(f"{pace:.0f} a minute" + (f", about {minutes:.0f} min left" if minutes >= 1 else ""))
    return parts


def _pace(times: Sequence[float]) -> float:
    """Labels a minute; 0 while there are too few to tell."""
    spent = sum(min(later - earlier, _BREAK) for earlier, later in pairwise(times))
    return 60 * (len(times) - 1) / spent if spent > 0 else 0.0
