"""Labelled calls as training pairs: one for each prompt, conflicts apart, split so that no prompt is on both sides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from agent.audit.reader import LogReader
from agent.audit.rows import LabelSource
from agent.labels.items import Item, load_items

SOURCES: tuple[LabelSource, ...] = ("person", "overrule", "outcome")
BY_PERSONS: tuple[LabelSource, ...] = ("person", "overrule")
"""The default: labels from outcomes are weak, and mostly of one kind."""

OnConflict = Literal["skip", "last"]


class Pair(msgspec.Struct):
    """A judgment and its right answer. ``word`` is the model's own answer as written (no threshold, no overrule), None if
    it could not be read; ``rank`` and ``facts`` are what the search knew of the item;
    ``duplicates`` are other labelled calls with the same prompt, ``also_in`` their runs, ``split`` is train or test."""

    call_id: int
    run_id: str
    stage: str
    item: str
    model: str
    label: bool
    source: LabelSource
    word: bool | None
    p_yes: float | None
    system: str
    task_context: str
    question: str
    judgment: str
    label_id: int
    note: str = ""
    guideline: str = ""
    duplicates: tuple[int, ...] = ()
    also_in: tuple[str, ...] = ()
    group: str = ""
    split: str = "train"
    rank: int | None = None
    facts: dict[str, float] = {}
    task: str = ""
    question_version: str = ""

    @property
    def prompt(self) -> str:
        """The user message."""
        return self.task_context + self.question


class Conflict(msgspec.Struct, frozen=True):
    """Calls with one prompt whose labels differ, as (call, label, source), the newest label last."""

    judgment: str
    stage: str
    item: str
    labels: tuple[tuple[int, bool, str], ...]


class Choice(msgspec.Struct, frozen=True):
    """Which labels become pairs; an empty tuple lets all pass. Labels from outcomes have to be asked for."""

    stages: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sources: tuple[LabelSource, ...] = BY_PERSONS
    judgments: frozenset[str] = frozenset()

    def passes(self, item: Item) -> bool:
        """Whether a labelled call is wanted."""
        wanted: tuple[tuple[tuple[str, ...], str | None], ...] = (
            (self.stages, item.stage), (self.runs, item.run_id), (self.models, item.model), (self.sources, item.source),
        )  # fmt: skip
        if self.judgments and item.judgment not in self.judgments:
            return False
        return all(not allowed or value in allowed for allowed, value in wanted)


def load_pairs(reader: LogReader, choice: Choice | None = None, on_conflict: OnConflict = "skip") -> tuple[
    list[Pair], list[Conflict]
]:  # fmt: skip
    """One pair a judgment, sorted by stage and call; and the judgments whose labels contradict each other.

    The pair is taken from the call that was labelled last. A conflict gives no pair, or with ``last`` the newest label.

    Raises:
        LogError: if the log cannot be read.
    """
    chosen = [item for item in load_items(reader) if item.own and (choice or Choice()).passes(item)]
    texts = _texts(reader, [item.call_id for item in chosen])
    by_judgment: dict[str, list[Item]] = {}
    for item in chosen:
        by_judgment.setdefault(item.judgment, []).append(item)
    pairs, conflicts = [], []
    for sha, items in by_judgment.items():
        items.sort(key=lambda item: item.label_id)
        differs = len({item.label for item in items}) > 1
        if differs:
            said = tuple((item.call_id, bool(item.label), str(item.source)) for item in items)
            conflicts.append(Conflict(sha, items[-1].stage, items[-1].item, said))
        if not differs or on_conflict == "last":
            pairs.append(_pair(items[-1], items[:-1], texts[items[-1].call_id], sha))
    pairs.sort(key=lambda pair: (pair.stage, pair.call_id))
    conflicts.sort(key=lambda conflict: (conflict.stage, conflict.labels[-1][0]))
    return pairs, conflicts


def _pair(item: Item, others: Sequence[Item], texts: tuple[str, str, str], sha: str) -> Pair:
    return Pair(
        item.call_id, item.run_id, item.stage, item.item, item.model, bool(item.label), item.source or "person",
        item.word, item.p_yes, *texts, sha, item.label_id, item.note, item.guideline,
        tuple(sorted(other.call_id for other in others)), tuple(sorted({other.run_id for other in others})),
        rank=item.rank, facts=item.facts, task=item.task, question_version=item.question,
    )  # fmt: skip


_CHUNK = 500


def _texts(reader: LogReader, call_ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    found: dict[int, tuple[str, str, str]] = {}
    for start in range(0, len(call_ids), _CHUNK):
        some = call_ids[start : start + _CHUNK]
        marks = ", ".join("?" * len(some))
        rows = reader.select(f"select id, system, task_context, question from call_texts where id in ({marks})", *some)
        found |= {row[0]: (row[1], row[2], row[3]) for row in rows}
    return found


def group_runs(pairs: Iterable[Pair], runs: dict[str, tuple[str, str]]) -> None:
    """Set ``group`` on each pair: runs of the same task on the same repository, or with a prompt in common, are one group.

    ``runs`` gives (repository, task) by run. A group has the name of its first run.
    """
    pairs = list(pairs)
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for pair in pairs:
        repo, task = runs.get(pair.run_id, ("", pair.run_id))
        shared = [f"task\x00{repo}\x00{task}", f"prompt\x00{pair.judgment}", *(f"run\x00{run}" for run in pair.also_in)]
        for other in shared:
            parent[root(other)] = root(f"run\x00{pair.run_id}")
    first: dict[str, str] = {}
    for pair in pairs:
        key = root(f"run\x00{pair.run_id}")
        first[key] = min(first.get(key, pair.run_id), pair.run_id)
    for pair in pairs:
        pair.group = first[root(f"run\x00{pair.run_id}")]


def split_groups(pairs: Sequence[Pair], fraction: float, seed: int) -> int:
    """Move whole groups to ``test`` until about ``fraction`` of the pairs are there, never more than half.

    The order of the groups depends on ``seed`` and their names only. Returns how many pairs are in test: 0 when one group
    holds nearly everything.
    """
    sizes: dict[str, int] = {}
    for pair in pairs:
        sizes[pair.group] = sizes.get(pair.group, 0) + 1
    wanted = round(len(pairs) * fraction)
    order = sorted(sizes, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())
    chosen: set[str] = set()
    held = 0
    for name in order:
        if held + sizes[name] <= wanted:
            chosen.add(name)
            held += sizes[name]
    if not chosen and wanted and len(sizes) > 1:
        smallest = min(order, key=lambda name: sizes[name])
        if sizes[smallest] * 2 <= len(pairs):
            chosen, held = {smallest}, sizes[smallest]
    for pair in pairs:
        pair.split = "test" if pair.group in chosen else "train"
    return held


def balanced(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """As many yes as no in every stage of each split; which of the larger side stay depends on ``seed`` and the prompt."""
    sides: dict[tuple[str, str], dict[bool, list[Pair]]] = {}
    for pair in pairs:
        sides.setdefault((pair.split, pair.stage), {True: [], False: []})[pair.label].append(pair)
    kept: set[int] = set()
    for side in sides.values():
        size = min(len(side[True]), len(side[False]))
        for some in side.values():
            some.sort(key=lambda pair: hashlib.sha256(f"{seed}:{pair.judgment}".encode()).digest())
            kept |= {pair.call_id for pair in some[:size]}
    return [pair for pair in pairs if pair.call_id in kept]
