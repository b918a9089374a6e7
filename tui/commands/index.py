"""``cra index``: read the repository, or read it again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.commands.settings import settings_of
from tui.say import say, say_progress

if TYPE_CHECKING:
    from agent.events import Envelope
    from agent.index import Index


_NAMED = 10
"""Files that are named of one kind; of the rest their number is said."""


@click.command()
@click.argument("repo", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--enrich", is_flag=True, help="Have the model name each file's purpose, domain and concepts."
)
def index(repo: Path, enrich: bool) -> None:
    """Index REPO (default: here): files, symbols, references, history, search."""
    from agent.launch import PreflightError

    try:
        asyncio.run(_index(repo.resolve(), enrich))
    except PreflightError as error:
        say(f"cra: {error} {error.hint}".rstrip(), err=True)
        sys.exit(error.exit_code)


async def _index(repo: Path, enrich: bool) -> None:
    from agent.index import Index
    from agent.workspace.git import shown

    limits = settings_of(repo).index
    opened = Index.open(repo, max_file_bytes=limits.max_file_kib * 1024, max_commits=limits.max_commits)
    try:
        report = await asyncio.to_thread(opened.refresh, _progress if sys.stderr.isatty() else None)
        languages = ", ".join(f"{count} {name}" for name, count in sorted(report.languages.items()))
        say(
            f"{report.files} file{'s' * (report.files != 1)}{f' ({languages})' if languages else ''}, "
            f"{report.symbols} symbol{'s' * (report.symbols != 1)}; "
            f"{report.changed} read, {report.removed} gone, {report.ms} ms"
        )
        for reason, count in sorted(report.skipped.items()):
            say(f"  skipped: {count} {reason}")
        for line in report.unread:
            say(f"  not read: {shown(line)}")
        for encoding, names in report.encodings.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            say(f"  read as {encoding}: {', '.join(map(shown, names[:_NAMED]))}{more}")
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
    say(f"{count} file{'s' * (count != 1)} enriched")


def _progress(done: int, total: int, path: str) -> None:
    say_progress(f"{done}/{total} {path[-60:]:<60}", last=done == total)


def _tell(envelope: Envelope) -> None:
    from agent.events import CallFinished

    if isinstance(envelope.event, CallFinished):
        say(f"  {envelope.event.item}", err=True)
