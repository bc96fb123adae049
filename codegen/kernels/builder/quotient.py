"""Division by a number that is known: a product and a fused multiply-add, rounded as the quotient.

    x / c  =  fma(x, high, x * low),   high + low = 1 / c to 48 bits

differs from the true quotient by less than 2^-47 of it before it is rounded, and the rounded
result only where a quotient lies that near to the middle between two numbers. There are few such
x for each c, a solution of a congruence each, and `parts_of` tries them all; a c for which one
fails is divided by. Quotients below 2^-100 may be off in the last bit.

    >>> parts_of(0.5)
    (2.0, 0.0)
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ....ir.interpret.loop_values import fused_multiply_add

BITS = 24
"""Bits of the fraction of an f32."""
NEAR = 16
"""Distances in units of 2^-49 or more, of which a larger one cannot be rounded over."""


@lru_cache(maxsize=1024)
def parts_of(divisor: float) -> tuple[float, float] | None:
    """Return high and low for an f32, `low` at least 0 in its direction; None where that fails."""
    if not 2.0**-60 < abs(divisor) < 2.0**60:
        return None
    high = np.float32(1 / np.float64(divisor))
    if abs(np.float64(high)) > abs(1 / np.float64(divisor)):  # so that infinity stays infinity
        high = np.nextafter(high, np.float32(0))
    low = np.float32((1 - np.float64(high) * divisor) / divisor)
    return (float(high), float(low)) if _agrees(divisor, high, low) else None


def _agrees(divisor: float, high: np.float32, low: np.float32) -> bool:
    """Say whether the parts give the quotient of each number whose quotient is near a middle."""
    fraction, _ = np.frexp(np.float64(abs(divisor)))
    whole = int(fraction * 2**BITS)
    x = np.array([x for up in (BITS, BITS + 1) for x in _near_middles(whole, up)], np.float32)
    made = fused_multiply_add(x, high, x * low)
    return bool(np.array_equal(made, x / np.float32(divisor)))


def _near_middles(whole: int, up: int) -> list[int]:
    """Return the x of 24 bits for which x * 2^up is near to an odd middle times `whole`."""
    twos = (whole & -whole).bit_length() - 1
    odd, modulus = whole >> twos, 1 << (up - twos)
    inverse = pow(odd, -1, modulus)
    found = []
    for distance in range(-NEAR, NEAR + 1):
        if distance == 0 or distance % (1 << twos):
            continue
        first = (-distance >> twos) * inverse % modulus
        low, high = 1 << BITS, 1 << (BITS + 1)
        first += -(-(low - first) // modulus) * modulus if first < low else 0
        for middle in range(first, high, modulus):
            x, rest = divmod(middle * whole + distance, 1 << up)
            assert rest == 0, "the congruence was solved"
            if 1 << (BITS - 1) <= x < 1 << BITS:
                found.append(x)
    return found
