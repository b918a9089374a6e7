"""Take every candidate without a question, where the plan follows from facts and they all fit the context window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from agent.counts import plural
from agent.events import FileScoped, SymbolClassified
from agent.retrieval import without_model
from agent.retrieval.assembly import tokens_of
from agent.retrieval.rendering import blocks_of, texts_of
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts
from agent.task.intent import read_intent
from agent.values import DetailLevel
from agent.workspace.protected import is_test_file

if TYPE_CHECKING:
    from agent.config.schema import Retrieval
    from agent.context import RunContext
    from agent.index import Index

REASON = "all of it fits, not asked"

MOST_SYMBOLS = 60
"""More symbols than this are never taken without a question, even where they would fit."""


class Whole(msgspec.Struct, frozen=True):
    """Every candidate, with its symbols and the tokens that they come to."""

    files: tuple[ScopedFile, ...]
    symbols: tuple[ScopedSymbol, ...]
    tokens: int


def all_that_fits(
    limits: Retrieval, budget: int, index: Index, facts: TaskFacts, files: Sequence[ScopedFile], settled: bool = False
) -> Whole | None:
    """All candidates, if the task is to implement what is declared and their full text fits ``budget`` tokens; else those
    that the task names, if these fit; else None.

    Such a task is planned from facts, and a function is written from its headers, so that no further file would change it.
    With ``settled`` that is known, and there is always an answer: the code that the task names without its tests, else the
    best-ranked files as far as they fit. Other tasks choose among symbols by their classes: there the questions decide
    something. Blocking: reads the index.
    """
    intent = read_intent(facts.text)
    follows = facts.kind == "implement" or (intent.completes and facts.kind == "feature" and not intent.other_work)
    if limits.always_ask or not (follows or settled) or not files:
        return None
    seeds = [file for file in files if file.seed]
    found = _taken(limits, budget, index, facts, files) or _taken(limits, budget, index, facts, seeds)
    if found is None and settled:
        code = [file for file in seeds if not is_test_file(file.path)]
        found = _taken(limits, budget, index, facts, code)
        found = found or _as_many_as_fit(limits, budget, index, facts, code or list(files))
    return found


def _as_many_as_fit(
    limits: Retrieval, budget: int, index: Index, facts: TaskFacts, files: Sequence[ScopedFile]
) -> Whole:
    """The best-ranked of ``files`` that fit together; no file at all where the first is too long already."""
    for count in range(len(files) - 1, 0, -1):
        if (found := _taken(limits, budget, index, facts, files[:count])) is not None:
            return found
    return Whole((), (), 0)


def _taken(
    limits: Retrieval, budget: int, index: Index, facts: TaskFacts, files: Sequence[ScopedFile]
) -> Whole | None:
    """These files whole, if there are any and they fit."""
    if not files:
        return None
    chosen = [msgspec.structs.replace(file, included=True) for file in files]
    found, there = without_model.symbols_of(index, facts, chosen, limits)
    if there > MOST_SYMBOLS:
        return None
    symbols = tuple(msgspec.structs.replace(one, detail_level=_level(one), reason=REASON) for one in found)
    tokens = tokens_of(index, blocks_of(index, list(symbols), texts_of(index, chosen)))
    return Whole(tuple(chosen), symbols, tokens) if tokens <= budget else None


async def take_all(ctx: RunContext, whole: Whole) -> list[ScopedFile]:
    """Emit the events for taking everything. Returns the files."""
    count = len(whole.files)
    async with ctx.stage("scope", 0) as report:
        for file in whole.files:
            ctx.emit(FileScoped(file.path, file.tier, REASON, True, False))
        for one in whole.symbols:
            ctx.emit(SymbolClassified(one.name, _level(one), one.path, one.kind, REASON))
        report.counts = {"files": count}
        report.note = f"{plural(count, 'file')}, {whole.tokens:,} tokens: all fit, not asked"
    return list(whole.files)


def _level(symbol: ScopedSymbol) -> DetailLevel:
    return "type_context" if symbol.library else "supporting"
