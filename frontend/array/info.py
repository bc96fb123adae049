"""What the array API standard lets a program ask of us: types, their limits, devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from ..eager.tensor import as_tensor
from ..values import dtypes
from ..values.arrays import is_number
from ..values.devices import Device, as_device, devices
from ..values.dtypes import (
    NARROW,
    TYPES,
    DataType,
    DTypeLike,
    as_dtype,
    promote,
    promote_with_number,
)
from ..values.given import DeviceLike, TensorLike

__array_api_version__ = "2024.12"

e, inf, nan, pi, newaxis = np.e, np.inf, np.nan, np.pi, None

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_BEYOND = ("float16", "bfloat16", "string", *(each.name for each in NARROW))
"""The types that the standard does not know."""


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating-point type; of a complex type, of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DataType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DataType


Typed: TypeAlias = "TensorLike | DTypeLike"
"""An element type, or what has one."""


def _type_of(value: Typed) -> DataType:
    return as_tensor(value).dtype if hasattr(value, "shape") else as_dtype(value)


def finfo(type: Typed, /) -> FloatInfo:
    """Return the limits of a floating-point type, or of a tensor's."""
    dtype = _type_of(type)
    if dtype.kind not in "fc":
        raise TypeError(f"element type {dtype}, expected a float")
    limits: Any = ml_dtypes.finfo
    found = limits(dtype.numpy)
    part = as_dtype(np.dtype(found.dtype))
    eps, most, least = float(found.eps), float(found.max), float(found.min)
    return FloatInfo(int(found.bits), eps, most, least, float(found.smallest_normal), part)


def iinfo(type: Typed, /) -> IntegerInfo:
    """Return the limits of an integer type, or of a tensor's."""
    dtype = _type_of(type)
    if dtype.kind not in "iu":
        raise TypeError(f"element type {dtype}, expected an integer")
    return IntegerInfo(dtype.row.bits, dtype.row.maximum, dtype.row.minimum, dtype)


def isdtype(dtype: DTypeLike | None, kind: object) -> bool:
    """Say whether a type is of a kind: `integral`, another type, or one of a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str) and kind not in TYPES:
        if kind not in _KINDS:
            raise ValueError(f"kind {kind!r}, expected one of {', '.join(_KINDS)}")
        return as_dtype(dtype).kind in _KINDS[kind]
    return as_dtype(dtype) is as_dtype(kind)


def can_cast(from_: Typed, to: Typed, /) -> bool:
    """Say whether one type becomes another when they meet."""
    source, target = _type_of(from_), _type_of(to)
    try:
        return promote(source.row, target.row) is target.row
    except TypeError:
        return False


def result_type(*arrays_and_dtypes: Any) -> DataType:
    """Return the type that tensors, types and Python numbers promote to."""
    numbers = [v for v in arrays_and_dtypes if is_number(v)]
    found = [_type_of(v).row for v in arrays_and_dtypes if not is_number(v)]
    if not found:
        if not numbers:
            raise ValueError("nothing to promote, expected at least one tensor or type")
        found = [dtypes.default_of(v).row for v in numbers]
    row = found[0]
    for other in found[1:]:
        row = promote(row, other)
    for number in numbers:
        row = promote_with_number(row, number)
    return as_dtype(row)


class NamespaceInfo:
    """What the namespace offers."""

    def capabilities(self) -> dict[str, object]:
        """Return what depends on the library."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return where tensors are made."""
        return as_device(None)

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, DataType]:
        """Return the types of what is not told one."""
        as_device(device)
        return {
            "real floating": dtypes.float32,
            "complex floating": dtypes.complex64,
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def dtypes(self, *, device: DeviceLike = None, kind: object = None) -> dict[str, DataType]:
        """Return the standard's types of a kind by name."""
        as_device(device)
        known = {name: t for name, t in TYPES.items() if name not in _BEYOND}
        return {name: t for name, t in known.items() if kind is None or isdtype(t, kind)}

    def devices(self) -> list[Device]:
        """Return all devices."""
        return devices()


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  (the standard's name)
    """Return an object that says what the namespace offers."""
    return NamespaceInfo()
