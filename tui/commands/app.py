"""Opening the application from the shell."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tui import exit_codes
from tui.say import say


def open_app(repo: str, *, task: str = "") -> int:
    """The window on a repository; without a terminal a sentence that says what to use instead. Returns the exit code."""
    in_browser = bool(os.environ.get("TEXTUAL_DRIVER"))  # set by cra serve; then the pipes lead to a browser
    if not in_browser and not (sys.stdin.isatty() and sys.stdout.isatty()):
        say("cra: The application needs a terminal. Without one, use: cra run TASK --repo DIR", err=True)
        return exit_codes.USAGE
    from tui.launch import launch

    return launch(Path(repo).resolve(), task=task)
