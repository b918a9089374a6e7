"""Temporary folders of this process. They lie in one folder that is locked while the process lives, so that what a killed
process leaves is known for what it is, and swept."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

_PREFIX = "cra-process-"
_LOCK = ".lock"
_YOUNG_SECONDS = 60.0
"""A folder this new may not be locked yet."""


class _Own:
    """The folder of this process, its lock, and whose it is: a forked child has one of its own."""

    folder: Path | None = None
    lock: int = -1
    process: int = 0


def scratch_folder() -> Path:
    """The folder in which this process makes its temporary ones (``tempfile`` takes it as ``dir``). It is made when it is
    asked for first, in the system's temporary folder, and removed when the process ends.

    Raises:
        OSError: no temporary folder can be made.
    """
    parent = Path(tempfile.gettempdir())
    folder = _Own.folder
    if folder is not None and _Own.process == os.getpid() and folder.parent == parent and folder.is_dir():
        return folder
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):  # a file system without locks: then nothing is swept there either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _Own.folder, _Own.lock, _Own.process = folder, lock, os.getpid()
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def sweep_scratch() -> None:
    """Remove the folders of processes that are gone: nobody holds their lock. Those of other users stay."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mtime > time.time() - _YOUNG_SECONDS:
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
