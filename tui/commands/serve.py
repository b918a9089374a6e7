"""``cra serve``: the same application in a browser."""

from __future__ import annotations

import ipaddress
import shlex
import sys
from pathlib import Path

import click

from tui import exit_codes


@click.command()
@click.option(
    "--repo", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Repository (default: here)."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option(
    "--anyone", is_flag=True, help="Allow an address other than loopback. Whoever reaches it can run commands here."
)
def serve(repo: Path, host: str, port: int, anyone: bool) -> None:
    """Serve the application to a browser on this machine.

    There is no login: whoever connects can write files and run compilers and tests as you.
    """
    if not _loopback(host) and not anyone:
        raise click.UsageError(
            f"{host} can be reached from other machines, and whoever connects can run commands as you. "
            "Use a loopback address, or say --anyone if that is what you want."
        )
    try:
        from textual_serve.server import Server
    except ImportError:
        click.echo("cra: The browser needs the extra 'web'. Install it with: pip install 'cra[web]'", err=True)
        sys.exit(exit_codes.MISSING)
    click.echo(
        f"Serving on http://{host}:{port} (ctrl+c ends it). It runs code on this machine: keep it to yourself.", err=True
    )
    command = shlex.join([sys.executable, "-m", "tui", "--repo", str(repo.resolve())])
    Server(command, host=host, port=port, title="Clean Room").serve()


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
