"""Words without their endings, so that *accepting*, *accepts* and *accept* meet (Porter 1980, "suffix stripping").

The full-text tables of the index stem by the same rules; there SQLite does it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWELS = "aeiou"
_MEASURE = re.compile("v+c+")
_STEP_2 = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("tional", "tion"),
    ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"),
    ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("alli", "al"), ("ator", "ate"), ("logi", "log"),
    ("bli", "ble"), ("eli", "e"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize", "al",
    "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; what is no plain English word (digits, other scripts, two letters) stays as it is."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _past_and_plural(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _last_letters(_without_suffix(word))


def _shape(word: str) -> str:
    """``v`` for a vowel, ``c`` for a consonant; y is a vowel behind a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How many times a vowel run is followed by a consonant run: roughly the syllables."""
    return len(_MEASURE.findall(_shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Ends like *hop*: consonant, vowel, consonant, the last none of w, x, y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _past_and_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")) or (_measure(rest) == 1 and _short(rest)):
                return rest + "e"
            return rest[:-1] if _doubled(rest) and rest[-1] not in "lsz" else rest
    return word


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for old, new in endings:
        if word.endswith(old):
            rest = word[: -len(old)]
            return rest + new if _measure(rest) else word
    return word


def _without_suffix(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = ending != "ion" or rest.endswith(("s", "t"))
            return rest if fits and _measure(rest) > 1 else word
    return word


def _last_letters(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
