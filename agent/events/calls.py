"""What is asked of a model, and what came of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.events.base import Event
from agent.values import VerdictSource


class CallStarted(Event, frozen=True, gc=False):
    call_id: int
    stage: str
    item: str
    model: str = ""
    binary: bool = True
    attempt: int = 1


class CallFinished(Event, frozen=True, gc=False):
    """A call was answered and, if binary, its verdict is about to be used.

    ``p_yes`` is the model's probability of yes, ``score`` what was compared with ``threshold``. ``explanation`` is the
    sentence of the card: how the verdict came about.
    """

    call_id: int
    stage: str
    item: str
    verdict: bool | None = None
    p_yes: float | None = None
    score: float | None = None
    threshold: float | None = None
    source: VerdictSource | Literal["override"] | None = None  # the second is an older log's word, set right when read
    defaulted: bool = False
    cached: bool = False
    overruled: bool = False
    model: str = ""
    provider: str = ""
    ms: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    explanation: str = ""
    error: str = ""
    attempt: int = 1
    revised: bool = False
    """The call had finished before: a person has reversed its verdict at the end of its stage."""


class CallProgress(msgspec.Struct, frozen=True):
    """How far the answer of a call has come while it is written. No event: it is told to onlookers only, never logged and
    never folded, and the answer that counts is the one in the log. ``text`` is the raw text so far, ``tokens`` about how
    many that is, ``seconds`` since it was asked, ``waited`` how many of those passed before the first of it came."""

    call_id: int
    text: str
    tokens: int
    seconds: float
    waited: float = 0.0
