"""Whole runs on the demos, over real HTTP, git, gcc and SQLite, with a scripted model."""

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent import events as ev
from agent.config.schema import repo_config_path
from agent.config.template import template
from agent.launch import PreflightError, open_run
from agent.state.run_state import RunState
from agent.workspace.demo import create_demo, load_demo
from tests.fakes.script import Answer, RecordedCall, together
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring

RING = (SOLUTIONS / "ring_buffer.c").read_bytes()


def settings(server: ScriptedServer, **sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    models = {"provider": "openai", "base_url": server.base_url, **sections.pop("models", {})}
    return {"models": models, **sections}


async def play(
    repo: Path, server: ScriptedServer, task: str, **options: Any
) -> tuple[ev.RunFinished, list[ev.Envelope], RunState]:
    sections = options.pop("sections", {})
    run = await open_run(task, repo, extra=settings(server, **sections), **options)
    heard: list[ev.Envelope] = []
    run.ctx.listeners.append(heard.append)
    try:
        finished = await run.execute()
    finally:
        await run.aclose()
    state = RunState()
    for envelope in heard:
        state.apply(envelope)
    return finished, heard, state


def of(heard: list[ev.Envelope], kind: type[ev.Event]) -> list[Any]:
    return [envelope.event for envelope in heard if isinstance(envelope.event, kind)]


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return create_demo("ring_buffer", tmp_path / "ring")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Three functions to write, where eight show nothing more."""
    return small_ring(tmp_path / "ring")


TASK = load_demo("ring_buffer").task
ASKING = {"retrieval": {"always_ask": True}}


async def test_a_c_task_ends_complete_with_includes_found_without_a_model(ring: Path) -> None:
    before = subprocess.run(["git", "status", "--porcelain"], cwd=ring, capture_output=True, text=True).stdout
    coder = Coder(RING)
    async with ScriptedServer(coder) as server:
        finished, heard, state = await play(ring, server, TASK)
    assert (finished.status, finished.stubs_left, finished.functions_failed) == ("complete", 0, 0), finished.reason
    assert len(coder.asked) == 8, "ring_create is right, though memory only comes back once ring_destroy is written"
    assert finished.functions == 8 and finished.includes_added >= 3
    assert finished.tests_before is not None and finished.tests_after is not None
    assert finished.tests_after.ok and (finished.tests_before.passed or 0) < (finished.tests_after.passed or 0)
    assert all(added.how == "deterministic" for added in of(heard, ev.IncludeAdded))
    assert isinstance(heard[-1].event, ev.RunFinished)
    assert not [call for call in of(heard, ev.CallStarted) if call.stage.startswith("error_")]
    assert state.plan is not None and state.plan.how == "facts"
    assert all(step.status == "done" for step in state.steps.values())
    after = subprocess.run(["git", "status", "--porcelain"], cwd=ring, capture_output=True, text=True).stdout
    assert before == after and b"stub" in (ring / "ring_buffer.c").read_bytes()
    log = subprocess.run(["git", "log", "--oneline", finished.branch], cwd=ring, capture_output=True, text=True).stdout
    assert sum(": Implement ring_" in line for line in log.splitlines()) == 8


async def test_the_template_runs_a_whole_task_as_it_is_but_for_the_server(small: Path) -> None:
    path = repo_config_path(small)
    path.parent.mkdir()
    path.write_text(template())
    async with ScriptedServer(Coder(RING)) as server:
        finished, _, _ = await play(small, server, TASK)
    assert finished.status == "complete", finished.reason


async def test_the_change_is_applied_when_asked(small: Path) -> None:
    async with ScriptedServer(Coder(RING)) as server:
        finished, heard, _ = await play(small, server, TASK, apply_when_complete=True)
    assert finished.applied and isinstance(heard[-1].event, ev.RunFinished)
    assert subprocess.run(["make", "test"], cwd=small, capture_output=True).returncode == 0
    assert subprocess.run(["git", "branch", "--show-current"], cwd=small, capture_output=True, text=True).stdout.strip()


async def test_a_broken_first_version_is_written_again_with_the_error_shown(small: Path) -> None:
    coder = Coder(
        RING, first={"ring_push": "bool ring_push(small_buffer *rb, int value)\n{\n    rb->size++;\n    return true;\n}"}
    )
    async with ScriptedServer(coder) as server:
        finished, _, _ = await play(small, server, TASK)
        prompts = [call.prompt for call in server.calls if "Write the function ring_push" in call.prompt]
    assert finished.status == "complete"
    assert len(prompts) == 2 and "no member named" in prompts[1] and "size" in prompts[1]


async def test_a_wrong_function_is_found_by_its_test_and_written_anew(small: Path) -> None:
    wrong = "int ring_max(const ring_buffer *rb)\n{\n    return rb->count ? rb->data[0] : INT_MIN;\n}"
    async with ScriptedServer(Coder(RING, first={"ring_max": wrong})) as server:
        finished, heard, _ = await play(small, server, TASK)
    assert finished.status == "complete", finished.reason
    versions = [one for one in of(heard, ev.FunctionCandidate) if one.symbol == "ring_max"]
    assert versions[0].points < 1.0 and versions[-1].points == 1.0
    assert versions[0].failure == "ring_max(&rb) → -2"


async def test_independent_functions_are_written_at_once_with_a_commit_each(ring: Path) -> None:
    coder = Coder(RING)

    def four_at_once(call: RecordedCall) -> Answer:
        return together(coder(call), 4) if "Write the function" in call.prompt else coder(call)

    async with ScriptedServer(four_at_once) as server:
        finished, _, _ = await play(ring, server, TASK, sections={"models": {"concurrency": 4}})
    assert finished.status == "complete" and finished.functions == 8
    assert server.max_in_flight == 4
    log = subprocess.run(["git", "log", "--oneline", finished.branch], cwd=ring, capture_output=True, text=True).stdout
    assert sum(": Implement ring_" in line for line in log.splitlines()) == 8


async def test_a_second_run_reuses_the_verdicts(small: Path) -> None:
    async with ScriptedServer(Coder(RING)) as server:
        first, _, _ = await play(small, server, TASK, sections=ASKING)
        second, heard, _ = await play(small, server, TASK, sections=ASKING)
    binary = [call for call in of(heard, ev.CallFinished) if call.verdict is not None]
    assert binary and all(call.cached for call in binary)
    assert second.cached_calls == len(binary) and second.calls < first.calls


@pytest.mark.parametrize("reply", ["", "perhaps", "```c\nint x;\n```", "{]"])
async def test_a_model_that_answers_garbage_ends_the_run_with_a_sentence(small: Path, reply: str) -> None:
    content = (small / "ring_buffer.c").read_bytes()
    async with ScriptedServer(Answer(reply, logprobs=False)) as server:
        finished, heard, _ = await play(small, server, TASK, sections={"coding": {"max_attempts": 2}, **ASKING})
    assert finished.status in ("failed", "partial") and finished.reason and finished.stubs_left == 3
    assert (small / "ring_buffer.c").read_bytes() == content
    assert [notice for notice in of(heard, ev.Notice) if notice.level == "warning"]


async def test_a_server_that_dies_ends_the_run_and_keeps_the_branch(small: Path) -> None:
    coder = Coder(RING)

    def dying(call: Any) -> Answer:
        if coder.asked and len(coder.asked) >= 2:
            return Answer(status=401, error="no")
        return coder(call)

    async with ScriptedServer(dying) as server:
        finished, _, _ = await play(small, server, TASK)
    assert finished.status == "partial" and finished.functions == 2 and finished.branch
    shown = subprocess.run(
        ["git", "show", f"{finished.branch}:ring_buffer.c"], cwd=small, capture_output=True, check=True
    ).stdout
    assert shown.count(b"stub") == 1


async def test_stopping_keeps_what_was_done(small: Path) -> None:
    coder = Coder(RING)
    async with ScriptedServer(coder) as server:
        run = await open_run(TASK, small, extra=settings(server))

        def stop(envelope: ev.Envelope) -> None:
            if isinstance(envelope.event, ev.StepFinished):
                run.stop()

        run.ctx.listeners.append(stop)
        finished = await run.execute()
        await run.aclose()
    assert finished.status == "stopped" and finished.functions == 1


_PROGRAM = """
import asyncio, sys
from pathlib import Path
from agent.launch import open_run
from agent.events import encode_event

async def main():
    run = await open_run(sys.argv[2], Path(sys.argv[1]), extra={"models": {"provider": "openai", "base_url": sys.argv[3]}})
    run.ctx.listeners.append(lambda envelope: print(envelope.seq, flush=True))
    await run.execute()

asyncio.run(main())
"""


async def test_a_killed_run_loses_nothing_shown_and_its_verdicts_are_reused(small: Path) -> None:
    coder = Coder(RING)
    path = repo_config_path(small)
    path.parent.mkdir(exist_ok=True)
    path.write_text("[retrieval]\nalways_ask = true\n")
    async with ScriptedServer(coder, latency=0.01) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _PROGRAM, str(small), TASK, server.base_url, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        shown = [int(await process.stdout.readline()) for _ in range(40)]
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        with sqlite3.connect(small / ".clean_room" / "raw.sqlite") as db:
            (last,) = db.execute("select max(seq) from events").fetchone()
            (answered,) = db.execute("select count(*) from calls where binary and verdict is not null").fetchone()
        assert last >= max(shown) and answered
        finished, _, _ = await play(small, server, TASK)
    assert finished.status == "complete" and finished.cached_calls >= answered


async def test_a_log_that_cannot_grow_ends_the_run_with_a_sentence(ring: Path) -> None:
    async with ScriptedServer(Coder(RING)) as server:
        path = repo_config_path(ring)
        path.parent.mkdir()
        path.write_text(f'[models]\nprovider = "openai"\nbase_url = "{server.base_url}"\n')
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tui", "run", TASK, "--repo", str(ring),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000)),
        )  # fmt: skip
        _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 3 and b"raw.sqlite cannot be written" in said and b"Traceback" not in said


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "no_source"])
async def test_what_cannot_be_worked_on_is_refused_before_anything_changes(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("x")
    elif kind != "missing":
        place.mkdir()
        if kind == "no_source":
            (place / "notes.txt").write_text("words")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    async with ScriptedServer("yes") as server:
        with pytest.raises(PreflightError) as caught:
            await open_run("do it", place, extra=settings(server))
    assert str(place) in str(caught.value) and caught.value.hint
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


async def test_a_task_that_leaves_no_room_in_the_window_is_refused_before_it_is_logged(ring: Path) -> None:
    async with ScriptedServer("yes") as server:
        with pytest.raises(PreflightError, match=r"The task has 20,000 char.* 8,192 tokens .* about 12,288") as caught:
            await open_run("x" * 20_000, ring, extra=settings(server))
    assert "a file of the repository" in caught.value.hint and not (ring / ".clean_room").exists()


async def test_a_call_that_was_asked_when_the_run_was_stopped_counts(small: Path) -> None:
    async with ScriptedServer("yes") as server:
        run = await open_run(TASK, small, extra=settings(server))
        run.ctx.listeners.append(lambda envelope: run.stop() if isinstance(envelope.event, ev.CallStarted) else None)
        finished = await run.execute()
        await run.aclose()
    with sqlite3.connect(small / ".clean_room" / "raw.sqlite") as db:
        assert db.execute("select status, calls from runs").fetchall() == [("stopped", finished.calls)]
    assert finished.calls >= 1


async def test_no_model_is_refused_with_the_command_that_fetches_it(ring: Path) -> None:
    with pytest.raises(PreflightError) as caught:
        await open_run(TASK, ring)
    assert caught.value.exit_code == 3 and "cra models pull" in f"{caught.value} {caught.value.hint}"
    assert not (ring / ".clean_room" / "work").exists()


async def test_an_unreachable_server_is_refused_with_its_address(ring: Path) -> None:
    async with ScriptedServer("yes") as server:
        pass
    with pytest.raises(PreflightError) as caught:
        await open_run(TASK, ring, extra=settings(server))
    assert server.base_url in str(caught.value) and caught.value.exit_code == 3


async def test_no_compiler_is_refused_for_c(ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "sh", "make"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("CC", raising=False)
    async with ScriptedServer("yes") as server:
        with pytest.raises(PreflightError, match="No C compiler") as caught:
            await open_run(TASK, ring, extra=settings(server))
    assert caught.value.exit_code == 3


async def test_binary_files_are_skipped_and_counted_and_latin_1_ones_read(small: Path) -> None:
    (small / "blob.c").write_bytes(b"\x00\x01\x02int x;")
    (small / "latin.c").write_bytes("int caf\xe9; /* \xfc */\n".encode("latin-1"))
    async with ScriptedServer(Coder(RING)) as server:
        finished, heard, _ = await play(small, server, TASK)
    assert finished.status == "complete"
    assert of(heard, ev.IndexRefreshed)[0].skipped == 1


async def test_a_stopped_run_is_taken_up_where_its_last_commit_is(small: Path) -> None:
    coder = Coder(RING)
    async with ScriptedServer(coder) as server:
        run = await open_run(TASK, small, extra=settings(server))

        def stop(envelope: ev.Envelope) -> None:
            if isinstance(envelope.event, ev.StepFinished) and envelope.event.step_id == "s2":
                run.stop()

        run.ctx.listeners.append(stop)
        await run.execute()
        await run.aclose()
        written = len(coder.asked)
        finished, heard, state = await play(small, server, TASK, resume=run.ctx.run_id)
    assert finished.status == "complete" and finished.functions == 3 and 0 < written < 3
    assert finished.tests_before is not None and finished.tests_before.passed == 11
    assert heard[0].seq > 20 and heard[0].run_id == run.ctx.run_id and state.started.branch == finished.branch
    assert set(coder.asked[written:]).isdisjoint(coder.asked[:written])
    assert [step.status for step in state.steps.values()] == ["done"] * 3
