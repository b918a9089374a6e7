"""Intervals of a figure by the bootstrap (Efron, *Bootstrap Methods: Another Look at the Jackknife*, 1979)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

Interval = tuple[float, float]
"""The 95 % interval, lower and upper end."""

_TAIL = 0.025


def bootstrap_interval(
    tasks: Sequence[T], figure: Callable[[Sequence[T]], float | None], samples: int = 1000
) -> Interval | None:
    """The percentile interval of a figure over bootstrap samples of tasks, or of one value a task. The same input gives the
    same interval. None where the figure is defined (not None) in less than half of the samples."""
    dice = random.Random(1)
    drawn = (figure(dice.choices(tasks, k=len(tasks))) for _ in range(samples))
    values = sorted(value for value in drawn if value is not None)
    if len(values) < samples / 2:
        return None
    return values[int(_TAIL * len(values))], values[min(len(values) - 1, int((1 - _TAIL) * len(values)))]
