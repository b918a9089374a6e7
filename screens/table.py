"""The screens that can be opened by name, imported when they are opened.

An entry is ``module:Class``. The class is called with the application's :class:`~screens.runner.Services` and whatever
keyword arguments its opener passes (``call_id`` for the relabelling screen, for one).
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from textual.screen import Screen

from screens.runner import Services

SCREENS: dict[str, str] = {
    "relabel": "screens.learning.relabel:RelabelScreen",
    "calibrate": "screens.learning.calibrate:CalibrateScreen",
    "evaluate": "screens.learning.evaluate:EvaluateScreen",
    "history": "screens.history.screen:HistoryScreen",
    "settings": "screens.settings.screen:SettingsScreen",
}
"""Name to ``module:Class``; actions of a screen that is not listed are not offered."""


def has_screen(name: str) -> bool:
    """Whether there is such a screen."""
    return name in SCREENS and importlib.util.find_spec(SCREENS[name].partition(":")[0]) is not None


def make_screen(name: str, services: Services, **arguments: Any) -> Screen[Any]:
    """A new screen.

    Raises:
        KeyError: if there is none of this name.
    """
    module, _, attribute = SCREENS[name].partition(":")
    screen: Screen[Any] = getattr(importlib.import_module(module), attribute)(services, **arguments)
    return screen
