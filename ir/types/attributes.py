"""Attributes of the IR as plain Python values, and back.

| Python                              | IR                                         |
|-------------------------------------|--------------------------------------------|
| bool, int, float, str               | `true`, `1 : i64`, `1.0 : f64`, `"text"`   |
| tuple of int                        | `array<i64: 1, 2>`                         |
| tuple of float                      | `array<f64: 1.0>`                          |
| tuple with symbolic dimensions      | `#gv.dims<"N, 3">`                         |
| any other tuple                     | `[a, b]`                                   |
| symbolic dimension                  | `#gv.dim<"N + 1">`                         |
| `DType`                             | `#gv.dtype<f32>`                           |
| numpy array                         | `#gv.array<f32, "2, 3", [1.0, 2.0, ...]>`  |
| `Symbol`                            | `@name`                                    |
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from . import dims
from .dims import Dim, DimExpr
from .dtypes import DTYPES, DType, string
from .tensor import Array, DimsAttr, parse_shape

AttrT = TypeVar("AttrT", bound=Attribute)

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
"""What an integer attribute holds."""
INLINE_ELEMENTS = 32
"""Arrays up to this many elements are written as numbers, longer ones as base64."""


class Symbol(str):
    """The name of a function or a weight, written `@name`."""


@irdl_attr_definition
class DimAttr(Data[Dim]):
    """One dimension: `#gv.dim<"N + 1">`."""

    name = "gv.dim"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Dim:
        """Read the quoted expression."""
        with parser.in_angle_brackets():
            return dims.parse(parser.parse_str_literal())

    def print_parameter(self, printer: Printer) -> None:
        """Write the quoted expression."""
        with printer.in_angle_brackets():
            printer.print_string_literal(str(self.data))


@irdl_attr_definition
class DTypeAttr(Data[DType]):
    """An element type as a value: `#gv.dtype<f32>`."""

    name = "gv.dtype"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DType:
        """Read the name."""
        with parser.in_angle_brackets():
            return _parse_dtype(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write the name."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.name)


def _parse_dtype(parser: AttrParser) -> DType:
    name = parser.parse_identifier("an element type")
    if name == string.name:
        return string
    if name not in DTYPES:
        parser.raise_error(f"element type {name} is unknown, expected one of {', '.join(DTYPES)}")
    return DTYPES[name]


@dataclass(frozen=True, eq=False)
class Elements:
    """A numpy array that compares and hashes by dtype, shape and bytes. Splats stay unexpanded."""

    array: Array

    def __post_init__(self) -> None:
        self.array.flags.writeable = False

    @property
    def is_splat(self) -> bool:
        """Say whether one stored element stands for all."""
        return self.array.size > 1 and not any(self.array.strides)

    def _key(self) -> tuple[Any, ...]:
        stored = self.array[(0,) * self.array.ndim] if self.is_splat else self.array
        if self.array.dtype == object:
            return "string", self.array.shape, self.is_splat, tuple(self.array.ravel().tolist())
        return str(self.array.dtype), self.array.shape, self.is_splat, stored.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Elements) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@irdl_attr_definition
class ArrayValueAttr(Data[Elements]):
    """The elements of a constant tensor."""

    name = "gv.array"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Elements:
        """Read `<dtype, "shape", numbers>`."""
        with parser.in_angle_brackets():
            dtype = _parse_dtype(parser)
            parser.parse_punctuation(",")
            shape = parse_shape(parser.parse_str_literal())
            parser.parse_punctuation(",")
            if not all(isinstance(d, int) and 0 <= d < 2**40 for d in shape):
                parser.raise_error("the shape of a constant must be numbers")
            return _parse_elements(parser, dtype, cast("tuple[int, ...]", shape))

    def print_parameter(self, printer: Printer) -> None:
        """Write dtype, shape and numbers."""
        array = self.data.array
        dtype = next((t for t in DTYPES.values() if t.numpy == array.dtype), string)
        with printer.in_angle_brackets():
            shape = ", ".join(map(str, array.shape))
            printer.print_string(f'{dtype}, "{shape}", ')
            if dtype is string:
                with printer.in_square_brackets():
                    printer.print_list(array.ravel().tolist(), printer.print_string_literal)
            elif self.data.is_splat:
                printer.print_string(f"splat {_number(array[(0,) * array.ndim])}")
            elif array.size <= INLINE_ELEMENTS:
                numbers = ", ".join(_number(x) for x in array.ravel())
                printer.print_string(f"[{numbers}]")
            else:
                printer.print_string_literal(base64.b64encode(array.tobytes()).decode())


def _number(value: Any) -> str:
    """Return one element in text, exactly; floats by their shortest repr, nan and inf quoted."""
    if value.dtype.kind == "b":
        return "true" if value else "false"
    if value.dtype.kind in "iu":
        return str(int(value))
    if value.dtype.kind == "c":
        return f'"{complex(value)!r}"'
    number = float(value)
    text = repr(number)
    if not np.isfinite(number):
        return '"-nan"' if np.isnan(number) and np.signbit(number) else f'"{text}"'
    return text if "." in text else text.replace("e", ".0e")


def _parse_elements(parser: AttrParser, dtype: DType, shape: tuple[int, ...]) -> Elements:
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if dtype is string:
        return _parse_texts(parser, shape, count)
    if parser.parse_optional_keyword("splat"):
        value = np.array(_parse_number(parser, dtype), dtype.numpy)
        return Elements(np.broadcast_to(value, shape))
    if (text := parser.parse_optional_str_literal()) is not None:
        data = np.frombuffer(base64.b64decode(text), dtype.numpy)
    else:
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse_number(parser, dtype)
        )
        data = np.array(numbers, dtype.numpy)
    if data.size != count:
        parser.raise_error(f"expected {count} elements, found {data.size}")
    return Elements(data.reshape(shape).copy())


def _parse_texts(parser: AttrParser, shape: tuple[int, ...], count: int) -> Elements:
    texts = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
    if len(texts) != count:
        parser.raise_error(f"expected {count} elements, found {len(texts)}")
    data = np.empty(count, object)
    data[:] = texts
    return Elements(data.reshape(shape))


def _parse_number(parser: AttrParser, dtype: DType) -> Any:
    if (flag := parser.parse_optional_boolean()) is not None:
        if dtype.kind != "b":
            parser.raise_error(f"{str(flag).lower()} is not a value of {dtype}")
        return flag
    if (text := parser.parse_optional_str_literal()) is not None:
        return complex(text) if dtype.kind == "c" else float(text)
    number = parser.parse_number()
    low, high = dtype.minimum, dtype.maximum
    if dtype.kind == "b" or (
        dtype.is_integer and not (isinstance(number, int) and low <= number <= high)
    ):
        parser.raise_error(f"{number} is not a value of {dtype}")
    return number


def to_python(attribute: Attribute) -> Any:
    """Return the plain value of an attribute."""
    rule = _TO_PYTHON.get(type(attribute))
    if rule is None:
        raise TypeError(f"{attribute} has no plain value")
    return rule(attribute)


def _integer_to_python(attribute: Any) -> int | bool:
    value = int(attribute.value.data)
    of_one_bit = isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1
    return bool(value) if of_one_bit else value


def _array_to_python(attribute: Any) -> tuple[Any, ...]:
    if attribute.elt_type is i64:
        return struct.unpack(f"<{len(attribute.data.data) // 8}q", attribute.data.data)
    return tuple(attribute.get_values())


_TO_PYTHON: dict[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: _integer_to_python,
    FloatAttr: lambda a: a.value.data,
    StringAttr: lambda a: a.data,
    DenseArrayBase: _array_to_python,
    ArrayAttr: lambda a: tuple(map(to_python, a.data)),
    ArrayValueAttr: lambda a: a.data.array,
    DTypeAttr: lambda a: a.data,
    DimAttr: lambda a: a.data,
    DimsAttr: lambda a: a.data,
    SymbolRefAttr: lambda a: Symbol(a.string_value()),
    UnitAttr: lambda _: True,
}


def to_attribute(value: Any) -> Attribute:
    """Return the attribute for a plain value."""
    if isinstance(value, np.ndarray):
        return ArrayValueAttr(Elements(_frozen(value)))
    if isinstance(value, np.generic):
        return to_attribute(value.item())
    return _to_attribute(_kind(value), value)


def _kind(value: Any) -> Any:
    """Return what equality overlooks: the types inside, and the signs of zeros."""
    if isinstance(value, tuple):
        return tuple(map(_kind, value))
    return (float, math.copysign(1.0, value)) if isinstance(value, float) else type(value)


def _frozen(array: Array) -> Array:
    if array.size > 1 and not any(array.strides):
        return array[...]
    return np.array(array, array.dtype.newbyteorder("="), order="C", copy=True)


@lru_cache(maxsize=8192)
def _to_attribute(kind: Any, value: Any) -> Attribute:
    rule = next((_TO_ATTRIBUTE[c] for c in type(value).__mro__ if c in _TO_ATTRIBUTE), None)
    if rule is None:
        raise TypeError(f"{value!r} cannot be an attribute")
    return rule(value)


def _unchecked(kind: type[AttrT], **fields: object) -> AttrT:
    """Create an attribute of fields that are right: xDSL's checks take most of the time."""
    made = kind.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def integer_attribute(value: int) -> Attribute:
    """Return what `to_attribute` gives of an integer; where there are many different ones."""
    if not LOWEST <= value <= HIGHEST:
        return IntegerAttr(value, i64)  # which raises
    return _unchecked(IntegerAttr, value=_unchecked(IntAttr, data=value), type=i64)


def integers_attribute(values: tuple[int, ...]) -> Attribute:
    """Return what `to_attribute` gives of a tuple of integers."""
    if values and not (min(values) >= LOWEST and max(values) <= HIGHEST):
        return DenseArrayBase.from_list(i64, values)  # which raises
    data = _unchecked(BytesAttr, data=struct.pack(f"<{len(values)}q", *values))
    return _unchecked(DenseArrayBase, elt_type=i64, data=data)


def _tuple_attribute(value: tuple[Any, ...]) -> Attribute:
    kinds = {type(v) for v in value}
    if kinds <= {int}:
        return integers_attribute(value)
    if kinds == {float}:
        return DenseArrayBase.from_list(f64, value)
    if kinds <= {int, DimExpr}:
        return DimsAttr(value)
    return ArrayAttr([to_attribute(v) for v in value])


_TO_ATTRIBUTE: dict[type[Any], Callable[[Any], Attribute]] = {
    bool: lambda v: IntegerAttr(int(v), IntegerType(1)),
    int: integer_attribute,
    float: lambda v: FloatAttr(v, f64),
    Symbol: lambda v: SymbolRefAttr(str(v)),
    str: StringAttr,
    DType: DTypeAttr,
    DimExpr: DimAttr,
    tuple: _tuple_attribute,
}
