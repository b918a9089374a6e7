"""Which model answers a stage."""

from __future__ import annotations

from typing import Any

import pytest

from agent.config.errors import ConfigError
from agent.config.schema import merge
from agent.models.replay import Recorded
from agent.models.router import Router
from agent.models.types import Completion, CompletionRequest, ModelError
from agent.stages import STAGES, binary_stages
from tests.fakes import ScriptedServer


def router(**models: Any) -> Router:
    return Router(merge({"models": {"provider": "ollama", "coding": "coder", "reasoning": "thinker", **models}}).models)


def test_roles() -> None:
    made = router(max_tokens=2000)
    assert made.target("function_implement").model == "coder"
    assert made.target("header_gen").model == "coder"
    assert made.target("meta_plan").model == "thinker"
    assert made.target("meta_plan").max_tokens == 2000


def test_every_yes_no_stage_gets_sixteen_tokens() -> None:
    made = router()
    assert {stage for stage in STAGES if made.target(stage).max_tokens == 16} == set(binary_stages())
    assert made.target("error_which_include").max_tokens == 1024


def test_own_name_beats_group_beats_role() -> None:
    made = router(overrides={
        "precision": {"model": "tiny", "context_window": 2048, "max_tokens": 8},
        "precision_pass3": "large",
        "classify": "tiny",
        "adjust_binary": {"model": "tiny"},
    })  # fmt: skip
    first, third = made.target("precision_pass1"), made.target("precision_pass3")
    assert (first.model, first.context_window, first.max_tokens) == ("tiny", 2048, 8)
    assert (third.model, third.context_window, third.max_tokens) == ("large", 2048, 8)
    for stage in ("error_classify_include", "adjustment_root_cause"):
        assert made.target(stage).model == "tiny"
    assert made.target("scope").model == "thinker"
    assert made.target("error_which_include").model == "thinker", "it answers with a header"


def test_another_server_gets_neither_our_address_nor_our_key() -> None:
    made = router(
        base_url="http://a:1",
        api_key_env="KEY",
        overrides={
            "scope": {"model": "kev", "provider": "systemone"},
            "similarity": {"base_url": "http://b:2"},
            "refilter": "x",
        },
    )
    scope, similarity, refilter = (made.target(s) for s in ("scope", "similarity", "refilter"))
    assert (scope.provider, scope.base_url, scope.api_key_env) == ("systemone", "", "")
    assert (similarity.base_url, similarity.api_key_env) == ("http://b:2", "")
    assert (refilter.base_url, refilter.api_key_env) == ("http://a:1", "KEY")


def test_a_stage_that_is_none_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"models\.overrides\.precison.*Did you mean 'precision'"):
        router(overrides={"precison": "x"})


def test_a_reply_as_long_as_the_window_is_refused() -> None:
    with pytest.raises(ConfigError, match="leaves no room for a prompt"):
        router(context_window=1024, max_tokens=1024)


def test_embedded_names_are_made_one() -> None:
    made = router(provider="embedded", coding="Qwen2.5-Coder-1.5B-Instruct", reasoning="./own.gguf")
    assert made.target("implement").model == "qwen2.5-coder-1.5b"
    assert made.target("scope").model == "./own.gguf"


async def test_providers_are_pooled() -> None:
    made = router(overrides={"scope": "other", "similarity": {"provider": "openai", "base_url": "http://x:1"}})
    assert made.provider(made.target("scope")) is made.provider(made.target("implement"))
    assert made.provider(made.target("similarity")) is not made.provider(made.target("scope"))
    embedded = router(provider="embedded", overrides={"scope": "qwen2.5-coder-0.5b"})
    assert embedded.provider(embedded.target("scope")) is embedded.provider(embedded.target("implement"))
    await made.aclose()
    await embedded.aclose()


async def test_check_asks_every_model_in_use_once() -> None:
    async with ScriptedServer(models=("coder",)) as server:
        made = router(base_url=server.base_url)
        found = {target.model: info.ok for target, info in await made.check()}
        await made.aclose()
    assert found == {"coder": True, "thinker": False}


async def test_replay_answers_as_recorded() -> None:
    rows = [
        ("scope", "a.c", "sys", "Is a.c?", Completion("yes")),
        ("scope", "b.c", "sys", "Is b.c?", Completion("no")),
        ("implement", "", "sys", "first", Completion("1")),
        ("implement", "", "sys", "second", Completion("2")),
    ]
    made = Router(merge({"models": {"provider": "replay"}}).models, lookup=Recorded(rows))

    async def ask(stage: str, prompt: str) -> str:
        target = made.target(stage)
        request = CompletionRequest(system="sys", prompt=prompt, stage=stage, target=target)
        return (await made.provider(target).complete(request)).text

    assert await ask("scope", "Is b.c?") == "no"  # exact, in whatever order
    assert await ask("scope", "Now worded otherwise: a.c") == "yes"  # by item
    assert await ask("scope", "Is b.c?") == "no"  # exact answers can be had again
    assert await ask("implement", "?") == "1"  # in recorded order
    assert await ask("implement", "?") == "2"
    with pytest.raises(ModelError, match="no answer for a call of stage 'implement'"):
        await ask("implement", "?")
    assert (await made.check())[0][1].ok


def test_a_stage_on_another_server_has_a_key_of_its_own() -> None:
    overrides = {
        "scope": {"model": "m", "base_url": "http://localhost:9"},
        "similarity": {"model": "m", "base_url": "http://localhost:9", "api_key_env": "OTHER_KEY"},
    }
    made = router(provider="openai", base_url="http://localhost:8", api_key_env="MY_KEY", overrides=overrides)
    keys = {stage: made.target(stage).api_key_env for stage in ("implement", "scope", "similarity")}
    assert keys == {"implement": "MY_KEY", "scope": "", "similarity": "OTHER_KEY"}
