"""What callers give to models with host steps, and what they are given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import Array
from ...ir.types.values import OptionalSpec, SequenceSpec, Spec
from ...runtime.arguments import numpy_dtype, to_array
from ...runtime.artifact import TensorInfo
from ...runtime.values import ValueInfo, to_value

OPEN = "any"
"""What stands in a sequence's type for a size that each tensor has for itself."""


def dtype_of(info: TensorInfo) -> np.dtype[np.generic] | None:
    """Return the type that an array of an argument has; None where it takes more to tell."""
    return None if isinstance(info, ValueInfo) else numpy_dtype(info.dtype)


def take(value: object, info: TensorInfo) -> object:
    """Return an argument as code and steps take it, or raise."""
    return to_value(value, info) if isinstance(info, ValueInfo) else to_array(value, info)


def arrays_in(values: Sequence[object]) -> list[Array]:
    """Return all arrays in values, those in sequences too."""
    inner = [each for value in values if isinstance(value, list) for each in arrays_in(value)]
    return [*(value for value in values if isinstance(value, np.ndarray)), *inner]


def apart(value: Any, given: Sequence[Array]) -> object:
    """Return a result in memory of its own, apart from what was given."""
    if isinstance(value, list):
        return [apart(each, given) for each in value]
    if isinstance(value, np.ndarray):
        for each in given:
            if np.may_share_memory(value, each):
                return value.copy()
    return value


def info_of(name: str, spec: Spec) -> TensorInfo:
    """Return what callers are told of an argument or a result."""
    holders, inner = [], spec
    while isinstance(inner, SequenceSpec | OptionalSpec):
        holders.append("sequence" if isinstance(inner, SequenceSpec) else "optional")
        inner = inner.element
    shape = tuple(d if isinstance(d, int) else str(d) for d in inner.shape or ())
    if not holders and not inner.dtype.is_text and inner.shape is not None:
        return TensorInfo(name, inner.dtype.name, shape)
    ranked = inner.shape is not None
    return ValueInfo(name, inner.dtype.name, shape, holders=tuple(holders), is_ranked=ranked)
