"""Medians with intervals, and ratios of measurements that were taken in turns.

    >>> low, high = median_interval([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 7.0])
    >>> (low, high)
    (1.0, 7.0)
    >>> ratio([2.0, 4.0, 6.0, 2.2], [1.0, 2.0, 3.0, 1.1]).value
    2.0

No distribution is assumed: the interval of a median is between two of the samples (by their
order), that of a ratio comes of drawing the rounds again, with put-back, by a fixed seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

CONFIDENCE = 0.95
DRAWS = 2000
"""How often rounds are drawn again."""


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Return two samples between which the median lies, in 95 of 100 measurements.

    Where there are too few samples for that, the smallest and the largest.
    """
    ordered = sorted(samples)
    count = len(ordered)
    if count > 400:  # the binomial distribution is as good as normal
        half = 0.98 * count**0.5
        low, high = int(count / 2 - half), int(count / 2 + half)
        return ordered[max(low, 0)], ordered[min(high, count - 1)]
    outside, low = 0.0, 0
    for below in range(count // 2):
        outside += 2 * comb(count, below) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        low = below
    return ordered[low], ordered[count - 1 - low]


@dataclass(frozen=True)
class Ratio:
    """One time through another, and between which numbers it lies."""

    value: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Say that chance does not explain a difference from 1."""
        return not self.low <= 1.0 <= self.high

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    def as_json(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {"ratio": self.value, "ratio_interval": [self.low, self.high]}


def ratio(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """Return the median ratio of two measurements, of which each round has one of both."""
    each = np.asarray(first, np.float64) / np.asarray(second, np.float64)
    random = np.random.default_rng(0)
    drawn = np.median(each[random.integers(0, len(each), (DRAWS, len(each)))], axis=1)
    rest = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [rest, 1 - rest])
    return Ratio(float(np.median(each)), float(low), float(high))


def turns(count: int, rounds: int) -> list[list[int]]:
    """Return the order of so many contenders in each round: all orders are about as frequent."""
    random = np.random.default_rng(0)
    return [random.permutation(count).tolist() for _ in range(rounds)]
