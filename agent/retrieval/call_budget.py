"""How much retrieval may ask: as much as its seconds allow (``retrieval.seconds``), the best-ranked first.

Questions go out in waves. The first is small; each further one is as large as the time left allows at the pace of those
before it, so that a server that answers dozens at once is asked about everything and a slow one about the best-ranked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

FIRST_WAVE = 8
"""Items asked about before the pace is known, and the fewest of a wave."""

SCOPE_SHARE = 3
"""Scope may spend a third of the time: the passes over symbols need the rest."""


class Allowance:
    """Seconds and calls, counted down. ``clock`` does not count the time that the run waits for a person.

    Args:
        seconds: for all questions together.
        calls: the most questions, 0 for as many as the time allows.
    """

    def __init__(self, seconds: float, calls: int, clock: Callable[[], float]) -> None:
        self.seconds, self.calls = seconds, calls
        self.left = seconds
        self.asked = 0
        self.denied = 0
        self._clock = clock
        self._counted_out = False

    async def ask(
        self, items: Sequence[T], ask: Callable[[list[T]], Awaitable[None]], share: int = 1, *, at_once: bool = False
    ) -> list[T]:
        """Hand ``items`` to ``ask`` in waves, in the order given, for at most the time left divided by ``share``; or all
        ``at_once``, where a person reviews them together. Returns those asked about; the rest is counted as denied."""
        budget = self.left / share
        most = len(items) if not self.calls else min(len(items), max(0, self.calls - self.asked) // share)
        done, spent = 0, 0.0
        while done < most and spent < budget:
            room = int((budget - spent) * done / spent) if spent > 0 else FIRST_WAVE if not done else most
            wave = list(items[done : most if at_once else min(most, done + max(FIRST_WAVE, room))])
            began = self._clock()
            await ask(wave)
            spent += max(0.0, self._clock() - began)
            done += len(wave)
        self.left = max(0.0, self.left - spent)
        self.asked += done
        self.denied += len(items) - done
        if done < len(items):
            self._counted_out = done == most
        return list(items[:done])

    def reason(self) -> str:
        """Which setting last kept retrieval from asking more, as part of a sentence."""
        if self._counted_out:
            return f"retrieval.max_calls allows {self.calls} yes/no calls in this run"
        return f"the {self.seconds:g} s of retrieval.seconds were used"
