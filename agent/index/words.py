# ruff: noqa: SIM905
"""Identifiers and prose as the search sees them: split at humps and underscores, at index and at query time alike."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_SPACES = {code: " " for code in range(128) if not _WORD.match(chr(code))}
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

_MOST_KEPT = 200_000
"""Words whose parts are remembered."""

STOP_WORDS = frozenset(
    "a about above after again all already also always am an and another any anything are around as "
    "ask at away back be because become "
    "been before being below between both but by can cannot case come could did do does doing don "
    "done down during each either else "
    "enough even ever every everything few find first for from further get gets getting give given "
    "go goes going got had has have "
    "having he hence her here him his how however i if in inside instead into is isn it its itself "
    "just keep know last least let like "
    "ll look made make makes making many may maybe me mean might more most much must my need needs "
    "never new next no nor not nothing "
    "now obviously of off often ok on once one only onto or other otherwise our out over own per "
    "perhaps please possible properly "
    "put quite rather re really right said same say see seem seems several shall she should show "
    "since so some something sometimes "
    "still such sure take than thank thanks that the their them then there therefore these they "
    "thing things this those though "
    "through thus to today together too toward try two under unless until up upon us use used useful "
    "uses using usually ve very via "
    "want wants was way we well were what whatever when where whether which while who whole whose "
    "why will with within without "
    "won work works would wrong yes yet you your apparently".split()
)


@lru_cache(maxsize=_MOST_KEPT)
def split_identifier(word: str) -> tuple[str, ...]:
    """The lower-case parts of one identifier: ``parseHTTPHeader2`` → parse, http, header, 2."""
    letters = word.replace("_", "")
    if letters.isascii() and letters.isalpha() and (letters.islower() or letters.isupper()):
        return tuple(filter(None, word.lower().split("_")))  # most words, and much faster
    return tuple(part.lower() for part in _PART.findall(word))


class _Expansions(dict[str, str]):
    """Each word as it is searched for: whole and split. Looked up at a third of what ``lru_cache`` takes."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        parts = split_identifier(word)
        self[word] = found = word.lower() if len(parts) < 2 else f"{word.lower()} {' '.join(parts)}"
        return found


_expanded = _Expansions().__getitem__


def terms(text: str) -> str:
    """The different words of a text, identifiers whole and split, for a full-text row. In order of appearance."""
    return " ".join(map(_expanded, dict.fromkeys(_words(text))))


def _words(text: str) -> list[str]:
    """What ``_WORD`` finds; ASCII is split at three times the speed."""
    return text.translate(_SPACES).split() if text.isascii() else _WORD.findall(text)


MAX_QUERY_WORDS = 60
"""Words of a task that are searched for; a pasted log has thousands."""


def query_words(text: str) -> list[str]:
    """The telling words of free text, in order, unique, identifiers whole and split, stop words left out."""
    found: dict[str, None] = {}
    for word in _words(text):
        for part in _expanded(word).split():
            if part not in STOP_WORDS and len(part) > 1 and not (part.isdigit() and len(part) > 4):
                found.setdefault(part)
    return list(found)[:MAX_QUERY_WORDS]


_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*")


def identifiers(text: str) -> list[str]:
    """What in free text looks like code: snake_case, camelCase, dotted names and names before parentheses, unique."""
    found: dict[str, None] = {}
    for match in _IDENTIFIER.finditer(text):
        word = match.group()
        called = text[match.end() : match.end() + 1] == "("
        humps = re.search(r"[a-z0-9][A-Z]", word) is not None
        quoted = text[match.start() - 1 : match.start()] == "`" if match.start() else False
        if (
            "_" in word.strip("_")
            or word.startswith("_")
            or humps
            or called
            or quoted
            or "." in word
            or "::" in word
            or "->" in word
        ):
            found.setdefault(word)
            for part in re.split(r"\.|::|->", word):
                if len(part) > 2:
                    found.setdefault(part)
    return list(found)
