"""Reading the audit log while another connection writes it: a connection of its own, read-only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from agent.audit.log import LogError
from agent.audit.schema import brought_up_to_date, older_columns
from agent.events import Envelope, decode_event


class CallTexts(msgspec.Struct, frozen=True):
    """Everything about one call. The user message was ``examples + task_context + question``; ``options`` and ``facts``
    are JSON; ``ms`` milliseconds; ``judgment`` identifies what was judged (``agent/verdict/identity.py``)."""

    call_id: int
    run_id: str
    seq: int
    stage: str
    item: str
    system: str
    task_context: str
    question: str
    raw: str | None = None
    options: str = ""
    model: str = ""
    provider: str = ""
    verdict: bool | None = None
    p_yes: float | None = None
    score: float | None = None
    threshold: float | None = None
    source: str = ""
    defaulted: bool = False
    cached: bool = False
    cached_from: int | None = None
    overruled: bool = False
    explanation: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    error: str = ""
    attempt: int = 1
    binary: bool = True
    rank: int | None = None
    facts: str = ""
    examples: str = ""
    adapter: str = ""
    judgment: str = ""


_TEXTS = (
    "id, run_id, seq, stage, item, system, task_context, question, raw, options, model, provider, verdict, p_yes, score,"
    " threshold, source, defaulted, cached, cached_from, overruled, explanation, finish, prompt_tokens, cached_tokens,"
    " completion_tokens, ms, error, attempt, binary, rank, facts, examples, adapter, judgment"
)


class LogReader:
    """Reads one log file. Opening never creates or changes it. May be used from any one thread at a time.

    Raises:
        LogError: if there is no such log or it cannot be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            uri = f"{self.path.resolve().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=5.0)
            self._connection.execute("select 1 from runs limit 1")
            older_columns(self._connection)
        except sqlite3.Error as error:
            if not self.path.exists():
                raise LogError(f"There is no audit log at {self.path}. Run a task there first.") from error
            raise LogError(f"The audit log {self.path} cannot be read ({error}).") from error

    def events(self, run_id: str, after: int = 0) -> Iterator[Envelope]:
        """A run's events in order, those after sequence number ``after``; events that this version does not know are left
        out."""
        cursor = self._execute("select seq, t, data from events where run_id = ? and seq > ? order by seq", run_id, after)
        decode, wrap = decode_event, Envelope
        for seq, t, data in cursor:
            try:
                event = decode(data)
            except msgspec.ValidationError:
                continue
            yield wrap(run_id, seq, t, event)

    def call_texts(self, call_id: int) -> CallTexts | None:
        """One call with its texts."""
        rows = self.select(f"select {_TEXTS} from call_texts where id = ?", call_id)
        return _texts(rows[0]) if rows else None

    def calls(self, run_id: str) -> Iterator[CallTexts]:
        """A run's calls with their texts, in the order they were asked."""
        for row in self._execute(f"select {_TEXTS} from call_texts where run_id = ? order by seq", run_id):
            yield _texts(row)

    def select(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            LogError: if the log cannot be read.
        """
        try:
            return self._execute(sql, *values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def each(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query one by one, for queries with many rows.

        Raises:
            LogError: if the log cannot be read.
        """
        try:
            yield from self._execute(sql, *values)
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run a query, again if it failed because a run has just migrated an older log."""
        try:
            return self._connection.execute(sql, values)
        except sqlite3.OperationalError:
            if not brought_up_to_date(self._connection):
                raise
            return self._connection.execute(sql, values)

    def _unreadable(self, error: sqlite3.Error) -> LogError:
        return LogError(f"The audit log {self.path} cannot be read ({error}).")


_TEXT_FIELDS = msgspec.structs.fields(CallTexts)


def _or_default(field: msgspec.structs.FieldInfo, value: Any) -> Any:
    if value is None:
        return None if field.default is msgspec.NODEFAULT else field.default
    return bool(value) if field.type in (bool, bool | None) else value


def _texts(row: tuple[Any, ...]) -> CallTexts:
    return CallTexts(*(_or_default(field, value) for field, value in zip(_TEXT_FIELDS, row, strict=True)))
