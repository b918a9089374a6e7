"""Questions of a stage that are asked before it begins, in slots that nothing else needs.

While the last answers of a stage are awaited, the server could answer more. Questions of the next stage whose text is known
and that do not depend on those answers are sent then. Each has its row in the log; its answer is kept until the stage takes
it. An answer that is never taken, because a person overruled what led to the question, decides nothing: its row has no
verdict and says why.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.audit.rows import Question
from agent.judgment.asking import Asked, StageLlm
from agent.verdict.decide import Verdict

UNUSED = "asked ahead of its stage, which did not need the answer"


@dataclass
class _Call:
    """One question on its way: ``begun`` once it holds a slot."""

    task: asyncio.Task[Asked]
    begun: asyncio.Event


class Ahead:
    """The questions of one stage asked before it begins. Close it when the stage is over."""

    def __init__(self, llm: StageLlm) -> None:
        self._llm = llm
        self._calls: dict[str, _Call] = {}

    def ask(self, question: Question) -> None:
        """Sends the question as soon as a slot is free that no other call waits for.

        Nothing is sent where the server answers one call at a time, nor while a person looks at each verdict or stage.
        """
        gate = self._llm.ctx.gate
        if self._llm.flight.limit > 1 and not gate.stepping and not gate.reviews and question.prompt not in self._calls:
            begun = asyncio.Event()
            self._calls[question.prompt] = _Call(asyncio.create_task(self._send(question, begun)), begun)

    async def _send(self, question: Question, begun: asyncio.Event) -> Asked:
        async with self._llm.flight.slot(patient=True):
            begun.set()
            return await self._llm.ask(question)

    async def take(self, question: Question) -> Asked | None:
        """The answer to a question that was sent; None if it was not, so that it has to be asked.

        Raises:
            ModelError: as :meth:`StageLlm.ask`.
        """
        call = self._calls.pop(question.prompt, None)
        if call is None:
            return None
        if not call.begun.is_set():
            call.task.cancel()
            return None
        return await call.task

    async def close(self) -> None:
        """Cancel the calls without an answer. Finish those whose answer was not taken, without a verdict."""
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.task.cancel()
        for asked in await asyncio.gather(*(call.task for call in calls.values()), return_exceptions=True):
            if isinstance(asked, Asked):
                self._llm.finished(asked, Verdict(None, explanation=UNUSED))
