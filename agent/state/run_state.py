"""What is shown of a run: a pure fold over its events. No I/O; the same code serves a live, a replayed and a resumed run."""

from __future__ import annotations

from dataclasses import dataclass

from agent import events as ev
from agent.state.fold import HANDLERS
from agent.state.parts import Activity, Adjustment, Call, CompileEntry, FunctionState, Stage, StepState, SymbolState
from agent.state.shown import Shown

__all__ = [
    "Activity",
    "Adjustment",
    "Call",
    "CompileEntry",
    "FunctionState",
    "RunState",
    "Stage",
    "StepState",
    "SymbolState",
]


@dataclass(slots=True)
class RunState(Shown):
    """Everything the panes read. Feed it with :meth:`apply`; two equal event sequences give two equal states."""

    def apply(self, envelope: ev.Envelope) -> None:
        """Fold one event in. Unknown kinds only reach the log."""
        self.run_id = envelope.run_id
        self.t = envelope.t
        event = envelope.event
        kind = type(event)
        if kind is not ev.CallFinished and kind is not ev.CallStarted:
            self.log.append((envelope.t, event))
        handler = HANDLERS.get(kind)
        if handler is not None:
            handler(self, event)

    def call(self, call_id: int) -> Call | None:
        """The call with this id."""
        place = self.call_index.get(call_id)
        return None if place is None else self.calls[place]

    @property
    def live(self) -> bool:
        """Whether the run is going on."""
        return bool(self.task) and self.finished is None
