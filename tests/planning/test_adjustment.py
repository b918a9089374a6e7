"""Adjustment by verdicts: the stages, their defaults, the counts, the whole flow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agent.events import (
    AdjustmentStarted,
    Envelope,
    NewStepVerdict,
    Notice,
    PlanAdjusted,
    RootCauseVerdict,
    ViabilityVerdict,
)
from agent.planning.adjustment.adjust import adjust, find_causes
from agent.planning.adjustment.failures import expected_calls
from agent.planning.schema import PlanAdjustment, PlanError, PlanStep, StepResult
from agent.state.run_state import RunState
from agent.values import FailureSignal
from tests.planning.engine import Engine, as_json, engine

ON = {"decomposed_adjustment": True}
S1 = PlanStep("s1", "Define the table", ("table.h",), ("table",))
S2 = PlanStep("s2", "Write hash_insert", ("table.c",), ("hash_insert",), ("s1",))
S3 = PlanStep("s3", "Write hash_resize", ("table.c",), ("hash_resize",), ("s2",))
S4 = PlanStep("s4", "Write hash_delete", ("table.c",), ("hash_delete",), ("s3",))
COMPILE = FailureSignal("compile_error", "table.c:9: error: implicit declaration of function 'hash_init'", "error_info")
TEST = FailureSignal("test_failure", "test_lookup FAILED: key not found after insert", "error_info")
VIABLE, CAUSE, NEW, FINAL = (
    "still valid given", "cause or contribute", "require adding a new implementation step", "<adjustment_verdicts>",
)  # fmt: skip


def failed(*signals: FailureSignal, step: str = "s2") -> list[StepResult]:
    return [StepResult("s1", True), StepResult(step, False, "see signals", signals=signals)]


async def run_adjust(run: Engine, *signals: FailureSignal, **kwargs: Any) -> PlanAdjustment:
    values: dict[str, Any] = {
        "task": "Write the hash table", "results": failed(*(signals or (COMPILE,))), "remaining": (S3, S4),
        "executed": (S1, S2), "cumulative_diff": "+int x;\n",
    }  # fmt: skip
    return await adjust(run.ctx, **{**values, **kwargs})


def revised(*steps: tuple[str, str]) -> str:
    return as_json({"revised_steps": [{"id": i, "description": d} for i, d in steps], "rationale": "r"})


KEEP = revised(("s3", S3.description), ("s4", S4.description))


def for_step(**answers: bool) -> Any:
    """Yes or no by the id of the step in the prompt; no where the id is not named."""
    return lambda call: answers.get(re.search(r"ID: (\w+)", call.prompt)[1], False)  # type: ignore[index]


# Nothing to do, nothing asked.


async def test_no_failures_returns_the_steps_unchanged(tmp_path: Path) -> None:
    async with engine(tmp_path, "no", **ON) as run:
        for results in (None, [], [StepResult("s2", True)]):
            made = await run_adjust(run, results=results)
            assert made.revised_steps == (S3, S4)
            assert made.changes_made == ()
            assert "No failures" in made.rationale
        assert not run.server.calls


async def test_no_remaining_steps_asks_nothing(tmp_path: Path) -> None:
    async with engine(tmp_path, "yes", **ON) as run:
        made = await run_adjust(run, remaining=())
        assert made.revised_steps == ()
        assert not run.server.calls


# Viability.


async def test_viability_all_valid(tmp_path: Path) -> None:
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, False), (NEW, False), (FINAL, KEEP)], **ON) as run:
        made = await run_adjust(run)
        assert [(e.step_id, e.viable) for e in await run.seen(ViabilityVerdict)] == [("s3", True), ("s4", True)]
    assert [s.id for s in made.revised_steps] == ["s3", "s4"]
    assert made.revised_steps[0] == S3


async def test_viability_some_invalid(tmp_path: Path) -> None:
    script = [(VIABLE, for_step(s3=False, s4=True)), (CAUSE, False), (NEW, False), (FINAL, revised(("s4", S4.description)))]
    async with engine(tmp_path, script, **ON) as run:
        made = await run_adjust(run)
        asked = {e.step_id for e in await run.seen(RootCauseVerdict)}
    assert [(s.id, s.depends_on) for s in made.revised_steps] == [("s4", ())], "a dropped step is waited for no longer"
    assert asked == {"s1", "s2", "s4"}, "a dropped step is not a candidate, an executed one is"


async def test_all_judged_invalid_drops_everything(tmp_path: Path) -> None:
    script = [(VIABLE, False), (CAUSE, False), (NEW, False), (FINAL, as_json({"revised_steps": []}))]
    async with engine(tmp_path, script, **ON) as run:
        made = await run_adjust(run)
    assert made.revised_steps == ()
    assert made.changes_made == ("s3 is dropped", "s4 is dropped")


async def test_nothing_readable_about_viability_is_an_error(tmp_path: Path) -> None:
    async with engine(tmp_path, "well, hard to say", **ON) as run:
        with pytest.raises(PlanError, match="None of the 2 answers"):
            await run_adjust(run)
    assert issubclass(PlanError, ValueError)


async def test_one_unreadable_viability_answer_drops_that_step(tmp_path: Path) -> None:
    unclear = lambda call: "perhaps" if "ID: s3" in call.prompt else "yes"  # noqa: E731
    script = [(VIABLE, unclear), (CAUSE, False), (NEW, False), (FINAL, revised(("s4", S4.description)))]
    async with engine(tmp_path, script, **ON) as run:
        made = await run_adjust(run)
        verdicts = {e.step_id: (e.viable, e.defaulted) for e in await run.seen(ViabilityVerdict)}
    assert verdicts == {"s3": (False, True), "s4": (True, False)}
    assert [s.id for s in made.revised_steps] == ["s4"]


# Root cause.


async def test_root_cause_every_failure_with_every_candidate(tmp_path: Path) -> None:
    def guilty(call: Any) -> bool:
        pairs = (("hash_init", "ID: s2"), ("test_lookup", "ID: s3"))
        return any(failure in call.prompt and step in call.prompt for failure, step in pairs)

    again = revised(("s3", "Write hash_resize so that keys survive"), ("s4", S4.description))
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, guilty), (FINAL, again)], **ON) as run:
        made = await run_adjust(run, COMPILE, TEST)
        assert len(await run.seen(RootCauseVerdict)) == 2 * 4
        assert not run.server.asked(NEW), "every failure has a cause"
    assert made.verdicts is not None
    assert made.verdicts.root_causes == {"s2": (0,), "s3": (1,)}
    assert made.rework == ("s2",), "only what ran can be done again"
    assert made.failures_of("s2") == (f"[compile_error] {COMPILE.message}",)
    assert len(made.failures_of("s1")) == 2, "nothing attributed: all are shown"
    assert made.revised_steps[0].description == "Write hash_resize so that keys survive"
    assert made.revised_steps[0].target_symbols == ("hash_resize",)


async def test_unreadable_root_cause_is_no_attribution(tmp_path: Path) -> None:
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, "hm"), (NEW, False), (FINAL, KEEP)], **ON) as run:
        made = await run_adjust(run)
        assert all(e.defaulted and not e.caused for e in await run.seen(RootCauseVerdict))
        assert any(n.stage == "adjustment_root_cause" for n in await run.seen(Notice))
    assert made.verdicts is not None
    assert made.verdicts.root_causes == {}


async def test_a_root_cause_prompt_shows_the_last_2000_characters_of_the_diff(tmp_path: Path) -> None:
    diff = "A" * 3000 + "B" * 2000
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, False), (NEW, False), (FINAL, KEEP)], **ON) as run:
        await run_adjust(run, cumulative_diff=diff)
        prompts = [call.prompt for call in run.server.asked(CAUSE)]
        (final,) = run.server.asked(FINAL)
    assert all("B" * 2000 in prompt and "AB" not in prompt for prompt in prompts)
    assert diff in final.prompt
    before = prompts[0].index("Failure:")
    assert len({prompt[:before] for prompt in prompts}) == 1, "one prefix for all pairs"


# New steps.


async def test_a_failure_nobody_caused_may_need_a_new_step(tmp_path: Path) -> None:
    answer = revised(("s3", S3.description), ("s4", S4.description), ("n1", "Write hash_init"))
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, False), (NEW, True), (FINAL, answer)], **ON) as run:
        made = await run_adjust(run)
        assert [(e.failure, e.needed) for e in await run.seen(NewStepVerdict)] == [(0, True)]
    new = made.revised_steps[-1]
    assert (new.id, new.description, new.target_files) == ("n1", "Write hash_init", ("table.c",))
    assert made.rework == ()


async def test_only_unattributed_failures_are_asked_about(tmp_path: Path) -> None:
    guilty = lambda call: "hash_init" in call.prompt and "ID: s2" in call.prompt  # noqa: E731
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, guilty), (NEW, False), (FINAL, KEEP)], **ON) as run:
        await run_adjust(run, COMPILE, TEST)
        assert [e.failure for e in await run.seen(NewStepVerdict)] == [1]


async def test_an_unreadable_new_step_answer_means_none(tmp_path: Path) -> None:
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, False), (NEW, "?"), (FINAL, KEEP)], **ON) as run:
        made = await run_adjust(run)
        assert [(e.needed, e.defaulted) for e in await run.seen(NewStepVerdict)] == [(False, True)]
    assert [s.id for s in made.revised_steps] == ["s3", "s4"]


# Counts.


@pytest.mark.parametrize(
    ("failures", "remaining", "executed", "calls"),
    [(1, 3, 0, 3 + 3 + 1 + 1), (3, 10, 0, 10 + 30 + 3 + 1), (1, 2, 2, 2 + 4 + 1 + 1), (0, 5, 1, 0), (2, 0, 3, 0)],
)
def test_the_formula(failures: int, remaining: int, executed: int, calls: int) -> None:
    assert expected_calls(failures, remaining, executed) == calls


async def test_the_worst_case_makes_exactly_the_calls_of_the_formula(tmp_path: Path) -> None:
    async with engine(tmp_path, [(VIABLE, True), (CAUSE, False), (NEW, False), (FINAL, KEEP)], **ON) as run:
        made = await run_adjust(run, COMPILE, TEST)
        (started,) = await run.seen(AdjustmentStarted)
    expected = expected_calls(2, 2, 2)
    assert started.expected_calls == expected == made.calls == len(run.server.calls)
    assert started.failures[0].startswith("table.c:9") and started.categories[0] == "compile_error"


# Events, live and folded.


async def test_the_fold_of_the_events_is_the_adjustment(tmp_path: Path) -> None:
    guilty = for_step(s2=True)
    script = [(VIABLE, for_step(s3=True, s4=False)), (CAUSE, guilty), (FINAL, revised(("s3", S3.description)))]
    async with engine(tmp_path, script, **ON) as run:
        made = await run_adjust(run)
        (adjusted,) = await run.seen(PlanAdjusted)
        state = RunState()
        for number, event in enumerate(run.events, 1):
            state.apply(Envelope("r1", number, 0.0, event))  # type: ignore[arg-type]
    (shown,) = state.adjustments
    assert shown.viability == {"s3": True, "s4": False}
    assert shown.root_causes == {(0, "s1"): False, (0, "s2"): True, (0, "s3"): False}
    assert shown.adjusted == adjusted and adjusted.after == made.revised_steps and adjusted.calls == made.calls


# A whole run, as an orchestrator drives it.


async def test_three_steps_the_second_fails_is_adjusted_and_completes(tmp_path: Path) -> None:
    """s2 fails, is blamed and done again; s3 is revised; s4 is dropped; the run ends with all that is left done."""
    plan = [S2, S3, S4]
    broken = {"s2"}
    script = [
        (VIABLE, for_step(s3=True, s4=False)),
        (CAUSE, for_step(s2=True)),
        (FINAL, revised(("s3", S3.description))),
    ]
    done: list[str] = []
    async with engine(tmp_path, script, **ON) as run:
        queue, executed, rounds = list(plan), [S1], 0
        while queue:
            step = queue.pop(0)
            if step not in executed:
                executed.append(step)
            if step.id not in broken:
                done.append(step.id)
                continue
            rounds += 1
            made = await run_adjust(
                run, results=[StepResult(step.id, False, "table.c:9:1: error: expected ';' in hash_insert")],
                remaining=tuple(queue), executed=tuple(executed), round_no=rounds,
            )  # fmt: skip
            broken.discard(step.id)
            again = [s for name in made.rework for s in executed if s.id == name]
            queue = [*again, *made.revised_steps]
        assert [e.round_no for e in await run.seen(AdjustmentStarted)] == [1]
    assert done == ["s2", "s3"]


# When no step remains.


async def test_a_failing_test_at_the_end_leads_to_the_function_to_write_anew(tmp_path: Path) -> None:
    push = PlanStep("s1", "Write ring_push", ("ring.c",), ("ring_push",))
    pop = PlanStep("s2", "Write ring_pop", ("ring.c",), ("ring_pop",))
    signal = FailureSignal("test_failure", "test_wraparound failed: ring_pop(rb, &x) returned 0", "error_info")
    async with engine(tmp_path, [(CAUSE, True)], **ON) as run:
        made = await find_causes(run.ctx, task="t", results=failed(signal), executed=(push, pop), cumulative_diff="")
        order = [e.step_id for e in await run.seen(RootCauseVerdict)]
        assert run.stages() == ["adjustment_root_cause"] * 2
    assert made.rework == ("s2", "s1"), "both were blamed; the text names ring_pop"
    assert order == ["s2", "s1"], "the one the text names is asked first"


async def test_a_shy_model_leaves_the_evidence(tmp_path: Path) -> None:
    push = PlanStep("s1", "Write ring_push", ("ring.c",), ("ring_push",))
    pop = PlanStep("s2", "Write ring_pop", ("ring.c",), ("ring_pop",))
    signal = FailureSignal("test_failure", "FAIL test_push_full", "error_info")
    results = [StepResult("checks", False, signals=(signal,))]
    async with engine(tmp_path, "no", **ON) as run:
        made = await find_causes(run.ctx, task="t", results=results, executed=(pop, push))
    assert made.rework == ("s1",)
    assert made.how == "evidence"


async def test_causes_without_the_toggle_are_read_from_the_text_alone(tmp_path: Path) -> None:
    async with engine(tmp_path, "yes") as run:
        made = await find_causes(run.ctx, task="t", results=failed(COMPILE), executed=(S1, S2))
        assert not run.server.calls
    assert made.rework == ("s2",)
