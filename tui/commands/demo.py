"""``cra demo``: a ready-made task on a copy of a small repository."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from tui import exit_codes
from tui.commands.settings import set_option, write_settings


@click.command()
@click.argument("name", default="ring_buffer")
@click.option("--headless", is_flag=True, help="Do the task without the application.")
@click.option("--json", "as_json", is_flag=True, help="With --headless: print one event a line.")
@click.option("--apply", "apply_it", is_flag=True, help="With --headless: apply the change if the run ends complete.")
@click.option("--into", type=click.Path(path_type=Path), help="Folder for the copy (default: your data directory).")
@click.option("--task", default="", help="Your own words, instead of the demo's task.")
@click.option("--list", "list_them", is_flag=True, help="List the demos.")
@set_option("this copy, kept in it")
def demo(
    name: str,
    headless: bool,
    as_json: bool,
    apply_it: bool,
    into: Path | None,
    task: str,
    list_them: bool,
    settings: dict[str, dict[str, Any]],
) -> None:
    """Copy the demo NAME (ring_buffer, token_budget or hash_table), with some history, and open it."""
    from agent.workspace.demo import create_demo, list_demos, load_demo
    from agent.workspace.git import WorkspaceError

    if list_them:
        for known in list_demos():
            click.echo(f"{known.name:<14} {known.title}: {known.task}")
        return
    try:
        place = create_demo(name, into)
        chosen = load_demo(name)
    except WorkspaceError as error:
        raise click.UsageError(str(error)) from None
    write_settings(place, settings)
    if not headless:
        from tui.commands.app import open_app

        sys.exit(open_app(str(place), task=task or chosen.task))
    from tui.commands.run import run_task

    click.echo(f"The demo is in {place}", err=True)
    code = asyncio.run(run_task(task or chosen.task, place, as_json=as_json, apply_it=apply_it, hidden=chosen.hidden))
    sys.exit(code if code in vars(exit_codes).values() else exit_codes.NOT_SOLVED)
