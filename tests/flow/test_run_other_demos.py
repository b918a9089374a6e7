"""The Python demo and the demo from scratch, whole, with a scripted model over real HTTP."""

import re
from pathlib import Path
from typing import Any

import pytest

from agent import events as ev
from agent.workspace.demo import create_demo, load_demo
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Scaffolder
from tests.flow.test_run import of, play


def fixes_budget(call: RecordedCall) -> Answer:
    item = call.prompt[-700:]
    if call.body.get("max_tokens", 0) <= 16:
        return Answer("yes" if "budget.py" in item.split("Symbol:")[-1] and ("can_fit" in item or "File:" in item) else "no")
    found = re.findall(r"```python\n(.*?)```", call.prompt, re.S)
    if found:
        return Answer(f"```python\n{found[-1].replace('< self.remaining', '<= self.remaining')}```")
    return Answer("Fix the comparison in can_fit.")


async def test_the_off_by_one_is_found_and_fixed(tmp_path: Path) -> None:
    repo = create_demo("token_budget", tmp_path / "budget")
    async with ScriptedServer(fixes_budget) as server:
        finished, heard, _ = await play(repo, server, load_demo("token_budget").task)
    assert finished.status == "complete", finished.reason
    assert finished.tests_before is not None and finished.tests_after is not None
    assert not finished.tests_before.ok and finished.tests_after.ok
    assert "can_fit" in of(heard, ev.DiffReady)[0].diff


@pytest.mark.parametrize("decomposed", [False, True])
async def test_a_hash_table_from_nothing(tmp_path: Path, decomposed: bool) -> None:
    demo = load_demo("hash_table")
    repo = create_demo("hash_table", tmp_path / "hash")
    coder = Scaffolder((SOLUTIONS / "hash_table.c").read_bytes(), (SOLUTIONS / "hash_table.h").read_bytes())
    sections: dict[str, Any] = {
        "orchestrator": dict.fromkeys(
            ("decomposed_planning", "decomposed_scaffold", "decomposed_adjustment", "decomposed_error_classification"),
            decomposed,
        )
    }
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(repo, server, demo.task, hidden=demo.hidden, sections=sections)
        shown = "\n".join(call.text for call in server.calls)
    assert finished.status == "complete", finished.reason
    assert finished.functions >= 4 and finished.stubs_left == 0
    assert "acceptance" not in shown.replace("acceptance test", "")
    assert not of(heard, ev.EditRejected)
