"""What callers give to models with host steps, and what they are given back."""

from __future__ import annotations

from collections.abc import Sequence

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
    found = [value for value in values if isinstance(value, np.ndarray)]
    if len(found) < len(values):
        for value in values:
            found += arrays_in(value) if isinstance(value, list) else ()
    return found


def apart(values: Sequence[object], held: list[Array]) -> list[object]:
    """Return results in memory of their own: apart from what is held, and from each other.

    What may not be written is a weight's. `held` grows by what is returned.
    """
    made: list[object] = []
    for value in values:
        if isinstance(value, list):
            made.append(apart(value, held))
        elif isinstance(value, np.ndarray):
            is_own = value.flags.writeable and not shares(value, held)
            held.append(value if is_own else value.copy())
            made.append(held[-1])
        else:
            made.append(value)
    return made


def are_own(values: Sequence[object], held: Sequence[object]) -> bool:
    """Say whether all values are arrays with their own memory, none of which is held: most are."""
    known = {*map(id, held)}
    for value in values:
        if value.__class__ is not np.ndarray or value.base is not None or id(value) in known:
            return False
        if not value.flags.writeable:
            return False
        known.add(id(value))
    return True


def shares(value: Array, held: Sequence[Array]) -> bool:
    """Say whether an array may have memory that another one has; many are whole and their own."""
    for each in held:
        if value is each:
            return True
        if (value.base is not None or each.base is not None) and np.may_share_memory(value, each):
            return True
    return False


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
