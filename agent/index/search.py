"""Which files and symbols a task in plain words is about: several rankings, fused by reciprocal rank."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable

from agent.index.entries import IndexedSymbol, Ranked, RankedSymbol
from agent.index.references import select_symbols
from agent.index.store import Store
from agent.index.symbols import languages
from agent.index.words import fts_query, identifiers, query_words, searchable

RRF = 20
"""The constant of reciprocal rank fusion: small, because a list's first places are worth more here than in web search."""

_DEPTH = 200
_COMMITS = 60
_FILES_FOR_SYMBOLS = 30
_NOT_CANDIDATES = ("prototype", "enumerator")


def rank_files(store: Store, query: str, limit: int, tests: bool = False) -> list[Ranked]:
    """The most likely files first. ``tests`` chooses test files instead of all others; the two are never mixed."""
    match = fts_query(query_words(query))
    if not match:
        return []
    lists = {
        "names": _by_names(store, match, tests),
        "text": _by_text(store, match, tests),
        "history": _by_history(store, match, tests),
        "mentioned": _by_mention(store, query, tests),
    }
    return fuse(lists, {"names": 1.0, "text": 1.0, "history": 1.0, "mentioned": 1.5})[:limit]


def fuse(lists: dict[str, list[str]], weights: dict[str, float]) -> list[Ranked]:
    """Reciprocal rank fusion: Σ weight / (RRF + rank), ties by path. Reasons name each list with the place in it."""
    scores: dict[str, float] = defaultdict(float)
    places: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, ranked in lists.items():
        for place, path in enumerate(ranked, 1):
            scores[path] += weights[name] / (RRF + place)
            places[path].append((place, name))
    order = sorted(scores, key=lambda path: (-scores[path], path))
    return [Ranked(p, round(scores[p], 6), tuple(f"{name} #{place}" for place, name in sorted(places[p]))) for p in order]


def _scope(tests: bool) -> tuple[str, list[object]]:
    known = list(languages())
    return f"f.is_test = ? AND f.skipped = '' AND f.language IN ({','.join('?' * len(known))})", [int(tests), *known]


def _by_names(store: Store, match: str, tests: bool) -> list[str]:
    where, parameters = _scope(tests)
    sql = (
        f"SELECT f.path FROM names_fts JOIN files f ON f.id = names_fts.rowid WHERE names_fts MATCH ? AND {where} "
        "ORDER BY bm25(names_fts, 4.0, 2.0, 1.0), f.path LIMIT ?"
    )
    return [row[0] for row in store.rows(sql, [match, *parameters, _DEPTH])]


def _by_text(store: Store, match: str, tests: bool) -> list[str]:
    where, parameters = _scope(tests)
    sql = (
        f"SELECT f.path FROM text_fts JOIN files f ON f.id = text_fts.rowid WHERE text_fts MATCH ? AND {where} "
        "ORDER BY bm25(text_fts), f.path LIMIT ?"
    )
    return [row[0] for row in store.rows(sql, [match, *parameters, _DEPTH])]


def _by_history(store: Store, match: str, tests: bool) -> list[str]:
    """Files of the commits whose messages match best; a commit's weight is shared among its files."""
    commits = store.rows(
        "SELECT rowid, -bm25(commits_fts) FROM commits_fts WHERE commits_fts MATCH ? ORDER BY 2 DESC, 1 DESC LIMIT ?",
        (match, _COMMITS),
    )
    scores: dict[str, float] = defaultdict(float)
    where, parameters = _scope(tests)
    for commit, weight in commits:
        sql = f"SELECT f.path FROM commit_files c JOIN files f ON f.path = c.path WHERE c.commit_id = ? AND {where}"
        paths = [row[0] for row in store.rows(sql, [commit, *parameters])]
        for path in paths:
            scores[path] += weight / len(paths) ** 0.5
    return sorted(scores, key=lambda path: (-scores[path], path))[:_DEPTH]


def _by_mention(store: Store, query: str, tests: bool) -> list[str]:
    """Files that define what the request names exactly, rarer names first."""
    where, parameters = _scope(tests)
    scores: dict[str, float] = defaultdict(float)
    for name in identifiers(query):
        last = name.replace("::", ".").replace("->", ".").rpartition(".")[2]
        sql = (
            "SELECT DISTINCT f.path FROM symbols s JOIN files f ON f.id = s.file_id WHERE s.name = ? AND "
            f"s.kind <> 'prototype' AND {where}"
        )
        paths = [row[0] for row in store.rows(sql, [last, *parameters])]
        for path in paths[:20]:
            scores[path] += 1 / len(paths)
    return sorted(scores, key=lambda path: (-scores[path], path))


def rank_symbols(
    store: Store, query: str, limit: int, read: Callable[[str], bytes], paths: Iterable[str] | None = None
) -> list[RankedSymbol]:
    """The most likely symbols first, of ``paths`` or of the best-ranked files.

    BM25 over name, signature with doc, and body, weighed with the rank of the file. ``read`` gives a file's bytes.
    """
    words = query_words(query)
    match = fts_query(words)
    if not match:
        return []
    if paths is None:
        files = [r.path for r in rank_files(store, query, _FILES_FOR_SYMBOLS)]
    else:
        files = list(dict.fromkeys(paths))
        ranked = {r.path: place for place, r in enumerate(rank_files(store, query, _DEPTH))}
        files.sort(key=lambda path: ranked.get(path, _DEPTH))
    candidates = [s for path in files for s in _candidates(store, path)]
    scored = _score(candidates, match, read)
    named = {name.rpartition(".")[2] for name in identifiers(query)}
    places = {path: place for place, path in enumerate(files, 1)}
    results = []
    for index, symbol in enumerate(candidates):
        if index not in scored and symbol.name not in named:
            continue
        score, reasons = scored.get(index, 0.0), []
        if score:
            reasons.append("words")
        if symbol.name in named:
            score += 20.0
            reasons.insert(0, "mentioned")
        results.append(
            RankedSymbol(
                symbol, round(score * _file_weight(places[symbol.path]), 6), (*reasons, f"file #{places[symbol.path]}")
            )
        )
    results.sort(key=lambda r: (-r.score, r.symbol.path, r.symbol.start))
    return results[:limit]


def _file_weight(place: int) -> float:
    return 1.0 / (1.0 + place / 6.0)


def _candidates(store: Store, path: str) -> list[IndexedSymbol]:
    """Symbols of a file worth showing: no prototypes or enumerators, one of each name."""
    found: dict[str, IndexedSymbol] = {}
    for symbol in select_symbols(store, "files.path = ?", (path,)):
        if symbol.kind not in _NOT_CANDIDATES:
            found.setdefault(symbol.qualified, symbol)
    return list(found.values())


def _score(candidates: list[IndexedSymbol], match: str, read: Callable[[str], bytes]) -> dict[int, float]:
    """BM25 score by candidate index, higher is better, from a full-text table that lives for this call only."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE s USING fts5 (name, doc, body, tokenize = \"porter unicode61 tokenchars '_'\")")
        sources: dict[str, bytes] = {}
        inner: dict[tuple[str, str], list[IndexedSymbol]] = defaultdict(list)
        for symbol in candidates:
            if symbol.parent:
                inner[symbol.path, symbol.parent].append(symbol)
        for index, symbol in enumerate(candidates):
            if symbol.path not in sources:
                sources[symbol.path] = read(symbol.path)
            body = _own_text(symbol, sources[symbol.path], inner.get((symbol.path, symbol.qualified), []))
            row = (
                index,
                searchable(f"{symbol.parent} {symbol.name}"),
                searchable(f"{symbol.signature} {symbol.doc}"),
                searchable(body),
            )
            db.execute("INSERT INTO s (rowid, name, doc, body) VALUES (?, ?, ?, ?)", row)
        return dict(db.execute("SELECT rowid, -bm25(s, 3.0, 2.0, 1.0) FROM s WHERE s MATCH ?", (match,)))
    finally:
        db.close()


def _own_text(symbol: IndexedSymbol, source: bytes, members: list[IndexedSymbol]) -> str:
    """A symbol's source without that of its members, which stand for themselves."""
    pieces, at = [], symbol.start
    for member in members:
        pieces.append(source[at : member.start])
        at = max(at, member.end)
    pieces.append(source[at : symbol.end])
    return b" ".join(pieces).decode("utf-8", "replace")
