"""Numbers of a key that are drawn until they fit: functions of arrays, all elements at a time.

Element i has the counters from `STRIDE * i` on for its own; it takes words from them, in order,
until a draw is accepted. Methods: Marsaglia and Tsang (gamma), Knuth and Hoermann (Poisson).
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
