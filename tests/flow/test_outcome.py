"""What is said of a success is what became of the plan."""

from __future__ import annotations

from agent.flow.outcome import RunOutcome, judge_outcome
from agent.values import CheckResult, PlanStep

PASS = CheckResult("make test", 0, True, 3, 0)


def done(*names: str, dropped: tuple[str, ...] = ()) -> tuple[str, str]:
    steps = tuple(PlanStep(name, f"Do {name}") for name in names)
    outcome = RunOutcome(CheckResult("make test", 2, False, 0, 3), PASS, steps, set(names), dropped=set(dropped))
    return judge_outcome(outcome, True)


def test_every_step_is_done_only_when_it_is() -> None:
    assert done("s1", "s2") == ("complete", "Every step is done and the checks pass.")
    assert done("s1", "s2", dropped=("s3",)) == (
        "complete", "2 steps are done, 1 was dropped from the plan, and the checks pass.",
    )  # fmt: skip
    assert done("s1", dropped=("s2", "s3"))[1] == "1 step is done, 2 were dropped from the plan, and the checks pass."


def test_a_step_that_was_dropped_and_done_after_all_is_done() -> None:
    assert done("s1", "s2", dropped=("s2",))[1] == "Every step is done and the checks pass."
