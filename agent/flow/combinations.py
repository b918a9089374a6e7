"""Functions that only work together are chosen together: the best versions of each, in every combination, by the tests.

No model is asked. The versions are those that were compiled in the run, whether they were kept then or not; each
combination costs a run of the checks, so that their number is bounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from agent.coding.files import LazyFiles, put_back
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import Candidate
from agent.coding.writing.compiled_candidate import CandidateTrial
from agent.events import StepFinished
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.values import CheckResult

STAGE = "combinations"
EACH = 2
"""Versions of one function that are combined, the best ones."""

MOST = 24
"""Combinations that are measured."""


async def combine_versions(parts: RunParts, runner: StepRunner) -> bool:
    """Try the combinations of what was written, while checks fail; keep the best if it is better. Returns whether it was.

    Raises:
        Stopped: if the person stopped the run.
    """
    best = parts.checks.best
    choices = _choices(runner.versions)
    if best is None or best.ok or not choices or not parts.ctx.config.coding.combinations:
        return False
    combined = list(itertools.islice(itertools.product(*(versions for _, versions in choices)), MOST))
    async with parts.ctx.stage(STAGE, len(combined), title="combinations of versions") as report:
        files, start = parts.tree.files, await parts.workspace.head()
        before = {wanted.path: files.read_bytes(wanted.path) for wanted, _ in choices}
        found: dict[str, bytes] | None = None
        tried = 0
        for versions in combined:
            await parts.ctx.gate.pass_point()
            changed = await _placed(parts, [wanted for wanted, _ in choices], versions)
            now = await parts.checks.measure() if changed and changed != before else None
            tried += now is not None
            if now is not None and _is_better(now, best):
                best, found = now, changed
            put_back(files, dict(before))
            if best.ok:
                break
        report.counts = {"tried": tried, "better": int(found is not None)}
        if found is None:
            return False
        put_back(files, dict(found))
        await _keep(parts, runner, [wanted for wanted, _ in choices], best, start)
    return True


def _choices(
    known: Iterable[tuple[OpenFunction, list[Candidate]]],
) -> list[tuple[OpenFunction, list[Candidate]]]:
    """The functions with more than one version, with the best of these."""
    found = []
    for wanted, versions in known:
        unique = {one.text: one for one in sorted(versions, key=lambda one: one.rank)}
        best = sorted(unique.values(), key=lambda one: one.rank, reverse=True)[:EACH]
        if len(best) > 1:
            found.append((wanted, best))
    return found


async def _placed(
    parts: RunParts, functions: list[OpenFunction], versions: tuple[Candidate, ...]
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


def _is_better(now: CheckResult, best: CheckResult) -> bool:
    return (now.ok and not best.ok) or (now.passed or 0) > (best.passed or 0)


async def _keep(
    parts: RunParts, runner: StepRunner, functions: list[OpenFunction], now: CheckResult, start: str
) -> None:
    names = ", ".join(wanted.name for wanted in functions)
    parts.checks.accept(now)
    commit = await parts.workspace.commit(f"Combine versions of {names}"[:200])
    changed = tuple(await parts.workspace.changed_files(start))
    text = f"the versions of {names} that pass most checks together"
    for step in runner.executed:
        if {wanted.name for wanted in functions} & set(step.target_symbols):
            runner.note(step, ok=True)
            parts.ctx.emit(StepFinished(step.id, True, text, commit, changed))
