"""Words without their endings, so that *accepting*, *accepts* and *accept* meet: Snowball's English stemmer.

The full-text tables of the index are stemmed by SQLite, with the older rules of Porter 1980; the two never meet.
"""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

_stemmer = snowballstemmer.stemmer("english")
_lock = threading.Lock()  # a stemmer holds the current word as its state


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; digits, other scripts and words of two letters stay as they are."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    with _lock:
        return str(_stemmer.stemWord(word))
