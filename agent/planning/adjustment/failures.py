"""The failures of an adjustment: extracted without a model, each once, with the step whose result reported it."""

from __future__ import annotations

from collections.abc import Sequence

from agent.planning.schema import PlanStep, StepResult
from agent.planning.signals import extract_failure_signals
from agent.values import FailureSignal, Value

MAX_FAILURES = 6
"""Failures looked at in one round; each costs a call for every step."""


class Failure(Value, frozen=True):
    """A signal and where it came from."""

    signal: FailureSignal
    step_id: str

    @property
    def text(self) -> str:
        """``[category] message``, as prompts show it."""
        return f"[{self.signal.category}] {self.signal.message}"


def failures_of(results: Sequence[StepResult] | None) -> tuple[tuple[Failure, ...], int]:
    """The distinct failures, at most :data:`MAX_FAILURES`, and how many were left out."""
    unique: dict[FailureSignal, Failure] = {}
    for result in results or ():
        for signal in extract_failure_signals([result]):
            unique.setdefault(signal, Failure(signal, result.step_id))
    found = tuple(unique.values())
    return found[:MAX_FAILURES], max(0, len(found) - MAX_FAILURES)


def step_text(step: PlanStep) -> str:
    """A step as the judgments show it."""
    lines = [f"ID: {step.id}", f"Description: {step.description}"]
    if step.target_files:
        lines.append(f"Target files: {', '.join(step.target_files)}")
    if step.target_symbols:
        lines.append(f"Target symbols: {', '.join(step.target_symbols)}")
    return "\n".join(lines)


def step_line(step: PlanStep) -> str:
    """A step in one line."""
    return f"{step.id}: {step.description}"


def expected_calls(failures: int, remaining: int, executed: int = 0) -> int:
    """The most calls an adjustment can make:

    one viability call a remaining step, one root-cause call for each failure and each remaining or executed step, one
    new-step call a failure, one finalize call. None when nothing failed or nothing remains.
    """
    if not failures or not remaining:
        return 0
    return remaining + failures * (remaining + executed) + failures + 1
