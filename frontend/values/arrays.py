"""What users give as values, as numpy arrays of the types we know; and arrays given to others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array
from . import dtypes


def to_array(value: object, dtype: DType | None = None) -> Array:
    """Return numbers, lists of them, text, arrays and what numpy reads as an array.

    Python numbers get the default types: bool, int64, float32, complex64. Text becomes bytes
    objects. Arrays are not copied.

    >>> to_array([1.0, 2]).dtype, to_array([1, 2]).dtype, to_array(np.float64(1)).dtype
    (dtype('float32'), dtype('int64'), dtype('float64'))
    """
    array = np.asarray(value) if hasattr(value, "__array__") else _of_numbers(value, dtype)
    if array.dtype.kind in "SUO":
        is_typed = hasattr(value, "__array__") and not isinstance(value, bytes | str)
        return _text(array if is_typed else np.asarray(value, object))  # numpy drops last zeros
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if dtype is None else array.astype(dtype.numpy, copy=False)


def _of_numbers(value: object, dtype: DType | None) -> Array:
    array = np.asarray(value)
    if array.dtype.kind == "f" and dtype is None and not _has_types(value):
        return array.astype(dtypes.float32.numpy)
    if array.dtype.kind == "c" and dtype is None and not _has_types(value):
        return array.astype(dtypes.complex64.numpy)
    if array.size == 0 and dtype is None and not _has_types(value):
        return array.astype(dtypes.float32.numpy)
    return array


def is_number(value: object) -> bool:
    """Say whether a value is a Python number, which takes the type of what it meets."""
    return isinstance(value, bool | int | float | complex)


def _has_types(value: object) -> bool:
    """Say whether something in nested lists has an element type of its own."""
    if isinstance(value, list | tuple):
        return any(map(_has_types, value))
    return hasattr(value, "dtype")


def _text(array: Array) -> Array:
    """Return an array of bytes objects, or raise `TypeError`."""
    made = np.empty(array.shape, object)
    for place, each in np.ndenumerate(array):
        if not isinstance(each, str | bytes):
            raise TypeError(f"a value of {type(each).__name__}, expected numbers or text")
        made[place] = each.encode() if isinstance(each, str) else bytes(each)
    return made


def plain(array: Array) -> Array:
    """Return an array that others may be given: with elements in order; not a broadcast one.

    Some readers of DLPack end the process at a negative stride, or write to what is shared.
    """
    if array.flags.c_contiguous and (array.flags.writeable or not array.size):
        return array
    positive = all(s > 0 for s, d in zip(array.strides, array.shape, strict=True) if d > 1)
    return array if positive and array.flags.writeable else np.array(array)


def joined(arrays: Sequence[Array], axis: int, *, is_new: bool) -> Array | None:
    """Return arrays of one type joined along an axis, a new one or theirs; None if they do not fit.

    >>> joined([np.zeros(2), np.ones(2)], 1, is_new=True)
    array([[0., 1.],
           [0., 1.]])
    """
    first = arrays[0]
    rank = first.ndim + is_new
    if not -rank <= axis < rank or any(x.dtype != first.dtype for x in arrays):
        return None
    if any(x.ndim != first.ndim for x in arrays):
        return None
    sizes = [{*each} for each in zip(*[x.shape for x in arrays], strict=True)]
    if any(len(each) > 1 for at, each in enumerate(sizes) if is_new or at != axis % rank):
        return None
    return (np.stack if is_new else np.concatenate)(arrays, axis)


def taken_apart(x: Array, axis: int) -> tuple[Array, ...]:
    """Return the slices along an axis, of elements that are theirs."""
    rows = np.array(np.moveaxis(x, axis, 0), order="C")
    return tuple([rows[i, ...] for i in range(len(rows))])


def as_listed(dims: Sequence[object]) -> str:
    """Return a shape as messages have it.

    >>> as_listed((2, 3))
    '[2,3]'
    """
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"
