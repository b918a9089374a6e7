"""The demos with the real model. Asserted is only what does not hang on its luck: facts, accounting, and what was kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.events import decode_event
from agent.models.store import find_model
from agent.workspace.demo import create_demo, load_demo

MODEL = find_model("qwen2.5-coder-1.5b")
pytestmark = [pytest.mark.live, pytest.mark.skipif(MODEL is None, reason="the model is not fetched: cra models pull")]


def headless(name: str, place: Path, *options: str) -> tuple[int, list]:
    """Run a demo's task as the command line does; (exit code, events)."""
    demo = load_demo(name)
    repo = create_demo(name, place)
    environment = {**os.environ, "CRA_MODEL_PATH": str(MODEL)}
    done = subprocess.run(
        [sys.executable, "-m", "tui", "run", demo.task, "--repo", str(repo), "--json", *options],
        capture_output=True,
        text=True,
        env=environment,
        timeout=800,
    )
    assert done.stdout, done.stderr
    return done.returncode, [decode_event(line) for line in done.stdout.splitlines()]


def test_ring_buffer_by_the_real_model(tmp_path: Path) -> None:
    code, events = headless("ring_buffer", tmp_path / "ring", "--set", "retrieval.always_ask=true")
    names = [type(event).__name__ for event in events]
    finished = events[-1]
    print(json.dumps({"status": finished.status, "reason": finished.reason, "calls": finished.calls,
                      "seconds": finished.seconds, "functions": finished.functions}))  # fmt: skip
    assert names[-1] == "RunFinished" and code == {"complete": 0}.get(finished.status, 1)
    assert {"IndexRefreshed", "CascadePass", "PlanMade", "ChecksRun", "DiffReady"} <= set(names)
    binary = [event for event in events if type(event).__name__ == "CallFinished" and event.verdict is not None]
    assert binary and all(0.0 <= call.p_yes <= 1.0 for call in binary)
    plan = next(event for event in events if type(event).__name__ == "PlanMade")
    assert plan.how == "facts" and len(plan.steps) == 8
    assert finished.functions >= 4, finished.reason
    includes = [event for event in events if type(event).__name__ == "IncludeAdded" and event.kept]
    assert includes and all(event.how == "deterministic" for event in includes)
    assert finished.tests_after is not None and finished.tests_before is not None
    assert (finished.tests_after.passed or 0) > (finished.tests_before.passed or 0)
