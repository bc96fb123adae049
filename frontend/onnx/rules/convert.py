"""Rules of conversions between element types."""

from __future__ import annotations

from ....ir import DType
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule

TYPE_NAMES: dict[str, DType] = {
    "FLOAT": d.f32, "UINT8": d.u8, "INT8": d.i8, "UINT16": d.u16, "INT16": d.i16, "INT32": d.i32,
    "INT64": d.i64, "BOOL": d.bool_, "FLOAT16": d.f16, "DOUBLE": d.f64, "UINT32": d.u32,
    "UINT64": d.u64,
}  # fmt: skip


@rule("Cast", until=5)
def cast_by_name(node: Node, x: Value) -> Value:
    """Convert to an element type given by its name."""
    name = node.text("to")
    if name not in TYPE_NAMES:
        node.refuse(f"element type {name} is not supported")
    return node.make.to(x, TYPE_NAMES[name])


@rule("Cast", since=6)
def cast(node: Node, x: Value) -> Value:
    """Convert to an element type."""
    return _converted(node, x, node.element_type("to"))


@rule("CastLike")
def cast_like(node: Node, x: Value, like: Value) -> Value:
    """Convert to the element type of another value."""
    return _converted(node, x, node.dtype(like))


def _converted(node: Node, x: Value, dtype: DType) -> Value:
    if node.dtype(x).is_text != dtype.is_text:
        node.used |= {"saturate", "round_mode"}  # these are about narrow floats
        if dtype.is_text:
            return node.make.text_of_numbers(x)
        return node.make.numbers_of_text(x, dtype=dtype)
    saturates, mode = bool(node.integer("saturate", 1)), node.text("round_mode", "up")
    if dtype == d.f8e8m0:
        return _power(node, node.make.to(x, d.f32), mode, saturates=saturates)
    return to_narrow(node, x, dtype) if saturates else node.make.to(x, dtype)


def to_narrow(node: Node, x: Value, dtype: DType) -> Value:
    """Convert; what is too large for a narrow float becomes its largest number."""
    make = node.make
    if not dtype.is_narrow_float or node.dtype(x) == dtype:
        return make.to(x, dtype)
    wide = x if node.dtype(x).is_float else make.to(x, d.f32)
    low, high = (make.number(n, node.dtype(wide)) for n in (dtype.minimum, dtype.maximum))
    return make.to(make.clip(wide, low, high), dtype)


def _power(node: Node, x: Value, mode: str, *, saturates: bool) -> Value:
    """Return the power of two that an f32 is rounded to: its exponent, and whether to go up."""
    make = node.make

    def number(value: int) -> Value:
        return make.number(value, d.i32)

    bits = make.bitwise_and(make.bitcast(x, dtype=d.i32), number(0x7FFFFFFF))
    exponent = make.shift_right(bits, number(23))
    fraction = make.bitwise_and(bits, number(0x7FFFFF))
    match mode:
        case "down":
            rises = make.filled(0, d.bool_, ())
        case "up":
            rises = make.greater(fraction, number(0))
        case "nearest":
            tie = make.logical_and(make.equal(fraction, number(1 << 22)),
                                   make.greater(exponent, number(0)))  # fmt: skip
            rises = make.logical_or(make.greater(fraction, number(1 << 22)), tie)
        case _:
            node.fail(f"round_mode {mode!r}, expected up, down or nearest")
    last = number(253 if saturates else 254)
    rises = make.logical_and(rises, make.less_equal(exponent, last))
    code = make.add(exponent, make.to(rises, d.i32))
    return make.bitcast(make.to(code, d.u8), dtype=d.f8e8m0)


@rule("BitCast")
def bit_cast(node: Node, x: Value) -> Value:
    """Take the bits as another element type of the same width."""
    return node.make.bitcast(x, dtype=node.element_type("to"))
