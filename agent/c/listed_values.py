"""The order of an enum's values, where a document lists them: tests use them in any order, and numbers follow from it."""

from __future__ import annotations

import re


def in_listed_order(values: tuple[str, ...], text: str) -> tuple[str, ...]:
    """``values`` as ``text`` lists them, an item or table row a line; as they are where one of them is not listed. A prefix
    that all share, as in ``COLOR_RED``, need not stand in the list."""
    prefix = _shared_prefix(values) if len(values) > 1 else ""
    places: dict[str, int] = {}
    for value in values:
        bare = value.removeprefix(f"{prefix}_") if prefix else value
        name = re.escape(bare).replace("_", "[ _-]")
        listed = re.search(rf"(?im)^[ \t]*(?:[-*+|]|\d+[.)])[ \t]*[`*_\"']{{0,3}}{name}\b", text)
        if listed is None:
            return values
        places[value] = listed.start()
    return tuple(sorted(values, key=places.__getitem__))


def _shared_prefix(values: tuple[str, ...]) -> str:
    """Whole words, without the last underscore."""
    first, last = min(values), max(values)
    same = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:same].rpartition("_")[0]
