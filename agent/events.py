"""Every event the engine emits.

Events are facts in the past tense. They are appended to the audit log before anybody sees them, and everything that is
shown (panes, ``--json``, replay, resume) is a fold over them (``agent/state.py``). Fields hold plain values only, so that an
event survives JSON. ``ms`` is milliseconds, ``seconds`` seconds, ``tokens`` model tokens.
"""

from __future__ import annotations

import msgspec

from agent.event_kinds.base import Event
from agent.event_kinds.calls import CallFinished, CallStarted
from agent.event_kinds.calls import CallProgress as CallProgress
from agent.event_kinds.coding import (
    CompileFinished,
    CompileStarted,
    EditApplied,
    EditRejected,
    ErrorClassified,
    FunctionFailed,
    FunctionImplemented,
    FunctionStarted,
    IncludeAdded,
    RecoveryDone,
)
from agent.event_kinds.deciding import ChecksRun, ChecksStarted, DiffReady, DiffResolved, GateResolved, GateWaiting
from agent.event_kinds.plan import (
    AdjustmentStarted,
    FailureSignals,
    NewStepVerdict,
    PlanAdjusted,
    PlanMade,
    RootCauseVerdict,
    StepFinished,
    StepStarted,
    ViabilityVerdict,
)
from agent.event_kinds.retrieval import (
    CascadePass,
    ContextAssembled,
    FileScoped,
    FilesGrouped,
    IndexRefreshed,
    StagesRouted,
    SymbolClassified,
    TaskAnalysed,
)
from agent.event_kinds.run import ModelStatus, Notice, RunFinished, RunStarted, StageFinished, StageStarted

AnyEvent = (
    RunStarted | RunFinished | StageStarted | StageFinished | Notice | ModelStatus | CallStarted | CallFinished
    | IndexRefreshed | TaskAnalysed | StagesRouted | FileScoped | FilesGrouped | CascadePass | SymbolClassified
    | ContextAssembled | PlanMade | StepStarted | StepFinished | FailureSignals | AdjustmentStarted | ViabilityVerdict
    | RootCauseVerdict | NewStepVerdict | PlanAdjusted | FunctionStarted | FunctionImplemented | FunctionFailed
    | CompileStarted | CompileFinished | ErrorClassified | IncludeAdded | RecoveryDone | EditApplied | EditRejected
    | ChecksStarted | ChecksRun | DiffReady | DiffResolved | GateWaiting | GateResolved
)  # fmt: skip


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An event with its place in the run: ``seq`` from 1, ``t`` seconds since the run's start (monotonic clock)."""

    run_id: str
    seq: int
    t: float
    event: AnyEvent


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def encode_event(event: Event) -> bytes:
    """JSON bytes of one event, one line, tag included."""
    return _encoder.encode(event)


def decode_event(data: bytes | str) -> AnyEvent:
    """The event of JSON written by :func:`encode_event`.

    Raises:
        msgspec.ValidationError: if it is no known event.
    """
    return _decoder.decode(data)
