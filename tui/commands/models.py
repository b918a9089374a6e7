"""``cra models``: which there are, fetch one, look whether those in use answer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import click

from tui import exit_codes
from tui.commands.places import REPO
from tui.say import say, say_progress


@click.group()
def models() -> None:
    """List, fetch and check models."""


@models.command("list")
def list_() -> None:
    """List the models that can be fetched, and the files of those that were."""
    from agent.models.store import list_adapters, list_models

    for known in list_models():
        entry = known.entry
        place = str(known.path) if known.path else "not fetched"
        say(f"{entry.name:<24} {entry.parameters:>5}  {entry.size / 1e9:4.1f} GB  {entry.licence:<12} {place}")
    for path in list_adapters():
        say(f"{path.name:<24} adapter {path.stat().st_size / 1e6:5.1f} MB  {path}")


@models.command()
@click.argument("name", default="")
def pull(name: str) -> None:
    """Fetch NAME (default: the configured coding model), verify its SHA-256 and put it in place. Continues an interrupted
    download."""
    from agent.config.schema import load
    from agent.models.pull import pull as fetch

    chosen = name or load(Path(".")).models.coding
    progress, done = _progress()
    try:
        path = asyncio.run(fetch(chosen, progress))
    finally:
        done()
    say(f"{chosen} is ready: {path}")


@models.command()
@REPO
def check(repo: Path) -> None:
    """Check that every model in use exists and can be reached."""
    from agent.config.schema import load
    from agent.models.router import Router

    async def look() -> bool:
        router = Router(load(repo).models)
        try:
            found = await router.check()
        finally:
            await router.aclose()
        for target, info in found:
            where = f" at {target.base_url}" if target.base_url else ""
            say(f"{'ok     ' if info.ok else 'missing'}  {target.provider} {target.model}{where}: {info.text}")
            if not info.ok and info.hint:
                say(f"         → {info.hint}")
        return all(info.ok for _, info in found)

    sys.exit(exit_codes.DONE if asyncio.run(look()) else exit_codes.MISSING)


def _progress() -> tuple[Callable[[int, int, str], None], Callable[[], None]]:
    """A progress line on a terminal, a line every tenth elsewhere; on standard error."""
    terminal = sys.stderr.isatty()
    shown = {"tenth": -1, "label": ""}

    def tell(done: int, total: int, label: str) -> None:
        share = done / total if total else 0.0
        if terminal:
            bar = "█" * int(share * 30)
            text = f"{label[:28]:<28} [{bar:<30}] {share:4.0%} {done / 1e6:,.0f} of {total / 1e6:,.0f} MB "
            say_progress(text)
        elif int(share * 10) != shown["tenth"] or label != shown["label"]:
            shown.update(tenth=int(share * 10), label=label)
            say(f"{label}: {share:.0%}", err=True)

    return tell, lambda: say(err=True) if terminal else None
