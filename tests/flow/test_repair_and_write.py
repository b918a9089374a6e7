"""A task that wants something mended and something written besides: both are done, the writing first."""

from __future__ import annotations

from pathlib import Path

from agent import events as ev
from agent.workspace.git import run_git
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring
from tests.flow.test_run import of, play
from tests.repair.operators_on import only

RING = (SOLUTIONS / "ring_buffer.c").read_bytes()
TASK = "Fix ring_push, which takes one element too many, and implement the functions declared in ring_buffer.h"


async def test_what_is_declared_is_written_then_the_fault_is_searched(tmp_path: Path) -> None:
    repo = small_ring(tmp_path / "ring", ("ring_max",))
    source = (repo / "ring_buffer.c").read_text()
    assert source.count("if (rb->count == rb->capacity)") == 1
    (repo / "ring_buffer.c").write_text(source.replace("if (rb->count == rb->capacity)", "if (rb->count > rb->capacity)"))
    run_git(repo, "commit", "-q", "-a", "-m", "Take more")
    async with ScriptedServer(Coder(RING)) as server:
        finished, heard, state = await play(repo, server, TASK, sections={"repair": only("comparison")})
    assert finished.status == "complete", finished.reason
    assert [one.symbol for one in of(heard, ev.FunctionImplemented)] == ["ring_max"]
    order = [type(one.event) for one in heard]
    assert order.index(ev.FunctionImplemented) < order.index(ev.RepairStarted)
    (searched,) = of(heard, ev.RepairStarted)
    assert set(searched.failing) == {"test_push_refuses_when_full"}, "what was missing is not a failure any more"
    assert of(heard, ev.RepairFinished)[0].mended
    assert [(one.status, one.step.target_symbols) for one in state.steps.values() if one.status == "done"] == [
        ("done", ("ring_max",)), ("done", ("ring_push",)),
    ]  # fmt: skip
