"""The embedded model for real: one yes/no with its probability, one short completion, a warm prefix."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from agent.config.schema import Models, Override
from agent.models.answers import parse_yes_no
from agent.models.router import Router
from agent.models.store import find_model
from agent.models.types import CompletionRequest
from tests.fakes.lora import write_adapter

MODEL = find_model("qwen2.5-coder-1.5b")
"""Looked up before the tests get data folders of their own."""

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(MODEL is None, reason="fetch it: cra models pull qwen2.5-coder-1.5b"),
]

SYSTEM = "You are a careful judge. Answer with one word, yes or no."
STATE = "Facts: a ring buffer is a queue of fixed size that overwrites or refuses when it is full.\n\n"


async def test_the_default_model_answers_and_remembers_the_prefix() -> None:
    router = Router(Models(coding=str(MODEL), reasoning=str(MODEL)))
    try:
        target = router.target("scope")
        provider = router.provider(target)
        assert (await provider.check(target)).ok

        async def judge(question: str) -> tuple[bool | None, float | None, int]:
            request = CompletionRequest(
                system=SYSTEM, prompt=STATE + question, stage="scope", target=target, yes_no=True, task_context=STATE,
                question=question,
            )  # fmt: skip
            got = await provider.complete(request)
            return parse_yes_no(got.text), got.p_yes, got.cached_tokens

        verdict, p_yes, _ = await judge("Is a ring buffer a queue?")
        assert verdict in (True, False)
        assert p_yes is not None
        assert 0 < p_yes < 1
        assert verdict == (p_yes >= 0.5)
        *_, cached = await judge("Is a ring buffer a kind of fruit?")
        assert cached >= 30  # all but the item

        coder = msgspec.structs.replace(router.target("function_implement"), max_tokens=60)
        request = CompletionRequest(
            system="Reply with C code only.", prompt="Write int add(int a, int b).", stage="function_implement", target=coder
        )
        got = await provider.complete(request)
        assert "return" in got.text
        assert got.completion_tokens > 5
        assert await provider.count_tokens("int add(int a, int b);", coder) in range(6, 16)
    finally:
        await router.aclose()


async def test_a_text_heard_while_it_is_written_is_the_text_of_a_whole_reply() -> None:
    router = Router(Models(coding=str(MODEL), reasoning=str(MODEL)))
    try:
        target = msgspec.structs.replace(router.target("function_implement"), max_tokens=60)
        provider = router.provider(target)
        request = CompletionRequest("Reply with C code only.", "Write int add(int a, int b).", "function_implement", target)
        await provider.complete(request)  # both then find the prompt in the cache
        whole = await provider.complete(request)
        heard: list[str] = []
        streamed = await provider.complete(
            msgspec.structs.replace(request, progress=lambda written: heard.append(written.so_far()))
        )
        assert msgspec.structs.replace(streamed, ms=0) == msgspec.structs.replace(whole, ms=0)
        assert heard[-1] == streamed.text
        assert abs(len(heard) - streamed.completion_tokens) <= 3  # the last token ends the text
    finally:
        await router.aclose()


async def test_an_adapter_changes_the_answer_of_the_call_that_names_it_and_of_no_other(tmp_path: Path) -> None:
    blocks = {f"blk.{number}.attn_output.weight": (1536, 1536) for number in range(28)}
    path = write_adapter(tmp_path / "random.gguf", "qwen2", blocks, scale=0.1)
    overrides: dict[str, str | Override] = {"scope": Override(model=str(MODEL), adapter=str(path))}
    router = Router(Models(coding=str(MODEL), reasoning=str(MODEL), overrides=overrides))
    try:
        with_it, without = router.target("scope"), router.target("similarity")
        assert (with_it.adapter, without.adapter) == (str(path), "")
        answers = []
        for target in (without, with_it, without):
            request = CompletionRequest(
                system=SYSTEM, prompt=STATE + "Is a ring buffer a queue?", stage="scope", target=target, yes_no=True
            )
            answers.append((await router.provider(target).complete(request)).p_yes)
        assert answers[0] is not None and answers[1] is not None and answers[2] is not None
        assert abs(answers[0] - answers[1]) > 5 * abs(answers[0] - answers[2]) + 0.005
    finally:
        await router.aclose()
