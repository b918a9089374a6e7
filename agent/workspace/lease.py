"""The lock of a run's place. The system releases it when the process ends, however it ends."""

from __future__ import annotations

import contextlib
from pathlib import Path

from filelock import FileLock, Timeout

from agent.workspace.clean_room import known_work_folder, work_folder
from agent.workspace.git import WorkspaceError


class RunLease:
    """Holds the place of run ``run_id`` of ``repo`` until :meth:`release` or the end of the process.

    Raises:
        WorkspaceError: another process, or another run object of this one, holds it.
    """

    def __init__(self, repo: Path, run_id: str) -> None:
        self.path = work_folder(repo) / f"{run_id}.lock"
        self._lock = FileLock(self.path, mode=0o600)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise WorkspaceError(busy(run_id)) from None
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be written: {error.strerror}. Check its folder.") from error

    def release(self) -> None:
        """Let go of it. May be called twice."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                self.path.unlink()
            self._lock.release()


def held(repo: Path, run_id: str) -> bool:
    """Whether somebody works in the run's place right now."""
    folder = known_work_folder(repo)
    path = folder / f"{run_id}.lock" if folder is not None else None
    if path is None or not path.exists():
        return False
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def busy(run_id: str) -> str:
    """The error for a person who wants to change a run that is going on."""
    return f"Run {run_id} is going on, here or in another window. Stop it there first, or wait for its end."
