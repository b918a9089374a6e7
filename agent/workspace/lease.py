"""Who works in a run's place: a lock that the system lets go of by itself when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from agent.workspace import record
from agent.workspace.git import WorkspaceError

try:
    import fcntl
except ImportError:  # no such locks on this system: then nobody is known to work there
    fcntl = None  # type: ignore[assignment]


class Lease:
    """Holds the place of run ``run_id`` of ``repo`` until :meth:`release` or the end of the process.

    Raises:
        WorkspaceError: another process, or another run object of this one, holds it.
    """

    def __init__(self, repo: Path, run_id: str) -> None:
        self.path = _path(repo, run_id)
        self._handle: int | None = None
        if fcntl is None:
            return
        record.work_folder(repo)
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise WorkspaceError(busy(run_id)) from None
        self._handle = handle

    def release(self) -> None:
        """Let go of it. May be called twice."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()
            os.close(handle)


def held(repo: Path, run_id: str) -> bool:
    """Whether somebody works in the run's place right now."""
    if fcntl is None:
        return False
    try:
        handle = os.open(_path(repo, run_id), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def busy(run_id: str) -> str:
    """What is said to somebody who wants to change a run that goes on."""
    return f"Run {run_id} is going on, here or in another window. Stop it there first, or wait for its end."


def _path(repo: Path, run_id: str) -> Path:
    return repo / record.FOLDER / "work" / f"{run_id}.lock"
