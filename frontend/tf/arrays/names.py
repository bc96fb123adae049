"""The namespace `tf.experimental.numpy`."""

from __future__ import annotations

import numpy as np

from ..core.bridge import Common, TfTensor
from ..core.space import Space
from .behaviour import experimental_enable_numpy_behavior
from .elementwise import ELEMENTWISE
from .making import MAKING, random
from .promoting import Value, tensor
from .reducing import REDUCED
from .shaping import SHAPING

TYPES = {
    **{
        name: getattr(np, name)
        for name in (
            *("bool_", "complex128", "complex64", "float16", "float32", "float64", "inexact"),
            *("int16", "int32", "int64", "int8", "object_", "uint16", "uint32", "uint64", "uint8"),
            *("finfo", "iinfo", "issubdtype", "promote_types", "e", "inf", "pi"),
        )
    },
    "complex_": np.complex128,
    "float_": np.float64,
    "int_": np.int64,
    "newaxis": None,
    "string_": np.bytes_,
    "unicode_": np.str_,
}
"""Numpy's own types, and what says something of them."""


def shape(a: Value) -> tuple[int | None, ...]:
    """Return the extents."""
    return tuple(tensor(a).shape.as_list())


def size(x: Value, axis: int | None = None) -> int | None:
    """Return how many elements there are, or how many along an axis."""
    found = tensor(x).shape
    return found.num_elements() if axis is None else found.as_list()[axis]


def isscalar(num: Value) -> bool:
    """Say whether a value is one number."""
    return len(num.shape) == 0 if isinstance(num, Common) else np.isscalar(num)


numpy = Space(
    "experimental.numpy",
    **TYPES,
    **MAKING,
    **ELEMENTWISE,
    **REDUCED,
    **SHAPING,
    experimental_enable_numpy_behavior=experimental_enable_numpy_behavior,
    iscomplexobj=lambda x: tensor(x).dtype.is_complex,
    isrealobj=lambda x: not tensor(x).dtype.is_complex,
    isscalar=isscalar,
    ndarray=TfTensor,
    ndim=lambda a: len(tensor(a).shape),
    random=random,
    shape=shape,
    size=size,
)
