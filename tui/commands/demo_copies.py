"""``cra demo --list`` and ``--clean``: the demos, and the copies that earlier calls made of them."""

from __future__ import annotations

import click

from agent.counts import plural
from agent.flow.demo_copies import DemoCopy, demo_copies, remove_copy
from agent.workspace.demo import list_demos
from agent.workspace.git import WorkspaceError
from tui.say import say


def list_all() -> None:
    """Every demo, then every copy with what is in it."""
    for known in list_demos():
        say(f"{known.name:<14} {known.title}: {known.task}")
    copies = demo_copies()
    if copies:
        say("\nCopies (open one with: cra --repo FOLDER):")
    for copy in copies:
        say(f"{copy.path}  {_about(copy)}")
    if any(not copy.kept_for for copy in copies):
        say("\nThose that hold nothing to decide or to keep go with: cra demo --clean")


def clean_copies(yes: bool) -> None:
    """Delete the copies that nothing keeps, after a question; say which stay and why."""
    copies = demo_copies()
    going = [copy for copy in copies if not copy.kept_for]
    for copy in copies:
        say(f"{'deletes' if not copy.kept_for else 'keeps  '}  {copy.path}  {_about(copy)}")
    if not going:
        say("There is nothing to delete." if copies else "There are no copies of demos.")
        return
    if not yes and not click.confirm(f"Delete {len(going)} of {plural(len(copies), 'copy', 'copies')}?", default=False):
        say("Nothing was deleted.")
        return
    gone = 0
    for copy in going:
        try:
            remove_copy(copy)
            gone += 1
        except WorkspaceError as error:
            say(f"cra: {error}", err=True)
    say(f"Deleted {plural(gone, 'copy', 'copies')}.")


def _about(copy: DemoCopy) -> str:
    runs = "untouched" if copy.untouched else plural(copy.runs, "run")
    return f"({runs}{'; holds ' if copy.kept_for else ''}{', '.join(copy.kept_for)})"
