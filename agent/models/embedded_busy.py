"""Whether an embedded server that programs share is busy with the calls of another one: it answers one at a time.

A program that has calls with the server keeps one byte of the lease file locked by ``fcntl``; these locks are
independent of the file's ``flock``, end with their program, and show a process only the locks of others. They can be asked
for without taking one where the layout of the C structure is known (Linux); elsewhere a server never counts as busy.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import sys

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
