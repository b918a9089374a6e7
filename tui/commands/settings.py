"""The configuration as commands read it, and the option ``--set`` of those that carry out a task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.say import say

if TYPE_CHECKING:
    from agent.config.schema import Config


def _read(_ctx: click.Context, _option: click.Parameter, words: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    from agent.config.assignments import settings_from

    return settings_from(words)


def set_option(where: str) -> Callable[[Any], Any]:
    """``--set SECTION.KEY=VALUE``, repeatable; the command gets ``settings``, checked. ``where`` says what they hold for.

    Raises:
        ConfigError: from the command line, for a key or value that does not exist.
    """
    return click.option(
        "--set",
        "settings",
        metavar="SECTION.KEY=VALUE",
        multiple=True,
        callback=_read,
        help=f"A setting of the configuration for {where}, such as coding.samples=2. May be repeated.",
    )


def settings_of(repo: Path) -> Config:
    """The configuration for a repository; what of its own file does not count is said on standard error.

    Raises:
        ConfigError: a file is wrong.
    """
    from agent.config.schema import load_with_notes

    config, notes = load_with_notes(repo)
    for note in notes:
        say(f"cra: {note}", err=True)
    return config
