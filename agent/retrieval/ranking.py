"""Ranking without a model: BM25 over small documents, and rankings fused by reciprocal rank."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

K1, B = 1.2, 0.75
"""The usual BM25 constants (Robertson and Zaragoza 2009)."""

RRF_K = 60
"""The usual constant of reciprocal rank fusion (Cormack et al. 2009)."""

_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ied", "ies", "ers", "ed", "es", "er", "ly", "s", "e")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """A word without its ending, so that *accepting*, *accepts* and *accept* meet. Crude on purpose: both sides use it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


class Bm25:
    """BM25 over documents given as weighted word counts."""

    def __init__(self, documents: Mapping[K, Counter[str]]) -> None:
        self.documents = documents
        self.lengths = {key: sum(words.values()) for key, words in documents.items()}
        self.mean = (sum(self.lengths.values()) / len(documents)) if documents else 1.0
        self.frequency: Counter[str] = Counter()
        for words in documents.values():
            self.frequency.update(words.keys())

    def idf(self, word: str) -> float:
        """How telling a word is: rare words count more."""
        n = self.frequency[word]
        return math.log(1 + (len(self.documents) - n + 0.5) / (n + 0.5))

    def score(self, key: Hashable, query: Mapping[str, float]) -> float:
        """The document's score for weighted query words."""
        words = self.documents[key]  # type: ignore[index]
        norm = K1 * (1 - B + B * self.lengths[key] / max(self.mean, 1e-9))  # type: ignore[index]
        total = 0.0
        for word, weight in query.items():
            count = words.get(word, 0)
            if count:
                total += weight * self.idf(word) * count * (K1 + 1) / (count + norm)
        return total


def fuse(rankings: Iterable[tuple[float, Sequence[K]]], k: int = RRF_K) -> dict[K, float]:
    """Reciprocal rank fusion: each ``(weight, ranking)`` gives ``weight / (k + place)``; places count from 1."""
    scores: dict[K, float] = {}
    for weight, ranking in rankings:
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + place)
    return scores


def best_first(scores: Mapping[K, float]) -> list[K]:
    """Keys by falling score; ties by name, so that the order never depends on chance."""
    return sorted(scores, key=lambda key: (-scores[key], str(key)))
