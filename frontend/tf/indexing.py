"""Indexing of tensors: numbers, slices, new axes, and numbers that are known only when run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.compositions import Maker
from ...ir.dims import floor_divide, minimum
from ...ir.ops.families import spec_of_value
from ..abstract import is_unknown
from ..planned import remembered
from ..slices import FAR, Knowledge, bounds
from .calls import perform, rule
from .core import OPERATORS
from .values import InGraph, InvalidShapesError, convert, graph_of


@rule("StridedSlice", label="strided_slice")
def _strided_slice(m: Maker, x: Any, *given: Any, keys: tuple[Any, ...]) -> Any:
    if any(map(is_unknown, given)) and not any(isinstance(k, slice) and holds(k) for k in keys):
        return _index(m, x, tuple(0 if k == TENSOR else k for k in keys))  # of the same shape
    rest = iter(given)

    def ready(key: Any) -> Any:
        if isinstance(key, slice):
            return slice(*map(ready, (key.start, key.stop, key.step)))
        return int(np.asarray(next(rest))) if key == TENSOR else key

    return _index(m, x, tuple(map(ready, keys)))


def holds(key: slice) -> bool:
    """Say whether a bound of a slice is an operand."""
    return TENSOR in (key.start, key.stop, key.step)


@remembered
def _getitem(x: Any, key: Any) -> Any:
    """Index a tensor."""
    keys = tuple(key) if isinstance(key, tuple | list) else (key,)
    parts = [
        part for k in keys for part in ((k.start, k.stop, k.step) if isinstance(k, slice) else (k,))
    ]
    tensors = [part for part in parts if _is_tensor(part)]
    if sum(k is Ellipsis for k in keys) > 1:
        raise InvalidShapesError("Multiple ellipses in slice spec not allowed [Op:StridedSlice]")
    ranked = [t for t in tensors if t.spec.shape and len(keys) and not _is_mask(t)]
    if ranked:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {ranked[0]!r}"
        )
    if any(k is True or k is False for k in keys):
        raise ValueError("mask cannot be scalar.")
    if not keys or (len(keys) == 1 and _is_mask(keys[0])):
        return _masked(x, keys[0] if keys else Ellipsis)
    with InGraph(graph_of([x, *tensors])):
        given = [convert(x), *map(convert, tensors)]
        return perform("StridedSlice", given, keys=tuple(map(_fixed, keys)))


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "spec")


def _is_mask(key: Any) -> bool:
    return _is_tensor(key) and key.dtype.name == "bool"


def _masked(x: Any, key: Any) -> Any:
    from .array_ops import boolean_mask  # noqa: PLC0415

    return convert(x) if key is Ellipsis else boolean_mask(x, key)


TENSOR = "tensor"
"""Stands in keys for a number that is an operand."""


def _fixed(key: Any) -> Any:
    if isinstance(key, slice):
        return slice(*(None if v is None else _fixed(v) for v in (key.start, key.stop, key.step)))
    if _is_tensor(key):
        return TENSOR
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, int | np.integer):
        return int(key)
    if isinstance(key, np.ndarray) and key.ndim == 0 and key.dtype.kind in "iu":
        return int(key)
    raise TypeError(
        f"Only integers, slices, ellipsis and scalar tensors are valid indices, got {key!r}"
    )


def _index(m: Maker, x: Any, keys: tuple[Any, ...]) -> Any:
    dims = spec_of_value(x).dims
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > len(dims):
        raise TypeError(f"Index out of range: {taken} indices for rank {len(dims)}")
    if not any(k is Ellipsis for k in keys):
        keys = (*keys, Ellipsis)
    at = [k is Ellipsis for k in keys].index(True)
    keys = (
        *keys[:at],
        *[slice(None)] * (len(dims) - taken),
        *[k for k in keys[at + 1 :] if k is not Ellipsis],
    )
    rows_: list[tuple[Any, Any, Any]] = []
    shape_: list[Any] = []
    axis = 0
    for k in keys:
        if k is None:
            shape_.append(1)
            continue
        extent = dims[axis]
        axis += 1
        if isinstance(k, int):
            if isinstance(extent, int) and not -extent <= k < extent:
                raise TypeError(f"slice index {k} of dimension {axis - 1} out of bounds.")
            start = k + extent if k < 0 else k
            rows_.append((start, start + 1, 1))
        else:
            row, length = _range(k, extent)
            rows_.append(row)
            shape_.append(length)
    if not rows_:
        return m.reshape(x, shape=tuple(shape_))
    starts, stops, steps = zip(*rows_, strict=True)
    cut = m.slice(x, starts=starts, stops=stops, steps=steps)
    return m.reshape(cut, shape=tuple(shape_))


def _range(key: slice, extent: Any) -> tuple[tuple[Any, Any, Any], Any]:
    step = key.step or 1
    if isinstance(extent, int):
        start, stop, step = key.indices(extent)
        length = len(range(start, stop, step))
        if step < 0 and stop < 0:
            stop = -1 - extent
        if not length:
            start, stop, step = 0, 0, 1
        return (start, stop, step), length
    low, high, step = bounds(_end(key.start, extent, step), _end(key.stop, extent, -step), step,
                             extent, Knowledge())  # fmt: skip
    end: Any = -1 if step < 0 and key.stop is None else high
    length = end - low + step - 1 if step > 0 else low - end - step - 1
    return (low, high, step), floor_divide(length, abs(step))


def _end(value: int | None, extent: Any, way: int) -> Any:
    """Return a bound of a slice; None is the end that is behind one who goes this way."""
    if value is None:
        return -FAR if way > 0 else FAR
    return extent - minimum(-value, extent) if value < 0 else value


OPERATORS["getitem"] = _getitem
