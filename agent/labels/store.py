"""The person's store of labels from all their repositories: a log like a repository's, into which labelled calls are copied
with their prompts. What reads a log reads the store too (``cra labels``, ``cra calibrate``, ``cra evaluate``).

It exists only where ``judgment.pool`` is on. Its prompts hold source code, so it is in the state directory, readable only by
its owner.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from agent.audit.log import LogError, known_log, open_database
from agent.audit.reader import LogReader
from agent.config.schema import Config
from agent.directories import state_directory

_LABELLED_CALLS = (
    "select id from source.calls where binary = 1 and judgment in"
    " (select judgment from source.calls where id in (select call_id from source.labels))"
)
"""Every call of a judgment with a label, whichever model it asked."""
_LABELLED_RUNS = f"select run_id from source.calls where id in ({_LABELLED_CALLS})"
_SAME_CALL = "c.run_id = s.run_id and c.seq = s.seq and c.judgment is s.judgment"
_NOT_COPIED = frozenset({"id", "cached_from", "cache_key"})
"""Columns of a call that have a meaning only in its own log; an answer of another repository is never reused."""


class StoreFacts(msgspec.Struct, frozen=True):
    """What the store holds: labelled calls, and the repositories they come from."""

    path: Path
    labelled: int
    repositories: tuple[str, ...]


def store_path() -> Path:
    """The path of the store, which need not exist."""
    return state_directory() / "labels" / "raw.sqlite"


def gather(logs: Iterable[Path], store: Path) -> int:
    """Copy the labelled calls of some logs that are not yet in the store, and withdraw there what was withdrawn. Each log is
    copied as a whole or not at all. Returns how many labels were new.

    Raises:
        LogError: a log or the store cannot be read or written.
    """
    store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = 0
    for log in logs:
        if not log.is_file():
            raise LogError(f"There is no audit log at {log}. Run a task there first.")
        open_database(log).close()  # brought up to date, so that both have the same columns
        db = open_database(store)
        try:
            new += _copy(db.conn, log)
        except sqlite3.Error as error:
            raise LogError(f"The labels of {log} could not be copied to {store} ({error}). Try again.") from error
        finally:
            db.close()
    return new


def _copy(connection: sqlite3.Connection, log: Path) -> int:
    connection.execute("attach database ? as source", (str(log),))
    connection.execute("begin immediate")
    try:
        names = [row[1] for row in connection.execute("pragma table_info(calls)") if row[1] not in _NOT_COPIED]
        columns = ", ".join(names)
        connection.execute(f"insert or ignore into runs select * from source.runs where id in ({_LABELLED_RUNS})")
        for column in ("system_sha", "task_context_sha", "examples_sha"):
            shas = f"select {column} from source.calls where id in ({_LABELLED_CALLS})"
            connection.execute(f"insert or ignore into prompts select * from source.prompts where sha in ({shas})")
        connection.execute(
            f"insert into calls ({columns}) select {columns} from source.calls s where id in ({_LABELLED_CALLS})"
            f" and not exists (select 1 from calls c where {_SAME_CALL}) order by id"
        )
        added = connection.execute(
            "insert into labels (call_id, label, source, note, guideline, created_at)"
            " select c.id, l.label, l.source, l.note, l.guideline, l.created_at from source.labels l"
            f" join source.calls s on s.id = l.call_id join calls c on {_SAME_CALL}"
            " where not exists (select 1 from labels k where k.call_id = c.id and k.created_at = l.created_at"
            " and k.label is l.label and k.source = l.source) order by l.id"
        ).rowcount
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise
    return added


def gather_if_pooled(log: Path, config: Config) -> int:
    """Copy the labels of a log into the person's store where ``judgment.pool`` is on. Returns how many were new.

    Raises:
        LogError: as :func:`gather`.
    """
    return gather([log], store_path()) if config.judgment.pool and log.is_file() else 0


@contextmanager
def labelled_log(repos: Sequence[Path], *, shared: bool = False) -> Iterator[LogReader]:
    """A reader of the labels of some repositories together, or (``shared``) of the person's store after the labels of
    ``repos`` were added to it. The labelled calls of several repositories are copied to a temporary log, whose call ids are
    its own.

    Raises:
        LogError: a log cannot be read.
    """
    logs = [known_log(repo) for repo in repos]
    with tempfile.TemporaryDirectory(prefix="cra-labels-") as folder:
        log = logs[0] if logs else store_path()
        if shared or len(logs) > 1:
            log = store_path() if shared else Path(folder) / "raw.sqlite"
            gather((one for one in logs if one.is_file()) if shared else logs, log)
        reader = LogReader(log)
        try:
            yield reader
        finally:
            reader.close()


def store_facts(store: Path) -> StoreFacts:
    """What a store holds; nothing where there is none.

    Raises:
        LogError: it cannot be read.
    """
    if not store.is_file():
        return StoreFacts(store, 0, ())
    reader = LogReader(store)
    try:
        last = "select max(id) from labels group by call_id"
        [(labelled,)] = reader.select(f"select count(*) from labels where id in ({last}) and label is not null")
        places = tuple(row[0] for row in reader.select("select distinct repo from runs order by 1"))
        return StoreFacts(store, labelled, places)
    finally:
        reader.close()
