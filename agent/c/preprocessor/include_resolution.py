"""Which file of the project an ``#include`` means, and how a file spells its include of a header."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from agent.c.headers import header_table
from agent.c.preprocessor.directives import Include

USUAL_FOLDERS = ("include", "src", "")
"""Where headers are looked for when nothing tells the project's own folders; "" is the project's root."""

_OWN_VERSIONS = frozenset({"include", "inc", "src", "lib", "compat", "port"})
"""Folders in which a project keeps its own version of a standard header."""


class IncludeResolver:
    """Resolves against one fixed set of files; make a new one when the set changes.

    ``paths`` are POSIX paths relative to the project's root, ``folders`` those that a quoted and a bracketed include are
    looked for in, in order (the ``-I`` of the build).
    """

    def __init__(self, paths: Iterable[str], folders: Sequence[str] = USUAL_FOLDERS) -> None:
        self.paths = frozenset(paths)
        self.folders = tuple(folders)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            self._by_name[posixpath.basename(path)].append(path)

    def resolve(self, name: str, includer: str, *, system: bool = False) -> str:
        """The project file that an include of ``name`` in ``includer`` means, "" when it means none.

        Looked for as a compiler does, beside the includer (quoted only) and in ``folders``; else the nearest file whose path
        ends so, since a build may have folders that nothing here tells.
        """
        if posixpath.basename(name) not in self._by_name:
            return ""
        for folder in (*(() if system else (posixpath.dirname(includer),)), *self.folders):
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self.paths and candidate != includer:
                return candidate
        tail = posixpath.normpath(name)
        while tail.startswith("../"):
            tail = tail[3:]
        found = [p for p in self._by_name.get(posixpath.basename(tail), ()) if p == tail or p.endswith("/" + tail)]
        if found and tail in header_table().headers:  # <errno.h> is not what include/uv/errno.h is for
            found = [p for p in found if posixpath.basename(p[: -len(tail) - 1]) in _OWN_VERSIONS]
        found = [p for p in found if p != includer]
        return min(found, key=lambda p: (-_shared(p, includer), p.count("/"), p), default="")

    def spelling(
        self,
        header: str,
        includer: str,
        *,
        neighbours: Iterable[str] = (),
        includes: Callable[[str], Iterable[Include]] = lambda _path: (),
        folders: Sequence[str] | None = None,
    ) -> str:
        """How ``includer`` should name the project's ``header``: so that its build finds it, and as others name theirs.

        What ``neighbours`` (paths, best first, read with ``includes``) include is followed: an include of ``header`` itself,
        then one of a header in the same folder, then one from a folder that ``header`` is below. Else the bare name within
        one folder, the path from one of the build's ``folders`` (the root last), or from the folder ``include`` that it is
        in when those are not known (None), the way from one file to the other. A name that a compiler resolves to another
        file is not given: it looks beside the includer, then in ``folders``, in order (GCC manual, "Search Path").
        """
        here = posixpath.dirname(includer)
        known = tuple(clean_path(folder) for folder in folders or ())
        same, alike = self._followed(header, includer, neighbours, includes)
        if same:
            return same
        plain = [posixpath.basename(header)] if posixpath.dirname(header) == here else []
        below = [_below(folder, header) for folder in sorted(known, key=lambda folder: folder in (".", ""))]
        for name in (*alike, *plain, *below):
            if name and self._found(name, includer, known) == header:
                return name
        parts = header.split("/")
        if folders is None and "include" in parts[:-1]:
            return "/".join(parts[parts.index("include") + 1 :])
        return posixpath.relpath(header, here or ".")

    def _followed(
        self, header: str, includer: str, neighbours: Iterable[str], includes: Callable[[str], Iterable[Include]]
    ) -> tuple[str, list[str]]:
        """The name that a neighbour in the includer's folder gives ``header``, "" if none does, and names made like those of
        other headers, the closest first."""
        folder, base = posixpath.split(header)
        here = posixpath.dirname(includer)
        beside: list[str] = []
        below: list[str] = []
        for other in neighbours:
            for include in includes(other):
                target = self.resolve(include.name, other, system=include.system) if include.live else ""
                if target == header:
                    if posixpath.dirname(other) == here:
                        return include.name, []
                    beside.insert(0, include.name)
                elif target and posixpath.dirname(target) == folder:
                    beside.append(include.name[: -len(posixpath.basename(target))] + base)
                elif target.endswith("/" + include.name):
                    below.append(_below(target[: -len(include.name) - 1], header))
        return "", [*beside, *below]

    def _found(self, name: str, includer: str, folders: Sequence[str]) -> str:
        """The file that a compiler finds under ``name``, and no other: beside the includer, then in ``folders``."""
        for folder in (posixpath.dirname(includer), *folders):
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self.paths and candidate != includer:
                return candidate
        return ""


@lru_cache(maxsize=4096)
def clean_path(path: str) -> str:
    """A path as people and compilers write it, as the project's paths are written: ``/`` between folders, no ``./``."""
    path = path.replace("\\", "/")
    return (os.path.normpath(path) if path else "").removeprefix("./")


def _below(folder: str, header: str) -> str:
    """The path of ``header`` from ``folder``, "" when it is not below it."""
    folder = clean_path(folder)
    if folder in (".", ""):
        return header
    return header[len(folder) + 1 :] if header.startswith(folder + "/") else ""


def _shared(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
