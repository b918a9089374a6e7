"""The person's tree as it is now, as a git tree object, without touching their index, stash or checkout."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from agent.workspace.git import paths, run_git, shown, text

LARGEST_CARRIED = 50 * 1024 * 1024
"""Untracked files above this many bytes are left out (and named): they are data, not source."""


SCRATCH = "index-"
"""Begins the name of the folder that holds the copy of the index."""


class Snapshot(NamedTuple):
    """``tree`` is the object id; ``notes`` are sentences about files that could not be included."""

    tree: str
    notes: tuple[str, ...]


def snapshot(top: Path, scratch: Path, carry_uncommitted: bool = True) -> Snapshot:
    """The tree of ``top``: tracked files as they are on disk plus untracked files that are not ignored.

    Works on a copy of the index in ``scratch`` (an existing folder). Objects are written to the repository's database,
    where nothing refers to them until the run's branch does; refs, index and files stay as they are.

    Raises:
        GitError: git could not read a tracked file.
    """
    with tempfile.TemporaryDirectory(dir=scratch, prefix=SCRATCH) as folder:
        index = Path(folder) / "index"
        own = top / text(run_git(top, "rev-parse", "--git-path", "index"))
        env = {"GIT_INDEX_FILE": str(index)}
        if not carry_uncommitted:
            head = run_git(top, "rev-parse", "--verify", "-q", "HEAD^{tree}", check=False)
            if head.returncode == 0:
                return Snapshot(text(head), ())
            run_git(top, "read-tree", "--empty", env=env)
            return Snapshot(text(run_git(top, "write-tree", env=env)), ())
        if own.exists():
            shutil.copy2(own, index)
        else:
            run_git(top, "read-tree", "--empty", env=env)
        notes = list(_unmerged(top, env))
        run_git(top, "add", "-u", "--", ":/", env=env)
        untracked, left = _untracked(top)
        notes += left
        if untracked:
            listed = b"".join(os.fsencode(path) + b"\0" for path in untracked)
            run_git(top, "update-index", "--add", "-z", "--stdin", env=env, input=listed)
        return Snapshot(text(run_git(top, "write-tree", env=env)), tuple(notes))


def index_entries(top: Path) -> list[str]:
    """The entries of the index of ``top``: mode, object and stage, a tab, the path (git-ls-files(1))."""
    return paths(run_git(top, "ls-files", "-s", "-z"))


def _unmerged(top: Path, env: dict[str, str]) -> list[str]:
    names = sorted({entry.split("\t", 1)[1] for entry in paths(run_git(top, "ls-files", "-u", "-z", env=env))})
    if not names:
        return []
    return [f"A merge is not finished ({some(names)}): the run starts from these files as they are on disk."]


def _untracked(top: Path) -> tuple[list[str], list[str]]:
    taken: list[str] = []
    nested: list[str] = []
    large: list[str] = []
    unreadable: list[str] = []
    for path in paths(run_git(top, "ls-files", "-o", "--exclude-standard", "-z", "--", ":/")):
        full = top / path
        if path.endswith("/"):
            nested.append(path)
        elif full.is_symlink():
            taken.append(path)
        elif not os.access(full, os.R_OK):
            unreadable.append(path)
        elif full.stat().st_size > LARGEST_CARRIED:
            large.append(path)
        else:
            taken.append(path)
    notes = []
    if nested:
        notes.append(f"Not included, since they are repositories of their own: {some(nested)}.")
    if large:
        notes.append(f"Not included, since they are over {LARGEST_CARRIED >> 20} MB and untracked: {some(large)}.")
    if unreadable:
        notes.append(f"Not included, since they cannot be read: {some(unreadable)}.")
    return taken, notes


def some(names: list[str], most: int = 5) -> str:
    """The first names as a sentence lists them, and how many more there are."""
    listed = ", ".join(map(shown, names[:most]))
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed
