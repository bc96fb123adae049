"""Searching, sorting and set functions of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY, Array
from ...ir.types import dtypes as rows
from ..eager.kernels import host
from ..eager.remembered import remember_all
from ..eager.tensor import Tensor, apply, as_tensor, cast, computed, promoted
from ..values.dtypes import DTypeLike
from ..values.given import TensorLike
from .manipulation import axis_of, broadcast_to, reshape

MAKE: Maker = Maker(apply)


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Tensor
    inverse_indices: Tensor


def _place(name: str, x: TensorLike, axis: int | None, keepdims: bool) -> Tensor:
    x = as_tensor(x)
    rank = x.ndim
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    made: Tensor = apply(
        REGISTRY[f"gv.{name}"], x, axis=axis_of(axis, x.ndim), keepdims=keepdims and x.ndim == rank
    )
    return reshape(made, (1,) * rank) if keepdims and x.ndim != rank else made


def argmax(x: TensorLike, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the place of the largest element, of the first of equal ones."""
    return _place("argmax", x, axis, keepdims)


def argmin(x: TensorLike, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the place of the smallest element, of the first of equal ones."""
    return _place("argmin", x, axis, keepdims)


def nonzero(x: TensorLike, /) -> tuple[Tensor, ...]:
    """Return the indices of elements that are not 0, one tensor an axis (eager only)."""
    x = as_tensor(x)
    if not x.ndim:
        raise ValueError("a tensor without axes, expected at least one")
    made = apply(host("nonzero", np.nonzero), x)
    return made if isinstance(made, tuple) else (made,)


def searchsorted(
    x1: TensorLike, x2: TensorLike, /, *, side: str = "left", sorter: object = None
) -> Tensor:
    """Return where each element of `x2` would be put into the sorted vector `x1`."""
    if side not in ("left", "right"):
        raise ValueError(f"side {side!r}, expected 'left' or 'right'")
    table, values = promoted(as_tensor(x1), as_tensor(x2))
    if sorter is not None:
        table = MAKE.gather(table, as_tensor(sorter), axis=0)
    if computed(table, values):
        made: Tensor = apply(host("searchsorted", np.searchsorted), table, values, side=side)
        return made
    column = reshape(values, (*values.spec.dims, 1))
    before = MAKE.less(table, column) if side == "left" else MAKE.less_equal(table, column)
    counted: Tensor = MAKE.sum(cast(before, rows.i64), axes=(values.ndim,))
    return counted


def sort(
    x: TensorLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Return the elements along an axis in order; always stable."""
    x = as_tensor(x)
    made: Tensor = MAKE.sort(x, axis=axis_of(axis, x.ndim), descending=descending)
    return made


def argsort(
    x: TensorLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Return the indices that sort along an axis; always stable."""
    x = as_tensor(x)
    made: Tensor = MAKE.argsort(x, axis=axis_of(axis, x.ndim), descending=descending)
    return made


def top_k(
    x: TensorLike, k: object, /, *, axis: int = -1, largest: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the k largest (or smallest) elements along an axis, best first, and where they are."""
    x = as_tensor(x)
    values, places = MAKE.top_k(x, k=k, axis=axis_of(axis, x.ndim), largest=largest)
    return values, places


def one_hot(
    indices: TensorLike, depth: object, /, *, axis: int = -1, dtype: DTypeLike | None = None
) -> Tensor:
    """Return for each index a vector of zeros with a one at the index."""
    from ..values.dtypes import as_dtype, float32  # noqa: PLC0415

    at = as_tensor(indices)
    place = axis_of(axis, at.ndim + 1)
    row = as_dtype(float32 if dtype is None else dtype).row
    made: Tensor = MAKE.one_hot(at, depth=depth, axis=place, dtype=row)
    return made


def _unique(x: TensorLike, **wanted: bool) -> tuple[Tensor, ...]:
    made = apply(host("unique", _numpy_unique), as_tensor(x), **wanted)
    return made if isinstance(made, tuple) else (made,)


def _numpy_unique(x: Array, **wanted: bool) -> tuple[Array, ...]:
    """Return numpy's unique values, each NaN by itself, and what else is asked for."""
    unique: Callable[..., Array | tuple[Array, ...]] = np.unique
    made = unique(x, equal_nan=False, **wanted)
    if not isinstance(made, tuple):
        return (made,)
    names = [name for name, asked in wanted.items() if asked]
    parts = list(made[1:])
    if "return_inverse" in names:
        place = names.index("return_inverse")
        parts[place] = parts[place].reshape(x.shape)
    return (made[0], *parts)


def unique_all(x: TensorLike, /) -> UniqueAllResult:
    """Return unique values, where they are first, how to get back, and counts (eager only)."""
    made = _unique(x, return_index=True, return_inverse=True, return_counts=True)
    return UniqueAllResult(*made)


def unique_counts(x: TensorLike, /) -> UniqueCountsResult:
    """Return unique values and how often they occur (eager only)."""
    return UniqueCountsResult(*_unique(x, return_counts=True))


def unique_inverse(x: TensorLike, /) -> UniqueInverseResult:
    """Return unique values and their indices that give the tensor back (eager only)."""
    return UniqueInverseResult(*_unique(x, return_inverse=True))


def unique_values(x: TensorLike, /) -> Tensor:
    """Return unique values (eager only)."""
    return _unique(x)[0]


def isin(x: TensorLike, values: TensorLike, /) -> Tensor:
    """Return for each element whether it is one of some values."""
    x, known = promoted(as_tensor(x), reshape(as_tensor(values), (-1,)))
    column = broadcast_to(reshape(x, (*x.spec.dims, 1)), (*x.spec.dims, 1))
    made: Tensor = MAKE.any(MAKE.equal(column, known), axes=(x.ndim,))
    return made


remember_all(globals())
