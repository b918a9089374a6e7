"""The C files of a project: read when asked for, analysed once, found by any path that a compiler prints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.c.declarations.scan import Declared, scan
from agent.c.files import INCLUDED_SUFFIXES, SOURCE_SUFFIXES
from agent.c.preprocessor.include_resolution import IncludeResolver, clean_path
from agent.c.preprocessor.includes import active_include, analyse, write_atomically
from agent.c.preprocessor.text import CText
from agent.c.symbols.reader import parse
from agent.c.words import holds_word
from agent.walking import walk

MAX_FILE = 2_000_000
_TAGGED = ("struct", "union", "enum")
_NEIGHBOURS = 12
"""Files of one folder whose includes are looked at to see how headers are named there."""
_SKIPPED_DIRS = frozenset({"node_modules", "__pycache__", "CMakeFiles"})


class ProjectFiles:
    """C sources and headers by POSIX path relative to the project's root.

    Made of a mapping (rows of a corpus) or of a directory (``ProjectFiles.at``). Nothing is parsed before it is needed.
    """

    def __init__(
        self, files: Mapping[str, bytes], macros: Mapping[str, str] | None = None, root: Path | None = None
    ) -> None:
        self._files: dict[str, bytes | None] = {clean_path(k): v for k, v in files.items()}
        self.macros = macros
        self.root = root
        self._shapes: dict[str, CText] = {}
        self._declared: dict[str, Declared] = {}
        self._read: dict[str, dict[str, str]] = {}
        self._active: dict[tuple[str, int], dict[str, int]] = {}
        self._resolver: IncludeResolver | None = None

    @classmethod
    def at(cls, root: Path, macros: Mapping[str, str] | None = None) -> ProjectFiles:
        """The C files below a directory; hidden directories are left out, links are not followed."""
        project = cls({}, macros, root)
        project.rescan()
        return project

    def rescan(self) -> None:
        """Look at the directory again: files came, went or changed."""
        if self.root is None:
            return
        self._files, self._resolver = {}, None
        for folder, dirs, names in walk(self.root):
            dirs[:] = sorted(d for d in dirs if not d.startswith(".") and d not in _SKIPPED_DIRS)
            for name in sorted(names):
                if name.endswith((*SOURCE_SUFFIXES, *INCLUDED_SUFFIXES)):
                    self._files[Path(folder, name).relative_to(self.root).as_posix()] = None
        self.forget()

    def use_macros(self, macros: Mapping[str, str]) -> None:
        """Read conditionals with these predefined macros from now on: a compiler's own and those of its flags."""
        if macros != self.macros:
            self.macros = dict(macros)
            self._shapes.clear()
            self._declared.clear()
            self._active.clear()

    def add(self, path: str) -> None:
        """Count a file in the directory as one of the project's although its name does not say so (a grammar)."""
        self._files.setdefault(path, None)

    def paths(self) -> list[str]:
        """All paths, sorted as found."""
        return list(self._files)

    def has(self, path: str) -> bool:
        """Whether ``path`` is one of the project's files."""
        return path in self._files

    def headers(self) -> Iterator[str]:
        """The paths of the headers."""
        return (p for p in self._files if p.endswith(INCLUDED_SUFFIXES))

    def source(self, path: str) -> bytes:
        """The bytes of a file, empty when it cannot be read or is too large to be source."""
        data = self._files.get(path)
        if data is None and path in self._files and self.root is not None:
            data = b""
            full = self.root / path
            try:
                if full.is_file() and full.stat().st_size <= MAX_FILE:
                    data = full.read_bytes()
            except OSError:
                data = b""
            self._files[path] = data
        return data or b""

    def write(self, path: str, data: bytes) -> None:
        """Change a file here and, if the project is a directory, on disk (all or nothing)."""
        if self.root is not None:
            write_atomically(self.root / path, data)
        if path not in self._files:
            self._resolver = None
        self._files[path] = data
        self.forget(path)

    def forget(self, path: str | None = None) -> None:
        """Drop what was learnt about a file (or all), for when it changed on disk."""
        self._active.clear()
        kept: dict[str, Any]
        for kept in (self._shapes, self._declared, self._read):
            if path is None:
                kept.clear()
            else:
                kept.pop(path, None)
        if self.root is not None:
            for known in [path] if path else list(self._files):
                if known in self._files:
                    self._files[known] = None

    def shape(self, path: str) -> CText:
        """The preprocessor's view of a file."""
        if path not in self._shapes:
            self._shapes[path] = analyse(self.source(path), self.macros)
        return self._shapes[path]

    def declared(self, path: str) -> Declared:
        """The names that a file declares at file scope."""
        if path not in self._declared:
            self._declared[path] = scan(self.shape(path).masked, masked=True)
        return self._declared[path]

    def at_second_look(self, path: str) -> Mapping[str, str]:
        """The names that a file declares as its syntax tree tells, with their kinds (:data:`SymbolKind`; a tag as
        ``struct x``): slower than :meth:`declared`, and not led astray by macros between declarations."""
        if path not in self._read:
            symbols = parse(self.source(path)).symbols
            self._read[path] = {f"struct {s.name}" if s.kind in _TAGGED else s.name: s.kind for s in symbols}
        return self._read[path]

    def mentions(self, path: str, name: str) -> bool:
        """Whether a file holds ``name`` as a word, comments included: a cheap filter before parsing."""
        data = self.source(path)
        word = name.encode()
        at = data.find(word)
        while at >= 0:
            end = at + len(word)
            if not _word(data[at - 1 : at]) and not _word(data[end : end + 1]):
                return True
            at = data.find(word, end)
        return False

    def mentions_once(self, path: str, name: str) -> bool:
        """Whether a file holds ``name`` in one place at most, so that it cannot both declare and use it."""
        return self.source(path).count(name.encode()) < 2

    def only_dead(self, path: str, name: str) -> bool:
        """Whether every line of ``path`` that holds ``name`` is left out by a conditional (another system's part)."""
        shape = self.shape(path)
        lines = [n for n in range(1, shape.line_count + 1) if holds_word(shape.masked_line(n), name)]
        return bool(lines) and all(shape.dead(n) for n in lines)

    def resolve(self, printed: str) -> str | None:
        """The project file that a compiler means by ``printed`` (relative, absolute, of another machine), or None."""
        if not printed:
            return None
        clean = clean_path(printed)
        if clean in self._files:
            return clean
        if self.root is not None and os.path.isabs(printed):
            try:
                inside = Path(os.path.realpath(printed)).relative_to(os.path.realpath(self.root)).as_posix()
            except ValueError:
                inside = ""
            if inside in self._files:
                return inside
            if not printed.startswith(("/usr/", "/opt/", "/Library/", "/nix/")) and not inside:
                return self._by_suffix(clean)
            return None
        if re.match(r"/usr/(?:local/)?(?:include|lib)/|/opt/|/Library/|/Applications/|/nix/", printed):
            return None
        return self._by_suffix(clean)

    def _by_suffix(self, clean: str) -> str | None:
        parts = clean.split("/")
        for start in range(len(parts)):
            tail = "/".join(parts[start:])
            hits = [p for p in self._files if p == tail or p.endswith("/" + tail)]
            if len(hits) == 1:
                return hits[0]
        return None

    @property
    def includes(self) -> IncludeResolver:
        """Which file of the project an include means."""
        if self._resolver is None:
            self._resolver = IncludeResolver(self._files)
        return self._resolver

    def included_file(self, includer: str, name: str) -> str | None:
        """The project file that an include of ``name`` in ``includer`` reaches."""
        return self.includes.resolve(clean_path(name), includer) or None

    def active_headers(self, path: str, before_line: int = 0) -> dict[str, int]:
        """Headers live in ``path`` above ``before_line`` (0: anywhere), project files' own includes followed.

        Maps the name as included (``stdio.h``) and, for project files, their path, to the line in ``path``.
        """
        key = (path, before_line)
        if key not in self._active:
            found: dict[str, int] = {}
            self._collect(path, before_line, found, 0, set())
            self._active[key] = found
        return self._active[key]

    def _collect(self, path: str, before: int, found: dict[str, int], line: int, seen: set[str]) -> None:
        if path in seen or len(seen) > 200:
            return
        seen.add(path)
        for include in self.shape(path).includes:
            if include.live is not True or (before and include.line >= before):
                continue
            at = line or include.line
            found.setdefault(include.name, at)
            inner = self.included_file(path, include.name)
            if inner and not (include.system and inner != include.name and "/" not in inner and not self._files):
                found.setdefault(inner, at)
                self._collect(inner, 0, found, at, seen)

    def is_active(self, path: str, header: str, before_line: int | None = None) -> bool:
        """Whether ``path`` itself includes ``header`` live above ``before_line``."""
        return bool(active_include(self.shape(path), header, before_line))

    def names_in_brackets(self, includer: str, header: str) -> bool:
        """Whether ``includer`` includes headers from the folder of the project's ``header``, and all of them in brackets."""
        folder = os.path.dirname(header)
        alike = [
            include.system for include in self.shape(includer).includes
            if (found := self.included_file(includer, include.name)) and os.path.dirname(found) == folder
        ]  # fmt: skip
        return bool(alike) and all(alike)

    def spelled_from(self, includer: str, header: str, include_dirs: Sequence[str] = ()) -> str:
        """How ``includer`` should name a project header: see :meth:`IncludeResolver.spelling`."""
        folder = includer.rpartition("/")[0]
        stem = header.rpartition("/")[2].split(".")[0]
        beside = [one for one in self._files if one.rpartition("/")[0] == folder and one != includer]
        telling = [one for one in beside if self.mentions(one, stem)]
        neighbours = list(dict.fromkeys([includer, *telling, *beside[:_NEIGHBOURS]]))
        folders = [
            os.path.relpath(one, self.root) if self.root is not None and os.path.isabs(one) else one for one in include_dirs
        ]
        return self.includes.spelling(
            header, includer, neighbours=neighbours, includes=lambda one: self.shape(one).includes, folders=folders
        )


def _word(byte: bytes) -> bool:
    return bool(byte) and (byte.isalnum() or byte == b"_")
