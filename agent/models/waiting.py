"""The status shown while a call has no answer yet: the server is busy with another program, or silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from agent.models.types import CompletionRequest, PartialAnswer, StatusCallback

WAITING = "waiting for the model server, which another cra is using"
PATIENCE_SECONDS = 1.5
"""After this time without an answer it is checked, again and again, whether another program uses the server."""

SILENT_SECONDS = 10.0
"""After this time a server that has sent nothing is reported as silent. On most machines a server reads a prompt in less."""

_AGAIN_SECONDS = 2.0
"""The first pause between reports of the seconds. Each pause is a tenth longer than the one before, since the log keeps the
reports."""


class Shared(Protocol):
    """A server that may be busy for others."""

    @property
    def others_busy(self) -> bool:
        """Whether another program has calls with it now."""
        ...


class Patience:
    """One call that may have to wait. ``request`` is the call, whose first piece ends the wait; ``where`` is the server's
    address as it may be shown, "" for the embedded one; ``server`` is the embedded one where programs share it."""

    def __init__(
        self, request: CompletionRequest, status: StatusCallback, where: str = "", server: Shared | None = None
    ) -> None:
        self._where = f" ({where})" if where else ""
        self._server = server
        self._status = status
        self._model = request.target.model
        self._told = False
        self._watchers: list[asyncio.Task[None]] = []
        progress = request.progress

        def heard(written: PartialAnswer) -> None:
            self._served()
            if progress is not None:
                progress(written)

        self.request = request if progress is None else msgspec.structs.replace(request, progress=heard)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Report ``waiting`` once the call is known to wait, and ``ready`` when it is answered."""
        self._watchers = [asyncio.create_task(self._watch_silence())]
        if self._server is not None:
            self._watchers.append(asyncio.create_task(self._watch_others(self._server)))
        try:
            yield
        finally:
            self._served()

    async def _watch_silence(self) -> None:
        waited, pause = SILENT_SECONDS, _AGAIN_SECONDS
        await asyncio.sleep(waited)
        while True:
            if not self._told or self._server is None or not self._server.others_busy:
                self._told = True
                self._status("waiting", f"waiting for the server, {waited:.0f} s{self._where}")
            await asyncio.sleep(pause)
            waited, pause = waited + pause, pause * 1.1

    async def _watch_others(self, server: Shared) -> None:
        while not self._told:
            await asyncio.sleep(PATIENCE_SECONDS)
            if server.others_busy:
                self._told = True
                self._status("waiting", WAITING)

    def _served(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher.cancel()
        if watchers and self._told:
            self._status("ready", self._model)
