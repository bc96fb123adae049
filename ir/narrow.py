"""How elements of narrow types become wider ones and back, as formulas on their bytes.

Narrow types (`dtypes.NARROW`) are stored one byte an element and computed with in no other way
than here: an integer is read into i32, a float into f32, and written from them. Floats are
rounded to nearest even; what is too large becomes NaN or infinity where the type has them, else
the largest number.
"""

from __future__ import annotations

from dataclasses import dataclass

from .scalar_math import Term
from .types.dtypes import DType, f32, f64, i32, u8


@dataclass(frozen=True)
class Layout:
    """The bits of a narrow float type, and the codes of what is no number."""

    mantissa: int
    bias: int
    largest: int
    """The code of the largest number."""
    beyond: int
    """The code of what is too large."""
    nan: int
    width: int = 8
    is_unsigned_zero: bool = False
    """Whether the code of minus zero means NaN."""


LAYOUTS: dict[str, Layout] = {
    "f8e4m3fn": Layout(3, 7, 0x7E, 0x7F, 0x7F),
    "f8e4m3fnuz": Layout(3, 8, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    "f8e5m2": Layout(2, 15, 0x7B, 0x7C, 0x7E),
    "f8e5m2fnuz": Layout(2, 16, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    "f6e2m3": Layout(3, 1, 0x1F, 0x1F, 0x20, 6),
    "f6e3m2": Layout(2, 3, 0x1F, 0x1F, 0x20, 6),
    "f4e2m1": Layout(1, 1, 0x07, 0x07, 0x08, 4),
}
"""All narrow floats but `f8e8m0`, which is a power of two and nothing else."""


def widened(byte: Term, dtype: DType) -> Term:
    """Return the element that a byte (u8) stands for, as i32 or f32."""
    code = byte.cast(i32)
    if dtype.is_narrow_integer:
        top = 1 << dtype.bits - 1
        return code if dtype.minimum == 0 else code.apply("bitwise_xor", top) - top
    if dtype.name == "f8e8m0":
        power = code.equals(0).where(1 << 22, code.apply("shift_left", 23))
        return code.equals(0xFF).where(float("nan"), power.bitcast(f32))
    layout = LAYOUTS[dtype.name]
    size = code.apply("bitwise_and", (1 << layout.width - 1) - 1)
    shift = 23 - layout.mantissa
    normal = (size.apply("shift_left", shift) + ((127 - layout.bias) << 23)).bitcast(f32)
    small = size.cast(f32) * 2.0 ** (1 - layout.bias - layout.mantissa)
    found = (size < (1 << layout.mantissa)).where(small, normal)
    if dtype.name == "f8e5m2":
        found = size.equals(0x7C).where(float("inf"), found)
    sign_bit = code.apply("bitwise_and", 1 << layout.width - 1)
    sign = sign_bit.apply("shift_left", 32 - layout.width)
    found = found.bitcast(i32).apply("bitwise_or", sign).bitcast(f32)
    return _is_nan(code, size, layout, dtype).where(float("nan"), found)


def _is_nan(code: Term, size: Term, layout: Layout, dtype: DType) -> Term:
    if layout.is_unsigned_zero:
        return code.equals(layout.nan)
    if dtype.name == "f8e5m2":
        return size > 0x7C
    return size.equals(0x7F)  # a type of fewer bits has no such code


def to_odd(x: Term) -> Term:
    """Return f64 as f32 rounded to odd, which a second rounding does not spoil."""
    near = x.cast(f32)
    back, bits = near.cast(f64), near.bitcast(i32)
    bits = (back.apply("abs") > x.apply("abs")).where(bits - 1, bits)  # towards zero
    return back.differs(x).where(bits.apply("bitwise_or", 1), bits).bitcast(f32)


def narrowed(x: Term, dtype: DType) -> Term:
    """Return the byte (u8) of an element given as i32, for an integer type, or as f32."""
    if dtype.is_narrow_integer:
        return x.apply("bitwise_and", (1 << dtype.bits) - 1).cast(u8)
    bits = x.bitcast(i32)
    if dtype.name == "f8e8m0":
        return _power(bits)
    layout = LAYOUTS[dtype.name]
    missing = x.math.isnan(x.value)
    is_nan = Term(x.math, missing)
    size = bits.apply("bitwise_and", 0x7FFFFFFF).bitcast(f32)
    size = is_nan.where(0.0, size).apply("minimum", 2.0 * dtype.maximum)
    lowest = 128 - layout.bias
    exponent = size.bitcast(i32).apply("shift_right", 23).apply("maximum", lowest)
    unit = (254 + layout.mantissa - exponent).apply("shift_left", 23).bitcast(f32)
    steps = (size * unit).apply("round").cast(i32)
    code = (exponent - lowest).apply("shift_left", layout.mantissa) + steps
    top = 1 << layout.width - 1
    sign = bits.apply("shift_right", 32 - layout.width).apply("bitwise_and", top)
    if layout.is_unsigned_zero:
        sign = code.equals(0).where(0, sign)
    code = (code > layout.largest).where(layout.beyond, code)
    if layout.nan >= top and layout.width < 8:  # these types write minus NaN as plus zero
        code = is_nan.where(0, code)
        sign = is_nan.where(sign.apply("bitwise_xor", top), sign)
    else:
        code = is_nan.where(layout.nan, code)
    return code.apply("bitwise_or", sign).cast(u8)


def _power(bits: Term) -> Term:
    """Return the code of the nearest power of two, the higher of two; NaN if there is none."""
    half = 1 << 22
    code = (bits <= half).where(0, (bits + half).apply("shift_right", 23))
    too_large = (255 << 23) - half
    return ((bits <= 0) | (bits >= too_large)).where(255, code).cast(u8)
