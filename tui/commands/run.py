"""``cra run``: a task without the application, through the same engine."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import click

from tui import exit_codes
from tui.commands.settings import set_option


@click.command()
@click.argument("task")
@click.option("--repo", default=".", type=click.Path(file_okay=False, path_type=Path), help="Repository (default: here).")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line; the last is RunFinished.")
@click.option("--apply", "apply_it", is_flag=True, help="Apply the change to your files if the run ends complete.")
@click.option("--test-command", default="", help="The checks, instead of those configured or found.")
@click.option("--no-model", is_flag=True, help="Ask no model: only repair failing checks, by small edits.")
@set_option("this run")
def run(
    task: str,
    repo: Path,
    as_json: bool,
    apply_it: bool,
    test_command: str,
    no_model: bool,
    settings: dict[str, dict[str, Any]],
) -> None:
    """Carry out TASK on a repository. The change stays on its branch unless --apply is given."""
    named = {"test_command": test_command} if test_command else {}
    extra = {**settings, "testing": {**settings.get("testing", {}), **named}}
    sys.exit(asyncio.run(run_task(task, repo, as_json=as_json, apply_it=apply_it, extra=extra, with_model=not no_model)))


async def run_task(
    task: str,
    repo: Path,
    *,
    as_json: bool,
    apply_it: bool,
    extra: dict[str, dict[str, Any]] | None = None,
    hidden: tuple[str, ...] = (),
    with_model: bool = True,
) -> int:
    """Execute one task and report it on the terminal. Returns the exit code."""
    from agent.launch import PreflightError, open_run
    from tui.ending import hear_signals
    from tui.report import guarded, json_printer, plain_printer

    try:
        started = await open_run(
            task, repo, extra=extra or {}, hidden=hidden, apply_when_complete=apply_it, with_model=with_model
        )
    except PreflightError as error:
        click.echo(f"cra: {error} {error.hint}".rstrip(), err=True)
        return error.exit_code
    started.ctx.listeners.append(guarded(json_printer() if as_json else plain_printer(), started.stop))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, started.stop)
    hear_signals(started.stop)
    try:
        finished = await started.execute()
    finally:
        await started.aclose()
    return exit_codes.OF_STATUS[finished.status]
