"""The element types as users see them: `gravure.float32` and the like, and their promotion.

Each is a name for a row of `ir.types.dtypes`, compares equal to numpy's type and to its own name,
and can be given to numpy wherever that wants a dtype. `string` (bytes) has no row: such values can
be made, passed on and fetched, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from ...ir.types import dtypes as rows
from ...ir.types.dtypes import DType, of_numpy
from ...ir.types.tensor import Array

finfo: Any = ml_dtypes.finfo
"""numpy's `finfo`, for bfloat16 too."""


class DataType:
    """An element type."""

    __slots__ = ("_row", "name", "numpy")

    def __init__(
        self, name: str, numpy: np.dtype[np.generic] | type | str, row: DType | None
    ) -> None:
        self.name = name
        self.numpy: np.dtype[np.generic] = np.dtype(numpy)
        """numpy's type."""
        self._row = row

    @property
    def row(self) -> DType:
        """Return the type in the IR, or raise `TypeError` for text."""
        if self._row is None:
            raise TypeError(f"element type {self.name} cannot be computed with, expected a number")
        return self._row

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return numpy's type: this is how numpy reads us."""
        return self.numpy

    @property
    def kind(self) -> str:
        """Return one of `b` (bool), `i`, `u`, `f`, `c`, `n` (narrow), `s` (string)."""
        return "s" if self._row is None else self._row.kind

    @property
    def itemsize(self) -> int:
        """Return the bytes of one element."""
        return int(self.numpy.itemsize)

    @property
    def size(self) -> int:
        """Return the bytes of one element."""
        return self.itemsize

    @property
    def as_numpy_dtype(self) -> type[np.generic]:
        """Return numpy's class of elements."""
        return self.numpy.type

    @property
    def base_dtype(self) -> DataType:
        """Return the type itself: there are no references."""
        return self

    @property
    def is_floating(self) -> bool:
        """Say whether elements are real floats."""
        return self.kind == "f" or (self.kind == "n" and self.row.is_narrow_float)

    @property
    def is_numeric(self) -> bool:
        """Say whether elements are numbers, also complex ones."""
        return self.is_floating or self.is_integer or self.kind == "c"

    @property
    def is_integer(self) -> bool:
        """Say whether elements are integers."""
        return self.kind in "iu" or (self.kind == "n" and self.row.is_narrow_integer)

    @property
    def is_bool(self) -> bool:
        """Say whether elements are truth values."""
        return self.kind == "b"

    @property
    def is_complex(self) -> bool:
        """Say whether elements are complex."""
        return self.kind == "c"

    @property
    def is_unsigned(self) -> bool:
        """Say whether elements are integers without a sign."""
        return self.is_integer and self.row.minimum == 0

    @property
    def real_dtype(self) -> DataType:
        """Return the type of the parts of complex elements, of others the type itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def max(self) -> Any:
        """Return the largest finite element: of integers a number of Python's."""
        return self._ends()[1]

    @property
    def min(self) -> int | np.generic:
        """Return the smallest finite element: of integers a number of Python's."""
        return self._ends()[0]

    @property
    def limits(self) -> tuple[int, int | np.generic]:
        """Return the range of intensities of images: of floats from 0 to 1."""
        if self.name == "bfloat16":
            raise ValueError(f"{self} does not have defined limits.")
        return (0, 1) if self.is_floating else (0, self.max)

    def _ends(self) -> tuple[int | np.generic, int | np.generic]:
        if self.is_floating:
            found = finfo(self.numpy)
            return found.min, found.max
        if not self.is_integer:
            raise TypeError(f"Cannot find minimum or maximum value of {self}")
        return int(self.row.minimum), int(self.row.maximum)

    def is_compatible_with(self, other: object) -> bool:
        """Say whether a type is the same."""
        return self == as_dtype(other)

    def __repr__(self) -> str:
        return f"gravure.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DataType):
            return self.name == other.name
        return other is not None and BY_KEY.get(_key(other)) == self

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Callable[[str], DataType], tuple[str]]:
        return as_dtype, (self.name,)


DTypeLike: TypeAlias = "DataType | DType | np.dtype[Any] | type | str"
"""What names an element type: one of ours, of the IR, of numpy or of Python, or a name."""


def _key(value: object) -> str | DType | np.dtype[np.generic] | None:
    """Return what a type is found by: numpy's type, or a text."""
    if isinstance(value, str | DType):
        return string.name if isinstance(value, DType) and value.kind == "s" else value
    if isinstance(value, np.dtype):
        return value.newbyteorder("=")
    return np.dtype(value) if isinstance(value, type) and issubclass(value, np.generic) else None


bool_ = DataType("bool", np.bool_, rows.bool_)
int8 = DataType("int8", np.int8, rows.i8)
int16 = DataType("int16", np.int16, rows.i16)
int32 = DataType("int32", np.int32, rows.i32)
int64 = DataType("int64", np.int64, rows.i64)
uint8 = DataType("uint8", np.uint8, rows.u8)
uint16 = DataType("uint16", np.uint16, rows.u16)
uint32 = DataType("uint32", np.uint32, rows.u32)
uint64 = DataType("uint64", np.uint64, rows.u64)
float16 = DataType("float16", np.float16, rows.f16)
bfloat16 = DataType("bfloat16", rows.bf16.numpy, rows.bf16)
float32 = DataType("float32", np.float32, rows.f32)
float64 = DataType("float64", np.float64, rows.f64)
complex64 = DataType("complex64", np.complex64, rows.c64)
complex128 = DataType("complex128", np.complex128, rows.c128)
string = DataType("string", np.object_, None)
NARROW = tuple(DataType(row.numpy.name, row.numpy, row) for row in rows.NARROW)
"""Types of fewer bits, whose elements are only moved and converted."""

TYPES: dict[str, DataType] = {
    t.name: t
    for t in (
        *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        *(float16, bfloat16, float32, float64, complex64, complex128, string),
        *NARROW,
    )
}
BY_NUMPY: dict[np.dtype[np.generic], DataType] = {t.numpy: t for t in TYPES.values()}
BY_KEY: dict[Any, DataType] = {
    **TYPES,
    **BY_NUMPY,
    **{t.row: t for t in TYPES.values() if t is not string},
    **{t.row.name: t for t in TYPES.values() if t is not string},
    **{"half": float16, "float": float32, "double": float64},
}
_PYTHON: dict[object, DataType] = {
    bool: bool_,
    int: int64,
    float: float32,
    complex: complex64,
    bytes: string,
    str: string,
}
"""The default types: of Python numbers, and of functions that are not told a type."""
NUMBERED = {
    **dict(enumerate((float32, float64, int32, uint8, int16, int8, string, complex64), 1)),
    **{9: int64, 10: bool_, 14: bfloat16, 17: uint16, 18: complex128, 19: float16},
    **{22: uint32, 23: uint64},
    **{
        number: TYPES[name]
        for number, name in (
            *((24, "float8_e5m2"), (25, "float8_e4m3fn"), (26, "float8_e4m3fnuz")),
            *((28, "float8_e5m2fnuz"), (29, "int4"), (30, "uint4"), (31, "int2"), (32, "uint2")),
            (33, "float4_e2m1fn"),
        )
    },
}
"""What TensorFlow's files, and some of its programs, call types by."""


def as_dtype(value: object) -> DataType:
    """Return the element type that a type object, a numpy type or a name stands for.

    >>> as_dtype("float32"), as_dtype(np.int8), as_dtype(float)
    (gravure.float32, gravure.int8, gravure.float32)
    """
    if isinstance(value, DataType):
        return value
    found = BY_KEY.get(_key(value)) or (_PYTHON.get(value) if isinstance(value, type) else None)
    if type(value) is int:
        found = NUMBERED.get(value)
    if found is None:
        raise TypeError(f"element type {value!r} is unknown, expected one of {', '.join(TYPES)}")
    return found


def named(row: DType | None) -> str:
    """Return TensorFlow's name of an element type in messages."""
    text = "string" if row is None or row.kind == "s" else str(as_dtype(row).name)
    return {"float32": "float", "float64": "double", "float16": "half"}.get(text, text)


def of_array(array: Array) -> DataType:
    """Return the element type of a numpy array."""
    found = BY_NUMPY.get(array.dtype)
    return found if found is not None else BY_KEY[of_numpy(array.dtype)]


def default_of(number: object) -> DataType:
    """Return the type of a Python number that meets nothing else."""
    return _PYTHON[bool if isinstance(number, bool) else _plain(number)]


def _plain(number: object) -> type:
    return next(kind for kind in (int, float, complex) if isinstance(number, kind))


_ORDER = "buifc"


def promote(a: DType, b: DType) -> DType:
    """Return the type that two types promote to, or raise `TypeError`.

    Of one kind, the wider one, by the array API standard's tables. Of two kinds, the type of the
    kind further on in: bool, integer, float, complex; an integer never widens a float.

    >>> promote(rows.i8, rows.u8), promote(rows.i64, rows.f32), promote(rows.f64, rows.c64)
    (DType(i16), DType(f32), DType(c128))
    """
    if a is b:
        return a
    known = _PROMOTED.get((a.name, b.name))
    if known is None:
        raise TypeError(f"element types {a} and {b} have no common type")
    return known


def _promote(a: DType, b: DType) -> DType | None:
    low, high = sorted((a, b), key=lambda t: _ORDER.index(t.kind))
    if low.kind == "b" or (low.is_integer and not high.is_integer):
        return high
    if low.kind == "f" and high.kind == "f":
        wide = max(low, high, key=lambda t: t.size)
        return rows.f32 if low.size == high.size and low != high else wide
    if low.kind == "f" and high.kind == "c":
        return rows.c128 if rows.f64 in (a, b) else high
    found = np.promote_types(a.numpy, b.numpy)
    return of_numpy(found) if found.kind in (high.kind, low.kind) else None


_PROMOTED: dict[tuple[str, str], DType] = {
    (a.name, b.name): found
    for a in rows.DTYPES.values()
    for b in rows.DTYPES.values()
    if "n" not in a.kind + b.kind
    if (found := _promote(a, b)) is not None
}


def promote_with_number(row: DType, number: complex) -> DType:
    """Return the type of an element type that meets a Python number: its own where that fits.

    >>> promote_with_number(rows.f16, 2), promote_with_number(rows.i8, 0.5)
    (DType(f16), DType(f32))
    """
    mine = default_of(number).row
    if mine.kind == "b" or _ORDER.index(mine.kind) <= _ORDER.index(row.kind):
        return row
    if row.kind == "u" and mine.kind == "i":
        return row
    if mine.kind == "c" and row.kind == "f":
        return rows.c128 if row == rows.f64 else rows.c64
    return mine
