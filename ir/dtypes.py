"""Element types: one row a type, joining its name, numpy's dtype and the IR's type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute


@dataclass(frozen=True)
class DType:
    """One element type. `code` is its number in the C interface (`gravure.h`)."""

    name: str
    numpy: np.dtype[Any]
    element: Attribute
    kind: str
    """One of `b` (bool), `i`, `u`, `f`, `c`."""
    code: int

    @property
    def size(self) -> int:
        """Return the bytes that one element takes in memory."""
        return int(self.numpy.itemsize)

    @property
    def bits(self) -> int:
        """Return the width in bits; a bool counts one."""
        return 1 if self.kind == "b" else 8 * self.size

    @property
    def is_float(self) -> bool:
        """Say whether this is a real floating-point type."""
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Say whether this is a signed or unsigned integer type (bool is not)."""
        return self.kind in "iu"

    @property
    def minimum(self) -> Any:
        """Return the lowest value as a Python number (-inf for floats)."""
        return self._limits()[0]

    @property
    def maximum(self) -> Any:
        """Return the highest value as a Python number (inf for floats)."""
        return self._limits()[1]

    def _limits(self) -> tuple[Any, Any]:
        if self.kind == "b":
            return False, True
        if self.kind in "iu":
            return int(np.iinfo(self.numpy).min), int(np.iinfo(self.numpy).max)
        return -np.inf, np.inf

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"DType({self.name})"

    def __hash__(self) -> int:
        return hash(self.name)


def _integer(bits: int, *, unsigned: bool = False) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)


bool_ = DType("bool", np.dtype(np.bool_), IntegerType(1), "b", 0)
i8 = DType("i8", np.dtype(np.int8), _integer(8), "i", 1)
i16 = DType("i16", np.dtype(np.int16), _integer(16), "i", 2)
i32 = DType("i32", np.dtype(np.int32), _integer(32), "i", 3)
i64 = DType("i64", np.dtype(np.int64), _integer(64), "i", 4)
u8 = DType("u8", np.dtype(np.uint8), _integer(8, unsigned=True), "u", 5)
u16 = DType("u16", np.dtype(np.uint16), _integer(16, unsigned=True), "u", 6)
u32 = DType("u32", np.dtype(np.uint32), _integer(32, unsigned=True), "u", 7)
u64 = DType("u64", np.dtype(np.uint64), _integer(64, unsigned=True), "u", 8)
f16 = DType("f16", np.dtype(np.float16), Float16Type(), "f", 9)
bf16 = DType("bf16", np.dtype(ml_dtypes.bfloat16), BFloat16Type(), "f", 10)
f32 = DType("f32", np.dtype(np.float32), Float32Type(), "f", 11)
f64 = DType("f64", np.dtype(np.float64), Float64Type(), "f", 12)
c64 = DType("c64", np.dtype(np.complex64), ComplexType(Float32Type()), "c", 13)
c128 = DType("c128", np.dtype(np.complex128), ComplexType(Float64Type()), "c", 14)

DTYPES: dict[str, DType] = {
    t.name: t for t in (bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128)
}
_BY_NUMPY: dict[Any, DType] = {t.numpy: t for t in DTYPES.values()}
_BY_ELEMENT: dict[Attribute, DType] = {t.element: t for t in DTYPES.values()}


def of_numpy(dtype: Any) -> DType:
    """Return the row of a numpy dtype (of either byte order)."""
    found = np.dtype(dtype)
    row = _BY_NUMPY.get(found) or _BY_NUMPY.get(found.newbyteorder("="))
    if row is None:
        raise TypeError(
            f"element type {found} is not supported, expected one of {', '.join(DTYPES)}"
        )
    return row


def of_element(element: Attribute) -> DType:
    """Return the row of an IR element type."""
    row = _BY_ELEMENT.get(element)
    if row is None:
        raise TypeError(f"element type {element} is not a gravure element type")
    return row
