"""``cra retrieve``: which files and symbols matter for a task."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from tui.commands.places import REPO
from tui.commands.settings import settings_of
from tui.say import say, say_data


@click.command()
@click.argument("task")
@REPO
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--no-model", is_flag=True, help="Stop before the judgments: every candidate, by rank.")
def retrieve(task: str, repo: Path, as_json: bool, no_model: bool) -> None:
    """Find the files and symbols that TASK needs, best first."""
    from agent.languages import EITHER
    from agent.launch import PreflightError
    from agent.workspace.git import shown

    try:
        found, readable = asyncio.run(_retrieve(task, repo.resolve(), no_model))
    except PreflightError as error:
        say(f"cra: {error} {error.hint}".rstrip(), err=True)
        sys.exit(error.exit_code)
    if as_json:
        say_data(json.dumps(found, ensure_ascii=False))
        return
    if not found["files"]:
        none = f"No {EITHER} file of this repository matches that task. Name a file or a function in it."
        say(none if readable else f"This repository holds no {EITHER} file that can be read.")
        return
    for name in ("files", "symbols"):
        say(f"{name}:")
        for entry in found[name]:
            say(f"  {shown(entry)}{_why(found['why'][name].get(entry, {}))}")
    say(f"{found['calls']} calls, {found['tokens']} tokens of context, {found['seconds']:.1f} s")


def _why(entry: dict[str, Any]) -> str:
    """Where it comes from, and the three strongest kinds of evidence with their share of the score."""
    shares = [f"{one['kind']} {one['share']:.0%}" for one in entry.get("reasons", [])[:3]]
    parts = [entry.get("place", ""), entry.get("level", ""), ", ".join(shares)]
    said = "; ".join(part for part in parts if part)
    return f"  ({said})" if said else ""


async def _retrieve(task: str, repo: Path, no_model: bool) -> tuple[dict[str, Any], bool]:
    """What was found, and whether the repository holds a file that could be."""
    from agent.index import Index
    from agent.languages import parser_for
    from agent.retrieval.pipeline import retrieve as judge
    from agent.retrieval.pipeline import retrieve_unjudged
    from agent.session import asking_session

    began = time.perf_counter()
    config = settings_of(repo)
    limits = config.index
    index = Index.open(repo, max_file_bytes=limits.max_file_kib * 1024, max_commits=limits.max_commits)
    try:
        await asyncio.to_thread(index.refresh)
        if no_model:
            found = await asyncio.to_thread(retrieve_unjudged, index, task, config)
        else:
            async with asking_session(task, repo, config) as ctx:
                found = (await judge(ctx, index, task)).to_dict()
        readable = any(parser_for(file.language) for file in index.files())
    finally:
        index.close()
    return {**found, "seconds": round(time.perf_counter() - began, 3)}, readable
