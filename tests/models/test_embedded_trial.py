"""Asking one question from the settings beside a run: the run's own server answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config.schema import Models
from agent.models import embedded_process
from agent.models.embedded_share import running
from agent.models.router import Router
from agent.models.types import CompletionRequest
from screens.settings.probe import ask


@pytest.mark.parametrize("row", ["reasoning", "precision", "function_implement"])
async def test_a_trial_beside_a_run_is_answered_by_the_server_of_the_run(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_process, "SERVER_MODULE", "tests.models.child")
    monkeypatch.setattr(embedded_process.EmbeddedProcess, "require_library", staticmethod(lambda: None))
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path))
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    models = Models(provider="embedded", coding=str(file), reasoning=str(file))
    router = Router(models)

    async def server() -> str:
        target = router.target("scope")
        got = await router.provider(target).complete(CompletionRequest("s", "who", "scope", target))
        return got.text.split()[0]

    try:
        pid = await server()
        told: list[str] = []
        trial = await ask(models, row, told.append)
        assert trial.ok, trial
        assert not any("in place of" in text or "second" in text for text in told)
        assert await server() == pid
        assert len(running(tmp_path / "servers")) == 1
    finally:
        await router.aclose()
