"""The submodules of a repository in a run's place: their files are there to be read and compiled, and never changed.

The place is a worktree of the outer repository alone, whose commits cannot hold a submodule's files. The files
that the person has checked out in a submodule are stored as a tree object in the submodule's own repository, and git writes
them to its folder in the place, with an index beside the place's own. There is no ``.git`` in that folder: code that runs
there cannot reach the history.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.workspace import uncommitted
from agent.workspace.git import GitError, checkout_of, discover, run_git, run_git_apart, text

MOST_FILES = 50_000
"""Files of one submodule that a run's place is given at most: all of them are written for every run."""

_LINK = "160000 "


class Submodule(msgspec.Struct, frozen=True):
    """One submodule in a run's place: ``path`` counts from the top of the checkout, ``tree`` is an object of ``git_dir``."""

    path: str
    git_dir: str
    tree: str


def recorded(top: Path) -> dict[str, str]:
    """Path → commit of the submodules that the index of ``top`` records."""
    found = {}
    for entry in uncommitted.index_entries(top):
        head, _, path = entry.partition("\t")
        if head.startswith(_LINK):
            found[path] = head.split(" ")[1]
    return found


def taken_along(top: Path, scratch: Path, carry_uncommitted: bool) -> tuple[list[Submodule], list[str]]:
    """The submodules below ``top`` whose files a run can have, outer ones first, and the paths of those that it cannot.

    With ``carry_uncommitted`` the files are as they are on disk, else as the commit has them that ``top`` records. A
    submodule that is not checked out, that git refuses, or that is too large is among the latter. Blocking.
    """
    found: list[Submodule] = []
    left: list[str] = []
    for path, commit in recorded(top).items():
        folder = top / path
        try:
            inner = _opened(folder)
            tree = _tree_of(folder, scratch, commit, carry_uncommitted) if inner is not None else ""
        except GitError:
            inner, tree = None, ""
        if inner is None or not tree:
            left.append(path)
            continue
        found.append(Submodule(path, str(inner), tree))
        below, missing = taken_along(folder, scratch, carry_uncommitted)
        found += [msgspec.structs.replace(one, path=f"{path}/{one.path}") for one in below]
        left += [f"{path}/{name}" for name in missing]
    return found, left


def _opened(folder: Path) -> Path | None:
    """Git's folder of the submodule that is checked out at ``folder``; None where there is none that can be taken along."""
    if not os.path.lexists(folder / ".git") or os.path.realpath(folder) != os.path.abspath(folder):
        return None
    known = discover(folder)
    if known is None or known.top != folder or len(uncommitted.index_entries(folder)) > MOST_FILES:
        return None
    return known.git_dir


def _tree_of(folder: Path, scratch: Path, commit: str, carry_uncommitted: bool) -> str:
    if carry_uncommitted:
        return uncommitted.snapshot(folder, scratch).tree
    return text(run_git(folder, "rev-parse", "-q", "--verify", f"{commit}^{{tree}}", check=False))


def write_files(top: Path, submodules: Sequence[Submodule]) -> None:
    """Restore the files of ``submodules`` in the place at ``top``: those that were changed or removed are written again,
    others are not touched. Blocking.

    Raises:
        GitError: a submodule's objects are gone.
    """
    for number, one in enumerate(submodules):
        folder = _folder(top, one.path)
        run_git_apart(Path(one.git_dir), folder, "read-tree", "--reset", "-u", one.tree, env=_index_of(top, number))


def clean(top: Path, submodules: Sequence[Submodule], options: str) -> None:
    """``git clean`` in each submodule's folder: what builds left there goes. Blocking."""
    for number, one in enumerate(submodules):
        run_git_apart(Path(one.git_dir), _folder(top, one.path), "clean", options, env=_index_of(top, number))


def holding(submodules: Iterable[str], path: str) -> str:
    """The submodule that holds ``path``, "" if none does; all count from the same folder."""
    return next((one for one in submodules if path == one or path.startswith(f"{one}/")), "")


def _index_of(top: Path, number: int) -> dict[str, str]:
    """The index of a submodule's folder is in git's folder for the place, and is removed with it."""
    place = checkout_of(top)
    assert place is not None
    return {"GIT_INDEX_FILE": str(place.git_dir / f"submodule-{number}.index")}


def _folder(top: Path, path: str) -> Path:
    """The submodule's folder, made where it is missing. A link, a file or a repository that a command put there is
    removed."""
    folder = top
    for part in Path(path).parts:
        folder = folder / part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    planted = folder / ".git"
    if planted.is_dir() and not planted.is_symlink():
        shutil.rmtree(planted, ignore_errors=True)
    else:
        planted.unlink(missing_ok=True)
    return folder
