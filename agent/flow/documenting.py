"""The documentation pass (``orchestrator.documentation_pass``): comments for what the run changed, nothing else."""

from __future__ import annotations

from agent.coding.writing.documentation import document
from agent.flow.run_parts import RunParts
from agent.workspace.git import WorkspaceError


async def document_changes(parts: RunParts) -> None:
    """Comment the public symbols of changed files, check, and commit; taken back whole if the checks got worse."""
    ctx, workspace, tree = parts.ctx, parts.workspace, parts.tree
    changed = [path for path in await workspace.changed_files() if tree.writable(path) and tree.files.exists(path)]
    if not changed:
        return
    start = await workspace.head()
    before = {path: await _before(parts, path) for path in changed}
    async with ctx.stage("documentation", len(changed)) as report:
        results = await document(
            ctx, before, files=tree.files, task=parts.found.task, protected=lambda path: not tree.writable(path)
        )
        done = [result for result in results if result.ok]
        report.counts = {"commented": len(done)}
        now = await parts.checks.after_step("documentation") if done else None
        if parts.checks.regressed(now):
            await workspace.rollback(start)
            ctx.notice(
                "warning", "The comments made the checks worse, so all of them were taken out again.", "documentation"
            )
        elif done:
            await workspace.commit("Document what changed")


async def _before(parts: RunParts, path: str) -> bytes | None:
    """The file's content before the run, None when it is new."""
    try:
        return await parts.workspace.content_at(parts.workspace.base, path)
    except WorkspaceError:
        return None
