"""Ollama's native protocol: limits sent, faults in sentences, features found out."""

from __future__ import annotations

import pytest

from agent.models.types import ModelError
from tests.fakes import Answer, ScriptedServer, failing, stream_error
from tests.models.asking import ollama, target_of, text, yes_no


async def test_the_window_and_all_limits_are_sent() -> None:
    async with ScriptedServer("yes") as server, ollama(server) as provider:
        target = target_of(server, "ollama", context_window=4096, keep_alive="-1", seed=3)
        await provider.complete(yes_no("Is it?", target, stop=("X",)))
    (call,) = server.calls
    assert call.path == "/api/chat"
    assert call.body["options"] == {"num_ctx": 4096, "num_predict": 16, "temperature": 0.0, "seed": 3, "stop": ["X"]}
    assert call.body["keep_alive"] == -1
    assert call.body["think"] is False
    assert call.body["format"] == {"type": "string", "enum": ["yes", "no"]}


async def test_probability_and_counts() -> None:
    answer = Answer('"no"', p_yes=0.2, load_ms=1500, prompt_tokens=30, completion_tokens=2)
    async with ScriptedServer(answer) as server, ollama(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server, "ollama")))
    assert got.text == '"no"'
    assert got.p_yes == pytest.approx(0.2, abs=0.01)
    assert (got.load_ms, got.prompt_tokens, got.completion_tokens) == (1500, 30, 2)


async def test_an_older_server_without_logprobs_still_answers() -> None:
    async with ScriptedServer(Answer("yes", logprobs=False)) as server, ollama(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server, "ollama")))
    assert (got.text, got.p_yes) == ("yes", None)


async def test_a_model_that_cannot_think_is_asked_again_without() -> None:
    def script(call: object) -> Answer:
        body = call.body  # type: ignore[attr-defined]
        return failing(400, '"m" does not support thinking') if "think" in body else Answer("yes")

    async with ScriptedServer(script) as server, ollama(server) as provider:
        target = target_of(server, "ollama", thinking=True)
        assert (await provider.complete(yes_no("a", target))).text == "yes"
        assert (await provider.complete(yes_no("b", target))).text == "yes"
    assert len(server.calls) == 3


async def test_an_error_inside_a_200_is_an_error() -> None:
    fault = stream_error("model requires more system memory (8 GiB)")
    async with ScriptedServer(fault) as server, ollama(server) as provider:
        with pytest.raises(ModelError, match="8 GiB") as caught:
            await provider.complete(yes_no("Is it?", target_of(server, "ollama")))
    assert caught.value.kind == "memory"


async def test_a_model_that_is_not_pulled_gets_its_command() -> None:
    async with ScriptedServer(models=("other",)) as server, ollama(server) as provider:
        target = target_of(server, "ollama", model="qwen3:0.6b")
        with pytest.raises(ModelError) as caught:
            await provider.complete(yes_no("Is it?", target))
        info = await provider.check(target)
    assert caught.value.kind == "not_pulled"
    assert caught.value.hint == info.hint == "ollama pull qwen3:0.6b"
    assert not info.ok
    assert info.models == ("other",)


async def test_check_finds_the_model_and_its_window() -> None:
    async with ScriptedServer(models=("qwen3:latest",)) as server, ollama(server) as provider:
        info = await provider.check(target_of(server, "ollama", model="qwen3"))
    assert info.ok
    assert info.context_window is None  # /api/show of this server knows it only under its full name


async def test_a_prompt_that_fills_the_window_was_cut_by_it() -> None:
    answer = Answer("x", prompt_tokens=2048, completion_tokens=1)
    async with ScriptedServer(answer) as server, ollama(server) as provider:
        got = await provider.complete(text("Go", target_of(server, "ollama", context_window=2048)))
    assert got.finish == "context"


async def test_thinking_that_ate_the_budget_stays_in_the_log() -> None:
    answer = Answer("", thinking="on and on", finish="length", completion_tokens=16)
    async with ScriptedServer(answer) as server, ollama(server) as provider:
        got = await provider.complete(text("Go", target_of(server, "ollama", thinking=True)))
    assert got.finish == "length"
    assert "on and on" in got.text


async def test_nobody_there_says_how_to_start_it() -> None:
    server = ScriptedServer()
    await server.start()
    await server.stop()
    async with ollama(server) as provider:
        info = await provider.check(target_of(server, "ollama"))
    assert not info.ok
    assert "ollama serve" in info.hint
