"""What a scripted model server is told to say: answers, faults and rules that choose between them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RecordedCall:
    """One request that asked the model something. ``index`` counts from 0 in the order of arrival."""

    index: int
    path: str
    body: dict[str, Any]
    system: str
    prompt: str
    model: str
    headers: dict[str, str] = field(default_factory=dict)
    in_flight: int = 1

    @property
    def text(self) -> str:
        """System prompt and prompt, as rules match them."""
        return f"{self.system}\n{self.prompt}"


@dataclass(frozen=True)
class Answer:
    """One reply. ``p_yes`` shapes the log-probabilities; left out, a plain yes is .9 and a plain no .1.

    ``fault`` is one of ``reset`` (connection closed without a byte), ``garbage`` (200, not JSON), ``huge`` (200, more
    than any client should read), ``stream_error`` (200, JSON that holds only an error, as Ollama sends mid-stream), ``raw``
    (200, the bytes ``raw``), ``drip`` (200, a body that begins and goes on for ever, a space at a time).

    Where a stream is asked for, the text comes in pieces of a token, ``pace`` seconds apart, and these faults apply in its
    middle: ``cut`` (the connection breaks), ``torn`` (it ends there as if it were whole), ``garbage_line``, ``late_error``.
    ``usage=False`` leaves the token counts out of a stream.

    With ``together`` the answer is held until so many requests have been in flight at once: no figure of time is needed to
    show that calls are made side by side.
    """

    text: str = "yes"
    p_yes: float | None = None
    finish: str = "stop"
    status: int = 200
    error: str = ""
    fault: str = ""
    raw: bytes = b""
    latency: float = 0.0
    logprobs: bool = True
    thinking: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    load_ms: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    pace: float = 0.0
    usage: bool = True
    together: int = 0


Script = Callable[[RecordedCall], Answer]


def slow(answer: str | Answer, seconds: float) -> Answer:
    """The answer after ``seconds``."""
    return dataclasses.replace(as_answer(answer), latency=seconds)


def together(answer: str | Answer, count: int) -> Answer:
    """The answer once ``count`` requests have been in flight at once."""
    return dataclasses.replace(as_answer(answer), together=count)


def failing(status: int, message: str = "", **headers: str) -> Answer:
    """An HTTP error."""
    return Answer(status=status, error=message or f"scripted error {status}", headers=headers)


def reset() -> Answer:
    """The connection closes before any byte of a reply."""
    return Answer(fault="reset")


def garbage() -> Answer:
    """A 200 whose body is not JSON."""
    return Answer(fault="garbage")


def huge() -> Answer:
    """A 200 whose body is far larger than any answer."""
    return Answer(fault="huge")


def stream_error(message: str) -> Answer:
    """A 200 whose body is an error object."""
    return Answer(fault="stream_error", error=message)


def raw(body: bytes) -> Answer:
    """A 200 with exactly this body."""
    return Answer(fault="raw", raw=body)


def drip() -> Answer:
    """A 200 whose body never ends."""
    return Answer(fault="drip")


def cut(text: str) -> Answer:
    """A reply that ran into its own limit."""
    return Answer(text=text, finish="length")


def times(n: int, fault: Any, then: Any = "yes") -> list[Any]:
    """``fault`` for the first ``n`` requests, ``then`` for all that follow."""
    return [fault] * n + [then]


def as_answer(reply: str | bool | Answer) -> Answer:
    """A plain text or truth value as an Answer."""
    if isinstance(reply, Answer):
        return reply
    if isinstance(reply, bool):
        return Answer("yes" if reply else "no")
    return Answer(reply)


class Rules:
    """A script made of ``(needle, reply)`` pairs, first match wins.

    A needle is a substring or a compiled regular expression, looked for in system prompt and prompt. A reply is text,
    a truth value, an Answer, a callable taking the call, or a list of those: one after the other, the last repeated.
    """

    def __init__(self, rules: Iterable[tuple[str | re.Pattern[str], Any]], default: Any = "no") -> None:
        self._rules = [(needle, reply) for needle, reply in rules]
        self._default = default
        self._used: dict[int, int] = {}

    def __call__(self, call: RecordedCall) -> Answer:
        text = call.text
        for number, (needle, reply) in enumerate(self._rules):
            if needle in text if isinstance(needle, str) else needle.search(text):
                return self._resolve(reply, call, number)
        return self._resolve(self._default, call, -1)

    def _resolve(self, reply: Any, call: RecordedCall, number: int) -> Answer:
        if isinstance(reply, list | tuple):
            used = self._used.get(number, 0)
            self._used[number] = used + 1
            reply = reply[min(used, len(reply) - 1)]
        if callable(reply):
            reply = reply(call)
        return as_answer(reply)


def as_script(script: Any) -> Script:
    """A callable, a list of rules or one constant reply as a script."""
    if isinstance(script, Rules):
        return script
    if isinstance(script, list) and all(isinstance(rule, tuple) for rule in script):
        return Rules(script)
    if callable(script):
        return lambda call: as_answer(script(call))
    return Rules([], default=script)
