"""The numbers that TensorFlow's stateless functions give for a seed: Philox 4x32, 10 rounds.

The two words of a seed are encrypted to a key and the upper half of a counter (Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3"); block i of four words is counter i, encrypted.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from ...ir import dtypes as rows
from ...ir.tensor import Array

FACTORS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
STEPS = (0x9E3779B9, 0xBB67AE85)
SEED_KEY = (0x3EC8F720, 0x02461E29)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def encrypted(counters: Array, key: Any) -> Array:
    """Return blocks of four words for counters of four words."""
    a, b, c, d = (counters[:, i].astype(np.uint64) for i in range(4))
    first, second = int(key[0]), int(key[1])
    for _ in range(10):
        p, q = FACTORS[0] * a, FACTORS[1] * c
        a, c = (q >> HALF) ^ b ^ np.uint64(first), (p >> HALF) ^ d ^ np.uint64(second)
        b, d = q & LOW, p & LOW
        first, second = (first + STEPS[0]) & int(LOW), (second + STEPS[1]) & int(LOW)
    return np.stack([a, b, c, d], -1).astype(np.uint32)


def words(seed: Any, count: int) -> Array:
    """Return so many words of 32 bits, up to three more."""
    low, high = (int(s) & (2**64 - 1) for s in seed)
    mask = int(LOW)
    start = np.array([[low & mask, low >> 32, high & mask, high >> 32]], np.uint64)
    mixed = encrypted(start, SEED_KEY)[0]
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    upper = [np.full(len(blocks), mixed[i], np.uint64) for i in (2, 3)]
    counters = np.stack([blocks & LOW, blocks >> HALF, *upper], -1)
    return encrypted(counters, mixed[:2]).ravel()


def unit(seed: Any, count: int, row: rows.DType) -> Array:
    """Return floats from 0 to 1: random bits behind the point of 1, less 1."""
    if row == rows.f64:
        found = words(seed, 2 * count)[: 2 * count].astype(np.uint64)
        bits = ((found[0::2] & np.uint64(0xFFFFF)) << HALF) | found[1::2]
        return (bits | np.uint64(1023 << 52)).view(np.float64) - 1.0
    found = words(seed, count)[:count]
    if row == rows.f16:
        return ((found & 0x3FF) | 0x3C00).astype(np.uint16).view(np.float16) - np.float16(1)
    made = ((found & 0x7FFFFF) | 0x3F800000).astype(np.uint32).view(np.float32) - np.float32(1)
    return made.astype(row.numpy)


def integers(seed: Any, count: int, row: rows.DType, low: int | None, high: int | None) -> Array:
    """Return integers from `low` to below `high`, of the whole range if neither is given."""
    if row.size == 8:
        pairs = words(seed, 2 * count)[: 2 * count].astype(np.uint64)
        found = pairs[0::2] | (pairs[1::2] << HALF)
    else:
        found = words(seed, count)[:count].astype(np.uint64)
    if low is None or high is None:
        return found.astype(row.numpy)
    offset = (found % np.uint64(high - low)).astype(np.int64)
    return (offset + low).astype(row.numpy)


def normal(seed: Any, count: int, row: rows.DType) -> Array:
    """Return numbers of the normal distribution by Box and Muller, in pairs."""
    wide = row if row == rows.f64 else rows.f32
    pairs = unit(seed, count + count % 2, wide)
    radius = np.sqrt(-2 * np.log(np.maximum(pairs[0::2], wide.numpy.type(1e-7))))
    angle = wide.numpy.type(2 * pi) * pairs[1::2]
    made = np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1)
    return made.ravel()[:count].astype(row.numpy)
