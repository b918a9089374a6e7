"""Versions of functions, each searched for a small edit, whether it was kept or not: one with a slip in every result passes
fewer checks than one that is wrong in another way, and is nearer to being right. No model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.coding.files import put_back
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import Candidate
from agent.flow.run_parts import RunParts
from agent.flow.search_repair import PARTLY, can_search, passes_partly, search_version
from agent.flow.steps import StepRunner
from agent.flow.versions import is_better, keep_versions, placed
from agent.values import CheckResult

STAGE = "versions"
EACH_SECONDS = 4.0
"""Seconds for the edits of one version, beside 2 s until the first one is tried. Six of fifteen searches that mended what
was written had found it in 5 s."""

SLOWEST_CHECKS = 2.0
"""Seconds of the checks up to which a version is searched: where a test does not end, no time is left for edits."""

MOST = 3
"""Versions that are searched before new ones are drawn."""


class VersionSearch:
    """Searches the versions of functions, each once in a run."""

    def __init__(self, parts: RunParts, runner: StepRunner) -> None:
        self.parts = parts
        self.runner = runner
        self._searched: set[tuple[str, str]] = set()

    async def run(self, names: Sequence[str], *, standing: bool = False) -> bool:
        """Search the versions of the functions ``names``, in their order, the best first. Where all of them stand in their
        files, they are only searched with ``standing``. Keeps what comes furthest if it is better than what stands there and
        passes a part of the checks that is worth it: one of seven is passed by an edit that breaks all sense. Returns
        whether something was kept.

        Raises:
            Stopped: the person stopped the run.
        """
        best, waiting = self.parts.checks.best, self._unsearched(names)[:MOST]
        if not standing and all(self._stands(*one) for one in waiting):
            return False
        if best is None or not waiting or not can_search(self.parts.ctx, best):
            return False
        start = await self.parts.workspace.head()
        found: tuple[OpenFunction, dict[str, bytes]] | None = None
        async with self.parts.ctx.stage(STAGE, len(waiting), title="search in versions") as report:
            while waiting and not best.ok and self.parts.budget.allows():
                await self.parts.ctx.gate.pass_point()
                wanted, version = waiting.pop(0)
                self._searched.add((wanted.name, version.text))
                now, texts = await self._mended(wanted, version)
                if now is not None and is_better(now, best) and (now.ok or passes_partly(now, PARTLY)):
                    best, found = now, (wanted, texts)
                await self.runner.roll_back(start)
            better = found is not None and await self._is_kept(*found, start)
            report.counts = {"better": int(better)}
        return better

    def _unsearched(self, names: Sequence[str]) -> list[tuple[OpenFunction, Candidate]]:
        """Versions that were not searched, those of the first function first, the best first."""
        found: list[tuple[OpenFunction, Candidate]] = []
        known = {wanted.name: (wanted, versions) for wanted, versions in self.runner.versions}
        for wanted, versions in (known[name] for name in names if name in known):
            unique = {one.text: one for one in versions}
            best_first = sorted(unique.values(), key=lambda one: one.rank, reverse=True)
            found += [(wanted, one) for one in best_first if (wanted.name, one.text) not in self._searched]
        return found

    def _stands(self, wanted: OpenFunction, version: Candidate) -> bool:
        data = self.parts.tree.files.read_bytes(wanted.path)
        return version.text in data.decode("utf-8", "replace").replace("\r\n", "\n")

    async def _mended(self, wanted: OpenFunction, version: Candidate) -> tuple[CheckResult | None, dict[str, bytes]]:
        """What the checks say of a version with the edit that makes most of them pass, and its files; None where it cannot
        be said."""
        parts, nothing = self.parts, dict[str, bytes]()
        if await placed(parts, self.runner, [wanted], [version]) is None:
            return None, nothing
        now = await parts.checks.measure()
        if now is not None and not now.ok and now.seconds < SLOWEST_CHECKS:
            done = await search_version(
                parts.ctx, parts.workspace, parts.found.task, parts.checks, EACH_SECONDS, parts.found.hidden
            )
            edit = done.chosen or next(iter(done.parts), None)
            if edit is not None:
                put_back(parts.tree.files, dict(edit.texts))
                now = await parts.checks.measure()
        paths = await parts.workspace.changed_files(await parts.workspace.head())
        return now, {path: parts.tree.files.read_bytes(path) for path in paths}

    async def _is_kept(self, wanted: OpenFunction, texts: dict[str, bytes], start: str) -> bool:
        """Put these files in place and commit them, where the checks say once more that they are better."""
        parts, best = self.parts, self.parts.checks.best
        put_back(parts.tree.files, dict(texts))
        await asyncio.to_thread(parts.tree.catch_up)
        now = await parts.checks.after_step("")
        if now is None or best is None or not is_better(now, best) or parts.checks.lost(now):
            await self.runner.roll_back(start)
            return False
        what = f"Take the version of {wanted.name} that comes furthest with one edit at most"
        await keep_versions(parts, self.runner, [wanted], now, start, what)
        return True
