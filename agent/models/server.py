"""What the providers that speak HTTP have in common."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from agent.models import faults
from agent.models.budget import check_budget
from agent.models.http import JsonClient, without_credentials
from agent.models.streamed_reply import CIRCLES
from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget, StatusCallback
from agent.models.waiting import Patience

LONGEST_TOKEN = 16
LONGEST_START = 4096
"""Characters of a reply for each token it may have (code has 3 to 4), and as many more whatever the limit is."""


class HttpProvider:
    """Base of the HTTP providers: budget before every send, timing, status, closing."""

    name = "http"
    default_url = ""

    def __init__(
        self, base_url: str = "", *, status: StatusCallback | None = None, headers: dict[str, str] | None = None
    ) -> None:
        self.base_url, login = without_credentials((base_url or self.default_url).rstrip("/"))
        self.client = JsonClient(self.base_url, self.name, {**login, **(headers or {})})
        self._status = status or (lambda *_: None)
        self._reachable: bool | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Ask once, after the prompt was found to fit.

        Raises:
            ModelError: see ``agent/models/faults.py`` for the kinds.
        """
        await check_budget(request.system, request.prompt, request.target, self._counter(request.target),
                           stage=request.stage)  # fmt: skip
        began = time.perf_counter()
        waiting = Patience(request, self._tell, self.base_url)
        try:
            async with waiting.watched():
                completion = await self.ask(waiting.request)
        except ModelError as error:
            if error.kind == "unreachable":
                self._tell("unreachable", str(error))
            raise
        if self._reachable is not True:
            self._tell("ready", request.target.model)
        return _timed(_within(completion, request.target.max_tokens), (time.perf_counter() - began) * 1000)

    async def ask(self, request: CompletionRequest) -> Completion:
        """One exchange in the protocol of the subclass."""
        raise NotImplementedError

    async def count_tokens(self, text: str, target: ModelTarget) -> int | None:
        """Tokens by the server's own tokenizer; None when it has none."""
        return None

    async def check(self, target: ModelTarget) -> ModelInfo:
        """Whether the server is there and has the model. Never raises."""
        try:
            return await self.inspect(target)
        except ModelError as error:
            return ModelInfo(ok=False, text=str(error), hint=error.hint)

    async def inspect(self, target: ModelTarget) -> ModelInfo:
        """``check`` that may raise ModelError."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close connections."""
        await self.client.aclose()

    def _counter(self, target: ModelTarget) -> Any:
        async def count(text: str) -> int | None:
            try:
                return await self.count_tokens(text, target)
            except ModelError:
                return None

        return count

    def _tell(self, status: str, text: str) -> None:
        self._reachable = {"ready": True, "unreachable": False}.get(status, self._reachable)
        self._status(status, text)

    def missing(self, model: str) -> ModelInfo:
        """The answer of ``check`` when the server lacks the model."""
        error = faults.not_pulled(self.name, self.base_url, model)
        return ModelInfo(ok=False, text=str(error), hint=error.hint)


def _within(completion: Completion, max_tokens: int) -> Completion:
    """Cut the reply of a server that ignores ``max_tokens``: no text has that many characters per token on average."""
    most = LONGEST_TOKEN * max_tokens + LONGEST_START
    if len(completion.text) <= most:
        return completion
    return msgspec.structs.replace(completion, text=completion.text[:most], finish="length")


def _timed(completion: Completion, ms: float) -> Completion:
    return msgspec.structs.replace(completion, ms=ms)


def finish_of(reason: str, used: int, max_tokens: int) -> str:
    """``length`` when the reply used up ``max_tokens`` or was cut off because it repeats itself; a reply cut earlier ran
    into the window: ``context``."""
    if reason == CIRCLES:
        return "length"
    if reason != "length":
        return "stop"
    return "context" if 0 < used < max_tokens else "length"


def messages_of(request: CompletionRequest) -> list[dict[str, str]]:
    """System and user message."""
    found = [{"role": "system", "content": request.system}] if request.system else []
    return [*found, {"role": "user", "content": request.prompt}]
