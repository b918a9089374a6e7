"""What a failure's own text says about the step it comes from."""

from __future__ import annotations

import pytest

from agent.planning.adjustment.adjust import rework_order
from agent.planning.adjustment.evidence import by_evidence, evidence
from agent.planning.adjustment.failures import Failure, failures_of
from agent.planning.adjustment.verdicts import Cause
from agent.planning.schema import PlanStep, StepResult
from agent.values import FailureSignal

STEPS = tuple(PlanStep(f"s{n}", f"Write {name}", ("ring.c",), (name,)) for n, name in enumerate(
    ("ring_push", "ring_pop", "ring_copy_out"), 1
))  # fmt: skip
OTHER = PlanStep("s4", "Write log_line", ("log.c",), ("log_line",))


def failure(text: str, step: str = "checks") -> Failure:
    return Failure(FailureSignal("test_failure", text, "error_info"), step)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("test.c:12: assertion failed: ring_pop(rb, &x) == true", "s2"),
        ("FAIL test_push", "s1"),
        ("FAIL test_copy_out_wraps", "s3"),
        ("undefined reference to `ring_copy_out'", "s3"),
        ("log.c:7:3: error: expected ';'", "s4"),
        ("all is lost", "s1"),
    ],
)
def test_the_best_supported_step_comes_first(text: str, first: str) -> None:
    assert by_evidence(failure(text), (*STEPS, OTHER))[0].id == first


def test_a_call_beats_a_word_beats_a_test_name_beats_a_file() -> None:
    scores = [
        evidence(failure(text), STEPS[0], STEPS)
        for text in ("ring_push(r, 1) failed", "in ring_push", "test_push", "ring.c:3: error", "ring.c", "nothing")
    ]
    assert scores == [4, 3, 2, 2, 1, 0]


def test_methods_are_found_by_their_own_name() -> None:
    step = PlanStep("s1", "x", ("budget.py",), ("Budget.can_fit",))
    assert evidence(failure("assert Budget(3).can_fit('abc')"), step) == 4


def test_part_of_another_name_is_no_evidence() -> None:
    assert evidence(failure("in string_push_back"), STEPS[0], STEPS) == 0


def test_the_order_of_rework() -> None:
    failures = (failure("ring_pop(x) failed"), failure("something else"), failure("test_push"))
    causes = (Cause(0, "s1", 0.9), Cause(0, "s2", 0.6), Cause(1, "s3", 0.8))
    assert rework_order(failures, STEPS, causes) == ("s2", "s1", "s3")
    assert rework_order(failures[2:], STEPS, ()) == ("s1",)
    assert rework_order((failure("nothing"),), STEPS, ()) == ()


def test_failures_are_counted_once_and_capped() -> None:
    signals = tuple(FailureSignal("test_failure", f"FAIL test_{n}", "error_info") for n in range(9))
    results = [StepResult("s1", False, signals=signals), StepResult("s2", False, signals=signals)]
    found, left_out = failures_of(results)
    assert len(found) == 6
    assert left_out == 3
    assert found[0].step_id == "s1"
