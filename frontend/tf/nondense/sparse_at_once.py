"""What is computed of sparse tensors whose elements are there, with as few steps as there can be.

`sparse_math` and `sparse_dense` say the same of tensors of graphs, and of those that are recorded,
in operations that have gradients; the bits are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from ....codegen import single
from ....ir.compose.maker import Emit, Maker
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse
from ....ir.types.dtypes import DType, of_numpy
from ....ir.types.tensor import TensorSpec
from ...eager.kernels import Kernel, by_need
from ...eager.tensor import Tensor, apply
from ...values.context import STATE
from ..core.bridge import TfTensor, wrap
from .numbering import (
    different,
    is_inside,
    is_put_in_a_loop,
    numbers_inside,
    numbers_rising,
    put_rising,
)

M = Maker(apply)


def are_here(tensors: Sequence[TfTensor]) -> bool:
    """Say whether numpy computes on tensors at once, and nobody records or notes it."""
    return not STATE.busy and all(x.direct for x in tensors)


def taken_here(values: TfTensor, place: Array | None) -> TfTensor:
    """Return the elements at some places; None: all of them as they stand."""
    return values if place is None else wrap(values._array.take(place))


def summed(values: Array, at: Array, count: int) -> Array:
    """Return slices added up, in order, by their numbers among so many."""
    zeros = Tensor(np.zeros((count, *values.shape[1:]), values.dtype))
    if not len(at):
        return zeros._array
    made: Tensor = M.scatter_nd(zeros, Tensor(at[:, None]), Tensor(values), reduction="add")
    return made._array


def added_to(sparse: Sequence[Array], other: Array) -> Array | None:
    """Return an array with elements added to those at their places; None: they do not fit."""
    indices, values, sizes = sparse
    fits = other.dtype == values.dtype and other.dtype.kind in REDUCED and other.ndim
    if not fits or tuple(sizes.tolist()) != other.shape or not len(values):
        return None
    if not is_inside(indices, other.shape):
        return None
    made: Tensor = M.scatter_nd(Tensor(other), Tensor(indices), Tensor(values), reduction="add")
    return made._array


REDUCED = "fiu"
"""The kinds of elements that are reduced in a row of results."""


@dataclass(frozen=True)
class Left:
    """What lies along the axes that a reduction of a sparse tensor leaves."""

    number: Array
    """Where each element goes among all results."""
    ends: list[int]
    """The sizes of the axes that are left."""
    shape: list[int]
    """The shape of the results, with axes of one element if those are kept."""


def left_of(sparse: Sequence[Array], axis: object, *, keeps: bool) -> Left | None:
    """Return what a reduction leaves; None: that is refused, or done by the way of graphs."""
    indices, values, dims = sparse
    sizes: list[int] = dims.tolist()
    rank = len(sizes)
    axes = [axis] if isinstance(axis, int) else axis
    if not isinstance(axes, list | tuple) or not axes or values.dtype.kind not in REDUCED:
        return None
    if not all(isinstance(x, int) and -rank <= x < rank for x in axes):
        return None
    left = [k for k in range(rank) if k not in axes and k - rank not in axes]
    ends = [sizes[k] for k in left]
    if not left or min(ends) < 0:
        return None
    number = numbers_inside(indices, ends, left)
    if number is None:
        return None
    return Left(
        number, ends, [n if k in left else 1 for k, n in enumerate(sizes)] if keeps else ends
    )


def sums(values: Array, left: Left) -> Array:
    """Return elements added up along axes."""
    return summed(values, left.number, math.prod(left.ends)).reshape(left.shape)


def largest(values: Array, left: Left) -> Array:
    """Return the largest elements along axes, zero where there are none."""
    count, row = math.prod(left.ends), of_numpy(values.dtype)
    made = np.zeros(count, values.dtype)
    if len(values):
        low = np.full(count, -np.inf if row.is_float else row.minimum, values.dtype)
        at = Tensor(left.number[:, None])
        found: Tensor = M.scatter_nd(Tensor(low), at, Tensor(values), reduction="max")
        there = np.zeros(count, bool)
        there[left.number] = True
        np.copyto(made, found._array, where=there)
    return made.reshape(left.shape)


def dense(
    indices: Array, sizes: Sequence[int], values: Array, rest: Array, *, validates: bool
) -> Array | None:
    """Return values at their places and another one elsewhere; None: the places are wrong."""
    if validates and is_put_in_a_loop(indices, values, sizes):
        made = _filled(sizes, rest, values.dtype)
        return made if put_rising(indices, values, made) else None
    number = (numbers_rising if validates else numbers_inside)(indices, sizes)
    if number is None:
        return None
    made = _filled(sizes, rest, values.dtype)
    made.reshape(-1)[number] = values
    return made


def _filled(sizes: Sequence[int], rest: Array, dtype: np.dtype[np.generic]) -> Array:
    is_zero = rest.dtype != object and not any(rest.tobytes())
    return np.zeros(sizes, dtype) if is_zero else np.full(sizes, rest, dtype)


def shares(indices: Array, values: Array) -> Array:
    """Return the powers of values over their sum, of those whose places differ in the last axis."""
    if not len(values):
        return values
    group = different(indices[:, :-1])[1]
    x, at, count = Tensor(values), Tensor(group[:, None]), int(group.max()) + 1
    low = Tensor(np.full(count, -np.inf, values.dtype))
    top: Tensor = M.scatter_nd(low, at, x, reduction="max")
    powers: Tensor = M.exp(M.sub(x, Tensor(top._array.take(group))))
    total = summed(powers._array, group, count)
    made: Tensor = M.div(powers, Tensor(total.take(group)))
    return made._array


MULTIPLIED = (rows.f32, rows.f64, rows.i32, rows.i64)
"""The element types of sparse matrices that are multiplied without a matrix of all products."""


def product(sparse: Sequence[Array], other: Array, turns: bool, turns_other: bool) -> Array | None:
    """Return a sparse matrix times a whole one; None: they do not fit, or it is not done so."""
    indices, values, sizes = sparse
    row = of_numpy(values.dtype) if values.dtype != object else None
    if row not in MULTIPLIED or other.dtype != values.dtype or other.ndim != 2 or len(sizes) != 2:
        return None
    factor = np.ascontiguousarray(other.T if turns_other else other)
    first, second = (1, 0) if turns else (0, 1)
    height, inner = int(sizes[first]), int(sizes[second])
    if inner != len(factor) or not (height and len(values) and factor.size):
        return None
    if not is_inside(indices, sizes.tolist()):
        return None
    to, of = indices[:, first].copy(), indices[:, second].copy()
    made: Array = _products(row)(to, of, values, factor, np.empty(height, bool))
    return made


@cache
def _products(row: DType) -> Kernel:
    """Return what adds products up; the last operand has as many elements as the result rows."""
    n, k, height, width = map(parse, ("N", "K", "M", "C"))
    specs = [
        *[TensorSpec(rows.i64, (n,))] * 2,
        TensorSpec(row, (n,)),
        TensorSpec(row, (k, width)),
        TensorSpec(rows.bool_, (height,)),
    ]

    def build(
        emit: Emit, to: object, of: object, values: object, factor: object, _: object
    ) -> object:
        m = Maker(emit)
        each = m.mul(m.reshape(values, shape=(n, 1)), m.gather(factor, of, axis=0))
        zeros = m.filled(0, row, (height, width))
        return m.scatter_nd(zeros, m.reshape(to, shape=(n, 1)), each, reduction="add")

    def by_numpy(to: Array, of: Array, values: Array, factor: Array, rows_: Array) -> Array:
        return summed(values[:, None] * factor[of], to, len(rows_))

    ranges = dict.fromkeys("NKMC", (1, 1 << 31))
    return by_need(by_numpy, partial(single.of_sizes, build, specs, ranges))


def sides(
    one: Array, other: Array, to_one: Array, to_other: Array, count: int
) -> tuple[Array, Array]:
    """Return the elements of both of two lists at the places of either, 0 where there is none."""
    if len(one) == len(other) == count:
        return one, other  # all places are those of both
    first, second = np.zeros(count, one.dtype), np.zeros(count, other.dtype)
    first[to_one], second[to_other] = one, other
    return first, second
