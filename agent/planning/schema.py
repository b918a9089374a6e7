"""The input and output of planning, and the checks that every plan passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from agent.graph import find_cycle, topological_order
from agent.values import FailureSignal, PlanStep, Value

__all__ = [
    "AdjustmentVerdicts", "Edge", "KnownSymbol", "MetaPlan", "MetaPlanPart", "OpenPoint", "Plan",
    "PlanAdjustment", "PlanError", "PlanStep", "StepResult", "check_steps", "inside", "ordered", "repair_ids",
]  # fmt: skip

HowPlanned = Literal["facts", "monolithic", "decomposed", "default"]


class PlanError(ValueError):
    """A plan that cannot be used. ``str()`` says what is wrong with which step."""


# The input of planning.


class OpenPoint(Value, frozen=True):
    """Something declared that is not written yet: a stub or undefined function, or a type without a body.

    ``path`` is the file it belongs in, ``header`` the file that declares it ("" when that is ``path``, or there is none),
    ``why`` the evidence in a few words (``stub``, ``declared, not defined``). ``aliases`` are the other names of a type, as
    signatures may use them (typedefs).
    """

    name: str
    path: str
    header: str = ""
    signature: str = ""
    kind: Literal["function", "type"] = "function"
    why: str = ""
    aliases: tuple[str, ...] = ()


class KnownSymbol(Value, frozen=True):
    """A symbol that retrieval found. ``level`` is its class (:data:`agent.values.DetailLevel`)."""

    name: str
    path: str
    kind: str = ""
    level: str = ""
    signature: str = ""
    doc: str = ""

    @property
    def writable(self) -> bool:
        """Whether it can be the target of a change (a prototype follows its definition)."""
        return self.kind != "prototype"


class Edge(Value, frozen=True):
    """``source`` uses ``target``: two symbols (by name) for a call, two files for an include or import."""

    source: str
    target: str
    kind: Literal["call", "include"] = "call"


# The output of planning.


class Plan(Value, frozen=True):
    """The steps, every dependency before its dependents, and how they were found."""

    steps: tuple[PlanStep, ...]
    how: HowPlanned
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class MetaPlanPart(Value, frozen=True):
    """A piece of the task that can be planned alone."""

    id: str
    description: str
    affected_files: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


class MetaPlan(Value, frozen=True):
    """The task in parts. Ids are unique, dependencies known and acyclic."""

    parts: Annotated[tuple[MetaPlanPart, ...], Meta(min_length=1)]
    task_summary: str = ""
    rationale: str = ""


class StepResult(Value, frozen=True):
    """What became of a step, failed or not.

    ``error_info`` is the failure's text (diagnostics, failing tests, the edit that did not apply), ``raw_response`` the
    model's last reply. ``signals`` are the failures already extracted from it.
    """

    step_id: str
    success: bool
    error_info: str = ""
    raw_response: str = ""
    signals: tuple[FailureSignal, ...] = ()


class AdjustmentVerdicts(Value, frozen=True):
    """All verdicts of one adjustment. Failures are named by their place in ``failure_signals``.

    ``step_viability`` covers the remaining steps, ``root_causes`` (step id to failures) viable remaining and executed ones.
    """

    step_viability: dict[str, bool]
    root_causes: dict[str, tuple[int, ...]]
    new_steps_needed: tuple[int, ...]
    failure_signals: tuple[FailureSignal, ...]

    @property
    def viable(self) -> tuple[str, ...]:
        """Ids of the remaining steps that stay."""
        return tuple(step for step, keep in self.step_viability.items() if keep)


class PlanAdjustment(Value, frozen=True):
    """The remaining steps as revised; an empty tuple means: drop everything.

    ``rework`` names the executed steps that a failure was attributed to, most probable first: their work is to be done again
    with the failure shown. ``failures`` are the failures looked at, as ``[category] message``. ``calls`` counts the model
    calls that were made.
    """

    revised_steps: tuple[PlanStep, ...]
    rationale: str = ""
    changes_made: tuple[str, ...] = ()
    rework: tuple[str, ...] = ()
    verdicts: AdjustmentVerdicts | None = None
    calls: int = 0
    how: str = ""
    failures: tuple[str, ...] = ()

    def failures_of(self, step_id: str) -> tuple[str, ...]:
        """The failures to show when a step is done again: those attributed to it, or all where none was."""
        causes = self.verdicts.root_causes.get(step_id, ()) if self.verdicts else ()
        return tuple(self.failures[number] for number in causes) or self.failures


# The checks.


def inside(path: str) -> bool:
    """Whether a repository-relative path stays inside the repository (by its text alone)."""
    pure = PurePosixPath(path.replace("\\", "/"))
    return bool(path.strip()) and not pure.is_absolute() and ".." not in pure.parts and "\0" not in path


def check_steps(steps: Sequence[PlanStep], *, known: Iterable[str] = ()) -> None:
    """Unique ids, known references, no cycles, files inside the repository.

    ``known`` are ids outside ``steps`` that may be depended on (steps already done).

    Raises:
        PlanError: naming the first step that is wrong, and how.
    """
    ids = [step.id for step in steps]
    allowed = {*ids, *known}
    for number, step in enumerate(steps):
        if not step.id.strip():
            raise PlanError(f"step number {number + 1} has no id")
        if step.id in ids[:number]:
            raise PlanError(f"two steps have the id {step.id}")
        if not step.description.strip():
            raise PlanError(f"step {step.id} does not say what to do")
        for path in step.target_files:
            if not inside(path):
                raise PlanError(f"step {step.id} names the file {path!r}, which lies outside the repository")
        for needed in step.depends_on:
            if needed not in allowed:
                raise PlanError(f"step {step.id} depends on {needed}, which is not a step of the plan")
    cycle = find_cycle(ids, {step.id: step.depends_on for step in steps})
    if cycle:
        raise PlanError("steps depend on each other in a circle: " + " → ".join((*cycle, cycle[0])))


def ordered(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """Checked steps with every dependency first; the given order decides where it is free."""
    by_id = {step.id: step for step in steps}
    order = topological_order([step.id for step in steps], {step.id: step.depends_on for step in steps})
    return tuple(by_id[step] for step in order)


def repair_ids(steps: Sequence[PlanStep]) -> tuple[tuple[PlanStep, ...], tuple[str, ...]]:
    """Fix harmless slips in ids: missing and doubled ids get the next free number, a dependency of a step on itself goes.

    A doubled id is renamed only while nobody depends on it, since a reference to it could mean either step.

    Returns:
        (steps, a note for each repair)

    Raises:
        PlanError: if a doubled id is depended on.
    """
    taken = {step.id.strip() for step in steps}
    referred = {needed for step in steps for needed in step.depends_on if needed != step.id}
    seen: set[str] = set()
    fixed: list[PlanStep] = []
    notes: list[str] = []
    for step in steps:
        name = step.id.strip()
        if name in seen and name in referred:
            raise PlanError(f"two steps have the id {name}, and another depends on it")
        if not name or name in seen:
            fresh = _free(taken)
            notes.append(f"a step without an id of its own ({name or 'empty'}) became {fresh}")
            name = fresh
        seen.add(name)
        needed = tuple(dict.fromkeys(d.strip() for d in step.depends_on if d.strip() != step.id.strip()))
        if len(needed) != len(step.depends_on):
            notes.append(f"step {name}: a repeated dependency, or one on itself, was taken out")
        fixed.append(msgspec.structs.replace(step, id=name, depends_on=needed))
    return tuple(fixed), tuple(notes)


def _free(taken: set[str]) -> str:
    number = 1
    while f"s{number}" in taken:
        number += 1
    taken.add(f"s{number}")
    return f"s{number}"
