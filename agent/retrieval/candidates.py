"""Which files are worth a question: tiers 0 to 4, each capped after sorting by a stated key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from agent.languages import is_interface, parser_for
from agent.retrieval.filerank import FileRanking, rank_files
from agent.retrieval.types import ScopedFile, TaskFacts

if TYPE_CHECKING:
    from agent.config.schema import Retrieval
    from agent.index import Index
    from agent.index.entries import FileEntry

SOFT_SEEDS = 5
"""Without seeds, the neighbours of up to this many best search hits are looked at, at
most a quarter of all."""

_SORTED = {2: "most connected", 3: "most often changed together", 4: "best match"}

MAX_UNDEFINED_HEADERS = 4


class Candidates(msgspec.Struct, frozen=True):
    """Files in order of rank, and a sentence for every cap that cut something off."""

    files: tuple[ScopedFile, ...]
    caps: tuple[str, ...] = ()


class _Tier(msgspec.Struct):
    """Found files of one tier with the reason and the key they are sorted by."""

    found: dict[str, tuple[float, str]]

    def add(self, path: str, key: float, reason: str) -> None:
        old = self.found.get(path)
        if old is None or key > old[0]:
            self.found[path] = (key, reason)


def find_candidates(index: Index, facts: TaskFacts, limits: Retrieval, plan_files: Sequence[str] = ()) -> Candidates:
    """Every file that a plan, the task, an edge, the history or the search points at; lower tier wins.

    Tests are not candidates unless the task is about tests or names them; nor are files in a language without a parser.
    """
    entries = {entry.path: entry for entry in index.files()}
    wanted = set(plan_files) | set(facts.mentioned_files)
    eligible = {path for path, entry in entries.items() if path in wanted or _eligible(entry, facts)}
    ranking = rank_files(index, facts)
    order = [path for path in ranking.paths if path in eligible]
    place = {path: number for number, path in enumerate(order, 1)}
    tiers: dict[int, dict[str, str]] = {0: {p: "named by the plan" for p in plan_files if p in entries}}
    tiers[1] = _without(_seeds(index, facts, eligible), tiers)
    base = [*tiers[0], *tiers[1]]
    sources = base or order[: max(1, min(SOFT_SEEDS, len(order) // 4))]
    caps: list[str] = []
    found_by_words = {path: f"search match, place {number}" for path, number in place.items()}
    tiers[4] = {} if base else {path: found_by_words[path] for path in sources}
    tiers[2] = _capped(_neighbours(index, sources), eligible, tiers, place, limits.max_dependencies, 2, caps)
    together = _together(index, sources, limits.min_co_change)
    tiers[3] = _capped(together, eligible, tiers, place, limits.max_co_changes, 3, caps)
    hits = _Tier({path: (-number, found_by_words[path]) for path, number in place.items()})
    rest = _capped(hits, eligible, tiers, place, limits.max_search - len(tiers[4]), 4, caps)
    tiers[4] = tiers[4] | rest
    files = [
        _scoped(entries[path], tier, reason, ranking)
        for tier, found in tiers.items()
        for path, reason in found.items()
    ]
    files.sort(key=lambda f: _rank_key(f, place))
    ranked = tuple(msgspec.structs.replace(file, rank=number) for number, file in enumerate(files, 1))
    return Candidates(ranked, tuple(caps))


def _rank_key(file: ScopedFile, place: dict[str, int]) -> tuple[int, int, str]:
    """Plan files, then what the task names, then by the fused ranking; files the ranking does not know come last."""
    return (min(file.tier, 2), place.get(file.path, len(place) + file.tier), file.path)


def _eligible(entry: FileEntry, facts: TaskFacts) -> bool:
    if parser_for(entry.language) is None:
        return False
    return facts.kind == "test" or not entry.is_test


def _seeds(index: Index, facts: TaskFacts, eligible: set[str]) -> dict[str, str]:
    """Tier 1: what the task names, error traces, and for declared functions the header and the source beside it."""
    found: dict[str, str] = {}
    for path in facts.mentioned_files:
        found.setdefault(path, "named in the task")
    for path, line in facts.traces:
        found.setdefault(path, f"in the error trace, line {line}")
    for key in facts.mentioned_symbols:
        path, _, name = key.rpartition(":")
        if path in eligible:
            found.setdefault(path, f"contains {name}")
    if facts.kind == "implement":
        for path in list(found) or _undefined_headers(index, eligible):
            found.setdefault(path, "declares functions without a definition")
            pair = index.pair_of(path)
            if pair:
                found.setdefault(pair, f"source beside {PurePosixPath(path).name}")
    return found


def _undefined_headers(index: Index, eligible: set[str]) -> list[str]:
    """Headers that declare functions nobody defines, when the task names no file."""
    found: dict[str, None] = {}
    for path in sorted(path for path in eligible if is_interface(path)):
        for symbol in index.symbols(path):
            if symbol.kind == "prototype" and all(hit.kind == "prototype" for hit in index.find_symbols(symbol.name)):
                found.setdefault(path)
    return list(found)[:MAX_UNDEFINED_HEADERS]


def _neighbours(index: Index, sources: Iterable[str]) -> _Tier:
    """Tier 2, keyed by the number of edges to the sources."""
    edges: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for source in sources:
        name = PurePosixPath(source).name
        pair = index.pair_of(source)
        found = [(pair, f"header or source of {name}")] if pair else []
        found += [(path, f"imported by {name}") for path in index.imports_of(source)]
        found += [(path, f"imports {name}") for path in index.used_by(source)]
        for path, reason in dict(reversed(found)).items():
            edges[path] += 1
            reasons.setdefault(path, reason)
    return _Tier({path: (float(count), reasons[path]) for path, count in edges.items()})


def _together(index: Index, sources: Iterable[str], least: int) -> _Tier:
    """Tier 3, keyed by the number of common commits."""
    tier = _Tier({})
    for source in sources:
        for path, count in index.cochanged(source):
            if count >= least:
                tier.add(path, float(count), f"co-changed with {PurePosixPath(source).name} {count} times")
    return tier


def _capped(
    tier: _Tier, eligible: set[str], taken: dict[int, dict[str, str]], place: dict[str, int], cap: int, number: int,
    caps: list[str],
) -> dict[str, str]:  # fmt: skip
    """The tier's best by its key, then by search place, without what a lower tier has."""
    last = len(place) + 1
    free = [p for p in tier.found if p in eligible and not any(p in found for found in taken.values())]
    free.sort(key=lambda p: (-tier.found[p][0], place.get(p, last), p))
    cap = max(0, cap)
    if len(free) > cap:
        caps.append(f"Tier {number} was cut at {cap} of {len(free)} files, {_SORTED[number]} first.")
    return {path: tier.found[path][1] for path in free[:cap]}


def _without(found: dict[str, str], taken: dict[int, dict[str, str]]) -> dict[str, str]:
    return {path: reason for path, reason in found.items() if not any(path in t for t in taken.values())}


def _scoped(entry: FileEntry, tier: int, reason: str, ranking: FileRanking) -> ScopedFile:
    return ScopedFile(
        entry.path, tier, reason, score=round(ranking.scores.get(entry.path, 0.0), 4), language=entry.language,
        purpose=entry.purpose, domain=entry.domain, concepts=tuple(entry.concepts),
        matching=ranking.matching.get(entry.path, ()), reasons=ranking.reasons.get(entry.path, ()),
    )  # fmt: skip
