"""Assembly: the context within its budget. Over it: one batched re-filter, then lowest-ranked symbols go first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from agent.counts import plural
from agent.events import ContextAssembled
from agent.judgment.batched import Unreadable, ask_structured
from agent.models.budget import FRAMING_TOKENS, estimate_tokens
from agent.prompts import refilter as words
from agent.prompts.task_context import task_context
from agent.retrieval.rendering import FULL, HEADING_TOKENS, Block, imports_text, render
from agent.retrieval.types import TaskFacts
from agent.values import Value

if TYPE_CHECKING:
    from agent.config.schema import Config
    from agent.context import RunContext
    from agent.index import Index
    from agent.models.types import ModelTarget

_LEVEL_ORDER = {"primary": 0, "supporting": 1, "type_context": 2, "excluded": 3}


class Kept(Value, frozen=True):
    """The re-filter's reply: paths that stay."""

    keep: tuple[str, ...]


class Fitted(msgspec.Struct, frozen=True):
    """What fits, best first, and what went, in the order it went."""

    blocks: tuple[Block, ...]
    tokens: int
    dropped: tuple[str, ...] = ()


def context_budget(ctx: RunContext) -> int:
    """Tokens for the context of a run."""
    return budget_of(ctx.router.target("implement"), ctx.config)


def budget_of(coding: ModelTarget, config: Config) -> int:
    """Tokens for the context: the coding model's window without what is reserved and the chat's framing."""
    return max(256, coding.context_window - config.retrieval.reserved_tokens - FRAMING_TOKENS)


def tokens_of(index: Index, blocks: Sequence[Block]) -> int:
    """Tokens of the blocks as rendered, headings and imports included."""
    return estimate_tokens(render(index, list(blocks)))


async def assemble(
    ctx: RunContext,
    index: Index,
    blocks: Sequence[Block],
    facts: TaskFacts,
    budget: int,
    grouping: Callable[[Sequence[str]], Awaitable[Sequence[Sequence[str]]]],
    *,
    judge: bool = True,
) -> Fitted:
    """The blocks that fit; what is dropped is in the events. ``grouping`` returns groups of paths that belong together; it
    is called only where not all of them fit.

    Raises:
        ModelError: if the re-filter cannot be asked.
    """
    paths = list(dict.fromkeys(block.path for block in blocks))
    tight = judge and len(paths) > 1 and tokens_of(index, blocks) > budget
    groups = await grouping(paths) if tight else ()
    async with ctx.stage("assembly", len(blocks)) as report:
        kept, dropped, refiltered = list(blocks), [], False
        if tight:
            chosen = await _refilter(ctx, index, kept, facts, budget, groups)
            refiltered = chosen is not None
            dropped = [block.key for block in kept if chosen is not None and block.path not in chosen]
            kept = [block for block in kept if chosen is None or block.path in chosen]
        fitted = trim(index, kept, budget)
        total = [*dropped, *fitted.dropped]
        if total:
            text = f"{plural(len(total), 'symbol')} did not fit into {budget} tokens; left out are {_few(total)}."
            ctx.notice("info", text, "assembly")
        files = tuple(dict.fromkeys(block.path for block in fitted.blocks))
        ctx.emit(ContextAssembled(fitted.tokens, budget, files, tuple(total), refiltered))
        report.counts.update(symbols=len(fitted.blocks), dropped=len(total), tokens=fitted.tokens)
    return Fitted(fitted.blocks, fitted.tokens, tuple(total))


def trim(index: Index, blocks: Sequence[Block], budget: int) -> Fitted:
    """Drop lowest-ranked symbols, signatures before sources, until the rest fits. Deterministic, no model.

    The last one left that is still too large is shown by its head, so that a context is never empty.
    """
    order = sorted(blocks, key=lambda b: (_LEVEL_ORDER[b.level], b.rank, b.key))
    dropped: list[str] = []
    sizes = {path: _frame_tokens(index, path) for path in {block.path for block in order}}
    while len(order) > 1 and _sum(order, sizes) > budget:
        dropped.append(order.pop().key)
    if order and _sum(order, sizes) > budget:
        order = [_head(order[0], max(32, budget - sizes[order[0].path]))]
    while len(order) > 1 and tokens_of(index, order) > budget:
        dropped.append(order.pop().key)
    kept = {block.key for block in order}
    ranked = [next(b for b in order if b.key == block.key) for block in blocks if block.key in kept]
    return Fitted(tuple(ranked), tokens_of(index, ranked), tuple(dropped))


def _sum(blocks: Sequence[Block], frames: dict[str, int]) -> int:
    full = {block.path for block in blocks if block.level in FULL}
    headings = HEADING_TOKENS * len({block.path for block in blocks})
    return sum(block.tokens for block in blocks) + sum(frames[path] for path in full) + headings


def _frame_tokens(index: Index, path: str) -> int:
    return estimate_tokens(imports_text(index, path)) + HEADING_TOKENS


def _head(block: Block, tokens: int) -> Block:
    """The beginning of a symbol that is larger than the whole budget."""
    lines, used = [], 0
    for line in block.text.splitlines():
        used += estimate_tokens(line + "\n")
        if used > tokens - 16:
            break
        lines.append(line)
    text = "\n".join(lines) + "\n… (the rest does not fit)"
    return msgspec.structs.replace(block, text=text, tokens=estimate_tokens(text) + HEADING_TOKENS)


async def _refilter(
    ctx: RunContext, index: Index, blocks: list[Block], facts: TaskFacts, budget: int, groups: Sequence[Sequence[str]]
) -> set[str] | None:
    """The files to keep, with their groups as far as the budget allows; None without a usable reply."""
    sizes = {
        path: tokens_of(index, [block for block in blocks if block.path == path])
        for path in dict.fromkeys(block.path for block in blocks)
    }
    listed = [(path, size, _what(path, blocks)) for path, size in sizes.items()]

    def check(reply: Kept) -> None:
        unknown = [path for path in reply.keep if path not in sizes]
        if unknown:
            raise ValueError(f"there is no file {unknown[0]!r} in the list")
        if not reply.keep:
            raise ValueError("at least one file must be kept")

    try:
        reply = await ask_structured(
            Kept,
            llm=ctx.llm("refilter"),
            system=words.SYSTEM,
            task_context=task_context(facts.text, facts.intent),
            prompt=words.prompt(budget, listed),
            item=f"{len(sizes)} files, {sum(sizes.values())} tokens",
            max_tokens=min(512, 32 + sum(estimate_tokens(path) + 4 for path in sizes)),
            check=check,
        )
    except Unreadable as problem:
        ctx.notice("warning", f"{problem} The lowest-ranked symbols are left out instead.", "refilter")
        return None
    return _with_groups(set(reply.keep), sizes, budget, groups)


def _with_groups(keep: set[str], sizes: dict[str, int], budget: int, groups: Sequence[Sequence[str]]) -> set[str]:
    kept = set(keep)
    for group in groups:
        if not kept.intersection(group):
            continue
        for path in group:
            if path in sizes and path not in kept and sum(sizes[p] for p in kept) + sizes[path] <= budget:
                kept.add(path)
    return kept


def _what(path: str, blocks: list[Block]) -> str:
    inside = [block for block in blocks if block.path == path]
    return ", ".join(f"{block.name} ({block.level})" for block in inside[:5]) + (" …" if len(inside) > 5 else "")


def _few(keys: list[str]) -> str:
    return ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
