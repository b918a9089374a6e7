"""Every test runs with its own configuration, data and cache folders and a plain terminal."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person's own configuration, models or history reaches a test."""
    base: Path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CRA_CONFIG_DIR", str(base / "config"))
    monkeypatch.setenv("CRA_DATA_DIR", str(base / "data"))
    monkeypatch.setenv("CRA_CACHE_DIR", str(base / "cache"))
    for name in ("NO_COLOR", "TEXTUAL_THEME", "CRA_MODEL_PATH"):
        monkeypatch.delenv(name, raising=False)
