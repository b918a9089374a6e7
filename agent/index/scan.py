# ruff: noqa: SIM905
"""Which files a repository holds. Never raises on what it finds there."""

from __future__ import annotations

import os
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from agent.regular_files import LARGEST
from agent.scratch import scratch_folder
from agent.walking import walk
from agent.workspace.clean_room import FOLDER
from agent.workspace.git import CheckoutChanged, GitError, discover, run_git, run_place_of

_NEVER = frozenset((FOLDER, ".git", ".hg", ".svn"))
_CLUTTER = frozenset(
    "node_modules __pycache__ .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .eggs .cache".split()
)


@dataclass(slots=True)
class FileListing:
    """Paths relative to the root, ``/``-separated, sorted; ``skipped`` counts what was left out, by reason."""

    paths: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    submodules: list[str] = field(default_factory=list)
    git: bool = False


def git(root: Path, *arguments: str, timeout: float = 120.0) -> bytes | None:
    """Output of one git command in the repository that holds ``root``; None when git is missing, fails or takes too long.

    Raises:
        CheckoutChanged: ``root`` is the place of a run and no longer the one that was made.
    """
    try:
        discover(root)
        done = run_git(root, *arguments, check=False, timeout=timeout)
    except CheckoutChanged:
        raise
    except GitError:
        return None
    return done.stdout if done.returncode == 0 else None


def list_files(root: Path, only: list[str] | None = None) -> FileListing:
    """Tracked and untracked, not ignored files below ``root``; ``only`` limits the answer to the given paths.

    Outside a git repository git's own ignore rules are applied through an empty repository elsewhere; without git
    the tree is walked and only known clutter is left out.
    """
    listing = FileListing()
    limits = ["--", *(f":(literal){path}" for path in only)] if only else []
    tracked = git(root, "ls-files", "-z", "--stage", *limits)
    names: dict[str, str] = {}
    if tracked is not None:
        listing.git = True
        for entry in tracked.split(b"\0"):
            head, tab, name = entry.partition(b"\t")
            if tab:
                names[os.fsdecode(name)] = head[:6].decode("ascii", "replace")
        _add_untracked(names, git(root, "ls-files", "-z", "-o", *_ignoring(root), *limits) or b"")
    else:
        names = _names_without_repository(root, only, limits)
    return _placed(root, names, listing)


def _placed(root: Path, names: Mapping[str, str], listing: FileListing) -> FileListing:
    """``listing`` with each name (path to git's mode, "" where git has none) among the paths or what was left out."""
    real_root = os.path.realpath(root)
    inside = cache(lambda folder: _inside(real_root, folder))
    for path, mode in names.items():
        _place(root, path, mode, listing, inside)
    listing.paths.sort()
    return listing


def _ignoring(root: Path) -> list[str]:
    """The option to leave ignored files out. Without it where ``.gitignore`` is a pipe, on which git would wait forever, or
    too large to be read."""
    try:
        info = (root / ".gitignore").stat()
        plain = stat.S_ISREG(info.st_mode) and info.st_size <= LARGEST
    except OSError:
        plain = True
    return ["--exclude-standard"] if plain else []


def _add_untracked(names: dict[str, str], output: bytes) -> None:
    for raw in output.split(b"\0"):
        name = os.fsdecode(raw)
        if name and name not in names and not _CLUTTER.intersection(name.rstrip("/").split("/")):
            names[name] = "160000" if name.endswith("/") else ""


def _names_without_repository(root: Path, only: list[str] | None, limits: Sequence[str] = ()) -> dict[str, str]:
    names: dict[str, str] = {}
    loose = _ls_without_repository(root, limits)
    if loose is not None:
        _add_untracked(names, loose)
    else:
        names.update((path, "") for path in _walk(root) if not only or path in only)
    return names


def _ls_without_repository(root: Path, limits: Sequence[str]) -> bytes | None:
    with tempfile.TemporaryDirectory(prefix="ls-", dir=scratch_folder()) as empty:
        made = git(Path(empty), "init", "-q", "--bare", empty)
        if made is None:
            return None
        return git(root, f"--git-dir={empty}", f"--work-tree={root}", "ls-files", "-z", "-o", "--exclude-standard", *limits)


def _walk(root: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, files in walk(root):
        folders[:] = sorted(f for f in folders if f not in _CLUTTER and f not in _NEVER)
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else inside.replace(os.sep, "/") + "/"
        found.extend(prefix + name for name in files)
    return found


def _place(root: Path, name: str, mode: str, listing: FileListing, inside: Callable[[str], bool]) -> None:
    """Sorts one listed name into the paths or the reasons for skipping."""
    if _NEVER.intersection(name.split("/")):
        return
    if mode == "160000":
        _enter(root, name, listing)
        return
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        listing.skipped["file name is not UTF-8"] += 1
        return
    try:
        kind = os.lstat(os.path.join(root, name)).st_mode
    except (OSError, ValueError):
        return  # deleted in the working tree: it is simply not there
    if stat.S_ISLNK(kind) or mode == "120000":
        listing.skipped["symbolic link"] += 1
    elif not stat.S_ISREG(kind):
        listing.skipped["not a regular file"] += 1
    elif "/" in name and not inside(os.path.dirname(name)):
        listing.skipped["symbolic link"] += 1
    else:
        listing.paths.append(name)


def _enter(root: Path, name: str, listing: FileListing) -> None:
    """Adds the files of a submodule that is there: checked out, or only its files as in place of a run.

    A repository that merely lies inside is not part of this one."""
    listing.submodules.append(name.rstrip("/"))
    folder = root / name
    if name.endswith("/") or folder.is_symlink() or not _holds_files(folder):
        listing.skipped["submodule"] += 1
        return
    if os.path.lexists(folder / ".git") and run_place_of(folder) is None:
        inner = list_files(folder)
    else:
        inner = _placed(folder, _names_without_repository(folder, None), FileListing())
    listing.paths += [f"{name}/{path}" for path in inner.paths]
    listing.submodules += [f"{name}/{path}" for path in inner.submodules]
    listing.skipped.update(inner.skipped)


def _holds_files(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entries)
    except OSError:
        return False


def _inside(root: str, folder: str) -> bool:
    """False when a folder on the way is a link that leads out of the root."""
    real = os.path.realpath(os.path.join(root, folder))
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
