"""The compilation database of a project: where it lies and what it says (clang's JSON Compilation Database format)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent.regular_files import read_regular

NAME = "compile_commands.json"

_USUAL = ("", "build", "out", "builddir", "cmake-build-debug", "cmake-build-release", "_build")
_MAX_BYTES = 64 << 20
_MAX_FOLDERS = 400
_INCLUDE_FLAGS = ("-I", "-isystem", "-iquote", "-idirafter")


class CompileCommand(NamedTuple):
    """One entry: the absolute path of the file, the folder its ``arguments`` (compiler first) speak from."""

    file: str
    directory: str
    arguments: tuple[str, ...]

    def include_folders(self) -> list[str]:
        """The absolute folders that headers are looked for in, in order."""
        found = []
        for flag, following in zip(self.arguments, (*self.arguments[1:], ""), strict=True):
            if flag in _INCLUDE_FLAGS:
                found.append(following)
            elif flag.startswith("-I"):
                found.append(flag[2:])
        return [os.path.normpath(os.path.join(self.directory, folder)) for folder in dict.fromkeys(found)]


def read_commands(root: Path) -> list[CompileCommand]:
    """The entries of the first readable database in ``root`` or up to two folders below; [] when there is none. An entry
    that cannot be read is left out."""
    for path in _databases(root):
        found = [command for entry in _entries(path) if (command := _command(entry, path.parent)) is not None]
        if found:
            return found
    return []


def _databases(root: Path) -> Iterator[Path]:
    """Where a database may lie, the usual folders first."""
    usual = [root / folder / NAME for folder in _USUAL]
    yield from usual
    below = [one for one in _folders(root) if one.name != ".git"][:_MAX_FOLDERS]
    deeper = [inner for one in below if one.name in _USUAL or "build" in one.name.lower() for inner in _folders(one)]
    yield from (path for folder in [*below, *deeper[:_MAX_FOLDERS]] if (path := folder / NAME) not in usual)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    except OSError:
        return []


def _entries(path: Path) -> list[object]:
    try:
        entries = json.loads(read_regular(path, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return []
    return entries if isinstance(entries, list) else []


def _command(entry: object, folder: Path) -> CompileCommand | None:
    if not isinstance(entry, dict):
        return None
    try:
        arguments = entry.get("arguments") or shlex.split(entry["command"])
        directory = os.path.join(folder, str(entry.get("directory") or ""))
        file = os.path.normpath(os.path.join(directory, entry["file"]))
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    if not isinstance(arguments, list) or not arguments:
        return None
    return CompileCommand(file, os.path.normpath(directory), tuple(str(one) for one in arguments))
