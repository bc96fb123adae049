"""Matrices as products of triangles, their rows in another order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose.functions import cut
from ..compose.maker import Maker
from ..families import spec_of_value
from ..op import Array, Call, register
from ..samples import Sample
from ..types import numerics
from ..types.dtypes import bf16, f16, f32, f64, i64
from ..types.numerics import round_to, widen, widened
from ..types.tensor import TensorSpec, spec_of_array
from .factor import Factored, rows_of

STEPS = 4
"""So many multiplications of numpy's functions take as long as one of an elimination in steps."""


def steps(shape: Sequence[int]) -> float:
    """Return about how often the elimination of matrices multiplies, as numpy counts."""
    return STEPS * math.prod(shape) * shape[-1] / 3


def triangles(a: Array) -> tuple[Array, Array]:
    """Return both triangles in one matrix, and which row of the matrix each of its rows is.

    A number is a better pivot than a NaN below it. What is behind a pivot of zero is NaN.
    """
    n, count = a.shape[-1], math.prod(a.shape[:-2])
    with np.errstate(all="ignore"):
        if count == 1:
            made, order = _of_one(np.array(a).reshape(n, n))
            return made.reshape(a.shape), order.reshape(a.shape[:-1])
        made, order = _of_many(np.array(np.moveaxis(a.reshape(count, n, n), 0, -1), order="C"))
        return np.moveaxis(made, -1, 0).reshape(a.shape), order.T.reshape(a.shape[:-1])


def _of_one(made: Array) -> tuple[Array, Array]:
    n, order = len(made), list(range(len(made)))
    over = numerics.complex_divide if made.dtype.kind == "c" else np.divide
    for k in range(n):
        sizes = np.abs(made[k:, k])
        best = int(sizes.argmax())
        if sizes[best] != sizes[best]:
            best = int(_numbered(sizes).argmax())
        if best:
            best += k
            made[[k, best]] = made[[best, k]]
            order[k], order[best] = order[best], order[k]
        made[k + 1 :, k] = factors = over(made[k + 1 :, k], made[k, k])
        made[k + 1 :, k + 1 :] -= factors[:, None] * made[k, k + 1 :]
    return made, np.array(order, np.int64)


def _of_many(made: Array) -> tuple[Array, Array]:
    """Return the same of matrices whose batch is the last axis, which numpy goes over at once."""
    n, _, count = made.shape
    each = np.arange(count)
    order = np.repeat(np.arange(n)[:, None], count, axis=1)
    for k in range(n):
        sizes = np.abs(made[k:, k])
        best = sizes.argmax(axis=0)
        if np.isnan(sizes[best, each]).any():
            best = _numbered(sizes).argmax(axis=0)
        moved = np.flatnonzero(best)
        if len(moved):
            here = best[moved] + k
            for x in (made, order):
                x[k, ..., moved], x[here, ..., moved] = x[here, ..., moved], x[k, ..., moved]
        made[k + 1 :, k] = numerics.divide(made[k + 1 :, k], made[k, k])
        made[k + 1 :, k + 1 :] -= made[k + 1 :, k, None] * made[k, k + 1 :]
    return made, order


def _numbered(sizes: Array) -> Array:
    """Return how good as pivots elements are: NaN in the first place is best, elsewhere worst."""
    made = np.where(np.isnan(sizes), -1, sizes)
    made[0] = np.where(np.isnan(sizes[0]), np.inf, sizes[0])
    return made


@register
class Lu(Factored):
    """Both triangles of matrices in one, and which row of the matrix each of theirs was.

    The ones on the diagonal of the lower triangle are left out. What is behind a pivot of zero is
    NaN.
    """

    name = "gv.lu"
    SAMPLES: ClassVar = (
        Sample(((3, 3),), {}, (f32, f64, f16, bf16), tolerance=2e-2, differentiable=False),
        Sample(((2, 2, 2),), {}, (f32,), low=0.5, tolerance=1e-3, differentiable=False),
        Sample(((1, 1),), {}, (f64,), low=0.5, differentiable=False),
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return matrices, and places of rows."""
        rows_of(x)
        return (x, TensorSpec(i64, x.dims[:-1]))

    @classmethod
    def multiplied(cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Count an elimination in steps that numpy has no function for."""
        return steps(operands[0].static_shape)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Eliminate column by column."""
        made, order = triangles(widen(x))
        return (round_to(made, spec_of_array(x).dtype) if made.dtype != x.dtype else made, order)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Exchange rows and take multiples of one from others, column by column."""
        make, spec = Maker(call.emit), call.specs[0]
        if spec.dtype != widened(spec.dtype):
            made, order = make.lu(make.to(call.operands[0], widened(spec.dtype)))
            return make.to(made, spec.dtype), order
        n, axis = rows_of(spec), spec.rank - 2
        row = make.iota(shape=(*spec.dims[:-1], 1), axis=axis, dtype=i64)
        both, order = call.operands[0], row
        for k in range(n):
            source = _exchanged(make, both, row, k)
            order = make.gather_elements(order, source, axis=axis)
            whole = make.broadcast_to(source, shape=spec.dims)
            both = _taken(make, make.gather_elements(both, whole, axis=axis), row, k)
        return both, make.reshape(order, shape=spec.dims[:-1])


def _exchanged(make: Maker, both: Any, row: Any, k: int) -> Any:
    """Return which row each row is to be: the k-th is the one whose element k is largest."""
    spec = spec_of_value(both)
    axis, at = spec.rank - 2, make.number(k, i64)
    size = make.abs(cut(make.emit, both, axis + 1, k, k + 1))
    is_first = make.equal(row, at)
    unknown = make.select(is_first, make.number(np.inf, spec.dtype), make.number(-1, spec.dtype))
    size = make.select(make.isnan(size), unknown, size)
    best = make.argmax(cut(make.emit, size, axis, k, rows_of(spec)), axis=axis, keepdims=True)
    best = make.add(best, at)
    return make.select(is_first, best, make.select(make.equal(row, best), at, row))


def _taken(make: Maker, both: Any, row: Any, k: int) -> Any:
    """Return matrices in which multiples of row k are taken from those below it."""
    spec = spec_of_value(both)
    axis, at = spec.rank - 2, make.number(k, i64)
    first, column = (cut(make.emit, both, each, k, k + 1) for each in (axis, axis + 1))
    is_below = make.greater(row, at)
    factor = make.div(column, cut(make.emit, first, axis + 1, k, k + 1))
    place = make.iota(shape=(1,) * axis + (1, rows_of(spec)), axis=axis + 1, dtype=i64)
    left = make.sub(both, make.mul(factor, first))
    left = make.select(make.greater(place, at), left, both)
    left = make.select(make.equal(place, at), factor, left)
    return make.select(is_below, left, both)
