"""Short ways to ask a scripted server through a real provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agent.models.ollama import OllamaProvider
from agent.models.openai import OpenAIProvider
from agent.models.server import HttpProvider
from agent.models.systemone import SystemOneProvider
from agent.models.types import CompletionRequest, ModelTarget
from tests.fakes import ScriptedServer


@asynccontextmanager
async def _closing(provider: HttpProvider) -> AsyncIterator[Any]:
    try:
        yield provider
    finally:
        await provider.aclose()


def openai(server: ScriptedServer, **kwargs: Any) -> Any:
    """An OpenAIProvider on the server."""
    return _closing(OpenAIProvider(server.base_url, **kwargs))


def ollama(server: ScriptedServer, **kwargs: Any) -> Any:
    """An OllamaProvider on the server."""
    return _closing(OllamaProvider(server.base_url, **kwargs))


def systemone(server: ScriptedServer, **kwargs: Any) -> Any:
    """A SystemOneProvider on the server."""
    return _closing(SystemOneProvider(server.base_url, **kwargs))


def target_of(server: ScriptedServer, provider: str = "openai", **changes: Any) -> ModelTarget:
    """A target on the server with a binary's limits."""
    fields = {"model": "m", "max_tokens": 16, "first_byte_timeout": 5.0, **changes}
    return ModelTarget(provider=provider, base_url=server.base_url, **fields)


def yes_no(prompt: str, target: ModelTarget, **changes: Any) -> CompletionRequest:
    """A yes/no question."""
    fields = {"system": "Answer yes or no.", "stage": "scope", "yes_no": True, **changes}
    return CompletionRequest(prompt=prompt, target=target, **fields)


def text(prompt: str, target: ModelTarget, **changes: Any) -> CompletionRequest:
    """A request for text."""
    return CompletionRequest(prompt=prompt, target=target, **{"system": "Write.", "stage": "implement", **changes})
