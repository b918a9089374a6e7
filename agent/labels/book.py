"""Labels: append-only, the last one wins, withdrawing one is a row. They come from persons, overrules and outcomes."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent.audit.log import AuditLog, LogError, now_text, open_database
from agent.audit.rows import LabelSource
from agent.audit.stored_text import whole_characters
from agent.events import (
    DiffReady,
    DiffResolved,
    EditApplied,
    Event,
    FunctionImplemented,
    StepFinished,
    StepStarted,
    decode_event,
)


class LabelRow(msgspec.Struct, frozen=True):
    """One row of ``labels``; ``label`` None withdraws the labels before it."""

    label_id: int
    call_id: int
    label: bool | None
    source: LabelSource
    note: str
    guideline: str
    created_at: str


class LabelBook:
    """Writes a person's labels, also during a run: each label is committed at once, on a connection of its own.

    Its methods wait up to five seconds for another writer. Call them in a thread where the event loop carries a run.

    Raises:
        LogError: if the log cannot be opened or written.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise LogError(f"There is no audit log at {self.path}. Run a task there first.")
        self._db = open_database(self.path)
        self._connection = self._db.conn

    def add(
        self, call_id: int, label: bool | None, source: LabelSource = "person", note: str = "", guideline: str = ""
    ) -> int:
        """Append a label and commit it. Returns its id."""
        try:
            self._connection.execute("begin immediate")
            try:
                return self._insert(call_id, label, source, note, guideline)
            except BaseException:
                self._connection.execute("rollback")
                raise
        except sqlite3.Error as error:
            raise LogError(f"The label could not be written to {self.path} ({error}). Try again.") from error

    def current(self, call_id: int) -> LabelRow | None:
        """The label in force for a call, None where there is none."""
        rows = self.history(call_id)
        return rows[-1] if rows and rows[-1].label is not None else None

    def restore(self, call_id: int, earlier: LabelRow | None) -> int:
        """Append a row that makes an earlier label hold again (None: no label), which is how undo and redo work."""
        if earlier is None:
            return self.add(call_id, None)
        return self.add(call_id, earlier.label, earlier.source, earlier.note, earlier.guideline)

    def history(self, call_id: int) -> list[LabelRow]:
        """Every label a call ever got, oldest first."""
        rows = self._connection.execute(
            "select id, call_id, label, source, note, guideline, created_at from labels where call_id = ? order by id",
            (call_id,),
        ).fetchall()
        return [LabelRow(r[0], r[1], None if r[2] is None else bool(r[2]), r[3], r[4], r[5], r[6]) for r in rows]

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def _insert(self, call_id: int, label: bool | None, source: str, note: str, guideline: str) -> int:
        if self._connection.execute("select 1 from calls where id = ?", (call_id,)).fetchone() is None:
            raise LogError(f"There is no call {call_id} in {self.path}, so nothing was labelled.")
        value = None if label is None else int(label)
        cursor = self._connection.execute(
            "insert into labels (call_id, label, source, note, guideline, created_at) values (?, ?, ?, ?, ?, ?)",
            (call_id, value, source, whole_characters(note), guideline, now_text()),
        )
        self._connection.execute("commit")
        return int(cursor.lastrowid or 0)


_FILE_STAGE = "scope"
_SYMBOL_STAGES = ("precision_pass1", "precision_pass2")


def outcomes_wanted(log: AuditLog, run_id: str) -> bool:
    """Whether a run's configuration labels outcomes (``judgment.outcome_labels``)."""
    row = log.db.conn.execute("select config from runs where id = ?", (run_id,)).fetchone()
    try:
        config = msgspec.json.decode(row[0]) if row is not None and row[0] else {}
    except msgspec.DecodeError:
        return False
    return bool(config.get("judgment", {}).get("outcome_labels"))


def label_outcomes(log: AuditLog, run_id: str) -> int:
    """Label a run's own judgments by its applied diff: files and symbols that it changed were relevant (yes). Those that the
    coding model was shown and did not change were probably not (no), which is weak evidence.

    Only where a diff was applied, and only calls without a label. Returns how many labels were added.
    """
    log.flush()
    files, symbols = _changed(log, run_id)
    if not files:
        return 0
    rows = log.db.conn.execute(
        "select id, stage, item, verdict from calls where run_id = ? and binary = 1 and raw is not null"
        " and not exists (select 1 from labels where labels.call_id = calls.id) order by id",
        (run_id,),
    ).fetchall()
    added = 0
    for call_id, stage, item, verdict in rows:
        if stage != _FILE_STAGE and stage not in _SYMBOL_STAGES:
            continue
        if item in files if stage == _FILE_STAGE else _is_changed(item, symbols):
            log.add_label(call_id, True, "outcome", "changed by the diff that was applied")
            added += 1
        elif verdict:
            log.add_label(call_id, False, "outcome", "shown, and left alone by the diff that was applied")
            added += 1
    log.flush()
    return added


def _changed(log: AuditLog, run_id: str) -> tuple[set[str], set[tuple[str, str]]]:
    """Files of the applied diff, and (path, symbol) of edits to them that were not rolled back."""
    kinds = ("DiffReady", "DiffResolved", "EditApplied", "FunctionImplemented", "StepStarted", "StepFinished")
    marks = ", ".join("?" * len(kinds))
    rows = log.db.conn.execute(
        f"select data from events where run_id = ? and type in ({marks}) order by seq", (run_id, *kinds)
    ).fetchall()
    events = [decode_event(row[0]) for row in rows]
    diffs = [event for event in events if isinstance(event, DiffReady)]
    resolved = [event for event in events if isinstance(event, DiffResolved)]
    if not diffs or not resolved or resolved[-1].choice != "applied":
        return set(), set()
    files = set(diffs[-1].files)
    return files, {(path, symbol) for path, symbol in _kept_edits(events) if path in files}


def _kept_edits(events: Sequence[Event]) -> set[tuple[str, str]]:
    kept: set[tuple[str, str]] = set()
    step: set[tuple[str, str]] = set()
    for event in events:
        if isinstance(event, StepStarted):
            step = set()
        elif isinstance(event, StepFinished):
            kept |= set() if event.rolled_back else step
            step = set()
        elif isinstance(event, EditApplied | FunctionImplemented) and event.symbol:
            step.add((event.path, event.symbol))
    return kept


def _is_changed(item: str, symbols: set[tuple[str, str]]) -> bool:
    """Whether a symbol item, ``path:symbol``, is among the changed ones; a method also by its last name."""
    path, _, name = item.rpartition(":")
    last = re.split(r"[.:]", name)[-1]
    return any(path == where and symbol in (name, last) for where, symbol in symbols)
