"""A question to a model, and its answer."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.events.base import Event
from agent.values import VerdictSource


class CallStarted(Event, frozen=True, gc=False):
    """A call is about to be asked. ``binary``: it asks for a yes or no; ``attempt`` counts from 1."""

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
    source: VerdictSource | Literal["override"] | None = None  # "override" is the word of older logs; decoding replaces it
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
    """The part of an answer that has arrived so far. It is not an event: screens may show it, but it is neither logged nor
    folded. ``text`` is the raw text so far, ``tokens`` an estimate of its length, ``seconds`` the time since the question,
    ``waited`` the part of it before the first text."""

    call_id: int
    text: str
    tokens: int
    seconds: float
    waited: float = 0.0
