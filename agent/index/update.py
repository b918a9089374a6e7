"""Brings the stored rows of files up to date: reads what changed, parses it, resolves its includes and imports."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from agent.c.include_paths import include_paths, is_build_file
from agent.index import scan
from agent.index.metadata import describe
from agent.index.references import write_edges
from agent.index.resolve import Resolver
from agent.index.store import FileRow, Known, Store, put_file, put_skipped
from agent.languages import ParsedFile, language_of, parse_file

Progress = Callable[[int, int, str], None]
"""Called with files done, files to do and the path at hand."""

_BATCH = 64
_RACY_NS = 2_000_000_000


class Updater:
    """Writes files of one root into one store. ``resolver`` fits the files as of the last ``relate``."""

    def __init__(self, root: Path, store: Store, max_file_bytes: int, configured: tuple[str, ...]) -> None:
        self.root = root
        self._store = store
        self._max_file_bytes = max_file_bytes
        self._configured = configured
        self.resolver: Resolver | None = None

    def forget_if_limits_changed(self) -> None:
        """Files left out under another size limit must be looked at again."""
        limit = str(self._max_file_bytes)
        if self._store.meta("max_file_bytes") != limit:
            with self._store.writing() as db:
                db.execute("UPDATE files SET mtime_ns = -1")
                db.execute("INSERT OR REPLACE INTO meta VALUES ('max_file_bytes', ?)", (limit,))

    def read(self, paths: list[str], known: dict[str, Known], progress: Progress | None) -> list[str]:
        """Reads and writes what differs from what is known, in batches of one transaction; returns the changed paths."""
        work: list[tuple[str, os.stat_result]] = []
        for path in paths:
            try:
                now = os.stat(os.path.join(self.root, path))
            except (OSError, ValueError):
                continue
            before = known.get(path)
            if before is None or before.mtime_ns != now.st_mtime_ns or before.size != now.st_size:
                work.append((path, now))
        changed: list[str] = []
        for at in range(0, len(work), _BATCH):
            with self._store.writing() as db:
                for offset, (path, now) in enumerate(work[at : at + _BATCH]):
                    if self._take(db, path, now, known.get(path)):
                        changed.append(path)
                    if progress:
                        progress(at + offset + 1, len(work), path)
        return changed

    def _take(self, db: sqlite3.Connection, path: str, now: os.stat_result, before: Known | None) -> bool:
        """Reads one file and writes it; False when its content is what was known."""
        data, reason = scan.read_source(self.root / path, self._max_file_bytes)
        # A file written within the clock's grain may change again without its time changing: look again next time.
        mtime = now.st_mtime_ns if time.time_ns() - now.st_mtime_ns > _RACY_NS else -1
        if reason:
            put_skipped(db, path, reason, mtime, now.st_size)
            return before is None or before.skipped != reason
        sha = hashlib.sha256(data).hexdigest()
        if before is not None and before.sha == sha:
            db.execute("UPDATE files SET mtime_ns = ?, size = ? WHERE id = ?", (mtime, len(data), before.id))
            return False
        parsed = _parse(path, data)
        about = describe(path, parsed)
        row = FileRow(
            path, language_of(path), _count_lines(data), len(data), mtime, sha, scan.is_test(path),
            about.purpose, about.domain, about.concepts, about.surface,
        )  # fmt: skip
        put_file(db, row, parsed, data)
        return True

    def relate(self, changed: list[str], *, rebuild: bool) -> None:
        """Brings the edges up to date: of the changed files, or of all when files came, went or search paths changed."""
        if rebuild or self.resolver is None or any(is_build_file(p) for p in changed):
            paths = [row[0] for row in self._store.rows("SELECT path FROM files WHERE skipped = ''")]
            folders = include_paths(self.root, paths, self._configured)
            fingerprint = json.dumps(folders)
            self.resolver = Resolver(paths, folders)
            if rebuild or fingerprint != self._store.meta("include_paths"):
                write_edges(self._store, self.resolver)
                self._store.set_meta("include_paths", fingerprint)
                return
        if changed:
            write_edges(self._store, self.resolver, changed)


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def _parse(path: str, data: bytes) -> ParsedFile:
    """What the language's parser says; a parser that stumbles over a file leaves it searchable as text."""
    try:
        return parse_file(path, data)
    except Exception:  # any parser, any input: one odd file must not cost the whole index
        return ParsedFile(language=language_of(path), symbols=(), errors=1)
