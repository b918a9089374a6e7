"""Answers heard while they are written: the same completion as a whole reply, whatever the server does with the stream."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.repetition import goes_round
from agent.models.streamed_reply import OllamaPieces, OpenAIPieces
from agent.models.types import Completion, ModelError, PartialAnswer
from tests.fakes import Answer, RecordedCall, ScriptedServer, failing, times
from tests.fakes.script import raw
from tests.fakes.wire import CHAT, OLLAMA, pieces_of, reply_to
from tests.models.asking import ollama, openai, target_of, text

CODE = "bool ring_push(ring_buffer *rb, int value)\n{\n    rb->data[rb->head] = value;  /* „ü“ 🦊 */\n    return true;\n}\n"


class Hearing:
    """What came while it was written."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.tokens: list[int] = []

    def __call__(self, written: PartialAnswer) -> None:
        self.texts.append(written.so_far())
        self.tokens.append(written.tokens)


async def ask(
    answer: Any, hearing: Hearing | None, provider: str = "openai", kind: str = "llama", **server_options: Any
) -> tuple[Completion, ScriptedServer]:
    async with ScriptedServer(answer, kind=kind, **server_options) as server:
        speak = {"openai": openai, "ollama": ollama}[provider]
        async with speak(server) as asking:
            request = text("Go", target_of(server, provider, max_tokens=400), progress=hearing)
            return await asking.complete(request), server


def same(one: Completion, other: Completion) -> bool:
    """All but the time it took."""
    return msgspec.structs.replace(one, ms=0) == msgspec.structs.replace(other, ms=0)


ANSWERS = (
    Answer(CODE, cached_tokens=7),
    Answer(CODE, thinking="First the head moves.\nThen the count."),
    Answer(CODE, finish="length", completion_tokens=400),
    Answer(CODE, finish="length", completion_tokens=40),
    Answer(""),
)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize("answer", ANSWERS)
async def test_a_text_heard_while_it_is_written_is_the_same_answer(answer: Answer, provider: str) -> None:
    hearing = Hearing()
    streamed, server = await ask(answer, hearing, provider)
    whole, other = await ask(answer, None, provider)
    assert same(streamed, whole)
    assert server.calls[-1].body["stream"] is True
    assert other.calls[-1].body["stream"] is False
    if answer.text:
        assert hearing.texts[-1] == streamed.text
        assert hearing.tokens == list(range(1, len(hearing.tokens) + 1))
        assert all(streamed.text.startswith(heard) for heard in hearing.texts)


@pytest.mark.parametrize("kind", ["llama", "vllm", "sglang", "plain"])
async def test_every_kind_of_server_is_asked_for_its_figures_too(kind: str) -> None:
    got, server = await ask(CODE, Hearing(), kind=kind)
    assert server.calls[0].body["stream_options"] == {"include_usage": True}
    assert got.text == CODE and got.prompt_tokens > 0 and got.completion_tokens > 0


ROUND = (
    "    if not (a.isalpha() and b.isalpha() and a.islower() and b.islower() and a.isnumeric() and b.isnumeric()):\n"
    "        raise ValueError('a and b must be lowercase letters or digits')\n"
)


async def circling(kind: str, no_circles: bool) -> tuple[Completion, ScriptedServer]:
    async with ScriptedServer(Answer("def f(a, b):\n" + ROUND * 20), kind=kind) as server, openai(server) as provider:
        request = msgspec.structs.replace(text("Go", target_of(server, max_tokens=4000)), no_circles=no_circles)
        return await provider.complete(request), server


async def test_a_reply_that_goes_round_in_circles_is_not_waited_for() -> None:
    got, server = await circling("llama", True)
    assert got.text.count("ValueError") < 20 and got.text.startswith("def f(a, b):\n" + ROUND)
    assert got.finish == "length" and got.prompt_tokens > 0 and got.completion_tokens > 0
    assert server.calls[0].body["timings_per_token"] is True


@pytest.mark.parametrize(("kind", "no_circles"), [("llama", False), ("plain", True)])
async def test_other_servers_and_calls_are_heard_to_the_end(kind: str, no_circles: bool) -> None:
    got, server = await circling(kind, no_circles)
    assert got.text.count("ValueError") == 20 and got.finish == "stop" and server.calls[0].body["stream"] is False


@pytest.mark.parametrize(
    ("written", "round_"),
    [
        (ROUND * 5, True),
        (ROUND * 5 + "done\n", False),
        ("[0, 0, 0, 0, 0, 0, 0, 0, 0],\n" * 9, False),
        ("".join(f"{ROUND}# {n}\n" for n in range(20)), False),
        ("", False),
        ("".join(f"if n == {n}:\n    return {' + '.join(['one'] * n)}\n" for n in range(1, 10)), True),
        ("".join(f"if n == {n}:\n    return {' + '.join(['one'] * n)}\n" for n in range(1, 6)), False),
        ("".join(f"case {n}:\n    return {n % 3};\n" for n in range(1, 30)), False),
        ("".join(f"case {n}:\n    return {10**n};\n" for n in range(1, 20)), False),
        ("".join(f'if n == {n}:\n    return "{"day " * n}."\n' for n in range(1, 13)), False),
    ],
)
def test_lines_three_times_over_are_a_circle(written: str, round_: bool) -> None:
    assert goes_round(written) is round_


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_a_server_that_answers_whole_all_the_same_is_understood(provider: str) -> None:
    hearing = Hearing()
    got, _ = await ask(CODE, hearing, provider, streams=False)
    assert (got.text, got.finish, hearing.texts) == (CODE, "stop", [])


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize("fault", ["cut", "torn"])
async def test_an_answer_that_breaks_off_is_asked_again_as_a_whole_one_would_be(fault: str, provider: str) -> None:
    hearing = Hearing()
    got, server = await ask([("Go", times(2, Answer(CODE, fault=fault), CODE))], hearing, provider)
    assert got.text == CODE and len(server.calls) == 3
    assert hearing.tokens.count(1) == 3, "each try starts again"
    with pytest.raises(ModelError, match=r"broke off|peer closed") as caught:
        await ask(Answer(CODE, fault=fault), Hearing(), provider)
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_a_line_of_garbage_in_the_middle_is_an_error_of_the_call(provider: str) -> None:
    with pytest.raises(ModelError, match="is not what a model server sends") as caught:
        await ask(Answer(CODE, fault="garbage_line"), Hearing(), provider)
    assert caught.value.kind == "protocol"


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_an_error_in_the_middle_says_what_the_server_said(provider: str) -> None:
    with pytest.raises(ModelError, match="the slot went away"):
        await ask(Answer(CODE, fault="late_error", error="the slot went away"), Hearing(), provider)
    with pytest.raises(ModelError) as caught:
        await ask(Answer(CODE, fault="late_error", error="failed to allocate compute buffers"), Hearing(), provider)
    assert caught.value.kind == "memory"


async def test_an_error_event_of_an_older_server_is_one_as_well() -> None:
    body = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\nerror: {"code":501,"message":"no such slot","type":"x"}\n\n'
    with pytest.raises(ModelError, match="no such slot"):
        await ask(raw(body), Hearing())


async def test_a_server_that_counts_nothing_in_a_stream_is_asked_for_whole_replies_from_then_on() -> None:
    async with ScriptedServer(Answer(CODE, usage=False)) as server, openai(server) as provider:
        target = target_of(server, max_tokens=400)
        got = [await provider.complete(text(f"{n}", target, progress=Hearing())) for n in range(3)]
    assert [one.text for one in got] == [CODE] * 3
    assert [one.completion_tokens > 0 for one in got] == [False, True, True]
    assert [call.body["stream"] for call in server.calls] == [True, False, False]


@pytest.mark.parametrize("said", ["streaming is not supported here", "stream_options: extra fields not permitted"])
async def test_a_server_that_refuses_the_stream_or_its_options_is_asked_without(said: str) -> None:
    field = "stream_options" if "options" in said else "stream"

    def picky(call: RecordedCall) -> Answer:
        return failing(400, said) if call.body.get(field) else Answer(CODE)

    hearing = Hearing()
    got, server = await ask(picky, hearing, kind="plain")
    assert got.text == CODE and len(server.calls) == 2
    assert bool(hearing.texts) == (field == "stream_options")


async def test_cancelling_breaks_the_stream_off_at_the_server_too() -> None:
    heard = asyncio.Event()
    async with ScriptedServer(Answer(CODE * 20, pace=0.01)) as server, openai(server) as provider:
        request = text("Go", target_of(server, max_tokens=400), progress=lambda written: heard.set())
        call = asyncio.create_task(provider.complete(request))
        await asyncio.wait_for(heard.wait(), 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(10):
            while server.in_flight:
                await asyncio.sleep(0.01)
    assert server.broken_off == 1


async def test_a_stream_that_stands_still_is_given_up_like_a_server_that_sends_nothing() -> None:
    with pytest.raises(ModelError, match="sent nothing for"):
        async with ScriptedServer(Answer(CODE, pace=30)) as server, openai(server) as provider:
            request = text("Go", target_of(server, first_byte_timeout=0.2), progress=Hearing())
            await provider.complete(request)


@pytest.mark.parametrize(
    "odd",
    [
        b": keep-alive\n\n", b"event: message\nid: 7\nretry: 10\n", b"\n\n", b"data:\n", b'data: {"choices":[]}\n\n',
        b'data: {"choices":null,"usage":null}\n\n', b'data: {"choices":[{"delta":null}]}\n\n',
        b'data: {"choices":\ndata: []}\n\n', b'data: {"choices":[{"index":0,"delta":{"content":[]}}]}\n\n',
    ],
)  # fmt: skip
async def test_what_a_stream_may_hold_besides_does_no_harm(odd: bytes) -> None:
    one, two = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', b'data: {"choices":[{"delta":{"content":"b"}}]}\r\n\r\n'
    got, _ = await ask(raw(odd + one + odd + two + odd + b"data: [DONE]"), Hearing())
    assert (got.text, got.finish) == ("ab", "stop")


@pytest.mark.parametrize(
    "body",
    [
        b"data: 5\n\ndata: [DONE]\n\n", b"data: [1]\n\n", b'data: {"choices":[{"delta":{"content":5}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n<html>\n\n', b"data: null\n\n",
    ],
)  # fmt: skip
async def test_what_is_no_stream_is_refused_in_a_sentence(body: bytes) -> None:
    with pytest.raises(ModelError, match="is not what a model server sends"):
        await ask(raw(body), Hearing())


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=40), st.text(max_size=12), st.lists(st.integers(1, 60), max_size=20), st.sampled_from([CHAT, OLLAMA])
)
def test_where_the_network_cuts_makes_no_difference(said: str, thought: str, sizes: list[int], path: str) -> None:
    said, thought = (part.encode("utf-8", "replace").decode() for part in (said, thought))
    answer = Answer(said, thinking=thought)
    call = RecordedCall(0, path, {"stream_options": {"include_usage": True}}, "s", "p", "m")
    stream = b"".join(pieces_of(call, answer, "llama"))
    heard: Any = (OllamaPieces if path == OLLAMA else OpenAIPieces)("u", lambda written: None)
    for size in [*sizes, len(stream)]:
        heard.feed(stream[:size])
        stream = stream[size:]
    reply, whole = heard.reply(), reply_to(call, answer, "llama")
    if path == OLLAMA and not said and not thought:
        assert reply is None, "one line that is done: read as a whole reply"
        return
    message = reply["message"] if path == OLLAMA else reply["choices"][0]["message"]
    assert message["content"] == said
    assert reply.get("usage") == whole.get("usage")
    assert reply.get("eval_count") == whole.get("eval_count")


