"""Files written whole or not at all: to a file beside, onto the disk, then moved into place."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

_UMASK = os.umask(0o022)  # can only be read by setting it, so once and early: it belongs to all threads
os.umask(_UMASK)


def replace_file(path: Path, data: bytes, *, mode: int | None = None, beside: Path | None = None) -> None:
    """Make ``data`` the content of ``path``; missing folders are made.

    ``mode`` is that of the file, by default the one it has, or that of a new file. ``beside`` names the file in the same
    folder that is written first (a left-over of that name is replaced); without it the name is a new one. A symbolic link
    at ``path`` is itself replaced.

    Raises:
        OSError: the file could not be written; what was there is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = _new_file(path, beside)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode_for(path) if mode is None else mode)
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def mode_for(path: Path) -> int:
    """The mode of the file at ``path`` (through a link), or that of a new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666 & ~_UMASK


def _new_file(path: Path, beside: Path | None) -> tuple[int, str]:
    if beside is None:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp")
    beside.unlink(missing_ok=True)
    return os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), str(beside)
