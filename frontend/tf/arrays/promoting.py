"""Values as tensors of one element type, by numpy's rule for promotion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.bridge import Common, TfTensor
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import stack
from ..ops.math_ops import cast

Value = Any
"""A tensor, an array, a number, or lists of them: numpy takes them all."""


def _leading(value: Value) -> Value:
    """Return what numpy asks a value's element type of: Python's numbers and lists give way."""
    if isinstance(value, Common):
        return value.dtype.as_numpy_dtype
    if isinstance(value, bool | np.ndarray | np.generic):
        return np.asarray(value).dtype
    if isinstance(value, list | tuple):
        leaves = [_leading(each) for each in _leaves(value)]
        strong = [each for each in leaves if isinstance(each, np.dtype | type)]
        return np.result_type(*leaves or [1.0]) if strong or not leaves else sum(leaves)
    return value if isinstance(value, int | float | complex) else np.asarray(value).dtype


def _leaves(value: Value) -> list[Value]:
    if not isinstance(value, list | tuple):
        return [value]
    return [leaf for each in value for leaf in _leaves(each)]


def result_type(*values: Value) -> np.dtype[Any]:
    """Return the element type that values have together."""
    given = [v if isinstance(v, type | np.dtype) else _leading(v) for v in values]
    found = np.result_type(*given)
    if PREFERRED["float32"] and found == np.float64 and not any(map(_is_double, given)):
        return np.dtype(np.float32)
    return found


def _is_double(value: Value) -> bool:
    """Say whether an element type is one of double precision that was asked for."""
    return isinstance(value, np.dtype | type) and np.dtype(value) == np.float64


PREFERRED = {"float32": False}
"""Whether Python's numbers are taken as float32."""


def as_type(value: Value, dtype: Any) -> TfTensor:
    """Return a value as a tensor of an element type."""
    if isinstance(value, list | tuple) and any(isinstance(x, Common) for x in _leaves(value)):
        return stack([as_type(each, dtype) for each in value])
    kind = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))  # (`float` is numpy's, of 64 bits)
    if isinstance(value, Common):
        return cast(convert(value), kind)
    return convert(np.asarray(value).astype(kind))


def tensor(value: Value) -> TfTensor:
    """Return a value as a tensor, of the type that numpy would give it."""
    return as_type(value, result_type(value))


def promoted(*values: Value) -> list[TfTensor]:
    """Return values as tensors of the element type that they have together."""
    kind = result_type(*values)
    return [as_type(value, kind) for value in values]


def floating(value: Value) -> TfTensor:
    """Return a value as a tensor of floating or complex numbers."""
    kind = result_type(value)
    return as_type(value, kind if kind.kind in "fcV" else np.float64)


class Together(InGraph):
    """The graph that values are of, while a function of them is carried out."""

    def __init__(self, *values: Value) -> None:
        super().__init__(graph_of([leaf for value in values for leaf in _leaves(value)]))
