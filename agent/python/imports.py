"""Which file of the project a Python import means."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable

_SOURCE_ROOTS = ("", "src", "lib", "python")


class ImportResolver:
    """Resolves against one fixed set of files; make a new one when the set changes."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._modules: dict[str, str] = {}
        modules = (path for path in self.paths if path.endswith((".py", ".pyi")))
        for path in sorted(modules, key=lambda p: (p.endswith(".pyi"), p.count("/"), p)):
            for module in self._module_names(path):
                self._modules.setdefault(module, path)

    def resolve(self, target: str, source: str, *, system: bool = False) -> str:
        """The project file that a dotted import (``a.b.name``, ``..pkg.name``, ``pkg.*``) in ``source`` means, or ""."""
        del system  # imports have no second spelling
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
