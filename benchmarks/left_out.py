"""Weights fitted without the repository that they are judged on.

Each change is a list of items (files, or symbols) with their evidence by kind. The fit moves equal weights so that the items
that the real change touched stand before the items at the first places, and a penalty keeps them from going far: the two
hundred changes at hand are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

START = 0.3
"""Every weight before the fit."""

STIFF = 0.05
"""The penalty on the squared distance from ``START``."""

SHARP = 8.0
"""How steeply a margin counts: the slope of the logistic function."""

STEP, ROUNDS = 0.6, 60
_AROUND = 2
"""Places before and after a cut whose mean is the score to beat, so that one odd item does not move the fit."""


class Ranked(msgspec.Struct, frozen=True):
    """One change: ``evidence`` is item → kind → share of the best item's, ``first`` what stands before all others,
    ``gold`` what was touched."""

    repo: str
    evidence: dict[str, dict[str, float]]
    gold: tuple[str, ...]
    first: tuple[str, ...] = ()


def order(change: Ranked, weights: Mapping[str, float]) -> list[str]:
    """The items, best first."""
    scores = {item: _score(parts, weights) for item, parts in change.evidence.items()}
    front = {item: place for place, item in enumerate(change.first)}
    return sorted(scores, key=lambda item: (front.get(item, len(front)), -scores[item], item))


def fit(changes: Sequence[Ranked], kinds: Sequence[str], cuts: Mapping[int, float]) -> dict[str, float]:
    """Weights by gradient descent. ``cuts`` says how much each number of first places counts."""
    weights = dict.fromkeys(kinds, START)
    for _ in range(ROUNDS):
        slope = {kind: 2 * STIFF * (weights[kind] - START) for kind in kinds}
        for change in changes:
            for kind, value in _slope(change, weights, cuts).items():
                slope[kind] += value / len(changes)
        weights = {kind: max(0.0, weights[kind] - STEP * slope[kind]) for kind in kinds}
    return weights


def left_out(changes: Sequence[Ranked], kinds: Sequence[str], cuts: Mapping[int, float]) -> list[list[str]]:
    """The items of every change, ranked by a fit that has not seen its repository."""
    fits = {
        repo: fit([change for change in changes if change.repo != repo], kinds, cuts)
        for repo in dict.fromkeys(change.repo for change in changes)
    }
    return [order(change, fits[change.repo]) for change in changes]


def _slope(change: Ranked, weights: Mapping[str, float], cuts: Mapping[int, float]) -> dict[str, float]:
    """The gradient of the logistic loss of the touched items against those around each cut."""
    gold = [item for item in change.gold if item in change.evidence]
    others = [item for item in order(change, weights) if item not in change.gold]
    slope = dict.fromkeys(weights, 0.0)
    for cut, share in cuts.items():
        around = others[max(0, cut - 1 - _AROUND) : cut + _AROUND] if len(others) >= cut else []
        if not around:
            continue
        bar = {kind: math.fsum(change.evidence[i].get(kind, 0.0) for i in around) / len(around) for kind in weights}
        for item in gold:
            parts = change.evidence[item]
            margin = SHARP * (_score(bar, weights) - _score(parts, weights))
            lost = 1 / (1 + math.exp(-max(-40.0, min(40.0, margin))))
            factor = share * SHARP * lost * (1 - lost) / len(change.gold)
            for kind in weights:
                slope[kind] += factor * (bar[kind] - parts.get(kind, 0.0))
    return slope


def _score(parts: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return math.fsum(weights[kind] * value for kind, value in parts.items() if kind in weights)
