"""The yes/no calls of a log as items to label: the model's answer, the right answer and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any, Literal

import msgspec

from agent.audit.reader import LogReader
from agent.audit.rows import LabelSource
from agent.models.answers import parse_yes_no
from agent.verdict.decide import Evidence, Verdict, decide
from agent.verdict.threshold import Threshold

LabelState = Literal["", "unlabelled", "labelled", "agrees", "disagrees", "person", "overrule", "outcome"]
"""What a person may filter by; "" is everything. ``agrees`` and ``disagrees`` compare the label with the model."""


class Item(msgspec.Struct, gc=False):
    """One yes/no call. ``word`` is the model's own answer as it is written, None if unreadable; ``model_verdict`` the
    verdict that the threshold in force made of it, before any overrule.

    ``judgment`` identifies what was judged (``agent/verdict/identity.py``), ``task`` the repository and request of the run
    that asked first, ``question`` the version of the question. ``label`` is the last label of this call or, without one,
    of another call of the same judgment (``own`` tells which). ``contested``: calls of this judgment carry different
    labels.
    """

    call_id: int
    run_id: str
    seq: int
    stage: str
    item: str
    model: str
    provider: str
    raw: str
    verdict: bool | None
    model_verdict: bool | None
    p_yes: float | None
    score: float | None
    threshold: float | None
    defaulted: bool
    cached: bool
    overruled: bool
    ms: float
    judgment: str
    question: str
    word: bool | None = None
    rank: int | None = None
    facts: dict[str, float] = {}
    tokens: int = 0
    task: str = ""
    label: bool | None = None
    source: LabelSource | None = None
    note: str = ""
    guideline: str = ""
    label_id: int = 0
    own: bool = False
    contested: bool = False
    split: bool = False

    @property
    def agrees(self) -> bool | None:
        """Whether the model was right; None without a label or a readable answer."""
        if self.label is None or self.model_verdict is None:
            return None
        return self.label == self.model_verdict

    @property
    def evidence(self) -> Evidence:
        """What a verdict on it rests on, without any label."""
        return Evidence(self.raw, self.p_yes, self.rank, self.facts, self.question)

    def decided(self, rule: Threshold | None) -> Verdict:
        """The verdict that a run would reach today, under a rule."""
        return decide(self.evidence, rule)


_CALLS = (
    "select id, run_id, seq, stage, item, coalesce(model, ''), coalesce(adapter, ''), coalesce(provider, ''),"
    " coalesce(raw, ''), verdict, p_yes,"
    " score, threshold, defaulted, cached, overruled, coalesce(ms, 0), coalesce(judgment, ''),"
    " coalesce(question_version, ''), rank, facts, coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)"
    " from calls where binary = 1 and raw is not null and coalesce(error, '') = ''"
)
_LABELS = (
    "select call_id, label, source, note, guideline, id from labels"
    " where id in (select max(id) from labels group by call_id) and label is not null order by id"
)


def load_items(reader: LogReader) -> list[Item]:
    """The answered yes/no calls in the order they were asked, with their labels.

    Raises:
        LogError: if the log cannot be read.
    """
    same: dict[str, str] = {}
    items = [_item(row, same.setdefault) for row in reader.each(_CALLS + " order by id")]
    _mark_labels(items, reader.select(_LABELS))
    _mark_splits(items)
    _mark_tasks(items, dict(reader.select("select id, repo || char(0) || task from runs")))
    return items


def labelled_calls(reader: LogReader, run_id: str) -> frozenset[int]:
    """The calls of a run whose judgment carries a person's label, given on them or on another call.

    Raises:
        LogError: if the log cannot be read.
    """
    rows = reader.select(
        "select id from calls where run_id = ? and judgment in (select c.judgment from labels l join calls c"
        " on c.id = l.call_id where l.label is not null and l.source != 'outcome'"
        " and l.id in (select max(id) from labels group by call_id))",
        run_id,
    )
    return frozenset(row[0] for row in rows)


def _item(row: tuple[Any, ...], once: Callable[[str, str], str]) -> Item:
    """``once`` keeps one copy of the names that thousands of calls share."""
    (
        call_id, run_id, seq, stage, name, model, adapter, provider, raw, verdict, p_yes, score, threshold, defaulted,
        cached, overruled, ms, judgment, question, rank, facts, tokens,
    ) = row  # fmt: skip
    model = f"{model}+{PurePath(adapter).name}" if adapter else model
    used, said = None if verdict is None else verdict != 0, parse_yes_no(raw)
    own = used if not defaulted and not overruled else None
    if own is None and not defaulted:
        own = score >= threshold if score is not None and threshold is not None else said
    return Item(
        call_id, once(run_id, run_id), seq, once(stage, stage), name, once(model, model), once(provider, provider), raw,
        used, own, p_yes, score, threshold, defaulted != 0, cached != 0, overruled != 0, ms, judgment,
        once(question, question), said, rank, msgspec.json.decode(facts) if facts else {}, tokens,
    )  # fmt: skip


def _mark_labels(items: list[Item], labels: Iterable[tuple[Any, ...]]) -> None:
    by_call = {row[0]: row for row in labels}
    by_judgment: dict[str, tuple[Any, ...]] = {}
    said: dict[str, set[int]] = {}
    for item in items:
        row = by_call.get(item.call_id)
        if row is None:
            continue
        said.setdefault(item.judgment, set()).add(row[1])
        known = by_judgment.get(item.judgment)
        if known is None or known[5] < row[5]:
            by_judgment[item.judgment] = row
    for item in items:
        own = by_call.get(item.call_id)
        row = own or by_judgment.get(item.judgment)
        if row is None:
            continue
        item.label, item.source, item.note, item.guideline, item.label_id = bool(row[1]), row[2], row[3], row[4], row[5]
        item.own = own is not None
        item.contested = len(said[item.judgment]) > 1


def _mark_splits(items: list[Item]) -> None:
    """Mark the judgments that got a yes in one call and a no in another: of another model, or in another run."""
    first: dict[str, bool] = {}
    split: set[str] = set()
    for item in items:
        said = item.model_verdict
        if said is not None and first.setdefault(item.judgment, said) is not said:
            split.add(item.judgment)
    if split:
        for item in items:
            item.split = item.judgment in split


def _mark_tasks(items: list[Item], tasks: dict[str, str]) -> None:
    """A judgment belongs to the task of the run that asked it first; an evaluation that asks it again is not a task."""
    first: dict[str, str] = {}
    for item in items:
        item.task = first.setdefault(item.judgment, tasks.get(item.run_id, item.run_id))


def one_each(items: Iterable[Item]) -> list[Item]:
    """One call for each judgment, in the order of their first calls: the call that carries the label, else one that was
    asked (not reused), else the first. Of a judgment with both answers one call of each is kept."""
    best: dict[tuple[str, bool | None], Item] = {}
    for item in items:
        key = (item.judgment, item.model_verdict if item.split else None)
        known = best.get(key)
        if known is None or _stands_for(item) > _stands_for(known):
            best[key] = item
    return list(best.values())


def _stands_for(item: Item) -> tuple[bool, bool]:
    return item.own, not item.cached


def searched(item: Item) -> str:
    """The text in which a filter's words are searched."""
    return f"{item.stage} {item.item} {item.raw}".lower()


STATES: dict[LabelState, Callable[[Item], bool]] = {
    "": lambda item: True,
    "unlabelled": lambda item: item.label is None,
    "labelled": lambda item: item.label is not None,
    "agrees": lambda item: item.agrees is True,
    "disagrees": lambda item: item.agrees is False,
    "person": lambda item: item.label is not None and item.source == "person",
    "overrule": lambda item: item.label is not None and item.source == "overrule",
    "outcome": lambda item: item.label is not None and item.source == "outcome",
}
"""Whether an item is in a label state."""
