"""``cra demo``: a ready-made task on a copy of a small repository."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from tui import exit_codes
from tui.commands.settings import set_option
from tui.say import say


@click.command()
@click.argument("name", default="ring_buffer")
@click.option("--headless", is_flag=True, help="Do the task without the application.")
@click.option("--json", "as_json", is_flag=True, help="With --headless: print one event a line.")
@click.option("--apply", "apply_it", is_flag=True, help="With --headless: apply the change if the run ends complete.")
@click.option("--into", type=click.Path(path_type=Path), help="Folder for the copy (default: your data directory).")
@click.option("--task", default="", help="Your own words, instead of the demo's task.")
@click.option("--list", "list_them", is_flag=True, help="List the demos, and the copies that earlier calls made.")
@click.option("--clean", is_flag=True, help="Delete earlier copies that hold nothing you may still want; asks first.")
@click.option("--yes", is_flag=True, help="With --clean: do not ask.")
@set_option("this copy, kept in it")
def demo(
    name: str,
    headless: bool,
    as_json: bool,
    apply_it: bool,
    into: Path | None,
    task: str,
    list_them: bool,
    clean: bool,
    yes: bool,
    settings: dict[str, dict[str, Any]],
) -> None:
    """Copy the demo NAME (ring_buffer, weather_log, token_budget or hash_table), with some history, and open it.

    A copy in which nothing was done yet is opened again instead of making another.
    """
    from agent.flow.demo_copies import open_copy
    from agent.workspace.demo import load_demo
    from agent.workspace.git import WorkspaceError
    from tui.commands.demo_copies import clean_copies, list_all

    if list_them or clean:
        list_all() if list_them else clean_copies(yes)
        return
    alone = f"cra demo {shlex.quote(name)} --headless"
    if (as_json or apply_it) and not headless:
        option = "--json" if as_json else "--apply"
        raise click.UsageError(f"{option} is for a demo without the application. Use: {alone} {option}")
    if not headless:
        from tui.commands.app import may_open

        if not may_open(alone):
            sys.exit(exit_codes.USAGE)
    try:
        place = open_copy(name, settings, into)
        chosen = load_demo(name)
    except WorkspaceError as error:
        raise click.UsageError(str(error)) from None
    again = f"cra --repo {shlex.quote(str(place))}"
    if not headless:
        from tui.commands.app import open_app

        code = open_app(str(place), task=task or chosen.task)
        say(f"The demo stays in {place}\nOpen it again: {again}\nOther copies: cra demo --list", err=True)
        sys.exit(code)
    from tui.commands.run import run_task

    say(f"The demo is in {place} (open it: {again})", err=True)
    code = asyncio.run(run_task(task or chosen.task, place, as_json=as_json, apply_it=apply_it, hidden=chosen.hidden))
    sys.exit(code if code in vars(exit_codes).values() else exit_codes.NOT_SOLVED)
