"""Filling in the middle: what is sent to each kind of server, and what happens where it cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.reader import LogReader
from agent.models.types import CompletionRequest, ModelError, ModelTarget
from tests.fakes import Answer, ScriptedServer, failing
from tests.fakes.context import run_context
from tests.models.asking import ollama, openai, target_of


def gap(target: ModelTarget, **changes: object) -> CompletionRequest:
    """A request with a gap between two lines."""
    fields = {"system": "", "prompt": "if x ", "suffix": ":\n    pass\n", "stage": "implement", "stop": ("\n",)}
    return CompletionRequest(target=target, **{**fields, **changes})  # type: ignore[arg-type]


async def test_llama_server_gets_both_sides_and_every_limit() -> None:
    answer = Answer("< 3", prompt_tokens=9, cached_tokens=4, completion_tokens=2)
    async with ScriptedServer(answer) as server, openai(server) as provider:
        got = await provider.complete(gap(target_of(server, max_tokens=40, seed=9), temperature=0.6))
    call = server.calls[0]
    assert call.path == "/infill"
    assert (call.body["input_prefix"], call.body["input_suffix"]) == ("if x ", ":\n    pass\n")
    assert (call.body["n_predict"], call.body["seed"], call.body["temperature"]) == (40, 9, 0.6)
    assert (call.body["stop"], call.body["cache_prompt"]) == (["\n"], True)
    assert (got.text, got.finish, got.prompt_tokens, got.cached_tokens, got.completion_tokens) == ("< 3", "stop", 9, 4, 2)


async def test_a_gap_cut_by_its_limit_says_so() -> None:
    async with ScriptedServer(Answer("< 3", finish="length", completion_tokens=40)) as server, openai(server) as provider:
        assert (await provider.complete(gap(target_of(server, max_tokens=40)))).finish == "length"


@pytest.mark.parametrize("kind", ["vllm", "sglang", "plain"])
async def test_other_servers_are_not_asked(kind: str) -> None:
    async with ScriptedServer("x", kind=kind) as server, openai(server) as provider:
        with pytest.raises(ModelError) as error:
            await provider.complete(gap(target_of(server)))
    assert error.value.kind == "no_infill"
    assert server.calls == []


async def test_a_model_without_the_tokens_is_asked_once() -> None:
    script = failing(501, "Infill is not supported by this model: prefix token is missing.")
    async with ScriptedServer(script) as server, openai(server) as provider:
        for _ in range(2):
            with pytest.raises(ModelError) as error:
                await provider.complete(gap(target_of(server)))
            assert error.value.kind == "no_infill"
    assert len(server.calls) == 1


async def test_ollama_gets_a_suffix() -> None:
    async with ScriptedServer(Answer("< 3", completion_tokens=2)) as server, ollama(server) as provider:
        got = await provider.complete(gap(target_of(server, "ollama", max_tokens=40)))
    call = server.calls[0]
    assert call.path == "/api/generate"
    assert (call.body["prompt"], call.body["suffix"]) == ("if x ", ":\n    pass\n")
    assert call.body["options"]["num_predict"] == 40
    assert (got.text, got.finish) == ("< 3", "stop")


async def test_ollama_without_the_capability() -> None:
    async with ScriptedServer(failing(400, "model does not support insert")) as server, ollama(server) as provider:
        with pytest.raises(ModelError) as error:
            await provider.complete(gap(target_of(server, "ollama")))
    assert error.value.kind == "no_infill"


async def test_the_row_shows_both_sides_and_the_gap(tmp_path: Path) -> None:
    async with ScriptedServer("< 3") as server, run_context(tmp_path, server) as ctx:
        asked = await ctx.llm("implement").fill("if x ", ":\n    pass\n", item="line 1", max_tokens=40, stop=("\n",))
        assert asked.text == "< 3"
        reader = LogReader(ctx.log.path)
        row = reader.call_texts(asked.call_id)
        reader.close()
    assert row is not None
    assert row.task_context + row.question == "if x ⟨the gap⟩:\n    pass\n"
    assert server.calls[0].body["input_prefix"] == "if x "
