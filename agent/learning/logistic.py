"""Logistic regression with a Gaussian prior and an intercept of its own for each group, by Newton's method. It is fast
enough for a few weights and some hundred labels, and needs no library.

The weights are pulled towards given means (maximum a posteriori), so that few labels change little. The groups' intercepts
are random effects with mean zero (Gelman and Hill, *Data Analysis Using Regression and Multilevel/Hierarchical Models*,
2007, chapter 14): a difference of a whole group goes to its intercept, not to the weights.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from agent.verdict.threshold import sigmoid

_STEPS = 25
_ENOUGH = 1e-6
_LONGEST = 5.0
"""Far from the maximum Newton's step may overshoot, so no weight moves farther than this in one."""

Matrix = list[list[float]]


def fit_weights(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], means: Sequence[float], precisions: Sequence[float],
    groups: Sequence[Hashable] = (), group_precision: float = 1.0,
) -> list[float]:  # fmt: skip
    """The weights w, with intercepts u, that maximise

    sum log P(label | sigmoid(w . row + u[group])) - sum precision * (w - mean)^2 / 2 - group_precision * sum u^2 / 2.

    ``rows`` hold one number a weight; ``groups`` names the group of each row, or is empty. Every precision must be positive,
    which makes the maximum unique. The intercepts are not returned: a new group has none.
    """
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    places = [numbers[group] for group in groups] if groups else [-1] * len(rows)
    weights, intercepts = list(means), [0.0] * len(numbers)
    size = len(weights)
    for _ in range(_STEPS):
        own, shared = [group_precision] * len(intercepts), [[0.0] * size for _ in intercepts]
        pull = [-group_precision * u for u in intercepts]
        gradient = [-precisions[i] * (weights[i] - means[i]) for i in range(size)]
        hessian = [[precisions[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, label, place in zip(rows, labels, places, strict=True):
            p = sigmoid(sum(w * x for w, x in zip(weights, row, strict=True)) + (intercepts[place] if place >= 0 else 0.0))
            miss, spread = float(label) - p, p * (1.0 - p)
            for i, x in enumerate(row):
                gradient[i] += miss * x
                for j in range(i + 1):
                    hessian[i][j] += spread * x * row[j]
            if place >= 0:
                own[place] += spread
                pull[place] += miss
                shared[place] = [s + spread * x for s, x in zip(shared[place], row, strict=True)]
        step, moves = _newton(hessian, gradient, own, shared, pull)
        longest = max(map(abs, (*step, *moves)))
        part = min(1.0, _LONGEST / longest) if longest else 1.0
        weights = [w + part * s for w, s in zip(weights, step, strict=True)]
        intercepts = [u + part * s for u, s in zip(intercepts, moves, strict=True)]
        if longest < _ENOUGH:
            break
    return weights


def _newton(
    hessian: Matrix, gradient: list[float], own: list[float], shared: Matrix, pull: list[float]
) -> tuple[list[float], list[float]]:
    """Newton's step of the weights and of the intercepts. The intercepts' part of the matrix is diagonal (``own``), so they
    are eliminated first (Schur complement); ``shared`` are the entries that a group has in common with each weight."""
    size = len(gradient)
    for row, mass, force in zip(shared, own, pull, strict=True):
        for i in range(size):
            gradient[i] -= row[i] * force / mass
            for j in range(i + 1):
                hessian[i][j] -= row[i] * row[j] / mass
    step = _solved(hessian, gradient)
    moves = [
        (force - sum(x * s for x, s in zip(row, step, strict=True))) / mass
        for row, mass, force in zip(shared, own, pull, strict=True)
    ]
    return step, moves


def _solved(matrix: Matrix, right: list[float]) -> list[float]:
    """x of matrix . x = right for a symmetric positive definite matrix, of which the lower half is read, by Cholesky's
    decomposition."""
    size = len(right)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - sum(lower[i][k] * lower[j][k] for k in range(j))
            lower[i][j] = math.sqrt(max(rest, 1e-12)) if i == j else rest / lower[j][j]
    y = [0.0] * size
    for i in range(size):
        y[i] = (right[i] - sum(lower[i][k] * y[k] for k in range(i))) / lower[i][i]
    x = [0.0] * size
    for i in reversed(range(size)):
        x[i] = (y[i] - sum(lower[k][i] * x[k] for k in range(i + 1, size))) / lower[i][i]
    return x
