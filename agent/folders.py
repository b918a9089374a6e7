"""A folder that somebody named: one sentence where it is not there, whoever notices."""

from __future__ import annotations

from pathlib import Path

WHAT_TO_DO = "Give the path of the repository to work on."


def no_folder(path: Path) -> str:
    """Why ``path`` is no folder, in a sentence that :data:`WHAT_TO_DO` follows; "" if it is one."""
    if path.is_dir():
        return ""
    return f"{path} is a file, not a folder." if path.exists() else f"There is no folder {path}."
