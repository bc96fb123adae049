"""Functions that make tensors, of the array API standard.

Eagerly numpy makes them; in a graph they are operations, so that shapes may hold symbols and
nothing large is stored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...ir.compose.functions import triangle
from ...ir.compose.maker import Maker
from ...ir.types import dtypes as rows
from ...ir.types.dims import Dim, DimExpr
from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array
from ..eager.operators import Operators
from ..eager.tensor import Tensor, apply, as_tensor, cast
from ..values.arrays import is_number, to_array
from ..values.context import STATE
from ..values.devices import placing
from ..values.dtypes import DTypeLike, as_dtype, default_of
from ..values.given import DeviceLike, ShapeLike, SupportsDLPack, TensorLike


@placing
def asarray(
    obj: object,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    copy: bool | None = None,
) -> Tensor:
    """Return numbers, lists of them, an array or a tensor as a tensor.

    Memory is shared where that is possible, unless `copy` is true.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, Operators) or (isinstance(obj, list | tuple) and _holds_tensors(obj)):
        tensor = as_tensor(obj)
    else:
        row = None if wanted is None or wanted.kind == "s" else wanted.row
        tensor = Tensor(_array(obj, row))
    made = tensor if wanted is None or wanted.kind == "s" else cast(tensor, wanted.row)
    shares = made.eager and isinstance(obj, Tensor | np.ndarray) and _shares(made, obj)
    if copy is False and not shares and made is not obj:
        raise ValueError("the values cannot be shared, expected copy to be None or True")
    return Tensor(np.array(made.numpy())) if copy and shares else made


def _array(obj: object, row: DType | None) -> Array:
    if isinstance(obj, SupportsDLPack) and not isinstance(obj, np.ndarray | np.generic):
        return from_dlpack(obj).numpy()
    if row is not None and row.is_integer and isinstance(obj, int):
        np.array(obj, row.numpy)  # raises OverflowError
    array = np.asarray(obj) if row is not None and row.kind in "fc" else to_array(obj)
    return to_array(array, row)


def _shares(made: Tensor, obj: Tensor | Array) -> bool:
    array = obj if isinstance(obj, np.ndarray) else obj._array
    return bool(np.may_share_memory(made._array, array)) or not array.size


def _holds_tensors(value: TensorLike) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_tensors, value))
    return isinstance(value, Operators)


@runtime_checkable
class _Viewed(SupportsDLPack, Protocol):
    """A tensor of torch."""

    def view(self, dtype: object) -> SupportsDLPack:
        """Return the same memory as elements of another type."""


@placing
def from_dlpack(
    x: SupportsDLPack, /, *, device: DeviceLike = None, copy: bool | None = None
) -> Tensor:
    """Return the tensor of another library on the same memory."""
    try:
        array = np.from_dlpack(x, copy=copy)
    except (RuntimeError, BufferError):
        torch = sys.modules.get(type(x).__module__)
        named = "bfloat16" in str(getattr(x, "dtype", ""))
        if torch is None or not named or not isinstance(x, _Viewed):
            raise
        array = np.from_dlpack(x.view(torch.uint16), copy=copy).view(rows.bf16.numpy)
    return Tensor(array)


def _shape(shape: ShapeLike) -> tuple[Dim, ...]:
    """Return the sizes that a shape means."""
    if isinstance(shape, DimExpr):
        return (shape,)
    if isinstance(shape, Iterable):
        return tuple(d if isinstance(d, DimExpr) else int(d) for d in shape)
    return (int(shape),)


@placing
def full(
    shape: ShapeLike,
    fill_value: TensorLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Tensor:
    """Return a tensor of one value."""
    value = fill_value
    if dtype is not None:
        row = as_dtype(dtype).row
    else:
        row = default_of(value).row if is_number(value) else as_tensor(value).row
    return _filled(value, row, _shape(shape))


def _filled(value: object, row: DType, shape: tuple[Dim, ...]) -> Tensor:
    static = all(isinstance(d, int) for d in shape)
    if is_number(value) and static and STATE.context is None:
        if row.is_integer and isinstance(value, int):
            np.array(value, row.numpy)  # raises OverflowError
        extents = [int(d) for d in shape if isinstance(d, int)]
        return Tensor(np.full(extents, np.array(value).astype(row.numpy)))
    scalar = cast(as_tensor(value, row), row)
    made: Tensor = Maker(apply).broadcast_to(scalar, shape=shape)
    return made


def zeros(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Tensor:
    """Return a tensor of zeros."""
    return full(shape, 0.0 if dtype is None else 0, dtype=dtype, device=device)


def ones(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Tensor:
    """Return a tensor of ones."""
    return full(shape, 1.0 if dtype is None else 1, dtype=dtype, device=device)


def empty(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Tensor:
    """Return a tensor whose elements are to be overwritten; they are zeros."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(
    x: TensorLike,
    /,
    fill_value: TensorLike,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Tensor:
    """Return a tensor of one value with the shape of another."""
    x = as_tensor(x)
    device = x.device if device is None and x.eager and not x.direct else device
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(
    x: TensorLike, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Tensor:
    """Return zeros with the shape of another tensor."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(
    x: TensorLike, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Tensor:
    """Return ones with the shape of another tensor."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(
    x: TensorLike, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Tensor:
    """Return a tensor to be overwritten, with the shape of another."""
    return zeros_like(x, dtype=dtype, device=device)


@placing
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Tensor:
    """Return start, start + step, ... before stop; with one number, from 0 up to it."""
    low, high = (0, start) if stop is None else (start, stop)
    row = default_of(sum(v * 0 for v in (low, high, step) if is_number(v))).row
    row = row if dtype is None else as_dtype(dtype).row
    if any(isinstance(v, Operators) and not v.eager for v in (low, high, step)):
        raise TypeError("the bounds of arange are tensors of a graph, expected numbers")
    if isinstance(high, DimExpr) or isinstance(low, DimExpr):
        if step != 1:
            raise TypeError(f"step {step}, expected 1 between symbolic bounds")
        return _counted(high - low, low, 1, row)
    low, high, step = (v.item() if isinstance(v, Operators) else v for v in (low, high, step))  # type: ignore[attr-defined]
    if STATE.context is None or not all(isinstance(v, int) for v in (low, high, step)):
        return Tensor(np.arange(low, high, step, dtype=_numpy_of(row)).astype(row.numpy))
    return _counted(len(range(low, high, step)), low, step, row)


def _numpy_of(row: DType) -> np.dtype[np.generic] | None:
    return None if row in (rows.bf16, rows.bool_) else row.numpy


def _counted(size: Dim, low: Dim, step: int, row: DType) -> Tensor:
    """Return `low + i * step` by operations."""
    make = Maker(apply)
    made: Tensor = make.iota(shape=(size,), axis=0, dtype=row)
    made = made if step == 1 else made * step
    return made if isinstance(low, int) and low == 0 else made + make.extent_of(low, row)


@placing
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    endpoint: bool = True,
) -> Tensor:
    """Return evenly spaced numbers from start to stop, with or without the latter."""
    low, high = (as_tensor(v).item() if isinstance(v, Operators) else v for v in (start, stop))
    default = rows.c64 if isinstance(low, complex) or isinstance(high, complex) else rows.f32
    row = default if dtype is None else as_dtype(dtype).row
    return Tensor(np.linspace(low, high, num, endpoint=endpoint).astype(row.numpy))


@placing
def eye(
    n_rows: Dim,
    n_cols: Dim | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Tensor:
    """Return a matrix with ones on a diagonal."""
    row = rows.f32 if dtype is None else as_dtype(dtype).row
    columns = n_rows if n_cols is None else n_cols
    if isinstance(n_rows, int) and isinstance(columns, int) and STATE.context is None:
        return Tensor(np.eye(n_rows, columns, k).astype(row.numpy))
    make = Maker(apply)
    row_index = make.iota(shape=(n_rows, columns), axis=0, dtype=rows.i64)
    column_index = make.iota(shape=(n_rows, columns), axis=1, dtype=rows.i64)
    return cast(make.equal(row_index + k, column_index), row)


def meshgrid(*arrays: TensorLike, indexing: str = "xy") -> list[Tensor]:
    """Return for each vector its elements spread over the grid of all."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing {indexing!r}, expected 'xy' or 'ij'")
    tensors = [as_tensor(x) for x in arrays]
    make, rank = Maker(apply), len(tensors)
    sizes = [x.shape[0] if x.ndim else 1 for x in tensors]
    turned = indexing == "xy" and rank > 1
    order = [1, 0, *range(2, rank)] if turned else list(range(rank))
    shape = tuple(sizes[i] for i in order)
    made = []
    for i, x in enumerate(tensors):
        place = order.index(i)
        column = tuple(sizes[i] if axis == place else 1 for axis in range(rank))
        made.append(make.broadcast_to(make.reshape(x, shape=column), shape=shape))
    return made


def tril(x: TensorLike, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros above a diagonal."""
    made: Tensor = triangle(apply, as_tensor(x), k, upper=False)
    return made


def triu(x: TensorLike, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros below a diagonal."""
    made: Tensor = triangle(apply, as_tensor(x), k, upper=True)
    return made
