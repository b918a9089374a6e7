"""Retries without their pauses."""

from __future__ import annotations

import pytest

from agent.models import http


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.005)
    monkeypatch.setattr(http, "LOADING_SECONDS", 0.01)
