"""Ranking without a model: BM25 over small documents, and rankings fused by reciprocal rank."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from agent.index.search import bm25, idf

K = TypeVar("K", bound=Hashable)

RRF_K = 15
"""The constant of reciprocal rank fusion (Cormack et al. 2009). Smaller than their 60: code search needs only the first
places."""

RELATED, SHORTEST, APART = 0.3, 3, 2
"""Code abbreviates words. A word of at least ``SHORTEST`` letters that begins another (``arg``, *argument*), ``APART`` or
more letters longer, is related to it and counts ``RELATED`` times the word itself."""


class Bm25(Generic[K]):
    """BM25 over documents given as weighted word counts."""

    def __init__(self, documents: Mapping[K, Counter[str]]) -> None:
        self.documents = documents
        self.lengths = {key: sum(words.values()) for key, words in documents.items()}
        self.mean = (sum(self.lengths.values()) / len(documents)) if documents else 1.0
        self.frequency: Counter[str] = Counter()
        for words in documents.values():
            self.frequency.update(words.keys())
        self._sorted: list[str] = []

    def idf(self, word: str) -> float:
        """How telling a word is: rare words count more."""
        return idf(self.frequency[word], len(self.documents))

    def scores(self, query: Mapping[str, float]) -> dict[K, float]:
        """Every document's score."""
        return {key: self.score(key, query) for key in self.documents}

    def score(self, key: K, query: Mapping[str, float]) -> float:
        """The document's score for weighted query words."""
        words = self.documents[key]
        length = self._relative_length(key)
        total = 0.0
        for word, weight in query.items():
            count = words.get(word, 0)
            if count:
                total += weight * self.idf(word) * bm25(count, length)
        return total

    def loose_scores(self, query: Mapping[str, float]) -> dict[K, float]:
        """Every document's score, related words counted in, twice as much where it has all the query words.

        A related word never counts as rarer than the word asked for, so that *console* finds no rare ``con``.
        """
        senses = [[(word, 1.0), *((other, RELATED) for other in self.related(word))] for word in query]
        needed: dict[str, list[tuple[int, float]]] = {}
        for number, sense in enumerate(senses):
            for word, share in sense:
                needed.setdefault(word, []).append((number, share))
        weights = list(query.values())
        idfs = {word: self.idf(word) for word in needed}
        bounds = [idfs[word] if self.frequency[word] else math.inf for word in query]
        return {key: self._loose(key, needed, idfs, bounds, weights) for key in self.documents}

    def _loose(
        self, key: K, needed: Mapping[str, list[tuple[int, float]]], idfs: Mapping[str, float], bounds: Sequence[float],
        weights: Sequence[float],
    ) -> float:  # fmt: skip
        words = self.documents[key]
        counts: dict[int, float] = {}
        rarest: dict[int, float] = {}
        for word in sorted(needed.keys() & words.keys()):  # sums must not depend on the order of a set
            for number, share in needed[word]:
                counts[number] = counts.get(number, 0.0) + share * words[word]
                rarest[number] = max(rarest.get(number, 0.0), idfs[word])
        length = self._relative_length(key)
        total = math.fsum(
            weights[number] * min(bounds[number], rarest[number]) * bm25(count, length) for number, count in counts.items()
        )
        return total * (1 + math.fsum(weights[number] for number in counts) / math.fsum(weights)) if counts else 0.0

    def _relative_length(self, key: K) -> float:
        return self.lengths[key] / max(self.mean, 1e-9)

    def related(self, word: str) -> list[str]:
        """Words of the documents that ``word`` begins with, or that begin with it."""
        shorter = [word[:n] for n in range(SHORTEST, len(word) - APART + 1) if word[:n] in self.frequency]
        if len(word) <= SHORTEST:
            return shorter
        self._sorted = self._sorted or sorted(self.frequency)
        at = bisect_left(self._sorted, word)
        while at < len(self._sorted) and self._sorted[at].startswith(word):
            if len(self._sorted[at]) >= len(word) + APART:
                shorter.append(self._sorted[at])
            at += 1
        return shorter


def fuse(rankings: Iterable[tuple[float, Iterable[K]]]) -> dict[K, float]:
    """Reciprocal rank fusion: each ``(weight, ranking)`` gives ``weight / (RRF_K + place)``; places count from 1."""
    scores: dict[K, float] = {}
    for weight, ranking in rankings:
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (RRF_K + place)
    return scores


def best_first(scores: Mapping[K, float]) -> list[K]:
    """Keys by falling score; ties by name, so that the order never depends on chance."""
    return sorted(scores, key=lambda key: (-scores[key], str(key)))
