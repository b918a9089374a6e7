"""When two questions are the same: the key under which a verdict is reused by a repeated or resumed run."""

from __future__ import annotations

import hashlib

import msgspec

from agent.models.types import ModelTarget


def decoding_options(target: ModelTarget, *, temperature: float | None, constrained: bool, schema: bool) -> str:
    """What besides the text may change an answer, as JSON; it stands on the call's row."""
    values = {
        "max_tokens": target.max_tokens,
        "context_window": target.context_window,
        "seed": target.seed,
        "temperature": target.temperature if temperature is None else temperature,
        "thinking": target.thinking,
        "constrained": constrained,
        "schema": schema,
    }
    return msgspec.json.encode(values).decode()


def cache_key(stage: str, target: ModelTarget, system: str, prompt: str, options: str) -> str:
    """(stage, model and adapter, system and prompt, decoding options) as one SHA-256 in hex."""
    adapter = (target.adapter,) if target.adapter else ()
    parts = (stage, target.provider, target.model, *adapter, system, prompt, options)
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
