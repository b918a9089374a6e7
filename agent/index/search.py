"""Which files a task in plain words is about: one ranking for each kind of evidence.

The tables hold each word once a row, and a row is a symbol, so that a word's count in a file is the number of its symbols
that have the word. All statistics are taken over the rows that are live now, whatever the tables hold besides.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping

import msgspec

from agent.index.extract import FUNCTION, OTHER, row_base, unpacked_lengths
from agent.index.store import Store, file_number
from agent.index.words import identifiers, query_words
from agent.languages import LANGUAGES

K1, B = 1.2, 0.75
"""The usual BM25 constants (Robertson and Zaragoza 2009)."""

NAME, HEAD = 3.0, 2.0
"""What a word in a symbol's name, and in its signature or comment, counts of one in its body."""

PATH, NAMES, HEADS = 4.0, 2.0, 1.0
"""The same for a file's path, the names in it, and its comments."""

Scores = dict[str, float]
"""Paths with a score, best first."""

_DEPTH = 200
_COMMITS = 60


class _File(msgspec.Struct):
    """A live file of the search, and its words by row."""

    path: str
    is_test: bool
    words: int
    rows: int


class _Hits(msgspec.Struct):
    """The rows that have one query word, by column."""

    name: frozenset[int]
    head: frozenset[int]
    body: frozenset[int]


class IndexQuery:
    """One query over one state of the store."""

    def __init__(self, store: Store, query: str, tests: bool | None) -> None:
        self._store = store
        self.query = query
        known: list[object] = [language.name for language in LANGUAGES]
        where = "" if tests is None else f" AND is_test = {int(tests)}"
        sql = (
            "SELECT row_base, path, is_test, words, symbols + 1 FROM files WHERE row_base <> 0 AND language IN "
            f"({','.join('?' * len(known))}){where}"
        )
        self.files = {base: _File(path, bool(test), words, rows) for base, path, test, words, rows in store.rows(sql, known)}
        self.paths = {file.path: base for base, file in self.files.items()}
        self.hits = {word: hits for word in query_words(query) if (hits := self._hits(word)) is not None}
        self._rows = sum(file.rows for file in self.files.values())

    def _hits(self, word: str) -> _Hits | None:
        found = [self._matching(column, word) for column in ("name", "head", "body")]
        return _Hits(*found) if any(found) else None

    def _matching(self, column: str, word: str) -> frozenset[int]:
        rows = self._store.rows("SELECT rowid FROM words WHERE words MATCH ?", (f'{column} : "{word}"',))
        return frozenset(row for (row,) in rows if row_base(row) in self.files)

    def by_names(self) -> Scores:
        """Files by path, names and comments."""
        counts: dict[str, Counter[int]] = {}
        for word, hits in self.hits.items():
            counts[word] = Counter()
            for row in hits.name:
                base = row_base(row)
                counts[word][base] += PATH if row == base else NAMES  # type: ignore[assignment]
            for row in hits.head:
                counts[word][row_base(row)] += HEADS  # type: ignore[assignment]
        return self._by_counts(counts, {base: file.rows for base, file in self.files.items()})

    def by_text(self) -> Scores:
        """Files by everything in them."""
        counts = {word: Counter(row_base(row) for row in hits.body | hits.name) for word, hits in self.hits.items()}
        return self._by_counts(counts, {base: file.words for base, file in self.files.items()})

    def _by_counts(self, counts: Mapping[str, Counter[int]], lengths: Mapping[int, int]) -> Scores:
        mean = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
        scores: dict[int, float] = defaultdict(float)
        for found in counts.values():
            weight = idf(len(found), len(self.files))
            for base, count in found.items():
                scores[base] += weight * bm25(count, lengths[base] / mean)
        return self._ordered(scores)

    def symbol_scores(self) -> dict[int, float]:
        """Row → score of the symbols that have a word of the query."""
        lengths = self._lengths()
        mean = max(1.0, sum(file.words for file in self.files.values()) / max(1, self._rows))
        scores: dict[int, float] = defaultdict(float)
        for hits in self.hits.values():
            rows = hits.body | hits.head | hits.name
            weight = idf(len(rows), self._rows)
            for row in rows:
                base = row_base(row)
                if row != base:
                    count = (row in hits.body) + HEAD * (row in hits.head) + NAME * (row in hits.name)
                    scores[row] += weight * bm25(count, lengths[base][row - base] / mean)
        return scores

    def _lengths(self) -> dict[int, list[int]]:
        found = {}
        wanted = {row_base(row) for hits in self.hits.values() for row in (*hits.body, *hits.head, *hits.name)}
        for base in wanted:
            sql = "SELECT lengths FROM contents WHERE file_id = ?"
            [(blob,)] = self._store.rows(sql, (file_number(self.files[base].path),)) or [(b"",)]
            lengths = list(unpacked_lengths(blob))
            found[base] = lengths + [0] * (self.files[base].rows - len(lengths))
        return found

    def by_best_symbol(self, scores: Mapping[int, float]) -> Scores:
        """Files by their best symbol: one function that fits says more than many words spread over a file."""
        best: dict[int, float] = {}
        for row, score in scores.items():
            base = row_base(row)
            best[base] = max(best.get(base, 0.0), score)
        return self._ordered(best)

    def by_history(self) -> Scores:
        """Files of the commits whose messages match best; a commit's weight is shared among its files."""
        [(commits, words)] = self._store.rows("SELECT count(*), coalesce(avg(words), 1.0) FROM commits WHERE width > 0")
        matching = {
            word: [row for (row,) in self._store.rows("SELECT rowid FROM messages WHERE messages MATCH ?", (f'"{word}"',))]
            for word in query_words(self.query)
        }
        wanted = {row for rows in matching.values() for row in rows}
        lengths = dict(self._store.rows("SELECT id, words FROM commits")) if wanted else {}
        weights: dict[int, float] = defaultdict(float)
        for rows in matching.values():
            weight = idf(len(rows), commits)
            for row in rows:
                weights[row] += weight * bm25(1, lengths.get(row, words) / words)
        scores: dict[str, float] = defaultdict(float)
        sql = "SELECT f.path FROM commit_files c JOIN files f ON f.id = c.file_id WHERE c.commit_id = ?"
        for commit in sorted(weights, key=lambda row: (-weights[row], -row))[:_COMMITS]:
            paths = [path for (path,) in self._store.rows(sql, (commit,)) if path in self.paths]
            for path in paths:
                scores[path] += weights[commit] / len(paths) ** 0.5
        return _best(scores)

    def by_mention(self) -> Scores:
        """Files that define what the request names exactly, rarer names first."""
        scores: dict[str, float] = defaultdict(float)
        sql = (
            "SELECT f.path FROM names n JOIN files f ON f.id = n.file_id"
            f" WHERE n.name = ? AND n.kinds & {FUNCTION | OTHER} ORDER BY f.path"
        )
        for name in identifiers(self.query):
            last = name.replace("::", ".").replace("->", ".").rpartition(".")[2]
            paths = [path for (path,) in self._store.rows(sql, (last,)) if path in self.paths]
            for path in paths[:20]:
                scores[path] += 1 / len(paths)
        return _best(scores)

    def _ordered(self, scores: Mapping[int, float]) -> Scores:
        return _best({self.files[base].path: score for base, score in scores.items()})


def idf(having: int, among: int) -> float:
    """How telling a word is that ``having`` of ``among`` documents have: rare words count more."""
    return math.log(1 + (among - having + 0.5) / (having + 0.5)) if among >= having else 0.0


def bm25(count: float, relative_length: float) -> float:
    """BM25's saturation of a count in a document of so many times the average length."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * relative_length))


def _best(scores: Mapping[str, float]) -> Scores:
    order = sorted(scores, key=lambda path: (-scores[path], path))
    return {path: scores[path] for path in order[:_DEPTH]}


def rankings(store: Store, query: str, tests: bool | None) -> dict[str, Scores]:
    """Files by each kind of evidence, best first: names, text, symbols, history, mentioned. ``tests``: None for both."""
    if not query_words(query):
        return {}
    search = IndexQuery(store, query, tests)
    return {
        "names": search.by_names(),
        "text": search.by_text(),
        "symbols": search.by_best_symbol(search.symbol_scores()),
        "history": search.by_history(),
        "mentioned": search.by_mention(),
    }
