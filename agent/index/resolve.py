# ruff: noqa: SIM905
"""From an include or import as written to the project file it means."""

from __future__ import annotations

import posixpath
import sys
from collections import defaultdict
from collections.abc import Iterable

_STANDARD_HEADERS = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign "
    "stdarg stdatomic stdbool stddef "
    "stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype unistd fcntl poll "
    "pthread dirent dlfcn netdb pwd "
    "grp regex semaphore sched spawn strings syslog termios utime wordexp glob fnmatch getopt libgen "
    "malloc memory alloca endian "
    "winsock2 windows ws2tcpip io process direct".split()
)
_SOURCE_ROOTS = ("", "src", "lib", "python")


class Resolver:
    """Resolves against one fixed set of files; make a new one when the set changes."""

    def __init__(self, paths: Iterable[str], include_dirs: tuple[str, ...] = ()) -> None:
        self.paths = frozenset(paths)
        self.include_dirs = include_dirs
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths):
            self._by_name[posixpath.basename(path)].append(path)
        self._modules: dict[str, str] = {}
        for path in sorted(
            (p for p in self.paths if p.endswith((".py", ".pyi"))), key=lambda p: (p.endswith(".pyi"), p.count("/"), p)
        ):
            for module in self._module_names(path):
                self._modules.setdefault(module, path)

    def include(self, target: str, source: str, system: bool) -> str:
        """The project file that an ``#include`` in ``source`` means, or ""."""
        folder = posixpath.dirname(source)
        places = [] if system else [folder]
        for place in [*places, *self.include_dirs]:
            candidate = posixpath.normpath(posixpath.join(place, target))
            if candidate in self.paths and candidate != source:
                return candidate
        if system and posixpath.splitext(target)[0] in _STANDARD_HEADERS:
            return ""
        tail = posixpath.normpath(target)
        while tail.startswith("../"):
            tail = tail[3:]
        matches = [p for p in self._by_name.get(posixpath.basename(tail), ()) if p == tail or p.endswith("/" + tail)]
        matches = [p for p in matches if p != source]
        return min(matches, key=lambda p: (-_shared(p, source), p.count("/"), p), default="")

    def imported(self, target: str, source: str) -> str:
        """The project file that a dotted import (``a.b.name``, ``..pkg.name``, ``pkg.*``) in ``source`` means, or ""."""
        dotted = target.removesuffix(".*").removesuffix("*")
        level = len(dotted) - len(dotted.lstrip("."))
        parts = [p for p in dotted.split(".") if p]
        if level:
            return self._relative(parts, source, level)
        if not parts:
            return ""
        beside = self._below(posixpath.dirname(source), parts)
        for count in range(len(parts), 0, -1):
            module = ".".join(parts[:count])
            found = self._modules.get(module)
            if found and self._plausible(parts[0], found) and found != source:
                return found
        return beside if beside and parts[0] not in sys.stdlib_module_names and beside != source else ""

    def _relative(self, parts: list[str], source: str, level: int) -> str:
        folder = posixpath.dirname(source)
        for _ in range(level - 1):
            if not folder:
                return ""
            folder = posixpath.dirname(folder)
        found = self._below(folder, parts)
        if found:
            return found if found != source else ""
        for name in ("__init__.py", "__init__.pyi"):
            candidate = posixpath.join(folder, name)
            if candidate in self.paths and candidate != source:
                return candidate
        return ""

    def _below(self, folder: str, parts: list[str]) -> str:
        """The longest prefix of ``parts`` that is a module or package below ``folder``."""
        for count in range(len(parts), 0, -1):
            stem = posixpath.join(folder, *parts[:count])
            for candidate in (f"{stem}.py", f"{stem}/__init__.py", f"{stem}.pyi"):
                if candidate in self.paths:
                    return candidate
        return ""

    def _plausible(self, top: str, path: str) -> bool:
        """A standard library name means the project only when the project keeps it at a source root."""
        if top not in sys.stdlib_module_names:
            return True
        return any(
            path == posixpath.join(r, f"{top}.py") or path.startswith(posixpath.join(r, top) + "/") for r in _SOURCE_ROOTS
        )

    def _module_names(self, path: str) -> list[str]:
        """Dotted names a file can be imported by: below its outermost package, and below each source root."""
        stem = path.removesuffix(".pyi").removesuffix(".py")
        stem = stem.removesuffix("/__init__") if stem.endswith("/__init__") else stem
        names: dict[str, None] = {}
        for root in _SOURCE_ROOTS:
            if not root:
                names.setdefault(stem.replace("/", "."))
            elif stem.startswith(root + "/"):
                names.setdefault(stem[len(root) + 1 :].replace("/", "."))
        folder = posixpath.dirname(path)
        if posixpath.join(folder, "__init__.py") in self.paths:
            while (
                folder
                and posixpath.join(posixpath.dirname(folder), "__init__.py") in self.paths
                and posixpath.dirname(folder)
            ):
                folder = posixpath.dirname(folder)
            parent = posixpath.dirname(folder)
            names.setdefault((stem[len(parent) + 1 :] if parent else stem).replace("/", "."))
        return list(names)


def _shared(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
