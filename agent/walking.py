"""The files below a folder, however deep somebody nested folders there: :func:`os.walk` recurses up to Python 3.11."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

DEEPEST = 200
"""Levels that are entered. No project is nested deeper; a tree that is was made to trouble its readers."""


def walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """(folder, names of its folders, names of its other entries), parents first, sorted. Links are not followed, and what
    cannot be read is left out. Names taken out of the list of folders are not entered."""
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError:
            continue
        folders.sort()
        yield folder, folders, sorted(files)
        if depth < DEEPEST:
            waiting += [(folder / name, depth + 1) for name in reversed(folders)]


def files_below(root: Path) -> Iterator[Path]:
    """Every file below ``root``, links included."""
    return (folder / name for folder, _, files in walk(root) for name in files)
