"""R3: what does not fit is never sent, and the tokenizer is only asked when the estimate is not enough."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.budget import check_budget, estimate_tokens
from agent.models.types import ModelError, ModelTarget
from tests.fakes import ScriptedServer
from tests.models.asking import openai, target_of, yes_no

TARGET = ModelTarget("openai", "m", context_window=1000, max_tokens=100)


async def test_a_small_prompt_costs_no_round_trip() -> None:
    asked: list[str] = []

    async def count(text: str) -> int | None:
        asked.append(text)
        return 1

    assert await check_budget("system", "prompt", TARGET, count) < 100
    assert not asked


async def test_the_tokenizer_has_the_last_word() -> None:
    async def few(text: str) -> int | None:
        return 500

    async def many(text: str) -> int | None:
        return 5000

    prompt = "x" * 4000
    assert await check_budget("", prompt, TARGET, few) == 564
    with pytest.raises(ModelError, match="has 5,064 tokens and its reply may take 100, but the window") as caught:
        await check_budget("", prompt, TARGET, many, stage="scope")
    assert caught.value.kind == "context"
    assert "5,164" in caught.value.hint


async def test_without_a_tokenizer_the_estimate_decides() -> None:
    with pytest.raises(ModelError, match="about 1,"):
        await check_budget("", "x" * 3000, TARGET)


@given(st.text(max_size=300))
@settings(max_examples=50)
def test_the_estimate_grows_with_the_text(text: str) -> None:
    assert estimate_tokens(text + "a longer text") > estimate_tokens(text) >= 0


async def test_a_prompt_over_the_window_never_leaves() -> None:
    async with ScriptedServer() as server, openai(server) as provider:
        with pytest.raises(ModelError) as caught:
            await provider.complete(yes_no("word " * 4000, target_of(server, context_window=2048)))
        assert caught.value.kind == "context"
        assert not server.calls
        assert ("POST", "/tokenize") in server.requests
