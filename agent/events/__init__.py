"""Every event the engine emits.

Events are facts in the past tense. They are committed to the audit log before a listener gets them, and everything that is
shown (panes, ``--json``, replay, resume) is a fold over them (``agent/state/``). Fields hold plain values only, so that
events can be stored as JSON. ``ms`` is milliseconds, ``seconds`` seconds, ``tokens`` model tokens.
"""

from __future__ import annotations

import msgspec

from agent.events.base import Event
from agent.events.calls import CallFinished, CallProgress, CallStarted
from agent.events.coding import (
    CandidateChosen,
    CompileFinished,
    CompileStarted,
    ContractChecked,
    EditApplied,
    EditRejected,
    ErrorClassified,
    FunctionCandidate,
    FunctionFailed,
    FunctionImplemented,
    FunctionStarted,
    IncludeAdded,
    RecoveryDone,
)
from agent.events.deciding import ChecksRun, ChecksStarted, DiffReady, DiffResolved, GateResolved, GateWaiting
from agent.events.plan import (
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
from agent.events.repair import (
    CandidateJudged,
    CandidatePassed,
    CandidatesCompared,
    CandidatesTried,
    RepairChosen,
    RepairFinished,
    RepairStarted,
    SuspectFunction,
    SuspectJudged,
    SuspectsRanked,
)
from agent.events.retrieval import (
    CascadePass,
    ContextAssembled,
    FileScoped,
    FilesGrouped,
    IndexRefreshed,
    StagesRouted,
    SymbolClassified,
    TaskAnalysed,
)
from agent.events.run import ModelStatus, Notice, RunFinished, RunStarted, StageFinished, StageStarted

__all__ = [
    "AdjustmentStarted", "AnyEvent", "CallFinished", "CallProgress", "CallStarted", "CandidateChosen",
    "CandidateJudged", "CandidatePassed", "CandidatesCompared", "CandidatesTried", "CascadePass", "ChecksRun",
    "ChecksStarted", "CompileFinished", "CompileStarted", "ContextAssembled", "ContractChecked", "DiffReady",
    "DiffResolved", "EditApplied", "EditRejected", "Envelope", "ErrorClassified", "Event", "FailureSignals",
    "FileScoped", "FilesGrouped", "FunctionCandidate", "FunctionFailed", "FunctionImplemented", "FunctionStarted",
    "GateResolved", "GateWaiting", "IncludeAdded", "IndexRefreshed", "ModelStatus", "NewStepVerdict", "Notice",
    "PlanAdjusted", "PlanMade", "RecoveryDone", "RepairChosen", "RepairFinished", "RepairStarted", "RootCauseVerdict",
    "RunFinished", "RunStarted", "StageFinished", "StageStarted", "StagesRouted", "StepFinished", "StepStarted",
    "SuspectFunction", "SuspectJudged", "SuspectsRanked", "SymbolClassified", "TaskAnalysed", "ViabilityVerdict",
    "decode_event", "encode_event",
]  # fmt: skip

AnyEvent = (
    RunStarted | RunFinished | StageStarted | StageFinished | Notice | ModelStatus | CallStarted | CallFinished
    | IndexRefreshed | TaskAnalysed | StagesRouted | FileScoped | FilesGrouped | CascadePass | SymbolClassified
    | ContextAssembled | PlanMade | StepStarted | StepFinished | FailureSignals | AdjustmentStarted | ViabilityVerdict
    | RootCauseVerdict | NewStepVerdict | PlanAdjusted | FunctionStarted | FunctionImplemented | FunctionFailed
    | FunctionCandidate | CandidateChosen | ContractChecked
    | CompileStarted | CompileFinished | ErrorClassified | IncludeAdded | RecoveryDone | EditApplied | EditRejected
    | RepairStarted | SuspectsRanked | SuspectJudged | CandidatesTried | CandidatePassed | CandidatesCompared
    | CandidateJudged | RepairChosen | RepairFinished | ChecksStarted | ChecksRun | DiffReady | DiffResolved
    | GateWaiting | GateResolved
)  # fmt: skip


class Envelope(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An event with its place in the run: ``seq`` from 1, ``t`` seconds since the run's start (monotonic clock)."""

    run_id: str
    seq: int
    t: float
    event: AnyEvent


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_event(event: Event) -> bytes:
    """JSON bytes of one event, one line, tag included."""
    return _encoder.encode(event)


def decode_event(data: bytes | str) -> AnyEvent:
    """The event in JSON that :func:`encode_event` wrote, in this version or an earlier one with other words for an overrule.

    Raises:
        msgspec.ValidationError: if it is not a known event.
    """
    event = _decoder.decode(data)
    if type(event) is CallFinished and event.source == "override":
        return msgspec.structs.replace(event, source="overrule", overruled=True)
    if type(event) is GateResolved and event.action == "flip":
        return msgspec.structs.replace(event, action="overrule")
    return event
