"""The embedded provider of one program: a real child process, one at a time, that never outlives its parent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.directories import data_directory
from agent.models import embedded_process
from agent.models.cores import physical_cores
from agent.models.embedded import EmbeddedProvider, _hosts
from agent.models.types import CompletionRequest, ModelError, ModelTarget
from tests.models.processes import ROOT, gone


@pytest.fixture
def _child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded_process, "SERVER_MODULE", "tests.models.child")
    monkeypatch.setattr(embedded_process.EmbeddedProcess, "require_library", staticmethod(lambda: None))
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path))


@pytest.fixture
async def provider(_child: None) -> AsyncIterator[EmbeddedProvider]:
    told: list[tuple[str, str]] = []
    made = EmbeddedProvider(lambda name: Path(f"/models/{name}.gguf"), status=lambda *what: told.append(what))
    made.told = told  # type: ignore[attr-defined]
    yield made
    await made.aclose()


def ask(prompt: str, model: str = "small", window: int = 4096, yes_no: bool = False) -> CompletionRequest:
    target = ModelTarget("embedded", model, context_window=window, max_tokens=64, first_byte_timeout=20)
    return CompletionRequest(system="s", prompt=prompt, stage="scope", target=target, yes_no=yes_no)


async def test_an_answer_its_probability_and_no_process_afterwards(provider: EmbeddedProvider) -> None:
    got = await provider.complete(ask("Is it?", yes_no=True))
    assert (got.text, got.provider, got.model) == ("yes", "embedded", "small")
    assert got.p_yes == pytest.approx(0.8, abs=0.01)
    pid, arguments = (await provider.complete(ask("who"))).text.split(" ", 1)
    assert f"--ctx 4096 --threads {physical_cores()}" in arguments
    await provider.aclose()
    assert await asyncio.to_thread(gone, int(pid))


async def test_one_process_serves_all_calls_and_all_providers(provider: EmbeddedProvider) -> None:
    other = EmbeddedProvider(lambda name: Path(f"/models/{name}.gguf"))
    answers = await asyncio.gather(*(p.complete(ask("who")) for p in (provider, other, provider)))
    assert len({answer.text for answer in answers}) == 1
    await provider.aclose()
    assert (await other.complete(ask("who"))).text == answers[0].text  # it lives as long as its last user
    await other.aclose()
    assert await asyncio.to_thread(gone, int(answers[0].text.split()[0]))


async def test_another_model_takes_the_place_of_the_first(provider: EmbeddedProvider) -> None:
    slow = asyncio.create_task(provider.complete(ask("Is it?", yes_no=True)))
    await asyncio.sleep(0)
    first = int((await provider.complete(ask("who"))).text.split()[0])
    second = (await provider.complete(ask("who", model="large"))).text
    assert "/models/large.gguf" in second
    assert (await slow).text == "yes"
    assert await asyncio.to_thread(gone, first)
    loading = [text for what, text in provider.told if what == "loading"]  # type: ignore[attr-defined]
    assert loading == ["small", "large (in place of small: another model is needed)"]


async def test_a_larger_window_restarts_and_a_smaller_one_does_not(provider: EmbeddedProvider) -> None:
    first = (await provider.complete(ask("who", window=4096))).text
    assert (await provider.complete(ask("who", window=2048))).text == first
    assert "--ctx 8192" in (await provider.complete(ask("who", window=8192))).text
    assert "--ctx 8192" in (await provider.complete(ask("who", window=4096))).text


async def test_the_largest_window_of_all_stages_is_taken_at_once(_child: None) -> None:
    made = EmbeddedProvider(lambda name: Path(f"/models/{name}.gguf"), contexts={"small": 16384})
    try:
        assert "--ctx 16384" in (await made.complete(ask("who"))).text
    finally:
        await made.aclose()


async def test_a_process_that_dies_is_started_again_once(provider: EmbeddedProvider) -> None:
    await provider.complete(ask("who"))
    with pytest.raises(ModelError, match="assertion failed in layer 7"):
        await provider.complete(ask("die"))
    assert (await provider.complete(ask("Is it?"))).text == "yes"


async def test_killed_from_outside_it_comes_back(provider: EmbeddedProvider) -> None:
    pid = int((await provider.complete(ask("who"))).text.split()[0])
    os.kill(pid, 9)
    assert await asyncio.to_thread(gone, pid)
    assert int((await provider.complete(ask("who"))).text.split()[0]) != pid


@pytest.mark.parametrize(
    ("model", "kind", "says"),
    [("broken", "protocol", "not within the file bounds"), ("heavy", "memory", "does not fit into memory")],
)
async def test_a_model_that_cannot_be_loaded_says_why(provider: EmbeddedProvider, model: str, kind: str, says: str) -> None:
    with pytest.raises(ModelError, match=says) as caught:
        await provider.complete(ask("Is it?", model=model))
    assert caught.value.kind == kind
    assert caught.value.hint


async def test_a_log_that_grew_large_starts_anew_and_still_says_why(provider: EmbeddedProvider) -> None:
    log = data_directory() / "logs" / "embedded.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"old words\n" * 200_000)
    with pytest.raises(ModelError, match="not within the file bounds") as caught:
        await provider.complete(ask("Is it?", model="broken"))
    assert "old words" not in str(caught.value)
    assert log.stat().st_size < 10_000


async def test_a_load_that_is_cancelled_leaves_no_process(provider: EmbeddedProvider) -> None:
    task = asyncio.create_task(provider.complete(ask("who")))
    while not provider.told:  # type: ignore[attr-defined]
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _hosts[asyncio.get_running_loop()].process is None
    assert (await provider.complete(ask("Is it?"))).text == "yes"


async def test_two_event_loops_of_one_program_share_one_server(provider: EmbeddedProvider) -> None:
    first = (await provider.complete(ask("who"))).text

    async def elsewhere() -> str:
        made = EmbeddedProvider(lambda name: Path(f"/models/{name}.gguf"))
        try:
            return (await made.complete(ask("who"))).text
        finally:
            await made.aclose()

    assert await asyncio.to_thread(asyncio.run, elsewhere()) == first
    assert (await provider.complete(ask("who"))).text == first


async def test_check_starts_nothing(provider: EmbeddedProvider) -> None:
    assert (await provider.check(ask("").target)).ok
    assert not provider.told  # type: ignore[attr-defined]


async def test_a_missing_file_says_how_to_fetch_it(_child: None) -> None:
    from agent.models.store import require_model

    made = EmbeddedProvider(require_model)
    target = ModelTarget("embedded", "qwen2.5-coder-0.5b")
    info = await made.check(target)
    assert (info.ok, info.hint) == (False, "cra models pull qwen2.5-coder-0.5b")
    with pytest.raises(ModelError, match="not on this machine"):
        await made.complete(ask("Is it?", model=target.model))
    await made.aclose()


PARENT = """
import asyncio, os
from pathlib import Path
from agent.models import embedded_process
from agent.models.embedded import EmbeddedProvider
from agent.models.types import CompletionRequest, ModelTarget
embedded_process.SERVER_MODULE = "tests.models.child"
embedded_process.EmbeddedProcess.require_library = staticmethod(lambda: None)
async def main():
    made = EmbeddedProvider(lambda name: Path("/models/small.gguf"))
    target = ModelTarget("embedded", "small")
    got = await made.complete(CompletionRequest(system="s", prompt="who", stage="x", target=target))
    print(got.text.split()[0], flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""


async def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "CRA_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", PARENT], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert await asyncio.to_thread(gone, int(done.stdout))
