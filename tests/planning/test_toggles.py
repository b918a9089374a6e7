"""The toggles are off when absent, and each moves the work to the stages it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config.schema import Config
from agent.planning.adjustment.adjust import adjust
from agent.planning.plan import make_plan
from agent.planning.schema import KnownSymbol, StepResult
from tests.planning.engine import as_json, engine
from tests.planning.test_adjustment import COMPILE, S2, S3

BINARY = {"adjustment_step_viability", "adjustment_root_cause", "adjustment_new_step"}


def test_all_are_off_when_absent() -> None:
    orchestrator = Config().orchestrator
    assert not orchestrator.decomposed_planning
    assert not orchestrator.decomposed_part_grouping
    assert not orchestrator.decomposed_adjustment


@pytest.mark.parametrize("on", [False, True])
async def test_planning(tmp_path: Path, on: bool) -> None:
    points = {"points": [{"target": "a.py:f", "change": "modify", "why": "w"}]}
    parts = {"parts": [{"do": "w", "targets": ["a.py:f"]}]}
    script = [("List every place", as_json(points)), ("Write the plan as", as_json(parts))]
    async with engine(tmp_path, script, decomposed_planning=on) as run:
        plan = await make_plan(
            run.ctx, task="Speed up f", package_text="", files=("a.py",), open_points=(),
            symbols=(KnownSymbol("f", "a.py", "function", "primary"), KnownSymbol("g", "a.py", "function", "primary")),
        )  # fmt: skip
    assert run.stages() == (["change_point_enum"] if on else ["meta_plan"])
    assert plan.how == ("decomposed" if on else "monolithic")


@pytest.mark.parametrize("on", [False, True])
async def test_adjustment(tmp_path: Path, on: bool) -> None:
    kept = as_json({"revised_steps": [{"id": "s3", "description": S3.description}]})
    script = [("<remaining_steps>", kept), ("Answer yes or no", lambda call: "still valid" in call.prompt)]
    async with engine(tmp_path, script, decomposed_adjustment=on) as run:
        results = [StepResult("s2", False, signals=(COMPILE,))]
        made = await adjust(run.ctx, task="t", results=results, remaining=(S3,), executed=(S2,))
    assert [s.id for s in made.revised_steps] == ["s3"]
    assert (set(run.stages()) >= BINARY) is on
    assert run.stages()[-1] == ("adjustment_finalize" if on else "adjustment")
    assert made.rework == ("s2",), "both ways return the same kind of adjustment"
