"""The state of the relabelling screen: the queue, the position in it, what was labelled, undone and skipped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import msgspec

from agent.audit.log import LogError, known_log
from agent.audit.reader import CallTexts, LogReader
from agent.config.errors import ConfigError
from agent.config.schema import load
from agent.labels.book import LabelBook, LabelRow
from agent.labels.guidelines import Guideline, guideline
from agent.labels.items import Item, load_items, one_each, searched
from agent.labels.queue import Filter, Order, in_order, passing
from agent.labels.store import gather_if_pooled
from agent.learning.calibrate import still_missing
from screens.actions import QUEUES as NAMES
from screens.learning.label_pace import PacedLabel, sitting

_QUEUES: tuple[tuple[Filter, Order], ...] = (
    (Filter(state="unlabelled"), "least_certain"),
    (Filter(disputed=True), "disagreement"),
    (Filter(answer="defaulted"), "least_certain"),
    (Filter(state="disagrees"), "newest"),
    (Filter(state="labelled"), "newest"),
    (Filter(), "least_certain"),
)
QUEUES: dict[str, tuple[str, Filter, Order]] = {
    str(number): (name, *rest) for number, (name, rest) in enumerate(zip(NAMES, _QUEUES, strict=True), 1)
}
"""Key to name, filter and order of the ready-made queues."""

_FLAGS: dict[str, dict[str, Any]] = {
    "yes": {"verdict": "yes"}, "no": {"verdict": "no"}, "defaulted": {"answer": "defaulted"}, "cached": {"answer": "cached"},
    "overruled": {"answer": "overruled"}, "disputed": {"disputed": True},
    **{word: {"state": word} for word in ("unlabelled", "labelled", "agrees", "disagrees", "person", "overrule", "outcome")},
}  # fmt: skip
_FIELDS = {"stage": "stage", "run": "run_id", "model": "model"}


def parse_filter(text: str) -> Filter:
    """Words as a filter: ``stage:scope run:ID model:NAME yes no defaulted disputed unlabelled …``; the rest is a text."""
    values: dict[str, Any] = {}
    rest = []
    for word in text.split():
        name, colon, value = word.partition(":")
        if colon and value and name in _FIELDS:
            values[_FIELDS[name]] = value
        elif word.lower() in _FLAGS:
            values |= _FLAGS[word.lower()]
        else:
            rest.append(word)
    return Filter(text=" ".join(rest), **values)


def _counts(items: list[Item]) -> dict[str, int]:
    """How many of the calls are in each ready-made queue."""
    return {key: len(passing(items, wanted)) for key, (_, wanted, _) in QUEUES.items()}


def _alike(items: list[Item]) -> dict[str, list[Item]]:
    first: dict[str, Item] = {}
    found: dict[str, list[Item]] = {}
    for item in items:
        other = first.setdefault(item.judgment, item)
        if other is not item:
            found.setdefault(item.judgment, [other]).append(item)
    return found


class LabelSession:
    """One sitting. ``write`` methods block for the time of one commit: call them in a thread."""

    def __init__(self, repo: Path, clock: Callable[[], float]) -> None:
        self.repo = repo
        path = known_log(repo)
        self.reader = LogReader(path)
        self.book = LabelBook(path)
        self.clock = clock
        self.items: list[Item] = []
        self.queue: list[Item] = []
        self.place = 0
        self.filter = Filter()
        self.order: Order = "least_certain"
        self.counts: dict[str, int] = {}
        self._ordered: dict[tuple[str, int], tuple[list[Item], list[int]]] = {}
        self._searched: list[str] = []
        self._places: dict[int, int] = {}  # call to its place in items
        self._labelled: set[int] = set()  # places that have a label
        self._kept: bytearray | None = None  # what the queue in front was made of
        self.seed = 0
        self.notes: dict[int, str] = {}
        self.done: list[PacedLabel] = []
        self.undone: list[PacedLabel] = []
        self._alike: dict[str, list[Item]] = {}  # prompts that were asked more than once
        self._by_call: dict[int, Item] = {}

    def load(self) -> None:
        """Read the calls and labels of the log."""
        self.items = load_items(self.reader)
        self._alike = _alike(self.items)
        self._by_call = {item.call_id: item for item in self.items}
        self.counts = _counts(self.items)
        self._ordered = {}
        self._searched = [searched(item) for item in self.items]  # once, for typing to be quick
        self._places = {item.call_id: place for place, item in enumerate(self.items)}
        self._labelled = {place for place, item in enumerate(self.items) if item.label is not None}
        self._kept = None

    def close(self) -> None:
        """Close the log; where the person keeps a store of labels, the new ones go there."""
        self.reader.close()
        self.book.close()
        if self.done:
            with contextlib.suppress(LogError, ConfigError):  # the log has them; the next session gathers them
                gather_if_pooled(self.book.path, load(self.repo))

    # -- the queue

    def show(self, wanted: Filter, order: Order, call_id: int | None = None) -> None:
        """Another queue; it starts at ``call_id`` if that is in it."""
        self.filter, self.order = wanted, order
        ordered, places = self._in_order(order)
        kept = self._kept = self._passing(wanted)
        self.queue = ordered if kept is None else list(compress(ordered, map(kept.__getitem__, places)))
        self.place = 0
        if call_id is not None:
            asked = self.find(call_id)
            same = [place for place, item in enumerate(self.queue) if asked is not None and item.judgment == asked.judgment]
            exact = (place for place in same if self.queue[place].call_id == call_id)
            self.place = next(exact, same[0] if same else 0)

    def _in_order(self, order: Order) -> tuple[list[Item], list[int]]:
        """All calls in an order, and for each its place in ``items``."""
        key = (order, self.seed if order == "random" else 0)
        if key not in self._ordered:
            ordered = in_order(self.items, order, self.seed)
            self._ordered[key] = ordered, [self._places[item.call_id] for item in ordered]
        return self._ordered[key]

    def _passing(self, wanted: Filter) -> bytearray | None:
        """One byte for each of ``items``: whether it passes; None if all do.

        The items are looked at as they lie in memory, not in the order of the queue: that is several times as fast.
        """
        text = wanted.text.lower()
        checks = msgspec.structs.replace(wanted, text="").checks()
        items = self.items
        found: Sequence[int] = range(len(items))
        if text:
            found = [place for place, hay in enumerate(self._searched) if text in hay]
        for check in checks:
            found = [place for place in found if check(items[place])]
        if self._alike:
            found = [self._places[item.call_id] for item in one_each(items[place] for place in found)]
        if len(found) == len(items):
            return None
        kept = bytearray(len(items))
        for place in found:
            kept[place] = 1
        return kept

    @property
    def item(self) -> Item | None:
        """The call in front."""
        return self.queue[self.place] if 0 <= self.place < len(self.queue) else None

    def find(self, call_id: int) -> Item | None:
        """A yes/no call by its id."""
        return self._by_call.get(call_id)

    def twins(self, item: Item) -> list[Item]:
        """Other calls with the same question."""
        return [other for other in self._alike.get(item.judgment, ()) if other is not item]

    def move(self, by: int) -> None:
        """Forwards or backwards in the queue."""
        self.place = max(0, min(self.place + by, len(self.queue) - 1))

    def move_to_open(self) -> bool:
        """To the first call in the queue without a label, other than the one in front. Returns whether there is one."""
        found = (place for place, item in enumerate(self.queue) if item.label is None and place != self.place)
        place = next(found, None)
        if place is not None:
            self.place = place
        return place is not None

    # -- reading

    def texts(self, item: Item) -> CallTexts | None:
        """The texts of a call."""
        return self.reader.call_texts(item.call_id)

    def history(self, item: Item) -> list[LabelRow]:
        """Every label it got."""
        return self.book.history(item.call_id)

    def guideline(self, stage: str) -> Guideline:
        """What yes and no mean in a stage."""
        return guideline(self.repo, stage)

    # -- writing

    def label(self, item: Item, label: bool) -> None:
        """A person says what the right answer is."""
        before = self.book.current(item.call_id)
        note = self.notes.pop(item.call_id, "")
        self.book.add(item.call_id, label, "person", note, self.guideline(item.stage).version)
        self._remember(item, before, self.clock())

    def worth(self, item: Item) -> str:
        """How far the labels of a call's stage are from a fitted threshold, in a line."""
        return still_missing(self.items, item.stage, item.model, item.question)

    def comment(self, item: Item, note: str) -> None:
        """Put a comment on the label that is there, whoever gave it, or keep it for the one to come."""
        before = self.book.current(item.call_id)
        if before is None or before.label is None:
            self.notes[item.call_id] = note
            return
        self.book.add(item.call_id, before.label, before.source, note, before.guideline)
        self._remember(item, before)

    def undo(self) -> Item | None:
        """Take back the last thing written here; returns the call concerned."""
        return self._step(self.done, self.undone, back=True)

    def redo(self) -> Item | None:
        """Write it again."""
        return self._step(self.undone, self.done, back=False)

    def _remember(self, item: Item, before: LabelRow | None, at: float | None = None) -> None:
        after = self.book.current(item.call_id)
        self.done.append(PacedLabel(item.call_id, before, after, at, item.model_verdict))
        self.undone.clear()
        self._take_in(item, after)

    def _step(self, source: list[PacedLabel], target: list[PacedLabel], *, back: bool) -> Item | None:
        if not source:
            return None
        entry = source[-1]
        self.book.restore(entry.call_id, entry.before if back else entry.after)
        target.append(source.pop())
        item = self.find(entry.call_id)
        if item is not None:
            self._take_in(item, self.book.current(entry.call_id))
            places = (place for place, other in enumerate(self.queue) if other.judgment == item.judgment)
            self.place = next(places, self.place)
        return item

    def _take_in(self, item: Item, row: LabelRow | None) -> None:
        """Update the call after its label has changed, the other calls of its judgment, and the queues."""
        group = self._alike.get(item.judgment, [item])
        before = _counts(group)
        self._set(item, row, own=row is not None)
        own = [other for other in group if other.own]
        newest = max(own, key=lambda other: other.label_id, default=None)
        contested = len({other.label for other in own}) > 1
        for other in group:
            other.contested = contested
            if not other.own:
                other.label = newest.label if newest else None
                other.source = newest.source if newest else None
                other.note, other.guideline = (newest.note, newest.guideline) if newest else ("", "")
        for other in group:
            (self._labelled.discard if other.label is None else self._labelled.add)(self._places[other.call_id])
        for key, count in _counts(group).items():
            self.counts[key] += count - before[key]

    @staticmethod
    def _set(item: Item, row: LabelRow | None, *, own: bool) -> None:
        item.own = own
        item.label = row.label if row else None
        item.source = row.source if row else None
        item.note, item.guideline = (row.note, row.guideline) if row else ("", "")
        item.label_id = row.label_id if row else 0

    # -- progress

    def progress(self) -> str:
        """How far this queue is, how fast it goes, how often you agree with the model."""
        kept = self._kept
        done = len(self._labelled) if kept is None else sum(kept[place] for place in self._labelled)
        parts = [f"{done} of {len(self.queue)} labelled in this queue"]
        parts += sitting(self.done, len(self.queue) - done)
        return " · ".join(parts)
