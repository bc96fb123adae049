"""Numbers of a key that are drawn until they fit: functions of arrays, all elements at a time.

Element i has the counters from `STRIDE * i` on for its own; it takes words from them, in order,
until a draw is accepted. Methods: Marsaglia and Tsang (gamma), Knuth and Hoermann (Poisson),
Hoermann (binomial).
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma
from typing import Any

import numpy as np

from ....codegen.serial.function import I64s, U32s, serial
from ....ir.op import Array
from ....ir.ops.random import STRIDE, philox
from . import first_tries

Draws = np.ndarray[Any, np.dtype[np.float64]]
LOG_GAMMA = np.frompyfunc(lgamma, 1, 1)


def unit(high: Array, low: Array) -> Draws:
    """Return doubles from 0 to below 1 of pairs of words."""
    bits = (high.astype(np.uint64) & np.uint64(0xFFFFF)) << np.uint64(32) | low
    return (bits | np.uint64(1023 << 52)).view(np.float64) - 1.0


class OwnWords:
    """The blocks of words of many elements: each takes its next one when it asks for it."""

    def __init__(self, key: Array, numbers: Array, stride: int = STRIDE) -> None:
        self.key, count = key, len(numbers)
        self.start = numbers.astype(np.uint64) * np.uint64(stride)
        self.taken = np.zeros(count, np.uint64)
        self.left = np.zeros((2, count), np.int64)
        """By what a block is used for, uniform or normal numbers: how many are left of it."""
        self.kept = np.zeros((2, 2, count))

    def _blocks(self, where: Array) -> list[Array]:
        found = philox(self.key, self.start[where] + self.taken[where])
        self.taken[where] += np.uint64(1)
        return [np.asarray(word) for word in found]

    def _next(self, where: Array, use: int, make: Callable[[list[Array]], Any]) -> Draws:
        """Return the next number of elements; those that have none left take a block."""
        empty = where[self.left[use, where] == 0]
        if len(empty):
            self.kept[use][:, empty] = make(self._blocks(empty))
            self.left[use, empty] = 2
        self.left[use, where] -= 1
        found: Draws = self.kept[use][self.left[use, where], where]
        return found

    def uniform(self, where: Array) -> Draws:
        """Return the next uniform number of elements."""
        return self._next(where, 0, lambda w: (unit(w[0], w[1]), unit(w[2], w[3])))

    def normal(self, where: Array) -> Draws:
        """Return the next normal number of elements."""
        return self._next(where, 1, _normals)


def _normals(words: list[Array]) -> tuple[Draws, Draws]:
    """Return two numbers of the normal distribution by Box and Muller."""
    radius = np.sqrt(-2.0 * np.log(np.maximum(unit(words[0], words[1]), 1e-7)))
    angle = 2 * np.pi * unit(words[2], words[3])
    return np.sin(angle) * radius, np.cos(angle) * radius


def gamma(key: Array, alpha: Draws) -> Draws:
    """Return numbers of the gamma distribution of these shapes, one for each."""
    return _rest(key, alpha, first_tries.gamma(key, alpha), _gamma)


def _rest(
    key: Array, parameters: Draws, made: Draws, draw: Callable[[OwnWords, Draws], Draws]
) -> Draws:
    """Return what was made of parameters, with what has no number yet drawn one after the other."""
    left = np.flatnonzero(np.isnan(made))
    if len(left):
        made[left] = draw(OwnWords(key, left), parameters[left])
    return made


def _gamma(words: OwnWords, alpha: Draws) -> Draws:
    made = np.empty(len(alpha))
    shift = np.where(alpha < 1.0, 2.0 / 3, -1.0 / 3)
    d = alpha + shift
    with np.errstate(all="ignore"):
        c = 1.0 / 3 / np.sqrt(d)
        plain = np.flatnonzero(alpha == 1.0)
        made[plain] = -np.log1p(-words.uniform(plain)) if len(plain) else 0.0
        open_ = np.flatnonzero((alpha != 1.0) & (alpha > 0) & np.isfinite(alpha))
        while len(open_):
            x = words.normal(open_)
            v = 1 + c[open_] * x
            good = ~(v <= 0)
            at, x, v = open_[good], x[good], v[good] ** 3
            u = words.uniform(at)
            fits = (u < 1 - 0.0331 * (x * x) * (x * x)) | (
                np.log(u) < 0.5 * x * x + d[at] * (1 - v + np.log(v))
            )
            done = at[fits]
            made[done] = d[done] * v[fits]
            small = done[alpha[done] < 1.0]
            if len(small):
                made[small] *= words.uniform(small) ** (1 / alpha[small])
            open_ = np.setdiff1d(open_, done, assume_unique=True)
            open_ = (
                open_[np.isfinite(alpha[open_]) & (alpha[open_] > 0)] if len(done) == 0 else open_
            )
    made[~((alpha > 0) & np.isfinite(alpha))] = np.nan
    return made


def poisson(key: Array, rate: Draws) -> Draws:
    """Return numbers of the Poisson distribution of these rates, one for each."""
    return _rest(key, rate, first_tries.poisson(key, rate), _poisson)


def _poisson(words: OwnWords, rate: Draws) -> Draws:
    made = np.full(len(rate), np.nan)
    endless = np.isposinf(rate)
    made[endless] = np.inf
    few = np.flatnonzero((rate < 10) & (rate >= 0))
    many = np.flatnonzero((rate >= 10) & ~endless)
    _knuth(words, few, rate, made)
    if len(many):
        _transformed(words, many, rate, made)
    return made


def _knuth(words: OwnWords, open_: Array, rate: Draws, made: Draws) -> None:
    """Count how many waiting times fit."""
    product, count, end = np.ones(len(rate)), np.zeros(len(rate)), np.exp(-rate)
    while len(open_):
        product[open_] *= words.uniform(open_)
        fits = product[open_] <= end[open_]
        made[open_[fits]] = count[open_[fits]]
        open_ = open_[~fits]
        count[open_] += 1


def _transformed(words: OwnWords, open_: Array, rate: Draws, made: Draws) -> None:
    """Draw from a distribution that lies above, until one is accepted."""
    every_b = 0.931 + 2.53 * np.sqrt(np.maximum(rate, 0.0))
    every_a = -0.059 + 0.02483 * every_b
    while len(open_):
        a, b, mean = every_a[open_], every_b[open_], rate[open_]
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        u = words.uniform(open_) - 0.5
        v = words.uniform(open_)
        inner = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2 * a / inner + b) * u + mean + 0.43)
            fits = (inner >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
            never = (k < 0) | ((inner < 0.013) & (v > inner))
            s = np.log(v * inverse / (a / (inner * inner) + b))
            t = -mean + k * np.log(mean) - LOG_GAMMA(np.maximum(k, 0) + 1).astype(np.float64)
        fits |= ~never & (s <= t)
        made[open_[fits]] = k[fits]
        open_ = open_[~fits]


WAITS = 42
"""So many blocks each element has where waits are counted: of at most 10 in the mean."""


def binomial(key: Array, counts: Draws, probs: Draws) -> Draws:
    """Return numbers of the binomial distribution of these tries and chances, one for each."""
    made = np.where(np.isnan(probs), np.nan, counts)
    never = (counts <= 0) | (probs <= 0)
    made[never] = 0.0
    open_ = ~never & (probs < 1) & np.isfinite(counts)  # of infinite tries as many succeed
    few = np.where(probs > 0.5, 1 - probs, probs)
    numbers, much = np.arange(len(counts)), np.where(open_, counts, 0) * few >= 10
    drawn = np.zeros(len(counts))
    with np.errstate(all="ignore"):
        waits = OwnWords(key, numbers, WAITS)
        _in_waits(waits, np.flatnonzero(open_ & ~much), counts, few, drawn)
        _in_squeezes(OwnWords(key, numbers), np.flatnonzero(open_ & much), counts, few, drawn)
    made[open_] = np.where(probs > 0.5, counts - drawn, drawn)[open_]
    return made


def _in_waits(words: OwnWords, open_: Array, counts: Draws, probs: Draws, made: Draws) -> None:
    """Count how many geometric waits fit into the tries."""
    total = np.zeros(len(counts))
    while len(open_):
        total[open_] += np.ceil(np.log(words.uniform(open_)) / np.log1p(-probs[open_]))
        open_ = open_[total[open_] <= counts[open_]]
        made[open_] += 1


TAILS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
])  # fmt: skip
"""What Stirling's formula leaves out of log(k!), for k from 0 on."""


def _tail(k: Draws) -> Draws:
    """Return what Stirling's formula leaves out of log(k!)."""
    square = (k + 1) * (k + 1)
    far = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    near = TAILS[np.clip(k, 0, 9).astype(np.int64)]
    found: Draws = np.where(k <= 9, near, far)
    return found


def _in_squeezes(words: OwnWords, open_: Array, counts: Draws, probs: Draws, made: Draws) -> None:
    """Draw from a distribution that lies above (Hoermann, 1993), until one is accepted."""
    while len(open_):
        count, p = counts[open_], probs[open_]
        deviation = np.sqrt(count * p * (1 - p))
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        ratio, top = p / (1 - p), np.floor((count + 1) * p)
        u = words.uniform(open_)
        v = words.uniform(open_)
        u = u - 0.5
        inner = 0.5 - np.abs(u)
        k = np.floor((2 * a / inner + b) * u + (count * p + 0.5))
        fits = (inner >= 0.07) & (v <= 0.92 - 4.2 / b)
        possible = (k >= 0) & (k <= count)
        height = np.log(v * ((2.83 + 5.1 / b) * deviation) / (a / (inner * inner) + b))
        bound = (
            (top + 0.5) * np.log((top + 1) / (ratio * (count - top + 1)))
            + (count + 1) * np.log((count - top + 1) / (count - k + 1))
            + (k + 0.5) * np.log(ratio * (count - k + 1) / (k + 1))
            + _tail(top) + _tail(count - top) - _tail(k) - _tail(count - k)
        )  # fmt: skip
        fits |= possible & (height <= bound)
        made[open_[fits]] = k[fits]
        open_ = open_[~fits]


FEW = 64
"""So few numbers are worked out one by one."""
MANY = 4096
"""Orders of more places are worth a loop that is compiled."""


def permutation(words: Array, count: int) -> Array:
    """Return the order that Fisher and Yates' exchanges give: one word says each."""
    if count > MANY:
        exchanged = np.arange(count)
        _exchange(np.ascontiguousarray(words), exchanged)
        return exchanged
    places = list(range(count))
    if count <= FEW:
        steps = [word % (count - i) for i, word in enumerate(words.tolist())]
    else:
        steps = (words.astype(np.int64) % np.arange(count, 1, -1)).tolist()
    for i, step in enumerate(steps):
        places[i], places[i + step] = places[i + step], places[i]
    return np.array(places, np.int64)


@serial
def _exchange(words: U32s, places: I64s) -> int:
    """Exchange each place with one that does not come before it."""
    count = len(places)
    for i in range(len(words)):
        other = i + words[i] % (count - i)
        places[i], places[other] = places[other], places[i]
    return count


def in_turn(key: Array, values: Array, per: int, function: Callable[..., Draws]) -> Draws:
    """Return draws for rows of parameters [parts, n], `per` of each, as [per, n]."""
    flat = [np.repeat(row, per).astype(np.float64) for row in np.atleast_2d(values)]
    return function(key, *flat).reshape(np.atleast_2d(values).shape[1], per).T
