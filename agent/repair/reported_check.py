"""What a task reports in words, said by a model as one call and what it should come to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.context import RunContext
from agent.judgment.binary import run_binary_judgment
from agent.prompts import reported_check as words
from agent.prompts import reported_meant
from agent.repair.functions import Function
from agent.task.reported import ReportedCall, reported_calls

STAGE, MEANT = "reported_check", "reported_meant"
_LONGEST = 96
"""Tokens of a reply: one line."""

_AS_TOLD = re.compile(r"\)[`'\"]?\s*(?:==|->|→|=>|returns|gives)\s*")
_STEP = 0.3
"""How much warmer each further try is."""


class ReportedCheck:
    """Asks for an example of what the task reports of ``functions``, several times if need be."""

    def __init__(self, ctx: RunContext, task: str, functions: Sequence[Function]) -> None:
        self._ctx, self._llm = ctx, ctx.llm(STAGE)
        self._names = [one.name for one in functions]
        code = "\n\n".join(part for one in functions for part in (one.contract, one.text) if part)
        self._context = words.task_context(task, code)
        self.tries = 0

    async def ask(self, trouble: str = "") -> ReportedCall | None:
        """The example of one more reply; None when the reply holds none. ``trouble`` says what was wrong with the last one.

        Raises:
            ModelError: if the model cannot answer.
        """
        self.tries += 1
        asked = await self._llm.generate(
            system=words.SYSTEM, task_context=self._context, prompt=words.question(", ".join(self._names), trouble),
            item=", ".join(self._names), attempt=self.tries, max_tokens=_LONGEST,
            temperature=self._llm.target.temperature + _STEP * (self.tries - 1),
        )  # fmt: skip
        told = reported_calls(_AS_TOLD.sub(") should return ", asked.text))
        return next((one for one in told if one.name in self._names), None)

    async def meant(self, example: ReportedCall) -> bool:
        """Whether the example says what the task reports, by the model, or by the person where one decides.

        Raises:
            ModelError: if the model cannot answer. Stopped: if the person stopped the run.
        """
        verdicts, _ = await run_binary_judgment(
            [example.shown],
            system_prompt=reported_meant.SYSTEM,
            task_context=self._context,
            llm=self._ctx.llm(MEANT),
            format_item=reported_meant.item,
            item_key=str,
            label_item=str,
            stage_name=MEANT,
            default_action="taken for one that does not fit",
        )
        return verdicts.get(example.shown, False)
