"""A Python version that does not end in one test: what the other tests say of it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import events as ev
from agent.flow import checks
from agent.workspace import isolated
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play
from tests.flow.test_samples import repository

FILES = {
    "doubling.py": "def doublings(goal):\n    pass\n",
    "test_doubling.py": "from doubling import doublings\n\n\ndef test_some():\n    assert doublings(8) == 3\n\n\n"
    "def test_none():\n    assert doublings(0) == 0\n",
    "README.md": "How often 1 is doubled until it reaches the goal; 0 times for a goal below 1.\n",
}
FIRST = """def doublings(goal):
    count, value = 0, 1
    while value != goal:
        value, count = value * 2 % 1024, count + 1
    return count
"""


async def test_a_test_that_does_not_end_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SOON", 1.5)
    monkeypatch.setattr(checks, "LEAST_PATIENCE", 3.0)
    monkeypatch.setattr(isolated, "LEAST_ALONE", 0.3)
    prompts = []

    def writer(call: RecordedCall) -> Answer:
        prompts.append(call.prompt)
        return Answer(f"```python\n{FIRST.replace('!=', '<') if len(prompts) > 1 else FIRST}```")

    async with ScriptedServer(writer) as server:
        task = "Implement doubling.py as README.md describes, so that the tests in test_doubling.py pass."
        sections = {"orchestrator": {"decomposed_repair": False}}
        finished, heard, _ = await play(repository(tmp_path / "r", FILES), server, task, sections=sections)
    assert finished.status == "complete", finished.reason
    assert [one.points for one in of(heard, ev.FunctionCandidate)] == [0.5, 1.0]
