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
