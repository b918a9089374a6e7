"""``cra index``: read the repository, or read it again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.counts import plural
from tui.commands.places import REPO_ARGUMENT
from tui.commands.settings import settings_of
from tui.say import say, say_progress

if TYPE_CHECKING:
    from agent.events import Envelope
    from agent.index import Index


_NAMED = 10
"""Files that are named of one kind; of the rest their number is said."""


@click.command()
@REPO_ARGUMENT
@click.option(
    "--enrich", is_flag=True, help="Have the model name each file's purpose, domain and concepts."
)
def index(repo: Path, enrich: bool) -> None:
    """Index REPO (default: here): files, symbols, references, history, search."""
    from agent.launch import PreflightError

    try:
        asyncio.run(_index(repo, enrich))
    except PreflightError as error:
        say(f"cra: {error} {error.hint}".rstrip(), err=True)
        sys.exit(error.exit_code)


async def _index(repo: Path, enrich: bool) -> None:
    from agent.index import Index

    limits = settings_of(repo).index
    opened = Index.open(repo, max_file_bytes=limits.max_file_kib * 1024, max_commits=limits.max_commits)
    try:
        report = await asyncio.to_thread(opened.refresh, _progress if sys.stderr.isatty() else None)
        languages = ", ".join(f"{count} {name}" for name, count in sorted(report.languages.items()))
        say(
            f"{plural(report.files, 'file')}{f' ({languages})' if languages else ''}, {plural(report.symbols, 'symbol')}; "
            f"{report.changed} read, {report.removed} gone, {report.ms} ms"
        )
        for reason, count in sorted(report.skipped.items()):
            names = report.unread.get(reason, ())
            say(f"  skipped, {reason}: {count}{f' ({_listed(names)})' if names else ''}")
        for encoding, names in report.encodings.items():
            say(f"  read as {encoding}: {_listed(names)}")
        if enrich:
            await _enrich(opened, repo)
    finally:
        opened.close()


async def _enrich(opened: Index, repo: Path) -> None:
    from agent.config.schema import load
    from agent.retrieval.enrichment import enrich
    from agent.session import asking_session

    async with asking_session("enrich", repo, load(repo)) as ctx:
        ctx.listeners.append(_tell)
        count = await enrich(ctx, opened)
    say(f"{plural(count, 'file')} enriched")


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    from agent.workspace.git import shown

    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(map(shown, names[:_NAMED]))}{more}"


def _progress(done: int, total: int, path: str) -> None:
    say_progress(f"{done}/{total} {path[-60:]:<60}", last=done == total)


def _tell(envelope: Envelope) -> None:
    from agent.events import CallFinished

    if isinstance(envelope.event, CallFinished):
        say(f"  {envelope.event.item}", err=True)
