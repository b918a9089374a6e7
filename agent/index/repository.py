"""The index of one repository: refresh it, ask it. Synchronous; every method may be called from any thread."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from agent.folders import WHAT_TO_DO, no_folder
from agent.index import history, scan, search
from agent.index.entries import FileEntry, IndexedSymbol, LibrarySymbol, RefreshReport
from agent.index.references import References
from agent.index.resolve import ProjectResolver
from agent.index.source import MAX_FILE_BYTES, read_source
from agent.index.store import IndexUnavailable, Store
from agent.index.update import Progress, Updater
from agent.languages import language_of, parser_for
from agent.workspace.clean_room import claim
from agent.workspace.git import WorkspaceError, discover

_FILE_COLUMNS = (
    "f.path, f.language, f.lines, f.size, f.is_test, coalesce(e.purpose, f.purpose), coalesce(e.domain, f.domain), "
    "coalesce(e.concepts, f.concepts), f.surface, f.sha, f.errors"
)


class Index:
    """Files, symbols, references, history and search of one folder. Open it with ``Index.open``."""

    def __init__(
        self,
        root: Path,
        store: Store,
        max_file_bytes: int,
        include_dirs: tuple[str, ...],
        hidden: tuple[str, ...],
        max_commits: int,
    ) -> None:
        self._hidden, self._max_commits = hidden, max_commits
        self.root = root
        self._store = store
        self._max_file_bytes = max_file_bytes
        self._updater = Updater(root, store, max_file_bytes, include_dirs)
        self._references = References(store)
        self._refreshing = threading.RLock()

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        db_path: Path | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        include_paths: Iterable[str] = (),
        hidden: Iterable[str] = (),
        max_commits: int = history.MAX_COMMITS,
    ) -> Index:
        """Opens or creates the index of ``root``; nothing is read from the repository until ``refresh``.

        The database is ``<root>/.clean_room/index.sqlite`` unless ``db_path`` names another place (a worktree's index
        may live in the user's checkout). ``hidden`` names files and folders (``acceptance/``) that are left out as if they
        were not there. ``max_commits`` bounds the history that is read. Raises ``IndexUnavailable`` when the root is not a
        folder or the place not writable.
        """
        root = Path(os.path.abspath(root))
        if why := no_folder(root):
            raise IndexUnavailable(f"{why} {WHAT_TO_DO}")
        try:
            discover(root)  # refuses a bare repository and one that git does not trust, with what to do
            store = Store(Path(db_path) if db_path else claim(root).folder / "index.sqlite")
        except WorkspaceError as error:
            raise IndexUnavailable(str(error)) from error
        return cls(root, store, max_file_bytes, tuple(str(p) for p in include_paths), tuple(hidden), max_commits)

    def close(self) -> None:
        """Closes the database. The index cannot be used afterwards."""
        self._store.close()

    # refreshing

    def refresh(self, progress: Progress | None = None) -> RefreshReport:
        """Brings the index up to date: only what changed is read. A damaged database is rebuilt.

        Raises ``IndexUnavailable`` when another process holds the database.
        """
        with self._refreshing:
            try:
                return self._refresh(progress)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                    raise IndexUnavailable(
                        f"The index {self._store.path} is being written by another process. Try again "
                        "when that has finished."
                    ) from error
                return self._again(progress)
            finally:
                self._references.forget()

    def _again(self, progress: Progress | None) -> RefreshReport:
        """Rebuild a damaged database and read everything."""
        try:
            self._store.rebuild()
            return self._refresh(progress)
        except sqlite3.Error as error:
            raise IndexUnavailable(
                f"The index {self._store.path} cannot be written ({error}). Free some space or repair its folder."
            ) from error

    def _refresh(self, progress: Progress | None) -> RefreshReport:
        began = time.monotonic()
        if self._store.outgrown():
            self._store.rebuild()
        self._updater.forget_if_limits_changed()
        listing = self._listing()
        known = self._store.known()
        changed = self._updater.read(
            listing.paths, known, progress, lambda: history.refresh_history(self._store, self.root, self._max_commits)
        )
        gone = [known[path].id for path in known.keys() - set(listing.paths)]
        self._updater.remove(gone)
        self._updater.relate(changed, rebuild=bool(gone) or any(path not in known for path in changed))
        if changed and not known:
            self._store.compact()
        return self._report(listing, len(changed), len(gone), began)

    def refresh_files(self, paths: Iterable[str]) -> list[str]:
        """Re-reads just these paths (relative, ``/``-separated) after an edit; returns those that changed or went.

        A path that the repository ignores is not taken in.
        """
        with self._refreshing:
            asked = list(dict.fromkeys(str(p) for p in paths))
            known = self._store.known(asked)
            fresh = [p for p in asked if p not in known and os.path.lexists(self.root / p)]
            allowed = set(self._listing(fresh).paths) if fresh else set()
            present = [
                p
                for p in asked
                if (p in known or p in allowed) and (self.root / p).is_file() and not (self.root / p).is_symlink()
            ]
            changed = self._updater.read(present, known, None)
            gone = [p for p in known if p not in present]
            self._updater.remove([known[path].id for path in gone])
            if changed or gone:
                self._updater.relate(changed, rebuild=bool(gone) or any(p not in known for p in changed))
                self._references.forget()
            return changed + gone

    def _listing(self, only: list[str] | None = None) -> scan.FileListing:
        listing = scan.list_files(self.root, only)
        prefixes = tuple(entry.rstrip("/") + "/" for entry in self._hidden)
        listing.paths = [p for p in listing.paths if p not in self._hidden and not p.startswith(prefixes)]
        return listing

    def _report(self, listing: scan.FileListing, changed: int, gone: int, began: float) -> RefreshReport:
        skipped = Counter(listing.skipped)
        skipped.update(dict(self._store.rows("SELECT skipped, count(*) FROM files WHERE skipped <> '' GROUP BY 1")))
        languages = dict(
            self._store.rows(
                "SELECT language, count(*) FROM files WHERE skipped = '' AND language <> '' GROUP BY 1 ORDER BY 2 DESC, 1"
            )
        )
        [(files,)] = self._store.rows("SELECT count(*) FROM files WHERE skipped = ''")
        [(symbols,)] = self._store.rows("SELECT coalesce(sum(symbols), 0) FROM files")
        ms = round((time.monotonic() - began) * 1000)
        left_out = self._store.rows("SELECT skipped, path FROM files WHERE skipped <> '' ORDER BY 1, 2")
        unread = _paths_by((reason, path) for reason, path in left_out if parser_for(language_of(path)) is not None)
        encodings = _paths_by(self._store.rows("SELECT encoding, path FROM files WHERE encoding <> '' ORDER BY 1, 2"))
        return RefreshReport(
            files, symbols, changed, gone, dict(skipped), ms, languages, tuple(listing.submodules), unread, encodings
        )

    # files

    def files(self) -> list[FileEntry]:
        """All indexed files, by path."""
        return self._files("1", ())

    def file(self, path: str) -> FileEntry | None:
        """One indexed file, or None."""
        return next(iter(self._files("f.path = ?", (path,))), None)

    def _files(self, where: str, parameters: tuple[object, ...]) -> list[FileEntry]:
        sql = (
            f"SELECT {_FILE_COLUMNS} FROM files f LEFT JOIN enrichment e ON e.sha = f.sha WHERE f.skipped "
            f"= '' AND {where} ORDER BY f.path"
        )
        return [
            FileEntry(
                path,
                language,
                lines,
                size,
                bool(test),
                purpose,
                domain,
                tuple(json.loads(concepts)),
                tuple(json.loads(surface)),
                sha,
                errors,
            )
            for path, language, lines, size, test, purpose, domain, concepts, surface, sha, errors in self._store.rows(
                sql, parameters
            )
        ]

    def source(self, path: str) -> bytes:
        """A file's bytes as they are on disk now; symbol ranges fit them after a refresh. b"" when it cannot be read."""
        return read_source(self.root / path, self._max_file_bytes)[0]

    def text(self, path: str) -> str:
        """A file's text as it is on disk now, newlines untouched; "" when it cannot be read."""
        return self.source(path).decode("utf-8", "replace")

    def set_enrichment(self, path: str, purpose: str, domain: str, concepts: Iterable[str]) -> bool:
        """Keeps what a model said about a file, for as long as its content stays; False when the file is not indexed."""
        entry = self.file(path)
        if entry is None:
            return False
        with self._store.writing() as db:
            row = (entry.sha, purpose, domain, json.dumps(list(concepts)))
            db.execute("INSERT OR REPLACE INTO enrichment VALUES (?, ?, ?, ?)", row)
        return True

    def enriched(self, path: str) -> bool:
        """True when ``set_enrichment`` was called for the file's present content."""
        return bool(self._store.rows("SELECT 1 FROM enrichment e JOIN files f ON f.sha = e.sha WHERE f.path = ?", (path,)))

    # symbols and references

    def symbols(self, path: str | None = None) -> list[IndexedSymbol]:
        """Symbols of one file, or of all, in file and position order."""
        if path is not None:
            return self._references.symbols(path)
        paths = [row[0] for row in self._store.rows("SELECT path FROM files WHERE symbols > 0 ORDER BY path")]
        return [symbol for each in paths for symbol in self._references.symbols(each)]

    def has_function(self, name: str) -> bool:
        """Whether a function of this name is defined in the project."""
        return self._references.has_function(name)

    def find_symbols(self, name: str) -> list[IndexedSymbol]:
        """Symbols by name (``close``) or qualified name (``Client.close``), exact; definitions before prototypes."""
        parent, _, last = name.replace("::", ".").rpartition(".")
        found = [
            s
            for s in self._references.defined(last)
            if not parent or s.qualified == f"{parent}.{last}" or s.parent.endswith("." + parent)
        ]
        return sorted(found, key=lambda s: s.kind == "prototype")

    def callers(self, symbol: IndexedSymbol) -> list[IndexedSymbol]:
        """Symbols anywhere in the project that call or use ``symbol``."""
        return self._references.callers(symbol)

    def callees(self, symbol: IndexedSymbol) -> list[IndexedSymbol]:
        """Project symbols called in ``symbol``."""
        return self._references.callees(symbol)

    def imports_of(self, path: str) -> list[str]:
        """Project files that ``path`` includes or imports."""
        return self._references.targets(path)

    def used_by(self, path: str) -> list[str]:
        """Project files that include or import ``path``."""
        return self._references.sources(path)

    def pair_of(self, path: str) -> str | None:
        """The C source of a header, the header of a C source, or None."""
        return self._references.pair(path)

    def library_symbols(self, paths: Iterable[str]) -> list[LibrarySymbol]:
        """Names that the files take from outside the project, in order of use."""
        if self._updater.resolver is None:
            self._updater.relate([], rebuild=False)
        return self._references.library(paths, self._updater.resolver or ProjectResolver(()))

    # history and search

    def cochanged(self, path: str) -> list[tuple[str, int]]:
        """Files that changed in the same commits as ``path``, with counts, most first."""
        return history.cochanged(self._store, path)

    def rankings(self, query: str, *, tests: bool | None = False) -> dict[str, dict[str, float]]:
        """Source files by each kind of evidence for a task in plain words, best first, with scores that only compare within
        one kind. ``tests``: False without test files, True only those, None all."""
        return search.rankings(self._store, query, tests)


def _paths_by(rows: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """(Name, path), sorted by name, as the paths of each name."""
    return {name: tuple(path for _, path in group) for name, group in groupby(rows, key=itemgetter(0))}
