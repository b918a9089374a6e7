"""Retrieval without a model: the task's facts, ranked candidate files and ranked candidate symbols. Pure, no events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from agent.retrieval.candidates import Candidates, find_candidates
from agent.retrieval.library import library_symbols
from agent.retrieval.rendering import first_doc_line
from agent.retrieval.symbolrank import rank_symbols
from agent.retrieval.task import analyse
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts

if TYPE_CHECKING:
    from agent.config.schema import Retrieval
    from agent.index import Index

SYMBOL_FILES = 20
"""Without a model, the symbols of this many best files are ranked."""

MAX_EDGES = 5
"""Callers and callees shown per symbol."""


class Ranking(msgspec.Struct, frozen=True):
    """What facts and words say."""

    facts: TaskFacts
    candidates: Candidates
    symbols: tuple[ScopedSymbol, ...]


def rank(index: Index, task: str, limits: Retrieval, plan_files: Sequence[str] = ()) -> Ranking:
    """Candidates by rank, files and symbols; no call is made."""
    facts = analyse(task, index)
    candidates = find_candidates(index, facts, limits, plan_files)
    files = {file.path: file.score for file in candidates.files[:SYMBOL_FILES]}
    return Ranking(facts, candidates, tuple(rank_symbols(index, facts, files)))


def symbols_of(
    index: Index, facts: TaskFacts, files: Sequence[ScopedFile], limits: Retrieval
) -> tuple[list[ScopedSymbol], int]:
    """The symbols to judge: those of the included files, ranked, capped at ``max_symbols``, with their edges; then the
    library symbols those files use. Also how many there were before the cap."""
    included = {file.path: file.score for file in files if file.included}
    everything = rank_symbols(index, facts, included)
    project = [with_edges(index, symbol) for symbol in everything[: limits.max_symbols]]
    return project + library_symbols(index, list(included), len(project)), len(everything)


def with_edges(index: Index, symbol: ScopedSymbol) -> ScopedSymbol:
    """The symbol with the names it calls and those that call it, across files, and a C function's doc from its header."""
    here = [s for s in index.find_symbols(symbol.name) if s.path == symbol.path and s.qualified == symbol.name]
    if not here:
        return symbol
    calls = tuple(dict.fromkeys(s.qualified for s in index.callees(here[0])))[:MAX_EDGES]
    called_by = tuple(dict.fromkeys(s.qualified for s in index.callers(here[0])))[:MAX_EDGES]
    doc = symbol.doc or first_doc_line(index, here[0])
    return msgspec.structs.replace(symbol, doc=doc, calls=calls, called_by=called_by)
