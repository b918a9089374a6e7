"""The edits that make the checks pass, of which one was chosen: a person may take another one in its place."""

from __future__ import annotations

from collections.abc import Mapping

from agent.context import RunContext
from agent.events import RepairChosen
from agent.flow.checks import RunChecks
from agent.repair.passing import PassingEdit, label_pick
from agent.workspace.worktree import Workspace


class OtherEdits:
    """What a search found. ``chosen`` is the number of the edit that is written."""

    def __init__(
        self, ctx: RunContext, workspace: Workspace, checks: RunChecks, edits: Mapping[int, PassingEdit], chosen: int
    ) -> None:
        self.ctx, self.workspace, self.checks = ctx, workspace, checks
        self.edits = dict(edits)
        self.chosen = chosen

    async def pick(self, number: int) -> tuple[bool, str]:
        """Write another edit, prove it by the checks, commit it and keep what the person says as a label. Returns whether it
        was done, and a sentence.

        Raises:
            WorkspaceError: the run's place cannot be written.
        """
        new, old = self.edits.get(number), self.edits[self.chosen]
        if new is None or new is old:
            return False, f"Edit {number} is the one that is written." if new is old else f"There is no edit {number}."
        for path, text in {**old.before, **new.texts}.items():
            self.workspace.write_bytes(path, text)
        now = await self.checks.measure()
        if now is not None and not now.ok:
            await self.workspace.rollback(await self.workspace.head())
            return False, f"The checks fail with edit {number} now, so edit {self.chosen} stays."
        await self.workspace.commit(f"Use edit {number} instead of edit {self.chosen}: {new.what} in {new.function}")
        label_pick(self.ctx.log, old, new)
        self.ctx.emit(RepairChosen(number, f"You took it instead of edit {self.chosen}.", picked=True))
        self.chosen = number
        return True, f"Edit {number} is written now. What you said is kept as a label."
