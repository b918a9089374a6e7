"""The yes/no calls of a log as things to label: what the model said, what the right answer is and who says so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from agent.audit.reader import LogReader
from agent.audit.rows import LabelSource
from agent.models.answers import parse_yes_no

LabelState = Literal["", "unlabelled", "labelled", "agrees", "disagrees", "person", "override", "outcome"]
"""What a person may filter by; "" is everything. ``agrees`` and ``disagrees`` compare the label with the model."""


class Item(msgspec.Struct, gc=False):
    """One yes/no call. ``model_verdict`` is what the model itself said, whoever overruled it; None if unreadable.

    ``label`` is the last word on this call or, failing that, on another call with the same prompt (``own`` tells which);
    ``prompt`` identifies stage, system and user message. ``contested``: calls with this prompt carry different labels.
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
    overridden: bool
    ms: float
    prompt: str
    system_sha: str
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


_CALLS = (
    "select id, run_id, seq, stage, item, coalesce(model, ''), coalesce(provider, ''), coalesce(raw, ''), verdict, p_yes,"
    " score, threshold, defaulted, cached, overridden, coalesce(ms, 0), system_sha, state_sha, question"
    " from calls where binary = 1 and raw is not null and coalesce(error, '') = ''"
)
_LABELS = (
    "select call_id, label, source, note, guideline, id from labels"
    " where id in (select max(id) from labels group by call_id) and label is not null order by id"
)


def load_items(reader: LogReader, *, run_id: str = "", stage: str = "", model: str = "") -> list[Item]:
    """The answered yes/no calls in the order they were asked, with their labels.

    Raises:
        LogError: if the log cannot be read.
    """
    same: dict[str, str] = {}
    items = [_item(row, same.setdefault) for row in reader.each(_CALLS + " order by id")]
    _mark_labels(items, reader.select(_LABELS))
    _mark_splits(items)
    wanted = (("run_id", run_id), ("stage", stage), ("model", model))
    return [item for item in items if all(not value or getattr(item, name) == value for name, value in wanted)]


def _item(row: tuple[Any, ...], once: Callable[[str, str], str]) -> Item:
    """``once`` keeps one copy of the names that thousands of calls share."""
    (
        call_id, run_id, seq, stage, name, model, provider, raw, verdict, p_yes, score, threshold, defaulted, cached,
        overridden, ms, system_sha, state_sha, question,
    ) = row  # fmt: skip
    said = None if verdict is None else verdict != 0
    own_word = said if said is not None and not defaulted and not overridden else None
    if own_word is None and not defaulted:
        own_word = _own_word(raw, score, threshold)
    return Item(
        call_id, once(run_id, run_id), seq, once(stage, stage), name, once(model, model), once(provider, provider), raw,
        said, own_word, p_yes, score, threshold, defaulted != 0, cached != 0, overridden != 0, ms,
        prompt_key(stage, system_sha, state_sha, question), once(system_sha, system_sha),
    )  # fmt: skip


def _own_word(raw: str, score: float | None, threshold: float | None) -> bool | None:
    """What the model said where the verdict is somebody else's."""
    if score is not None and threshold is not None:
        return score >= threshold
    return parse_yes_no(raw)


def prompt_key(*parts: str) -> str:
    """Identifies a prompt: its texts, or their digests, as one digest of 32 hex digits."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _mark_labels(items: list[Item], labels: Iterable[tuple[Any, ...]]) -> None:
    by_call = {row[0]: row for row in labels}
    by_prompt: dict[str, tuple[Any, ...]] = {}
    said: dict[str, set[int]] = {}
    for item in items:
        row = by_call.get(item.call_id)
        if row is None:
            continue
        said.setdefault(item.prompt, set()).add(row[1])
        known = by_prompt.get(item.prompt)
        if known is None or known[5] < row[5]:
            by_prompt[item.prompt] = row
    for item in items:
        own = by_call.get(item.call_id)
        row = own or by_prompt.get(item.prompt)
        if row is None:
            continue
        item.label, item.source, item.note, item.guideline, item.label_id = bool(row[1]), row[2], row[3], row[4], row[5]
        item.own = own is not None
        item.contested = len(said[item.prompt]) > 1


def _mark_splits(items: list[Item]) -> None:
    """The same question, answered yes here and no there: by another model, or in another run."""
    first: dict[str, bool] = {}
    split: set[str] = set()
    for item in items:
        said = item.model_verdict
        if said is not None and first.setdefault(item.prompt, said) is not said:
            split.add(item.prompt)
    if split:
        for item in items:
            item.split = item.prompt in split


def searched(item: Item) -> str:
    """What the words of a filter are looked for in."""
    return f"{item.stage} {item.item} {item.raw}".lower()


STATES: dict[LabelState, Callable[[Item], bool]] = {
    "": lambda item: True,
    "unlabelled": lambda item: item.label is None,
    "labelled": lambda item: item.label is not None,
    "agrees": lambda item: item.agrees is True,
    "disagrees": lambda item: item.agrees is False,
    "person": lambda item: item.label is not None and item.source == "person",
    "override": lambda item: item.label is not None and item.source == "override",
    "outcome": lambda item: item.label is not None and item.source == "outcome",
}
"""Whether an item is in a label state."""
