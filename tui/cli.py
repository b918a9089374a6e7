"""The command line. Standard output is data, standard error narration; heavy imports wait for their command."""

from __future__ import annotations

import importlib
import shlex
import sys
from typing import Any

import click

from agent import __version__
from tui import exit_codes

_COMMANDS = {
    "demo": "tui.commands.demo:demo",
    "run": "tui.commands.run:run",
    "index": "tui.commands.index:index",
    "models": "tui.commands.models:models",
    "config": "tui.commands.config:config",
    "classify": "tui.commands.rows:classify",
    "signals": "tui.commands.rows:signals",
    "retrieve": "tui.commands.retrieve:retrieve",
    "labels": "tui.commands.labels:labels",
    "evaluate": "tui.commands.labels:evaluate",
    "serve": "tui.commands.serve:serve",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, so that ``--help`` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order a newcomer meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, name = place.split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every command with its whole first sentence, wrapped where click would cut it."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, command.get_short_help_str(limit=1000)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

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
            close = nearest(args[0], _COMMANDS)
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
    from agent.audit.log import LogError
    from agent.config.errors import ConfigError
    from agent.models.types import ModelError

    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        sys.exit(exit_codes.STOPPED)
    except KeyboardInterrupt:
        sys.exit(exit_codes.STOPPED)
    except click.ClickException as error:
        error.show()
        sys.exit(exit_codes.USAGE)
    except ConfigError as error:
        _fail(str(error), exit_codes.USAGE)
    except (ModelError, LogError) as error:
        hint = getattr(error, "hint", "")
        _fail(f"{error} {hint}".strip(), exit_codes.MISSING)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(exit_codes.NOT_SOLVED)


def _fail(text: str, code: int) -> None:
    click.echo(f"cra: {text}", err=True)
    sys.exit(code)
