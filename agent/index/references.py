"""Who uses whom across files: edges between files, callers and callees of symbols, header/source pairs, library names."""

from __future__ import annotations

import posixpath
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from agent.index.entries import IndexedSymbol, LibrarySymbol
from agent.index.resolve import Resolver
from agent.index.store import Store

MAX_CALLERS = 500
"""Sites looked at for one name; a name used more often is too common to tell anything."""

_CALLABLE = ("function", "method", "class", "macro", "property")
_COLUMNS = (
    "files.path, s.name, s.kind, s.line, s.end_line, s.start, s.end, s.signature, s.doc, s.parent, "
    "s.body_start, s.body_end, s.doc_start, s.static"
)


def symbol_of(row: tuple[Any, ...]) -> IndexedSymbol:
    """A symbol from a row of ``select_symbols``."""
    path, name, kind, line, end_line, start, end, signature, doc, parent, body_start, body_end, doc_start, static = row
    return IndexedSymbol(
        name,
        kind,
        line,
        end_line,
        start,
        end,
        signature,
        doc,
        parent,
        body_start,
        body_end,
        doc_start,
        bool(static),
        path,
    )


def select_symbols(store: Store, where: str, parameters: Iterable[object] = ()) -> list[IndexedSymbol]:
    """Symbols by an SQL condition over ``s`` (symbols) and ``files``, in file and position order."""
    sql = (
        f"SELECT {_COLUMNS} FROM symbols s JOIN files ON files.id = s.file_id WHERE {where} ORDER BY "
        "files.path, s.start, s.end DESC"
    )
    return [symbol_of(row) for row in store.rows(sql, tuple(parameters))]


def write_edges(store: Store, resolver: Resolver, only: Iterable[str] | None = None) -> None:
    """Resolves includes and imports of all files, or of ``only``, and replaces their edges in one transaction."""
    ids_sql = "SELECT path, id FROM files WHERE skipped = ''"
    sql = (
        "SELECT files.id, files.path, r.kind, r.target, r.system FROM refs r JOIN files ON files.id = r.file_id "
        "WHERE r.kind IN ('include', 'import')"
    )
    ids: dict[str, int] = {}
    if only is None:
        ids, chosen, rows = dict(store.rows(ids_sql)), None, store.rows(sql)
    else:
        chosen = [row[0] for path in only for row in store.rows("SELECT id FROM files WHERE path = ?", (path,))]
        rows = [row for number in chosen for row in store.rows(f"{sql} AND r.file_id = ?", (number,))]
    edges = set()
    for file_id, path, kind, target, system in rows:
        found = resolver.include(target, path, bool(system)) if kind == "include" else resolver.imported(target, path)
        if found and found not in ids:
            ids.update(store.rows(f"{ids_sql} AND path = ?", (found,)))
        if found in ids:
            edges.add((file_id, ids[found], kind))
    with store.writing() as db:
        _replace_edges(db, chosen, edges)


def _replace_edges(db: sqlite3.Connection, chosen: list[int] | None, edges: set[tuple[int, int, str]]) -> None:
    if chosen is None:
        db.execute("DELETE FROM edges")
    else:
        db.executemany("DELETE FROM edges WHERE source = ?", [(i,) for i in chosen])
    db.executemany("INSERT OR IGNORE INTO edges VALUES (?, ?, ?)", sorted(edges))


def _is_package(path: str) -> bool:
    return posixpath.basename(path) in ("__init__.py", "__init__.pyi")


class References:
    """Questions about uses, answered from the store. ``forget()`` after every refresh: answers are cached between them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.forget()

    def forget(self) -> None:
        self._aliases: dict[str, dict[str, str]] = {}
        self._reach: dict[str, dict[str, int]] = {}
        self._defined: dict[str, list[IndexedSymbol]] = {}
        self._resolved: dict[tuple[str, str], list[IndexedSymbol]] = {}

    def targets(self, path: str) -> list[str]:
        """Project files that ``path`` includes or imports."""
        sql = (
            "SELECT DISTINCT t.path FROM edges JOIN files s ON s.id = source JOIN files t ON t.id = "
            "target WHERE s.path = ? ORDER BY t.path"
        )
        return [row[0] for row in self._store.rows(sql, (path,))]

    def sources(self, path: str) -> list[str]:
        """Project files that include or import ``path``."""
        sql = (
            "SELECT DISTINCT s.path FROM edges JOIN files s ON s.id = source JOIN files t ON t.id = "
            "target WHERE t.path = ? ORDER BY s.path"
        )
        return [row[0] for row in self._store.rows(sql, (path,))]

    def reach(self, path: str, depth: int = 4) -> dict[str, int]:
        """Files reachable over includes and imports with their distance; imports are followed on only through packages."""
        if path not in self._reach:
            found = {path: 0}
            frontier = [path]
            for step in range(1, depth + 1):
                ahead = []
                for here in frontier:
                    follow = step == 1 or not here.endswith((".py", ".pyi")) or _is_package(here)
                    ahead += [p for p in (self.targets(here) if follow else ()) if p not in found]
                for there in ahead:
                    found.setdefault(there, step)
                frontier = list(dict.fromkeys(ahead))
            self._reach[path] = found
        return self._reach[path]

    def defined(self, name: str) -> list[IndexedSymbol]:
        """Everything called ``name``, unqualified."""
        if name not in self._defined:
            self._defined[name] = select_symbols(self._store, "s.name = ?", (name,))
        return self._defined[name]

    def resolve(self, name: str, path: str) -> list[IndexedSymbol]:
        """What ``name`` means in ``path``: same file, then what it includes or imports, then a definition known to all.

        Several answers come back only when the project itself has several (a function per platform): the nearest ones.
        """
        key = (name, path)
        if key not in self._resolved:
            self._resolved[key] = self._choose(self._original(name, path), path)
        return self._resolved[key]

    def _original(self, name: str, path: str) -> str:
        """The name that ``import … as name`` stands for in ``path``, also where a package hands it on under a new name."""
        if name not in self._aliases_in(path) and any(s.path == path for s in self.defined(name)):
            return name
        here, seen = path, {path}
        while True:
            name = self._aliases_in(here).get(name, name)
            packages = (p for p in self.targets(here) if _is_package(p) and p not in seen)
            here = next((p for p in packages if name in self._aliases_in(p)), "")
            if not here:
                return name
            seen.add(here)

    def _aliases_in(self, path: str) -> dict[str, str]:
        """The names that ``path`` imports, each with the last part of what it stands for."""
        if path not in self._aliases:
            sql = (
                "SELECT r.alias, r.target FROM refs r JOIN files ON files.id = r.file_id WHERE "
                "files.path = ? AND r.kind = 'import'"
            )
            self._aliases[path] = {alias: target.rpartition(".")[2] for alias, target in self._store.rows(sql, (path,))}
        return self._aliases[path]

    def _choose(self, name: str, path: str) -> list[IndexedSymbol]:
        found = self.defined(name)
        definitions = [s for s in found if s.kind != "prototype"]
        here = [s for s in definitions if s.path == path]
        if here:
            return here
        reach = self.reach(path)
        near = [s for s in definitions if s.path in reach]
        if near:
            least = min(reach[s.path] for s in near)
            return [s for s in near if reach[s.path] == least]
        shared = [s for s in definitions if not s.static]
        python = path.endswith((".py", ".pyi"))
        shared = [s for s in shared if s.path.endswith((".py", ".pyi")) == python]
        if python:
            return shared if len(shared) == 1 else []
        declared = any(s.kind == "prototype" and (s.path in reach or s.path == path) for s in found)
        if len(shared) < 2 or not declared:
            return shared[:1] if len(shared) == 1 else self._nearest(shared, path)
        return self._nearest(shared, path)

    def _nearest(self, symbols: list[IndexedSymbol], path: str) -> list[IndexedSymbol]:
        """Those in the nearest folders, tests behind everything else."""
        if not symbols:
            return []
        near = {
            s.path: len(posixpath.commonpath([posixpath.dirname("/" + s.path), posixpath.dirname("/" + path)]))
            for s in symbols
        }
        best = max(near.values())
        return [s for s in symbols if near[s.path] == best]

    def callees(self, symbol: IndexedSymbol) -> list[IndexedSymbol]:
        """Project functions, classes and macros called in ``symbol``, in order of first call."""
        sql = (
            "SELECT r.target FROM refs r JOIN files ON files.id = r.file_id WHERE files.path = ? AND "
            "r.source = ? AND r.kind = 'call' ORDER BY r.line, r.rowid"
        )
        found: dict[tuple[str, int], IndexedSymbol] = {}
        for (name,) in self._store.rows(sql, (symbol.path, symbol.qualified)):
            for callee in self.resolve(name, symbol.path):
                if callee.kind in _CALLABLE and (callee.path, callee.start) != (symbol.path, symbol.start):
                    found.setdefault((callee.path, callee.start), callee)
        return list(found.values())

    def callers(self, symbol: IndexedSymbol) -> list[IndexedSymbol]:
        """Symbols in which ``symbol`` is called or used, across files; at most ``MAX_CALLERS`` sites are looked at."""
        wanted = self._definitions_of(symbol)
        by_file: dict[str, set[str]] = defaultdict(set)
        for path, source, name in self._sites(symbol):
            if any((s.path, s.start) in wanted for s in self.resolve(name, path)):
                by_file[path].add(source)
        found: dict[tuple[str, int], IndexedSymbol] = {}
        for path, sources in by_file.items():
            for user in select_symbols(self._store, "files.path = ?", (path,)):
                if user.qualified in sources and user.kind != "prototype" and (user.path, user.start) not in wanted:
                    found.setdefault((user.path, user.start), user)
        return list(found.values())

    def _sites(self, symbol: IndexedSymbol) -> list[tuple[str, str, str]]:
        """(path, enclosing symbol, name used) of every use of the symbol's name or of a name it was imported as."""
        sql = (
            "SELECT DISTINCT files.path, r.source, r.target FROM refs r JOIN files ON files.id = r.file_id "
            "WHERE r.target = ? AND r.kind IN ('call', 'use') AND r.source <> '' {} "
            "ORDER BY files.path <> ?, files.is_test, files.path LIMIT ?"
        )
        renamed = (
            "SELECT DISTINCT r.file_id, files.path, r.alias FROM refs r JOIN files ON files.id = r.file_id "
            "WHERE r.kind = 'import' AND r.target LIKE ? AND r.alias NOT IN ('', ?)"
        )
        sites = []
        names = [symbol.name]
        for name in names:  # grows: a package may hand a name on under another, and so on
            sites += self._store.rows(sql.format(""), (name, symbol.path, MAX_CALLERS))
            for file_id, path, alias in self._store.rows(renamed, (f"%.{name}", name)):
                if _is_package(path) and alias not in names:
                    names.append(alias)
                elif alias not in names:
                    sites += self._store.rows(sql.format("AND r.file_id = ?"), (alias, file_id, symbol.path, MAX_CALLERS))
        return sites

    def _definitions_of(self, symbol: IndexedSymbol) -> set[tuple[str, int]]:
        if symbol.kind != "prototype":
            return {(symbol.path, symbol.start)}
        return {(s.path, s.start) for s in self.defined(symbol.name) if s.kind == "function"} | {(symbol.path, symbol.start)}

    def pair(self, path: str) -> str | None:
        """For a C header the source that defines most of what it declares, for a source the header that declares it.

        A shared stem (``ring.h``, ``ring.c``) breaks ties and stands alone where nothing is declared yet.
        """
        header = path.endswith(".h")
        if not header and not path.endswith(".c"):
            return None
        mine, theirs = ("prototype", "function") if header else ("function", "prototype")
        sql = (
            "SELECT f2.path, count(DISTINCT a.name) FROM symbols a JOIN files f1 ON f1.id = "
            "a.file_id JOIN symbols b ON b.name = a.name "
            "JOIN files f2 ON f2.id = b.file_id WHERE f1.path = ? AND a.kind = ? AND a.static = 0 "
            "AND b.kind = ? AND b.static = 0 "
            "AND f2.path <> f1.path GROUP BY f2.path"
        )
        suffix = ".c" if header else ".h"
        scores = {other: count for other, count in self._store.rows(sql, (path, mine, theirs)) if other.endswith(suffix)}
        stem = posixpath.splitext(posixpath.basename(path))[0]
        for (other,) in self._store.rows(
            "SELECT path FROM files WHERE skipped = '' AND (path = ? OR path LIKE ?)",
            (stem + suffix, f"%/{stem}{suffix}"),
        ):
            if posixpath.basename(other) == stem + suffix:
                scores[other] = scores.get(other, 0) + 1000
        here = posixpath.dirname("/" + path)
        return min(scores, key=lambda p: (-scores[p], -len(posixpath.commonpath([here, "/" + p])), p), default=None)

    def library(self, paths: Iterable[str], resolver: Resolver) -> list[LibrarySymbol]:
        """Names the files take from outside the project: system headers and what is called but defined nowhere here;
        installed packages and what is imported from them."""
        found: dict[tuple[str, str, str], LibrarySymbol] = {}
        sql = (
            "SELECT r.kind, r.target, r.line, r.system FROM refs r JOIN files ON files.id = r.file_id "
            "WHERE files.path = ? ORDER BY r.line, r.rowid"
        )
        for path in paths:
            python = path.endswith((".py", ".pyi"))
            for kind, target, line, system in self._store.rows(sql, (path,)):
                if kind == "import" and not target.startswith(".") and not resolver.imported(target, path):
                    item = LibrarySymbol(
                        target.rsplit(".", 1)[-1], path, line, target.rpartition(".")[0] or target, "import"
                    )
                elif kind == "include" and not resolver.include(target, path, bool(system)):
                    item = LibrarySymbol(target, path, line, target, "header")
                elif kind == "call" and not python and not self.defined(target):
                    item = LibrarySymbol(target, path, line, kind="call")
                else:
                    continue
                found.setdefault((path, item.kind, item.module + item.name), item)
        return list(found.values())
