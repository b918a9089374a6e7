"""Pass an answer on while it is written, at a bounded rate; it is not stored."""

from __future__ import annotations

from collections.abc import Callable

from agent.events import CallProgress
from agent.models.types import PartialAnswer

SECONDS_BETWEEN = 0.2
"""Five times a second for each call at most, which is fast enough to read and costs little."""

Onlooker = Callable[[CallProgress], None]


class LiveText:
    """The progress callback of one call."""

    def __init__(self, call_id: int, tell: Onlooker, clock: Callable[[], float]) -> None:
        self._call_id = call_id
        self._tell = tell
        self._clock = clock
        self._began = clock()
        self._first = self._began
        self._told = float("-inf")

    def __call__(self, written: PartialAnswer) -> None:
        """One more piece has come."""
        now = self._clock()
        if written.tokens <= 1:  # also after a retry, when the answer starts again
            self._first, self._told = now, float("-inf")
        if now - self._told < SECONDS_BETWEEN:
            return
        self._told = now
        seconds, waited = round(now - self._began, 3), round(self._first - self._began, 3)
        self._tell(CallProgress(self._call_id, written.so_far(), written.tokens, seconds, waited))
