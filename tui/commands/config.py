"""``cra config``: write, show and find the configuration."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
import tomli_w

from agent.config import schema as cfg
from agent.config.template import template
from tui.commands.places import REPO, REPO_IF_ANY
from tui.commands.settings import settings_of
from tui.say import say, say_data


@click.group()
def config() -> None:
    """Write, show or find the configuration."""


@config.command()
@REPO_IF_ANY
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def init(repo: Path | None, force: bool) -> None:
    """Write a commented template whose values run as they are."""
    path = cfg.repo_config_path(repo) if repo else cfg.user_config_path()
    if path.exists() and not force:
        raise click.UsageError(f"{path} exists already; nothing was changed. Use --force to replace it.")
    if repo is not None:
        from agent.audit.log import log_path

        log_path(repo)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(template(), encoding="utf-8")
    temporary.replace(path)
    say(str(path))


@config.command()
@REPO
def show(repo: Path) -> None:
    """Print the configuration in force, defaults included."""
    values = msgspec.to_builtins(settings_of(repo))
    say_data(tomli_w.dumps(values).rstrip("\n"))


@config.command()
@REPO
def path(repo: Path) -> None:
    """Print where configuration is looked for; the later file wins."""
    for file in (cfg.user_config_path(), cfg.repo_config_path(repo)):
        say(f"{file}{'' if file.is_file() else '  (not there)'}")
