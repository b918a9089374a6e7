"""The order of steps when a compile says what must come first."""

from pathlib import Path

from agent.events import StepFinished
from agent.flow.outcome import RunOutcome
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.flow.survey import survey
from agent.launch import open_run
from agent.planning.schema import Plan, PlanStep
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import settings

HEADER = "typedef struct box box;\n\n/* The box's size. */\nint box_size(const box *b);\n"
SOURCE = '#include "box.h"\n\nint box_size(const box *b)\n{\n    /* stub */\n    return 0;\n}\n'


def answers(call: RecordedCall, asked: list[str]) -> Answer:
    if "Write the function box_size" in call.prompt or "data structure" in call.system:
        asked.append(call.prompt)
    if "Write the function box_size" in call.prompt:
        return Answer("```c\nint box_size(const box *b)\n{\n    return b->size;\n}\n```")
    if "struct box" in call.prompt and "data structure" in call.system:
        return Answer("```c\nstruct box { int size; };\n```")
    return Answer("no" if call.body.get("max_tokens", 0) <= 32 else "Write it.")


async def test_what_is_missing_goes_to_the_front_of_the_queue(tmp_path: Path) -> None:
    (tmp_path / "box.h").write_text(HEADER)
    (tmp_path / "box.c").write_text(SOURCE)
    toggles = {"orchestrator": {"decomposed_error_classification": True}, "coding": {"max_attempts": 3}}
    asked: list[str] = []
    async with ScriptedServer(lambda call: answers(call, asked)) as server:
        run = await open_run("Implement box.h", tmp_path, extra=settings(server, **toggles))
        found = await survey(run.ctx, run.workspace, run.task)
        outcome = RunOutcome()
        parts = RunParts.of(run.ctx, run.workspace, found, run.checks, outcome)
        runner = StepRunner(parts)
        ended: list[tuple[str, bool]] = []
        run.ctx.listeners.append(
            lambda envelope: (
                ended.append((envelope.event.step_id, envelope.event.ok))
                if isinstance(envelope.event, StepFinished)
                else None
            )
        )
        step = PlanStep("s1", "Implement box_size", ("box.c",), ("box_size",), kind="function_implement")
        await runner.run(Plan((step,), "facts"))
        parts.close()
        await run.aclose()
    assert ended == [("s1", False), ("d.box", True), ("s1", True)]
    assert outcome.functions_done == {"box_size"} and not outcome.steps_failed
    assert len(asked) == 2, "the version that waited is compiled again, not asked for again"
