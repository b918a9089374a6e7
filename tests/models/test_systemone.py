"""Decision endpoints: typed questions, probabilities, nothing else."""

from __future__ import annotations

import pytest

from agent.models.types import ModelError
from tests.fakes import Answer, ScriptedServer, failing
from tests.models.asking import systemone, target_of, text, yes_no


async def test_one_question_about_a_state() -> None:
    async with ScriptedServer(Answer(p_yes=0.62)) as server, systemone(server) as provider:
        request = yes_no("Task: x\nFile: a.c", target_of(server, "systemone", model="kev"), system="Is it relevant?",
                         task_context="Task: x\n", question="File: a.c")  # fmt: skip
        got = await provider.complete(request)
    assert (got.text, got.p_yes, got.provider) == ("yes", 0.62, "systemone")
    assert server.calls[0].body == {
        "model": "kev",
        "state": "Task: x\n",
        "questions": {"q1": {"type": "noul", "instructions": "Is it relevant?\n\nFile: a.c"}},
    }


async def test_under_one_half_is_no() -> None:
    async with ScriptedServer(Answer(p_yes=0.49)) as server, systemone(server) as provider:
        assert (await provider.complete(yes_no("Is it?", target_of(server, "systemone")))).text == "no"


async def test_text_is_not_its_trade() -> None:
    async with ScriptedServer() as server, systemone(server) as provider:
        with pytest.raises(ModelError, match="'implement' wants text") as caught:
            await provider.complete(text("Go", target_of(server, "systemone")))
    assert "models.overrides" in caught.value.hint
    assert not server.calls


@pytest.mark.parametrize("p", [1.7, -0.1])
async def test_a_probability_that_is_none_is_refused(p: float) -> None:
    async with ScriptedServer(Answer(p_yes=p)) as server, systemone(server) as provider:
        with pytest.raises(ModelError, match="not what a model server sends"):
            await provider.complete(yes_no("Is it?", target_of(server, "systemone")))


async def test_check_asks_a_question_since_only_an_answer_shows() -> None:
    async with ScriptedServer(Answer(p_yes=0.9)) as server, systemone(server) as provider:
        assert (await provider.check(target_of(server, "systemone"))).ok
    fault = failing(501, "This model is not a decision model")
    async with ScriptedServer(fault) as server, systemone(server) as provider:
        info = await provider.check(target_of(server, "systemone"))
    assert not info.ok
    assert "not a decision model" in info.text
