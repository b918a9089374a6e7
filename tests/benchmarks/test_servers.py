"""What a server can do is found out by asking it, not by its name."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.servers import MISSING, Abilities, look
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer


def obliging(call: RecordedCall) -> Answer:
    """Answers as a server does that holds every constraint."""
    return Answer("yes" if "top_logprobs" in call.body else '{"colour": "red"}')


def chatty(call: RecordedCall) -> Answer:
    """Answers as a server does that knows no constraint."""
    return Answer("Hello! How can I help?", logprobs=False)


@pytest.mark.parametrize("kind", ["llama", "vllm", "sglang", "plain"])
async def test_each_kind_is_seen_as_what_it_is(kind: str) -> None:
    async with ScriptedServer(obliging, kind=kind) as server:
        able = await look(server.base_url)
    assert able.seen_as == kind and able.probabilities and able.yes_no_held and able.schema_held
    assert able.counts_tokens == (kind == "llama")


async def test_what_is_missing_is_seen() -> None:
    async with ScriptedServer(chatty, kind="plain") as server:
        able = await look(server.base_url)
    assert able == Abilities(seen_as="plain")


def test_every_ability_says_what_is_done_without_it() -> None:
    assert set(MISSING) == {field.name for field in msgspec.structs.fields(Abilities)} - {"seen_as"}
