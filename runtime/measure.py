"""Measure how long a call takes: warm up, sample, and say how sure the numbers are.

    >>> timing = measure(lambda: None, MeasurePlan(warm_up=0.001, seconds=0.01))
    >>> 0 < timing.percentile(50) <= timing.percentile(99)
    True

Very short calls are timed several at once, so that reading the clock does not count. The samples
are cut into blocks in the order of time; how much the blocks differ tells how sure their mean is,
for neighbours in time are disturbed by the same things. Measurements are compared by the medians of
their blocks, since a mean tells more about what else the machine did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..counting import tell
from .buffer import Array

BLOCKS = 20
STUDENT = 2.093
"""The 97.5 % point of Student's distribution with 19 degrees of freedom."""
SHORTEST = 20_000
"""Nanoseconds that one reading of the clock shall be for, at least."""
SIGNIFICANT = 3.0
"""How many standard errors apart two means are when no chance explains it."""

METRICS: Mapping[str, str] = {
    "p50": "half of the calls took less",
    "p90": "nine of ten calls took less",
    "p99": "99 of 100 calls took less",
    "minimum": "the shortest call: what is possible when nothing disturbs",
    "mean": "all time through all calls",
    "confidence": "the mean is within this, either way, in 95 of 100 measurements",
    "throughput": "calls in a second, one after the other",
}
"""What each number means."""


@dataclass(frozen=True)
class MeasurePlan:
    """How long to measure."""

    warm_up: float = 0.2
    """Seconds of calls before the first sample."""
    seconds: float = 1.0
    """Seconds of sampling, at least."""
    iterations: int = BLOCKS
    """Calls that are sampled, at least."""


@dataclass(frozen=True)
class Timing:
    """Samples of one call, in nanoseconds, in the order in which they were taken."""

    samples: Array
    batch: int = 1
    """How many calls each sample is the mean of."""

    def percentile(self, percent: float) -> float:
        """Return the seconds that so many of 100 samples are below."""
        return float(np.percentile(self.samples, percent)) / 1e9

    @property
    def mean(self) -> float:
        """Return the mean in seconds."""
        return float(self.samples.mean()) / 1e9

    @property
    def blocks(self) -> list[float]:
        """Return the median of each block in seconds, which hardly feels other programs."""
        return [float(np.median(part)) / 1e9 for part in self._parts()]

    @property
    def confidence(self) -> float:
        """Return half the width of the mean's 95 % confidence interval, in seconds."""
        return STUDENT * standard_error([float(part.mean()) / 1e9 for part in self._parts()])

    def _parts(self) -> list[Array]:
        """Return the samples in blocks, in the order of time."""
        return np.array_split(self.samples, min(BLOCKS, len(self.samples)))

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name, times in seconds."""
        return {
            "samples": len(self.samples),
            "batch": self.batch,
            "minimum": float(self.samples.min()) / 1e9,
            **{f"p{percent}": self.percentile(percent) for percent in (50, 90, 99)},
            "mean": self.mean,
            "confidence": self.confidence,
            "throughput": 1.0 / self.mean,
            "blocks": self.blocks,
        }


def measure(call: Callable[[], object], plan: MeasurePlan | None = None) -> Timing:
    """Return the timing of a call."""
    plan = plan or MeasurePlan()
    each = warm_up(call, plan.warm_up)
    batch = max(1, math.ceil(SHORTEST / each))
    wanted = -(-plan.iterations // batch)
    samples: list[int] = []
    end = perf_counter_ns() + int(plan.seconds * 1e9)
    while len(samples) < wanted or perf_counter_ns() < end:
        samples.append(sample(call, batch))
        tell("sample", len(samples))
    return Timing(np.array(samples, np.float64) / batch, batch)


def sample(call: Callable[[], object], batch: int) -> int:
    """Return the nanoseconds of so many calls."""
    calls = range(batch)
    start = perf_counter_ns()
    for _ in calls:
        call()
    return perf_counter_ns() - start


def warm_up(call: Callable[[], object], seconds: float) -> float:
    """Call for so long, twice at least; return the nanoseconds of the shortest call."""
    shortest, start = math.inf, perf_counter_ns()
    count = 0
    while count < 2 or perf_counter_ns() - start < seconds * 1e9:
        shortest = min(shortest, sample(call, 1))
        count += 1
    return max(shortest, 1.0)


def standard_error(blocks: Sequence[float]) -> float:
    """Return the standard error of the mean of blocks; 0 for one block."""
    if len(blocks) < 2:
        return 0.0
    return float(np.std(blocks, ddof=1)) / math.sqrt(len(blocks))


@dataclass(frozen=True)
class Change:
    """How one measurement differs from an older one."""

    ratio: float
    """New time through old time, both the medians of the blocks; above 1 is slower."""
    errors: float
    """How many standard errors the means of the blocks are apart."""
    threshold: float

    @property
    def verdict(self) -> str:
        """Return `slower`, `faster`, or `same` where chance may explain the difference."""
        if self.errors < SIGNIFICANT:
            return "same"
        if self.ratio > 1 + self.threshold:
            return "slower"
        return "faster" if self.ratio < 1 / (1 + self.threshold) else "same"

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "ratio": self.ratio,
            "standard_errors": self.errors if math.isfinite(self.errors) else str(self.errors),
            "threshold": self.threshold,
            "verdict": self.verdict,
        }


def change(new: Sequence[float], old: Sequence[float], threshold: float) -> Change:
    """Return how the blocks of a measurement differ from those of an older one."""
    spread = math.hypot(standard_error(new), standard_error(old))
    apart = abs(float(np.mean(new)) - float(np.mean(old)))
    ratio = float(np.median(new)) / float(np.median(old))
    errors = apart / spread if spread else math.inf if apart else 0.0
    return Change(ratio, errors, threshold)
