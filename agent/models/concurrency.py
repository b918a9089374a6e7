"""How many calls are in flight at one server: a fixed number, or the number with the highest throughput.

A server that batches (vLLM, SGLang, a proxy before several) answers more calls a second the more are in flight, up to a
point that is not known in advance. The limit doubles while that brings a tenth more answers a second, steps back when
it does not, and is halved when the server refuses (429, 503) or answers too late.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

FIRST, MOST = 4, 256
"""The limit that a search for the best one begins with, and the largest that it tries."""

WORTH = 1.1
"""Answers a second at twice the limit, against those before, that make it worth it."""

SHORTEST = 8
"""Answers that a measurement rests on at least; twice the limit where that is more."""

HELD = 30
"""Measurements for which a limit stays as it is before a larger one is tried again."""


class Flight:
    """Slots at one server. ``async with flight.slot():`` around a call.

    A ``patient`` caller gets a slot only while no other waits for one.

    Args:
        fixed: the number of slots; None to find the best one.
        clock: seconds, for the measurements.
    """

    def __init__(self, fixed: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.fixed = fixed
        self.limit = fixed or FIRST
        self.under_way = 0
        self.rates: dict[int, float] = {}
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()
        self._answers = 0
        self._since: float | None = None
        self._held = 0
        self._pardon = 0

    @asynccontextmanager
    async def slot(self, *, patient: bool = False) -> AsyncIterator[None]:
        """Waits for a free slot, in order of arrival, and holds it."""
        await self._enter(self._patient if patient else self._waiting)
        try:
            yield
        finally:
            self._leave()

    def answered(self) -> None:
        """The server answered a call: what the search for the best limit measures."""
        if self.fixed is not None:
            return
        self._pardon = max(0, self._pardon - 1)
        if self._since is None:
            return
        self._answers += 1
        if self._answers >= max(SHORTEST, 2 * self.limit):
            seconds = self._clock() - self._since
            self._measured(self._answers / seconds if seconds > 0 else 0.0)
            self._restart()

    def refused(self) -> None:
        """The server refused a call or answered too late. One burst of refusals halves the limit once."""
        if self.fixed is not None or self._pardon:
            return
        self._pardon = self.under_way
        self.limit = max(1, self.limit // 2)
        self.rates = {limit: rate for limit, rate in self.rates.items() if limit <= self.limit}
        self._held = HELD
        self._restart()

    def _measured(self, rate: float) -> None:
        self.rates[self.limit] = rate
        if self._held:
            self._held -= 1
            return
        before = self.rates.get(self.limit // 2, 0.0)
        if rate < WORTH * before:
            self.limit = max(1, self.limit // 2)
            self._held = HELD
        elif self.limit < MOST:
            self.limit = min(MOST, self.limit * 2)
        self._wake()

    def _restart(self) -> None:
        """Begins a measurement, if every slot is in use; else it would say what was asked, not what the server can do."""
        self._answers = 0
        self._since = self._clock() if self.under_way >= self.limit else None

    async def _enter(self, queue: deque[asyncio.Future[None]]) -> None:
        if self.under_way >= self.limit or self._waiting or queue:
            turn = asyncio.get_running_loop().create_future()
            queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._leave()  # the slot was handed over in the same moment
                elif turn in queue:  # else it was passed over already, as one that has been given up
                    queue.remove(turn)
                raise
        else:
            self.under_way += 1
        if self._since is None and self.under_way >= self.limit:
            self._restart()

    def _leave(self) -> None:
        self.under_way -= 1
        self._wake()
        if self.under_way < self.limit:
            self._since = None  # a free slot: the limit is not reached, so the rate says nothing about it

    def _wake(self) -> None:
        while (queue := self._waiting or self._patient) and self.under_way < self.limit:
            turn = queue.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
