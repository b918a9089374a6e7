"""The command line. Standard output is data, standard error narration.

``cra --help`` imports click and nothing else that takes time: a command's module is imported when the command is used, so
its one-line help stands here (a test compares it with the command's own).
"""

from __future__ import annotations

import errno
import importlib
import io
import shlex
import sys
from typing import Any

import click

from agent import __version__
from agent.own_python import search_named_places_only
from tui import exit_codes

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": (
        "tui.commands.demo:demo",
        "Copy the demo NAME (ring_buffer, weather_log, token_budget or hash_table), with some history, and open it.",
    ),
    "run": ("tui.commands.run:run", "Carry out TASK in a repository."),
    "index": ("tui.commands.index:index", "Index REPO (default: here): files, symbols, references, history, search."),
    "models": ("tui.commands.models:models", "List, fetch and check models."),
    "config": ("tui.commands.config:config", "Write, show or find the configuration."),
    "classify": ("tui.commands.rows:classify", 'Classify the compiler failures of a JSONL FILE ("-" for standard input).'),
    "signals": (
        "tui.commands.rows:signals",
        'Extract the failure signals of recorded outputs in a JSONL FILE ("-" for standard input).',
    ),
    "retrieve": ("tui.commands.retrieve:retrieve", "Find the files and symbols that TASK needs, best first."),
    "labels": ("tui.commands.labels:labels", "Count labels, write them as training files, gather them over repositories."),
    "calibrate": (
        "tui.commands.calibrate:calibrate",
        "Fit thresholds to labels, measure them on tasks left out of the fit, and use those that are better.",
    ),
    "evaluate": (
        "tui.commands.evaluate:evaluate",
        "Ask one or more models every labelled question again and measure their answers, beside those of other models"
        " in the logs.",
    ),
    "trust": ("tui.commands.trust:trust", "Let the build and the tests of REPO (default: here) run."),
    "serve": ("tui.commands.serve:serve", "Serve the application to a browser on this machine."),
}
"""Name to (``module:attribute``, its help in one line)."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, so that ``--help`` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its whole first sentence, wrapped where click would cut it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Name the nearest command when one is mistyped."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from pathlib import Path

            from agent.config.errors import nearest

            if Path(args[0]).is_dir():
                place = shlex.quote(args[0])
                raise click.UsageError(f"{args[0]!r} is a folder. To open it: cra --repo {place}", ctx) from None
            close = nearest(args[0], COMMANDS)
            if close:
                raise click.UsageError(f"No such command {args[0]!r}. Did you mean {close!r}?", ctx) from None
            raise error from None


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cra")
@click.option("--info", is_flag=True, help="Print versions, paths and tools for a bug report.")
@click.option("--repo", default=".", type=click.Path(file_okay=False), help="Repository to open (default: here).")
@click.pass_context
def cli(ctx: click.Context, info: bool, repo: str) -> None:
    """Coding tasks by small local models, one visible decision at a time.

    Without a command the application opens on the repository you stand in.
    """
    if info:
        from tui.commands.info import print_info

        print_info()
        ctx.exit()
    if ctx.invoked_subcommand is None:
        from tui.commands.app import open_app

        ctx.exit(open_app(repo))


def main() -> None:
    """Entry point: every expected fault is a sentence and an exit code, never a traceback."""
    search_named_places_only()
    try:
        _main()
    finally:
        if (state := sys.modules.get("agent.workspace.clean_room")) is not None:
            for sentence in state.take_notices():
                click.echo(f"cra: {_clean(sentence)}", err=True)


def _main() -> None:
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        sys.exit(exit_codes.STOPPED)
    except KeyboardInterrupt:
        sys.exit(exit_codes.STOPPED)
    except click.ClickException as error:
        error.show(said := io.StringIO())
        click.echo(_clean(said.getvalue()), nl=False, err=True)
        sys.exit(exit_codes.USAGE)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(exit_codes.NOT_SOLVED)
    except Exception as error:
        found = _expected(error)
        if found is None:
            raise
        _fail(*found)


_ADVICE = {
    errno.ENOSPC: "Make some room on that disk, then try again.",
    errno.EDQUOT: "Make some room in your quota, then try again.",
    errno.EACCES: "Check who may read and write there.",
    errno.EPERM: "Check who may read and write there.",
    errno.EROFS: "That file system is mounted read-only.",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n), then try again.",
}
"""What to do about a fault of the system."""


def _expected(error: BaseException) -> tuple[str, int] | None:
    """The sentence and exit code of a fault that is expected, None for any other. The imports are slow: only a fault pays
    for them."""
    from agent.audit.log import LogError
    from agent.config.errors import ConfigError
    from agent.index import IndexUnavailable
    from agent.launch import PreflightError
    from agent.models.types import ModelError
    from agent.workspace.git import WorkspaceError

    if isinstance(error, BaseExceptionGroup):  # of tasks that ran together: the first that can be said
        return next((found for one in error.exceptions if (found := _expected(one)) is not None), None)
    text = f"{error} {getattr(error, 'hint', '')}".strip()
    if isinstance(error, PreflightError):
        return text, error.exit_code
    if isinstance(error, ConfigError | WorkspaceError):
        return text, exit_codes.USAGE
    if isinstance(error, ModelError | LogError | IndexUnavailable):
        return text, exit_codes.MISSING
    if isinstance(error, OSError) and error.strerror:  # such as a full disk; without a message it is a bug
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}. {_ADVICE.get(error.errno or 0, '')}".strip(), exit_codes.MISSING
    return None


def _fail(text: str, code: int) -> None:
    click.echo(f"cra: {_clean(text)}", err=True)
    sys.exit(code)


def _clean(text: str) -> str:
    from agent.terminal_text import clean

    return clean(text)
