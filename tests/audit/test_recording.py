"""A run's log answers in place of a model: ``provider = "replay"`` with ``replay = PATH``."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.log import LogError
from agent.audit.recording import recording
from agent.config.schema import Models
from agent.models.router import Router
from agent.models.types import CompletionRequest, ModelError
from tests.labels.filled import SYSTEM, Filled


async def test_a_recorded_run_answers_with_its_words_and_probabilities(tmp_path: Path) -> None:
    filled = Filled(tmp_path)
    filled.run("r1")
    filled.call("r1", "a.c", True, 0.8)
    filled.call("r1", "b.c", False, 0.3)
    filled.log.close()
    models = Models(provider="replay", replay=str(tmp_path))
    router = Router(models, lookup=recording(models.replay))
    target = router.target("scope")
    provider = router.provider(target)
    assert (await provider.check(target)).ok
    said = []
    for item in ("b.c", "a.c"):
        request = CompletionRequest(SYSTEM, f"Task: t\n\nFile: {item}", "scope", target, yes_no=True)
        got = await provider.complete(request)
        said.append((got.text, got.p_yes))
    assert said == [("no", 0.3), ("yes", 0.8)]
    with pytest.raises(ModelError, match="holds no answer"):
        await provider.complete(CompletionRequest(SYSTEM, "x", "similarity", target, yes_no=True))


async def test_without_a_recording_it_says_what_to_do(tmp_path: Path) -> None:
    router = Router(Models(provider="replay"), lookup=recording(""))
    info = await router.provider(router.target("scope")).check(router.target("scope"))
    assert not info.ok and "models.replay" in info.hint
    with pytest.raises(LogError):
        recording(str(tmp_path / "none.sqlite"))
