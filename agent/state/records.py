"""What the state of a run is made of: one record for each thing that is shown. Records hold facts; the panes word them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from agent.values import DetailLevel, Diagnostic, PlanStep, Rung

Activity = Literal[
    "idle", "loading model", "waiting for the model server", "indexing", "judging", "planning", "writing", "compiling",
    "testing", "waiting for you", "stopped", "complete", "partial", "failed",
]  # fmt: skip

class TextOutcome(msgspec.Struct, frozen=True, gc=False):
    """What became of a text that a model wrote. ``count`` is the number of errors, or of tests that pass now and did not
    before; ``name`` the first test that fails, or why the text was refused."""

    kind: Literal["refused", "errors", "compiles", "applied", "tests_pass", "tests_fail", "given_up"]
    count: int = 0
    name: str = ""

    @property
    def ok(self) -> bool:
        """Whether it was good as far as it was looked at."""
        return self.kind in ("compiles", "applied", "tests_pass")


class ShownCall(msgspec.Struct, gc=False):
    """One row of the call stream. Plain values only, so that a hundred thousand of them are nothing to the collector."""

    call_id: int
    stage: str
    item: str
    model: str = ""
    binary: bool = True
    attempt: int = 1
    done: bool = False
    verdict: bool | None = None
    p_yes: float | None = None
    score: float | None = None
    threshold: float | None = None
    source: str | None = None
    defaulted: bool = False
    cached: bool = False
    overruled: bool = False
    ms: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    explanation: str = ""
    error: str = ""
    outcome: TextOutcome | None = None
    """Of a text: what was made of it. None for a verdict, and while nothing is known."""


@dataclass(slots=True)
class ShownStage:
    """A phase on the left. ``asked``/``yes`` count its calls so far."""

    name: str
    title: str = ""
    total: int | None = None
    asked: int = 0
    yes: int = 0
    done: bool = False
    ms: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""


@dataclass(slots=True)
class StepState:
    """A plan step and how it fares."""

    step: PlanStep
    status: Literal["pending", "running", "done", "failed", "dropped"] = "pending"
    detail: str = ""
    commit: str = ""


class SymbolState(msgspec.Struct):
    """A symbol's way through the cascade: the verdict of each pass it was asked in, then its class."""

    symbol: str
    path: str = ""
    kind: str = ""
    passes: dict[int, bool] = msgspec.field(default_factory=dict)
    calls: dict[int, int] = msgspec.field(default_factory=dict)
    """The call that decided each pass."""
    detail_level: DetailLevel | None = None
    reason: str = ""


@dataclass(slots=True)
class CompileEntry:
    """One entry of the Compile pane: a compile, a classification, an include or a recovery, in order."""

    kind: Literal["compile", "classified", "include", "recovery"]
    file: str
    symbol: str = ""
    ok: bool | None = None
    link: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    ms: float = 0.0
    category: str = ""
    how: str = ""
    path: tuple[Rung, ...] = ()
    text: str = ""
    line: int = 0
    attempt_consumed: bool | None = None


@dataclass(slots=True)
class CompileIncident:
    """One failed compile and all that followed from it, until it was dealt with: cause, classification, fix, proof, cost."""

    failed: CompileEntry
    classified: list[CompileEntry] = field(default_factory=list)
    includes: list[CompileEntry] = field(default_factory=list)
    proofs: list[CompileEntry] = field(default_factory=list)
    """The compiles after a fix was tried, in order."""
    recovery: CompileEntry | None = None

    @property
    def settled(self) -> bool | None:
        """Whether it compiles now; None while that is not known."""
        if self.recovery is not None:
            return bool(self.recovery.ok)
        return True if self.proofs and self.proofs[-1].ok else None

    def errors(self, entry: CompileEntry) -> int:
        """The errors of one of its compiles; all messages where none is an error."""
        serious = sum(one.severity in ("error", "fatal") for one in entry.diagnostics)
        return serious or len(entry.diagnostics)


@dataclass(slots=True)
class Overruled:
    """A person said the other thing than the model."""

    stage: str
    item: str
    verdict: bool
    call_id: int


@dataclass(slots=True)
class Adjustment:
    """One adjustment round: the matrix of verdicts, filling in, and the plan before and after."""

    round_no: int
    failures: tuple[str, ...]
    remaining: tuple[str, ...]
    executed: tuple[str, ...] = ()
    expected_calls: int = 0
    viability: dict[str, bool] = field(default_factory=dict)
    root_causes: dict[tuple[int, str], bool] = field(default_factory=dict)
    new_steps: dict[int, bool] = field(default_factory=dict)
    before: tuple[PlanStep, ...] = ()
    after: tuple[PlanStep, ...] | None = None
    rationale: str = ""
    changes: tuple[str, ...] = ()
    calls: int = 0


@dataclass(slots=True)
class FunctionState:
    """A function being written."""

    symbol: str
    path: str
    status: Literal["writing", "done", "failed"] = "writing"
    attempt: int = 1
    max_attempts: int = 1
    reason: str = ""


class CandidateState(msgspec.Struct):
    """A candidate that passes all checks, and what was said of it."""

    number: int
    operator: str
    source: str
    path: str
    function: str
    line: int
    diff: str
    rank: float = 0.0
    fits: bool | None = None
    p_yes: float | None = None


class SuspectState(msgspec.Struct):
    """A function that may hold the fault, and what was said of it."""

    function: str
    path: str
    line: int = 0
    score: float = 0.0
    why: str = ""
    suspected: bool | None = None
    p_yes: float | None = None


@dataclass(slots=True)
class RepairState:
    """The search for an edit as it stands. The counts are those of :class:`agent.events.CandidatesTried`."""

    failing: tuple[str, ...] = ()
    passing_checks: int = 0
    budget_s: float = 0.0
    clusters: tuple[tuple[str, ...], ...] = ()
    flaky: tuple[str, ...] = ()
    suspects: list[SuspectState] = field(default_factory=list)
    source: str = ""
    tried: int = 0
    unbuilt: int = 0
    cut: int = 0
    partial: int = 0
    passing: int = 0
    left: int = 0
    seconds_left: float = 0.0
    candidates: list[CandidateState] = field(default_factory=list)
    chosen: int = 0
    why: str = ""
    guess: bool = False
    differing: str = ""
    picked: bool = False
    mended: bool | None = None
    reason: str = ""


Incident = CompileIncident | Adjustment | Overruled | RepairState
"""What is out of the ordinary in a run, and worth being kept in sight."""
