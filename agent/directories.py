"""The person's folders for this program: configuration, data and state (as platformdirs has them), and what moves them."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

CONFIG_VARIABLE, DATA_VARIABLE, STATE_VARIABLE = "CRA_CONFIG_DIR", "CRA_DATA_DIR", "CRA_STATE_DIR"
"""Environment variables that replace the platform's folders."""


def config_directory() -> Path:
    """The folder of the person's own configuration: ``CRA_CONFIG_DIR``, else the platform's."""
    return _named(CONFIG_VARIABLE) or Path(platformdirs.user_config_dir("cra"))


def data_directory() -> Path:
    """The folder of models, demos and logs: ``CRA_DATA_DIR``, else the platform's."""
    return _named(DATA_VARIABLE) or Path(platformdirs.user_data_dir("cra"))


def state_directory() -> Path:
    """The folder of worktrees, journals, trust and labels: ``CRA_STATE_DIR``, else ``state`` in ``CRA_DATA_DIR``, else the
    platform's."""
    moved = _named(DATA_VARIABLE)
    return _named(STATE_VARIABLE) or (moved / "state" if moved else Path(platformdirs.user_state_dir("cra")))


def _named(variable: str) -> Path | None:
    """The folder that an environment variable names, ``~`` expanded; None where it is not set."""
    given = os.environ.get(variable, "").strip()
    return Path(given).expanduser() if given else None
