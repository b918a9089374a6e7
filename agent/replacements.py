"""Pieces of a source exchanged by their place, the rest byte for byte as it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Replacement(NamedTuple):
    """Bytes ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


def replaced(source: bytes, replacements: Iterable[Replacement]) -> bytes:
    """``source`` with all of them made; of two that overlap only the later one."""
    bound = len(source) + 1
    for one in sorted(set(replacements), reverse=True):
        if one.end <= bound:
            source = source[: one.start] + one.text.encode() + source[one.end :]
            bound = one.start
    return source
