"""Texts that the model is writing now: how far each is, how fast it comes, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.counts import plural
from agent.events import CallFinished, CallProgress, CallStarted, Event, RunFinished


@dataclass(slots=True)
class Writing:
    """One text under way. ``asked`` is when it was asked for, by the session's clock."""

    asked: float
    progress: CallProgress | None = None

    @property
    def tokens(self) -> int:
        """About how many tokens have come."""
        return self.progress.tokens if self.progress is not None else 0

    @property
    def rate(self) -> float:
        """Tokens a second since the first one came; 0 while that cannot be told."""
        progress = self.progress
        if progress is None or progress.tokens < 2 or progress.seconds <= progress.waited:
            return 0.0
        return (progress.tokens - 1) / (progress.seconds - progress.waited)

    def facts(self, now: float) -> str:
        """Such as ``84 tokens · 15.2 tokens/s · 6s``; no tokens yet: how long it has been waited for."""
        seconds = f"{max(0, int(now - self.asked))}s"
        if not self.tokens:
            return f"no word yet · {seconds}"
        rate = f" · {self.rate:.1f} tokens/s" if self.rate else ""
        return f"{plural(self.tokens, 'token')}{rate} · {seconds}"


class WritingNow:
    """The texts of one run that are being written. They are not part of its state, so a replay has none."""

    def __init__(self) -> None:
        self._open: dict[int, Writing] = {}

    def get(self, call_id: int) -> Writing | None:
        """The text of a call, None when it is not being written."""
        return self._open.get(call_id)

    def hear(self, progress: CallProgress, now: float) -> None:
        """One of them has come further."""
        writing = self._open.setdefault(progress.call_id, Writing(now - progress.seconds))
        writing.progress = progress

    def follow(self, events: Iterable[Event], now: float) -> None:
        """Calls were asked and answered."""
        for event in events:
            if isinstance(event, CallStarted) and not event.binary:
                self._open.setdefault(event.call_id, Writing(now))
            elif isinstance(event, CallFinished):
                self._open.pop(event.call_id, None)
            elif isinstance(event, RunFinished):
                self._open.clear()

    @property
    def tokens(self) -> int:
        """Of all of them together."""
        return sum(writing.tokens for writing in self._open.values())
