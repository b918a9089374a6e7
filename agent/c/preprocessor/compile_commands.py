"""The compilation database of a project: where it lies and what it says (clang's JSON Compilation Database format)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agent.compiler_flags import include_folders
from agent.regular_files import read_regular

NAME = "compile_commands.json"

_USUAL = ("", "build", "out", "builddir", "cmake-build-debug", "cmake-build-release", "_build")
_MAX_BYTES = 64 << 20
_MAX_FOLDERS = 400


class CompileCommand(NamedTuple):
    """One entry: the absolute path of the file, the folder its ``arguments`` (compiler first) speak from."""

    file: str
    directory: str
    arguments: tuple[str, ...]

    def include_folders(self) -> list[str]:
        """The absolute folders that headers are looked for in, in order."""
        folders = include_folders(self.arguments)
        return list(dict.fromkeys(os.path.normpath(os.path.join(self.directory, folder)) for folder in folders))


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


def with_response_files(arguments: Sequence[str], read: Callable[[str], str]) -> list[str]:
    """``arguments`` with the words of each ``@file`` in its place, those that it names in turn left as they are (GCC manual,
    "Overall Options"). ``read`` gives a file's text; one that it raises OSError or ValueError for stays as it is."""
    found: list[str] = []
    for word in arguments:
        try:
            found += shlex.split(read(word[1:])) if word.startswith("@") else [word]
        except (OSError, ValueError):
            found.append(word)
    return found
