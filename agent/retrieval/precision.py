"""Precision: three yes/no passes over symbols, each asking only what the last one let through."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from agent.events import CascadePass, SymbolClassified
from agent.judgment.ahead import Ahead
from agent.judgment.binary import run_binary_judgment, yes_no_question
from agent.prompts import precision_pass1, precision_pass2, precision_pass3
from agent.prompts.task_context import task_context
from agent.retrieval.call_budget import Allowance
from agent.retrieval.scope import UNASKED
from agent.retrieval.types import ScopedSymbol, TaskFacts
from agent.values import DetailLevel

if TYPE_CHECKING:
    from agent.context import RunContext

KEEP_RELEVANT = 8
"""So many of the best-ranked symbols stay relevant when a model says no to every one."""

KEEP_PRIMARY = 3
"""So many of the best-ranked are primary when a model finds none directly involved: a change always has a place."""

PASS1_SHARE = 2
"""Pass 1 may spend half of the time left, so that the later passes can be asked at all."""

_DEFAULT = {1: "excluded", 2: "not primary", 3: "type_context"}
_SYSTEM = {1: precision_pass1.SYSTEM, 2: precision_pass2.SYSTEM, 3: precision_pass3.SYSTEM}
_TITLE = {1: "precision: relevant?", 2: "precision: directly involved?", 3: "precision: full source?"}


async def classify_symbols(
    ctx: RunContext, symbols: Sequence[ScopedSymbol], facts: TaskFacts, allowance: Allowance
) -> list[ScopedSymbol]:
    """Every symbol with its detail level, in the order given (best first). Library symbols skip all calls.

    What a pass asks about a symbol depends only on the symbol's own verdict in the pass before. So questions of the next
    pass are asked ahead while the last answers of a pass are awaited.

    Raises:
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    passes = {number: _Pass(ctx, number, facts) for number in (1, 2, 3)}
    try:
        return await _classify(ctx, symbols, passes, allowance)
    finally:
        for one in passes.values():
            await one.ahead.close()


async def _classify(
    ctx: RunContext, symbols: Sequence[ScopedSymbol], passes: Mapping[int, _Pass], allowance: Allowance
) -> list[ScopedSymbol]:
    project = [symbol for symbol in symbols if not symbol.library]
    denied_before = allowance.denied
    levels: dict[str, tuple[DetailLevel, str]] = {
        symbol.key: ("type_context", "library symbol, no call") for symbol in symbols if symbol.library
    }

    def after_first(symbol: ScopedSymbol, said: bool) -> None:
        if said and not allowance.calls:
            passes[2].ask_ahead(symbol)

    asked, relevant, out = await passes[1].run(project, allowance, after_first, PASS1_SHARE)
    kept = _keep(ctx, 1, relevant, asked, KEEP_RELEVANT)
    levels |= {symbol.key: ("excluded", "pass 1: no") for symbol in out}
    levels |= {symbol.key: ("excluded", UNASKED) for symbol in project[len(asked) :]}

    some_direct = False

    def after_second(symbol: ScopedSymbol, said: bool) -> None:
        nonlocal some_direct
        some_direct = some_direct or said
        if some_direct and not said and not allowance.calls:  # with none direct, the best-ranked are kept and not asked
            passes[3].ask_ahead(symbol)

    asked, direct, rest = await passes[2].run(kept, allowance, after_second)
    primary = _keep(ctx, 2, direct, asked, KEEP_PRIMARY)
    levels |= {symbol.key: ("primary", "pass 2: yes" if direct else "kept by rank") for symbol in primary}
    rest = [symbol for symbol in rest if symbol not in primary]
    levels |= {symbol.key: ("type_context", UNASKED) for symbol in kept[len(asked) :]}

    asked, full, signature = await passes[3].run(rest, allowance)
    levels |= {symbol.key: ("supporting", "pass 3: yes") for symbol in full}
    levels |= {symbol.key: ("type_context", "pass 3: no") for symbol in signature}
    levels |= {symbol.key: ("type_context", UNASKED) for symbol in rest[len(asked) :]}
    _note_denied(ctx, allowance, allowance.denied - denied_before)
    return [_classified(ctx, symbol, *levels[symbol.key]) for symbol in symbols]


class _Pass:
    """One pass over symbols: its questions, and those of them that are asked ahead."""

    def __init__(self, ctx: RunContext, number: int, facts: TaskFacts) -> None:
        self.ctx, self.number = ctx, number
        self.name = f"precision_pass{number}"
        self.ahead = Ahead(ctx.llm(self.name))
        self._context = task_context(facts.text, facts.intent)

    def ask_ahead(self, symbol: ScopedSymbol) -> None:
        """The symbol will be asked about in this pass, which has not begun: send its question if a slot is free."""
        rank, facts = symbol.rank, _facts(symbol)
        llm, system = self.ctx.llm(self.name), _SYSTEM[self.number]
        self.ahead.ask(yes_no_question(llm, system, self._context, self._text(symbol), symbol.key, rank, facts))

    async def run(
        self,
        symbols: Sequence[ScopedSymbol],
        allowance: Allowance,
        hear: Callable[[ScopedSymbol, bool], None] = lambda _symbol, _said: None,
        share: int = 1,
    ) -> tuple[list[ScopedSymbol], list[ScopedSymbol], list[ScopedSymbol]]:
        """(asked, yes, no), all in order of rank; ``hear`` is called with each verdict. Without symbols no call is made,
        but the events of the pass are emitted."""
        ctx, number = self.ctx, self.number
        verdicts: dict[object, bool] = {}

        async def ask(wave: list[ScopedSymbol]) -> None:
            answered, _ = await run_binary_judgment(
                wave,
                system_prompt=_SYSTEM[number],
                task_context=self._context,
                llm=ctx.llm(self.name),
                format_item=self._text,
                item_key=lambda symbol: symbol.key,
                stage_name=self.name,
                default_action=_DEFAULT[number],
                rank=lambda symbol: symbol.rank,
                facts=_facts,
                on_verdict=lambda symbol, event: hear(symbol, bool(event.verdict)),
                ahead=self.ahead,
            )
            verdicts.update(answered)

        async with ctx.stage(self.name, len(symbols), _TITLE[number]) as report:
            asked = await allowance.ask(symbols, ask, share, at_once=ctx.gate.reviews)
            yes = [symbol for symbol in asked if verdicts.get(symbol.key, False)]
            no = [symbol for symbol in asked if not verdicts.get(symbol.key, False)]
            report.counts.update(asked=len(asked), yes=len(yes), no=len(no))
            if len(asked) < len(symbols):
                report.counts["unasked"] = len(symbols) - len(asked)
            ctx.emit(CascadePass(number, len(asked), len(yes), len(no), tuple(s.key for s in yes), tuple(s.key for s in no)))
        return asked, yes, no

    def _text(self, symbol: ScopedSymbol) -> str:
        return format_symbol(symbol, edges=self.number == 1)


def _facts(symbol: ScopedSymbol) -> dict[str, float]:
    return symbol_facts(symbol.kind, symbol.end_line - symbol.line + 1)


def symbol_facts(kind: str, lines: int) -> dict[str, float]:
    """What a threshold may weigh of a candidate symbol: whether it is a function, and how long it is."""
    return {"function": float(kind in ("function", "method")), "size": round(math.log1p(lines) / 3, 3)}


def format_symbol(symbol: ScopedSymbol, *, edges: bool) -> str:
    """A symbol as the prompt shows it; ``edges`` adds callers and callees."""
    return precision_pass1.item(
        symbol.name, symbol.kind, symbol.path, symbol.line, symbol.end_line, symbol.signature, symbol.doc,
        symbol.calls if edges else (), symbol.called_by if edges else (),
    )  # fmt: skip


def _keep(
    ctx: RunContext, number: int, yes: list[ScopedSymbol], asked: Sequence[ScopedSymbol], keep: int
) -> list[ScopedSymbol]:
    """The yes answers, or the best-ranked where the model says no to all."""
    best = list(asked[:keep])
    if yes or not best:
        return yes
    word = "relevant" if number == 1 else "directly involved in the change"
    ctx.notice(
        "warning",
        f"The model found none of {len(asked)} symbols {word}, so the {len(best)} best-ranked are kept. A stronger or a "
        "decision model for precision would help; see [models.overrides].",
        f"precision_pass{number}",
    )
    return best


def _note_denied(ctx: RunContext, allowance: Allowance, denied: int) -> None:
    if denied:
        ctx.notice(
            "info",
            f"{denied} lower-ranked symbols were decided without a call: {allowance.reason()}.",
            "precision",
        )


def _classified(ctx: RunContext, symbol: ScopedSymbol, level: DetailLevel, reason: str) -> ScopedSymbol:
    ctx.emit(SymbolClassified(symbol.name, level, symbol.path, symbol.kind, reason))
    return msgspec.structs.replace(symbol, detail_level=level, reason=reason)
