"""The link once all functions are in: an undefined reference shows only there."""

from __future__ import annotations

import re

from agent.flow.steps import StepRunner

_MAIN = re.compile(rb"^[^\n#/*]*\bmain\s*\(", re.M)


async def link_changed(runner: StepRunner) -> None:
    """Compile and link what the run changed with the sources behind the headers it includes. Library flags that the linker
    turned out to want are handed to the checks; functions that are missing are written, or told."""
    sources = _closure(runner, await runner.workspace.changed_files())
    if not sources:
        return
    async with runner.ctx.stage("link") as report:
        linked = await runner.compiler.link(sources)
        report.counts = {"objects": len(sources), "libraries": len(linked.libraries), "missing": len(linked.missing)}
    runner.checks.libraries = linked.libraries
    for name in linked.missing:
        step = runner.worker.step_for(name, runner.outcome.functions_done)
        if step is None:
            runner.ctx.notice("warning", f"{name} is declared and used, but defined nowhere.", "link")
        else:
            await runner.carry_out(step)


def _closure(runner: StepRunner, changed: list[str]) -> list[str]:
    """The changed C sources without a ``main`` and, through the headers they include, the sources that go with those."""
    index = runner.found.index
    todo = [path for path in changed if path.endswith(".c")]
    found: list[str] = []
    while todo:
        path = todo.pop()
        if path in found or not runner.tree.writable(path) or not runner.tree.files.exists(path):
            continue
        if _MAIN.search(runner.tree.files.read_bytes(path)):
            continue
        found.append(path)
        for header in index.includes_of(path):
            pair = index.pair_of(header)
            if pair and pair.endswith(".c"):
                todo.append(pair)
    return sorted(found)
