"""``cra run``: a task without the application, through the same engine."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui import exit_codes
from tui.commands.places import REPO
from tui.commands.settings import set_option
from tui.say import say

if TYPE_CHECKING:
    from agent.run import Run


@click.command()
@click.argument("task")
@REPO
@click.option("--json", "as_json", is_flag=True, help="Print one event a line; the last is RunFinished.")
@click.option("--apply", "apply_it", is_flag=True, help="Apply the change to your files if the run ends complete.")
@click.option("--trust", "trust_it", is_flag=True, help="Trust the repository: let its build and tests run. Remembered.")
@click.option("--test-command", default="", help="The checks, instead of those configured or found.")
@click.option("--no-model", is_flag=True, help="Ask no model: only repair failing checks, by small edits.")
@set_option("this run")
def run(
    task: str,
    repo: Path,
    as_json: bool,
    apply_it: bool,
    trust_it: bool,
    test_command: str,
    no_model: bool,
    settings: dict[str, dict[str, Any]],
) -> None:
    """Carry out TASK in a repository. The change stays on its branch unless --apply is given."""
    named = {"test_command": test_command} if test_command else {}
    extra = {**settings, "testing": {**settings.get("testing", {}), **named}}
    done = run_task(task, repo, as_json=as_json, apply_it=apply_it, extra=extra, with_model=not no_model, trust_it=trust_it)
    sys.exit(asyncio.run(done))


def _is_asked() -> bool:
    """Whether a person is at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _trusts(repo: Path, question: str) -> bool:
    """The answer of the person at the terminal; no where there is no terminal."""
    if not _is_asked():
        return False
    say(f"Do you trust {repo}? {question}", err=True)
    return click.confirm("Trust it", default=False, err=True)


async def run_task(
    task: str,
    repo: Path,
    *,
    as_json: bool,
    apply_it: bool,
    extra: dict[str, dict[str, Any]] | None = None,
    hidden: tuple[str, ...] = (),
    with_model: bool = True,
    trust_it: bool = False,
) -> int:
    """Execute one task and report it on the terminal. Returns the exit code."""
    from agent.launch import NotTrusted, PreflightError, open_run
    from agent.workspace.trust import trust
    from tui.ending import hear_signals
    from tui.report import guarded, json_printer, plain_printer

    async def opened() -> Run:
        return await open_run(
            task, repo, extra=extra or {}, hidden=hidden, apply_when_complete=apply_it, with_model=with_model
        )

    try:
        if trust_it:
            trust(repo)
        try:
            started = await opened()
        except NotTrusted as error:
            if as_json or not _trusts(error.repo, error.question):
                said = "" if _is_asked() and not as_json else f" {error.question}"
                say(f"cra: {error}{said} Run it with --trust, or: cra trust {shlex.quote(str(error.repo))}", err=True)
                return error.exit_code
            trust(error.repo)
            started = await opened()
    except PreflightError as error:
        say(f"cra: {error} {error.hint}".rstrip(), err=True)
        return error.exit_code
    started.ctx.listeners.append(guarded(json_printer() if as_json else plain_printer(), started.stop))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, started.stop)
    hear_signals(started.stop)
    try:
        finished = await started.execute()
    finally:
        await started.aclose()
    return exit_codes.OF_STATUS[finished.status]
