"""Where a C project looks for its headers: ``-I`` of compile_commands.json and makefiles, CMake's folders, the config."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

from agent.c.preprocessor.compile_commands import NAME, read_commands
from agent.c.preprocessor.include_resolution import USUAL_FOLDERS
from agent.regular_files import read_regular

_FLAG = re.compile(r"-(?:I|isystem|iquote)\s*([^\s\"';|&)]+)")
_HERE = re.compile(
    r"\$[({](?:srcdir|top_srcdir|abs_srcdir|CURDIR|ROOT|TOP|PWD|CMAKE_CURRENT_SOURCE_DIR|CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR)[)}]"
)
_CMAKE = re.compile(r"include_directories\s*\(([^)]*)\)", re.I)
_BUILD_NAMES = ("makefile", "gnumakefile", "makefile.am", "makefile.in", "cmakelists.txt")
_MAX_BYTES = 1 << 20


def is_build_file(path: str) -> bool:
    """True when a change of this file may change the include paths."""
    name = posixpath.basename(path).lower()
    return name in _BUILD_NAMES or name.endswith(".mk") or name == NAME.lower()


def include_paths(root: Path, files: Iterable[str], configured: Iterable[str] = ()) -> tuple[str, ...]:
    """Folders relative to ``root`` ("" is the root itself), in search order, each existing and inside the root."""
    found: dict[str, None] = {}

    def add(folder: str, base: str) -> None:
        full = os.path.join(base, folder)
        inside = os.path.relpath(full, root).replace(os.sep, "/")
        if not inside.startswith("..") and os.path.isdir(full):
            found.setdefault("" if inside == "." else posixpath.normpath(inside))

    for folder in configured:
        add(str(folder), str(root))
    for folder in dict.fromkeys(folder for command in read_commands(root) for folder in command.include_folders()):
        add(folder, str(root))
    for path in sorted(p for p in files if is_build_file(p) and not p.endswith(".json")):
        text = _read(root / path)
        base = str((root / path).parent)
        for folder in _folders_in(text):
            add(folder, base)
            add(folder, str(root))
    for folder in USUAL_FOLDERS:
        add(folder, str(root))
    return tuple(found)


def _folders_in(text: str) -> list[str]:
    found = [match.group(1) for match in _FLAG.finditer(text)]
    for match in _CMAKE.finditer(text):
        found.extend(
            w for w in match.group(1).split() if w not in ("PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER")
        )
    plain = [_HERE.sub(".", folder.strip("\"'")) for folder in found]
    return [folder for folder in dict.fromkeys(plain) if folder and "$" not in folder]


def _read(path: Path, limit: int = _MAX_BYTES) -> str:
    try:
        return read_regular(path, limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
