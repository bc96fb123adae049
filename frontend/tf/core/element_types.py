"""The element types as TensorFlow shows them: `tf.float32`, which prints `<dtype: 'float32'>`.

Each equals gravure's own of the same name, and stands wherever that does; what hands types out to
programs that use TensorFlow's names hands out these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.types.dtypes import DType
from ...values import dtypes
from ...values.dtypes import DataType

_NUMBERS = {dtype.name: number for number, dtype in dtypes.NUMBERED.items()}


class TfDataType(DataType):
    """An element type in TensorFlow's form."""

    __slots__ = ()

    @property
    def real_dtype(self) -> TfDataType:
        """Return the type of the parts of complex elements, of others the type itself."""
        return TYPES[super().real_dtype.name]

    @property
    def is_quantized(self) -> bool:
        """Say whether elements are quantised numbers: there are no such types."""
        return False

    @property
    def is_numpy_compatible(self) -> bool:
        """Say whether numpy has arrays of the type."""
        return True

    @property
    def as_datatype_enum(self) -> int:
        """Return the number that stands for the type in messages."""
        return _NUMBERS[self.name]

    @property
    def size(self) -> int:
        """Return the bytes of one element, of text 0."""
        return 0 if self.kind == "s" else self.itemsize

    @property
    def max(self) -> Any:
        """Return the largest finite element."""
        return self._end("maximum", 1)

    @property
    def min(self) -> Any:
        """Return the smallest finite element."""
        return self._end("minimum", 0)

    @property
    def limits(self) -> tuple[int, int | np.generic]:
        """Return the range of intensities of images: of floats from 0 to 1."""
        if self.kind in "csn" or self.name in ("float16", "bfloat16"):
            raise ValueError(f"{self} does not have defined limits.")
        return (0, True) if self.is_bool else super().limits

    def _end(self, which: str, place: int) -> int | np.generic:
        if not (self.is_floating or self.is_integer):
            raise TypeError(f"Cannot find {which} value of {self} with type {self}.")
        return self._ends()[place]

    def is_compatible_with(self, other: object) -> bool:
        """Say whether a type is the same."""
        return self == as_dtype(other)

    def is_subtype_of(self, other: object) -> bool:
        """Say whether a type is the same."""
        return self == other

    def most_specific_common_supertype(self, types: Sequence[object]) -> TfDataType | None:
        """Return the type itself if the others are the same, else None."""
        return self if all(self == other for other in types) else None

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        try:
            return not isinstance(other, TfDataType) and as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Callable[[object], TfDataType], tuple[str]]:
        return as_dtype, (self.name,)


TYPES: dict[str, TfDataType] = {
    name: TfDataType(name, t.numpy, None if t is dtypes.string else t.row)
    for name, t in dtypes.TYPES.items()
}
_BY_ROW: dict[DType, TfDataType] = {t.row: t for t in TYPES.values() if t.kind != "s"}
bfloat16 = TYPES["bfloat16"]
bool_ = TYPES["bool"]
complex64 = TYPES["complex64"]
complex128 = TYPES["complex128"]
float16 = TYPES["float16"]
float32 = TYPES["float32"]
float64 = TYPES["float64"]
int8 = TYPES["int8"]
int16 = TYPES["int16"]
int32 = TYPES["int32"]
int64 = TYPES["int64"]
string = TYPES["string"]
uint8 = TYPES["uint8"]
uint16 = TYPES["uint16"]
uint32 = TYPES["uint32"]
uint64 = TYPES["uint64"]


def as_dtype(type_value: object) -> TfDataType:
    """Return the element type that a type object, a numpy type or a name stands for.

    >>> as_dtype("float32"), as_dtype(np.int8), str(as_dtype(np.bool_))
    (tf.float32, tf.int8, "<dtype: 'bool'>")
    """
    if isinstance(type_value, TfDataType):
        return type_value
    if isinstance(type_value, np.dtype) and type_value.kind in "OSU":
        return string
    if (
        isinstance(type_value, type)
        and not issubclass(type_value, np.generic)
        and hasattr(type_value, "dtype")
    ):
        return as_dtype(np.dtype(type_value.dtype))
    try:
        return TYPES[dtypes.as_dtype(type_value).name]
    except TypeError as error:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType. "
            f"{error}"
        ) from None


def of_row(row: DType) -> TfDataType:
    """Return the element type of a row of the IR's types."""
    return string if row.kind == "s" else _BY_ROW[row]
