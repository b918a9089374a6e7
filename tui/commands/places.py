"""The repository that a command is about: an option or an argument, checked in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agent.folders import WHAT_TO_DO, no_folder
from tui import exit_codes
from tui.say import say


class NoRepository(click.ClickException):
    """The path that was named is no folder."""

    exit_code = exit_codes.USAGE

    def show(self, file: Any = None) -> None:
        """Print the sentence, as those of other faults are printed."""
        del file
        say(f"cra: {self.format_message()}", err=True)


def _folder(path: Path) -> Path:
    """The absolute path of a folder that is there; ``~`` is the home directory.

    Raises:
        NoRepository: it is not there, or is a file.
    """
    path = path.expanduser().resolve()
    if why := no_folder(path):
        raise NoRepository(f"{why} {WHAT_TO_DO}")
    return path


def _one(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    return None if path is None else _folder(path)


def _some(_context: click.Context, _parameter: click.Parameter, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(_folder(path) for path in paths or (Path(),))


_PATH = click.Path(path_type=Path)
REPO = click.option("--repo", default=".", type=_PATH, callback=_one, help="Repository (default: here).")
REPO_IF_ANY = click.option("--repo", type=_PATH, callback=_one, help="Write the repository's file instead of yours.")
REPOS = click.option(
    "--repo", "repos", multiple=True, type=_PATH, callback=_some,
    help="Repository with labels (may be repeated: their labels are taken together; default: here).",
)  # fmt: skip
REPO_ARGUMENT = click.argument("repo", default=".", type=_PATH, callback=_one)
