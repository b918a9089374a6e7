"""Undo what a command did to a run's files: code under check runs beside the tests that measure it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path, PurePosixPath

from agent.languages import reader_of
from agent.workspace.git import paths, run_git
from agent.workspace.paths import write_atomically
from agent.workspace.protected import is_protected
from agent.workspace.worktree import Workspace

_CHANGED = ("diff", "--name-only", "--no-renames", "--no-relative", "--ignore-submodules", "-z", "HEAD")
_LOOSE = ("ls-files", "-z", "--others", "--exclude-standard")
_READ_BY_RUNNERS = frozenset({".ini", ".toml", ".cfg", ".mk", ".cmake"})


class CheckoutGuard:
    """Remembers the files of a run's checkout before a command; :meth:`restore` puts back what the command changed.

    It restores tracked files that the run did not write meanwhile, those of submodules too; test files that are not
    committed yet; and other uncommitted files that are no regular files any more (the run may have written them, but never
    makes a pipe or a link). It removes new files that a test runner would read the next time. Other files that builds leave
    stay, so that the next build is fast. Blocking."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._top = workspace, workspace.top
        self._dirty = _names(self._top, *_CHANGED)
        self._loose = _names(self._top, *_LOOSE)
        waiting = self._dirty | workspace.written
        kept = waiting | {path for path in self._loose if is_protected(path)}
        self._kept = {path: data for path in kept if (data := self._bytes(path)) is not None}

    def restore(self) -> list[str]:
        """Put everything back. Returns the paths, relative to the checkout, that had been changed.

        Raises:
            WorkspaceError: a file cannot be put back.
        """
        written = self._workspace.written
        changed = _names(self._top, *_CHANGED) - self._dirty - written
        if changed:
            run_git(self._top, "--literal-pathspecs", "checkout", "-q", "HEAD", "--", *sorted(changed))
        for path, data in self._kept.items():
            now = self._bytes(path)
            if path not in changed and now != data and (now is None or is_protected(path)):
                write_atomically(self._top / path, data)
                changed.add(path)
        new = _names(self._top, *_LOOSE) - self._loose - written
        for path in filter(_is_read_by_a_runner, new):
            with contextlib.suppress(OSError):
                os.unlink(self._top / path)
            changed.add(path)
        self._workspace.restore_submodules()
        return sorted(changed)

    def _bytes(self, path: str) -> bytes | None:
        full = self._top / path
        try:  # a pipe put in a file's place would never end
            return full.read_bytes() if stat.S_ISREG(full.lstat().st_mode) else None
        except OSError:
            return None


def _names(top: Path, *words: str) -> set[str]:
    return set(paths(run_git(top, *words)))


def _is_read_by_a_runner(path: str) -> bool:
    read = reader_of(path) is not None or PurePosixPath(path).suffix in _READ_BY_RUNNERS
    return (is_protected(path) and read) or _is_makefile(path)


def _is_makefile(path: str) -> bool:
    return PurePosixPath(path).name.casefold() in ("makefile", "gnumakefile")
