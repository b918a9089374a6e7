"""Similarity: one yes/no per pair of included files that share imports or history; groups by union-find."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent.events import FilesGrouped
from agent.graph import group
from agent.judgment.binary import run_binary_judgment
from agent.prompts import similarity as words
from agent.prompts.task_context import task_context
from agent.retrieval.call_budget import Allowance
from agent.retrieval.types import ScopedFile, TaskFacts
from agent.values import Value

if TYPE_CHECKING:
    from agent.context import RunContext
    from agent.index import Index

SHARE = 4
"""Similarity may spend a quarter of the time that is left when it is asked."""


class FilePair(Value, frozen=True):
    """Two files and what ties them. ``weight`` is the sort key: one per import edge, plus their common commits."""

    a: str
    b: str
    about_a: str
    about_b: str
    evidence: str
    weight: int

    @property
    def key(self) -> str:
        """The pair's name in the log."""
        return f"{self.a} + {self.b}"


def find_pairs(index: Index, files: Sequence[ScopedFile], least: int) -> list[FilePair]:
    """Pairs of files with an import between them, or with at least ``least`` common commits; most evidence first."""
    paths = [file.path for file in files]
    imports = {path: set(index.imports_of(path)) for path in paths}
    together = {path: dict(index.cochanged(path)) for path in paths}
    pairs = []
    for a, b in combinations(paths, 2):
        edges = (b in imports[a]) + (a in imports[b]) + (index.pair_of(a) == b)
        count = together[a].get(b, 0)
        evidence = [f"{_name(x)} imports {_name(y)}" for x, y in ((a, b), (b, a)) if y in imports[x]]
        if count >= least:
            evidence.append(f"changed together {count} times")
        if edges and not evidence:
            evidence.append("header and source")
        if evidence:
            pairs.append(FilePair(a, b, _about(index, a), _about(index, b), "; ".join(evidence), edges + count))
    return sorted(pairs, key=lambda pair: -pair.weight)


async def group_files(
    ctx: RunContext, index: Index, files: Sequence[ScopedFile], facts: TaskFacts, allowance: Allowance
) -> tuple[tuple[str, ...], ...]:
    """Groups of files that belong together, each in order of rank; a file on its own is a group of one.

    Raises:
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    pairs = find_pairs(index, files, ctx.config.retrieval.min_co_change)
    verdicts: dict[object, bool] = {}

    async def ask(wave: list[FilePair]) -> None:
        answered, _ = await run_binary_judgment(
            wave,
            system_prompt=words.SYSTEM,
            task_context=task_context(facts.text, facts.intent),
            llm=ctx.llm("similarity"),
            format_item=lambda p: words.item(p.a, p.about_a, p.b, p.about_b, p.evidence),
            item_key=lambda p: p.key,
            stage_name="similarity",
            default_action="unrelated",
        )
        verdicts.update(answered)

    async with ctx.stage("similarity", len(pairs)) as report:
        asked = await allowance.ask(pairs, ask, SHARE, at_once=ctx.gate.reviews)
        related: list[tuple[str, str, float | None]] = [(p.a, p.b, None) for p in asked if verdicts[p.key]]
        if len(pairs) > len(asked):
            text = f"{len(asked)} of {len(pairs)} file pairs were asked about, most evidence first."
            ctx.notice("info", text, "similarity")
        groups = group([file.path for file in files], related).groups
        ctx.emit(FilesGrouped(groups))
        report.counts.update(pairs=len(pairs), asked=len(asked), groups=len(groups))
    return groups


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _about(index: Index, path: str) -> str:
    names = [symbol.qualified for symbol in index.symbols(path) if symbol.kind not in ("enumerator", "prototype")]
    return ", ".join(names[:8]) or "no symbols"
