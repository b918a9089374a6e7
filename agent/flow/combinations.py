"""Functions that only work together are chosen together: the best versions of each, in every combination, by the tests.

No model is asked. The versions are those that were compiled in the run, whether they were kept then or not; each
combination costs a run of the checks, so that their number is bounded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from agent.coding.files import put_back
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import Candidate
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.flow.versions import is_better, keep_versions, placed

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
            changed = await placed(parts, runner, [wanted for wanted, _ in choices], versions)
            now = await parts.checks.measure() if changed and changed != before else None
            tried += now is not None
            if now is not None and is_better(now, best):
                best, found = now, changed
            put_back(files, dict(before))
            if best.ok:
                break
        report.counts = {"tried": tried, "better": int(found is not None)}
        if found is None:
            return False
        put_back(files, dict(found))
        names = ", ".join(wanted.name for wanted, _ in choices)
        what = f"Take the versions of {names} that pass most checks together"
        await keep_versions(parts, runner, [wanted for wanted, _ in choices], best, start, what)
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
