"""Logistic regression with a Gaussian prior, by Newton's method. A handful of weights and some hundred labels: no more is
needed than what stands here, and it works in every installation.

The rule's weights are pulled towards the rule that is in force (maximum a posteriori), so that few labels change little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from agent.verdict.threshold import sigmoid

_STEPS = 25
_ENOUGH = 1e-6


def fit_weights(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], means: Sequence[float], precisions: Sequence[float]
) -> list[float]:
    """The weights w that maximise sum log P(label | sigmoid(w . row)) - sum precision * (w - mean)^2 / 2.

    ``rows`` hold one number a weight. Every precision must be positive, which makes the maximum unique.
    """
    size = len(means)
    weights = list(means)
    for _ in range(_STEPS):
        gradient = [-precisions[i] * (weights[i] - means[i]) for i in range(size)]
        hessian = [[precisions[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, label in zip(rows, labels, strict=True):
            p = sigmoid(sum(w * x for w, x in zip(weights, row, strict=True)))
            miss, spread = float(label) - p, p * (1.0 - p)
            for i in range(size):
                if row[i]:
                    gradient[i] += miss * row[i]
                    for j in range(i + 1):
                        hessian[i][j] += spread * row[i] * row[j]
        for i in range(size):
            for j in range(i):
                hessian[j][i] = hessian[i][j]
        step = _solved(hessian, gradient)
        longest = max(map(abs, step))
        if longest > 5.0:  # far from the maximum Newton's step may overshoot
            step = [s * 5.0 / longest for s in step]
        weights = [w + s for w, s in zip(weights, step, strict=True)]
        if longest < _ENOUGH:
            break
    return weights


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """x of matrix . x = right for a symmetric positive definite matrix, by Cholesky's decomposition."""
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
