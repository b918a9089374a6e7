"""Whether an embedded server that programs share is busy with the calls of another one: it answers one at a time.

A program that has calls with the server keeps one byte of the lease file locked by ``fcntl``; these locks know nothing of
the file's ``flock``, end with their program, and tell a process only of the locks of others. Asking about them without
taking one is done where the structure of the question is known (Linux); elsewhere nothing is known and nothing said.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import sys

WAITING = "waiting for the model server, which another cra is using"
PATIENCE_SECONDS = 1.5
"""A call that has brought no word for so long may be waiting for its turn; then it is looked, again and again."""

_BYTE = 1 << 30
"""Of the lease file, which is empty: locks may lie beyond the end."""
_FLOCK = "hhqqi4x" if sys.platform == "linux" and struct.calcsize("P") == 8 else ""


def mark_busy(fd: int, busy: bool) -> None:
    """Lock the byte of this program's calls, shared with the others, or let go of it."""
    with contextlib.suppress(OSError):
        fcntl.lockf(fd, (fcntl.LOCK_SH | fcntl.LOCK_NB) if busy else fcntl.LOCK_UN, 1, _BYTE, os.SEEK_SET)


def others_busy(fd: int) -> bool:
    """Whether another program has the byte locked; False where that cannot be asked."""
    if not _FLOCK:
        return False
    question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0)
    try:
        answer = fcntl.fcntl(fd, fcntl.F_GETLK, question)
    except OSError:
        return False
    return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)
