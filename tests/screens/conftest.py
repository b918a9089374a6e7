"""The environment must not colour what the screens show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TextArea

from tui.app import CraApp


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No NO_COLOR, no blinking, no theme from outside, no real clipboard, data in a folder of the test's own."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "WAYLAND_DISPLAY", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for kind in (TextArea, Input):  # a picture must not depend on the moment of the cursor's blink
        monkeypatch.setattr(kind.cursor_blink, "_default", False)
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CRA_CONFIG_DIR", str(tmp_path / "config"))


@pytest.fixture
def toasts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was said in toasts. The app's own list forgets them after seconds, which on a busy machine are short."""
    said: list[str] = []
    real = CraApp.notify

    def notify(app: CraApp, message: str, **rest: Any) -> None:
        said.append(message)
        real(app, message, **rest)

    monkeypatch.setattr(CraApp, "notify", notify)
    return said
