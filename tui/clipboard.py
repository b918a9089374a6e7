"""Copying: the terminal's own way (OSC 52) may go nowhere, so a tool of the desktop is tried, and a file is always left."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from agent.directories import data_directory

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
)
_SECONDS = 2.0


def copy_text(text: str) -> str:
    """Copy and say where the text is now. Never raises."""
    for variable, command in _TOOLS:
        if (not variable or os.environ.get(variable)) and shutil.which(command[0]) and _run(command, text):
            return f"Copied {len(text):,} characters."
    path = copy_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".part")
        beside.write_text(text, encoding="utf-8", errors="replace")
        os.replace(beside, path)
    except OSError as error:
        return f"Sent to the terminal's clipboard; it could not be saved to a file as well ({error.strerror})."
    return f"Sent to the terminal's clipboard; also saved to {path}, in case the terminal ignores it."


def copy_file() -> Path:
    """The file that holds what was copied last."""
    return data_directory() / "copied.txt"


def _run(command: tuple[str, ...], text: str) -> bool:
    try:
        done = subprocess.run(
            command, input=text.encode("utf-8", "replace"), timeout=_SECONDS, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
