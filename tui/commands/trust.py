"""``cra trust``: which repositories' commands may run, and whose ``.clean_room`` is taken over."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tui.commands.places import REPO_ARGUMENT
from tui.say import say


@click.command()
@REPO_ARGUMENT
@click.option("--below", is_flag=True, help="Also trust every folder in it, whatever changes there.")
@click.option("--remove", is_flag=True, help="Do not trust it any more.")
@click.option("--show", is_flag=True, help="Only show what trust would allow.")
@click.option("--state", is_flag=True, help="Take over the .clean_room that another machine or an earlier version made.")
def trust(repo: Path, below: bool, remove: bool, show: bool, state: bool) -> None:
    """Let the build and the tests of REPO (default: here) run.

    Until then a repository is only read. Trust ends when its configuration or its test command changes.
    """
    from agent.launch import trust_question
    from agent.workspace import trust as trusted
    from agent.workspace.clean_room import adopt

    if state:
        say(f"Taken over from before: {', '.join(adopt(repo))}.")
    elif remove:
        say(f"{repo} is not trusted any more." if trusted.distrust(repo) else f"{repo} was not trusted.")
    elif show:
        say(f"{repo} is {'' if trusted.is_trusted(repo) else 'not '}trusted. {trust_question(repo)}")
    else:
        say(trust_question(repo))
        trusted.trust(repo, below=below)
        back = f"cra trust --remove {shlex.quote(str(repo))}"
        say(f"{repo} is trusted{', with every folder in it' if below else ''}. Take it back with: {back}")
