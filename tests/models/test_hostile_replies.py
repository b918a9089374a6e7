"""Servers and models that send what nobody asked for: whatever comes, it is read in little time or refused in a sentence."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from agent.models import http
from agent.models.answers import extract_json, parse_yes_no, unwrap_fence
from agent.models.server import LONGEST_START, LONGEST_TOKEN
from agent.models.types import Completion, ModelError
from agent.thinking import strip_thinking
from tests.fakes import ScriptedServer
from tests.fakes.script import Answer, drip, raw
from tests.models.asking import ollama, openai, systemone, target_of, yes_no


def chat(content: Any = "yes", **more: Any) -> bytes:
    choice = {"message": {"content": content, **more.pop("message", {})}, "finish_reason": "stop", **more.pop("choice", {})}
    return json.dumps({"choices": [choice], **more}).encode()


LOGPROBS = {"content": [{"token": "yes", "logprob": "x", "top_logprobs": [{"token": None}, 5, {"token": "no"}]}, 7]}


async def ask(answer: Answer, provider: str = "openai") -> Completion:
    async with ScriptedServer(answer) as server:
        speak = {"openai": openai, "ollama": ollama, "systemone": systemone}[provider]
        async with speak(server) as asking:
            completion: Completion = await asking.complete(yes_no("Is it?", target_of(server, provider)))
            return completion


@pytest.mark.parametrize(
    "body",
    [
        chat(usage={"prompt_tokens": 10**30, "completion_tokens": 1e300, "prompt_tokens_details": 3}, timings=[1]),
        chat(usage=[1, 2]),
        chat(usage="many", timings="long"),
        b'{"choices":[{"message":{"content":"yes"}}],"usage":{"prompt_tokens":1e999,"completion_tokens":-5}}',
        b'{"choices":[{"message":{"content":"yes"},"logprobs":{"content":[{"logprob":NaN}]}}]}',
        b"\xef\xbb\xbf" + chat(),
        b'{"choices":[],"choices":[{"message":{"content":"no","content":"yes"}}]}',
        chat([{"type": "text", "text": "yes"}]),
        chat(choice={"finish_reason": {"a": 1}, "logprobs": "abc"}),
        chat(choice={"logprobs": LOGPROBS}),
    ],
)
async def test_odd_fields_around_an_answer_do_no_harm(body: bytes) -> None:
    got = await ask(raw(body))
    assert got.text == "yes" and 0 <= got.prompt_tokens < 2**53 and 0 <= got.completion_tokens < 2**53


async def test_what_is_no_unicode_is_replaced() -> None:
    assert (await ask(raw(b'{"choices":[{"message":{"content":"yes \\ud800."}}]}'))).text == "yes ?."
    assert (await ask(raw(b'{"choices":[{"message":{"content":"yes \xff"}}]}'))).text == "yes \ufffd"


@pytest.mark.parametrize(
    "body",
    [
        b"null", b"[]", b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"choices":null}', chat(5),
        chat({"a": 1}), chat(message={"reasoning_content": 7}), b'{"choices":["yes"]}', b'{"choices":[{"message":"yes"}]}',
        b'{"choices":{"0":{"message":{"content":"yes"}}}}',
    ],
)  # fmt: skip
async def test_what_is_no_answer_is_refused_in_a_sentence(body: bytes) -> None:
    with pytest.raises(ModelError, match="is not what a model server sends") as caught:
        await ask(raw(body))
    assert caught.value.hint


@pytest.mark.parametrize("body", [b'{"message":"yes"}', b'{"message":{"content":7}}', b'{"message":null,"done":true}'])
async def test_ollama_that_sends_no_answer_is_refused_too(body: bytes) -> None:
    with pytest.raises(ModelError, match="is not what a model server sends"):
        await ask(raw(body), "ollama")
    got = await ask(raw(b'{"message":{"content":"yes"},"eval_count":1e300,"logprobs":"x","load_duration":"long"}'), "ollama")
    assert (got.text, got.completion_tokens, got.load_ms) == ("yes", 0, 0)


@pytest.mark.parametrize("answer", ['"yes"', "null", "{}", '{"noul":2}', '{"noul":NaN}', '{"noul":"0.5"}'])
async def test_a_decision_that_is_no_probability_is_refused(answer: str) -> None:
    with pytest.raises(ModelError, match="is not what a model server sends"):
        await ask(raw(f'{{"answers":{{"q1":{answer}}},"usage":[]}}'.encode()), "systemone")


async def test_a_reply_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BODY_SECONDS", 0.3)
    async with ScriptedServer(drip()) as server, openai(server) as provider:
        with pytest.raises(ModelError, match="began and did not end"):
            await provider.complete(yes_no("Is it?", target_of(server, first_byte_timeout=0.3)))
    assert len(server.calls) == 1


async def test_a_server_that_disregards_the_limit_has_its_reply_cut() -> None:
    async with ScriptedServer(Answer("yes because " + "x" * 1_000_000)) as server, openai(server) as provider:
        target = target_of(server, max_tokens=16)
        got = await provider.complete(yes_no("Is it?", target))
    assert len(got.text) == LONGEST_TOKEN * 16 + LONGEST_START and got.finish == "length"


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 37_500, "<think></thinking>" * 15_000, "</think>" * 30_000, "<think></think>" * 15_000,
        "```\n" + "\n" * 250_000 + "x", "```\n" + "```\n" * 50_000, "`" * 250_000, "answer" + " " * 250_000 + "x",
        "answer is " * 25_000, " " * 250_000, "yes-" * 62_500, '{"a":' * 50_000, "[" * 250_000, '["' * 100_000,
        "{}" * 100_000, "\r" * 250_000, "\0" * 250_000, "ﷺ" * 12_500,
    ],
    ids=lambda text: ascii(text[:8]),
)  # fmt: skip
def test_a_flood_of_anything_is_read_at_once(text: str) -> None:
    began = time.process_time()
    for read in (parse_yes_no, extract_json, strip_thinking, unwrap_fence):
        read(text)
    assert time.process_time() - began < 2.0, "quadratic reading takes minutes"
