"""The rows of the log as typed values."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.values import VerdictSource

LabelSource = Literal["person", "override", "outcome"]


class CallDraft(msgspec.Struct):
    """A call as it is known before it is answered. ``prompt`` is ``state + question``."""

    run_id: str
    seq: int
    stage: str
    item: str
    binary: bool
    attempt: int
    system: str
    state: str
    question: str
    model: str
    provider: str
    options: str
    cache_key: str | None = None


class CallAnswer(msgspec.Struct):
    """What came back, before anybody parsed it."""

    raw: str | None = None
    p_yes: float | None = None
    finish: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    error: str = ""
    cached: bool = False
    cached_from: int | None = None


class CallVerdict(msgspec.Struct):
    """How the verdict came about, before it is used."""

    verdict: bool | None
    score: float | None = None
    threshold: float | None = None
    source: VerdictSource | None = None
    defaulted: bool = False
    overridden: bool = False
    explanation: str = ""


class CachedCall(msgspec.Struct, frozen=True):
    """An earlier call with the same key. ``label`` is a person's last word on it, if any."""

    call_id: int
    raw: str
    p_yes: float | None
    label: bool | None = None
