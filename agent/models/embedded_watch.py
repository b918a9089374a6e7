"""End an embedded model server after the last program that uses it. Standard library only, since it runs while a model
loads.

Every program that uses a server holds a shared ``flock`` on the server's lease file; the kernel drops it however the program
ends. The server holds an exclusive one on its record, which says in the same way that it lives. No process id is trusted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time

POLL_SECONDS = 0.2
"""How often it is asked whether anybody still holds the lease."""


def try_lock(fd: int, *, shared: bool = False) -> bool:
    """Take the lock of an open file without waiting; whether it was free.

    Raises:
        OSError: the file system knows no locks.
    """
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(fd: int) -> bool:
    """Whether another open file holds this file's lock exclusively."""
    if not try_lock(fd, shared=True):
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def under_watch(record: str, lease: str) -> int:
    """Called by a server before it loads anything: claims ``record``, forks a watcher, returns the watcher's process id.

    The watcher is a process and not a thread, because the library holds Python's global lock while a model is loaded. It
    kills the server once nobody holds the lease, and removes both files when the server is gone. Should the watcher end
    first, the server is to end as well (``os.waitpid`` on the id).

    Raises:
        SystemExit: the files are gone or locked, since the program that wanted this server has ended.
    """
    try:
        claimed = os.open(record, os.O_RDWR | os.O_CLOEXEC)
        if not try_lock(claimed):
            raise SystemExit(0)
    except OSError:
        raise SystemExit(0) from None
    server = os.getpid()
    watcher = os.fork()
    if watcher == 0:
        try:
            _watch(server, record, lease)
        finally:
            os._exit(0)
    return watcher


def _watch(server: int, record: str, lease: str) -> None:
    _let_go_of_everything()
    try:
        held = os.open(lease, os.O_RDWR)
    except OSError:
        held = -1
    while os.getppid() == server:
        if held < 0 or try_lock(held):  # kept until the server is gone, so that nobody joins it now
            os.kill(server, signal.SIGKILL)
            while os.getppid() == server:
                time.sleep(0.01)
            break
        time.sleep(POLL_SECONDS)
    for path in (record, lease):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _let_go_of_everything() -> None:
    """Of the claim on the record, which must end with the server, and of its pipes."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.closerange(3, 256)
