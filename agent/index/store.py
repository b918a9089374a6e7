"""The index database, rebuilt from the repo at any time: files, symbols, references, edges, commits, search rows.

A file's number is made from its path and its rows' number from path and content, so that a first build, a later refresh and
builds at the same time write the same tables. Source text is not kept: the search tables hold words without the text.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent.index.extract import Extract, row_base, unpacked
from agent.index.integrity import is_cut_short

SCHEMA_VERSION = 9
"""Raised whenever tables or what parsers store in them change; another version on disk is thrown away."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, row_base INTEGER NOT NULL DEFAULT 0, language TEXT NOT NULL DEFAULT '',
  lines INTEGER NOT NULL DEFAULT 0, size INTEGER NOT NULL DEFAULT 0, sha TEXT NOT NULL DEFAULT '',
  encoding TEXT NOT NULL DEFAULT '', is_test INTEGER NOT NULL DEFAULT 0, skipped TEXT NOT NULL DEFAULT '',
  errors INTEGER NOT NULL DEFAULT 0, symbols INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0,
  purpose TEXT NOT NULL DEFAULT '', domain TEXT NOT NULL DEFAULT '', concepts TEXT NOT NULL DEFAULT '[]',
  surface TEXT NOT NULL DEFAULT '[]');
CREATE INDEX files_rows ON files (row_base);
CREATE TABLE contents (
  file_id INTEGER PRIMARY KEY, symbols BLOB NOT NULL, links BLOB NOT NULL, uses BLOB NOT NULL, lengths BLOB NOT NULL);
CREATE TABLE names (
  name TEXT NOT NULL, file_id INTEGER NOT NULL, kinds INTEGER NOT NULL, PRIMARY KEY (name, file_id)) WITHOUT ROWID;
CREATE TABLE renames (
  name TEXT NOT NULL, alias TEXT NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY (name, alias, file_id)) WITHOUT ROWID;
CREATE TABLE edges (
  source INTEGER NOT NULL, target INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (source, target, kind)) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target);
CREATE TABLE enrichment (
  sha TEXT PRIMARY KEY, purpose TEXT NOT NULL, domain TEXT NOT NULL, concepts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (id INTEGER PRIMARY KEY, sha TEXT NOT NULL, width INTEGER NOT NULL, words INTEGER NOT NULL);
CREATE TABLE commit_files (
  file_id INTEGER NOT NULL, commit_id INTEGER NOT NULL, PRIMARY KEY (file_id, commit_id)) WITHOUT ROWID;
CREATE INDEX commit_files_commit ON commit_files (commit_id);
CREATE TABLE stamps (file_id INTEGER PRIMARY KEY, mtime_ns INTEGER NOT NULL);
CREATE TABLE left_over (row_base INTEGER PRIMARY KEY, rows INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
  name, head, body, content = '', detail = 'column', columnsize = 0, tokenize = "porter ascii tokenchars '_'");
CREATE VIRTUAL TABLE messages USING fts5 (
  message, content = '', detail = 'none', columnsize = 0, tokenize = "porter ascii tokenchars '_'");
"""
# words: one row a file and one a symbol, numbered row_base + place, each word once. Rows of replaced content cannot be
# deleted from a table without text, and need not be: they belong to no file. ``left_over`` remembers them in case the
# content comes back, and the tables are built afresh when they are many.

_MOST_LEFT_OVER = 20_000


class IndexUnavailable(RuntimeError):
    """The index cannot be kept where it was asked to be; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the index remembers about a path between refreshes."""

    id: int
    mtime_ns: int
    size: int
    sha: str
    skipped: str


class Store:
    """One connection, one lock: every method may be called from any thread. Use ``writing()`` around changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._open()

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if self.path.parent.name == ".clean_room" and not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            self._db, saved = self._connect()
        except (OSError, sqlite3.OperationalError) as error:
            raise IndexUnavailable(
                f"The index {self.path} cannot be opened or written ({error}). Make its folder "
                "writable, or name another place for it."
            ) from error
        if saved:
            self._db.executemany("INSERT OR REPLACE INTO enrichment VALUES (?, ?, ?, ?)", saved)

    def _connect(self) -> tuple[sqlite3.Connection, list[tuple[str, str, str, str]]]:
        saved: list[tuple[str, str, str, str]] = []
        if self.path.exists() and is_cut_short(self.path):
            self._delete()
        if self.path.exists():
            db = None
            try:
                db = self._raw()
                row = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
                if row and row[0] == str(SCHEMA_VERSION):
                    return db, saved
                saved = db.execute("SELECT sha, purpose, domain, concepts FROM enrichment").fetchall()
            except sqlite3.DatabaseError as error:
                if "locked" in str(error) or "unable to open" in str(error) or "readonly" in str(error):
                    raise
            if db is not None:
                db.close()
            self._delete()
        db = self._raw()
        db.execute("BEGIN IMMEDIATE")  # two processes may come here at once: the second finds the tables made
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('version', ?)", (str(SCHEMA_VERSION),))
        db.execute("COMMIT")
        return db, saved

    def _raw(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=15, check_same_thread=False, isolation_level=None)
        try:
            with suppress(sqlite3.OperationalError):  # another process is switching it over right now
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA cache_size = -32000")
            db.execute("PRAGMA temp_store = MEMORY")
        except sqlite3.DatabaseError:
            db.close()
            raise
        return db

    def _delete(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").unlink()

    def rebuild(self) -> None:
        """Throws the database away and starts an empty one; what a model said about files is kept where readable."""
        with self.lock:
            saved: list[tuple[str, str, str, str]] = []
            with suppress(sqlite3.DatabaseError):
                saved = self._db.execute("SELECT sha, purpose, domain, concepts FROM enrichment").fetchall()
            self._db.close()
            self._delete()
            self._open()
            with suppress(sqlite3.DatabaseError):
                self._db.executemany("INSERT OR REPLACE INTO enrichment VALUES (?, ?, ?, ?)", saved)

    def close(self) -> None:
        with self.lock:
            self._db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or none."""
        with self.lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                with suppress(sqlite3.DatabaseError):
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, parameters: tuple[object, ...] | list[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.lock:
            return self._db.execute(sql, parameters).fetchall()

    def meta(self, key: str) -> str:
        found = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return found[0][0] if found else ""

    def set_meta(self, key: str, value: str) -> None:
        with self.lock:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def known(self, paths: list[str] | None = None) -> dict[str, Known]:
        """What is remembered of all paths, or of these."""
        sql = "SELECT path, id, coalesce(mtime_ns, -1), size, sha, skipped FROM files LEFT JOIN stamps ON file_id = id"
        rows = self.rows(sql) if paths is None else [r for p in paths for r in self.rows(f"{sql} WHERE path = ?", (p,))]
        return {path: Known(*rest) for path, *rest in rows}

    def compact(self) -> None:
        """Joins what a first build wrote in many pieces: a tenth smaller, and quicker to search."""
        with self.lock:
            for table in ("words", "messages"):
                self._db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def outgrown(self) -> bool:
        """Whether rows of replaced content have become so many that the tables should be built afresh."""
        [(left,)] = self.rows("SELECT coalesce(sum(rows), 0) FROM left_over")
        if left <= _MOST_LEFT_OVER:
            return False
        [(live,)] = self.rows("SELECT coalesce(sum(symbols), 0) FROM files")
        return bool(left > live)


@lru_cache(maxsize=1 << 14)
def file_number(path: str) -> int:
    """The number of a path, the same in every index: 62 bits of its digest."""
    return int.from_bytes(hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest()[:8], "big") >> 2


def _row_base(path: str, sha: str) -> int:
    digest = hashlib.sha256(f"{path}\0{sha}".encode()).digest()
    return row_base(int.from_bytes(digest[:8], "big") >> 2)


def put_files(db: sqlite3.Connection, found: Iterable[Extract]) -> None:
    """Writes files with all their rows in place of what was there. Call inside ``writing()``.

    Rows are written in the order of their tables. The full-text index flushes what it holds in memory at each row number
    that is below the last one, so files in any other order leave it hundreds of small pieces to merge
    (``sqlite3Fts5IndexBeginWrite`` in SQLite's ``fts5_index.c``).
    """
    placed = sorted((_row_base(one.path, one.sha) if one.rows else 0, file_number(one.path), one) for one in found)
    files: list[tuple[object, ...]] = []
    contents: list[tuple[object, ...]] = []
    names: list[tuple[str, int, int]] = []
    renames: list[tuple[str, str, int]] = []
    words: list[tuple[int, str, str, str]] = []
    for base, number, one in placed:
        _clear(db, number)
        files.append(
            (number, one.path, base, one.language, one.lines, one.size, one.sha, one.encoding, one.is_test, one.errors,
             one.symbol_count, one.words, one.purpose, one.domain, json.dumps(one.concepts), json.dumps(one.surface))
        )  # fmt: skip
        if not one.rows:
            continue
        contents.append((number, one.symbols, one.links, one.uses, one.lengths))
        names += [(name, number, kinds) for name, kinds in one.names]
        renames += [(name, alias, number) for name, alias in one.renames]
        if db.execute("DELETE FROM left_over WHERE row_base = ?", (base,)).rowcount < 1:
            words += [(base + place, name, head, body) for place, name, head, body in one.rows]
    db.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?)", files)
    db.executemany("INSERT INTO stamps VALUES (?, ?)", [(number, one.mtime_ns) for _, number, one in placed])
    db.executemany("INSERT INTO contents VALUES (?, ?, ?, ?, ?)", contents)
    db.executemany("INSERT INTO names VALUES (?, ?, ?)", sorted(names))
    db.executemany("INSERT INTO renames VALUES (?, ?, ?)", sorted(renames))
    db.executemany("INSERT INTO words (rowid, name, head, body) VALUES (?, ?, ?, ?)", words)


def put_skipped(db: sqlite3.Connection, found: Extract) -> None:
    """Remembers why a file was left out, so that it is not read again until it changes."""
    number = file_number(found.path)
    _clear(db, number)
    db.execute(
        "INSERT INTO files (id, path, size, skipped) VALUES (?, ?, ?, ?)", (number, found.path, found.size, found.reason)
    )
    db.execute("INSERT INTO stamps VALUES (?, ?)", (number, found.mtime_ns))


def remove_file(db: sqlite3.Connection, number: int) -> None:
    """Takes a file and everything known about it out."""
    _clear(db, number)
    db.execute("DELETE FROM edges WHERE source = ? OR target = ?", (number, number))


def _clear(db: sqlite3.Connection, number: int) -> None:
    old = db.execute("SELECT row_base, symbols FROM files WHERE id = ?", (number,)).fetchone()
    if old is None:
        return
    if old[0]:
        db.execute("INSERT OR REPLACE INTO left_over VALUES (?, ?)", (old[0], old[1] + 1))
    [symbols] = db.execute("SELECT symbols FROM contents WHERE file_id = ?", (number,)).fetchone() or [b""]
    db.executemany("DELETE FROM names WHERE name = ? AND file_id = ?", {(s[0], number) for s in unpacked(symbols)})
    db.execute("DELETE FROM renames WHERE file_id = ?", (number,))
    for table in ("contents", "stamps"):
        db.execute(f"DELETE FROM {table} WHERE file_id = ?", (number,))
    db.execute("DELETE FROM edges WHERE source = ?", (number,))
    db.execute("DELETE FROM files WHERE id = ?", (number,))
