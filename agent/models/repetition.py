"""Detect a reply that repeats itself. Small models can write the same lines until their tokens are used up (Holtzman et al.,
The Curious Case of Neural Text Degeneration, 2020); nothing useful comes after that."""

from __future__ import annotations

import re
from itertools import pairwise

_ROUNDS = 3
_SHORTEST = 500
"""Characters of all rounds together: a few equal rows of a table do not count."""

_LONGEST = 16
"""Lines of one round."""


_GROWING_ROUNDS = 8
_MOST_APART = 3
"""Rounds in which one line differs in its numbers only and another becomes longer each time, and lines of such a round:
``if n == 1:`` with one term behind it, ``if n == 2:`` with two, and so on."""

_NUMBER = re.compile(r"\d+")


def goes_round(text: str) -> bool:
    """Whether the whole lines at the end of ``text`` are the same ones three times over, or count on and on."""
    lines = text.split("\n")[:-1]
    if any(_counts_on(lines, count) for count in range(2, _MOST_APART + 1)):
        return True
    for count in range(1, min(_LONGEST, len(lines) // _ROUNDS) + 1):
        last = lines[-count:]
        if sum(map(len, last)) * _ROUNDS >= _SHORTEST and lines[-count * _ROUNDS :] == last * _ROUNDS:
            return True
    return False


def _counts_on(lines: list[str], count: int) -> bool:
    """Whether the last rounds of ``count`` lines each are one case after the other, with more written in each."""
    if len(lines) < count * _GROWING_ROUNDS:
        return False
    end = lines[-count * _GROWING_ROUNDS :]
    columns = [end[place::count] for place in range(count)]
    alike = [column for column in columns if len({_NUMBER.sub("", line) for line in column}) == 1 and len(set(column)) > 1]
    growing = [column for column in columns if all(len(one) < len(other) for one, other in pairwise(column))]
    return bool(alike) and bool(growing)
