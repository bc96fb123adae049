"""Arrays as `TensorProto` and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import prod

import numpy as np
from google.protobuf.message import DecodeError

from ...ir.op import Array
from ...ir.types import dtypes as rows
from ..values.run_errors import InvalidArgumentError
from .messages import TensorProto

NUMBERS: dict[str, int] = {
    "f32": 1, "f64": 2, "i32": 3, "u8": 4, "i16": 5, "i8": 6, "string": 7, "c64": 8,
    "i64": 9, "bool": 10, "bf16": 14, "u16": 17, "c128": 18, "f16": 19, "u32": 22, "u64": 23,
    "f8e5m2": 24, "f8e4m3fn": 25, "f8e4m3fnuz": 26, "f8e5m2fnuz": 28,
    "i4": 29, "u4": 30, "i2": 31, "u2": 32,
}  # fmt: skip
"""The numbers of element types by their names."""

FIELDS: dict[int, str] = {
    1: "float_val", 2: "double_val", 3: "int_val", 4: "int_val", 5: "int_val", 6: "int_val",
    7: "string_val", 8: "scomplex_val", 9: "int64_val", 10: "bool_val", 14: "half_val",
    17: "int_val", 18: "dcomplex_val", 19: "half_val", 22: "uint32_val", 23: "uint64_val",
    **dict.fromkeys((24, 25, 26, 28), "float8_val"), **dict.fromkeys((29, 30, 31, 32), "int_val"),
}  # fmt: skip


MOST = 1 << 36
"""A message that claims more elements is damaged."""


@cache
def numpy_types() -> dict[int, np.dtype[np.generic]]:
    """Return numpy's types by the numbers."""
    made = {NUMBERS[str(row)]: row.numpy for row in rows.DTYPES.values() if str(row) in NUMBERS}
    return {**made, 7: np.dtype(object)}


@cache
def number_of(dtype: np.dtype[np.generic]) -> int:
    """Return the number of an element type of numpy's, or raise `InvalidArgumentError`."""
    for number, known in numpy_types().items():
        if known == dtype:
            return number
    raise InvalidArgumentError(f"elements of {dtype} have no form as a tensor message")


def to_message(array: Array) -> TensorProto:
    """Return an array as a message."""
    made = TensorProto(dtype=number_of(array.dtype))
    for extent in array.shape:
        made.tensor_shape.dim.add(size=extent)
    if array.dtype.kind == "O":
        made.string_val.extend(array.ravel().tolist())
    else:
        made.tensor_content = np.asarray(array, order="C").tobytes()
    return made


CONTENT = b"\x22"
"""What stands before the bytes of elements in a message: the field's number and kind."""
SHAPE, NUMBER = 0x12, 0x08
"""What stands before a shape, and before the number of an element type."""


def to_bytes(array: Array) -> bytes:
    """Return an array as the bytes of a message; its elements are copied once."""
    if array.dtype.kind == "O":
        made: bytes = to_message(array).SerializeToString()
        return made
    elements = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return b"".join((head(array.dtype, array.shape), elements.data))


@lru_cache(1 << 12)
def head(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> bytes:
    """Return what stands before the elements in a message: all of it, where there are none."""
    made = TensorProto(dtype=number_of(dtype))
    for extent in shape:
        made.tensor_shape.dim.add(size=extent)
    start: bytes = made.SerializeToString()
    size = prod(shape) * dtype.itemsize
    return start + CONTENT + _written(size) if size else start


def _written(number: int) -> bytes:
    """Return a number as messages have it: seven bits a byte, the lowest first.

    >>> _written(300).hex()
    'ac02'
    """
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def from_bytes(data: bytes) -> Array | None:
    """Return the array of a message in the form that `to_bytes` writes; None: it has another one.

    >>> from_bytes(to_bytes(np.array([[1.5, 2]]))), from_bytes(b"")
    (array([[1.5, 2. ]]), None)
    """
    if len(data) < SHORTEST or data[0] != NUMBER or data[1] > 127:
        return None
    end = 2
    if data[2] == SHAPE:
        end = 4 + data[3]
        if data[3] > 127 or len(data) <= end + 1:
            return None
    if data[end] != CONTENT[0]:
        return None
    form = _form(data[:end])
    if form is None:
        return None
    dtype, shape = form
    start = head(dtype, shape)
    count = prod(shape)
    if not data.startswith(start) or len(data) != len(start) + count * dtype.itemsize:
        return None
    return np.frombuffer(data, dtype, count, len(start)).reshape(shape).copy()


SHORTEST = 4
"""A message with elements has so many bytes at least."""


@lru_cache(1 << 12)
def _form(start: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...]] | None:
    """Return the element type and the shape that a message begins with; None: they are no such."""
    try:
        message = TensorProto.FromString(start)
    except DecodeError:
        return None
    dtype = numpy_types().get(message.dtype)
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if dtype is None or dtype.kind == "O" or min(shape, default=1) < 1 or prod(shape) > MOST:
        return None
    return dtype, shape


def from_message(message: TensorProto) -> Array:
    """Return the array of a message; the last value stands for all that are left out."""
    dtype = numpy_types().get(message.dtype)
    if dtype is None:
        raise InvalidArgumentError(f"a tensor message with elements of type {message.dtype}")
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    count = prod(shape)
    if min(shape, default=0) < 0 or count > MOST:
        raise InvalidArgumentError(f"a tensor message of shape {shape}")
    if message.tensor_content:
        if len(message.tensor_content) != count * dtype.itemsize:
            raise InvalidArgumentError(
                f"a tensor message of {len(message.tensor_content)} bytes, expected "
                f"{count * dtype.itemsize} for shape {shape}"
            )
        return np.frombuffer(message.tensor_content, dtype).reshape(shape).copy()
    listed = getattr(message, FIELDS[message.dtype])
    if isinstance(listed, bytes):
        return _listed(np.frombuffer(listed, dtype), dtype, count).reshape(shape)
    return _listed(list(listed), dtype, count).reshape(shape)


def _listed(values: Sequence[object] | Array, dtype: np.dtype[np.generic], count: int) -> Array:
    made = np.zeros(count, dtype)
    if dtype.kind == "O":
        made[:] = b""
    if not len(values):
        return made
    if dtype.itemsize == 2 and dtype.kind in "fV":
        found = np.asarray(values, np.uint16).view(dtype)
    elif dtype.kind == "c":
        found = np.asarray(values, np.float64).view(np.complex128).astype(dtype)
    elif dtype.kind == "O":
        found = np.empty(len(values), object)
        found[:] = values
    else:
        found = np.asarray(values).astype(dtype)
    made[: len(found)] = found
    made[len(found) :] = found[-1]
    return made
