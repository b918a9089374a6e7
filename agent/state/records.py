"""The parts of a run's state: one record for each thing that is shown.

A record holds its events unchanged, and beside them only what follows from several events. The panes put both into words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from agent import events as ev
from agent.values import PlanStep

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
        """Whether no fault of it is known."""
        return self.kind in ("compiles", "applied", "tests_pass")


class ShownCall(msgspec.Struct, gc=False):
    """One row of the call stream. Plain values only, so that the garbage collector need not visit a hundred thousand of
    them."""

    asked: ev.CallStarted
    answer: ev.CallFinished
    """Empty until the call is :attr:`done`."""
    done: bool = False
    broken_off: bool = False
    """The run ended before it was answered."""
    outcome: TextOutcome | None = None
    """What became of a text. None for a verdict, and while nothing is known."""

    @property
    def call_id(self) -> int:
        """Its row in the log."""
        return self.asked.call_id

    @property
    def stage(self) -> str:
        """What kind of call it is."""
        return self.asked.stage

    @property
    def item(self) -> str:
        """What it is about."""
        return self.asked.item

    @property
    def binary(self) -> bool:
        """Whether it asks for a yes or no."""
        return self.asked.binary

    @property
    def model(self) -> str:
        """The model that answered; before the answer, the model that is asked."""
        return self.answer.model or self.asked.model

    @property
    def verdict(self) -> bool | None:
        """The yes or no that is used; None for a text, and before there is one."""
        return self.answer.verdict


@dataclass(slots=True)
class ShownStage:
    """A phase on the left. ``asked``/``yes`` count its calls so far."""

    started: ev.StageStarted
    finished: ev.StageFinished | None = None
    asked: int = 0
    yes: int = 0

    @property
    def name(self) -> str:
        """Its name in the log."""
        return self.started.stage

    @property
    def title(self) -> str:
        """Its name for a person."""
        return self.started.title or self.name.replace("_", " ")

    @property
    def total(self) -> int | None:
        """The items that it looks at; None when it cannot be known."""
        return self.started.total

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self.finished is not None


@dataclass(slots=True)
class StepState:
    """A plan step and its status."""

    step: PlanStep
    status: Literal["pending", "running", "done", "failed", "dropped"] = "pending"
    finished: ev.StepFinished | None = None


class SymbolState(msgspec.Struct):
    """A symbol's way through the cascade: the call that decided each pass it was asked in, then its class."""

    symbol: str
    calls: dict[int, ev.CallFinished] = msgspec.field(default_factory=dict)
    """By the number of the pass."""
    classified: ev.SymbolClassified | None = None


CompileEvent = ev.CompileFinished | ev.ErrorClassified | ev.IncludeAdded | ev.RecoveryDone
"""The events that the Compile pane shows."""


@dataclass(slots=True)
class CompileIncident:
    """One failed compile and all that followed until it was settled: classification, fixes, compiles that prove them."""

    failed: ev.CompileFinished
    classified: list[ev.ErrorClassified] = field(default_factory=list)
    includes: list[ev.IncludeAdded] = field(default_factory=list)
    proofs: list[ev.CompileFinished] = field(default_factory=list)
    """The compiles after a fix was tried, in order."""
    recovery: ev.RecoveryDone | None = None

    @property
    def settled(self) -> bool | None:
        """Whether it compiles now; None while that is not known."""
        if self.recovery is not None:
            return self.recovery.ok
        return True if self.proofs and self.proofs[-1].ok else None


def errors_of(compiled: ev.CompileFinished) -> int:
    """The errors of a compile; all messages where none is an error."""
    serious = sum(one.severity in ("error", "fatal") for one in compiled.diagnostics)
    return serious or len(compiled.diagnostics)


@dataclass(slots=True)
class Adjustment:
    """One adjustment round: its verdicts so far, and its result."""

    started: ev.AdjustmentStarted
    viability: dict[str, bool] = field(default_factory=dict)
    root_causes: dict[tuple[int, str], bool] = field(default_factory=dict)
    new_steps: dict[int, bool] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    """By step, the call to show for it: that on its viability, else one that says that it caused a failure."""
    adjusted: ev.PlanAdjusted | None = None


@dataclass(slots=True)
class FunctionState:
    """A function being written."""

    started: ev.FunctionStarted
    ended: ev.FunctionImplemented | ev.FunctionFailed | None = None
    candidates: list[ev.FunctionCandidate] = field(default_factory=list)
    chosen: ev.CandidateChosen | None = None
    contract: ev.ContractChecked | None = None

    @property
    def status(self) -> Literal["writing", "done", "failed"]:
        """Whether it is still being written."""
        if self.ended is None:
            return "writing"
        return "done" if isinstance(self.ended, ev.FunctionImplemented) else "failed"

    @property
    def attempt(self) -> int:
        """The current attempt, or the last one; from 1."""
        return self.started.attempt if self.ended is None else self.ended.attempts


class CandidateState(msgspec.Struct):
    """A candidate that passes all checks, and the model's answer about it."""

    passed: ev.CandidatePassed
    like: int | None = None
    """The number of an edit that does the same with other inputs; None for the first of its kind."""
    judged: ev.CandidateJudged | None = None


class SuspectState(msgspec.Struct):
    """A function that may hold the fault, and the model's answer about it."""

    suspect: ev.SuspectFunction
    judged: ev.SuspectJudged | None = None


@dataclass(slots=True)
class RepairState:
    """The search for an edit so far."""

    started: ev.RepairStarted
    counts: ev.CandidatesTried
    """The newest."""
    suspects: list[SuspectState] = field(default_factory=list)
    candidates: list[CandidateState] = field(default_factory=list)
    chosen: ev.RepairChosen | None = None
    finished: ev.RepairFinished | None = None

    @property
    def tried(self) -> int:
        """Candidates tried so far."""
        return self.counts.tried if self.finished is None else self.finished.tried

    @property
    def taken(self) -> CandidateState | None:
        """The candidate that was chosen."""
        number = None if self.chosen is None else self.chosen.number
        return next((one for one in self.candidates if one.passed.number == number), None)

    @property
    def mended(self) -> bool | None:
        """Whether an edit was found; None while it is searched for."""
        return None if self.finished is None else self.finished.mended


Incident = CompileIncident | Adjustment | RepairState | ev.CallFinished
"""What is unusual in a run and stays in view; a call that a person overruled is one."""
