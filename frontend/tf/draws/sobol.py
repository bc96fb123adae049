"""Sobol's sequence: points that lie in a cube more evenly than those drawn by chance.

Each axis has a primitive polynomial over the field of two elements, in the order of degrees, and as
many first direction numbers as its degree; the polynomial gives the later ones. `directions.bin`
has the first ones, which S. Joe and F. Y. Kuo searched for ("Constructing Sobol sequences with
better two-dimensional projections", 2008): of the i-th, i bits above the lowest, which is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ....codegen.serial.function import F64s, I64s, serial
from ....ir.op import Array
from ...eager.remembered import remembered
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import InGraph, convert, graph_of, static
from ..ops.random_ops import row_given

DIGITS = 31
"""So many points, as a power of two, the sequence has at most."""
PART = 2.0**-31
"""The share of the least digit."""
MOST = 21200
"""So many axes have direction numbers."""


def _product(a: Array, b: Array, polynomials: Array, degree: int) -> Array:
    """Return products of polynomials, each modulo one of a degree."""
    made = np.zeros_like(polynomials)
    for _ in range(degree):
        made ^= np.where(b & 1, a, 0)
        b, a = b >> 1, a << 1
        a ^= np.where(a >> degree & 1, polynomials, 0)
    return made


def _power(exponent: int, polynomials: Array, degree: int) -> Array:
    """Return powers of x, each modulo a polynomial."""
    made = np.ones_like(polynomials)
    factor = _product(np.full_like(polynomials, 2), made, polynomials, degree)
    if degree == 1:
        factor = factor ^ polynomials  # x itself is of the degree
    while exponent:
        if exponent & 1:
            made = _product(made, factor, polynomials, degree)
        factor, exponent = _product(factor, factor, polynomials, degree), exponent >> 1
    return made


def _factors(number: int) -> list[int]:
    """Return the primes that divide a number.

    >>> _factors(63)
    [3, 7]
    """
    found, prime = [], 2
    while number > 1:
        prime = prime if prime * prime <= number else number
        if number % prime == 0:
            found.append(prime)
        while number % prime == 0:
            number //= prime
        prime += 1
    return found


@cache
def primitive(degree: int) -> Array:
    """Return the primitive polynomials of a degree, in order, as bits.

    >>> [bin(x) for x in primitive(3).tolist()]
    ['0b1011', '0b1101']
    """
    made = 1 << degree | np.arange(1 << degree - 1) << 1 | 1
    order = (1 << degree) - 1
    made = made[_power(order, made, degree) == 1]
    for prime in _factors(order):
        made = made[_power(order // prime, made, degree) != 1]
    found: Array = made
    return found


@cache
def _first_numbers() -> Array:
    """Return the bits of all first direction numbers."""
    packed = np.fromfile(Path(__file__).with_name("directions.bin"), np.uint8)
    return np.unpackbits(packed, bitorder="little")


@cache
def _of_degree(degree: int) -> Array:
    """Return the direction numbers of the axes of a degree, one a row."""
    before = 1 + sum(len(primitive(d)) for d in range(1, degree))
    polynomials = primitive(degree)[: MOST - before]
    start = sum(len(primitive(d)) * (d * (d - 1) // 2) for d in range(1, degree))
    shape = len(polynomials), degree * (degree - 1) // 2
    bits = _first_numbers()[start : start + shape[0] * shape[1]].reshape(shape)
    made = np.ones((len(polynomials), DIGITS), np.int64)
    at = 0
    for number in range(1, degree):
        for place in range(number):
            made[:, number] |= bits[:, at].astype(np.int64) << place + 1
            at += 1
    for number in range(degree, DIGITS):
        first = made[:, number - degree]
        made[:, number] = first ^ first << degree
        for back in range(1, degree):
            taken = polynomials >> degree - back & 1
            made[:, number] ^= taken * (made[:, number - back] << back)
    return made


@cache
def directions(count: int) -> Array:
    """Return the direction numbers of the first axes.

    >>> directions(3)[:, :5].tolist()
    [[1, 1, 1, 1, 1], [1, 3, 5, 15, 17], [1, 3, 3, 9, 29]]
    """
    parts, degree = [np.ones((1, DIGITS), np.int64)], 0
    while sum(map(len, parts)) < count:
        degree += 1
        parts.append(_of_degree(degree))
    found: Array = np.concatenate(parts)[:count]
    assert (found < 2 << np.arange(DIGITS)).all(), "each number has as many bits as its place"
    return found


@cache
def _columns(axes: int) -> Array:
    """Return what each digit of a point's number adds to it, axis by axis in rows of digits."""
    shifted = directions(axes) << np.arange(DIGITS - 1, -1, -1)
    return np.ascontiguousarray(shifted.T)


def _points(axes: int, count: int, skip: int) -> Array:
    """Return points as fractions of one.

    >>> _points(2, 3, 0).tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    made = np.empty((count, axes))
    _fill(_columns(axes), np.zeros(axes, np.int64), axes, skip + 1, made)
    return made


@serial
def _fill(columns: I64s, point: I64s, axes: int, number: int, made: F64s) -> int:
    """Write the points from a number on, the first into `point` before: one digit changes each."""
    code = number ^ number >> 1
    for digit in range(DIGITS):
        if code >> digit & 1 == 1:
            for axis in range(axes):
                point[axis] = point[axis] ^ columns[digit * axes + axis]
    for row in range(len(made) // axes):
        for axis in range(axes):
            made[row * axes + axis] = point[axis] * PART
        number += 1
        digit = 0
        while number >> digit & 1 == 0:
            digit += 1
        if digit < DIGITS:
            for axis in range(axes):
                point[axis] = point[axis] ^ columns[digit * axes + axis]
    return number


@remembered
def sobol_sample(
    dim: object,
    num_results: object,
    skip: object = 0,
    dtype: DTypeLike | None = "float32",
    name: str | None = None,
) -> TfTensor:
    """Return points of Sobol's sequence, one a row."""
    row = row_given(dtype)
    if row.numpy not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"sobol_sample: dtype is {row}, expected float32 or float64")
    known = [x if isinstance(x, int) else None for x in (static(num_results), static(dim))]

    def compute(*given: Array) -> Sequence[Array]:
        axes, count, start = (int(x) for x in given)
        for what, number, least in (("dim", axes, 1), ("num_results", count, 1)):
            if number < least:
                raise InvalidArgumentError(f"{what} must be at least one [Op:SobolSample]")
        if axes > MOST:
            raise InvalidArgumentError(f"dim must be at most {MOST} [Op:SobolSample]")
        if start < 0:
            raise InvalidArgumentError("skip must be non-negative [Op:SobolSample]")
        if count + start >= 2**31 - 1:
            raise InvalidArgumentError("num_results+skip must be less than 2147483647")
        return (_points(axes, count, start).astype(row.numpy, copy=False),)

    with InGraph(graph_of([dim, num_results, skip])):
        given = [convert(x, "int32") for x in (dim, num_results, skip)]
        return host("SobolSample", compute, given, [unknown(row, *known)], name=name)[0]
