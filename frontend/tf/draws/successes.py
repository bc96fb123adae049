"""How many of some tries succeed by a chance: drawn one after the other, by compiled code.

Where few succeed in the mean, the waits between them are added up; else numbers are drawn from a
distribution that lies above, until one is accepted (Hoermann, 1993).
"""

from __future__ import annotations

from math import isnan, log, log1p, sqrt

import numpy as np

from ....codegen.serial.function import F64s, U32s, serial
from ....ir.op import Array
from ....ir.ops.random import STRIDE
from .classes import block

UNIT = 2.0**-52
HIGH = (1 << 20) - 1
WHOLE = 2.0**52
"""From here on there are integers only."""
WAITS = 42
"""So many blocks each element has where waits are counted: of at most 10 in the mean."""
FEW = 10.0
"""Up to so many successes in the mean the waits are counted."""
TAILS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
])  # fmt: skip
"""What Stirling's formula leaves out of log(k!), for k from 0 on."""


def binomial(key: Array, counts: Array, probs: Array) -> Array:
    """Return numbers of the binomial distribution of these tries and chances, one for each."""
    made = np.empty(len(counts))
    _draw(key, counts, probs, TAILS, made)
    return made


@serial
def _draw(key: U32s, counts: F64s, probs: F64s, tails: F64s, made: F64s) -> int:
    """Draw all numbers; element i has the counters from `STRIDE * i` or `WAITS * i` on."""
    for i in range(len(made)):
        count, chance = counts[i], probs[i]
        if count <= 0.0 or chance <= 0.0:
            made[i] = 0.0
        elif isnan(chance) or chance >= 1.0:
            made[i] = chance if isnan(chance) else count
        elif count - count != 0.0:  # of tries without end as many succeed
            made[i] = count
        else:
            p = 1.0 - chance if chance > 0.5 else chance
            if count * p >= FEW:
                drawn = _in_squeezes(key, i * STRIDE, count, p, tails)
            else:
                drawn = _in_waits(key, i * WAITS, count, p)
            made[i] = count - drawn if chance > 0.5 else drawn
    return len(made)


def _in_waits(key: U32s, first: int, count: float, p: float) -> float:
    """Count how many geometric waits fit into the tries."""
    per, total, made = log1p(-p), 0.0, 0.0
    number = first
    while True:
        one, other = _units(key, number)
        total = total - _floor(-(log(one) / per))
        if not total <= count:
            return made
        total = total - _floor(-(log(other) / per))
        if not total <= count:
            return made + 1.0
        made += 2.0
        number += 1


def _in_squeezes(key: U32s, first: int, count: float, p: float, tails: F64s) -> float:
    """Draw from the distribution that lies above, until a number is accepted."""
    deviation = sqrt(count * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    ratio, top = p / (1.0 - p), _floor((count + 1.0) * p)
    sure, scale = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation
    number = first
    while True:
        u, v = _units(key, number)
        u -= 0.5
        inner = 0.5 - abs(u)
        k = _floor((2.0 * a / inner + b) * u + (count * p + 0.5))
        if inner >= 0.07 and v <= sure:
            return k
        if k >= 0.0 and k <= count:
            height = log(v * scale / (a / (inner * inner) + b))
            bound = (
                (top + 0.5) * log((top + 1.0) / (ratio * (count - top + 1.0)))
                + (count + 1.0) * log((count - top + 1.0) / (count - k + 1.0))
                + (k + 0.5) * log(ratio * (count - k + 1.0) / (k + 1.0))
                + _tail(tails, top) + _tail(tails, count - top)
                - _tail(tails, k) - _tail(tails, count - k)
            )  # fmt: skip
            if height <= bound:
                return k
        number += 1


def _tail(tails: F64s, k: float) -> float:
    """Return what Stirling's formula leaves out of log(k!)."""
    if k >= 0.0 and k <= 9.0:
        return float(tails[int(k)])
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)


def _floor(x: float) -> float:
    """Return the greatest integer that is no greater."""
    if not abs(x) < WHOLE:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole


def _units(key: U32s, number: int) -> tuple[float, float]:
    """Return two uniform numbers of a block, in the order in which they are taken."""
    a, b, c, d = block(key, number)
    return float((c & HIGH) << 32 | d) * UNIT, float((a & HIGH) << 32 | b) * UNIT
