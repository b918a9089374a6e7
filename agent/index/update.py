"""Brings the stored rows of files up to date: reads what changed, parses it, resolves its includes and imports."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from agent.index.extract import Extract
from agent.index.references import write_edges
from agent.index.resolve import ProjectResolver
from agent.index.store import Known, Store, file_number, put_files, put_skipped, remove_file
from agent.index.worker import Job
from agent.index.workers import extracted
from agent.languages import LANGUAGES

Progress = Callable[[int, int, str], None]
"""Called with files done, files to do and the path at hand."""

_EDGES = "edges"
_WHOLE = "whole"
"""What the store's ``meta`` says of the edges while they fit its files. Files are written in many transactions and edges
after them: a process that is killed in between leaves another value, and the next one relates all files."""

_BATCH = 256


class Updater:
    """Writes files of one root into one store. ``resolver`` fits the files as of the last ``relate``."""

    def __init__(self, root: Path, store: Store, max_file_bytes: int, configured: tuple[str, ...]) -> None:
        self.root = root
        self._store = store
        self._max_file_bytes = max_file_bytes
        self._configured = configured
        self.resolver: ProjectResolver | None = None
        self._left_unrelated = False

    def forget_if_limits_changed(self) -> None:
        """Files left out under another size limit must be looked at again."""
        limit = str(self._max_file_bytes)
        if self._store.meta("max_file_bytes") != limit:
            with self._store.writing() as db:
                db.execute("UPDATE stamps SET mtime_ns = -1")
                db.execute("INSERT OR REPLACE INTO meta VALUES ('max_file_bytes', ?)", (limit,))

    def read(
        self, paths: list[str], known: dict[str, Known], progress: Progress | None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> list[str]:  # fmt: skip
        """Reads and writes what differs from what is known, many files in one transaction; returns the changed paths.
        ``meanwhile`` is done after the workers have begun and before the first of their results is written."""
        self._left_unrelated |= self._store.meta(_EDGES) != _WHOLE
        jobs: list[Job] = []
        for path in paths:
            try:
                now = os.stat(os.path.join(self.root, path))
            except (OSError, ValueError):
                continue
            before = known.get(path)
            if before is None or before.mtime_ns != now.st_mtime_ns or before.size != now.st_size:
                jobs.append((path, before.sha if before else ""))
        changed: list[str] = []
        with extracted(self.root, jobs, self._max_file_bytes) as results:
            meanwhile()
            for at in range(0, len(jobs), _BATCH):
                read: list[Extract] = []
                for number, (path, _) in enumerate(jobs[at : at + _BATCH], at + 1):
                    if (found := next(results)) is not None:
                        read.append(found)
                    if progress:
                        progress(number, len(jobs), path)
                with self._store.writing() as db:
                    changed += _write(db, read, known)
                    if changed:
                        _set_unrelated(db)
        return changed

    def remove(self, numbers: list[int]) -> None:
        """Takes files out."""
        if numbers:
            with self._store.writing() as db:
                for number in numbers:
                    remove_file(db, number)
                _set_unrelated(db)

    def relate(self, changed: list[str], *, rebuild: bool) -> None:
        """Brings the edges up to date: of the changed files, or of all when files came, went or search paths changed."""
        rebuild = rebuild or self._left_unrelated
        self._relate(changed, rebuild=rebuild)
        if changed or rebuild:
            self._store.set_meta(_EDGES, _WHOLE)
            self._left_unrelated = False

    def _relate(self, changed: list[str], *, rebuild: bool) -> None:
        if rebuild or self.resolver is None or any(language.is_build_file(p) for language in LANGUAGES for p in changed):
            paths = [row[0] for row in self._store.rows("SELECT path FROM files WHERE skipped = ''")]
            folders = {one.name: one.search_folders(self.root, paths, self._configured) for one in LANGUAGES}
            fingerprint = json.dumps(folders)
            self.resolver = ProjectResolver(paths, folders)
            if rebuild or fingerprint != self._store.meta("include_paths"):
                write_edges(self._store, self.resolver)
                self._store.set_meta("include_paths", fingerprint)
                return
        if changed:
            write_edges(self._store, self.resolver, changed)


def _set_unrelated(db: sqlite3.Connection) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, '')", (_EDGES,))


def _write(db: sqlite3.Connection, read: Iterable[Extract], known: Mapping[str, Known]) -> list[str]:
    """Writes files; returns the paths of those whose content is not what was known."""
    changed: list[str] = []
    fresh: list[Extract] = []
    for found in read:
        number, before = file_number(found.path), known.get(found.path)
        if found.reason:
            remove_file(db, number)
            put_skipped(db, found)
            if before is None or before.skipped != found.reason:
                changed.append(found.path)
        elif found.same:
            db.execute("UPDATE files SET size = ? WHERE id = ?", (found.size, number))
            db.execute("INSERT OR REPLACE INTO stamps VALUES (?, ?)", (number, found.mtime_ns))
        else:
            fresh.append(found)
            changed.append(found.path)
    put_files(db, fresh)
    return changed
