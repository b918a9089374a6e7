"""A copy of a folder that is not a git repository, with a repository beside it for commits and diffs."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from agent.walking import walk
from agent.workspace.git import WorkspaceError, forget, register, run_git, shown

LARGEST_COPY = 1024 * 1024 * 1024
MOST_FILES = 50_000
"""A larger folder is hardly a project (a home directory, say); the person is then asked for a repository."""

SKIPPED_FOLDERS = frozenset(
    {".clean_room", ".git", "__pycache__", "node_modules", ".venv", "venv", ".tox"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
"""Never copied: made by tools, and rebuilt by them."""


PARTIAL = ".partial"
"""Ends the name of a copy that is being made or removed, so that it is never taken for a whole one."""


def copy_tree(source: Path, partial: Path) -> list[str]:
    """Copy ``source`` to ``partial`` (which must not exist); links stay links. Returns notes on what was left out.

    Raises:
        WorkspaceError: the folder is too large, or cannot be read or written.
    """
    size = count = 0
    skipped: list[str] = []
    try:
        for here, names, files in walk(source):
            relative = here.relative_to(source)
            names[:] = [name for name in names if name not in SKIPPED_FOLDERS]
            (partial / relative).mkdir(parents=True, exist_ok=True)
            for name in files:
                path = here / name
                info = path.lstat()
                if not stat.S_ISREG(info.st_mode) and not stat.S_ISLNK(info.st_mode):
                    continue
                if stat.S_ISREG(info.st_mode) and not os.access(path, os.R_OK):
                    skipped.append(str(relative / name))
                    continue
                size += info.st_size
                count += 1
                if size > LARGEST_COPY or count > MOST_FILES:
                    raise WorkspaceError(
                        f"{source} is not a git repository and too large to copy "
                        f"(over {LARGEST_COPY >> 20} MB or {MOST_FILES:,} files). Give the path of the project itself, "
                        "or make it a repository with: git init"
                    )
                shutil.copy2(path, partial / relative / name, follow_symlinks=False)
    except OSError as error:
        raise WorkspaceError(f"{source} could not be copied to {partial}: {error}. Check the room on that disk.") from error
    return [f"Not included, since they cannot be read: {', '.join(map(shown, skipped[:5]))}."] if skipped else []


def start_history(root: Path, git_dir: Path, branch: str) -> str:
    """Give ``root`` a history in ``git_dir``, which lies elsewhere, with one commit on ``branch``; returns the commit.

    There is no ``.git`` in ``root``, so code that runs there cannot reach the history. Contents are kept byte by byte: no
    newline conversion, no filters."""
    shutil.rmtree(git_dir, ignore_errors=True)
    git_dir.mkdir()
    run_git(git_dir, "init", "-q", "--bare", ".")
    attributes = git_dir / "info" / "attributes"
    attributes.parent.mkdir(parents=True, exist_ok=True)
    attributes.write_text("* -text -filter -ident -working-tree-encoding\n", encoding="utf-8")
    register(root, git_dir)
    try:
        run_git(root, "config", "core.autocrlf", "false")
        run_git(root, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
        run_git(root, "add", "-A", "--", ".")
        run_git(root, "commit", "-q", "--allow-empty", "--no-verify", "-m", "As it was when the run began")
        return run_git(root, "rev-parse", "HEAD").stdout.decode().strip()
    finally:
        forget(root)
