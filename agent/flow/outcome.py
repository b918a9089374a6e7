"""What a run achieved, from what was measured: never from what a reply said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.counts import plural
from agent.shortening import shortened
from agent.values import CheckResult, PlanStep, RunStatus
from agent.workspace.checks import compare


@dataclass
class RunOutcome:
    """Filled while a run goes on. Names of functions are unique per run; ``targets`` are the symbols the plan names.
    ``relevant`` are the failures at the end that have to do with what was written (``flow.relevant_failures``), None when
    there was nothing to look at; ``mended`` when the task was a repair and the checks that failed pass.
    ``tests_asked`` when the task wants tests, ``tests_kept`` when the change holds some; ``tests_not_kept`` are the test
    steps that came to nothing, with why."""

    baseline: CheckResult | None = None
    final: CheckResult | None = None
    planned: tuple[PlanStep, ...] = ()
    steps_done: set[str] = field(default_factory=set)
    steps_failed: dict[str, str] = field(default_factory=dict)
    functions_done: set[str] = field(default_factory=set)
    functions_failed: set[str] = field(default_factory=set)
    stubs_left: int = 0
    changed: tuple[str, ...] = ()
    relevant: tuple[str, ...] | None = None
    mended: bool = False
    tests_asked: bool = False
    tests_kept: bool = False
    tests_not_kept: dict[str, str] = field(default_factory=dict)
    budget_spent: bool = False
    """Whether the work ended because its budget did."""
    guessed: str = ""
    """What a test checks that a model wrote to show the fault, where nobody confirmed it."""
    dropped: set[str] = field(default_factory=set)
    """Steps that an adjustment took out of the plan."""

    @property
    def targets(self) -> set[str]:
        """Symbols that the plan's steps were to write."""
        return {symbol for step in self.planned for symbol in step.target_symbols}

    def step_done(self, step_id: str) -> None:
        """A step's work was measured and committed."""
        self.steps_done.add(step_id)
        self.steps_failed.pop(step_id, None)

    def note(self, step: PlanStep, *, ok: bool, why: str = "") -> None:
        """Account for a step that was carried out. One that was done stays done when another try at it fails."""
        names = set(step.target_symbols) if step.kind == "function_implement" else set()
        if ok:
            self.step_done(step.id)
            self.functions_done |= names
            self.functions_failed -= names
        elif step.id not in self.steps_done:
            self.step_failed(step.id, why)
            self.functions_failed |= names

    def replan(self, before: Sequence[PlanStep], after: Sequence[PlanStep]) -> None:
        """Put the steps ``after`` in place of ``before``; a step that is in both is the later one."""
        revised = {step.id: step for step in after}
        gone = {step.id for step in before} - revised.keys()
        kept = [revised.get(step.id, step) for step in self.planned if step.id not in gone]
        known = {step.id for step in kept}
        self.planned = (*kept, *(step for step in after if step.id not in known))
        self.dropped |= gone

    def step_failed(self, step_id: str, why: str) -> None:
        """A step did not come to anything that could be kept."""
        self.steps_failed[step_id] = why
        self.steps_done.discard(step_id)


def judge_outcome(outcome: RunOutcome, changed: bool) -> tuple[RunStatus, str]:
    """``complete``: every step done, nothing left a stub, checks pass, or only such tests still fail as failed before and
    have nothing to do with what was written. ``partial``: something was done and kept, or what was done rests on a guess.
    ``failed``: nothing was done."""
    if not outcome.planned:
        return "failed", "The plan was empty: no work was found for this task."
    if not changed:
        return "failed", _why(outcome) or _tests_why(outcome) or "Nothing was changed."
    problems = _problems(outcome)
    if not problems:
        return "complete", _with_tests(outcome, _success(outcome))
    return "partial", " ".join(problems)


def _problems(outcome: RunOutcome) -> list[str]:
    problems = []
    if outcome.steps_failed and not outcome.mended:
        problems.append(_why(outcome))
    if outcome.stubs_left:
        problems.append(f"{outcome.stubs_left} of the functions asked for {_is(outcome.stubs_left)} still a stub.")
    problems += _check_problems(outcome)
    if outcome.guessed:
        problems.append(f"The checks pass, but that {outcome.guessed} is a guess of the model's that nobody confirmed.")
    if outcome.tests_asked and not outcome.tests_kept:
        problems.append(_tests_why(outcome))
    if problems and outcome.budget_spent:
        problems.append("The budget for further candidates is used up (coding.budget_s, coding.budget_calls).")
    return problems


def _check_problems(outcome: RunOutcome) -> list[str]:
    before, after = outcome.baseline, outcome.final
    if after is None or after.ok:
        return []
    better, worse = compare(before, after)
    if worse:
        return [f"Tests fail that did not before: {', '.join(worse[:5])}."]
    old = before is not None and after.failing and set(after.failing) <= set(before.failing)
    if old and outcome.relevant:
        return [f"Tests of what was written still fail: {', '.join(outcome.relevant[:5])}."]
    if old and (better or outcome.relevant is not None):
        return []
    if old:
        return [f"Tests that failed before still fail: {', '.join(after.failing[:5])}."]
    if after.timed_out:
        return [f"The checks ({after.command}) did not finish in time."]
    return [f"The checks ({after.command}) fail with exit code {after.exit_code}."]


def _success(outcome: RunOutcome) -> str:
    after = outcome.final
    if after is None:
        return f"{_steps(outcome)}. There are no checks to run; name some with testing.test_command."
    if after.ok and outcome.steps_failed:
        return "The checks pass, so the repair is done; the steps of the plan that failed were not needed."
    if after.ok:
        return f"{_steps(outcome, ',')} and the checks pass."
    if compare(outcome.baseline, after)[0]:
        return f"{_steps(outcome)}; more checks pass than before, and those that still fail failed before."
    return f"{_steps(outcome)}; the checks that fail failed before and have nothing to do with what was written."


def _steps(outcome: RunOutcome, comma: str = "") -> str:
    """What became of the plan's steps; ``comma`` follows where the sentence already has one."""
    dropped = len(outcome.dropped - outcome.steps_done - set(outcome.steps_failed))
    if not dropped:
        return "Every step is done"
    done = len(outcome.steps_done)
    gone = f"{dropped} {'was' if dropped == 1 else 'were'} dropped from the plan{comma}"
    return f"{plural(done, 'step')} {_is(done)} done, {gone}"


def _with_tests(outcome: RunOutcome, sentence: str) -> str:
    """The sentence of a success, with the tests that nobody asked for and that were not kept."""
    if not outcome.tests_not_kept:
        return sentence
    return f"{sentence.replace('Every step', 'Every other step', 1)} {_tests_why(outcome)}"


def _tests_why(outcome: RunOutcome) -> str:
    if not outcome.tests_not_kept:
        return ""
    whose = "that the task asks for" if outcome.tests_asked else "planned for it"
    return f"The tests {whose} were not kept: {_first_line(next(iter(outcome.tests_not_kept.values())))}"


def _why(outcome: RunOutcome) -> str:
    if not outcome.steps_failed:
        return ""
    step, why = next(iter(outcome.steps_failed.items()))
    more = len(outcome.steps_failed) - 1
    others = f" (and {more} more)" if more else ""
    return f"Step {step} failed{others}: {_first_line(why)}"


def _first_line(text: str, limit: int = 300) -> str:
    """What a sentence can carry of a reason that may go on with a check's whole output."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return shortened(line, limit)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
