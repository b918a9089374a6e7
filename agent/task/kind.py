"""The kind of a task that its words leave open: one yes/no question, with its card like every other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.judgment.binary import run_binary_judgment
from agent.prompts import task_kind as words
from agent.task.intent import Intent
from agent.values import TaskKind

if TYPE_CHECKING:
    from agent.context import RunContext

STAGE = "task_kind"


async def settle_kind(ctx: RunContext, task: str, intent: Intent) -> TaskKind:
    """``bug`` or ``feature`` by the model's answer where no rule decided; an answer that cannot be read changes nothing.

    Raises:
        ModelError: if the model cannot be asked.
        Stopped: if the person stopped the run at the gate.
    """
    if intent.sure or not task.strip():
        return intent.kind
    async with ctx.stage(STAGE, 1) as report:
        verdicts, omitted = await run_binary_judgment(
            [task], system_prompt=words.SYSTEM, task_context="", llm=ctx.llm(STAGE), format_item=words.item,
            item_key=lambda _: "bug?", stage_name=STAGE,
        )  # fmt: skip
        kind: TaskKind = intent.kind if omitted else "bug" if verdicts["bug?"] else "feature"
        report.note = f"the task's own words leave its kind open: {kind}"
    return kind
