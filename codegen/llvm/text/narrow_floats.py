"""Convert between f16 or bf16, kept as `i16` bits, and f32 or f64: rounded once, to nearest even.

All but f16 on machines that convert it, and bf16 on GPUs, is integer arithmetic, for LLVM would
call library functions. The bf16 instruction of x86 treats subnormals as zero: where some are, the
integers are branched to. A NaN stays a NaN.
"""

from __future__ import annotations

from ....target import Target
from .build import Shape, Text


def has_half(target: Target) -> bool:
    """Say whether the machine converts f16 by itself."""
    return target.can.convert_halves or "f16c" in target.features


class Bits:
    """Integer arithmetic on the bits of floats, with short names, constants as numbers."""

    def __init__(self, text: Text, shape: Shape) -> None:
        self.text = text
        self.shape = shape

    def __call__(self, name: str, x: str, y: str | int) -> str:
        """Append a binary instruction."""
        y = self.shape.splat(y) if isinstance(y, int) else y
        return self.text.value(f"{name} {self.shape.name} {x}, {y}")

    def compare(self, order: str, x: str, y: int) -> str:
        """Append a comparison with a constant."""
        return self.text.value(f"icmp {order} {self.shape.name} {x}, {self.shape.splat(y)}")

    def select(self, condition: str, x: str | int, y: str | int) -> str:
        """Append a choice; either side may be a number."""
        kind = self.shape.name
        x, y = (self.shape.splat(each) if isinstance(each, int) else each for each in (x, y))
        return self.text.value(f"select {self.shape.mask.name} {condition}, {kind} {x}, {kind} {y}")


def cast(text: Text, name: str, source: Shape, x: str, result: Shape) -> str:
    """Append a conversion instruction."""
    return text.value(f"{name} {source.name} {x} to {result.name}")


def bfloat_to_float(text: Text, bits: Shape, x: str) -> str:
    """Return bf16 bits as f32."""
    word = bits.of("i32")
    wide = cast(text, "zext", bits, x, word)
    shifted = text.value(f"shl {word.name} {wide}, {word.splat(16)}")
    return cast(text, "bitcast", word, shifted, bits.of("float"))


def float_to_bfloat(text: Text, target: Target, shape: Shape, x: str) -> str:
    """Return f32 rounded to bf16 bits."""
    if target.can.convert_bfloats:
        brain = shape.of("bfloat")
        return cast(text, "bitcast", brain, cast(text, "fptrunc", shape, x, brain), shape.of("i16"))
    if shape.lanes == 16 and target.has("avx512bf16"):
        return _by_instruction(text, shape, x)
    return _by_integers(text, shape, x)


def _by_instruction(text: Text, shape: Shape, x: str) -> str:
    """Return the same of 16 lanes; what the instruction gives, unless some are subnormal."""
    brain, short, mask = shape.of("bfloat"), shape.of("i16"), shape.mask
    narrow, classify = "@llvm.x86.avx512bf16.cvtneps2bf16.512", "@llvm.x86.avx512.fpclass.ps.512"
    text.declare(f"declare {brain.name} {narrow}({shape.name})")
    text.declare(f"declare {mask.name} {classify}({shape.name}, i32)")
    made = text.value(f"call {brain.name} {narrow}({shape.name} {x})")
    made = cast(text, "bitcast", brain, made, short)
    small = text.value(f"call {mask.name} {classify}({shape.name} {x}, i32 {SUBNORMAL})")
    packed = text.value(f"bitcast {mask.name} {small} to i16")
    some = text.value(f"icmp ne i16 {packed}, 0")
    return text.unless(short.name, made, some, lambda: _by_integers(text, shape, x))


SUBNORMAL = 1 << 5
"""The class of numbers that are subnormal."""


def _by_integers(text: Text, shape: Shape, x: str) -> str:
    """Return the same by arithmetic on the bits."""
    word = Bits(text, shape.integer)
    bits = cast(text, "bitcast", shape, x, shape.integer)
    upper = word("lshr", bits, 16)
    odd = word("and", upper, 1)
    rounded = word("lshr", word("add", word("add", bits, 0x7FFF), odd), 16)
    missing = text.value(f"fcmp uno {shape.name} {x}, {x}")
    result = word.select(missing, word("or", upper, 0x40), rounded)
    return cast(text, "trunc", shape.integer, result, shape.of("i16"))


def half_to_float(text: Text, target: Target, bits: Shape, x: str) -> str:
    """Return f16 bits as f32."""
    result = bits.of("float")
    if has_half(target):
        half = bits.of("half")
        return cast(text, "fpext", half, cast(text, "bitcast", bits, x, half), result)
    word = Bits(text, bits.of("i32"))
    wide = cast(text, "zext", bits, x, word.shape)
    low = word("shl", word("and", wide, 0x7FFF), 13)
    exponent = word("and", low, 0x7C00 << 13)
    normal = word("add", low, (127 - 15) << 23)
    special = word("add", normal, (128 - 16) << 23)
    tiny = cast(text, "bitcast", word.shape, word("add", normal, 1 << 23), result)
    tiny = text.value(f"fsub {result.name} {tiny}, {result.splat(2.0**-14)}")
    tiny = cast(text, "bitcast", result, tiny, word.shape)
    magnitude = word.select(word.compare("eq", exponent, 0x7C00 << 13), special, normal)
    magnitude = word.select(word.compare("eq", exponent, 0), tiny, magnitude)
    sign = word("shl", word("and", wide, 0x8000), 16)
    return cast(text, "bitcast", word.shape, word("or", magnitude, sign), result)


def float_to_half(text: Text, target: Target, shape: Shape, x: str) -> str:
    """Return f32 rounded to f16 bits."""
    result = shape.of("i16")
    if has_half(target):
        half = shape.of("half")
        return cast(text, "bitcast", half, cast(text, "fptrunc", shape, x, half), result)
    word = Bits(text, shape.integer)
    bits = cast(text, "bitcast", shape, x, word.shape)
    magnitude = word("and", bits, 0x7FFFFFFF)
    odd = word("and", word("lshr", magnitude, 13), 1)
    bias = ((15 - 127) << 23) + 0xFFF
    normal = word("lshr", word("add", word("add", magnitude, bias), odd), 13)
    # Adding 0.5 puts the bits of a subnormal result last, rounded.
    tiny = cast(text, "bitcast", word.shape, magnitude, shape)
    tiny = text.value(f"fadd {shape.name} {tiny}, {shape.splat(0.5)}")
    tiny = word("sub", cast(text, "bitcast", shape, tiny, word.shape), 126 << 23)
    narrow = word.select(word.compare("ult", magnitude, 113 << 23), tiny, normal)
    large = word.select(word.compare("ugt", magnitude, 0x7F800000), 0x7E00, 0x7C00)
    narrow = word.select(word.compare("uge", magnitude, 0x47800000), large, narrow)
    sign = word("and", word("lshr", bits, 16), 0x8000)
    return cast(text, "trunc", word.shape, word("or", narrow, sign), result)


def double_to_odd_float(text: Text, shape: Shape, x: str) -> str:
    """Return f64 rounded to f32 so that rounding it further is as rounding once.

    That is: if inexact, towards zero, and the last bit is then set.
    """
    result = shape.of("float")
    near = cast(text, "fptrunc", shape, x, result)
    back = cast(text, "fpext", result, near, shape)
    word = Bits(text, result.integer)
    bits = cast(text, "bitcast", result, near, word.shape)
    size, size_back = (text.intrinsic("llvm.fabs", shape, each) for each in (x, back))
    above = text.value(f"fcmp ogt {shape.name} {size_back}, {size}")
    inexact = text.value(f"fcmp one {shape.name} {back}, {x}")
    lower = word.select(above, word("sub", bits, 1), bits)
    odd = word.select(inexact, word("or", lower, 1), bits)
    return cast(text, "bitcast", word.shape, odd, result)
