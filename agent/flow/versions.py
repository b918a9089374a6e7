"""Versions of functions that a run wrote: put in place together, and kept where the checks are better with them."""

from __future__ import annotations

from collections.abc import Sequence

from agent.coding.files import LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import Candidate
from agent.coding.writing.compiled_candidate import CandidateTrial
from agent.events import StepFinished
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.values import CheckResult


async def placed(
    parts: RunParts, functions: Sequence[OpenFunction], versions: Sequence[Candidate]
) -> dict[str, bytes] | None:
    """The files with these versions in place, where they compile together; else None."""
    files = parts.tree.files
    for wanted, version in zip(functions, versions, strict=True):
        trial = CandidateTrial(parts.ctx, wanted, files, parts.compiler)
        trial.put(version.extracted)
    for path in dict.fromkeys(wanted.path for wanted in functions):
        if not (await parts.compiler(path)).ok:
            return None
    known = LazyFiles(files)
    return {wanted.path: known[wanted.path] for wanted in functions}


def is_better(now: CheckResult, best: CheckResult) -> bool:
    """Whether all checks pass where they did not, or more of them."""
    return (now.ok and not best.ok) or (now.passed or 0) > (best.passed or 0)


async def keep_versions(
    parts: RunParts, runner: StepRunner, functions: Sequence[OpenFunction], now: CheckResult, start: str, what: str
) -> None:
    """Commit what stands in place, ``what`` in a few words; ``start`` is the commit before, ``now`` what the checks say."""
    parts.checks.accept(now)
    commit = await parts.workspace.commit(what[:200])
    changed = tuple(await parts.workspace.changed_files(start))
    for step in runner.executed:
        if {wanted.name for wanted in functions} & set(step.target_symbols):
            runner.note(step, ok=True)
            parts.ctx.emit(StepFinished(step.id, True, what, commit, changed))
