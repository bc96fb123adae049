"""The discrete Fourier transform by mixed radix: functions of an `emit`.

A length of small factors takes one stage a factor, each element-wise on cut and joined tensors
(Stockham's form, which needs no bit reversal); a factor beyond 5 is a product with a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families import spec_of_value
from ..types.dims import product
from .complex import Complex
from .functions import cut
from .maker import Emit, Maker

MOST_POINTS = 1 << 22
"""Points of a transform beyond which making its factors would take minutes, and gigabytes."""

LARGEST_FACTOR = 4096
"""A larger prime factor is refused: its matrix would take too much memory."""


def factors(count: int) -> list[int]:
    """Return the factors of the stages, in their order: fours, one two in front, odd primes."""
    found = []
    while count % 4 == 0:
        found.append(4)
        count //= 4
    if count % 2 == 0:
        count //= 2
        found = [2, *found[1:], *found[:1]]
    factor = 3
    while factor * factor <= count:
        while count % factor == 0:
            found.append(factor)
            count //= factor
        factor += 2
    return [*found, count] if count > 1 else found


def transform(emit: Emit, real: Any, imag: Any, *, inverse: bool) -> tuple[Any, Any]:
    """Return the transform along the last axis, whose extent is a number; nothing is divided."""
    *outer, extent = spec_of_value(real).dims
    if not isinstance(extent, int):
        raise TypeError(f"a transform of {extent} points, expected a number")
    count = extent
    if count > MOST_POINTS:
        raise TypeError(f"{count} points, expected at most {MOST_POINTS}")
    stages = factors(count)
    if stages and max(stages) > LARGEST_FACTOR:
        raise TypeError(f"{count} points, expected factors of at most {LARGEST_FACTOR}")
    rows, sign = product(outer), 1 if inverse else -1
    values, done = Complex(Maker(emit), real, imag), 1
    for radix in stages:
        rest = count // (done * radix)
        values = values.reshaped((rows, done, radix, rest))
        values = _stage(emit, values, radix, sign).reshaped((rows, radix, done, rest))
        if done * radix < count:
            angle = np.outer(np.arange(radix) * done, np.arange(rest)) * (sign * 2 * np.pi / count)
            values = values.times(np.exp(1j * angle).reshape(radix, 1, rest))
        done *= radix
    values = values.reshaped((*outer, count))
    return values.real, values.imag


def _stage(emit: Emit, values: Complex, radix: int, sign: int) -> Complex:
    """Transform axis 2 and put it in front of axis 1, in its row-major place."""
    make = values.make
    if radix not in BUTTERFLIES:
        return _by_matrix(values, radix, sign)
    parts = [
        Complex(make, *(cut(emit, x, 2, i, i + 1) for x in (values.real, values.imag)))
        for i in range(radix)
    ]
    made = BUTTERFLIES[radix](parts, sign)
    rows, done, _, rest = spec_of_value(values.real).dims
    flat = [part.reshaped((rows, 1, done, rest)) for part in made]
    joined = [make.concat(*(getattr(p, n) for p in flat), axis=1) for n in ("real", "imag")]
    return Complex(make, *joined)


def _by_matrix(values: Complex, radix: int, sign: int) -> Complex:
    make, dtype = values.make, values.dtype
    turn = np.outer(np.arange(radix), np.arange(radix)) % radix * (sign * 2 * np.pi / radix)
    cosine, sine = (make.constant(value=f(turn).astype(dtype.numpy)) for f in (np.cos, np.sin))
    rows, done, _, rest = spec_of_value(values.real).dims
    order = (0, 1, 3, 2)
    real, imag = (make.transpose(x, order=order) for x in (values.real, values.imag))
    made = Complex(
        make,
        make.sub(make.matmul(real, cosine), make.matmul(imag, sine)),
        make.add(make.matmul(real, sine), make.matmul(imag, cosine)),
    )
    back = [make.transpose(x, order=(0, 3, 1, 2)) for x in (made.real, made.imag)]
    return Complex(make, *back).reshaped((rows, radix, done, rest))


def _two(x: Sequence[Complex], sign: int) -> list[Complex]:
    return [x[0] + x[1], x[0] - x[1]]


def _three(x: Sequence[Complex], sign: int) -> list[Complex]:
    total, apart = x[1] + x[2], x[1] - x[2]
    middle = x[0] + total.scaled(-0.5)
    side = apart.scaled(sign * np.sqrt(0.75)).turned()
    return [x[0] + total, middle + side, middle - side]


def _four(x: Sequence[Complex], sign: int) -> list[Complex]:
    even, odd = (x[0] + x[2], x[1] + x[3])
    left, right = x[0] - x[2], (x[1] - x[3]).turned()
    first, second = (left + right, left - right)
    return [even + odd, first, even - odd, second] if sign > 0 else [
        even + odd, second, even - odd, first]  # fmt: skip


def _five(x: Sequence[Complex], sign: int) -> list[Complex]:
    near, near_apart = x[1] + x[4], x[1] - x[4]
    far, far_apart = x[2] + x[3], x[2] - x[3]
    cosines = [float(np.cos(2 * np.pi * i / 5)) for i in (1, 2)]
    sines = [sign * float(np.sin(2 * np.pi * i / 5)) for i in (1, 2)]
    made = {0: x[0] + near + far}
    for place, (a, b), (u, v) in (
        (1, cosines, sines),
        (2, cosines[::-1], (sines[1], -sines[0])),
    ):
        middle = x[0] + near.scaled(a) + far.scaled(b)
        side = (near_apart.scaled(u) + far_apart.scaled(v)).turned()
        made[place], made[5 - place] = middle + side, middle - side
    return [made[i] for i in range(5)]


BUTTERFLIES = {2: _two, 3: _three, 4: _four, 5: _five}
"""Transforms of few elements, written out."""
