"""Distributions of classes, and draws from them: one after the other, each once if it is to be so.

The words of a key come in blocks of four; behind the last block the first one comes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import ClassVar

import numpy as np

from ....codegen.serial.function import F32s, I64s, U32s, Word, serial
from ....ir.op import Array
from ....lazy import cached_property

BLOCKS = 512
"""How many blocks of words there are for each class that is wanted."""
WORD, ROUNDS = 0xFFFFFFFF, 10
LOW_FACTOR, HIGH_FACTOR = 0xD2511F53, 0xCD9E8D57
LOW_STEP, HIGH_STEP = 0x9E3779B9, 0xBB67AE85
EVENLY, LOGARITHMIC, BY_WEIGHT, BY_COUNT = range(4)
NO_SHARES, NO_OTHERS = np.zeros(0, np.float32), np.zeros(0, np.int64)


@dataclass(frozen=True)
class Uniform:
    """All classes alike."""

    KIND: ClassVar = EVENLY
    count: int
    scale: ClassVar = 0.0
    shares: ClassVar = NO_SHARES
    others: ClassVar = NO_OTHERS

    def chance(self, classes: Array) -> Array:
        """Return how likely classes are."""
        return np.full(classes.shape, np.float32(1.0 / self.count))


@dataclass(frozen=True)
class LogUniform:
    """Low numbers more often, as in Zipf's law."""

    KIND: ClassVar = LOGARITHMIC
    count: int
    shares: ClassVar = NO_SHARES
    others: ClassVar = NO_OTHERS

    @cached_property
    def scale(self) -> float:
        """Return the logarithm of the largest number."""
        return float(np.log1p(self.count))

    def chance(self, classes: Array) -> Array:
        """Return how likely classes are."""
        wide = classes.astype(np.float64)
        made: Array = np.log((wide + 2.0) / (wide + 1.0)) / self.scale
        return made.astype(np.float32)


@dataclass
class Weighted:
    """Classes by weights, each drawn from a column that it shares with one other (Vose, 1991)."""

    KIND: ClassVar = BY_WEIGHT
    weights: Array
    scale: ClassVar = 0.0

    def __post_init__(self) -> None:
        self.shares, self.others = shared_columns(self.weights)

    @property
    def count(self) -> int:
        """Return how many classes there are."""
        return len(self.weights)

    def chance(self, classes: Array) -> Array:
        """Return how likely classes are."""
        inside = (classes >= 0) & (classes < len(self.weights))
        found = np.where(inside, self.weights[np.where(inside, classes, 0)], np.float32(0))
        total = np.add.accumulate(self.weights, dtype=np.float32)[-1]
        made: Array = (found / total).astype(np.float32)
        return made


def shared_columns(weights: Array) -> tuple[Array, Array]:
    """Return for columns of one height how much of each is its own class, and whose is the rest.

    >>> [x.tolist() for x in shared_columns(np.array([3.0, 1.0]))]
    [[1.0, 0.5], [0, 0]]
    """
    count = len(weights)
    heights = weights.astype(np.float64) * count / weights.astype(np.float64).sum()
    other = np.arange(count)
    low, high = (np.flatnonzero(x).tolist() for x in (heights < 1, heights >= 1))
    while low and high:
        short, tall = low.pop(), high.pop()
        other[short] = tall
        heights[tall] -= 1.0 - heights[short]
        (low if heights[tall] < 1 else high).append(tall)
    heights[low + high] = 1.0
    return heights.astype(np.float32), other


class Learned:
    """Classes by how often they were true ones, each once more."""

    KIND: ClassVar = BY_COUNT
    scale: ClassVar = 0.0
    shares: ClassVar = NO_SHARES

    def __init__(self, count: int) -> None:
        self.count = self.total = count
        self.seen, self.others = _once_each(count)
        """How often each class was seen, and how many up to each."""

    def chance(self, classes: Array) -> Array:
        """Return how likely classes are."""
        return (self.seen[classes] / np.float32(self.total)).astype(np.float32)

    def learn(self, true: Array) -> None:
        """Count true classes."""
        self.seen = self.seen.copy()
        np.add.at(self.seen, true.ravel(), 1)
        self.total += true.size

    def look(self) -> None:
        """Add up what was learned since numbers were drawn."""
        if self.total != self.others[-1]:
            self.others = np.cumsum(self.seen)


@lru_cache(maxsize=8)
def _once_each(count: int) -> tuple[Array, Array]:
    """Return how often classes were seen that each were once, and how many up to each."""
    return np.ones(count, np.int64), np.arange(1, count + 1)


Distribution = Uniform | LogUniform | Weighted | Learned


def sampled(
    key: Array, true: Array, wanted: int, unique: bool, kind: Distribution
) -> Sequence[Array]:
    """Return classes, and the expected counts of the true ones and of them."""
    every = np.empty(true.size + wanted, np.int64)
    every[: true.size] = true.ravel()
    classes = every[true.size :]
    seen = np.empty(1 << (2 * wanted).bit_length() if unique else 0, np.int64)
    if isinstance(kind, Learned):
        kind.look()
    given = kind.KIND, kind.count, kind.scale, kind.shares, kind.others
    tries = _draw(key, *given, 4 * BLOCKS * max(wanted, 1), seen, classes)
    if tries < 0:
        raise ValueError(f"there are fewer than {wanted} classes to be drawn")
    counts = _expected(kind.chance(every), wanted, tries)
    if isinstance(kind, Learned):
        kind.learn(true)
    return classes.copy(), counts[: true.size].reshape(true.shape), counts[true.size :].copy()


def _expected(chance: Array, wanted: int, tries: int) -> Array:
    """Return how often classes are expected in so many tries."""
    if tries == wanted:
        return (chance * np.float32(wanted)).astype(np.float32)
    wide = chance.astype(np.float64)
    seldom: Array = -np.expm1(tries * np.log1p(-wide))
    return seldom.astype(np.float32)


@serial
def _draw(
    key: U32s, kind: int, count: int, scale: float, shares: F32s, others: I64s, words: int,
    seen: I64s, classes: I64s,
) -> int:  # fmt: skip
    """Draw classes, and return how many were drawn to find these.

    Where `seen` has room, none is taken twice. -1: all words were gone through in vain.
    """
    for i in range(len(seen)):
        seen[i] = -1
    tries, found, last, a, b, c, d = 0, 0, 0, 0, 0, 0, 0
    width = 1 if kind == BY_COUNT else 2
    while found < len(classes):
        if tries - last > words:
            return -1
        at = width * tries % words
        if at & 3 == 0:
            a, b, c, d = block(key, at >> 2)
        first = a if at & 3 == 0 else b if at & 3 == 1 else c if at & 3 == 2 else d
        second = b if at & 3 == 0 else d
        value = first
        if kind == EVENLY:
            value = _evenly(first, second, count)
        elif kind == LOGARITHMIC:
            part = ((first & 0xFFFFF) << 32 | second) / (1 << 52)
            value = (int(exp(part * scale)) - 1) % count
        elif kind == BY_WEIGHT:
            value = second % count
            if (first & 0x7FFFFF) / (1 << 23) >= shares[value]:
                value = others[value]
        else:
            value = _behind(others, first % others[count - 1])
        tries += 1
        if len(seen) and _is_known(seen, value):
            continue
        classes[found] = value
        found += 1
        last = tries
    return tries


def _evenly(low: Word, high: Word, count: Word) -> Word:
    return (low | high << 32) % count


def _behind(ends: I64s, place: int) -> int:
    """Return the first of some rising numbers that is more than one."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if ends[middle] > place:
            high = middle
        else:
            low = middle + 1
    return low


def _is_known(seen: I64s, value: int) -> bool:
    """Say whether a class was seen, and note it: each looks for the next place that is free."""
    at = value * LOW_STEP & len(seen) - 1
    while seen[at] >= 0:
        if seen[at] == value:
            return True
        at = at + 1 & len(seen) - 1
    seen[at] = value
    return False


def block(key: U32s, further: int) -> tuple[int, int, int, int]:
    """Return four words of a key's, some blocks on (Philox: Salmon et al., 2011)."""
    a, b, c, d = _counter(key, further)
    first, second = int(key[0]), int(key[1])
    for _ in range(ROUNDS):
        p, q = a * LOW_FACTOR, c * HIGH_FACTOR
        a, b = (q >> 32) ^ b ^ first, q & WORD
        c, d = (p >> 32) ^ d ^ second, p & WORD
        first, second = first + LOW_STEP & WORD, second + HIGH_STEP & WORD
    return a, b, c, d


def _counter(key: U32s, block: int) -> tuple[Word, Word, Word, Word]:
    """Return a key's counter some blocks on."""
    a = int(key[2]) + block
    b = int(key[3]) + (a >> 32)
    c = int(key[4]) + (b >> 32)
    d = int(key[5]) + (c >> 32)
    return a & WORD, b & WORD, c & WORD, d & WORD


__all__ = ["Distribution", "Learned", "LogUniform", "Uniform", "Weighted", "block", "sampled"]
