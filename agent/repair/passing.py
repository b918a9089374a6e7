"""An edit that passes all checks, and what it means that a person takes one in the place of another."""

from __future__ import annotations

import msgspec

from agent.audit.log import AuditLog


class PassingEdit(msgspec.Struct, frozen=True):
    """An edit that makes all checks pass. ``texts`` are whole files after it, ``before`` the same files without it; ``kind``
    is the number of the first edit that does the same with other inputs, ``call_id`` the question whether it fits."""

    number: int
    path: str
    function: str
    what: str
    texts: dict[str, bytes]
    before: dict[str, bytes]
    kind: int
    call_id: int | None = None


def label_pick(log: AuditLog, old: PassingEdit, new: PassingEdit) -> None:
    """Keep as labels that a person took ``new`` in the place of ``old``: an edit that behaves alike is as right."""
    if new.call_id is not None:
        log.add_label(new.call_id, True, "person", f"picked instead of edit {old.number}")
    if old.call_id is not None and old.kind != new.kind:
        log.add_label(old.call_id, False, "person", f"edit {new.number} was picked in its place")
