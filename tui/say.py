"""What commands print. All of it goes through here, since names and messages of others may hold what drives a terminal."""

from __future__ import annotations

import click

from agent.terminal_text import clean, escaped


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines on standard output, or with ``err`` on standard error."""
    click.echo(clean(text), err=err)


def say_data(document: str) -> None:
    """Print a JSON or TOML document on standard output, for programs to read."""
    click.echo(escaped(document))


def say_progress(text: str, *, last: bool = False) -> None:
    """Put ``text`` in place of the progress line said before, on standard error; with ``last`` the line ends."""
    click.echo("\r" + clean(text).replace("\n", " "), nl=last, err=True)
