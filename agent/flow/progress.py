"""How far a run had come that was stopped or killed, read from its log: the plan, what was done, and where its branch was.

A resumed run does not plan again. Its branch goes back to the last commit that an event vouches for: a step that was under
way is done again as a whole, as if the run had never been broken off. A run that had come to its own end, with functions
that failed or checks that fail, has its rounds again: what is there stays, and what came to nothing is tried once more, with
the models that are set now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from agent.audit.history import events_of
from agent.audit.reader import LogReader
from agent.context import RunContext
from agent.events import (
    Event,
    PlanAdjusted,
    PlanMade,
    RepairFinished,
    RunFinished,
    StageFinished,
    StageStarted,
    StepFinished,
    StepStarted,
)
from agent.flow.outcome import RunOutcome
from agent.planning.interface_tests import KIND as TESTS
from agent.planning.schema import HowPlanned
from agent.state.includes import StandingIncludes
from agent.values import PlanStep

_ROUNDS = ("repair", "adjustment")
_AFTER_THE_PLAN = ("link", "repair", "documentation", "interface_tests", "checks")


@dataclass
class FoundEdit:
    """The edit that the search found, as a step of its own, and how that ended (None: not known)."""

    step: PlanStep
    end: StepFinished | None = None


@dataclass
class EarlierProgress:
    """What a run had come to. ``executed`` are ids in order; ``results`` the last end of each step; ``commit`` is the last
    one that is vouched for ("": none yet). ``searched``: no edit was found when one was looked for; ``mended`` is the one
    that was found and committed."""

    planned: tuple[PlanStep, ...] = ()
    how: HowPlanned = "facts"
    dropped: set[str] = field(default_factory=set)
    executed: list[str] = field(default_factory=list)
    results: dict[str, StepFinished] = field(default_factory=dict)
    again: tuple[str, ...] = ()
    commit: str = ""
    rounds: int = 0
    includes: StandingIncludes = field(default_factory=StandingIncludes)
    searched: bool = False
    mended: FoundEdit | None = None

    @property
    def left(self) -> tuple[PlanStep, ...]:
        """The steps still to be done, those to be done again first."""
        open_ = [step for step in self.planned if step.id not in self.results and step.id not in self.dropped]
        return (*(step for step in self.planned if step.id in self.again), *open_)

    @property
    def scaffolds(self) -> tuple[str, ...]:
        """The commits at which stubs were laid."""
        kinds = {step.id: step.kind for step in self.planned}
        return tuple(one.commit for one in self.results.values() if one.commit and kinds.get(one.step_id) == "scaffold")

    def restore(self, outcome: RunOutcome) -> list[PlanStep]:
        """Fill ``outcome`` as it was. Returns the executed steps."""
        by_id = {step.id: step for step in self.planned}
        outcome.planned, outcome.dropped = self.planned, set(self.dropped)
        for name in self.executed:
            step, end = by_id.get(name), self.results.get(name)
            if step is None or end is None:
                continue
            if step.kind == TESTS and not end.ok:
                outcome.tests_not_kept[name] = end.detail
            else:
                outcome.note(step, ok=end.ok, why=end.detail)
        known = [by_id[name] for name in self.executed if name in by_id and name in self.results]
        return [step for step in known if step.kind != TESTS or self.results[step.id].ok]


def progress_of(ctx: RunContext) -> EarlierProgress | None:
    """What the log says of the run; None when it had neither a plan nor an edit. Blocking."""
    reader = LogReader(ctx.log.path)
    try:
        return read_progress(one.event for one in events_of(reader, ctx.run_id))
    finally:
        reader.close()


def read_progress(events: Iterable[Event]) -> EarlierProgress | None:
    """The progress that a run's events tell of; None when it had neither a plan nor an edit."""
    found, failed, planned_done = EarlierProgress(), "", False
    outcome = RunOutcome()
    edit: FoundEdit | None = None
    for event in events:
        found.includes.hear(event)
        match event:
            case PlanMade() if event.how == "search":
                edit = FoundEdit(event.steps[-1])
            case StepStarted() if edit is not None and event.step_id == edit.step.id:
                pass
            case StepFinished() if edit is not None and event.step_id == edit.step.id:
                found.searched = not event.ok
                found.mended = FoundEdit(edit.step, event) if event.ok else None
                found.commit = event.commit or found.commit
            case RepairFinished() if not event.mended:
                found.searched = True
            case PlanMade():
                if not outcome.planned:
                    found.how = msgspec.convert(event.how or "facts", HowPlanned)
                outcome.planned = event.steps
                failed = ""
            case PlanAdjusted():
                outcome.replan(event.before, event.after)
                found.again, failed = event.rework, ""
            case StepStarted():
                failed = ""
            case StepFinished():
                _ended(found, event)
                failed = "" if event.ok or planned_done else event.step_id
            case StageFinished() if event.stage in _ROUNDS:
                found.rounds, failed = found.rounds + 1, ""
            case StageStarted() if event.stage in _AFTER_THE_PLAN:
                failed, planned_done = "", True
            case RunFinished() if event.status != "stopped":
                found.rounds = 0
    if not outcome.planned and found.mended is None:
        return None
    found.includes.break_off()
    found.planned, found.dropped = outcome.planned, outcome.dropped
    if failed:  # whether the plan was to be adjusted after it is not known: it fails once more
        found.results.pop(failed, None)
        found.executed = [name for name in found.executed if name != failed]
    return found


def _ended(found: EarlierProgress, event: StepFinished) -> None:
    known = found.results.get(event.step_id)
    if event.ok or known is None or not known.ok:  # a step that was done stays done when a repair of it fails
        found.results[event.step_id] = event
    found.again = tuple(name for name in found.again if name != event.step_id)
    if event.step_id not in found.executed:
        found.executed.append(event.step_id)
    found.commit = event.commit or found.commit
