"""Which sources a link needs: those behind the headers, and behind the headers that these include."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.flow.linking import sources_behind
from agent.flow.worktree_files import WorkTree
from agent.index import Index
from agent.workspace.demo import create_demo
from agent.workspace.protected import is_writable
from agent.workspace.worktree import Workspace


async def test_sources_behind_headers_of_headers_are_linked_too(tmp_path: Path) -> None:
    space = await Workspace.create(create_demo("weather_log", tmp_path / "weather"), "r1")
    index = Index.open(space.root, db_path=tmp_path / "i.sqlite")
    await asyncio.to_thread(index.refresh)
    tree = WorkTree(space, index, lambda path: is_writable(space.root, path))
    needed = ["src/dates.c", "src/reading.c", "src/series.c", "src/stats.c"]
    assert sources_behind(index, tree, ["src/stats.c"]) == needed, "reading.h is included by series.h alone"
    assert sources_behind(index, tree, ["src/stats.h"]) == needed
    assert sources_behind(index, tree, ["src/main.c", "tests/test_weather.c"]) == [], "a program is not part of another"
