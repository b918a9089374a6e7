"""The OpenAI protocol, asked of every kind of server that speaks it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent.models import waiting
from agent.models.openai import OpenAIProvider
from agent.models.types import ModelError, ModelTarget
from tests.fakes import Answer, ScriptedServer, cut, failing, garbage, huge, reset, slow, times, together
from tests.models.asking import openai, target_of, text, yes_no


class Written:
    """A reply that has begun."""

    tokens = 1

    def so_far(self) -> str:
        return "int"


async def test_a_yes_with_its_probability_and_tokens() -> None:
    answer = Answer("yes", p_yes=0.7, cached_tokens=5, prompt_tokens=9, completion_tokens=1)
    async with ScriptedServer(answer) as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server)))
    assert (got.text, got.finish, got.provider, got.model) == ("yes", "stop", "openai", "m")
    assert got.p_yes == pytest.approx(0.7, abs=0.01)
    assert (got.prompt_tokens, got.cached_tokens, got.completion_tokens) == (9, 5, 1)
    assert got.ms > 0


async def test_every_limit_is_sent() -> None:
    async with ScriptedServer() as server, openai(server) as provider:
        await provider.complete(text("Go", target_of(server, max_tokens=77, seed=9), temperature=0.4, stop=("END",)))
    body = server.calls[0].body
    assert (body["max_tokens"], body["seed"], body["temperature"], body["stop"]) == (77, 9, 0.4, ["END"])
    assert body["stream"] is False
    assert "logprobs" not in body
    assert "grammar" not in body


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("llama", "grammar", 'root ::= "yes" | "no"'),
        ("vllm", "structured_outputs", {"choice": ["yes", "no"]}),
        ("sglang", "regex", "(yes|no)"),
    ],
)
async def test_each_kind_of_server_is_held_to_yes_or_no_its_own_way(kind: str, key: str, value: object) -> None:
    async with ScriptedServer("no", kind=kind) as server, openai(server) as provider:
        for _ in range(3):
            got = await provider.complete(yes_no("Is it?", target_of(server)))
        assert got.p_yes is not None
        assert got.p_yes < 0.5
    assert all(call.body[key] == value for call in server.calls)
    assert sum(path == "/props" for _, path in server.requests) == 1  # asked once what it is
    assert server.calls[0].body.get("cache_prompt") is (True if kind == "llama" else None)


async def test_a_plain_server_gets_the_plain_protocol() -> None:
    async with ScriptedServer("Yes.", kind="plain") as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server)))
    assert got.text == "Yes."
    extras = {"grammar", "structured_outputs", "guided_choice", "regex", "cache_prompt", "chat_template_kwargs"}
    assert not extras.intersection(server.calls[0].body)


async def test_no_logprobs_means_no_probability() -> None:
    async with ScriptedServer(Answer("yes", logprobs=False)) as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server)))
    assert (got.text, got.p_yes) == ("yes", None)


async def test_a_field_the_server_refuses_is_left_out_from_then_on() -> None:
    def picky(call: object) -> Answer:
        refused = "logprobs" in call.body  # type: ignore[attr-defined]
        return failing(400, "logprobs is not supported") if refused else Answer("no")

    async with ScriptedServer(picky, kind="plain") as server, openai(server) as provider:
        first = await provider.complete(yes_no("a", target_of(server)))
        await provider.complete(yes_no("b", target_of(server)))
    assert (first.text, first.p_yes) == ("no", None)
    assert len(server.calls) <= 4


async def test_a_schema_is_sent_as_structured_output() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    async with ScriptedServer('{"a": 1}') as server, openai(server) as provider:
        await provider.complete(text("Go", target_of(server), schema=schema))
    sent = server.calls[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == schema


async def test_its_own_limit_and_the_window_are_told_apart() -> None:
    script = [("limit", Answer("x", finish="length", completion_tokens=16)),
              ("window", Answer("x", finish="length", completion_tokens=7)), ("long", cut("a b c d"))]  # fmt: skip
    async with ScriptedServer(script) as server, openai(server) as provider:
        assert (await provider.complete(text("limit", target_of(server)))).finish == "length"
        assert (await provider.complete(text("window", target_of(server)))).finish == "context"


async def test_thinking_is_kept_in_the_raw_text_and_not_in_the_probability() -> None:
    answer = Answer("no", thinking="Could it be yes?")
    async with ScriptedServer(answer) as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server, thinking=True)))
    assert got.text == "<think>\nCould it be yes?\n</think>\nno"
    assert got.p_yes is None
    assert server.calls[0].body["chat_template_kwargs"] == {"enable_thinking": True}


@pytest.mark.parametrize("fault", [failing(500), failing(503, "busy"), failing(429, "slow down"), reset()])
async def test_passing_faults_are_retried(fault: Answer) -> None:
    async with ScriptedServer([("", times(2, fault, "yes"))]) as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server)))
    assert got.text == "yes"
    assert len(server.calls) == 3


async def test_a_loading_model_is_waited_for_however_often_it_says_so() -> None:
    script = [("", times(6, failing(503, "Loading model"), "yes"))]
    async with ScriptedServer(script) as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server, first_byte_timeout=20.0)))
    assert got.text == "yes"
    assert len(server.calls) == 7


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (failing(500, "ggml: failed to allocate buffer"), "memory", "not enough memory"),
        (failing(400, "request exceeds the available context size"), "context", "does not fit the window"),
        (failing(404, "model 'm' not found"), "not_pulled", "does not have the model 'm'"),
        (failing(400, "bad field"), "protocol", "bad field"),
        (failing(429, "queue full", retry_after="0"), "unreachable", "429"),
        (garbage(), "protocol", "not what a model server sends"),
        (huge(), "protocol", "larger than"),
    ],
)
async def test_lasting_faults_say_what_to_do(fault: Answer, kind: str, says: str) -> None:
    async with ScriptedServer(fault) as server, openai(server) as provider:
        with pytest.raises(ModelError, match=says) as caught:
            await provider.complete(yes_no("Is it?", target_of(server)))
    assert caught.value.kind == kind
    assert caught.value.hint


async def test_a_slow_load_is_not_asked_twice() -> None:
    async with ScriptedServer(slow("yes", 2)) as server, openai(server) as provider:
        with pytest.raises(ModelError, match="sent nothing for 0 seconds") as caught:
            await provider.complete(yes_no("Is it?", target_of(server, first_byte_timeout=0.3)))
        assert caught.value.kind == "unreachable"
        assert len(server.calls) == 1


@pytest.fixture
async def a_proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[bytes]]:
    """An HTTP proxy with a password, named by the environment, that answers everything itself; what it was asked."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        place = b"location: http://ada:hunter2@127.0.0.1:9/x?key=hunter2"
        writer.write(b"HTTP/1.1 302 Found\r\n" + place + b"\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://ada:hunter2@127.0.0.1:{server.sockets[0].getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "direct.invalid")
    yield heard
    server.close()


async def test_a_proxy_is_used_for_other_machines_only(a_proxy: list[bytes]) -> None:
    async with ScriptedServer("yes") as server, openai(server) as provider:
        assert (await provider.complete(yes_no("Is it?", target_of(server)))).text == "yes"
    assert not a_proxy
    for host, asked in (("direct.invalid", 0), ("models.invalid", 1)):
        provider = OpenAIProvider(f"http://{host}/v1")
        info = await provider.check(ModelTarget(provider="openai", base_url=f"http://{host}/v1", model="m"))
        await provider.aclose()
        assert not info.ok and len(a_proxy) == asked and "hunter2" not in f"{info.text}{info.hint}"
    assert a_proxy[0].startswith(b"GET http://models.invalid/v1/") and b"proxy-authorization: basic" in a_proxy[0].lower()


async def test_nobody_is_sent_on_to_another_server(a_proxy: list[bytes]) -> None:
    provider = OpenAIProvider("http://models.invalid")
    with pytest.raises(ModelError, match=r"redirects to http://127\.0\.0\.1:9/x \(302\)") as caught:
        await provider.complete(yes_no("Is it?", ModelTarget(provider="openai", model="m")))
    await provider.aclose()
    assert sum(one.startswith(b"POST") for one in a_proxy) == 1
    assert "hunter2" not in str(caught.value) and "models.base_url" in caught.value.hint


@pytest.mark.parametrize("proxy", ["socks5://ada:hunter2@127.0.0.1:1", "ftp://127.0.0.1:1"])
async def test_a_proxy_of_another_kind_is_named_without_its_password(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    provider = OpenAIProvider("http://models.invalid")
    with pytest.raises(ModelError, match=r"no address of an HTTP proxy") as caught:
        await provider.complete(yes_no("Is it?", ModelTarget(provider="openai", model="m")))
    await provider.aclose()
    assert "hunter2" not in str(caught.value)


async def test_a_silent_server_is_named_with_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.1)
    told: list[tuple[str, str]] = []
    async with ScriptedServer(slow("yes", 0.6)) as server, openai(server, status=lambda *w: told.append(w)) as provider:
        await provider.complete(yes_no("Is it?", target_of(server)))
    assert told[0] == ("waiting", f"waiting for the server, 0 s ({server.base_url})")
    assert told[1][0] == "ready" and [what for what, _ in told].count("waiting") == 1


@pytest.mark.parametrize("writes", [True, False])
async def test_a_server_that_writes_is_not_waited_for(writes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SILENT_SECONDS", 0.0)
    told: list[str] = []
    heard = asyncio.Event()
    request = text("Go", ModelTarget("openai", "m"), progress=lambda written: heard.set())
    patience = waiting.Patience(request, lambda what, _: told.append(what))
    async with patience.watched():
        if writes and patience.request.progress is not None:
            patience.request.progress(Written())
        for _ in range(5):
            await asyncio.sleep(0)
    assert (told, heard.is_set()) == (([], True) if writes else (["waiting", "ready"], False))


async def test_nobody_there_names_the_address() -> None:
    server = ScriptedServer()
    await server.start()
    await server.stop()
    told: list[tuple[str, str]] = []
    async with openai(server, status=lambda *what: told.append(what)) as provider:
        with pytest.raises(ModelError, match=server.base_url) as caught:
            await provider.complete(yes_no("Is it?", target_of(server)))
        info = await provider.check(target_of(server))
    assert caught.value.kind == "unreachable"
    assert "base_url" in caught.value.hint
    assert told[-1][0] == "unreachable"
    assert not info.ok
    assert server.base_url in info.text


async def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedServer(api_key="right") as server, openai(server) as provider:
        target = target_of(server, api_key_env="CRA_TEST_KEY")
        with pytest.raises(ModelError, match="CRA_TEST_KEY") as unset:
            await provider.complete(yes_no("Is it?", target))
        monkeypatch.setenv("CRA_TEST_KEY", "wrong-secret")
        with pytest.raises(ModelError) as wrong:
            await provider.complete(yes_no("Is it?", target))
        assert unset.value.kind == wrong.value.kind == "unauthorised"
        assert "CRA_TEST_KEY" in wrong.value.hint
        assert "wrong-secret" not in f"{wrong.value} {wrong.value.hint}"
        monkeypatch.setenv("CRA_TEST_KEY", "right")
        assert (await provider.complete(yes_no("Is it?", target))).text == "yes"


async def test_check_tells_models_and_window() -> None:
    async with ScriptedServer(kind="vllm", models=("a", "b")) as server, openai(server) as provider:
        info = await provider.check(target_of(server, model="a"))
        assert (info.ok, info.models, info.yes_no_probability) == (True, ("a", "b"), True)
        gone = await provider.check(target_of(server, model="c"))
        assert not gone.ok
        assert "a, b" in gone.hint
    async with ScriptedServer(context_window=2048) as server, openai(server) as provider:
        small = await provider.check(target_of(server))
        assert not small.ok
        assert "2,048" in small.text
        assert "-c 8192" in small.hint


async def test_many_at_once_are_answered_each_with_its_own() -> None:
    script = [(f"item {n} ", together("yes" if n % 3 else "no", 11)) for n in range(40)]
    async with ScriptedServer(script) as server, openai(server) as provider:
        asked = [provider.complete(yes_no(f"item {n} ", target_of(server))) for n in range(40)]
        got = await asyncio.gather(*asked)
    assert [answer.text for answer in got] == ["yes" if n % 3 else "no" for n in range(40)]
    assert server.max_in_flight > 10


async def test_a_cancelled_call_leaves_the_provider_usable() -> None:
    async with ScriptedServer([("slow", slow("no", 5)), ("", "yes")]) as server, openai(server) as provider:
        task = asyncio.create_task(provider.complete(yes_no("slow", target_of(server))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await provider.complete(yes_no("quick", target_of(server)))).text == "yes"


BAD_URLS = ["localhost:1", "http://", "ftp://x", "http://[bad", "nonsense", "http://no.such.host.invalid:1"]


@pytest.mark.parametrize("url", BAD_URLS)
async def test_an_address_that_is_none_is_a_sentence(url: str) -> None:
    provider = OpenAIProvider(url)
    info = await provider.check(ModelTarget("openai", "m", url))
    assert not info.ok
    assert "No model server answers" in info.text
    assert info.hint
    with pytest.raises(ModelError) as caught:
        await provider.complete(yes_no("x", ModelTarget("openai", "m", url, max_tokens=16, first_byte_timeout=5)))
    assert caught.value.kind == "unreachable"
    await provider.aclose()


async def test_llama_server_is_asked_for_the_adapter_by_its_number() -> None:
    async with ScriptedServer(adapters=("/a/pass1.gguf", "/a/scope.gguf")) as server, openai(server) as provider:
        await provider.complete(yes_no("Is it?", target_of(server, adapter="models/scope.gguf")))
        await provider.complete(yes_no("Is it?", target_of(server)))
        with pytest.raises(ModelError, match="has not loaded the adapter") as raised:
            await provider.complete(yes_no("Is it?", target_of(server, adapter="other.gguf")))
    with_it, without = (call.body for call in server.calls)
    assert with_it["lora"] == [{"id": 1, "scale": 1.0}] and with_it["model"] == "m"
    assert (with_it["cache_prompt"], without["cache_prompt"]) == (False, False), "no prefix of another adapter is reused"
    assert "lora" not in without and "--lora other.gguf" in raised.value.hint


async def test_vllm_serves_an_adapter_under_a_name() -> None:
    async with ScriptedServer(kind="vllm") as server, openai(server) as provider:
        got = await provider.complete(yes_no("Is it?", target_of(server, adapter="scope-lora")))
    assert server.calls[0].body["model"] == "scope-lora" and got.model == "m"
