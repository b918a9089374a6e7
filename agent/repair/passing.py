"""An edit that makes checks pass, and what it means that a person takes one in place of another."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agent.audit.log import AuditLog
from agent.repair.edit_words import edit_words
from agent.repair.edits import Candidate, texts_of


class PassingEdit(msgspec.Struct, frozen=True):
    """An edit that makes all checks pass, or a part of them. ``what`` is its kind in words. ``texts`` are whole files after
    it, ``before`` the same files without it; ``kind`` is the number of the first edit that does the same with other inputs,
    ``call_id`` the question whether it fits."""

    number: int
    path: str
    function: str
    what: str
    texts: dict[str, bytes]
    before: dict[str, bytes]
    kind: int
    call_id: int | None = None


def edit_of(
    number: int, one: Candidate, sources: Mapping[str, bytes], kind: int, call_id: int | None = None
) -> PassingEdit:
    """A candidate with its whole files, after and before."""
    texts = texts_of(one, sources)
    before = {path: sources[path] for path in texts}
    return PassingEdit(number, one.path, one.function, edit_words(one.operator), texts, before, kind, call_id)


def label_pick(log: AuditLog, old: PassingEdit, new: PassingEdit) -> None:
    """Keep as labels that a person took ``new`` in place of ``old``: an edit that behaves alike is as right."""
    if new.call_id is not None:
        log.add_label(new.call_id, True, "person", f"picked instead of edit {old.number}")
    if old.call_id is not None and old.kind != new.kind:
        log.add_label(old.call_id, False, "person", f"edit {new.number} was picked in its place")
