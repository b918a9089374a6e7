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
"""Rounds in which one line differs in its numbers only and another goes on where that of the round before ended: ``if n ==
1:`` with one term behind it, ``if n == 2:`` with two, and so on."""

_LINES_OF_ROUND = 3
"""Lines of such a round at most."""

_NUMBER = re.compile(r"\d+")


def goes_round(text: str) -> bool:
    """Whether the whole lines at the end of ``text`` are the same ones three times over, or count on and on."""
    lines = text.split("\n")[:-1]
    if any(_counts_on(lines, count) for count in range(2, _LINES_OF_ROUND + 1)):
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
    end = [_NUMBER.sub("", line) for line in lines[-count * _GROWING_ROUNDS :]]
    columns = [end[place::count] for place in range(count)]
    growing = [all(one != other and other.startswith(one) for one, other in pairwise(column)) for column in columns]
    return any(growing) and any(len(set(column)) == 1 for column in columns)
