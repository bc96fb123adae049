"""Values as `TensorProto` messages and back, by TensorFlow's names."""

from __future__ import annotations

from math import prod

import numpy as np

from ....ir.types.dtypes import NARROW, DType
from ....ir.types.tensor import Array
from ...formats.messages import TensorProto
from ...formats.tensors import FIELDS, from_message, number_of
from ...graph.graph import GraphTensor
from ...values.dtypes import DTypeLike
from ..core.bridge import row_of
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import array_of

CONTENT = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)} - {"uint16"}
CONTENT |= {"bfloat16", "float16", "float32", "float64"}
CONTENT |= {row.numpy.name for row in NARROW if row.is_narrow_float}
"""The element types of which more than one element is written as bytes."""


def make_tensor_proto(
    values: object,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """Return values as a message.

    - `values`: numbers or texts of Python's, lists of them, an array, or a computed tensor; a
      message is returned as it is.
    - `dtype`: the element type, which the values must fit (`TypeError`).
    - `shape`: the message's shape; of fewer values the last one stands for all that are left out,
      more are a `ValueError`. With `verify_shape` the values must have it, with `allow_broadcast`
      they must be one or as many (`TypeError`).
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    array = _array(values, row_of(dtype))
    wanted = array.shape if shape is None else tuple(TensorShape(shape).known())
    if shape is not None:
        _check(array, wanted, verify_shape, allow_broadcast)
    made = TensorProto(dtype=number_of(array.dtype))
    made.tensor_shape.SetInParent()
    for extent in wanted:
        made.tensor_shape.dim.add(size=extent)
    if array.dtype.name in CONTENT and array.size > 1 and array.size == prod(wanted):
        made.tensor_content = np.asarray(array, order="C").tobytes()
    elif FIELDS[made.dtype] == "float8_val":
        made.float8_val = array.tobytes()
    else:
        getattr(made, FIELDS[made.dtype]).extend(_listed(array))
    return made


def _array(values: object, row: DType | None) -> Array:
    """Return values as an array of an element type."""
    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, GraphTensor):
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {values!r}")
    plain = values.numpy() if hasattr(values, "numpy") else values
    if isinstance(plain, np.ndarray | np.generic) and row is not None and row.kind != "s":
        return np.asarray(plain).astype(row.numpy)
    return array_of(plain, row)


def _check(array: Array, wanted: tuple[int, ...], exactly: bool, broadcast: bool) -> None:
    """Raise unless an array may stand for one of a shape."""
    one = broadcast and array.shape in ((), (1,))
    differs = broadcast and not one and array.size != prod(wanted)
    if differs or (exactly and array.shape != wanted):
        raise TypeError(f"Expected Tensor's shape: {wanted}, but got {array.shape}.")
    if array.size > prod(wanted):
        raise ValueError(
            f"Too many elements provided. Takes at most {prod(wanted)}, but got {array.size}"
        )


def _listed(array: Array) -> list[object]:
    """Return elements as a message lists them: halves as bits, complex numbers as two."""
    flat = np.asarray(array, order="C").reshape(-1)
    if flat.dtype.itemsize == 2 and flat.dtype.kind in "fV":
        flat = flat.view(np.uint16)
    elif flat.dtype.kind == "c":
        flat = flat.view(np.float32 if flat.dtype.itemsize == 8 else np.float64)
    return list(flat.tolist())


def make_ndarray(tensor: TensorProto) -> Array:
    """Return the array of a message, or raise an error that names what is wrong with it."""
    return from_message(tensor)
