"""Retrieval from task to context: task, routing, scope, similarity, precision, assembly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agent.config.schema import Config
from agent.events import TaskAnalysed
from agent.languages import EITHER
from agent.models.router import Router
from agent.prompts import task_analysis as words
from agent.retrieval import without_model
from agent.retrieval.assembly import assemble, budget_of, context_budget
from agent.retrieval.call_budget import SCOPE_SHARE, Allowance
from agent.retrieval.candidates import Candidates, find_candidates
from agent.retrieval.documents import candidates_of
from agent.retrieval.explain import explained
from agent.retrieval.package import ContextPackage
from agent.retrieval.precision import PASS1_SHARE, classify_symbols
from agent.retrieval.rendering import blocks_of, render, texts_of
from agent.retrieval.routing import route
from agent.retrieval.scope import judge_scope
from agent.retrieval.similarity import group_files
from agent.retrieval.task import analyse
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts
from agent.retrieval.whole_repository import Whole, all_that_fits, take_all
from agent.shortening import shortened
from agent.task.intent import read_intent
from agent.task.kind import settle_kind

if TYPE_CHECKING:
    from agent.context import RunContext
    from agent.index import Index

_EMBEDDED_SECONDS = 0.7
"""A yes/no call of the embedded server on two cores takes 0.4 to 0.9 s."""

_UNBOUNDED = 1_000_000
MAX_INTENT = 200
MAX_LISTED = 200
"""Symbols listed without a model."""


async def retrieve(
    ctx: RunContext,
    index: Index,
    task: str,
    *,
    plan_files: Sequence[str] = (),
    judge: bool = True,
    previous: ContextPackage | None = None,
    settled: bool = False,
) -> ContextPackage:
    """What a change needs to see.

    ``settled`` says that the plan follows from facts: what fits is taken and nothing is asked, unless
    ``retrieval.always_ask`` wants it. ``plan_files`` are tier 0. ``previous`` is an earlier pass of the same run: its files
    are not asked about again, and its call budget is shared. With ``judge`` off no model is asked, and files and symbols are
    taken by rank.

    Raises:
        ModelError: if a model cannot be asked at all.
        Stopped: if the person stopped the run at the gate.
    """
    began, calls = time.perf_counter(), ctx.calls
    limits, budget = ctx.config.retrieval, context_budget(ctx)
    settled = settled and judge and not limits.always_ask
    facts = await _analyse(ctx, index, task, judge and not settled, previous)
    found = await asyncio.to_thread(find_candidates, index, facts, limits, plan_files)
    _tell_of_candidates(ctx, found)
    allowance = previous.allowance if previous is not None else None
    if allowance is None:
        allowance = Allowance(limits.seconds, limits.max_calls, lambda: time.monotonic() - ctx.gate.waited)
    groups: tuple[tuple[str, ...], ...] = ()
    whole = await asyncio.to_thread(all_that_fits, limits, budget, index, facts, found.files, settled) if judge else None
    if whole is not None:
        files = await take_all(ctx, whole)
    elif judge:
        stages = await route(ctx, facts, len(found.files), sum(file.seed for file in found.files))
        files = await judge_scope(ctx, found.files, facts, allowance, _known(previous))
        if "similarity" in stages:
            included = [file for file in files if file.included]
            groups = await group_files(ctx, index, included, facts, allowance)
    else:
        files = [msgspec.structs.replace(file, included=True) for file in found.files]
    symbols = await _ranked_symbols(ctx, index, facts, files)
    if whole is not None:
        symbols = list(whole.symbols)
    elif judge:
        symbols = await classify_symbols(ctx, symbols, facts, allowance)
    else:
        symbols = [msgspec.structs.replace(s, detail_level=_level_by_rank(s.rank, s.library)) for s in symbols]
    blocks = await asyncio.to_thread(blocks_of, index, symbols, texts_of(index, files))

    async def grouping(paths: Sequence[str]) -> Sequence[Sequence[str]]:
        nonlocal groups
        if not limits.routing:  # else a model said whether pairs are worth asking about
            groups = await group_files(ctx, index, [file for file in files if file.path in paths], facts, allowance)
        return groups

    fitted = await assemble(ctx, index, blocks, facts, budget, grouping, judge=judge)
    return ContextPackage(
        index, facts, files, symbols,
        text=render(index, list(fitted.blocks)), tokens=fitted.tokens, budget=budget, groups=groups,
        dropped=fitted.dropped, allowance=allowance, calls=ctx.calls - calls, seconds=time.perf_counter() - began,
    )  # fmt: skip


def _tell_of_candidates(ctx: RunContext, found: Candidates) -> None:
    for text in found.caps:
        ctx.notice("info", text, "scope")
    if not found.files:
        ctx.notice("warning", f"No {EITHER} source file was found that fits the task.", "scope")


async def _ranked_symbols(
    ctx: RunContext, index: Index, facts: TaskFacts, files: Sequence[ScopedFile]
) -> list[ScopedSymbol]:
    """The symbols of the files in scope, best first, as many as are looked at."""
    limits = ctx.config.retrieval
    symbols, there = await asyncio.to_thread(without_model.symbols_of, index, facts, files, limits)
    if there > limits.max_symbols:
        text = f"Of {there} symbols in scope the {limits.max_symbols} best-ranked are looked at (retrieval.max_symbols)."
        ctx.notice("info", text, "precision_pass1")
    return symbols


def retrieve_unjudged(index: Index, task: str, config: Config) -> dict[str, Any]:
    """What ``cra retrieve --json --no-model`` prints: every candidate by rank. No log, no model, no call."""
    began = time.perf_counter()
    found = without_model.rank(index, task, config.retrieval)
    return {
        "files": [file.path for file in found.candidates.files],
        "symbols": [symbol.key for symbol in found.symbols[:MAX_LISTED]],
        "why": explained(found.candidates.files, found.symbols[:MAX_LISTED]),
        "calls": 0,
        "seconds": round(time.perf_counter() - began, 3),
        "tokens": 0,
    }


def taken_whole(index: Index, task: str, config: Config) -> Whole | None:
    """What retrieval will take without a question, None where it will ask; no model is asked."""
    facts, limits = analyse(task, index), config.retrieval
    files = find_candidates(index, facts, limits).files
    return all_that_fits(limits, budget_of(Router(config.models).target("implement"), config), index, facts, files)


def predict_calls(index: Index, task: str, config: Config) -> int:
    """The number of calls that retrieval will probably make for a task that it asks about; no model is asked.

    Scope asks one per candidate that is not a seed, precision is taken to shrink as in the demo token_budget
    (8 → 7 → 4) over all candidate files, and the time on the server at hand bounds it all. One more for the intent.
    """
    limits = config.retrieval
    most = limits.max_calls or _UNBOUNDED
    if config.models.provider == "embedded":
        most = min(most, round(limits.seconds / _EMBEDDED_SECONDS))
    facts = analyse(task, index)
    files = find_candidates(index, facts, limits).files
    open_files = min(sum(not file.seed for file in files), most // SCOPE_SHARE)
    left = most - open_files
    listed = {file.path for file in files}
    symbols = sum(len(candidates_of(index, entry)) for entry in index.files() if entry.path in listed)
    first = min(symbols, limits.max_symbols, left // PASS1_SHARE)
    return 1 + limits.routing + open_files + min(left, round(first * 19 / 8))


async def _analyse(ctx: RunContext, index: Index, task: str, judge: bool, previous: ContextPackage | None) -> TaskFacts:
    async with ctx.stage("task_analysis", 1 if judge else 0, "task") as report:
        facts = await asyncio.to_thread(analyse, task, index)
        if previous is not None and previous.facts.text == task:
            facts = previous.facts
        elif judge:
            intent = msgspec.structs.replace(read_intent(task), kind=facts.kind)
            facts = msgspec.structs.replace(facts, kind=await settle_kind(ctx, task, intent))
            facts = msgspec.structs.replace(facts, intent=await ask_intent(ctx, facts))
        files, symbols = facts.mentioned_files, facts.mentioned_symbols
        ctx.emit(TaskAnalysed(facts.intent, facts.kind, facts.keywords, files, symbols))
        report.counts.update(keywords=len(facts.keywords), files=len(files), symbols=len(symbols))
    return facts


async def ask_intent(ctx: RunContext, facts: TaskFacts) -> str:
    """The model's one sentence: its first line, without quotes, at most 200 characters.

    Raises:
        ModelError: if the model cannot answer.
    """
    names = tuple(key.rpartition(":")[2] for key in facts.mentioned_symbols)
    asked = await ctx.llm("task_analysis").generate(
        system=words.SYSTEM,
        prompt=words.prompt(facts.text, facts.kind, facts.keywords, facts.mentioned_files, names),
        item="intent",
        max_tokens=words.MAX_TOKENS,
        stop=("\n",),
    )
    lines = [line.strip().strip("\"'`*") for line in asked.text.splitlines() if line.strip()]
    text = lines[0].removeprefix("Intent:").strip() if lines else ""
    return shortened(text, MAX_INTENT)


def _known(previous: ContextPackage | None) -> dict[str, bool]:
    """Scope verdicts of an earlier pass: inherited, so that one file is asked about once a run."""
    if previous is None:
        return {}
    return {file.path: file.included for file in previous.files if file.judged or file.seed}


def _level_by_rank(place: int, library: bool) -> Any:
    """Detail without a model: the ten best in full, the next thirty by signature."""
    if library or place > 10:
        return "type_context" if library or place <= 40 else "excluded"
    return "primary" if place <= 3 else "supporting"
