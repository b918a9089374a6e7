"""The plan, its steps, and how it was changed after a failure."""

from __future__ import annotations

from agent.events.base import Event
from agent.values import FailureCategory, FailureSignal, PlanStep


class PlanMade(Event, frozen=True):
    """The plan, or the plan that grew. ``how`` says what made it, ``parts`` are its parts in words, ``notes`` sentences."""

    steps: tuple[PlanStep, ...]
    how: str = ""
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class StepStarted(Event, frozen=True):
    """A step is about to be carried out."""

    step_id: str
    description: str = ""


class StepFinished(Event, frozen=True):
    """A step is done or failed. ``commit`` holds its change; ``files`` are the changed paths."""

    step_id: str
    ok: bool
    detail: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    rolled_back: bool = False


class FailureSignals(Event, frozen=True):
    """The failures that were read from the output of a step, or of the checks."""

    signals: tuple[FailureSignal, ...]
    step_id: str = ""


class AdjustmentStarted(Event, frozen=True):
    """An adjustment round begins; ``expected_calls`` is the most it can make. ``categories`` are those of the failures; an
    older log has each in brackets before its text instead."""

    round_no: int
    failures: tuple[str, ...]
    remaining: tuple[str, ...]
    executed: tuple[str, ...] = ()
    expected_calls: int = 0
    categories: tuple[FailureCategory, ...] = ()


class ViabilityVerdict(Event, frozen=True):
    """Whether a remaining step stays in the plan."""

    step_id: str
    viable: bool
    defaulted: bool = False
    call_id: int | None = None


class RootCauseVerdict(Event, frozen=True):
    """Whether a step caused a failure; ``failure`` is its place in the adjustment's list, from 0."""

    failure: int
    step_id: str
    caused: bool
    defaulted: bool = False
    call_id: int | None = None


class NewStepVerdict(Event, frozen=True):
    """Whether a failure needs a new step; ``failure`` is its place in the adjustment's list, from 0."""

    failure: int
    needed: bool
    defaulted: bool = False
    call_id: int | None = None


class PlanAdjusted(Event, frozen=True):
    """The remaining steps before and after an adjustment. ``calls`` counts the model calls it took."""

    before: tuple[PlanStep, ...]
    after: tuple[PlanStep, ...]
    rationale: str = ""
    changes: tuple[str, ...] = ()
    calls: int = 0
    how: str = ""
    rework: tuple[str, ...] = ()
    """Executed steps that are done again, by id."""
