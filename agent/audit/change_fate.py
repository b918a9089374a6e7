"""What became of a run's change, read from the end of its events."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.audit.reader import LogReader
from agent.events import DiffReady, DiffResolved, decode_event

_TAIL = 60
"""Events read from the end of a run: after its diff come only the choice, the run's end and refusals to apply it."""


class Fate(msgspec.Struct, frozen=True):
    """``choice`` is "" until a person has decided; the counts are those of the last diff, 0 when nothing was changed."""

    choice: Literal["", "applied", "kept", "discarded", "undone"] = ""
    files: int = 0
    added: int = 0
    removed: int = 0


def fate_of(reader: LogReader, run_id: str) -> Fate:
    """The size of the run's last diff and what was decided on it. Decisions from before the run was resumed do not count.

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
