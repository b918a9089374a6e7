"""Threshold and rank weight of one stage from labelled answers, with a leave-one-change-out estimate."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence

import msgspec

from agent.verdict.threshold import Threshold
from benchmarks.commits import mean

Point = tuple[str, bool, float, int]
"""(change, gold, p_yes, rank from 1)."""

WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Larger ones would overrule a model that is sure of itself: with 3, P(yes) 0.05 at rank 1 becomes 0.51."""

RECALL = 0.9
"""A filter stage should keep nine tenths of what it was given that matters, in as few items as it can."""

RANKED = ("scope", "precision_pass1", "precision_pass2")
"""Stages whose items come ranked. They are filters; the others are split by balanced accuracy."""


class FittedStage(msgspec.Struct, frozen=True):
    """A fitted stage. ``left_out`` is (share kept, recall, recall of as many best-ranked), each change judged by a fit
    that has not seen it; ``parts`` has the same by change, for those with something to find."""

    stage: str
    threshold: float
    rank_weight: float
    n: int
    auc_model: float
    auc_rank: float
    left_out: tuple[float, float, float]
    parts: dict[str, tuple[float, float, float]] = {}

    def average(self, changes: Collection[str]) -> tuple[float, float, float]:
        """``left_out`` over some changes only."""
        return averaged([part for change, part in self.parts.items() if change in changes])

    @property
    def leans_on_rank(self) -> bool:
        """Whether the model adds nothing: left out, its choice holds no more gold than as many best-ranked."""
        _, found, alone = self.left_out
        return found <= alone


def fit_stage(stage: str, points: Sequence[Point]) -> FittedStage:
    """Threshold and weight of a stage, with its estimate."""
    choose = choose_filter if stage in RANKED else choose_split
    threshold, weight = choose(points)
    changes = list(dict.fromkeys(change for change, *_ in points))
    parts: dict[str, tuple[float, float, float]] = {}
    for change in changes:
        inside = [point for point in points if point[0] == change]
        outside = [point for point in points if point[0] != change]
        if outside and any(point[1] for point in inside):
            t, w = choose(outside)
            parts[change] = kept_share(inside, lambda p, rank, t=t, w=w: _score(p, rank, w) >= t)  # type: ignore[misc]
    order = (auc(points, lambda p, rank: p), auc(points, lambda p, rank: -rank))
    return FittedStage(stage, threshold, weight, len(points), *order, averaged(list(parts.values())), parts)


def averaged(parts: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The means, column by column."""
    return (mean([p[0] for p in parts]), mean([p[1] for p in parts]), mean([p[2] for p in parts]))


def choose_split(points: Sequence[Point]) -> tuple[float, float]:
    """The threshold with the best balanced accuracy, by the model's word alone."""
    gold = [p for _, is_gold, p, _ in points if is_gold]
    rest = [p for _, is_gold, p, _ in points if not is_gold]
    cuts = sorted({p for _, _, p, _ in points})
    middles: list[float] = [(a + b) / 2 for a, b in itertools.pairwise(cuts)] or [0.5]

    def balanced(cut: float) -> float:
        return mean([float(p >= cut) for p in gold]) + mean([float(p < cut) for p in rest])

    best: float = max(middles, key=balanced)
    return round(best, 3), 0.0


def choose_filter(points: Sequence[Point]) -> tuple[float, float]:
    """(threshold, rank weight) that keep ``RECALL`` of the gold items in the smallest share of all.

    Of equal fits the one with the smaller weight: the model's own word first.
    """
    best: tuple[float, float, float] | None = None
    for weight in WEIGHTS:
        threshold = _threshold(points, weight)
        share = mean([float(_score(p, rank, weight) >= threshold) for _, _, p, rank in points])
        if best is None or share < best[0] - 1e-9:
            best = (share, threshold, weight)
    assert best is not None
    return round(best[1], 3), best[2]


def _threshold(points: Sequence[Point], weight: float) -> float:
    """The highest threshold with the wanted mean recall over the changes that have gold items."""
    scores = sorted({_score(p, rank, weight) for _, gold, p, rank in points if gold}, reverse=True)
    for threshold in scores:
        if kept_share(points, lambda p, rank, t=threshold: _score(p, rank, weight) >= t)[1] >= RECALL:  # type: ignore[misc]
            return threshold - 0.0005
    return scores[-1] - 0.0005 if scores else 0.5


def _score(p_yes: float, rank: int, rank_weight: float) -> float:
    score = Threshold("", "", 0.5, rank_weight).score(p_yes, rank, {})
    assert score is not None  # every point has a rank
    return score


def kept_share(points: Sequence[Point], keep: Callable[[float, int], bool]) -> tuple[float, float, float]:
    """(share of items kept, recall of gold, recall of the same number of best-ranked), averaged over the changes."""
    shares, recalls, alone = [], [], []
    for change in dict.fromkeys(change for change, *_ in points):
        inside = sorted((point for point in points if point[0] == change), key=lambda point: point[3])
        gold = sum(point[1] for point in inside)
        kept = [point for point in inside if keep(point[2], point[3])]
        shares.append(len(kept) / len(inside))
        if gold:
            recalls.append(sum(point[1] for point in kept) / gold)
            alone.append(sum(point[1] for point in inside[: len(kept)]) / gold)
    return mean(shares), mean(recalls), mean(alone)


def auc(points: Sequence[Point], score: Callable[[float, int], float]) -> float:
    """The chance that a gold item scores above another of the same change, ties counting half."""
    wins = pairs = 0.0
    for change in dict.fromkeys(change for change, *_ in points):
        good = [score(p, rank) for c, gold, p, rank in points if c == change and gold]
        bad = [score(p, rank) for c, gold, p, rank in points if c == change and not gold]
        pairs += len(good) * len(bad)
        wins += sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    return wins / pairs if pairs else 0.5


def toml_block(fit: FittedStage) -> str:
    """The fit as a table of the model registry, with what it rests on."""
    share, found, alone = fit.left_out
    note = (
        f"left out: keeps {share:.0%} with recall {found:.2f}, as many best-ranked {alone:.2f}; "
        f"AUC {fit.auc_model:.2f}, of rank {fit.auc_rank:.2f}"
    )
    leans = "leans_on_rank = true\n" if fit.leans_on_rank else ""
    return (
        f"[models.thresholds.{fit.stage}]\nthreshold = {fit.threshold}\nrank_weight = {fit.rank_weight}\n{leans}"
        f'n = {fit.n}\nnote = "{note}"\n'
    )
