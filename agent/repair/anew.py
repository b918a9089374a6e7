"""A suspect function rewritten, when no small edit helps: the present text is out of sight at first, so that it cannot be
copied; later it is shown as wrong. The checks choose among the versions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from agent.context import RunContext
from agent.languages import named
from agent.prompts import anew as words
from agent.repair.edits import Candidate, Edit
from agent.repair.functions import Function
from agent.repair.localize import Suspect

STAGE = "anew"
_WAYS = ((False, 0.0), (True, 0.2), (False, 0.7), (True, 0.8), (False, 0.9))
"""(whether the present version is shown, temperature), a call for each suspect."""

_MOST_TOKENS = 700
_SLOWEST = 10.0
"""Tokens a second that a model is trusted to write before it has written any."""

_RANK = 0.2


class Rewriter:
    """Asks for whole functions. ``contract`` and ``failure`` tell what is wanted."""

    def __init__(self, ctx: RunContext, contract: Callable[[Function], str], failure: str) -> None:
        self.ctx = ctx
        self.contract = contract
        self.failure = failure
        self._llm = ctx.llm(STAGE)
        self._speed = _SLOWEST

    async def candidates(self, suspects: Sequence[Suspect], left: Callable[[], float]) -> AsyncGenerator[Candidate]:
        """A candidate for each version that differs from all before. ``left`` tells the seconds that there are; a call that
        would take more is not made."""
        seen = {suspect.function.text for suspect in suspects}
        for attempt, (shown, temperature) in enumerate(_WAYS, 1):
            for suspect in suspects:
                function = suspect.function
                tokens = min(_MOST_TOKENS, self._llm.target.max_tokens, 120 + len(function.text) // 2)
                if left() * self._speed < 0.7 * tokens:
                    return
                asked = await self._llm.generate(
                    system=words.SYSTEM, prompt=self._question(function, shown), item=function.name, attempt=attempt,
                    temperature=temperature, max_tokens=tokens, stop=("\n```\n",),
                )  # fmt: skip
                done = asked.completion
                if done.ms > 0 and done.completion_tokens:
                    self._speed = max(1.0, done.completion_tokens / (done.ms / 1000))
                edit = _replaced(function, asked.text, asked.finish)
                if edit is not None and edit.text not in seen:
                    seen.add(edit.text)
                    yield Candidate((edit,), "rewritten", function.path, function.name, function.first, STAGE,
                                    round(_RANK * suspect.score, 5))  # fmt: skip

    def _question(self, function: Function, shown: bool) -> str:
        source, body = function.source, function.body
        gap = b"{ /* to be written */ }" if (body.text or b"").startswith(b"{") else b"...  # to be written"
        around = (source[: body.start_byte] + gap + source[body.end_byte :]).decode("utf-8", "replace")
        return words.question(
            function.path, function.language, function.name, around=around, contract=self.contract(function),
            failure=self.failure, present=function.text if shown else "",
        )  # fmt: skip


def _replaced(function: Function, reply: str, finish: str) -> Edit | None:
    """What differs between the file and the file with the reply's version; None where the reply holds none."""
    reader, source = named(function.language), function.source
    symbols = [one for one in reader.parse(source).symbols if one.body_start >= 0 and one.qualified == function.name]
    if len(symbols) != 1:
        return None
    closed = reply if reply.count("```") != 1 else reply + "\n```\n"  # the stop word was the closing fence
    new, why = reader.replace(source, symbols[0], closed, finish)
    return None if why or new == source else _difference(function.path, source, new)


def _difference(path: str, old: bytes, new: bytes) -> Edit:
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    start = old.rfind(b"\n", 0, start) + 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    while end and old[len(old) - end : len(old) - end + 1] != b"\n":
        end -= 1
    return Edit(path, start, len(old) - end, new[start : len(new) - end].decode("utf-8", "surrogateescape"))
