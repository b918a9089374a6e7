"""The queue of calls to label, filtered and ordered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Literal

import msgspec

from agent.labels.items import STATES, Item, LabelState, one_each, searched
from agent.models.answers import parse_yes_no

Order = Literal["least_certain", "disagreement", "random", "newest", "oldest"]
ORDERS: tuple[Order, ...] = ("least_certain", "disagreement", "random", "newest", "oldest")
ORDER_WORDS = {
    "least_certain": "least certain first", "disagreement": "disagreeing models first", "random": "mixed at random",
    "newest": "newest first", "oldest": "oldest first",
}  # fmt: skip


class Filter(msgspec.Struct, frozen=True):
    """Which items a queue shows; an empty field lets all pass. ``verdict`` is the one that was used, ``answer`` is
    ``defaulted``, ``cached`` or ``overruled``, ``disputed`` keeps those that models or runs answer differently."""

    stage: str = ""
    run_id: str = ""
    model: str = ""
    verdict: Literal["", "yes", "no"] = ""
    answer: Literal["", "defaulted", "cached", "overruled"] = ""
    disputed: bool = False
    state: LabelState = ""
    text: str = ""

    def passes(self, item: Item) -> bool:
        """Whether an item is shown."""
        return all(check(item) for check in self.checks())

    def checks(self) -> list[Callable[[Item], object]]:
        """One predicate for each field that is set, the cheap ones first; an item passes if all are true."""
        found: list[Callable[[Item], object]] = []
        if self.disputed:
            found.append(attrgetter("split"))
        if self.answer:
            found.append(attrgetter(self.answer))
        if self.verdict:
            said = self.verdict == "yes"
            found.append(lambda item: item.verdict is said)
        if self.state:
            found.append(STATES[self.state])
        if self.stage:
            found.append(lambda item: item.stage == self.stage)
        if self.run_id:
            found.append(lambda item: item.run_id == self.run_id)
        if self.model:
            found.append(lambda item: item.model == self.model)
        if self.text:
            text = self.text.lower()
            found.append(lambda item: text in searched(item))
        return found


def passing(items: Iterable[Item], wanted: Filter) -> list[Item]:
    """The items that pass, in the order given, one for each judgment: a reused answer is not a second thing to label."""
    for check in wanted.checks():
        items = filter(check, items)
    return one_each(items)


def uncertainty(item: Item) -> tuple[float, str]:
    """How uncertain the answer is (0 certain, 1 a toss-up, more than 1 unreadable) and the reason, in words.

    In order: an answer that could not be read; the distance of the score from its threshold, or of P(yes) from 0.5;
    different answers of models or runs; words that are not plain yes or no.
    """
    doubt, why = _doubt(item)
    return doubt, why.format(item)


def _doubt(item: Item) -> tuple[float, str]:
    """The number, and the words with placeholders for the item's figures: a queue is ordered by the number alone."""
    if item.defaulted or (item.model_verdict is None and not item.overruled):
        return 1.5, "the answer could not be read"
    if item.score is not None and item.threshold is not None:
        return _near(item.score, item.threshold), "score {0.score:.2f} beside the threshold {0.threshold:.2f}"
    if item.p_yes is not None:
        return _near(item.p_yes, 0.5), "P(yes) {0.p_yes:.2f} beside 0.50"
    if item.split:
        return 0.9, "models or runs answer it differently"
    if parse_yes_no(item.raw) is None:
        return 0.8, "its words are not a plain yes or no"
    plain = item.raw.strip().strip(".\"'*`").lower() in ("yes", "no")
    return (0.2, "a plain word, no probability") if plain else (0.5, "more words than yes or no, no probability")


def _near(value: float, centre: float) -> float:
    span = max(centre, 1 - centre)
    return 1.0 - min(1.0, abs(value - centre) / span)


def in_order(items: Iterable[Item], order: Order = "least_certain", seed: int = 0) -> list[Item]:
    """All of the items, in order."""
    kept = sorted(items, key=attrgetter("call_id"))
    match order:
        case "least_certain":
            return sorted(kept, key=lambda item: -_doubt(item)[0])
        case "disagreement":
            return sorted(kept, key=lambda item: (not item.split, item.judgment if item.split else ""))
        case "random":
            return sorted(kept, key=lambda item: hashlib.sha256(f"{seed}:{item.call_id}".encode()).digest())
        case "newest":
            return kept[::-1]
        case _:
            return kept


class Agreement(msgspec.Struct, frozen=True):
    """How a model's answers compare with the labels, one count a prompt. ``kappa`` is Cohen's, None when undefined."""

    stage: str
    model: str
    calls: int
    labelled: int
    agree: int
    unreadable: int
    kappa: float | None = None


def agreement(items: list[Item]) -> list[Agreement]:
    """Per stage and model, sorted by both. Of several calls of a model on a prompt the newest counts."""
    newest: dict[tuple[str, str], dict[str, Item]] = {}
    totals: dict[tuple[str, str], int] = {}
    for item in items:
        key = (item.stage, item.model)
        newest.setdefault(key, {})[item.judgment] = item
        totals[key] = totals.get(key, 0) + 1
    rows = []
    for (stage, model), calls in sorted(newest.items()):
        labelled = [item for item in calls.values() if item.label is not None and not (item.contested and not item.own)]
        readable = [item for item in labelled if item.model_verdict is not None]
        agree = sum(item.agrees is True for item in readable)
        counts = (totals[stage, model], len(labelled), agree, len(labelled) - len(readable))
        said = [(item.label is True, item.model_verdict is True) for item in readable]
        rows.append(Agreement(stage, model, *counts, kappa(said)))
    return rows


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Cohen's kappa of two raters' answers; None where chance alone would agree always, or without answers."""
    n = len(pairs)
    if n == 0:
        return None
    one, other = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = one * other + (1 - one) * (1 - other)
    if chance == 1:
        return None
    return (sum(a is b for a, b in pairs) / n - chance) / (1 - chance)
