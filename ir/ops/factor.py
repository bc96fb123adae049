"""Inverses, determinants, solutions of systems and square roots of matrices.

The matrices are the last two axes, the axes before are a batch, and the number of rows must be
known. A processor has kernels of systems and of factors; other code eliminates by Gauss and Jordan
with the largest pivot of each column, one step after another. Floats narrower than f32 are computed
in f32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compose.functions import cut
from ..compose.maker import Maker
from ..facts import KernelForm, Work
from ..families import FLOAT, expect, expect_same, spec_of_value, unbroadcast
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dtypes import DType, bf16, f16, f32, f64, i64
from ..types.numerics import round_to, widen, widened
from ..types.shapes import UnequalError, broadcast
from ..types.tensor import TensorSpec, spec_of_array

_DTYPES = (f32, f64, f16, bf16)
SOLVED = KernelForm("solve", needs=lambda can: can.walk_vectors, slow_needs=lambda can: False)
"""The kernel of systems of equations: processors have it, for floats as wide as it computes in."""


def rows_of(x: TensorSpec) -> int:
    """Return the rows of square matrices, or raise `TypeError`."""
    expect(x, FLOAT)
    if x.rank < 2 or x.dims[-1] != x.dims[-2]:
        message = f"{x}, expected square matrices"
        if x.rank > 1:
            raise UnequalError(message, *x.dims[-2:])
        raise TypeError(message)
    rows = x.dims[-1]
    if not isinstance(rows, int):
        raise TypeError(f"matrices of {rows} rows, expected a known number")
    return rows


LEAST = 512
"""So many multiplications take as long as what numpy does around each triangle of a batch."""
FACTORED = replace(SOLVED, kind="factor")
"""The kernel of triangles of matrices, of determinants and of square roots."""


def cubes(x: TensorSpec) -> int:
    """Return the rows of matrices to the third power, for all of a batch."""
    return prod(x.static_shape) * x.static_shape[-1]


class Factored(Op):
    """What is made of the factors of square matrices."""

    KERNEL: ClassVar = FACTORED
    COMPILED_FIXED: ClassVar = True

    @classmethod
    def multiplied(cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Count an elimination."""
        return cubes(operands[0]) / 3

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count an elimination, or the half of one that is symmetric."""
        return Work.products(cubes(operands[0]) // (6 if cls is Cholesky else 3))


@lru_cache(maxsize=64)
def _in_triangle(rows: int, *, lower: bool) -> Array:
    """Return where a triangle of a square matrix is."""
    every = np.ones((rows, rows), np.bool_)
    return np.tril(every) if lower else np.triu(every)


def _rounded(made: Any, like: Array) -> Sequence[Array]:
    found = np.asarray(made)
    return (found if found.dtype == like.dtype else round_to(found, spec_of_array(like).dtype),)


def eliminate(make: Maker, a: Any, b: Any) -> tuple[Any, list[Any]]:
    """Return the solution of a x = b, and the factors of the determinant of a, in a batch."""
    *batch, n, wide = spec_of_value(b).dims
    dtype: DType = spec_of_value(a).dtype
    assert isinstance(n, int), "the caller knows the rows"
    a = make.broadcast_to(a, shape=(*batch, n, n))
    joined, rank = make.concat(a, b, axis=len(batch) + 1), len(batch) + 2
    shape = (*batch, n, n + wide)
    place = make.iota(shape=(*batch, n, 1), axis=rank - 2, dtype=i64)
    factors = []
    for k in range(n):
        column = make.abs(
            cut(make.emit, cut(make.emit, joined, rank - 1, k, k + 1), rank - 2, k, n)
        )
        best = make.argmax(column, axis=rank - 2, keepdims=True)
        best = make.add(best, make.number(k, i64))
        here = make.equal(place, make.number(k, i64))
        source = make.select(make.equal(place, best), make.number(k, i64), place)
        source = make.broadcast_to(make.select(here, best, source), shape=shape)
        joined = make.gather_elements(joined, source, axis=rank - 2)
        column = cut(make.emit, joined, rank - 1, k, k + 1)
        row = cut(make.emit, joined, rank - 2, k, k + 1)
        pivot = cut(make.emit, column, rank - 2, k, k + 1)
        factor = make.sub(column, make.cast(here, dtype=dtype))
        joined = make.sub(joined, make.mul(factor, make.div(row, pivot)))
        moved = make.equal(best, make.number(k, i64))
        signed = make.select(moved, pivot, make.neg(pivot))
        factors.append(make.reshape(signed, shape=tuple(batch)))
    return cut(make.emit, joined, rank - 1, n, n + wide), factors


def _factors(call: Call) -> tuple[Maker, DType, list[Any]]:
    """Return the factors of the determinants of an operation's matrices, and their type."""
    make, spec = Maker(call.emit), call.specs[0]
    nothing = make.filled(0, spec.dtype, (*spec.dims[:-1], 1))
    return make, spec.dtype, eliminate(make, call.operands[0], nothing)[1]


def _in_f32(call: Call) -> tuple[Any, ...]:
    """Return the results of an operation on narrower floats, computed in f32."""
    make, dtype = Maker(call.emit), call.specs[0].dtype
    made = make.emit(call.op, make.to(call.operands[0], widened(dtype)), **call.attributes)
    return tuple(make.to(x, dtype) for x in (made if len(call.result_specs) > 1 else (made,)))


def _identity(make: Maker, x: TensorSpec, dtype: DType) -> Any:
    one = make.constant(value=np.eye(rows_of(x)).astype(dtype.numpy))
    return make.broadcast_to(one, shape=x.dims)


def _transposed(make: Maker, x: Any) -> Any:
    rank = spec_of_value(x).rank
    return make.transpose(x, order=(*range(rank - 2), rank - 1, rank - 2))


def refuse_nan(x: Array) -> None:
    """Raise `LinAlgError` where the first pivot of a matrix is NaN, which is not above 0.

    Later ones are looked for among numbers.
    """
    if not x.size:
        return
    if np.isnan(x[..., 0, 0]).any() if x.ndim > 2 else x.item(0) != x.item(0):
        raise np.linalg.LinAlgError("Input is not invertible.")


def solved(a: Array, b: Array) -> Array:
    """Return the solution x of a x = b, or raise `LinAlgError` where there is not one."""
    if not b.shape[-1]:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return np.empty((*batch, *b.shape[-2:]), b.dtype)
    refuse_nan(a)
    made: Array = np.linalg.solve(a, b)
    return made


def inverted(x: Array) -> Array:
    """Return the inverse of matrices, or raise `LinAlgError` where there is none."""
    refuse_nan(x)
    made: Array = np.linalg.inv(x)
    return made


def solved_triangle(triangle: Array, b: Array, *, lower: bool) -> Array:
    """Return the solution x of t x = b for a triangle t that has zeros beside it.

    LAPACK's, unless something is not finite: then what substitution gives, as of a diagonal's zero.
    """
    try:
        made: Array = np.linalg.solve(triangle, b)
    except np.linalg.LinAlgError:
        return _substituted(triangle, b, lower=lower)
    if np.isfinite(made).all() and np.isfinite(triangle).all():
        return made
    return _substituted(triangle, b, lower=lower)


def _substituted(triangle: Array, b: Array, *, lower: bool) -> Array:
    """Solve row by row: a row is divided by its element of the diagonal, and taken from others."""
    n = triangle.shape[-1]
    batch = np.broadcast_shapes(triangle.shape[:-2], b.shape[:-2])
    made = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])))
    with np.errstate(all="ignore"):
        for i in range(n) if lower else reversed(range(n)):
            made[..., i, :] /= triangle[..., i, i, None]
            rest = slice(i + 1, n) if lower else slice(0, i)
            made[..., rest, :] -= triangle[..., rest, i, None] * made[..., i, None, :]
    return made


def refuse_singular(op: type[Op], result: Array, operands: Sequence[Array], flags: Any) -> None:
    """Raise `LinAlgError` where a division by a pivot of zero shows in a solution."""
    if not np.isfinite(result).all():
        op.evaluate(*operands, **flags)


def inverse_needs(emit: Any, x: Any) -> Sequence[tuple[Any, str]]:
    """Return what `evaluate` looks for in matrices: no pivot is 0, nor the first element NaN."""
    make, spec = Maker(emit), spec_of_value(x)
    if rows_of(spec) == 0:
        return ()
    sign, _ = make.log_determinant(x)
    starts, stops = (0,) * spec.rank, (*spec.dims[:-2], 1, 1)
    first = make.slice(x, starts=starts, stops=stops, steps=(1,) * spec.rank)
    told = "Input is not invertible."
    return (
        (_everywhere(make, make.not_equal(sign, make.number(0, spec.dtype))), told),
        (_everywhere(make, make.equal(first, first)), told),
    )


def is_finite(emit: Any, result: Any) -> Any:
    """Say whether nothing was divided by a pivot of 0: it would show in a row of the result."""
    make = Maker(emit)
    highest = make.number(np.inf, spec_of_value(result).dtype)
    return _everywhere(make, make.less(make.abs(result), highest))


def _everywhere(make: Maker, truth: Any) -> Any:
    return make.all(make.reshape(truth, shape=(spec_of_value(truth).size,)), axes=(0,))


class OfMatrices(Op):
    """Square matrices made from as many square matrices."""

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        rows_of(x)
        return (x,)


@register
class Inverse(OfMatrices):
    """The inverses of matrices."""

    COMPILED_FIXED: ClassVar = True

    name = "gv.inverse"
    SAMPLES: ClassVar = (
        Sample(((3, 3),), {}, _DTYPES, tolerance=2e-2),
        Sample(((2, 2, 2),), {}, (f32,), low=0.5, high=3.0, tolerance=1e-3),
        Sample(((1, 1),), {}, (f64,), low=0.5),
    )

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Invert."""
        return _rounded(inverted(widen(x)), x)

    @classmethod
    def refuse(cls, result: Array, *operands: Array, **attributes: Any) -> None:
        """Raise `LinAlgError` where a matrix has no inverse."""
        refuse_singular(cls, result, operands, attributes)

    @classmethod
    def needs(cls, emit: Any, *operands: Any, **attributes: Any) -> Sequence[tuple[Any, str]]:
        """Return that matrices have inverses."""
        return inverse_needs(emit, operands[0])

    @classmethod
    def is_well(cls, emit: Any, result: Any) -> Any:
        """Say whether all elements are finite."""
        return is_finite(emit, result)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Solve for the identity."""
        make, dtype = Maker(call.emit), call.specs[0].dtype
        x = make.to(call.operands[0], widened(dtype))
        unit = _identity(make, call.specs[0], widened(dtype))
        return make.to(make.solve(x, unit), dtype)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Multiply by the result, transposed, from both sides."""
        make = Maker(call.emit)
        left = make.matmul(call.results[0], grads[0], transpose_lhs=True)
        return (make.neg(make.matmul(left, call.results[0], transpose_rhs=True)),)


@register
class Determinant(Factored):
    """The determinants of matrices."""

    name = "gv.determinant"
    ONNX: ClassVar = "Det"
    SAMPLES: ClassVar = (
        Sample(((3, 3),), {}, _DTYPES, tolerance=2e-2),
        Sample(((2, 2, 2),), {}, (f32,), low=0.5, high=3.0, tolerance=1e-3),
        Sample(((1, 1),), {}, (f64,), low=0.5),
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the batch axes."""
        rows_of(x)
        return (x.with_shape(x.dims[:-2]),)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Multiply the pivots."""
        return _rounded(np.linalg.det(widen(x)), x)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Multiply the pivots of an elimination, or do it in f32."""
        if call.specs[0].dtype != widened(call.specs[0].dtype):
            return _in_f32(call)[0]
        make, dtype, factors = _factors(call)
        found = make.filled(1, dtype, call.result_specs[0].dims)
        zero = make.number(0, dtype)
        for factor in factors:  # what is computed behind one of 0 does not count
            found = make.select(make.equal(found, zero), zero, make.mul(found, factor))
        return found

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Multiply the determinant by the transposed inverse."""
        make, (x,) = Maker(call.emit), call.operands
        scale = make.mul(grads[0], call.results[0])
        scale = make.reshape(scale, shape=(*call.result_specs[0].dims, 1, 1))
        return (make.mul(scale, _transposed(make, make.inverse(x))),)


@register
class LogDeterminant(Factored):
    """Signs of the determinants of matrices, and logarithms of their absolute values.

    The determinants of large matrices have no floats of their own.
    """

    name = "gv.log_determinant"
    SAMPLES: ClassVar = (
        Sample(((3, 3),), {}, (f32, f64), tolerance=2e-2),
        Sample(((2, 2, 2),), {}, (f32,), low=0.5, high=3.0, tolerance=1e-3),
        Sample(((1, 1),), {}, _DTYPES, low=0.5, tolerance=2e-2),
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the batch axes, twice."""
        rows_of(x)
        return (x.with_shape(x.dims[:-2]),) * 2

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Add up the logarithms of the pivots."""
        sign, size = np.linalg.slogdet(widen(x))
        sign = np.where(np.isnan(size), np.nan, sign)
        return (*_rounded(sign, x), *_rounded(size, x))

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Add up the logarithms of the factors, and multiply their signs.

        What is computed behind a factor of 0 does not count.
        """
        if call.specs[0].dtype != widened(call.specs[0].dtype):
            return _in_f32(call)
        make, dtype, factors = _factors(call)
        dims = call.result_specs[0].dims
        sign, size = make.filled(1, dtype, dims), make.filled(0, dtype, dims)
        zero, none = make.number(0, dtype), make.number(-np.inf, dtype)
        singular = make.equal(sign, zero)
        for factor in factors:
            sign = make.mul(sign, make.sign(factor))
            size = make.add(size, make.log(make.abs(factor)))
            singular = make.logical_or(singular, make.equal(factor, zero))
        sign, size = make.select(singular, zero, sign), make.select(singular, none, size)
        return sign, size

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Multiply the transposed inverse; the sign does not change."""
        make, (x,) = Maker(call.emit), call.operands
        if grads[1] is None:
            return (None,)
        scale = make.reshape(grads[1], shape=(*call.result_specs[1].dims, 1, 1))
        return (make.mul(scale, _transposed(make, make.inverse(x))),)


class Solution(Op):
    """The solutions x of a x = b, where b and x are matrices; batch axes broadcast."""

    KERNEL: ClassVar = SOLVED
    COMPILED_FIXED: ClassVar = True

    @classmethod
    def solution(cls, a: TensorSpec, b: TensorSpec) -> Sequence[TensorSpec]:
        """Return a column for each of the right side's."""
        rows = rows_of(a)
        expect_same(a, b)
        if b.rank < 2 or b.dims[-2] != rows:
            raise TypeError(f"a right side {b}, expected matrices of {rows} rows")
        return (b.with_shape((*broadcast(a.dims[:-2], b.dims[:-2]), *b.dims[-2:])),)

    @classmethod
    def gradients(cls, call: Call, for_a: Any, for_b: Any) -> Sequence[Any]:
        """Return gradients in the shapes of the operands."""
        return (unbroadcast(call, for_a, call.specs[0]), unbroadcast(call, for_b, call.specs[1]))

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count half of a product for each triangle, and a third of the cube for both factors."""
        *batch, rows, columns = results[0].static_shape
        count = prod(batch) * rows * rows
        if cls is TriangularSolve:
            return Work.products(count * columns // 2)
        return Work.products(count * columns + count * rows // 3)

    @classmethod
    def multiplied(cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Count an elimination; for a triangle more, for numpy has nothing that stops at one."""
        *batch, rows, columns = results[0].static_shape
        if cls is TriangularSolve:
            return prod(batch) * max(rows * rows * (rows + columns), LEAST)
        return prod(batch) * rows * rows * (rows / 3 + columns)


@register
class Solve(Solution):
    """The solutions x of a x = b, where b and x are matrices; batch axes broadcast."""

    name = "gv.solve"
    SAMPLES: ClassVar = (
        Sample(((3, 3), (3, 2)), {}, _DTYPES, tolerance=2e-2),
        Sample(((2, 2), (4, 2, 1)), {}, (f32,), low=0.5, high=3.0, tolerance=1e-3),
        Sample(((2, 2, 2), (2, 1)), {}, (f64,), low=0.5, high=3.0),
    )

    @classmethod
    def infer(cls, a: TensorSpec, b: TensorSpec) -> Sequence[TensorSpec]:
        """Return a column for each of the right side's."""
        return cls.solution(a, b)

    @classmethod
    def evaluate(cls, a: Array, b: Array) -> Sequence[Array]:
        """Solve."""
        return _rounded(solved(widen(a), widen(b)), a)

    @classmethod
    def refuse(cls, result: Array, *operands: Array, **attributes: Any) -> None:
        """Raise `LinAlgError` where there is not one solution."""
        refuse_singular(cls, result, operands, attributes)

    @classmethod
    def needs(cls, emit: Any, *operands: Any, **attributes: Any) -> Sequence[tuple[Any, str]]:
        """Return that the matrices have inverses."""
        return inverse_needs(emit, operands[0])

    @classmethod
    def is_well(cls, emit: Any, result: Any) -> Any:
        """Say whether all elements are finite."""
        return is_finite(emit, result)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Eliminate, or solve in f32."""
        make, dtype = Maker(call.emit), call.specs[0].dtype
        a, b = (make.to(x, widened(dtype)) for x in call.operands)
        if dtype != widened(dtype):
            return make.to(make.solve(a, b), dtype)
        b = make.broadcast_to(b, shape=call.result_specs[0].dims)
        return eliminate(make, a, b)[0]

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Solve the transposed system; of the matrix, the outer product with the result."""
        make = Maker(call.emit)
        for_b = make.solve(_transposed(make, call.operands[0]), grads[0])
        for_a = make.neg(make.matmul(for_b, call.results[0], transpose_rhs=True))
        return cls.gradients(call, for_a, for_b)


@register
class TriangularSolve(Solution):
    """The solutions x of t x = b, where t is a triangle of a: the lower one, or the upper one.

    With `transpose`, t is that triangle transposed. The rest of a does not count.
    """

    name = "gv.triangular_solve"
    SAMPLES: ClassVar = (
        Sample(((3, 3), (3, 2)), {}, _DTYPES, low=0.5, high=3.0, tolerance=5e-2),
        Sample(((5, 5), (5, 19)), {"lower": False}, (f32, f64), low=0.5, high=3.0, tolerance=1e-3),
        Sample(((3, 3), (2, 3, 1)), {"transpose": True}, (f32,), low=0.5, high=3.0),
        Sample(((2, 3, 3), (3, 2)), {"lower": False, "transpose": True}, (f64,), low=0.5, high=3.0),
    )

    @classmethod
    def infer(
        cls, a: TensorSpec, b: TensorSpec, *, lower: bool = True, transpose: bool = False
    ) -> Sequence[TensorSpec]:
        """Return a column for each of the right side's."""
        return cls.solution(a, b)

    @classmethod
    def evaluate(cls, a: Array, b: Array, *, lower: bool, transpose: bool) -> Sequence[Array]:
        """Solve for the triangle."""
        kept = np.where(_in_triangle(a.shape[-1], lower=lower), widen(a), 0)
        kept = np.swapaxes(kept, -1, -2) if transpose else kept
        return _rounded(solved_triangle(kept, widen(b), lower=lower != transpose), a)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Solve for the triangle, or for another one in f32."""
        make, (spec, _), flags = Maker(call.emit), call.specs, call.attributes
        a, b = (make.to(x, widened(spec.dtype)) for x in call.operands)
        if spec.dtype != widened(spec.dtype):
            return make.to(make.triangular_solve(a, b, **flags), spec.dtype)
        *batch, n, _ = dims = call.result_specs[0].dims
        a = make.broadcast_to(
            _transposed(make, a) if flags["transpose"] else a, shape=(*batch, n, n)
        )
        return _by_rows(
            make, a, make.broadcast_to(b, shape=dims), flags["lower"] != flags["transpose"]
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Solve the transposed system; of the triangle, the outer product with the result."""
        make, (a, _), lower = Maker(call.emit), call.operands, call.attributes["lower"]
        turned = call.attributes["transpose"]
        for_b = make.triangular_solve(a, grads[0], lower=lower, transpose=not turned)
        pair = (call.results[0], for_b) if turned else (for_b, call.results[0])
        for_a = make.neg(make.matmul(*pair, transpose_rhs=True))
        return cls.gradients(call, _triangle(make, for_a, lower=lower), for_b)


def _by_rows(make: Maker, a: Any, b: Any, lower: bool) -> Any:
    """Solve for a triangle one row after the other."""
    axis, emit = spec_of_value(b).rank - 2, make.emit
    n = rows_of(spec_of_value(a))
    found: list[Any] = []
    for i in range(n) if lower else reversed(range(n)):
        row, total = cut(emit, a, axis, i, i + 1), cut(emit, b, axis, i, i + 1)
        if found:
            before = cut(emit, row, axis + 1, 0, i) if lower else cut(emit, row, axis + 1, i + 1, n)
            known = make.concat(*found, axis=axis) if len(found) > 1 else found[0]
            total = make.sub(total, make.matmul(before, known))
        made = make.div(total, cut(emit, row, axis + 1, i, i + 1))
        found = [*found, made] if lower else [made, *found]
    return make.concat(*found, axis=axis) if len(found) > 1 else (found or [b])[0]


def _triangle(make: Maker, x: Any, *, lower: bool) -> Any:
    """Return matrices with zeros beside their lower triangle, or the upper one."""
    spec = spec_of_value(x)
    rows = rows_of(spec)
    kept = np.tri(rows, dtype=np.bool_)
    kept = np.broadcast_to(kept if lower else kept.T, (rows, rows))
    return make.select(make.constant(value=np.array(kept)), x, make.number(0, spec.dtype))


def factorised(x: Array) -> Array:
    """Return the lower triangles of matrices, NaN those of matrices that have none."""
    try:
        made: Array = np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        each = map(_cholesky_or_nan, x.reshape(-1, *x.shape[-2:]))
        made = np.stack([*each]).reshape(x.shape)
    return made


def _cholesky_or_nan(x: Array) -> Array:
    """Return the triangle of one matrix, NaN where it has none."""
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(x, math.nan))


@register
class Cholesky(Factored, OfMatrices):
    """The lower triangles whose product with their transposes gives symmetric positive matrices.

    Only the lower part of the operand counts. Where it is of no such matrix, all of a triangle is
    NaN.
    """

    name = "gv.cholesky"
    SAMPLES: ClassVar = (
        Sample(((1, 1),), {}, _DTYPES, low=0.5, high=4.0),
        Sample(((3, 1, 1),), {}, (f32,), low=0.5, high=4.0),
    )

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Factorise."""
        return _rounded(factorised(widen(x)), x)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take one column after another, and its outer product from what is left."""
        make, spec, dtype = Maker(call.emit), call.specs[0], call.specs[0].dtype
        if dtype != widened(dtype):
            return _in_f32(call)[0]
        left, rank, columns = call.operands[0], spec.rank, []
        place = make.iota(shape=(*spec.dims[:-1], 1), axis=rank - 2, dtype=i64)
        for k in range(rows_of(spec)):
            column = cut(call.emit, left, rank - 1, k, k + 1)
            pivot = make.sqrt(cut(call.emit, column, rank - 2, k, k + 1))
            below = make.greater_equal(place, make.number(k, i64))
            column = make.select(below, make.div(column, pivot), make.number(0, dtype))
            columns.append(column)
            left = make.sub(left, make.matmul(column, column, transpose_rhs=True))
        made = make.concat(*columns, axis=rank - 1)
        rows = rows_of(spec)
        last = cut(call.emit, columns[-1], rank - 2, rows - 1, rows)  # NaN behind what is none
        nan = _triangle(make, make.filled(math.nan, dtype, spec.dims), lower=True)
        is_right = make.greater(last, make.number(0, dtype))
        return make.select(is_right, made, nan)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return the symmetric gradient."""
        make, lower = Maker(call.emit), call.results[0]
        dtype, rows = call.specs[0].dtype, rows_of(call.specs[0])
        half = make.constant(value=(np.tri(rows) - 0.5 * np.eye(rows)).astype(dtype.numpy))
        inner = make.mul(make.matmul(lower, grads[0], transpose_lhs=True), half)
        left = make.triangular_solve(lower, inner, lower=True, transpose=True)
        turned = _transposed(make, left)
        whole = make.triangular_solve(lower, turned, lower=True, transpose=True)
        both = make.add(whole, _transposed(make, whole))
        return (make.mul(both, make.number(0.5, dtype)),)
