"""Symbols ranked without a model: BM25 over name, signature, doc and body, read together with the rank of their file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.index.words import query_words, split_identifier
from agent.retrieval.ranking import Bm25, best_first, stem
from agent.retrieval.types import ScopedSymbol, TaskFacts

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import IndexedSymbol

NAME_WEIGHT, DOC_WEIGHT, OWNER_WEIGHT = 4, 2, 1
"""How often a word in the name, doc or enclosing class counts against one in the body."""

_INDENT = (b" ", b"\t")
"""What stands before a name that is bound inside a block of a module: part of a script, not a symbol."""

_WORD = re.compile(r"\w+")
_PARTS = frozenset(("enumerator",))
"""Kinds that are read with the symbol they are part of."""


def rank_symbols(index: Index, facts: TaskFacts, paths: Sequence[str]) -> list[ScopedSymbol]:
    """All symbols of ``paths`` (best file first), best first. Named in the task beats every score."""
    symbols = {symbol.key: symbol for path in paths for symbol in candidates_of(index, path)}
    sources = {path: index.source(path) for path in paths}
    documents = {key: _document(sources[symbol.path], symbol) for key, symbol in symbols.items()}
    bm25 = Bm25(documents)
    query = query_weights(facts)
    place = {path: number for number, path in enumerate(paths)}
    named = {key: 1000.0 - number for number, key in enumerate(facts.mentioned_symbols)}
    traced = {key for key, symbol in symbols.items() if _in_trace(symbol, facts)}
    scores = {}
    for key, symbol in symbols.items():
        text = bm25.score(key, query)
        scores[key] = text * file_prior(place[symbol.path]) + named.get(key, 500.0 * (key in traced))
    return [_scoped(symbols[key], scores[key], rank) for rank, key in enumerate(best_first(scores), 1)]


def file_prior(place: int) -> float:
    """What a symbol gains by standing in a well-ranked file; ``place`` counts from 0."""
    return 1.0 / (1.0 + 0.1 * place)


def query_weights(facts: TaskFacts) -> dict[str, float]:
    """Stemmed words of the task; the intent's words count half."""
    weights = {stem(word): 1.0 for word in query_words(facts.text)}
    for word in query_words(facts.intent):
        weights.setdefault(stem(word), 0.5)
    return weights


def candidates_of(index: Index, path: str) -> list[IndexedSymbol]:
    """A file's symbols that stand for themselves: no enumerators, no prototypes of what is defined elsewhere, each once."""
    found: dict[str, IndexedSymbol] = {}
    source = index.source(path) if path.endswith((".py", ".pyi")) else b""
    for symbol in index.symbols(path):
        if symbol.kind in _PARTS or (symbol.kind == "global" and source[max(0, symbol.start - 1) : symbol.start] in _INDENT):
            continue
        if symbol.kind == "prototype" and any(s.kind == "function" for s in index.find_symbols(symbol.name)):
            continue
        old = found.get(symbol.key)
        if old is None or symbol.end - symbol.start > old.end - old.start:
            found[symbol.key] = symbol
    return list(found.values())


def _document(source: bytes, symbol: IndexedSymbol) -> Counter[str]:
    """Stemmed word counts. A class is read without its methods, which are symbols of their own."""
    words: Counter[str] = Counter()
    for text, weight in (
        (symbol.name, NAME_WEIGHT), (symbol.parent, OWNER_WEIGHT), (symbol.doc, DOC_WEIGHT),
        (symbol.signature if symbol.kind == "class" else source[symbol.start : symbol.end].decode("utf-8", "replace"), 1),
    ):  # fmt: skip
        for word in _WORD.findall(text):
            for part in split_identifier(word):
                if len(part) > 1:
                    words[stem(part)] += weight
    return words


def _in_trace(symbol: IndexedSymbol, facts: TaskFacts) -> bool:
    return any(path == symbol.path and symbol.line <= line <= symbol.end_line for path, line in facts.traces)


def _scoped(symbol: IndexedSymbol, score: float, rank: int) -> ScopedSymbol:
    doc = symbol.doc.strip().splitlines()
    return ScopedSymbol(
        symbol.path, symbol.qualified, symbol.kind, symbol.line, symbol.end_line, symbol.signature,
        doc[0] if doc else "", rank=rank, score=round(score, 4),
    )  # fmt: skip
