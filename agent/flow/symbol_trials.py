"""A repair whose place is not certain: each named symbol is tried alone, and the checks say which change is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from agent.coding.files import put_back
from agent.coding.writing.edit_step import StepOutcome
from agent.flow.checks import RunChecks
from agent.flow.worktree_files import WorkTree
from agent.values import CheckResult, PlanStep

Edit = Callable[[PlanStep], Awaitable[StepOutcome]]


def wants_mending(step: PlanStep, checks: RunChecks) -> bool:
    """Whether checks fail that a change to one of several symbols may mend."""
    return (
        step.kind == "implement"
        and len(step.target_symbols) > 1
        and checks.best is not None
        and not checks.best.ok
        and bool(checks.best.passed or checks.best.failed)
    )


async def mend(step: PlanStep, edit: Edit, checks: RunChecks, tree: WorkTree) -> tuple[bool, str]:
    """Change the symbols of ``step`` one at a time, best first; stop when the checks pass. What makes them worse is taken
    back at once; what changes nothing is kept only if nothing else helped, and then only the first of it.

    Returns:
        (whether something was kept, else why not)
    """
    reasons: list[str] = []
    idle: dict[str, bytes] = {}
    helped = False
    for symbol in step.target_symbols:
        before = _contents(step, tree)
        done = await edit(msgspec.structs.replace(step, target_symbols=(symbol,)))
        if not done.ok:
            reasons.append(done.reason)
            continue
        now = await checks.after_step(step.id)
        if now is not None and now.ok:
            return True, ""
        if now is not None and _improved(checks.best, now):
            checks.accept(now)
            helped = True
            continue
        if not checks.regressed(now) and not idle:
            idle = _contents(step, tree)
        reasons.append(f"the new version of {symbol} does not mend the checks")
        put_back(tree.files, before)
    if not helped and idle:
        put_back(tree.files, idle)
        return True, ""
    return helped, "; ".join(reasons)


def _improved(best: CheckResult | None, now: CheckResult) -> bool:
    return best is not None and (now.passed or 0) > (best.passed or 0)


def _contents(step: PlanStep, tree: WorkTree) -> dict[str, bytes]:
    return {path: tree.files.read_bytes(path) for path in step.target_files if tree.files.exists(path)}
