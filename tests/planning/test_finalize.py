"""The last call of an adjustment is held to the verdicts; so is the adjustment in one call to the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.events import Notice
from agent.planning.adjustment.failures import Failure
from agent.planning.adjustment.finalize import Case, agree, deterministic, finalize, make_case
from agent.planning.schema import AdjustmentVerdicts, PlanError, PlanStep, check_steps
from agent.values import FailureSignal
from tests.planning.engine import as_json, engine
from tests.planning.test_adjustment import COMPILE, S1, S2, S3, S4, TEST, run_adjust

FAILURES = (Failure(COMPILE, "s2"), Failure(TEST, "s2"))


def case(viable: dict[str, bool], causes: dict[str, tuple[int, ...]] | None = None, new: tuple[int, ...] = ()) -> Case:
    signals: tuple[FailureSignal, ...] = (COMPILE, TEST)
    return make_case((S3, S4), (S1, S2), FAILURES, AdjustmentVerdicts(viable, causes or {}, new, signals))


BOTH = {"s3": True, "s4": True}


def wrote(*steps: tuple[str, str], **needs: tuple[str, ...]) -> list[PlanStep]:
    return [PlanStep(i, text, (), (), needs.get(i, ())) for i, text in steps]


@pytest.mark.parametrize(
    ("given", "written", "message"),
    [
        (case({"s3": True, "s4": False}), wrote(("s3", "x"), ("s4", "x")), "s4 was judged INVALID"),
        (case(BOTH), wrote(("s3", "x")), "s4 was judged VALID, but is missing"),
        (case(BOTH), wrote(("s3", "x"), ("s4", "x"), ("s2", "x")), "s2 is done already"),
        (case(BOTH), wrote(("s3", "x"), ("s4", "x"), ("n1", "x")), "n1 is neither kept nor asked for"),
        (case(BOTH, new=(1,)), wrote(("s3", "x"), ("s4", "x")), r"failure \[1\] needs a new step with the id n1"),
        (case(BOTH, {"s3": (0,)}), wrote(("s3", S3.description), ("s4", "x")), "s3 caused a failure, but"),
        (case(BOTH), wrote(("s3", "x"), ("s4", "x"), s3=("s4",), s4=("s3",)), "in a circle"),
        (case(BOTH), wrote(("s3", "x"), ("s3", "x"), ("s4", "x")), "two steps have the id s3"),
        (case(BOTH), wrote(("s3", "x"), ("s4", "x"), s3=("s9",)), "s9, which is not a step"),
    ],
)
def test_contradictions_are_caught(given: Case, written: list[PlanStep], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        agree(given, written)


def test_kept_steps_keep_what_the_reply_has_no_business_to_change() -> None:
    settled = agree(case(BOTH, {"s4": (1,)}), wrote(("s4", "Delete, and keep the chain whole"), ("s3", "something else")))
    assert settled[0] == S3
    assert settled[1].description == "Delete, and keep the chain whole"
    assert settled[1].target_symbols == S4.target_symbols


@pytest.mark.parametrize("viable", [BOTH, {"s3": False, "s4": True}, {"s3": False, "s4": False}])
@pytest.mark.parametrize("causes", [{}, {"s4": (0, 1)}, {"s2": (0,)}])
@pytest.mark.parametrize("new", [(), (1,), (0, 1)])
def test_the_deterministic_finalize_agrees_with_its_own_verdicts(
    viable: dict[str, bool], causes: dict[str, tuple[int, ...]], new: tuple[int, ...]
) -> None:
    given = case(viable, {step: found for step, found in causes.items() if viable.get(step, True)}, new)
    made = deterministic(given)
    check_steps(made.revised_steps, known=given.done)
    assert {s.id for s in agree(given, made.revised_steps)} == {*given.kept, *given.new}


async def finalized(run: Any, given: Case) -> Any:
    return await finalize(run.ctx, "Write the hash table", given, "+x")


def reply(*steps: tuple[str, str]) -> str:
    return as_json({"revised_steps": [{"id": i, "description": text} for i, text in steps]})


async def test_a_contradiction_is_asked_again_with_the_reason(tmp_path: Path) -> None:
    good = reply(("s3", S3.description))
    script = [("could not be used", good), ("<adjustment_verdicts>", reply(("s3", "x"), ("s4", "x")))]
    async with engine(tmp_path, script) as run:
        made = await finalized(run, case({"s3": True, "s4": False}))
        assert "s4 was judged INVALID" in run.server.calls[1].prompt
    assert made.revised_steps == (S3,)
    assert made.how == "model"


async def test_a_stubborn_contradiction_is_settled_by_the_verdicts(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(("s3", "x"), ("s4", "x"))) as run:
        made = await finalized(run, case({"s3": True, "s4": False}, {"s3": (0,)}, (1,)))
        notices = await run.seen(Notice)
        assert len(run.server.calls) == 2
    assert [s.id for s in made.revised_steps] == ["s3", "n1"]
    assert "implicit declaration" in made.revised_steps[0].description
    assert made.revised_steps[1].target_files == ("table.c",)
    assert made.how == "deterministic"
    assert any("from the verdicts alone" in notice.text for notice in notices)


async def test_the_prompt_tells_the_verdicts_and_the_grammar_holds_the_ids(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(("s3", "Avoid it"), ("n1", "Write hash_init"))) as run:
        await finalized(run, case({"s3": True, "s4": False}, {"s3": (1,), "s2": (1,)}, (0,)))
        (call,) = run.server.calls
    assert "s4 (Write hash_delete): INVALID" in call.prompt
    assert "s3 caused failure [1]: [test_failure] test_lookup FAILED" in call.prompt
    assert "(this step is done; do not list it)" in call.prompt
    assert "n1 for failure [0]" in call.prompt
    schema = call.body["response_format"]["json_schema"]["schema"]
    step = schema["properties"]["revised_steps"]["items"]["properties"]
    assert step["id"]["enum"] == ["s3", "n1"]
    assert step["target_files"]["items"]["enum"] == ["table.c", "table.h"]


async def test_a_diff_larger_than_the_window_is_cut_at_its_beginning(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(("s3", S3.description), ("s4", S4.description))) as run:
        await finalize(run.ctx, "t", case(BOTH), "A" * 100_000 + "END")
        (call,) = run.server.calls
    assert "AEND" in call.prompt
    assert "the beginning is left out" in call.prompt


async def test_a_case_too_large_for_the_window_is_settled_by_the_verdicts(tmp_path: Path) -> None:
    huge = PlanStep("s3", "word " * 30_000, ("table.c",))
    given = make_case((huge,), (S2,), FAILURES, AdjustmentVerdicts({"s3": True}, {}, (), (COMPILE, TEST)))
    async with engine(tmp_path, "never asked") as run:
        made = await finalized(run, given)
        assert not run.server.calls
    assert made.how == "deterministic"
    assert made.revised_steps == (huge,)


# In one call.


async def test_one_call_when_the_toggle_is_off(tmp_path: Path) -> None:
    answer = as_json({"revised_steps": [{"id": "s4", "description": "Delete with care"}], "rationale": "s3 is not needed"})
    async with engine(tmp_path, answer) as run:
        made = await run_adjust(run)
    assert run.stages() == ["adjustment"]
    assert [(s.id, s.description, s.target_symbols, s.depends_on) for s in made.revised_steps] == [
        ("s4", "Delete with care", ("hash_delete",), ())
    ]
    assert made.rework == ("s2",), "the step whose compile failed"


async def test_an_empty_list_drops_everything(tmp_path: Path) -> None:
    async with engine(tmp_path, as_json({"revised_steps": []})) as run:
        assert (await run_adjust(run)).revised_steps == ()


async def test_an_unusable_revision_leaves_the_plan_as_it_was(tmp_path: Path) -> None:
    async with engine(tmp_path, reply(("s2", "do it again"))) as run:
        made = await run_adjust(run)
        assert any("stays as it was" in notice.text for notice in await run.seen(Notice))
    assert made.revised_steps == (S3, S4)
    assert made.how == "default"
