"""Every event the engine emits.

Events are facts in the past tense. They are appended to the audit log before anybody sees them, and everything that is
shown (panes, ``--json``, replay, resume) is a fold over them (``agent/state.py``). Fields hold plain values only, so that an
event survives JSON. ``ms`` is milliseconds, ``seconds`` seconds, ``tokens`` model tokens.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.values import (
    CheckResult,
    DetailLevel,
    Diagnostic,
    ErrorCategory,
    FailureSignal,
    PlanStep,
    Rung,
    RunStatus,
    VerdictSource,
)


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type", omit_defaults=True):
    """Base of all events; ``type`` in JSON is the class name."""


# --- the run ---------------------------------------------------------------------------------------------------------


class RunStarted(Event, frozen=True):
    task: str
    repo: str
    branch: str = ""
    base_commit: str = ""
    worktree: str = ""
    model: str = ""
    resumed_from: str = ""


class RunFinished(Event, frozen=True):
    """The last event of a run. ``functions`` counts functions written and compiled, ``stubs_left`` those still stubs."""

    status: RunStatus
    reason: str = ""
    calls: int = 0
    cached_calls: int = 0
    seconds: float = 0.0
    functions: int = 0
    functions_failed: int = 0
    stubs_left: int = 0
    includes_added: int = 0
    tests_before: CheckResult | None = None
    tests_after: CheckResult | None = None
    branch: str = ""
    applied: bool = False


class StageStarted(Event, frozen=True):
    """A stage began. ``total`` is the number of items it will look at, None when it cannot be known."""

    stage: str
    total: int | None = None
    title: str = ""


class StageFinished(Event, frozen=True):
    stage: str
    ms: float = 0.0
    counts: dict[str, int] = {}
    note: str = ""


class Notice(Event, frozen=True):
    """Something the person should read. ``text`` is a whole sentence: what happened, where, what to do."""

    level: Literal["info", "warning", "error"]
    text: str
    stage: str = ""


class ModelStatus(Event, frozen=True):
    """What the model server is doing: loading, ready, out of reach, or busy with the calls of another program."""

    status: Literal["loading", "ready", "unreachable", "waiting"]
    model: str = ""
    text: str = ""


# --- calls -----------------------------------------------------------------------------------------------------------


class CallStarted(Event, frozen=True, gc=False):
    call_id: int
    stage: str
    item: str
    model: str = ""
    binary: bool = True
    attempt: int = 1


class CallFinished(Event, frozen=True, gc=False):
    """A call was answered and, if binary, its verdict is about to be used.

    ``p_yes`` is the model's probability of yes, ``score`` what was compared with ``threshold``. ``explanation`` is the
    sentence of the card: how the verdict came about.
    """

    call_id: int
    stage: str
    item: str
    verdict: bool | None = None
    p_yes: float | None = None
    score: float | None = None
    threshold: float | None = None
    source: VerdictSource | None = None
    defaulted: bool = False
    cached: bool = False
    overridden: bool = False
    model: str = ""
    provider: str = ""
    ms: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    explanation: str = ""
    error: str = ""
    attempt: int = 1


class CallProgress(msgspec.Struct, frozen=True):
    """How far the answer of a call has come while it is written. No event: it is told to onlookers only, never logged and
    never folded, and the answer that counts is the one in the log. ``text`` is the raw text so far, ``tokens`` about how
    many that is, ``seconds`` since it was asked, ``waited`` how many of those passed before the first of it came."""

    call_id: int
    text: str
    tokens: int
    seconds: float
    waited: float = 0.0


# --- retrieval -------------------------------------------------------------------------------------------------------


class IndexRefreshed(Event, frozen=True):
    files: int
    symbols: int
    changed: int = 0
    skipped: int = 0
    ms: float = 0.0
    languages: dict[str, int] = {}


class TaskAnalysed(Event, frozen=True):
    intent: str = ""
    kind: str = ""
    keywords: tuple[str, ...] = ()
    mentioned_files: tuple[str, ...] = ()
    mentioned_symbols: tuple[str, ...] = ()


class StagesRouted(Event, frozen=True):
    selected: tuple[str, ...]
    available: tuple[str, ...] = ()
    how: str = ""


class FileScoped(Event, frozen=True):
    """A file is in or out of scope. ``tier`` 0 to 4 as in design section 8."""

    path: str
    tier: int
    reason: str
    included: bool
    judged: bool = True


class FilesGrouped(Event, frozen=True):
    groups: tuple[tuple[str, ...], ...]


class CascadePass(Event, frozen=True):
    """One pass of the precision cascade is through (seed 002). ``symbols`` are those that got a yes."""

    pass_no: int
    asked: int
    yes: int
    no: int
    yes_symbols: tuple[str, ...] = ()
    no_symbols: tuple[str, ...] = ()


class SymbolClassified(Event, frozen=True):
    """A symbol's final class. In the call stream its item is ``path:symbol``."""

    symbol: str
    detail_level: DetailLevel
    path: str
    kind: str = ""
    reason: str = ""


class ContextAssembled(Event, frozen=True):
    """The context is put together. ``dropped`` names what did not fit, in the order it went."""

    tokens: int
    budget: int
    files: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    refiltered: bool = False


# --- plan ------------------------------------------------------------------------------------------------------------


class PlanMade(Event, frozen=True):
    steps: tuple[PlanStep, ...]
    how: str = ""
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class StepStarted(Event, frozen=True):
    step_id: str
    description: str = ""


class StepFinished(Event, frozen=True):
    step_id: str
    ok: bool
    detail: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    rolled_back: bool = False


class FailureSignals(Event, frozen=True):
    signals: tuple[FailureSignal, ...]
    step_id: str = ""


class AdjustmentStarted(Event, frozen=True):
    """An adjustment round begins; ``expected_calls`` is the upper bound of the formula of seed 001 section 12."""

    round_no: int
    failures: tuple[str, ...]
    remaining: tuple[str, ...]
    executed: tuple[str, ...] = ()
    expected_calls: int = 0


class ViabilityVerdict(Event, frozen=True):
    step_id: str
    viable: bool
    defaulted: bool = False
    call_id: int | None = None


class RootCauseVerdict(Event, frozen=True):
    failure: int
    step_id: str
    caused: bool
    defaulted: bool = False
    call_id: int | None = None


class NewStepVerdict(Event, frozen=True):
    failure: int
    needed: bool
    defaulted: bool = False
    call_id: int | None = None


class PlanAdjusted(Event, frozen=True):
    before: tuple[PlanStep, ...]
    after: tuple[PlanStep, ...]
    rationale: str = ""
    changes: tuple[str, ...] = ()
    calls: int = 0
    how: str = ""


# --- doing -----------------------------------------------------------------------------------------------------------


class FunctionStarted(Event, frozen=True):
    symbol: str
    path: str
    attempt: int = 1
    max_attempts: int = 1


class FunctionImplemented(Event, frozen=True):
    symbol: str
    path: str
    attempts: int = 1
    lines: int = 0


class FunctionFailed(Event, frozen=True):
    symbol: str
    path: str
    reason: str
    attempts: int = 1


class CompileStarted(Event, frozen=True):
    file: str
    command: str = ""
    link: bool = False
    symbol: str = ""


class CompileFinished(Event, frozen=True):
    file: str
    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    ms: float = 0.0
    link: bool = False
    symbol: str = ""


class ErrorClassified(Event, frozen=True):
    """Why a compile failed. ``path`` is the ladder of rungs from the first to the one that decided."""

    file: str
    category: ErrorCategory
    how: str
    path: tuple[Rung, ...] = ()
    header: str = ""
    headers: tuple[str, ...] = ()
    context: str = ""
    symbol: str = ""


class IncludeAdded(Event, frozen=True):
    """An include line was put in. ``kept`` is False once a recompile showed that it did not help."""

    file: str
    header: str
    line: int
    text: str = ""
    how: str = "deterministic"
    kept: bool = True
    symbol: str = ""


class RecoveryDone(Event, frozen=True):
    """What was done about a classified error and whether an attempt was spent on it."""

    file: str
    category: ErrorCategory
    action: str
    ok: bool
    attempt_consumed: bool
    symbol: str = ""


class EditApplied(Event, frozen=True):
    path: str
    kind: str
    symbol: str = ""
    added: int = 0
    removed: int = 0


class EditRejected(Event, frozen=True):
    path: str
    reason: str
    nearest: str = ""


# --- checks, diff, gate ----------------------------------------------------------------------------------------------


class ChecksStarted(Event, frozen=True):
    command: str
    baseline: bool = False
    step_id: str = ""


class ChecksRun(Event, frozen=True):
    """Checks were run. The first of a run is the baseline (``now`` is None)."""

    baseline: CheckResult
    now: CheckResult | None = None
    newly_passing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
    step_id: str = ""


class DiffReady(Event, frozen=True):
    diff: str
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    branch: str = ""


class DiffResolved(Event, frozen=True):
    """What became of the diff: applied to the person's tree, kept on its branch, or discarded."""

    choice: Literal["applied", "kept", "discarded"]
    detail: str = ""


class GateWaiting(Event, frozen=True):
    kind: Literal["verdict", "stage"]
    stage: str = ""
    item: str = ""
    call_id: int | None = None
    verdict: bool | None = None
    reason: str = ""


class GateResolved(Event, frozen=True):
    kind: Literal["verdict", "stage"]
    action: str
    stage: str = ""
    item: str = ""
    call_id: int | None = None
    verdict: bool | None = None


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
