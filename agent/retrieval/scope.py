"""Scope: one yes/no per candidate file of tiers 2 to 4; seeds skip judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from agent.events import FileScoped
from agent.judgment.binary import run_binary_judgment
from agent.prompts import scope as words
from agent.prompts.task_context import task_context
from agent.retrieval.call_budget import SCOPE_SHARE, Allowance
from agent.retrieval.types import ScopedFile, TaskFacts

if TYPE_CHECKING:
    from agent.context import RunContext
    from agent.events import CallFinished

UNASKED = "unasked: over the budget of questions"
"""The reason of a file or symbol that is left out without a question."""

KEEP_FILES = 5
"""So many of the best-ranked files stay when a model says no to every one and nothing else is in scope."""


async def judge_scope(
    ctx: RunContext,
    files: Sequence[ScopedFile],
    facts: TaskFacts,
    allowance: Allowance,
    known: Mapping[str, bool] | None = None,
) -> list[ScopedFile]:
    """The candidates with their verdicts, in order of rank. ``known`` holds verdicts of an earlier pass of the same run.

    Raises:
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    known = known or {}
    decided = {file.path: file for file in files}
    settled = [file for file in files if file.seed or file.path in known]
    for file in settled:
        included = file.seed or known[file.path]
        reason = file.reason if file.seed else f"{file.reason} (decided earlier in this run)"
        _settle(ctx, decided, file, included=included, judged=False, reason=reason)
    open_files = [file for file in files if not file.seed and file.path not in known]

    def hear(file: ScopedFile, event: CallFinished) -> None:
        _settle(ctx, decided, file, included=bool(event.verdict), judged=True, reason=file.reason)

    async with ctx.stage("scope", len(open_files)) as report:
        asked = await allowance.ask(
            open_files, lambda wave: _ask(ctx, wave, facts, hear), SCOPE_SHARE, at_once=ctx.gate.reviews
        )
        unasked = len(open_files) - len(asked)
        for file in open_files[len(asked) :]:
            _settle(ctx, decided, file, included=False, judged=False, reason=UNASKED)
        _note_denied(ctx, unasked, allowance)
        if not any(file.included for file in decided.values()):
            _keep_best(ctx, decided)
        report.counts.update(
            candidates=len(files), asked=len(asked), included=sum(file.included for file in decided.values())
        )
        if unasked:
            report.counts["unasked"] = unasked
    return list(decided.values())


async def _ask(ctx: RunContext, asked: list[ScopedFile], facts: TaskFacts, hear) -> None:  # type: ignore[no-untyped-def]
    await run_binary_judgment(
        asked,
        system_prompt=words.SYSTEM,
        task_context=task_context(facts.text, facts.intent),
        llm=ctx.llm("scope"),
        format_item=format_file,
        item_key=lambda file: file.path,
        stage_name="scope",
        default_action="irrelevant",
        rank=lambda file: file.rank,
        facts=lambda file: tier_facts(file.tier),
        on_verdict=hear,
    )


def tier_facts(tier: int) -> dict[str, float]:
    """What a threshold may weigh of a candidate file: whether an import or include leads to it, or a common history."""
    return {"imported": float(tier == 2), "co_changed": float(tier == 3)}


def format_file(file: ScopedFile) -> str:
    """A candidate as the prompt shows it."""
    return words.item(
        file.path, file.tier, file.language, file.reason,
        purpose=file.purpose, domain=file.domain, concepts=file.concepts, symbols=file.matching,
    )  # fmt: skip


def _settle(
    ctx: RunContext, decided: dict[str, ScopedFile], file: ScopedFile, *, included: bool, judged: bool, reason: str
) -> None:
    decided[file.path] = msgspec.structs.replace(file, included=included, judged=judged, reason=reason)
    ctx.emit(FileScoped(file.path, file.tier, reason, included, judged))


def _note_denied(ctx: RunContext, denied: int, allowance: Allowance) -> None:
    if denied:
        text = f"{denied} lower-ranked files were left out unasked: {allowance.reason()}. Raise it to have them judged."
        ctx.notice("warning", text, "scope")


def _keep_best(ctx: RunContext, decided: dict[str, ScopedFile]) -> None:
    """Keep the best-ranked files where the model says no to all: a context is never empty."""
    best = list(decided.values())[:KEEP_FILES]
    for file in best:
        _settle(ctx, decided, file, included=True, judged=file.judged, reason=f"{file.reason}; kept by rank")
    if best:
        ctx.notice(
            "warning",
            f"The model found none of {len(decided)} files relevant, so the {len(best)} best-ranked are kept. A stronger "
            "or a decision model for stage scope would help; see [models.overrides].",
            "scope",
        )
