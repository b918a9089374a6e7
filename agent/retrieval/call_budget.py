"""The call budget of retrieval (``retrieval.max_calls``): who is over it is denied unasked, and that is said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SCOPE_SHARE = 3
"""Scope may spend a third of the calls: the passes over symbols need the rest."""


class Allowance:
    """Counts down. ``take(items, share)`` gives the first items that may still be asked about."""

    def __init__(self, calls: int) -> None:
        self.total = calls
        self.left = calls
        self.denied = 0

    def take(self, items: Sequence[T], share: int = 1) -> list[T]:
        """At most ``left / share`` items, in the order given, which is best first."""
        allowed = list(items[: self.left // share])
        self.left -= len(allowed)
        self.denied += len(items) - len(allowed)
        return allowed
