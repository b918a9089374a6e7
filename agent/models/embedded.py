"""The embedded model: a llama.cpp server on loopback that this program starts, at most one at a time.

Two model servers on few cores are far slower than one, so all providers of one event loop share one host: another
model, or a larger window, replaces the loaded one once its calls are done. Programs of the same person
that want the same model share one server (``embedded_share``).
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agent.models.embedded_process import EmbeddedProcess, obtain
from agent.models.embedded_share import ServerOptions
from agent.models.openai import OpenAIProvider
from agent.models.store import find_adapter
from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget, StatusCallback
from agent.models.waiting import Patience

Resolve = Callable[[str], Path]
"""Model name or path to a GGUF file; raises ModelError when it is not there."""


class _Protocol(OpenAIProvider):
    """The OpenAI protocol as the child speaks it, logged under the name of the embedded provider."""

    name = "embedded"


class _Host:
    """The one server of an event loop, and the calls that use it."""

    def __init__(self) -> None:
        self.process: EmbeddedProcess | None = None
        self.protocol: _Protocol | None = None
        self.users: set[int] = set()
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._entry = asyncio.Lock()
        self._noticed: set[str] = set()

    @asynccontextmanager
    async def lease(
        self, path: Path, context: int, options: ServerOptions, target: ModelTarget, status: StatusCallback
    ) -> AsyncIterator[_Protocol]:
        """The protocol to a server that has this model and at least this window; a call that needs another one waits."""
        async with self._entry:
            if not self._fits(path, context, options):
                await self._idle.wait()
                await self._swap(path, context, options, target, status)
            self._active += 1
            self._idle.clear()
        assert self.protocol is not None
        self._mark()
        try:
            yield self.protocol
        finally:
            self._active -= 1
            self._mark()
            if self._active == 0:
                self._idle.set()

    def _mark(self) -> None:
        if self.process is not None and self._active <= 1:
            self.process.mark(self._active == 1)

    def _fits(self, path: Path, context: int, options: ServerOptions) -> bool:
        p = self.process
        return p is not None and p.alive and (p.path, p.options) == (path, options) and p.context >= context

    async def _swap(
        self, path: Path, context: int, options: ServerOptions, target: ModelTarget, status: StatusCallback
    ) -> None:
        old = self.process
        if old is not None and old.alive:
            why = "another model" if old.path != path else "another adapter" if old.options != options else "a larger window"
            status("loading", f"{target.model} (in place of {old.path.stem}: {why} is needed)")
            if old.path == path:
                context = max(context, old.context)
        else:
            status("loading", target.model)
        await self.stop()

        def tell(what: str, text: str) -> None:
            if what != "notice" or text not in self._noticed:  # stages may swap models many times
                status(what, text)
            self._noticed.add(text)

        self.process = await obtain(path, context, options, target.first_byte_timeout, tell)
        self.protocol = _Protocol(self.process.base_url, headers={"Authorization": f"Bearer {self.process.key}"})
        status("ready", f"{target.model} (shared with another program)" if self.process.shared else target.model)

    async def stop(self) -> None:
        """Give the server back, if there is one."""
        protocol, self.protocol = self.protocol, None
        process, self.process = self.process, None
        if protocol is not None:
            await protocol.aclose()
        if process is not None:
            await process.stop()


_hosts: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Host] = weakref.WeakKeyDictionary()


class EmbeddedProvider:
    """Answers with a model file on this machine.

    Args:
        resolve: model name or path to its file.
        contexts: window needed per model name over all stages, so that the server starts with the largest at once.
        speculative: n-gram speculation; pays only where much text is re-emitted unchanged.
        adapters: LoRA adapters per model name over all stages, loaded with the model; each call names its own.
        status: told ``loading``, ``ready`` and ``notice``.
    """

    name = "embedded"

    def __init__(
        self,
        resolve: Resolve,
        *,
        contexts: dict[str, int] | None = None,
        speculative: bool = False,
        adapters: dict[str, tuple[str, ...]] | None = None,
        status: StatusCallback | None = None,
    ) -> None:
        self._resolve = resolve
        self._adapters = adapters or {}
        self._contexts = contexts or {}
        self._speculative = speculative
        self._status = status or (lambda *_: None)
        self._closed = False

    async def complete(self, request: CompletionRequest) -> Completion:
        """Ask once. A server that died is started again, once.

        Raises:
            ModelError: with the end of the server's own log where that says why.
        """
        for last in (False, True):
            async with self._lease(request.target) as protocol:
                process = self._host().process
                waiting = Patience(request, self._status, server=process)
                try:
                    async with waiting.watched():
                        return await protocol.complete(waiting.request)
                except ModelError as error:
                    died = process is not None and not process.alive
                    if error.kind != "unreachable" or not died or last:
                        if died and process is not None:
                            raise process.death() from None
                        raise
        raise AssertionError("unreachable")

    async def count_tokens(self, text: str, target: ModelTarget) -> int | None:
        """By the model's own tokenizer."""
        async with self._lease(target) as protocol:
            return await protocol.count_tokens(text, target)

    async def check(self, target: ModelTarget) -> ModelInfo:
        """Whether the file and the server library are there. Starts nothing."""
        try:
            path = await asyncio.to_thread(self._resolve, target.model)
            EmbeddedProcess.require_library()
            if target.adapter:
                find_adapter(target.adapter)
        except ModelError as error:
            return ModelInfo(ok=False, text=str(error), hint=error.hint)
        return ModelInfo(ok=True, text=f"{target.model} is on this machine ({path.name}).", models=(target.model,),
                         context_window=self._context(target), yes_no_probability=True)  # fmt: skip

    async def aclose(self) -> None:
        """Give the server back; it ends with its last user."""
        self._closed = True
        host = self._host()
        host.users.discard(id(self))
        if not host.users:
            await host.stop()

    def _host(self) -> _Host:
        return _hosts.setdefault(asyncio.get_running_loop(), _Host())

    def _context(self, target: ModelTarget) -> int:
        return max(target.context_window, self._contexts.get(target.model, 0))

    @asynccontextmanager
    async def _lease(self, target: ModelTarget) -> AsyncIterator[_Protocol]:
        if self._closed:
            raise ModelError("missing", "This model was closed already.", "Start the task again.")
        path = await asyncio.to_thread(self._resolve, target.model)
        host = self._host()
        host.users.add(id(self))
        context = self._context(target)
        adapters = tuple(str(find_adapter(name)) for name in self._adapters.get(target.model, ()))
        options = ServerOptions(self._speculative, adapters)
        async with host.lease(path, context, options, target, self._status) as protocol:
            yield protocol
