"""Axes resized by taps: which elements each of the result is made of, and of how much.

    x : [.., extent, ..]      =>      sum over t of x[.., index[i, t], ..] * share[i, t]

Known taps are looked up one by one where they are few, or multiplied as a matrix where they are
most of the axis. Where a size is open, the run makes both tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from ...ir import Dim
from ...ir.compose import functions as c
from ...ir.op import Array
from ...ir.ops.resize_matrix import Stretch, taps, weights
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as d
from .node import Node, Value

PRODUCT = 16
"""How many elements of an axis a product takes in the time in which one of a sum is looked up."""
FEW = 16
"""Up to how many taps each is a summand of its own, and not a turn of a loop."""


@dataclass(frozen=True)
class OpenStretch:
    """How one axis is resized of which a size is open: smoothly, and all of it."""

    extent: Dim
    result: Dim
    factor: float | None
    """None where it is what makes the sizes."""
    mode: str
    coordinate: str
    cubic: float
    exclude_outside: bool

    @property
    def reach(self) -> int:
        """Return how far the function of weights reaches, where nothing is made smaller."""
        return 1 if self.mode == "linear" else 2

    @property
    def half(self) -> Dim:
        """Return half of how many taps there are."""
        if self.factor is not None:
            return ceil(self.reach / min(self.factor, 1.0))
        result = dim_rules.maximum(self.result, 1)
        wide = dim_rules.floor_divide(self.extent * self.reach + result - 1, result)
        return dim_rules.maximum(wide, self.reach)


def resized_along(node: Node, x: Value, axis: int, how: Stretch | OpenStretch) -> Value:
    """Resize floats along an axis."""
    if isinstance(how, OpenStretch):
        return _looped(node, x, axis, *_open_taps(node, how))
    indices, shares = taps(how)
    if how.extent <= PRODUCT * indices.shape[1]:
        last = node.rank(x) - 1
        rows = c.move_axis(node.emit, x, axis, last)
        matrix = node.constant(weights(how).T, node.dtype(x))
        return c.move_axis(node.emit, node.make.matmul(rows, matrix), last, axis)
    if indices.shape[1] <= FEW:
        return _summed(node, x, axis, indices, shares)
    dtype = node.dtype(x)
    return _looped(node, x, axis, node.constant(indices, d.i64), node.constant(shares, dtype))


def _summed(node: Node, x: Value, axis: int, indices: Array, shares: Array) -> Value:
    """Add up one tap after the other."""
    make, dtype = node.make, node.dtype(x)
    beside = [1] * (node.rank(x) - 1 - axis)
    total = None
    for index, share in zip(indices.T, shares.T, strict=True):
        found = make.gather(x, node.constant(np.ascontiguousarray(index), d.i64), axis=axis)
        part = make.mul(found, node.constant(share.reshape(-1, *beside), dtype))
        total = part if total is None else make.add(total, part)
    assert total is not None, "no taps"
    return total


def _looped(node: Node, x: Value, axis: int, indices: Value, shares: Value) -> Value:
    """Add up taps in a loop."""
    make = node.make
    beside = [1] * (node.rank(x) - 1 - axis)
    found = make.gather(x, indices, axis=axis)
    by = make.reshape(make.to(shares, node.dtype(x)), shape=(*node.shape(shares), *beside))
    made: Value = make.sum(make.mul(found, by), axes=(axis + 1,))
    return made


def _open_taps(node: Node, how: OpenStretch) -> tuple[Value, Value]:
    """Append what makes the indices and the shares, [result, taps] both.

    Places are computed in 64 bits, which long axes need; from an element near by in 32.
    """
    make, half = node.make, how.half
    at, factor = _places(node, how)
    base = make.sub(make.ceil(at), make.number(1, d.f64))
    offset = make.add(make.iota(shape=(1, half * 2), axis=1, dtype=d.i64), make.extent_of(1 - half))
    share = make.to(make.sub(at, base), d.f32)
    scale = make.to(make.minimum(factor, make.number(1, d.f64)), d.f32)
    distance = make.abs(make.mul(make.sub(make.to(offset, d.f32), share), scale))
    weight = _linear(node, distance) if how.mode == "linear" else _cubic(node, distance, how.cubic)
    index, zero = make.add(make.to(base, d.i64), offset), make.number(0, d.i64)
    end = make.extent_of(how.extent)
    within = make.minimum(make.maximum(index, zero), make.sub(end, make.number(1, d.i64)))
    if how.exclude_outside:
        weight = make.select(make.equal(index, within), weight, make.number(0, d.f32))
    return within, make.div(weight, make.sum(weight, axes=(1,), keepdims=True))


def _places(node: Node, how: OpenStretch) -> tuple[Value, Value]:
    """Append where each element of the result lies, [result, 1], and the factor."""
    make = node.make

    def number(value: float) -> Value:
        made: Value = make.number(value, d.f64)
        return made

    def rounded(value: Value) -> Value:
        made: Value = make.to(make.to(value, d.f32), d.f64)
        return made

    at = make.iota(shape=(how.result, 1), axis=0, dtype=d.f64)
    extent, result = (make.extent_of(each, d.f64) for each in (how.extent, how.result))
    factor = make.div(result, extent) if how.factor is None else number(how.factor)
    wide = result if how.factor is None else make.mul(factor, extent)
    middle = make.div(make.add(at, number(0.5)), factor)
    match how.coordinate:
        case "align_corners":
            steps, one = make.sub(wide, number(1)), number(1)
            found = make.div(make.mul(at, make.sub(extent, one)), steps)
            found = make.select(make.equal(steps, number(0)), number(0), found)
        case "asymmetric":
            found = rounded(make.div(at, factor))
        case "half_pixel_symmetric":
            kept = make.sub(number(1), rounded(make.div(result, wide)))
            start = make.mul(make.mul(extent, number(0.5)), kept)
            found = rounded(make.sub(make.add(start, middle), number(0.5)))
        case "pytorch_half_pixel":
            found = make.sub(rounded(middle), number(0.5))
            found = make.select(make.equal(result, number(1)), number(0), found)
        case _:
            found = make.sub(rounded(middle), number(0.5))
    return found, factor


def _linear(node: Node, distance: Value) -> Value:
    """Append 1 - x, and nothing from 1 on."""
    make = node.make
    less = make.sub(make.number(1, d.f32), distance)
    made: Value = make.maximum(less, make.number(0, d.f32))
    return made


def _cubic(node: Node, distance: Value, a: float) -> Value:
    """Append the two polynomials of a cubic convolution, and nothing from 2 on."""
    make = node.make

    def polynomial(*factors: float) -> Value:
        made = make.number(factors[0], d.f32)
        for factor in factors[1:]:
            made = make.add(make.mul(made, distance), make.number(factor, d.f32))
        return made

    near = polynomial(a + 2, -(a + 3), 0, 1)
    far = polynomial(a, -5 * a, 8 * a, -4 * a)
    beyond = make.less(distance, make.number(2, d.f32))
    outer = make.select(beyond, far, make.number(0, d.f32))
    made: Value = make.select(make.less_equal(distance, make.number(1, d.f32)), near, outer)
    return made
