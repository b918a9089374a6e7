"""The index database, rebuilt from the repo at any time: files, symbols, references, edges, commits, full text."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.index.intact import is_cut_short
from agent.index.words import searchable
from agent.language.symbols import ParsedFile, Symbol

SCHEMA_VERSION = 7
"""Raised whenever tables or what parsers store in them change; another version on disk is thrown away."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL DEFAULT '', lines INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0, mtime_ns INTEGER NOT NULL DEFAULT 0, sha TEXT NOT NULL DEFAULT '',
  is_test INTEGER NOT NULL DEFAULT 0, skipped TEXT NOT NULL DEFAULT '', errors INTEGER NOT NULL DEFAULT 0,
  doc TEXT NOT NULL DEFAULT '', purpose TEXT NOT NULL DEFAULT '', domain TEXT NOT NULL DEFAULT '',
  concepts TEXT NOT NULL DEFAULT '[]', surface TEXT NOT NULL DEFAULT '[]');
CREATE TABLE symbols (
  id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL,
  end_line INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL,
  parent TEXT NOT NULL, body_start INTEGER NOT NULL, body_end INTEGER NOT NULL, doc_start INTEGER NOT NULL,
  static INTEGER NOT NULL);
CREATE INDEX symbols_file ON symbols (file_id);
CREATE INDEX symbols_name ON symbols (name);
CREATE TABLE refs (
  file_id INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, line INTEGER NOT NULL, source TEXT NOT NULL,
  system INTEGER NOT NULL, alias TEXT NOT NULL);
CREATE INDEX refs_file ON refs (file_id, kind);
CREATE INDEX refs_target ON refs (target);
CREATE INDEX refs_import ON refs (target, alias) WHERE kind = 'import';
CREATE TABLE edges (
  source INTEGER NOT NULL, target INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (source, target, kind)) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target);
CREATE TABLE enrichment (
  sha TEXT PRIMARY KEY, purpose TEXT NOT NULL, domain TEXT NOT NULL, concepts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
  id INTEGER PRIMARY KEY, sha TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, width INTEGER NOT NULL,
  message TEXT NOT NULL);
CREATE TABLE commit_files (
  commit_id INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (path, commit_id)) WITHOUT ROWID;
CREATE INDEX commit_files_commit ON commit_files (commit_id);
CREATE VIRTUAL TABLE names_fts USING fts5 (path, names, docs, tokenize = "porter unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE text_fts USING fts5 (body, tokenize = "porter unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE symbols_fts USING fts5 (name, doc, body, tokenize = "porter unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE commits_fts USING fts5 (message, tokenize = "porter unicode61 tokenchars '_'");
"""


UNSEARCHED = ("prototype", "enumerator")
"""Kinds that are no search results of their own: what they declare or belong to is."""


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


@dataclass(slots=True)
class FileRow:
    """One file as it is written to the index."""

    path: str
    language: str
    lines: int
    size: int
    mtime_ns: int
    sha: str
    is_test: bool
    purpose: str = ""
    domain: str = ""
    concepts: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()


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
        sql = "SELECT path, id, mtime_ns, size, sha, skipped FROM files"
        rows = self.rows(sql) if paths is None else [r for p in paths for r in self.rows(f"{sql} WHERE path = ?", (p,))]
        return {path: Known(*rest) for path, *rest in rows}


def put_file(db: sqlite3.Connection, row: FileRow, parsed: ParsedFile, source: bytes) -> int:
    """Writes a file with all its rows in place of what was there; the id of a path stays. Call inside ``writing()``."""
    file_id = _upsert(db, row.path)
    db.execute(
        "UPDATE files SET language=?, lines=?, size=?, mtime_ns=?, sha=?, is_test=?, skipped='', errors=?, doc=?, "
        "purpose=?, domain=?, concepts=?, surface=? WHERE id=?",
        (row.language, row.lines, row.size, row.mtime_ns, row.sha, row.is_test, parsed.errors, parsed.doc, row.purpose,
         row.domain, json.dumps(row.concepts), json.dumps(row.surface), file_id),
    )  # fmt: skip
    _put_symbols(db, file_id, parsed, source)
    db.executemany(
        "INSERT INTO refs VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(file_id, r.kind, r.target, r.line, r.source, r.system, r.alias) for r in parsed.references],
    )
    names = " ".join(dict.fromkeys(s.name for s in parsed.symbols))
    docs = "\n".join([parsed.doc, *(s.doc for s in parsed.symbols if s.doc)])
    db.execute(
        "INSERT INTO names_fts (rowid, path, names, docs) VALUES (?, ?, ?, ?)",
        (file_id, searchable(row.path), searchable(names), searchable(docs)),
    )
    text = searchable(source.decode("utf-8", "replace"))
    db.execute("INSERT INTO text_fts (rowid, body) VALUES (?, ?)", (file_id, text))
    return file_id


def _put_symbols(db: sqlite3.Connection, file_id: int, parsed: ParsedFile, source: bytes) -> None:
    [(next_id,)] = db.execute("SELECT coalesce(max(id), 0) + 1 FROM symbols").fetchall()
    numbered = list(enumerate(parsed.symbols, next_id))
    db.executemany(
        "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(i, file_id, s.name, s.kind, s.line, s.end_line, s.start, s.end, s.signature, s.doc, s.parent, s.body_start,
          s.body_end, s.doc_start, s.static) for i, s in numbered],
    )  # fmt: skip
    members: dict[str, list[Symbol]] = {}
    for symbol in parsed.symbols:
        members.setdefault(symbol.parent, []).append(symbol)
    texts = []
    for i, s in numbered:
        if s.kind not in UNSEARCHED:
            body = _own_text(s, source, members.get(s.qualified, []))
            head = searchable(f"{s.signature} {s.doc}")
            texts.append((i, searchable(f"{s.parent} {s.name}"), head, searchable(body)))
    db.executemany("INSERT INTO symbols_fts (rowid, name, doc, body) VALUES (?, ?, ?, ?)", texts)


def _own_text(symbol: Symbol, source: bytes, members: list[Symbol]) -> str:
    """A symbol's source without that of its members, which stand for themselves."""
    pieces, at = [], symbol.start
    for member in members:
        if at <= member.start and member.end <= symbol.end:
            pieces.append(source[at : member.start])
            at = member.end
    pieces.append(source[at : symbol.end])
    return b" ".join(pieces).decode("utf-8", "replace")


def put_skipped(db: sqlite3.Connection, path: str, reason: str, mtime_ns: int, size: int) -> None:
    """Remembers why a file was left out, so that it is not read again until it changes."""
    file_id = _upsert(db, path)
    db.execute(
        "UPDATE files SET skipped=?, mtime_ns=?, size=?, sha='', language='', lines=0, is_test=0, "
        "errors=0, doc='', purpose='', domain='', "
        "concepts='[]', surface='[]' WHERE id=?",
        (reason, mtime_ns, size, file_id),
    )


def remove_file(db: sqlite3.Connection, file_id: int) -> None:
    """Takes a file and everything known about it out."""
    _clear(db, file_id)
    db.execute("DELETE FROM edges WHERE source = ? OR target = ?", (file_id, file_id))
    db.execute("DELETE FROM files WHERE id = ?", (file_id,))


def _upsert(db: sqlite3.Connection, path: str) -> int:
    found = db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    if found is None:
        return int(db.execute("INSERT INTO files (path) VALUES (?)", (path,)).lastrowid or 0)
    _clear(db, found[0])
    return int(found[0])


def _clear(db: sqlite3.Connection, file_id: int) -> None:
    for sql in (
        "DELETE FROM symbols_fts WHERE rowid IN (SELECT id FROM symbols WHERE file_id = ?)",
        "DELETE FROM symbols WHERE file_id = ?",
        "DELETE FROM refs WHERE file_id = ?",
        "DELETE FROM edges WHERE source = ?",
        "DELETE FROM names_fts WHERE rowid = ?",
        "DELETE FROM text_fts WHERE rowid = ?",
    ):
        db.execute(sql, (file_id,))
