"""What became of a run's change, read from the end of its events."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.audit.reader import LogReader
from agent.events import DiffReady, DiffResolved, decode_event

_TAIL = 60
"""Events looked at from the end; behind the diff come only its choice, the run's end and refusals to apply it."""


class Fate(msgspec.Struct, frozen=True):
    """``choice`` is "" while nobody has decided; the counts are those of the last diff, 0 when nothing was changed."""

    choice: Literal["", "applied", "kept", "discarded", "undone"] = ""
    files: int = 0
    added: int = 0
    removed: int = 0


def fate_of(reader: LogReader, run_id: str) -> Fate:
    """What the run's last diff held and what was decided on it; what was decided before it was resumed is past.

    Raises:
        LogError: if the log cannot be read.
    """
    choice: Literal["", "applied", "kept", "discarded", "undone"] = ""
    rows = reader.select("select seq, type from events where run_id = ? order by seq desc limit ?", run_id, _TAIL)
    for seq, kind in rows:
        if kind == "RunStarted":
            break
        if kind not in ("DiffResolved", "DiffReady"):
            continue
        (data,) = reader.select("select data from events where run_id = ? and seq = ?", run_id, seq)[0]
        try:
            event = decode_event(data)
        except msgspec.ValidationError:  # of another version
            continue
        if isinstance(event, DiffResolved):
            choice = choice or event.choice
        elif isinstance(event, DiffReady):
            return Fate(choice, len(event.files), event.added, event.removed)
    return Fate(choice)
