"""What a run achieved, from what was measured: never from what a reply said (design law 4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.values import CheckResult, PlanStep, RunStatus
from agent.workspace.checks import compare


@dataclass
class Outcome:
    """Filled while a run goes on. Names of functions are unique per run; ``targets`` are the symbols the plan names.
    ``bearing`` are the failures at the end that have to do with what was written (``flow.bearing``), None when there was
    nothing to look at."""

    baseline: CheckResult | None = None
    final: CheckResult | None = None
    planned: tuple[PlanStep, ...] = ()
    steps_done: set[str] = field(default_factory=set)
    steps_failed: dict[str, str] = field(default_factory=dict)
    functions_done: set[str] = field(default_factory=set)
    functions_failed: set[str] = field(default_factory=set)
    stubs_left: int = 0
    changed: tuple[str, ...] = ()
    bearing: tuple[str, ...] | None = None

    @property
    def targets(self) -> set[str]:
        """Symbols that the plan's steps were to write."""
        return {symbol for step in self.planned for symbol in step.target_symbols}

    def step_done(self, step_id: str) -> None:
        """A step's work was measured and committed."""
        self.steps_done.add(step_id)
        self.steps_failed.pop(step_id, None)

    def step_failed(self, step_id: str, why: str) -> None:
        """A step did not come to anything that could be kept."""
        self.steps_failed[step_id] = why
        self.steps_done.discard(step_id)


def judge_outcome(outcome: Outcome, changed: bool) -> tuple[RunStatus, str]:
    """``complete``: every step done, nothing left a stub, checks pass, or only such tests still fail as failed before and
    have nothing to do with what was written. ``partial``: something was done and kept. ``failed``: nothing was."""
    if not outcome.planned:
        return "failed", "The plan was empty: nothing to do was found for this task."
    if not changed:
        return "failed", _why(outcome) or "Nothing was changed."
    problems = _problems(outcome)
    if not problems:
        return "complete", _success(outcome)
    return "partial", " ".join(problems)


def _problems(outcome: Outcome) -> list[str]:
    problems = []
    if outcome.steps_failed:
        problems.append(_why(outcome))
    if outcome.stubs_left:
        problems.append(f"{outcome.stubs_left} of the functions asked for {_is(outcome.stubs_left)} still a stub.")
    problems += _check_problems(outcome)
    return problems


def _check_problems(outcome: Outcome) -> list[str]:
    before, after = outcome.baseline, outcome.final
    if after is None or after.ok:
        return []
    better, worse = compare(before, after)
    if worse:
        return [f"Tests fail that did not before: {', '.join(worse[:5])}."]
    old = before is not None and after.failing and set(after.failing) <= set(before.failing)
    if old and outcome.bearing:
        return [f"Tests of what was written still fail: {', '.join(outcome.bearing[:5])}."]
    if old and (better or outcome.bearing is not None):
        return []
    if old:
        return [f"Tests that failed before still fail: {', '.join(after.failing[:5])}."]
    if after.timed_out:
        return [f"The checks ({after.command}) did not end in time."]
    return [f"The checks ({after.command}) fail with exit code {after.exit_code}."]


def _success(outcome: Outcome) -> str:
    after = outcome.final
    if after is None:
        return "Every step is done. There are no checks to run; name some with testing.test_command."
    if after.ok:
        return "Every step is done and the checks pass."
    if compare(outcome.baseline, after)[0]:
        return "Every step is done; more checks pass than before, and those that still fail failed before."
    return "Every step is done; the checks that fail failed before and have nothing to do with what was written."


def _why(outcome: Outcome) -> str:
    if not outcome.steps_failed:
        return ""
    step, why = next(iter(outcome.steps_failed.items()))
    more = len(outcome.steps_failed) - 1
    others = f" (and {more} more)" if more else ""
    return f"Step {step} failed{others}: {_first_line(why)}"


def _first_line(text: str, limit: int = 300) -> str:
    """What a sentence can carry of a reason that may go on with a check's whole output."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
