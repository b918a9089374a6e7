"""What the phases of one run share: each is handed these parts, and none reaches into another."""

from __future__ import annotations

from dataclasses import dataclass

from agent.context import RunContext
from agent.flow.budget import Budget
from agent.flow.checks import RunChecks
from agent.flow.compiling import RunCompiler
from agent.flow.outcome import RunOutcome
from agent.flow.survey import Survey
from agent.flow.worktree_files import WorkTree
from agent.workspace.worktree import Workspace


@dataclass(frozen=True)
class RunParts:
    """``found`` is what the survey found, ``tree`` the worktree's files as the rooms that write code see them."""

    ctx: RunContext
    workspace: Workspace
    found: Survey
    checks: RunChecks
    outcome: RunOutcome
    tree: WorkTree
    compiler: RunCompiler
    budget: Budget

    @classmethod
    def of(
        cls, ctx: RunContext, workspace: Workspace, found: Survey, checks: RunChecks, outcome: RunOutcome
    ) -> RunParts:
        """The parts of a run after its survey. :meth:`close` them."""
        tree = WorkTree(workspace, found.index, found.writable, found.hidden)
        return cls(ctx, workspace, found, checks, outcome, tree, RunCompiler(ctx, workspace), Budget(ctx))

    def close(self) -> None:
        """Let go of the build's objects."""
        self.compiler.close()
