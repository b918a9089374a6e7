"""Reading files that somebody else may have put there: a pipe would wait for ever, a device or a huge file never end."""

from __future__ import annotations

import os
import stat
from pathlib import Path

LARGEST = 16 << 20
"""Bytes of the largest file that is read without a limit of its own: no configuration and no makefile is larger."""


def read_regular(path: Path, most: int = LARGEST) -> bytes:
    """The bytes of a regular file of at most ``most`` bytes; links are followed.

    Raises:
        OSError: there is none, it cannot be read, or it is something else, or larger.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(f"{path} is no regular file.")
        if info.st_size > most:
            raise OSError(f"{path} is larger than {most >> 20} MiB.")
        with os.fdopen(os.dup(fd), "rb") as handle:
            return handle.read(most)
    finally:
        os.close(fd)


def read_inside(root: Path, path: Path, most: int = LARGEST) -> bytes:
    """:func:`read_regular` for a file below ``root``: a link that leads out of it is not followed, nor a ``..``. What a
    repository, or code under check, puts in a file's place could otherwise show the person's own files to a model.

    Raises:
        OSError: as there, or it lies elsewhere.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise OSError(f"{path} leads out of {root}.")
    return read_regular(real, most)
