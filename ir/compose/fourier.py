"""The discrete Fourier transform by mixed radix: functions of an `emit`.

A length of small factors takes one stage a factor, each element-wise on cut and joined tensors
(Stockham's form, which needs no bit reversal); a factor beyond 5 is products with two matrices of
half its size, of sums and differences of the elements that lie alike from both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..families import spec_of_value
from ..types.dims import product
from .complex import Complex
from .functions import cut, flip
from .maker import Emit, Maker

MOST_POINTS = 1 << 22
"""Points of a transform beyond which making its factors would take minutes, and gigabytes."""

LARGEST_FACTOR = 8192
"""A larger prime factor is refused: its matrices would take too much memory."""


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


def transform(emit: Emit, real: Any, imag: Any | None, *, inverse: bool) -> tuple[Any, Any]:
    """Return the transform along the last axis, whose extent is a number; nothing is divided.

    Without an imaginary part it is that of real numbers.
    """
    *outer, extent = spec_of_value(real).dims
    if not isinstance(extent, int):
        raise TypeError(f"a transform of {extent} points, expected a number")
    count = extent
    if count > MOST_POINTS:
        raise TypeError(f"{count} points, expected at most {MOST_POINTS}")
    stages = factors(count)
    if stages and max(stages) > LARGEST_FACTOR:
        raise TypeError(f"{count} points, expected factors of at most {LARGEST_FACTOR}")
    rows, sign, make = product(outer), 1 if inverse else -1, Maker(emit)
    if imag is None:
        if len(stages) == 1 and stages[0] not in BUTTERFLIES:
            return _prime_of_real(emit, real, count, sign)
        imag = make.filled(0, spec_of_value(real).dtype, spec_of_value(real).dims)
    values, done = Complex(make, real, imag), 1
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
        return _by_matrix(emit, values, radix, sign)
    parts = [
        Complex(make, *(cut(emit, x, 2, i, i + 1) for x in (values.real, values.imag)))
        for i in range(radix)
    ]
    made = BUTTERFLIES[radix](parts, sign)
    rows, done, _, rest = spec_of_value(values.real).dims
    flat = [part.reshaped((rows, 1, done, rest)) for part in made]
    joined = [make.concat(*(getattr(p, n) for p in flat), axis=1) for n in ("real", "imag")]
    return Complex(make, *joined)


def _by_matrix(emit: Emit, values: Complex, radix: int, sign: int) -> Complex:
    make = values.make
    rows, done, _, rest = spec_of_value(values.real).dims
    order = (0, 1, 3, 2)
    moved = values.each(lambda x: make.transpose(x, order=order))
    real, imag = (_halves(emit, x, radix) for x in (moved.real, moved.imag))
    first = Complex(make, real.total, imag.total)
    middle = Complex(make, real.even, imag.even)
    side = Complex(make, real.odd, imag.odd).scaled(sign).turned()
    parts = (first, middle + side, middle - side)
    made = Complex(make, *(_joined(emit, *(getattr(p, n) for p in parts)) for n in PARTS))
    back = made.each(lambda x: make.transpose(x, order=(0, 3, 1, 2)))
    return back.reshaped((rows, radix, done, rest))


def _prime_of_real(emit: Emit, x: Any, count: int, sign: int) -> tuple[Any, Any]:
    """Return the transform of real numbers, whose count is a prime, along the last axis."""
    make, half = Maker(emit), _halves(emit, x, count)
    side = half.odd if sign > 0 else make.neg(half.odd)
    none = make.filled(0, spec_of_value(x).dtype, spec_of_value(half.total).dims)
    imag = _joined(emit, none, side, make.neg(side))
    return _joined(emit, half.total, half.even, half.even), imag


PARTS = ("real", "imag")


@dataclass(frozen=True)
class Halves:
    """What a transform of odd length along the last axis is made of, of one part of numbers."""

    total: Any
    """The sum, which is the first frequency."""
    even: Any
    """What a frequency of the first half and its mirror have in common."""
    odd: Any
    """What they differ by, half of it either way."""


def _halves(emit: Emit, x: Any, count: int) -> Halves:
    """Return sums by cosines and by sines; an element and its mirror have the same up to sign."""
    make, axis, dtype = Maker(emit), len(spec_of_value(x).dims) - 1, spec_of_value(x).dtype
    most = count // 2
    places = np.arange(1, most + 1)
    turn = np.outer(places, places) % count * (2 * np.pi / count)
    cosine, sine = (make.constant(value=f(turn).astype(dtype.numpy)) for f in (np.cos, np.sin))
    first, near = cut(emit, x, axis, 0, 1), cut(emit, x, axis, 1, 1 + most)
    far = flip(emit, cut(emit, x, axis, 1 + most, count), (axis,))
    both = make.add(near, far)
    total = make.add(first, make.sum(both, axes=(axis,), keepdims=True))
    even = make.add(first, make.matmul(both, cosine))
    return Halves(total, even, make.matmul(make.sub(near, far), sine))


def _joined(emit: Emit, first: Any, near: Any, far: Any) -> Any:
    """Join the first frequency, half of the others, and their mirrors."""
    axis = len(spec_of_value(near).dims) - 1
    return Maker(emit).concat(first, near, flip(emit, far, (axis,)), axis=axis)


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
