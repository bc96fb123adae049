"""Statistical and utility functions of the array API standard: many elements become one."""

from __future__ import annotations

import numpy as np

from ...ir.compose.functions import cut
from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY
from ...ir.types import dtypes as rows
from ..eager.kernels import host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, apply, as_tensor, cast, promoted
from ..values.dtypes import DTypeLike, as_dtype
from ..values.given import TensorLike
from .manipulation import axes_of, axis_of, concat

MAKE: Maker = Maker(apply)
Axis = int | tuple[int, ...] | None


def _reduced(name: str, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes = axes_of(axis, x.ndim)
    if x.row.kind == "c" and name not in ("sum", "prod"):
        options = {"axis": axes, "keepdims": keepdims}
        of_complex: Tensor = apply(host(name, getattr(np, name)), x, **options)
        return of_complex
    made: Tensor = apply(REGISTRY[f"gv.{name}"], x, axes=axes, keepdims=keepdims)
    return made


def _summable(x: TensorLike, dtype: DTypeLike | None) -> Tensor:
    """Return what is summed: small integers as int64 or uint64, unless a type is asked for."""
    x = as_tensor(x)
    if dtype is not None:
        return cast(x, as_dtype(dtype).row)
    wide = {"b": rows.i64, "i": rows.i64, "u": rows.u64}.get(x.row.kind, x.row)
    return cast(x, wide)


def _floating(x: TensorLike) -> Tensor:
    x = as_tensor(x)
    return x if x.row.kind in "fc" else cast(x, rows.f32)


def sum(  # noqa: A001
    x: TensorLike, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Return the sum of elements; small integers are added up as int64."""
    return _reduced("sum", _summable(x, dtype), axis, keepdims)


def prod(
    x: TensorLike, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """Return the product of elements; small integers are multiplied as int64."""
    return _reduced("prod", _summable(x, dtype), axis, keepdims)


def mean(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean of elements."""
    return _reduced("mean", _floating(x), axis, keepdims)


def max(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Return the largest element; NaN if one is NaN."""
    return _reduced("max", as_tensor(x), axis, keepdims)


def min(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Return the smallest element; NaN if one is NaN."""
    return _reduced("min", as_tensor(x), axis, keepdims)


def var(
    x: TensorLike, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Return the mean squared distance from the mean; `correction` lessens what is divided by."""
    x = _floating(x)
    axes = axes_of(axis, x.ndim)
    if x.row.kind == "c":
        options = {"axis": axes, "ddof": correction, "keepdims": keepdims}
        of_complex: Tensor = apply(host("var", np.var), x, **options)
        return of_complex
    centred = x - _reduced("mean", x, axes, keepdims=True)
    squares = centred * centred
    if not correction:
        return _reduced("mean", squares, axes, keepdims)
    count = MAKE.number(-float(correction), x.row)
    for a in axes:
        count = count + MAKE.extent_of(x.shape[a], x.row)
    divided: Tensor = _reduced("sum", squares, axes, keepdims) / MAKE.maximum(
        count, MAKE.number(0.0, x.row)
    )
    return divided


def std(
    x: TensorLike, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Return the root of the variance."""
    made: Tensor = MAKE.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))
    return made


def logsumexp(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return log(sum(exp(x))), without overflow in between."""
    return _reduced("logsumexp", _floating(x), axis, keepdims)


def all(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Return whether all elements hold (are not 0)."""
    return _reduced("all", _held(x), axis, keepdims)


def any(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:  # noqa: A001
    """Return whether one element holds (is not 0)."""
    return _reduced("any", _held(x), axis, keepdims)


def _held(x: TensorLike) -> Tensor:
    return cast(as_tensor(x), rows.bool_)


def count_nonzero(x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return how many elements are not 0."""
    return _reduced("sum", cast(_held(x), rows.i64), axis, keepdims)


def _scanned(
    name: str, x: Tensor, axis: int | None, first: int, *, include_initial: bool
) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"no axis for a tensor of {x.ndim} axes, expected one")
        axis = 0
    place = axis_of(axis, x.ndim)
    if x.row.kind == "c":
        made: Tensor = apply(host(name, getattr(np, name)), x, axis=place)
    else:
        made = apply(REGISTRY[f"gv.{name}"], x, axis=place)
    if not include_initial:
        return made
    shape = (*x.shape[:place], 1, *x.shape[place + 1 :])
    return concat([MAKE.filled(first, made.row, shape), made], axis=place)


def cumulative_sum(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return the sums of the elements up to each; with `include_initial`, 0 before them."""
    return _scanned("cumsum", _summable(x, dtype), axis, 0, include_initial=include_initial)


def cumulative_prod(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Return the products of the elements up to each; with `include_initial`, 1 before them."""
    return _scanned("cumprod", _summable(x, dtype), axis, 1, include_initial=include_initial)


def diff(
    x: TensorLike, /, *, axis: int = -1, n: int = 1, prepend: object = None, append: object = None
) -> Tensor:
    """Return the differences of neighbours along an axis, taken `n` times."""
    x = as_tensor(x)
    place = axis_of(axis, x.ndim)
    parts = [as_tensor(part) for part in (prepend, x, append) if part is not None]
    made: Tensor = concat(promoted(*parts), axis=place) if len(parts) > 1 else x
    subtract = MAKE.not_equal if made.row is rows.bool_ else MAKE.sub
    for _ in range(n):
        extent = made.shape[place]
        if isinstance(extent, int) and extent == 0:
            break
        after = cut(apply, made, place, 1, extent)
        made = subtract(after, cut(apply, made, place, 0, extent - 1))
    return made


remember_all(globals())
