"""Opening the application from the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tui import exit_codes
from tui.say import say


def may_open(instead: str = "cra run TASK --repo DIR") -> bool:
    """Whether there is a terminal for the window; if not, print which command to use ``instead``."""
    in_browser = bool(os.environ.get("TEXTUAL_DRIVER"))  # set by cra serve; then the pipes lead to a browser
    if in_browser or (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    say(f"cra: The application needs a terminal. Without one, use: {instead}", err=True)
    return False


def open_app(repo: str, *, task: str = "") -> int:
    """The window on a repository. Returns the exit code."""
    if not may_open():
        return exit_codes.USAGE
    from tui.launch import launch

    return launch(Path(repo).resolve(), task=task)
