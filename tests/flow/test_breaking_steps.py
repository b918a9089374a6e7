"""Steps against the checks: what breaks a passing one is rolled back, what fails adjusts the plan, in few rounds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from agent.flow.outcome import judge_outcome
from agent.flow.rework import Rework
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.flow.survey import survey
from agent.launch import open_run
from agent.planning.schema import Plan, PlanStep
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, settings

SHAPES = "def area(w, h):\n    return w * h\n\n\ndef edge(w, h):\n    return 0\n\n\ndef name():\n    return 'shape'\n"
CHECK = (
    "import shapes\n"
    "for what, ok in (('test_area', shapes.area(2, 3) == 6), ('test_edge', shapes.edge(2, 3) == 10)):\n"
    "    print('PASS' if ok else 'FAIL', what)\n"
    "raise SystemExit(shapes.area(2, 3) != 6 or shapes.edge(2, 3) != 10)\n"
)
RIGHT = "```python\ndef edge(w, h):\n    return 2 * (w + h)\n```"
WRONG = "```python\ndef area(w, h):\n    return w + h\n```"
HARMLESS = "```python\ndef area(w, h):\n    return h * w\n```"
AREA = PlanStep("s1", "Write area the other way round", ("shapes.py",), ("area",))
EDGE = PlanStep("s2", "Write edge: twice the sum of both sides", ("shapes.py",), ("edge",))
NAME = PlanStep("s3", "Let name say what it is", ("shapes.py",), ("name",))


async def carried_out(tmp_path: Path, steps: tuple[PlanStep, ...], script: object, **orchestrator: object):  # type: ignore[no-untyped-def]
    """The runner after ``steps``, the events, the server, and the log's subjects from the start of the run. As many rounds
    of rework are allowed as of adjustment."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shapes.py").write_text(SHAPES)
    (repo / "check.py").write_text(CHECK)
    commit = "git init -q . && git add . && git -c user.name=n -c user.email=e@x commit -qm base"
    subprocess.run(commit, shell=True, cwd=repo, check=True)
    coding = {"max_attempts": 2, "rework_rounds": orchestrator.get("max_adjustment_rounds", 3)}
    sections = {"testing": {"test_command": "python3 check.py"}, "orchestrator": orchestrator, "coding": coding}
    async with ScriptedServer(script) as server:
        run = await open_run("Change the shapes", repo, extra=settings(server, **sections))
        heard: list[ev.Envelope] = []
        run.ctx.listeners.append(heard.append)
        try:
            run.outcome.baseline = await run.checks.baseline()
            found = await survey(run.ctx, run.workspace, run.task)
            parts = RunParts.of(run.ctx, run.workspace, found, run.checks, run.outcome)
            runner = StepRunner(parts)
            run.outcome.planned = steps
            await runner.run(Plan(steps, "monolithic"))
            await Rework(parts, runner).run()
            parts.close()
            run.outcome.final = await run.checks.final()
            shown = (run.workspace.root / "shapes.py").read_text()
            command = ["git", "log", "--format=%s", f"{run.workspace.base}..HEAD"]
            log = subprocess.check_output(command, cwd=run.workspace.root, text=True).splitlines()
        finally:
            await run.aclose()
    return runner, heard, server, shown, log


def by_symbol(call: RecordedCall, **replies: str) -> Answer:
    """The reply for the symbol that the prompt asks for; "no" to every question."""
    if call.body.get("max_tokens", 0) <= 32:
        return Answer("no")
    for name, reply in replies.items():
        if f"def {name}(" in call.prompt.rpartition("```python")[2]:
            return Answer(reply)
    return Answer("I would not know.")


async def test_a_step_that_breaks_a_passing_check_is_shown_the_failure_and_tried_once_more(tmp_path: Path) -> None:
    replies = iter([WRONG, HARMLESS])
    writes = lambda call: "Write the new version of area" in call.prompt  # noqa: E731
    script = lambda call: Answer(next(replies)) if writes(call) else Answer("no")  # noqa: E731
    runner, heard, server, shown, log = await carried_out(tmp_path, (AREA,), script, max_adjustment_rounds=0)
    first, second = filter(writes, server.calls)
    assert first.prompt != second.prompt and "test_area" in second.prompt and "test_area" not in first.prompt
    assert "return h * w" in shown and "w + h" not in shown
    assert log == ["s1: Write area the other way round"] and runner.outcome.steps_done == {"s1"}
    assert [(step.ok, step.rolled_back) for step in of(heard, ev.StepFinished)] == [(True, False)]


async def test_a_step_that_keeps_breaking_it_is_rolled_back_and_the_rest_is_kept(tmp_path: Path) -> None:
    script = lambda call: by_symbol(call, area=WRONG, edge=RIGHT)  # noqa: E731
    runner, heard, _, shown, log = await carried_out(tmp_path, (EDGE, AREA), script, max_adjustment_rounds=0)
    assert shown == SHAPES.replace("return 0", "return 2 * (w + h)")
    assert log == ["s2: Write edge: twice the sum of both sides"]
    assert set(runner.outcome.steps_failed) == {"s1"} and "broke checks that passed" in runner.outcome.steps_failed["s1"]
    assert [(step.step_id, step.ok, step.rolled_back) for step in of(heard, ev.StepFinished)][-1] == ("s1", False, True)
    signals = of(heard, ev.FailureSignals)[-1].signals
    assert signals[0].category == "test_failure" and "test_area" in signals[0].message
    status, reason = judge_outcome(runner.outcome, bool(log))
    assert status == "partial" and "s1" in reason and runner.outcome.final.ok


@pytest.mark.parametrize("limit", [1])
async def test_the_rounds_of_adjustment_and_repair_are_limited_together(tmp_path: Path, limit: int) -> None:
    script = lambda call: by_symbol(call, area=WRONG)  # noqa: E731
    steps = (AREA, EDGE, NAME)
    runner, heard, _, shown, log = await carried_out(tmp_path, steps, script, max_adjustment_rounds=limit)
    assert runner.rounds <= limit and len(of(heard, ev.AdjustmentStarted)) <= limit
    assert shown == SHAPES and log == []
    assert set(runner.outcome.steps_failed) == {"s1", "s2", "s3"}
    assert judge_outcome(runner.outcome, False)[0] == "failed"


async def test_a_failed_step_adjusts_the_plan_by_verdicts_and_what_remains_is_done(tmp_path: Path) -> None:
    def script(call: RecordedCall) -> Answer:
        if "still valid given" in call.prompt:
            return Answer("no" if "ID: s3" in call.prompt else "yes")
        if "<remaining_steps>" in call.prompt:
            return Answer('{"revised_steps": [{"id": "s2", "description": "Write edge: twice the sum"}], "rationale": "r"}')
        return by_symbol(call, area=WRONG, edge=RIGHT)

    runner, heard, _, shown, log = await carried_out(
        tmp_path, (AREA, EDGE, NAME), script, max_adjustment_rounds=1, decomposed_adjustment=True
    )
    (adjusted,) = of(heard, ev.PlanAdjusted)
    assert [step.id for step in adjusted.after] == ["s2"] and adjusted.after[0].target_symbols == ("edge",)
    assert {verdict.step_id: verdict.viable for verdict in of(heard, ev.ViabilityVerdict)} == {"s2": True, "s3": False}
    assert runner.outcome.steps_done == {"s2"} and "2 * (w + h)" in shown and "w + h" not in shown.split("edge")[0]
    assert [step.id for step in runner.outcome.planned] == ["s1", "s2"], "a dropped step is not asked for any more"
    assert log == ["s2: Write edge: twice the sum of both sides"], "a kept step stays as it was"
