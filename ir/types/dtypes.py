"""Element types: one row a type, joining its name, numpy's dtype and the IR's type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

Limits = tuple[Any, Any]
LIMITS: dict[str, Limits] = {}
"""The lowest and the highest value of a type by its name, as soon as somebody asked for them."""


@dataclass(frozen=True)
class DType:
    """One element type. `code` is its number in the C interface (`gravure.h`).

    Narrow types (kind `n`) are only moved and converted. An element takes one byte, whose upper
    bits are 0 where the type has fewer than 8.
    """

    name: str
    numpy: np.dtype[Any]
    element: Attribute
    kind: str
    """One of `b` (bool), `i`, `u`, `f`, `c`, `n` (narrow), `s` (text, only in host steps)."""
    code: int

    @property
    def size(self) -> int:
        """Return the bytes that one element takes in memory."""
        return int(self.numpy.itemsize)

    @property
    def bits(self) -> int:
        """Return the width in bits; a bool counts one."""
        if self.kind == "n":
            element: Any = self.element
            return int(element.bitwidth)
        return 1 if self.kind == "b" else 8 * self.size

    @property
    def is_float(self) -> bool:
        """Say whether this is a real floating-point type."""
        return self.kind == "f"

    @property
    def is_text(self) -> bool:
        """Say whether the elements are texts, which no compiled code works on."""
        return self.kind == "s"

    @property
    def is_integer(self) -> bool:
        """Say whether this is a signed or unsigned integer type (bool is not)."""
        return self.kind in "iu"

    @property
    def is_narrow_integer(self) -> bool:
        """Say whether this is an integer type of fewer than 8 bits."""
        return self.kind == "n" and isinstance(self.element, IntegerType)

    @property
    def is_narrow_float(self) -> bool:
        """Say whether this is a floating-point type of at most 8 bits."""
        return self.kind == "n" and not isinstance(self.element, IntegerType)

    @property
    def minimum(self) -> Any:
        """Return the lowest value as a Python number (-inf for floats)."""
        return self._limits()[0]

    @property
    def maximum(self) -> Any:
        """Return the highest value as a Python number (inf for floats)."""
        return self._limits()[1]

    def _limits(self) -> Limits:
        found = LIMITS.get(self.name)
        if found is None:
            found = LIMITS[self.name] = self._found_limits()
        return found

    def _found_limits(self) -> Limits:
        if self.kind == "b":
            return False, True
        if self.kind in "iu":
            return int(np.iinfo(self.numpy).min), int(np.iinfo(self.numpy).max)
        if self.kind == "n":
            return _narrow_limits(self)
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

i4 = DType("i4", np.dtype(ml_dtypes.int4), _integer(4), "n", 15)
u4 = DType("u4", np.dtype(ml_dtypes.uint4), _integer(4, unsigned=True), "n", 16)
i2 = DType("i2", np.dtype(ml_dtypes.int2), _integer(2), "n", 17)
u2 = DType("u2", np.dtype(ml_dtypes.uint2), _integer(2, unsigned=True), "n", 18)
f8e4m3fn = DType("f8e4m3fn", np.dtype(ml_dtypes.float8_e4m3fn), Float8E4M3FNType(), "n", 19)
f8e4m3fnuz = DType("f8e4m3fnuz", np.dtype(ml_dtypes.float8_e4m3fnuz), Float8E4M3FNUZType(), "n", 20)
f8e5m2 = DType("f8e5m2", np.dtype(ml_dtypes.float8_e5m2), Float8E5M2Type(), "n", 21)
f8e5m2fnuz = DType("f8e5m2fnuz", np.dtype(ml_dtypes.float8_e5m2fnuz), Float8E5M2FNUZType(), "n", 22)
f8e8m0 = DType("f8e8m0", np.dtype(ml_dtypes.float8_e8m0fnu), Float8E8M0FNUType(), "n", 23)
f6e2m3 = DType("f6e2m3", np.dtype(ml_dtypes.float6_e2m3fn), Float6E2M3FNType(), "n", 24)
f6e3m2 = DType("f6e3m2", np.dtype(ml_dtypes.float6_e3m2fn), Float6E3M2FNType(), "n", 25)
f4e2m1 = DType("f4e2m1", np.dtype(ml_dtypes.float4_e2m1fn), Float4E2M1FNType(), "n", 26)

PARTS: dict[DType, DType] = {c64: f32, c128: f64}
"""The type of the parts of complex numbers."""
WHOLE: dict[DType, DType] = {part: whole for whole, part in PARTS.items()}
"""The type of complex numbers by that of their parts."""

NARROW = (
    i4, u4, i2, u2, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f6e2m3, f6e3m2, f4e2m1,
)  # fmt: skip
"""Element types that are only moved and converted."""


@irdl_attr_definition
class TextType(ParametrizedAttribute, TypeAttribute):
    """The type of an element that is a text."""

    name = "gv.string"


string = DType("string", np.dtype(object), TextType(), "s", -1)
"""Python's `str` in arrays of objects. Such tensors exist in host steps only."""

_PLAIN = (bool_, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128)
DTYPES: dict[str, DType] = {t.name: t for t in (*_PLAIN, *NARROW)}
_BY_NUMPY: dict[Any, DType] = {t.numpy: t for t in DTYPES.values()}
_BY_ELEMENT: dict[Attribute, DType] = {t.element: t for t in (*DTYPES.values(), string)}


def _narrow_limits(dtype: DType) -> tuple[Any, Any]:
    """Return the lowest and the highest number that a narrow type has; no infinities."""
    if dtype.is_narrow_integer:
        of_integers: Any = ml_dtypes.iinfo
        found = of_integers(dtype.numpy)
        return int(found.min), int(found.max)
    of_floats: Any = ml_dtypes.finfo
    limits = of_floats(dtype.numpy)
    return float(limits.min), float(limits.max)


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
