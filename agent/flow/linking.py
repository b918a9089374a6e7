"""The link once all functions are in: an undefined reference shows only there."""

from __future__ import annotations

from agent.flow.linked_sources import sources_behind
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.languages import is_unit


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
            said = f"{name} is declared and used, but defined nowhere, so what uses it cannot be linked."
            parts.ctx.notice("warning", said, "link")
        else:
            await runner.carry_out(step)
