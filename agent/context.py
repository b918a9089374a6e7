"""What every phase of one run shares: configuration, log, gate, models. Handed down, never global."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent.audit.log import AuditLog, Listener, Mark
from agent.config.schema import Config
from agent.events import (
    CallFinished,
    CallProgress,
    CallStarted,
    Envelope,
    Event,
    Notice,
    StageFinished,
    StageStarted,
)
from agent.gate import Gate
from agent.judgment.asking import StageLlm
from agent.judgment.host import Examples, Router
from agent.judgment.live import LiveText, Onlooker
from agent.models.types import ProgressCallback
from agent.state.includes import StandingIncludes
from agent.verdict.threshold import Thresholds


def _no_examples(stage: str, system: str) -> str:
    return ""


@dataclass
class StageReport:
    """What a stage says at its end: ``counts`` by name, and a sentence where one is due."""

    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""


class RunContext:
    """One run. ``emit`` logs an event, then tells the listeners; ``llm(stage)`` asks a stage's model. ``onlookers`` are
    told what a text has come to while it is written. ``mark`` is where a resumed run had come to."""

    def __init__(
        self,
        *,
        run_id: str,
        config: Config,
        log: AuditLog,
        router: Router,
        gate: Gate | None = None,
        thresholds: Thresholds | None = None,
        clock: Callable[[], float] = time.monotonic,
        mark: Mark = Mark(),  # noqa: B008 - immutable
        examples: Examples | None = None,
    ) -> None:
        self.run_id = run_id
        self.config = config
        self.log = log
        self.router = router
        self.gate = gate or Gate()
        self.gate.report_to(self.emit)
        self.thresholds = thresholds or Thresholds([])
        self.examples: Examples = examples or _no_examples
        self.clock = clock
        self.started = clock() - mark.seconds
        self.listeners: list[Listener] = []
        self.onlookers: list[Onlooker] = []
        self.calls = mark.calls
        self.cached_calls = mark.cached_calls
        self.includes = StandingIncludes()
        self._seq = mark.seq
        self._call_seq = mark.call_seq

    def emit(self, event: Event) -> None:
        """Append to the log; listeners hear of it after the commit."""
        self._seq += 1
        self._count(event)
        envelope = Envelope(self.run_id, self._seq, round(self.seconds(), 4), event)  # type: ignore[arg-type]
        self.log.append(envelope, tuple(self.listeners))

    def count_earlier(self, *, includes: StandingIncludes) -> None:
        """Go on counting where a run was broken off, with the ``includes`` that stand."""
        self.includes = includes

    def live(self, call_id: int) -> ProgressCallback:
        """What hears a call's answer while it is written. Texts are streamed when nobody watches, too: a server that writes
        is told from one that is silent, and the requests do not depend on who looks on."""
        return LiveText(call_id, self._show, self.clock)

    def _show(self, progress: CallProgress) -> None:
        for onlooker in self.onlookers:
            try:
                onlooker(progress)
            except Exception as error:  # what fails at looking on must not fail the call
                context = {"message": "An onlooker failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    def notice(self, level: str, text: str, stage: str = "") -> None:
        """A sentence for the person; ``level`` is info, warning or error."""
        self.emit(Notice(level, text, stage))  # type: ignore[arg-type]

    def seconds(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.started

    def next_call(self) -> int:
        """The next call's number in this run, from 1."""
        self._call_seq += 1
        return self._call_seq

    @asynccontextmanager
    async def stage(self, name: str, total: int | None = None, title: str = "") -> AsyncIterator[StageReport]:
        """A stage from its start to its edge, where the gate may wait. A stage that raises is not reported as finished.

        Raises:
            Stopped: at the edge, if the person stopped the run.
        """
        self.emit(StageStarted(name, total, title))
        begun, report, before = self.clock(), StageReport(), self.calls + self.cached_calls
        yield report
        self.emit(StageFinished(name, round((self.clock() - begun) * 1000, 1), report.counts, report.note))
        await self.gate.stage_edge(name, decided=name == "plan" or self.calls + self.cached_calls > before)

    def llm(self, stage: str, failed: int = 0) -> StageLlm:
        """The stage's model, ready to be asked; after so many ``failed`` versions the one that is escalated to, if any."""
        return StageLlm(self, stage, self.router.escalated(stage, failed))

    def _count(self, event: Event) -> None:
        if isinstance(event, CallStarted):  # asked is asked, also when a run is stopped before the answer
            self.calls += 1
        elif isinstance(event, CallFinished) and event.cached and not event.revised:
            self.calls -= 1
            self.cached_calls += 1
        self.includes.hear(event)
