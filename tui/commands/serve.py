"""``cra serve``: the same application in a browser."""

from __future__ import annotations

import ipaddress
import shlex
import sys
from pathlib import Path

import click

from agent.own_python import own_python
from tui import exit_codes
from tui.commands.places import REPO
from tui.say import say


@click.command()
@REPO
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--anyone", is_flag=True, help="Allow an address other than loopback; the token then travels unencrypted.")
@click.option("--sessions", default=1, show_default=True, type=click.IntRange(1, 16), help="Browser windows at once.")
def serve(repo: Path, host: str, port: int, anyone: bool, sessions: int) -> None:
    """Serve the application to a browser on this machine.

    The printed address holds a random token; without it nobody is let in. A person who has it can write files and run
    compilers and tests as you."""
    if not _loopback(host) and not anyone:
        raise click.UsageError(
            f"{host} can be reached from other machines: anyone who connects with the token, which is sent unencrypted, "
            "can run commands as you. "
            "Use a loopback address, or say --anyone if that is what you want."
        )
    try:
        from tui.web import GuardedServer
    except ImportError:
        say("cra: The browser needs the extra 'web'. In the source folder: pip install '.[web]'", err=True)
        sys.exit(exit_codes.MISSING)
    command = shlex.join(own_python("-m", "tui", "--repo", str(repo)))
    server = GuardedServer(command, host=host, port=port, title="Clean Room", sessions=sessions)
    say(f"Open {server.address} (ctrl+c ends it). Anyone with this address can run code as you.", err=True)
    server.serve()


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
