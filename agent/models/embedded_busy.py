"""Whether an embedded server that programs share is busy with the calls of another one: it answers one at a time.

A program that has calls with the server keeps one byte of the lease file locked by ``fcntl``; these locks know nothing of
the file's ``flock``, end with their program, and tell a process only of the locks of others. Asking about them without
taking one is done where the structure of the question is known (Linux); elsewhere nothing is known and nothing said.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from agent.models.types import CompletionRequest, PartialAnswer, StatusCallback

WAITING = "waiting for the model server, which another cra uses"
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


class Shared(Protocol):
    """A server that may be busy for others."""

    @property
    def others_busy(self) -> bool:
        """Whether another program has calls with it now."""
        ...


class Queue:
    """One call that may have to wait for those of another program. ``request`` is the call, heard for its first word."""

    def __init__(self, server: Shared | None, request: CompletionRequest, status: StatusCallback) -> None:
        self._server = server
        self._status = status
        self._model = request.target.model
        self._told = False
        self._watcher: asyncio.Task[None] | None = None
        progress = request.progress

        def heard(written: PartialAnswer) -> None:
            self._served()
            if progress is not None:
                progress(written)

        self.request = request if progress is None else msgspec.structs.replace(request, progress=heard)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Tells ``waiting`` once the call is known to wait, and ``ready`` when it is served."""
        if self._server is not None:
            self._watcher = asyncio.create_task(self._watch(self._server))
        try:
            yield
        finally:
            self._served()

    async def _watch(self, server: Shared) -> None:
        while not self._told:
            await asyncio.sleep(PATIENCE_SECONDS)
            if server.others_busy:
                self._told = True
                self._status("waiting", WAITING)

    def _served(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.cancel()
            if self._told:
                self._status("ready", self._model)
