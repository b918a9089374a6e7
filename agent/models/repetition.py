"""Detect a reply that repeats itself. Small models can write the same lines until their tokens are used up (Holtzman et al.,
The Curious Case of Neural Text Degeneration, 2020); nothing useful comes after that."""

from __future__ import annotations

_ROUNDS = 3
_SHORTEST = 500
"""Characters of all rounds together: a few equal rows of a table do not count."""

_LONGEST = 16
"""Lines of one round."""


def goes_round(text: str) -> bool:
    """Whether the whole lines at the end of ``text`` are the same ones three times over."""
    lines = text.split("\n")[:-1]
    for count in range(1, min(_LONGEST, len(lines) // _ROUNDS) + 1):
        last = lines[-count:]
        if sum(map(len, last)) * _ROUNDS >= _SHORTEST and lines[-count * _ROUNDS :] == last * _ROUNDS:
            return True
    return False
