"""Symbols ranked without a model: words of name, signature, doc and body, the score of their file, and the call graph.

A symbol's score is a sum over kinds of evidence, each as its share of the best symbol's. The weights were fitted on the
symbols that changes of fourteen repositories touched, kept close to equal weights (``benchmarks/left_out.py``). Fitted again
without the repository at hand they find .67 of the symbols among the first 20 and .79 among the first 50.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agent.index.words import query_words, split_identifier
from agent.retrieval.documents import Document, candidates_of
from agent.retrieval.ranking import Bm25, best_first
from agent.retrieval.stemming import stem
from agent.retrieval.types import Reason, ScopedSymbol, TaskFacts

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import IndexedSymbol


STRENGTH = {"related": 0.44, "words": 0.43, "name": 0.33, "calls": 0.28, "file": 0.27}
"""What each kind of evidence counts: the task's words or related ones, the words as they stand, those in the name, callers
or callees found, and the score of the file."""

PASSING = 8
"""So many of the best symbols pass evidence on to their callers and callees."""

FILE_LOSS, FILE_FADING = 0.1, 0.6
"""Words count less in files further down: at place ``n`` from 0 ``(1 + loss n) ** -fading``."""

SIZE_POWER = 0.6
"""Words count more in long symbols: by this power of one plus the logarithm of the lines."""

KIND = {
    "class": 0.6, "struct": 0.6, "union": 0.6, "enum": 0.6, "typedef": 0.3, "prototype": 0.3, "global": 1.3, "constant": 1.3,
}  # fmt: skip
"""What the words of a kind count, 1 for all others: functions change more often than types, and a table has few words."""

NAMED, TRACED = 1000.0, 500.0
"""Added for a symbol that the task names, and for one that a traceback stands in: they come before every score."""


def rank_symbols(index: Index, facts: TaskFacts, files: Mapping[str, float]) -> list[ScopedSymbol]:
    """All symbols of ``files`` (path to score, best first), best first, each with its reasons."""
    documents = documents_in(index, files)
    parts = parts_of(index, documents, files, facts)
    for number, key in enumerate(facts.mentioned_symbols):
        if key in parts:
            parts[key]["named"] = NAMED - number
    for key, document in documents.items():
        if _in_trace(document.symbol, facts):
            parts[key]["trace"] = TRACED
    scores = {key: math.fsum(found.values()) for key, found in parts.items()}
    return [
        scoped(documents[key].symbol, scores[key], rank, reasons_of(parts[key]))
        for rank, key in enumerate(best_first(scores), 1)
    ]


def documents_in(index: Index, files: Iterable[str]) -> dict[str, Document]:
    """Key → document of every symbol that may be shown of the files."""
    entries = {entry.path: entry for entry in index.files()}
    return {d.symbol.key: d for path in files if path in entries for d in candidates_of(index, entries[path])}


def parts_of(
    index: Index, documents: dict[str, Document], files: Mapping[str, float], facts: TaskFacts
) -> dict[str, dict[str, float]]:
    """Key → kind of evidence → what it adds to the score."""
    bm25, query = bm25_of(documents), query_weights(facts)
    prior = {path: file_prior(place) for place, path in enumerate(files)}
    weight = {
        key: prior[d.symbol.path] * size_prior(d.symbol) * KIND.get(d.symbol.kind, 1.0) for key, d in documents.items()
    }
    evidence = {"related": bm25.loose_scores(query), "words": bm25.scores(query), "name": _by_name(documents, query)}
    parts: dict[str, dict[str, float]] = {key: {} for key in documents}
    for kind, scores in evidence.items():
        weighed = {key: weight[key] * score for key, score in scores.items()}
        most = max(weighed.values(), default=0.0) or 1.0
        for key, score in weighed.items():
            parts[key][kind] = STRENGTH[kind] * score / most
    most = max(files.values(), default=0.0) or 1.0
    for key, document in documents.items():
        parts[key]["file"] = STRENGTH["file"] * files[document.symbol.path] / most
    for key, gain in _passed_on(index, documents, {k: math.fsum(p.values()) for k, p in parts.items()}).items():
        parts[key]["calls"] = gain
    return parts


def _by_name(documents: dict[str, Document], query: dict[str, float]) -> dict[str, float]:
    """How much of a name the task's words make up, rarer words first, and how much they are worth."""
    return name_scores({key: document.symbol.name for key, document in documents.items()}, query)


def name_scores(names: Mapping[str, str], query: Mapping[str, float]) -> dict[str, float]:
    """How much of each name (by key) the query's stemmed words make up, rarer words first, times what these are worth; 0
    for a name without any."""
    words = {key: {stem(part) for part in split_identifier(name)} for key, name in names.items()}
    having = Counter(word for parts in words.values() for word in parts)
    weights = {word: math.log(1 + len(words) / count) for word, count in having.items()}
    found = {}
    for key, parts in words.items():
        hit = math.fsum(weights[word] for word in sorted(parts) if word in query)
        found[key] = hit * hit / math.fsum(weights[word] for word in sorted(parts)) if hit else 0.0
    return found


def bm25_of(documents: dict[str, Document]) -> Bm25[str]:
    """The documents of symbols, ready to be scored for a query."""
    return Bm25({key: document.words for key, document in documents.items()})


def file_prior(place: int) -> float:
    """What a symbol's words gain by standing in a well-ranked file; ``place`` counts from 0."""
    return float((1.0 + FILE_LOSS * place) ** -FILE_FADING)


def size_prior(symbol: IndexedSymbol) -> float:
    """What a symbol's words gain by its length: a change is more often inside a long function than inside a constant."""
    return float((1.0 + math.log1p(symbol.end_line - symbol.line)) ** SIZE_POWER)


def _passed_on(index: Index, documents: dict[str, Document], scores: dict[str, float]) -> dict[str, float]:
    """What callers and callees of the best symbols gain from them, shared where there are many."""
    gains: dict[str, float] = {}
    most = max(scores.values(), default=0.0) or 1.0
    for key in best_first(scores)[:PASSING]:
        symbol = documents[key].symbol
        for others in (index.callees(symbol), index.callers(symbol)):
            keys = [other.key for other in others if other.key in documents]
            for other in keys:
                gains[other] = gains.get(other, 0.0) + STRENGTH["calls"] * scores[key] / most / math.sqrt(len(keys))
    return gains


def query_weights(facts: TaskFacts) -> dict[str, float]:
    """Stemmed words of the task; the intent's words count half."""
    weights = {stem(word): 1.0 for word in query_words(facts.text)}
    for word in query_words(facts.intent):
        weights.setdefault(stem(word), 0.5)
    return weights


def _in_trace(symbol: IndexedSymbol, facts: TaskFacts) -> bool:
    return any(path == symbol.path and symbol.line <= line <= symbol.end_line for path, line in facts.traces)


def reasons_of(parts: Mapping[str, float]) -> tuple[Reason, ...]:
    """The parts of a score as reasons with their share of it, strongest first."""
    whole = math.fsum(parts.values())
    order = sorted(parts, key=lambda name: (-parts[name], name))
    return tuple(Reason(name, round(parts[name] / whole, 3)) for name in order if whole > 0 and parts[name] > 0)


def scoped(symbol: IndexedSymbol, score: float, rank: int, reasons: tuple[Reason, ...] = ()) -> ScopedSymbol:
    """An indexed symbol as a candidate, with the first line of its doc."""
    doc = symbol.doc.strip().splitlines()
    return ScopedSymbol(
        symbol.path, symbol.qualified, symbol.kind, symbol.line, symbol.end_line, symbol.signature,
        doc[0] if doc else "", rank=rank, score=round(score, 4), reasons=reasons,
    )  # fmt: skip
