"""Files ranked without a model, with the reasons for each one's place.

A file's score is a sum over kinds of evidence, each as its share of the best file's. The weights were fitted on 208 changes
of fourteen repositories, kept close to equal weights (``benchmarks/left_out.py``). Fitted again without the repository at
hand they find .89 of the files among the first 10 and .96 among the first 20 (plain BM25 over the text: .82 and .93).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from agent.languages import parser_for
from agent.retrieval.documents import Document, candidates_of, words_beside
from agent.retrieval.ranking import Bm25, best_first, fuse
from agent.retrieval.symbolrank import bm25_of, file_prior, name_scores, query_weights, reasons_of
from agent.retrieval.types import Reason

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import IndexedSymbol
    from agent.retrieval.types import TaskFacts

Scores = dict[str, float]

DEPTH = 80
"""Files whose symbols are looked at: the best of the index's own rankings, fused with these weights."""

SEARCH = {"names": 1.0, "text": 1.0, "symbols": 1.0, "history": 1.0, "mentioned": 1.5, "path": 0.7}

STRENGTH = {
    "history": 0.52, "words": 0.38, "related": 0.37, "symbol": 0.36, "mentioned": 0.33, "calls": 0.32, "edges": 0.31,
    "path": 0.27, "names": 0.27,
}  # fmt: skip
"""What each kind of evidence counts, relative to the best file's."""

NAMED = 10.0
"""Added for a file that the task names: it stands before all others."""

WORDS = {
    "names": "its names and comments have the task's words",
    "history": "earlier commits with such messages touched it",
    "mentioned": "it defines a name that the task spells",
    "path": "its path has the task's words",
    "symbol": "its best symbol has the task's words",
    "related": "its best symbol has the task's words or related ones",
    "words": "all its text has the task's words",
    "edges": "it imports or is imported by files found",
    "calls": "its symbols call or are called by symbols found",
    "named": "the task names it",
}
"""Each kind of evidence in words."""

SPREADING = 15
"""So many of the best files pass evidence on to what they import and what imports them."""

CALLING = 10
"""So many of the best symbols pass evidence on to the files of their callers and callees."""

MATCHING = 3
"""Names of best-matching symbols kept per file, as evidence for its judgment."""

ASIDE = 0.4
"""Factor for files beside the product itself: examples, docs, benchmarks, tools."""

_ASIDE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?|bench(?:marks?)?|tools?|scripts?|contrib|vendor|third_party|fuzz\w*)/", re.I
)


class FileRanking(msgspec.Struct, frozen=True):
    """Paths, best first, the names of each file's best-matching symbols, and each file's reasons, strongest first."""

    paths: list[str]
    matching: dict[str, tuple[str, ...]]
    scores: dict[str, float] = {}
    reasons: dict[str, tuple[Reason, ...]] = {}


class Evidence(msgspec.Struct, frozen=True):
    """What is known of files for one task: kind → path → score, and the names of each file's best-matching symbols."""

    scores: dict[str, Scores]
    matching: dict[str, tuple[str, ...]]


def rank_files(index: Index, facts: TaskFacts) -> FileRanking:
    """Source files without tests; a task about tests gets those too."""
    evidence = evidence_of(index, facts)
    shares = shares_of(evidence.scores)
    for path in facts.mentioned_files:
        shares[path]["named"] = NAMED
    scores = {path: math.fsum(parts.values()) for path, parts in shares.items()}
    reasons = {path: reasons_of(parts) for path, parts in shares.items()}
    return FileRanking(best_first(scores), evidence.matching, scores, reasons)


def evidence_of(index: Index, facts: TaskFacts) -> Evidence:
    """Every kind of evidence. Import edges and calls start from the files that are best by the evidence before them."""
    evidence: dict[str, Scores] = index.rankings(facts.text, tests=None if facts.kind == "test" else False)
    known = {e.path for e in index.files() if parser_for(e.language) and (facts.kind == "test" or not e.is_test)}
    evidence["path"] = _by_path(known, facts)
    found = best_first(fuse((SEARCH[kind], scores) for kind, scores in evidence.items()))[:DEPTH]
    documents, plain, related = _symbol_scores(index, facts, found)
    evidence["symbol"] = _by_best_symbol(documents, plain)
    evidence["related"] = _by_best_symbol(documents, related)
    evidence["words"] = _by_all_words(index, documents, facts, found)
    order = best_first({path: math.fsum(kinds.values()) for path, kinds in shares_of(evidence).items()})
    evidence["edges"] = _neighbours(index, order[:SPREADING], known)
    evidence["calls"] = _by_calls(index, _best_symbols(documents, plain, order), known)
    return Evidence(evidence, _matching(documents, plain))


def shares_of(evidence: Mapping[str, Scores]) -> defaultdict[str, dict[str, float]]:
    """Path → kind → what it adds to the score."""
    parts: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for kind, weight in STRENGTH.items():
        scores = evidence.get(kind, {})
        most = max(scores.values(), default=0.0) or 1.0
        for path, score in scores.items():
            parts[path][kind] = weight * factor(path) * score / most
    return parts


def factor(path: str) -> float:
    """1, or less for what stands beside the product."""
    return ASIDE if _ASIDE.search(path) else 1.0


def _ranked(scores: Scores) -> Scores:
    return {path: scores[path] for path in best_first(scores) if scores[path] > 0}


def _by_path(known: set[str], facts: TaskFacts) -> Scores:
    """Files whose name has words of the task, rarer words first: ``cmd-swap-window.c`` answers to *swap-window*."""
    return _ranked(name_scores({path: PurePosixPath(path).stem for path in known}, query_weights(facts)))


def _symbol_scores(index: Index, facts: TaskFacts, paths: list[str]) -> tuple[dict[str, Document], Scores, Scores]:
    entries = {entry.path: entry for entry in index.files()}
    documents = {d.symbol.key: d for path in paths for d in candidates_of(index, entries[path])}
    bm25, query = bm25_of(documents), query_weights(facts)
    return documents, bm25.scores(query), bm25.loose_scores(query)


def _by_best_symbol(documents: dict[str, Document], texts: Scores) -> Scores:
    """Files by the score of their best symbol: one function that fits says more than many words spread over a file."""
    best: Scores = {}
    for key, score in texts.items():
        path = documents[key].symbol.path
        best[path] = max(best.get(path, 0.0), score)
    return _ranked(best)


def _by_all_words(index: Index, documents: dict[str, Document], facts: TaskFacts, paths: list[str]) -> Scores:
    """Files by all their words, related words counted in."""
    entries = {entry.path: entry for entry in index.files()}
    files = {path: Counter(words_beside(index, entries[path])) for path in paths}
    for document in documents.values():
        files[document.symbol.path].update(document.words)
    return _ranked(Bm25(files).loose_scores(query_weights(facts)))


def _matching(documents: dict[str, Document], texts: Scores) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key in best_first({key: score for key, score in texts.items() if score > 0}):
        symbol = documents[key].symbol
        names = found.get(symbol.path, ())
        if len(names) < MATCHING:
            found[symbol.path] = (*names, symbol.qualified)
    return found


def _best_symbols(documents: dict[str, Document], texts: Scores, order: list[str]) -> list[IndexedSymbol]:
    place = {path: number for number, path in enumerate(order)}
    scores = {key: score * file_prior(place[documents[key].symbol.path]) for key, score in texts.items() if score > 0}
    return [documents[key].symbol for key in best_first(scores)[:CALLING]]


def _by_calls(index: Index, symbols: list[IndexedSymbol], known: set[str]) -> Scores:
    """Files that hold callers or callees of the best symbols, shared where there are many."""
    scores: Scores = {}
    for place, symbol in enumerate(symbols, 1):
        for others in (index.callees(symbol), index.callers(symbol)):
            paths = ({other.path for other in others} & known) - {symbol.path}
            for path in sorted(paths):
                scores[path] = scores.get(path, 0.0) + 1 / place / math.sqrt(len(paths))
    return _ranked(scores)


def _neighbours(index: Index, paths: list[str], known: set[str]) -> Scores:
    """Files beside the best ones over import edges. Each edge counts less the more edges a file has, so that a header
    which all include, or a package's ``__init__``, is not ranked high for its many neighbours."""
    edges = {path: _edges(index, path, known) for path in paths}
    scores: Scores = {}
    for place, path in enumerate(paths, 1):
        for other in sorted(edges[path]):
            degree = len(edges.get(other) or _edges(index, other, known))
            scores[other] = scores.get(other, 0.0) + 1 / place / math.sqrt(len(edges[path]) * max(1, degree))
    return _ranked(scores)


def _edges(index: Index, path: str, known: set[str]) -> set[str]:
    return (set(index.imports_of(path)) | set(index.used_by(path))) & known
