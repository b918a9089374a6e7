"""The link once all functions are in: an undefined reference shows only there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.flow.worktree_files import WorkTree
from agent.index import Index
from agent.languages import is_compiled, is_unit

_MAIN = re.compile(rb"^[^\n#/*]*\bmain\s*\(", re.M)


async def link_changed(parts: RunParts, runner: StepRunner) -> None:
    """Compile and link what the run changed with the sources behind the headers it includes. Library flags that the linker
    turned out to want are handed to the checks; functions that are missing are written, or told."""
    changed = [path for path in await parts.workspace.changed_files() if is_unit(path)]
    sources = sources_behind(parts.found.index, parts.tree, changed)
    if not sources:
        return
    async with parts.ctx.stage("link") as report:
        linked = await parts.compiler.link(sources)
        report.counts = {"objects": len(sources), "libraries": len(linked.libraries), "missing": len(linked.missing)}
    parts.checks.link_with(linked.libraries)
    for name in linked.missing:
        step = runner.step_for(name)
        if step is None:
            parts.ctx.notice("warning", f"{name} is declared and used, but defined nowhere.", "link")
        else:
            await runner.carry_out(step)


def sources_behind(index: Index, tree: WorkTree, paths: Iterable[str]) -> list[str]:
    """The C sources without a ``main`` among ``paths`` or beside the headers among them and, through the headers that those
    include, the sources that go with them."""
    todo = [path for path in paths if is_compiled(path)]
    seen: set[str] = set()
    found: list[str] = []
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        if is_part(tree, path):
            found.append(path)
        elif is_unit(path):
            continue
        else:
            todo.append(index.pair_of(path) or path)
        todo += index.includes_of(path)
    return sorted(found)


def is_part(tree: WorkTree, path: str) -> bool:
    """Whether a C source is linked with others: no test, nothing hidden, no program of its own."""
    if not is_unit(path) or not tree.writable(path) or not tree.files.exists(path):
        return False
    return not _MAIN.search(tree.files.read_bytes(path))
