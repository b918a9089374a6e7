"""Uses across files: edges between files, callers and callees of symbols, header/source pairs, library names."""

from __future__ import annotations

import posixpath
import sqlite3
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from agent.index.entries import IndexedSymbol, LibrarySymbol
from agent.index.extract import FUNCTION, PRIVATE, PROTOTYPE, row_base, unpacked, unpacked_links
from agent.index.resolve import ProjectResolver
from agent.index.store import Store, file_number
from agent.languages import Reference, language_of, reader_of

T = TypeVar("T")

KEPT_FILES = 2000
"""Files whose symbols and uses are kept in memory between refreshes."""

MAX_CALLERS = 500
"""Sites looked at for one name; a name used more often is too common to tell anything."""

_CALLABLE = ("function", "method", "class", "macro", "property")


def write_edges(store: Store, resolver: ProjectResolver, only: Iterable[str] | None = None) -> None:
    """Resolves includes and imports of all files, or of ``only``, and replaces their edges in one transaction."""
    sql = "SELECT f.id, f.path, c.links FROM files f JOIN contents c ON c.file_id = f.id"
    if only is None:
        chosen, rows = None, store.rows(sql)
    else:
        chosen = [file_number(path) for path in only]
        rows = [row for number in chosen for row in store.rows(f"{sql} WHERE f.id = ?", (number,))]
    edges: set[tuple[int, int, str]] = set()
    for number, path, links in rows:
        for link in unpacked_links(links):
            found = resolver.resolve(link.target, path, link.system)
            if found:
                edges.add((number, file_number(found), link.kind))
    with store.writing() as db:
        _replace_edges(db, chosen, edges)


def _replace_edges(db: sqlite3.Connection, chosen: list[int] | None, edges: set[tuple[int, int, str]]) -> None:
    if chosen is None:
        db.execute("DELETE FROM edges")
    else:
        db.executemany("DELETE FROM edges WHERE source = ?", [(i,) for i in chosen])
    db.executemany("INSERT OR IGNORE INTO edges VALUES (?, ?, ?)", sorted(edges))


def _hands_on(path: str) -> bool:
    language = reader_of(path)
    return language is not None and language.hands_on(path)


def _linked(path: str) -> bool:
    language = reader_of(path)
    return language is not None and language.linked


def _is_package(path: str) -> bool:
    return posixpath.basename(path) in ("__init__.py", "__init__.pyi")


class References:
    """Questions about symbols and uses. ``forget()`` after every refresh: answers are cached between them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.forget()

    def forget(self) -> None:
        self._aliases: dict[str, dict[str, str]] = {}
        self._reach: dict[str, dict[str, int]] = {}
        self._defined: dict[str, list[IndexedSymbol]] = {}
        self._resolved: dict[tuple[str, str], list[IndexedSymbol]] = {}
        self._symbols: OrderedDict[str, list[IndexedSymbol]] = OrderedDict()
        self._uses: OrderedDict[str, list[tuple[bool, str, str]]] = OrderedDict()

    def symbols(self, path: str) -> list[IndexedSymbol]:
        """The symbols of one file in order of position."""
        return _kept(self._symbols, path, lambda: self._unpacked_symbols(path))

    def _unpacked_symbols(self, path: str) -> list[IndexedSymbol]:
        rows = self._store.rows("SELECT symbols FROM contents WHERE file_id = ?", (file_number(path),))
        found = [(*row, path) for row in unpacked(rows[0][0])] if rows else []
        return [IndexedSymbol(*fields) for fields in found]

    def _uses_in(self, path: str) -> list[tuple[bool, str, str]]:
        """(called, name, enclosing symbol) of every name used in a file, in order."""
        return _kept(self._uses, path, lambda: self._unpacked_uses(path))

    def _unpacked_uses(self, path: str) -> list[tuple[bool, str, str]]:
        rows = self._store.rows("SELECT uses FROM contents WHERE file_id = ?", (file_number(path),))
        return [(bool(called), name, source) for called, name, source in unpacked(rows[0][0])] if rows else []

    def _links_of(self, path: str) -> list[Reference]:
        rows = self._store.rows("SELECT links FROM contents WHERE file_id = ?", (file_number(path),))
        return unpacked_links(rows[0][0]) if rows else []

    def paths_naming(self, name: str) -> list[str]:
        """Files that declare or define ``name``, by path."""
        sql = "SELECT f.path FROM names n JOIN files f ON f.id = n.file_id WHERE n.name = ? ORDER BY f.path"
        return [row[0] for row in self._store.rows(sql, (name,))]

    def has_function(self, name: str) -> bool:
        """Whether a function of this name is defined anywhere."""
        return bool(self._store.rows(f"SELECT 1 FROM names WHERE name = ? AND kinds & {FUNCTION} LIMIT 1", (name,)))

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
        """Files reachable over includes and imports with their distance; beyond the first step only interfaces and packages
        are followed, which pass on what they include or import."""
        if path not in self._reach:
            found = {path: 0}
            frontier = [path]
            for step in range(1, depth + 1):
                ahead = []
                for here in frontier:
                    follow = step == 1 or _hands_on(here)
                    ahead += [p for p in (self.targets(here) if follow else ()) if p not in found]
                for there in ahead:
                    found.setdefault(there, step)
                frontier = list(dict.fromkeys(ahead))
            self._reach[path] = found
        return self._reach[path]

    def defined(self, name: str) -> list[IndexedSymbol]:
        """Everything called ``name``, unqualified."""
        if name not in self._defined:
            found = [s for path in self.paths_naming(name) for s in self.symbols(path) if s.name == name]
            self._defined[name] = found
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
            imports = [link for link in self._links_of(path) if link.kind == "import"]
            self._aliases[path] = {link.alias: link.target.rpartition(".")[2] for link in imports}
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
        shared = [s for s in shared if language_of(s.path) == language_of(path)]
        if not _linked(path):
            return shared if len(shared) == 1 else []
        return self._nearest(shared, path)

    def _nearest(self, symbols: list[IndexedSymbol], path: str) -> list[IndexedSymbol]:
        """Those whose folder has most of its path in common with that of ``path``."""
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
        found: dict[tuple[str, int], IndexedSymbol] = {}
        for called, name, source in self._uses_in(symbol.path):
            if not called or source != symbol.qualified:
                continue
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
            for user in self.symbols(path):
                if user.qualified in sources and user.kind != "prototype" and (user.path, user.start) not in wanted:
                    found.setdefault((user.path, user.start), user)
        return list(found.values())

    def _sites(self, symbol: IndexedSymbol) -> list[tuple[str, str, str]]:
        """(path, enclosing symbol, name used) of every use of the symbol's name or of a name it was imported as."""
        sites: list[tuple[str, str, str]] = []
        names = [symbol.name]
        sql = (
            "SELECT f.path, r.alias FROM renames r JOIN files f ON f.id = r.file_id WHERE r.name = ? AND r.alias <> ? "
            "ORDER BY f.path, r.alias"
        )
        for name in names:  # grows: a package may hand a name on under another, and so on
            for path in self._paths_using(name, symbol.path):
                sites += self._sites_in(path, name)
                if len(sites) >= MAX_CALLERS:
                    break
            for path, alias in self._store.rows(sql, (name, name)):
                if alias in names:
                    continue
                if _is_package(path):
                    names.append(alias)
                else:
                    sites += self._sites_in(path, alias)
        return sites[:MAX_CALLERS]

    def _sites_in(self, path: str, name: str) -> list[tuple[str, str, str]]:
        found = dict.fromkeys((path, source, name) for _, used, source in self._uses_in(path) if used == name and source)
        return list(found)

    def _paths_using(self, name: str, first: str) -> list[str]:
        """Files in whose text the name stands, the symbol's own first, tests last."""
        rows = self._store.rows("SELECT rowid FROM words WHERE words MATCH ?", (f'body : "{name.lower()}"',))
        bases = {row_base(row) for (row,) in rows}
        found = [
            (path != first, test, path)
            for base in bases
            for path, test in self._store.rows("SELECT path, is_test FROM files WHERE row_base = ?", (base,))
        ]
        return [path for _, _, path in sorted(found)]

    def _definitions_of(self, symbol: IndexedSymbol) -> set[tuple[str, int]]:
        if symbol.kind != "prototype":
            return {(symbol.path, symbol.start)}
        return {(s.path, s.start) for s in self.defined(symbol.name) if s.kind == "function"} | {(symbol.path, symbol.start)}

    def pair(self, path: str) -> str | None:
        """For an interface the unit that defines most of what it declares, for a unit the interface that declares it.

        A shared stem (``ring.h``, ``ring.c``) breaks ties and stands alone where nothing is declared yet.
        """
        language = reader_of(path)
        role = language.role(path) if language else ""
        if language is None or role not in ("unit", "interface"):
            return None
        mine, theirs = ("prototype", FUNCTION) if role == "interface" else ("function", PROTOTYPE)
        shared: Counter[str] = Counter()
        sql = (
            f"SELECT f.path FROM names n JOIN files f ON f.id = n.file_id WHERE n.name = ? AND n.kinds & {theirs} "
            f"AND NOT n.kinds & {PRIVATE} AND f.path <> ?"
        )
        for name in dict.fromkeys(s.name for s in self.symbols(path) if s.kind == mine and not s.static):
            shared.update(other for (other,) in self._store.rows(sql, (name, path)))
        stem = posixpath.splitext(posixpath.basename(path))[0]
        named = self._store.rows(
            "SELECT path FROM files WHERE skipped = '' AND (path LIKE ? OR path LIKE ?)", (f"{stem}.%", f"%/{stem}.%")
        )
        return language.counterpart(path, {*shared, *(row[0] for row in named)}, shared) or None

    def library(self, paths: Iterable[str], resolver: ProjectResolver) -> list[LibrarySymbol]:
        """Names the files take from outside the project: system headers and what is called but defined nowhere here;
        installed packages and what is imported from them."""
        found: dict[tuple[str, str, str], LibrarySymbol] = {}
        for path in paths:
            linked = _linked(path)
            for link in self._links_of(path):
                target, line = link.target, link.line
                if link.kind == "include" and not resolver.resolve(target, path, link.system):
                    found.setdefault((path, "header", target), LibrarySymbol(target, path, line, target, "header"))
                elif link.kind == "import" and not target.startswith(".") and not resolver.resolve(target, path):
                    module, name = target.rpartition(".")[0] or target, target.rsplit(".", 1)[-1]
                    found.setdefault((path, "import", module + name), LibrarySymbol(name, path, line, module, "import"))
            for called, name, _ in self._uses_in(path):
                if called and linked and not self.paths_naming(name):
                    found.setdefault((path, "call", name), LibrarySymbol(name, path, kind="call"))
        return list(found.values())


def _kept(cache: OrderedDict[str, list[T]], path: str, make: Callable[[], list[T]]) -> list[T]:
    """The entry of a bounded cache, made where it is missing."""
    if path in cache:
        with suppress(KeyError):  # another thread may forget at any time
            cache.move_to_end(path)
            return cache[path]
    made = make()
    cache[path] = made
    while len(cache) > KEPT_FILES:
        with suppress(KeyError):
            cache.popitem(last=False)
    return made
