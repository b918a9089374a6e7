# ruff: noqa: SIM905
"""What a file is about, without a model: purpose, domain, concepts and public surface."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from agent.index.words import STOP_WORDS, split_identifier
from agent.language.symbols import ParsedFile
from agent.languages import find_language
from agent.shortening import shortened

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\"'`])|\n\s*\n")
_NEUTRAL_FOLDERS = frozenset("src lib include source sources pkg packages python c code".split())
_DULL = STOP_WORDS | frozenset(
    "init main get set new free type self args kwargs str int size len data value name t h c py test".split()
)
_MAX_PURPOSE = 200
_MAX_CONCEPTS = 8
_MAX_SURFACE = 24


@dataclass(frozen=True, slots=True)
class Metadata:
    """``purpose`` one sentence, ``domain`` a few words, ``concepts`` single words, ``surface`` public names."""

    purpose: str = ""
    domain: str = ""
    concepts: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()


def first_sentence(text: str) -> str:
    """The first sentence of a comment or docstring, on one line, at most 200 characters."""
    for piece in _SENTENCE.split(text.strip()):
        line = " ".join(piece.split())
        if len(line) > 2 and re.search(r"[A-Za-z]{2}", line):
            return shortened(line, _MAX_PURPOSE)
    return ""


def describe(path: str, parsed: ParsedFile) -> Metadata:
    """Metadata of one parsed file."""
    return Metadata(
        purpose=first_sentence(parsed.doc),
        domain=_domain(path),
        concepts=_concepts(parsed),
        surface=_surface(parsed),
    )


def _domain(path: str) -> str:
    pure = PurePosixPath(path)
    folders = [part for part in pure.parts[:-1] if part.lower() not in _NEUTRAL_FOLDERS]
    words = [word for part in [*folders[-2:], pure.stem] for word in split_identifier(part)]
    return " ".join(dict.fromkeys(words))


def _concepts(parsed: ParsedFile) -> tuple[str, ...]:
    """The words that most symbols share, most frequent first, ties in order of appearance."""
    parts = (dict.fromkeys(split_identifier(symbol.name)) for symbol in parsed.symbols)  # in order: ties must not
    counts = Counter(chain.from_iterable(parts))  # depend on the hash seed
    telling = Counter(
        {word: count for word, count in counts.items() if len(word) > 2 and word not in _DULL and not word.isdigit()}
    )
    return tuple(word for word, _ in telling.most_common(_MAX_CONCEPTS))


def _surface(parsed: ParsedFile) -> tuple[str, ...]:
    """The first names that other files may use: not static, not underscored, not members of a private class."""
    language = find_language(parsed.language)
    kept: dict[str, None] = {}
    for symbol in parsed.symbols:
        hidden = symbol.kind in ("enumerator", "method", "property")
        if not hidden and not (language and language.is_private(symbol)):
            kept.setdefault(symbol.name)
            if len(kept) == _MAX_SURFACE:
                break
    return tuple(kept)
