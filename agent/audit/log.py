"""The audit log: one writer, append-only events, one row a call. ``.clean_room/raw.sqlite``.

Writes collect in one transaction for a turn of the event loop and are committed together; :meth:`AuditLog.durable`
waits for that commit. Listeners (panes, ``--json``) are told only what has been committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlite_utils import Database

from agent.audit.rows import CallDraft, LabelSource
from agent.audit.schema import migrations
from agent.audit.stored_text import as_json, whole_characters
from agent.events import (
    ChecksRun,
    CompileFinished,
    Envelope,
    ErrorClassified,
    PlanAdjusted,
    RunFinished,
)
from agent.models.types import Completion
from agent.values import CheckResult
from agent.verdict.decide import Verdict
from agent.workspace.clean_room import claim, private_file

Listener = Callable[[Envelope], None]


def now_text() -> str:
    """The time as ISO 8601 in UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def log_path(repo: Path) -> Path:
    """Where a repository's log is written. Its folder is made, with a ``.gitignore`` that covers it.

    Raises:
        WorkspaceError: the folder cannot be made, or is not ours.
    """
    return claim(repo).folder / "raw.sqlite"


def known_log(repo: Path) -> Path:
    """Where a repository's log is read; no folder is made. Raises as :func:`log_path`."""
    return private_file(repo, "raw.sqlite")


def open_database(path: Path | str) -> Database:
    """A connection with the schema brought up to date, in WAL mode; it waits up to five seconds for other writers.

    Raises:
        LogError: if the file is not a database or cannot be written.
    """
    try:
        _make_private(Path(path))
        connection = sqlite3.connect(str(path), isolation_level=None, check_same_thread=False, timeout=5.0)
        db = Database(connection)
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=normal")
        if migrations.pending(db):
            migrations.apply(db)
    except sqlite3.Error as error:
        raise LogError(f"The audit log {path} cannot be opened ({error}). Move the file away to start a new one.") from error
    return db


def _make_private(path: Path) -> None:
    """Only the owner may read the log, since prompts hold source code. SQLite gives its other files the same mode."""
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.chmod(path, 0o600)


class LogError(Exception):
    """The log cannot be read or written; the text says which file and what to do."""


class Mark(NamedTuple):
    """How far a run had come: the numbers of its last event and call, its seconds, and how many calls it asked and
    reused."""

    seq: int = 0
    call_seq: int = 0
    seconds: float = 0.0
    calls: int = 0
    cached_calls: int = 0


class AuditLog:
    """The single writer of one log file. Use it from one thread: that of the event loop."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.db = open_database(path)
        self._connection = self.db.conn
        self._identity = _identity(self.path)
        self._pending: list[tuple[Listener, Envelope]] = []
        self._waiters: list[asyncio.Future[None]] = []
        self._scheduled = False
        self._in_transaction = False
        self._failure: LogError | None = None
        self._known_prompts: set[str] = set()

    def start_run(self, run_id: str, **fields: Any) -> None:
        """A new row in ``runs``; ``fields`` are its columns."""
        self._write()
        row = {"id": run_id, "started_at": now_text(), **fields}
        self._insert("runs", row)

    def reopen_run(self, run_id: str) -> Mark:
        """Continue a run that was killed or stopped: its row has no end any more. Returns how far the run had come.

        Raises:
            LogError: if there is no such run.
        """
        self._write()
        seq, seconds = self.end_of(run_id)
        (call_seq, calls, cached) = self._execute(
            "select max(seq), count(*), coalesce(sum(cached), 0) from calls where run_id = ?", (run_id,)
        ).fetchone()
        self._execute("update runs set finished_at = null, status = null, reason = null where id = ?", (run_id,))
        return Mark(seq, call_seq or 0, seconds, calls - cached, cached)

    def end_of(self, run_id: str) -> tuple[int, float]:
        """The number of a run's last event and its seconds.

        Raises:
            LogError: if there is no such run.
        """
        seq, seconds = self._execute("select max(seq), max(t) from events where run_id = ?", (run_id,)).fetchone()
        if seq is None:
            raise LogError(f"There is no run {run_id} in {self.path}. Look at the list of runs for its name.")
        return seq, seconds

    def first_checks(self, run_id: str) -> CheckResult | None:
        """The baseline that a run measured before its first change."""
        row = self._execute("select baseline from checks where run_id = ? order by event_seq limit 1", (run_id,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=CheckResult)

    def append(self, envelope: Envelope, listeners: tuple[Listener, ...] = ()) -> None:
        """Log an event; ``listeners`` are called with it after the commit."""
        self._write()
        event = envelope.event
        self._execute(
            "insert into events (run_id, seq, t, type, data) values (?, ?, ?, ?, ?)",
            (envelope.run_id, envelope.seq, envelope.t, type(event).__name__, as_json(event)),
        )
        self._project(envelope)
        self._pending += [(listener, envelope) for listener in listeners]

    def insert_call(self, draft: CallDraft) -> int:
        """A row for a call that is about to be asked. Returns its id."""
        self._write()
        asked = draft.asked
        row = {
            "run_id": draft.run_id, "seq": draft.seq, "stage": draft.stage, "item": asked.item,
            "binary": int(asked.binary), "attempt": asked.attempt, "system_sha": self._prompt(asked.system),
            "task_context_sha": self._prompt(asked.task_context), "question": asked.question, "model": draft.model,
            "provider": draft.provider, "options": draft.options, "cache_key": draft.cache_key, "created_at": now_text(),
            "rank": asked.rank, "facts": as_json(asked.facts) if asked.facts else None, "judgment": draft.judgment,
            "question_version": draft.question_version, "adapter": draft.adapter,
            "examples_sha": self._prompt(asked.examples) if asked.examples else None,
        }  # fmt: skip
        return self._insert("calls", row)

    def answer_call(self, call_id: int, got: Completion, *, error: str = "", cached_from: int | None = None) -> None:
        """The raw answer, written before it is parsed. ``error`` is why there is none (the row then has no raw answer),
        ``cached_from`` the earlier call that it was taken from."""
        self._update_call(call_id, {
            "raw": (got.text or None) if error else got.text, "p_yes": got.p_yes, "finish": "" if error else got.finish,
            "prompt_tokens": got.prompt_tokens, "cached_tokens": got.cached_tokens,
            "completion_tokens": got.completion_tokens, "ms": got.ms, "error": error,
            "cached": cached_from is not None, "cached_from": cached_from,
        })  # fmt: skip

    def settle_call(self, call_id: int, verdict: Verdict) -> None:
        """The verdict, written before it is used."""
        self._update_call(call_id, msgspec.structs.asdict(verdict))

    def add_label(self, call_id: int, label: bool | None, source: LabelSource, note: str = "", guideline: str = "") -> int:
        """Append a label (None withdraws the earlier ones). Returns its id."""
        self._write()
        value = None if label is None else int(label)
        row = {"call_id": call_id, "label": value, "source": source, "note": note, "guideline": guideline}
        return self._insert("labels", {**row, "created_at": now_text()})

    def find_cached(self, cache_key: str) -> tuple[int, Completion] | None:
        """The newest answered call with this key, as the id of the call that was really asked and its answer."""
        row = self._execute(
            "select coalesce(cached_from, id), raw, p_yes, model, provider from calls"
            " where cache_key = ? and raw is not null and coalesce(error, '') = '' order by id desc limit 1",
            (cache_key,),
        ).fetchone()
        return None if row is None else (row[0], Completion(row[1], row[2], row[3] or "", row[4] or ""))

    def label_of(self, judgment: str) -> bool | None:
        """The last label of a person on a judgment, for any model and decoding options; None where there is none."""
        row = self._execute(
            "select label from labels join calls on calls.id = labels.call_id"
            " where calls.judgment = ? and labels.source != 'outcome' order by labels.id desc limit 1",
            (judgment,),
        ).fetchone()
        return None if row is None or row[0] is None else bool(row[0])

    async def durable(self) -> None:
        """Return once everything written so far is committed.

        Raises:
            LogError: if it could not be committed; nothing is written from then on.
        """
        if self._failure is not None:
            raise self._failure
        if not self._in_transaction:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def flush(self) -> None:
        """Commit now and call the listeners. A failed commit is raised in :meth:`durable`, not here."""
        self._scheduled = False
        if self._in_transaction:
            self._in_transaction = False
            with contextlib.suppress(LogError):
                self._execute("commit")
            if self._failure is None and _identity(self.path) != self._identity:
                self._failure = LogError(
                    f"The audit log {self.path} was removed or replaced while it was written to, so nothing more can be "
                    "logged and the run ends. Put it back, or start again with a new one."
                )
        pending, self._pending = self._pending, []
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None) if self._failure is None else waiter.set_exception(self._failure)
        for listener, envelope in pending if self._failure is None else ():
            _tell(listener, envelope)

    def close(self) -> None:
        """Commit and close."""
        self.flush()
        self.db.close()

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        if self._failure is not None:
            raise self._failure
        try:
            try:
                return self._connection.execute(statement, values)
            except UnicodeEncodeError:  # a lone surrogate, as a model or a file name may hold it
                return self._connection.execute(statement, tuple(map(whole_characters, values)))
        except sqlite3.Error as error:
            self._failure = LogError(
                f"The audit log {self.path} cannot be written ({error}), so the run was ended. Free some space or "
                "fix the folder's permissions; what was committed before is kept, and the run can be resumed."
            )
            raise self._failure from error

    def _write(self) -> None:
        if not self._in_transaction:
            self._execute("begin immediate")
            self._in_transaction = True
        if not self._scheduled:
            try:
                asyncio.get_running_loop().call_soon(self.flush)
                self._scheduled = True
            except RuntimeError:
                pass  # no loop: the caller flushes

    def _prompt(self, text: str) -> str:
        sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if sha not in self._known_prompts:
            self._execute("insert or ignore into prompts (sha, text) values (?, ?)", (sha, text))
            self._known_prompts.add(sha)
        return sha

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        marks = ", ".join("?" * len(row))
        cursor = self._execute(f"insert into {table} ({', '.join(row)}) values ({marks})", tuple(row.values()))
        return int(cursor.lastrowid or 0)

    def _update_call(self, call_id: int, row: dict[str, Any]) -> None:
        self._write()
        marks = ", ".join(f"{name} = ?" for name in row)
        self._execute(f"update calls set {marks} where id = ?", (*row.values(), call_id))

    def _project(self, envelope: Envelope) -> None:
        event = envelope.event
        place = {"run_id": envelope.run_id, "event_seq": envelope.seq}
        match event:
            case CompileFinished():
                row = {"symbol": event.symbol, "file": event.file, "ok": event.ok, "link": event.link, "ms": event.ms}
                self._insert("compile_attempts", {**place, **row, "diagnostics": as_json(event.diagnostics)})
            case ErrorClassified():
                row = {"symbol": event.symbol, "file": event.file, "category": event.category, "how": event.how}
                texts = {"headers": as_json(event.headers), "path": as_json(event.path)}
                self._insert("classifications", {**place, **row, **texts})
            case PlanAdjusted():
                plans = {"before": as_json(event.before), "after": as_json(event.after)}
                self._insert("adjustments", {**place, **plans, "rationale": event.rationale, "calls": event.calls})
            case ChecksRun():
                now = None if event.now is None else as_json(event.now)
                row = {"step_id": event.step_id, "baseline": as_json(event.baseline), "now": now}
                self._insert("checks", {**place, **row})
            case RunFinished():  # the event counts calls that were asked, without reused answers
                self._execute(
                    "update runs set finished_at = ?, status = ?, reason = ?, seconds = ?,"
                    " calls = max(?, (select count(*) from calls where run_id = runs.id and cached = 0)) where id = ?",
                    (now_text(), event.status, event.reason, event.seconds, event.calls, envelope.run_id),
                )


def _identity(path: Path) -> tuple[int, int]:
    """Device and inode of a file; zeros when there is none."""
    try:
        info = os.stat(path)
    except OSError:
        return (0, 0)
    return info.st_dev, info.st_ino


def _tell(listener: Listener, envelope: Envelope) -> None:
    """Call a listener. An error in it is reported, and the other listeners are still called."""
    try:
        listener(envelope)
    except Exception as error:
        context = {"message": f"A listener failed on event {envelope.seq}", "exception": error}
        try:
            asyncio.get_running_loop().call_exception_handler(context)
        except RuntimeError:
            raise error from None
