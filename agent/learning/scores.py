"""How well a model answers a stage, measured on labelled prompts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec

from agent.labels.items import Item
from agent.labels.queue import kappa
from agent.learning.bootstrap import Interval, bootstrap_interval

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
        """The number of prompts."""
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
        """Share of the prompts labelled yes that got a yes."""
        return _ratio(self.true_yes, self.true_yes + self.false_no)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self.true_yes, 2 * self.true_yes + self.false_yes + self.false_no)

    @property
    def balanced(self) -> float | None:
        """Balanced accuracy, the mean of recall and specificity: 0.5 is chance, whatever the share of yes."""
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
    prompts that have a probability; ``kappa`` is Cohen's, between the model and the person. ``ms`` is the median
    of calls that were really asked, ``tokens`` their mean, prompt and reply. The intervals are 95 % percentiles of bootstrap
    samples of tasks; None with fewer than five."""

    stage: str
    model: str
    confusion: Confusion
    unreadable: int = 0
    ece: float | None = None
    brier: float | None = None
    ms: float | None = None
    tokens: float | None = None
    kappa: float | None = None
    tasks: int = 0
    f1_interval: Interval | None = None
    ece_interval: Interval | None = None
    brier_interval: Interval | None = None


class Agreeing(msgspec.Struct, frozen=True):
    """How far two models agree on the judgments of a stage that both answered: Cohen's kappa, None when undefined."""

    stage: str
    one: str
    other: str
    n: int
    kappa: float | None


def labelled(items: Iterable[Item], *, outcomes: bool = False) -> list[Item]:
    """Items with a person's label: their own, or that of another call of the same judgment if its labels agree.

    Labels from outcomes are weak, so they count only with ``outcomes``.
    """
    return [
        item for item in items
        if item.label is not None and (item.own or not item.contested) and (outcomes or item.source != "outcome")
    ]  # fmt: skip


Answered = dict[str, Item]
"""Judgment to the newest call of a model on it."""


def score_models(items: Iterable[Item]) -> list[StageScore]:
    """Per stage and model, sorted by both; of several calls on one judgment the newest counts."""
    return [_score(stage, model, list(calls.values())) for (stage, model), calls in sorted(_newest(items).items())]


def agreements(items: Iterable[Item]) -> list[Agreeing]:
    """Each pair of models of a stage, compared on the labelled judgments that both answered."""
    found = []
    newest = sorted(_newest(items).items())
    for place, ((stage, one), mine) in enumerate(newest):
        for (where, other), theirs in newest[place + 1 :]:
            shared = sorted(mine.keys() & theirs.keys()) if where == stage else []
            if shared:
                said = [(bool(mine[key].model_verdict), bool(theirs[key].model_verdict)) for key in shared]
                found.append(Agreeing(stage, one, other, len(said), kappa(said)))
    return found


def _newest(items: Iterable[Item]) -> dict[tuple[str, str], Answered]:
    newest: dict[tuple[str, str], Answered] = {}
    for item in labelled(items):
        newest.setdefault((item.stage, item.model), {})[item.judgment] = item
    return newest


def _score(stage: str, model: str, items: list[Item]) -> StageScore:
    asked = [item for item in items if not item.cached and item.ms > 0]
    return StageScore(
        stage, model, _confused(items), sum(item.model_verdict is None for item in items),
        _ece(items), _brier(items),
        statistics.median(item.ms for item in asked) if asked else None,
        statistics.mean(item.tokens for item in asked) if asked else None,
        kappa([(bool(item.label), bool(item.model_verdict)) for item in items]), len({item.task for item in items}),
        over_tasks(items, lambda some: _confused(some).f1), over_tasks(items, _ece), over_tasks(items, _brier),
    )  # fmt: skip


def _confused(items: Sequence[Item]) -> Confusion:
    return confusion((bool(item.label), bool(item.model_verdict)) for item in items)


def _known(items: Sequence[Item]) -> list[tuple[float, bool]]:
    return [(item.p_yes, bool(item.label)) for item in items if item.p_yes is not None]


def _ece(items: Sequence[Item]) -> float | None:
    return calibration_error(_known(items))


def over_tasks(
    items: Sequence[Item], figure: Callable[[Sequence[Item]], float | None], samples: int = 300
) -> Interval | None:
    """The 95 % percentile interval of a figure over bootstrap samples of tasks; None with fewer than five tasks."""
    by_task: dict[str, list[Item]] = {}
    for item in items:
        by_task.setdefault(item.task, []).append(item)
    if len(by_task) < 5:
        return None
    tasks = [by_task[name] for name in sorted(by_task)]
    return bootstrap_interval(tasks, lambda drawn: figure([item for task in drawn for item in task]), samples)


def calibration_error(known: list[tuple[float, bool]]) -> float | None:
    """Expected calibration error over equally wide bins: the mean distance of P(yes) from the share of yes (0 to 1)."""
    if not known:
        return None
    bins: dict[int, list[tuple[float, bool]]] = {}
    for p, label in known:
        bins.setdefault(min(BINS - 1, int(p * BINS)), []).append((p, label))
    gaps = (abs(sum(p for p, _ in some) - sum(label for _, label in some)) for some in bins.values())
    return sum(gaps) / len(known)


def _brier(items: Sequence[Item]) -> float | None:
    known = _known(items)
    return sum((p - label) ** 2 for p, label in known) / len(known) if known else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
