"""Routing: one batched choice of optional stages. Scope and precision cannot be routed away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.events import StagesRouted
from agent.judgment.batched import Unreadable, ask_structured
from agent.prompts import stage_routing as words
from agent.prompts.task_context import task_context
from agent.retrieval.types import TaskFacts
from agent.values import Value

if TYPE_CHECKING:
    from agent.context import RunContext

ALWAYS = ("scope", "precision")


class Routed(Value, frozen=True):
    """The reply."""

    stages: tuple[str, ...]


async def route(ctx: RunContext, facts: TaskFacts, files: int, seeds: int) -> tuple[str, ...]:
    """The stages to run: scope, precision, and the optional ones the model chose. Off, or unreadable: no optional one.

    Raises:
        ModelError: if the model cannot be asked.
    """
    available = (*ALWAYS, *words.STAGES)
    if not ctx.config.retrieval.routing:
        return ALWAYS
    async with ctx.stage("stage_routing", 1) as report:
        try:
            reply = await ask_structured(
                Routed,
                llm=ctx.llm("stage_routing"),
                system=words.SYSTEM,
                task_context=task_context(facts.text, facts.intent),
                prompt=words.prompt(facts.kind, files, seeds, words.STAGES),
                item="optional stages",
                max_tokens=words.MAX_TOKENS,
                check=_check,
            )
            chosen, how = tuple(name for name in words.STAGES if name in reply.stages), "model"
        except Unreadable as problem:
            ctx.notice("warning", f"{problem} No optional stage is run.", "stage_routing")
            chosen, how = (), "default"
        selected = (*ALWAYS, *chosen)
        ctx.emit(StagesRouted(selected, available, how))
        report.counts.update(selected=len(selected), available=len(available))
    return selected


def _check(reply: Routed) -> None:
    unknown = [name for name in reply.stages if name not in words.STAGES and name not in ALWAYS]
    if unknown:
        raise ValueError(f"there is no stage {unknown[0]!r}; the choice is {', '.join(words.STAGES)}")
