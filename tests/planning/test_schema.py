"""The checks every plan passes, and the slips that are set right."""

from __future__ import annotations

import pytest

from agent.planning.schema import PlanError, PlanStep, check_steps, inside, ordered, repair_ids


def step(name: str, *needs: str, files: tuple[str, ...] = ("a.c",)) -> PlanStep:
    return PlanStep(name, f"do {name}", files, (), needs)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([step("s1"), step("s1")], "two steps have the id s1"),
        ([step("s1", "s9")], "s1 depends on s9, which is not a step"),
        ([step("s1", "s2"), step("s2", "s1")], "in a circle: s1 → s2 → s1"),
        ([step("s1", files=("../x.c",))], "outside the repository"),
        ([step("s1", files=("/etc/passwd",))], "outside the repository"),
        ([PlanStep("", "x")], "no id"),
        ([PlanStep("s1", "  ")], "does not say what to do"),
    ],
)
def test_what_is_wrong_is_named(steps: list[PlanStep], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        check_steps(steps)


def test_steps_already_done_may_be_depended_on() -> None:
    check_steps([step("s2", "s1")], known=("s1",))


def test_order_puts_dependencies_first_and_keeps_the_rest() -> None:
    assert [s.id for s in ordered([step("s1", "s3"), step("s2"), step("s3")])] == ["s2", "s3", "s1"]


def test_harmless_slips_are_set_right_with_a_note() -> None:
    steps, notes = repair_ids([step("s1"), step("s1"), step("s2", "s2"), PlanStep("", "x")])
    assert [s.id for s in steps] == ["s1", "s3", "s2", "s4"]
    assert steps[2].depends_on == ()
    assert len(notes) == 3
    check_steps(steps)


def test_an_id_that_could_mean_two_steps_is_no_slip() -> None:
    with pytest.raises(PlanError, match="another depends on it"):
        repair_ids([step("s1"), step("s1"), step("s2", "s1")])


@pytest.mark.parametrize("path", ["a.c", "src/a.c", "./a.c", "a..b/c.py"])
def test_inside(path: str) -> None:
    assert inside(path)


@pytest.mark.parametrize("path", ["", " ", "/a.c", "../a.c", "src/../../a.c", "..\\a.c", "a\0.c"])
def test_outside(path: str) -> None:
    assert not inside(path)
