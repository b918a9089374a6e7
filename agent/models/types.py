"""Requests to a model and its answers, the same for every provider."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Protocol

import msgspec


class ModelTarget(msgspec.Struct, frozen=True):
    """A stage's resolved model: who answers, and within which limits. ``max_tokens`` caps the reply,
    ``context_window`` is prompt plus reply; both in tokens, both sent to the server. ``adapter`` is a LoRA adapter
    on top of the model: a GGUF file for a llama.cpp server, a served name elsewhere."""

    provider: str
    model: str
    base_url: str = ""
    context_window: int = 8192
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 42
    thinking: bool = False
    keep_alive: str = "30m"
    api_key_env: str = ""
    first_byte_timeout: float = 600.0
    adapter: str = ""

    @property
    def known_as(self) -> str:
        """The name under which answers are compared and thresholds are kept: the model, and its adapter if there is one."""
        return f"{self.model}+{PurePath(self.adapter).name}" if self.adapter else self.model


class Completion(msgspec.Struct, frozen=True):
    """A model's answer. ``p_yes`` is P(yes) / (P(yes) + P(no)) where the provider can tell, else None.

    ``finish`` is ``stop``, ``length`` (cut by ``max_tokens``, or before because it repeats itself) or ``context`` (the
    window was full).
    """

    text: str
    p_yes: float | None = None
    model: str = ""
    provider: str = ""
    finish: str = "stop"
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    load_ms: float = 0.0


class PartialAnswer(Protocol):
    """An answer that is still being written. ``tokens`` counts the pieces that came, about one a token."""

    tokens: int

    def so_far(self) -> str:
        """The raw text as far as it has come."""
        ...


ProgressCallback = Callable[[PartialAnswer], None]
"""Called with every piece of an answer; after a retry the answer starts again. It must be quick and must not raise."""


class CompletionRequest(msgspec.Struct, frozen=True):
    """One question to one model. ``yes_no`` constrains the answer to yes or no and asks for its probability where the
    provider can; ``schema`` (a JSON schema) asks for structured output. ``question`` and ``task_context`` are what decision
    endpoints want apart: the item and everything before it; ``task_context + question == prompt``. ``progress`` is
    called while the answer is written, where the provider can; the completion is the same with and without it. With
    ``no_circles`` an answer that repeats itself without end is cut off, where the provider can.

    With ``suffix`` the model fills in the middle: ``prompt`` is the text before the gap, ``suffix`` the text after it, and
    the answer is the text between. ``system`` is not sent then. A server or model that cannot do it answers with a
    ModelError of kind ``no_infill``."""

    system: str
    prompt: str
    stage: str
    target: ModelTarget
    yes_no: bool = False
    schema: dict[str, Any] | None = None
    temperature: float | None = None
    seed: int | None = None
    task_context: str = ""
    question: str = ""
    stop: tuple[str, ...] = ()
    progress: ProgressCallback | None = None
    no_circles: bool = False
    suffix: str | None = None


class ModelInfo(msgspec.Struct, frozen=True):
    """What ``check`` found out: ``ok``, or a sentence saying what is wrong and one saying what to do."""

    ok: bool
    text: str
    hint: str = ""
    models: tuple[str, ...] = ()
    context_window: int | None = None
    yes_no_probability: bool | None = None


StatusCallback = Callable[[str, str], None]
"""Called with (status, text), status one of loading, ready, unreachable, waiting (for a silent server, or
one that another program uses), or notice: a sentence the person should read."""


class ModelError(Exception):
    """A model could not answer. ``str()`` is a sentence for the person, ``hint`` says what to do.

    ``kind`` is one of unreachable, not_pulled, context, memory, unauthorised, cut, protocol, missing, no_infill.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


class Provider(Protocol):
    """A protocol spoken to a model server. One instance serves one base URL (or one child process)."""

    name: str

    async def complete(self, request: CompletionRequest) -> Completion:
        """Ask once (with retries on connection errors, 429 and 5xx). Raises ModelError."""
        ...

    async def count_tokens(self, text: str, target: ModelTarget) -> int | None:
        """Tokens of ``text`` by the server's own tokenizer, None when it has none."""
        ...

    async def check(self, target: ModelTarget) -> ModelInfo:
        """Whether the server is there and has the model. Never raises."""
        ...

    async def aclose(self) -> None:
        """Close connections and end a child process that this provider started."""
        ...
