"""Cards read from their folders, and the few that fit one function. Words decide; no model is asked."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from pathlib import Path

import msgspec

MOST = 2
"""Cards in one prompt."""

LONGEST = 600
"""Characters of one card that are shown, about 150 tokens."""

OFTEN = 3
"""How often a word counts."""

NAMED = 9
"""Points of a word in the function's name."""

LONG, LEAST = 1000, 5
"""Characters of a text in which words stand by chance, and the points that a card needs there."""

NEAR = 0.5
"""Share of the best card's points that another one needs: what is beside the point is copied all the same."""

_STRONG = re.compile(r"[_*=( ]|^str|printf|alloc|^is[a-z]+$|^q?sort$|error$")
"""Words that are code, or several words: none of them stands there by chance."""

_WORDS_OF_NAMES = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")


class KnowledgeCard(msgspec.Struct, frozen=True):
    """One card: its name is that of its file."""

    name: str
    needs: tuple[str, ...]
    text: str


def read_card(name: str, text: str) -> KnowledgeCard | None:
    """The card of a file; None when it has no ``needs:`` line or no text."""
    lines = text.strip().splitlines()
    needs = next((line[len("needs:") :] for line in lines if line.startswith("needs:")), "")
    words = tuple(word.strip() for word in needs.split(",") if word.strip())
    body = " ".join(line.strip() for line in lines if line.strip() and not line.startswith(("needs:", "# ")))
    return KnowledgeCard(name, words, body[:LONGEST]) if words and body else None


@lru_cache(maxsize=8)
def cards_of(language: str, own: Path | None = None) -> tuple[KnowledgeCard, ...]:
    """The cards of a language: a person's ``own`` folder first (a card of the same name takes the place of ours)."""
    found: dict[str, KnowledgeCard] = {}
    texts = []
    if own is not None and (own / language).is_dir():
        mine = sorted((own / language).glob("*.md"))
        texts += [(path.stem, path.read_text(encoding="utf-8", errors="replace")) for path in mine]
    folder = resources.files("agent.knowledge").joinpath("cards", language)
    if folder.is_dir():
        ours = sorted((one for one in folder.iterdir() if one.name.endswith(".md")), key=lambda one: one.name)
        texts += [(one.name.removesuffix(".md"), one.read_text(encoding="utf-8")) for one in ours]
    for name, text in texts:
        if name not in found and (card := read_card(name, text)) is not None:
            found[name] = card
    return tuple(found.values())


def fitting(cards: tuple[KnowledgeCard, ...], about: str, name: str = "") -> tuple[KnowledgeCard, ...]:
    """The cards whose words ``about`` (signature, contract, documents, examples) holds, at most :data:`MOST`, most points
    first. One hit of a plain word is chance, and in a long text several are: a card needs two words, one in the function's
    ``name``, or one that is code or a phrase."""
    long = len(about) > LONG
    words = " ".join(_WORDS_OF_NAMES.findall(name))
    scored = []
    for place, card in enumerate(cards):
        hits: dict[str, int] = {}
        for word in card.needs:
            if count := _hits(word, about):
                stem = word.lower().removesuffix("s")
                hits[stem] = min(OFTEN, hits.get(stem, 0) + count)
        strong = sum(_STRONG.search(stem) is not None for stem in hits)
        named = any(_hits(word, words) for word in card.needs)
        points = sum(hits.values()) + strong + named * NAMED
        if points >= (LEAST if long else 2) and (len(hits) >= 2 or strong or named):
            scored.append((points, -place, card))
    best = sorted(scored, key=lambda one: one[:2], reverse=True)[:MOST]
    return tuple(card for points, _, card in best if points >= NEAR * best[0][0])


def _hits(word: str, about: str) -> int:
    """How often a word stands in a text, :data:`OFTEN` times at most."""
    return min(OFTEN, len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", about, re.I)))
