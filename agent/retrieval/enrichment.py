"""Enrichment: purpose, domain and concepts of files, written by a model and kept as long as the content is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.judgment.batched import Unreadable, ask_structured
from agent.languages import parser_for
from agent.prompts import enrichment as words
from agent.shortening import short_line
from agent.values import Value

if TYPE_CHECKING:
    from agent.context import RunContext
    from agent.index import Index
    from agent.index.entries import FileEntry

MAX_PURPOSE, MAX_WORD, MAX_CONCEPTS = 160, 40, 5
"""Longest purpose and term in characters, and the most concepts kept."""


class Described(Value, frozen=True):
    """The reply."""

    purpose: str
    domain: str
    concepts: tuple[str, ...]


async def enrich(ctx: RunContext, index: Index, paths: Sequence[str] | None = None) -> int:
    """Ask about every source file (or ``paths``) whose present content was not described yet. Returns how many were.

    A reply that cannot be read leaves the deterministic description in place, with a Notice.

    Raises:
        ModelError: if the model cannot be asked.
        Stopped: if the person stopped the run at the gate.
    """
    entries = [e for e in index.files() if parser_for(e.language) and (paths is None or e.path in paths)]
    todo = [entry for entry in entries if not index.enriched(entry.path)]
    async with ctx.stage("enrichment", len(todo)) as report:
        done = sum(await asyncio.gather(*[_describe(ctx, index, entry) for entry in todo]))
        report.counts.update(files=len(entries), asked=len(todo), described=done)
    return done


async def _describe(ctx: RunContext, index: Index, entry: FileEntry) -> bool:
    names = [symbol.qualified for symbol in index.symbols(entry.path) if symbol.kind != "enumerator"]
    llm = ctx.llm("enrichment")
    async with llm.flight.slot():
        try:
            reply = await ask_structured(
                Described,
                llm=llm,
                system=words.SYSTEM,
                prompt=words.prompt(entry.path, entry.language, entry.purpose, list(entry.surface) or names),
                item=entry.path,
                max_tokens=words.MAX_TOKENS,
                check=_check,
            )
        except Unreadable as problem:
            ctx.notice("warning", f"{entry.path}: {problem} Its own first comment describes it.", "enrichment")
            return False
    concepts = [short_line(concept, MAX_WORD) for concept in reply.concepts if concept.strip()][:MAX_CONCEPTS]
    purpose, domain = short_line(reply.purpose, MAX_PURPOSE), short_line(reply.domain, MAX_WORD)
    return await asyncio.to_thread(index.set_enrichment, entry.path, purpose, domain, concepts)


def _check(reply: Described) -> None:
    if not reply.purpose.strip():
        raise ValueError("purpose is empty")
