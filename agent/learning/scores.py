"""How well a model answers a stage, measured on labelled prompts."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

import msgspec

from agent.labels.items import Item

BINS = 10
"""Bins of the calibration error, equally wide over P(yes)."""


class Confusion(msgspec.Struct, frozen=True):
    """Counts of labelled prompts by label and verdict: ``true_yes`` is a right yes, ``false_yes`` a wrong one."""

    true_yes: int = 0
    false_yes: int = 0
    true_no: int = 0
    false_no: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.true_yes + self.false_yes + self.true_no + self.false_no

    @property
    def accuracy(self) -> float | None:
        """Share of right verdicts."""
        return _ratio(self.true_yes + self.true_no, self.n)

    @property
    def precision(self) -> float | None:
        """Share of yes verdicts that are right."""
        return _ratio(self.true_yes, self.true_yes + self.false_yes)

    @property
    def recall(self) -> float | None:
        """Share of right answers yes that were found."""
        return _ratio(self.true_yes, self.true_yes + self.false_no)

    @property
    def balanced(self) -> float | None:
        """Mean of the shares of yes and of no that were found: 0.5 is chance, whatever the mix."""
        specificity = _ratio(self.true_no, self.true_no + self.false_yes)
        if self.recall is None or specificity is None:
            return None
        return (self.recall + specificity) / 2


def confusion(pairs: Iterable[tuple[bool, bool]]) -> Confusion:
    """Counts of (label, verdict)."""
    counts = {(True, True): 0, (False, True): 0, (False, False): 0, (True, False): 0}
    for pair in pairs:
        counts[pair] += 1
    return Confusion(*counts.values())


class StageScore(msgspec.Struct, frozen=True):
    """One model on one stage. ``unreadable`` answers got the default and count as no; ``ece`` and ``brier`` rest on the
    ``with_p`` prompts that have a probability; ``ms`` is the median of calls that were really asked."""

    stage: str
    model: str
    confusion: Confusion
    unreadable: int = 0
    with_p: int = 0
    ece: float | None = None
    brier: float | None = None
    ms: float | None = None


def labelled(items: Iterable[Item], *, outcomes: bool = False) -> list[Item]:
    """Items that have a person's label to measure by: their own, or that of the same judgment if all who labelled it agree.

    Labels from outcomes are weak: they count only with ``outcomes``.
    """
    return [
        item for item in items
        if item.label is not None and (item.own or not item.contested) and (outcomes or item.source != "outcome")
    ]  # fmt: skip


def score_models(items: Iterable[Item]) -> list[StageScore]:
    """Per stage and model, sorted by both; of several calls on one prompt the newest counts."""
    newest: dict[tuple[str, str], dict[str, Item]] = {}
    for item in labelled(items):
        newest.setdefault((item.stage, item.model), {})[item.judgment] = item
    return [_score(stage, model, list(calls.values())) for (stage, model), calls in sorted(newest.items())]


def _score(stage: str, model: str, items: list[Item]) -> StageScore:
    table = confusion((bool(item.label), bool(item.model_verdict)) for item in items)
    known = [(item.p_yes, bool(item.label)) for item in items if item.p_yes is not None]
    times = [item.ms for item in items if not item.cached and item.ms > 0]
    return StageScore(
        stage, model, table, sum(item.model_verdict is None for item in items), len(known), calibration_error(known),
        _brier(known), statistics.median(times) if times else None,
    )  # fmt: skip


def calibration_error(known: list[tuple[float, bool]]) -> float | None:
    """Expected calibration error over equally wide bins: by how much P(yes) misses the share of yes, on average (0 to 1)."""
    if not known:
        return None
    bins: dict[int, list[tuple[float, bool]]] = {}
    for p, label in known:
        bins.setdefault(min(BINS - 1, int(p * BINS)), []).append((p, label))
    gaps = (abs(sum(p for p, _ in some) - sum(label for _, label in some)) for some in bins.values())
    return sum(gaps) / len(known)


def _brier(known: list[tuple[float, bool]]) -> float | None:
    return sum((p - label) ** 2 for p, label in known) / len(known) if known else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
