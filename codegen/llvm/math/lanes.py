"""Arithmetic on all lanes of a value: the words that the math functions are written in.

A `Lanes` appends to a `Text`. Operands are names of values, or numbers, which stand for
themselves in each lane:

    >>> text = Text()
    >>> lanes = Lanes(text, Shape("float", 4), Target.parse("x86-64-v3"))
    >>> twice = lanes.add("%x", "%x")
    >>> print(text.value("ret " + lanes.multiply(twice, 0.5)), text.lines[1].strip(), sep=": ")
    %v2: %v1 = fmul <4 x float> %v0, splat (float 0x3FE0000000000000)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....target import Target
from ..text.build import Shape, Text

Operand = str | float
"""The name of a value, or a number that stands in each lane."""


@dataclass(frozen=True)
class Layout:
    """How a floating-point type lays out its bits, and numbers that follow from it."""

    fraction: int
    """Bits of the fraction as it is stored."""
    bias: int
    """What the stored exponent of 1.0 is."""

    @property
    def magic(self) -> float:
        """Return what, when added, pushes all but the integer part out of a number."""
        return 1.5 * 2.0**self.fraction

    @property
    def one(self) -> int:
        """Return the bits of 1.0."""
        return self.bias << self.fraction

    @property
    def tiny(self) -> float:
        """Return a size below which x^2 is nothing beside x."""
        return float(2.0 ** (-self.fraction - 3))

    @property
    def least_normal(self) -> float:
        """Return the least positive number that has all its bits."""
        return float(2.0 ** (1 - self.bias))


LAYOUTS = {"float": Layout(23, 127), "double": Layout(52, 1023)}


class Lanes:
    """Appends arithmetic on values of one floating-point shape to a text."""

    __slots__ = (
        "bits",
        "has_fma",
        "kind",
        "layout",
        "mask",
        "precision",
        "shape",
        "target",
        "text",
    )

    def __init__(self, text: Text, shape: Shape, target: Target, precision: str = "") -> None:
        self.text, self.shape, self.target = text, shape, target
        self.kind, self.bits, self.mask = shape.name, shape.integer.name, shape.mask.name
        self.layout = LAYOUTS[shape.element]
        self.precision = precision or shape.element
        self.has_fma = target.has_fma

    @property
    def vector(self) -> int:
        """Return the width of the x86 register that AVX-512 fills with this shape; 0 if none."""
        width = self.shape.lanes * self.shape.bits
        if width == 512 and self.target.has("avx512dq"):
            return width
        return width if width in (128, 256) and self.target.has("avx512vl") else 0

    @property
    def has_tables(self) -> bool:
        """Say whether one instruction looks up an entry of a table in registers for each lane."""
        is_whole = self.shape.lanes in (8, 16) and self.shape.element == "float"
        return is_whole and self.target.has("avx2")

    @property
    def form(self) -> int:
        """Return for how many lanes the tables are meant that the target's functions have."""
        return 16 if self.shape.lanes == 16 and self.target.has("avx512dq") else 8

    # Floating point.

    def name(self, operand: Operand) -> str:
        """Return an operand as LLVM writes it."""
        return operand if isinstance(operand, str) else self.shape.splat(operand)

    def _two(self, operation: str, a: Operand, b: Operand) -> str:
        return self.text.value(f"{operation} {self.kind} {self.name(a)}, {self.name(b)}")

    def add(self, a: Operand, b: Operand) -> str:
        """Return a + b."""
        return self._two("fadd", a, b)

    def subtract(self, a: Operand, b: Operand) -> str:
        """Return a - b."""
        return self._two("fsub", a, b)

    def multiply(self, a: Operand, b: Operand) -> str:
        """Return a * b."""
        return self._two("fmul", a, b)

    def divide(self, a: Operand, b: Operand) -> str:
        """Return a / b."""
        return self._two("fdiv", a, b)

    def negate(self, a: Operand) -> str:
        """Return -a."""
        return self.text.value(f"fneg {self.kind} {self.name(a)}")

    def intrinsic(self, name: str, *operands: Operand) -> str:
        """Call the intrinsic `llvm.NAME` of this shape."""
        return self.text.intrinsic(f"llvm.{name}", self.shape, *map(self.name, operands))

    def fma(self, a: Operand, b: Operand, c: Operand) -> str:
        """Return a * b + c, rounded once where the machine does that, else twice."""
        if self.has_fma:
            return self.intrinsic("fma", a, b, c)
        return self.add(self.multiply(a, b), c)

    def absolute(self, a: Operand) -> str:
        """Return |a|."""
        return self.intrinsic("fabs", a)

    def sqrt(self, a: Operand) -> str:
        """Return the square root of a."""
        return self.intrinsic("sqrt", a)

    def copysign(self, a: Operand, b: Operand) -> str:
        """Return |a| with the sign of b."""
        return self.intrinsic("copysign", a, b)

    def polynomial(self, x: Operand, coefficients: Sequence[float]) -> str:
        """Return the polynomial whose coefficients are given from the lowest power."""
        *lower, last = coefficients
        result: Operand = last
        for coefficient in reversed(lower):
            result = self.fma(result, x, coefficient)
        return self.name(result)

    def odd(self, x: str, tail: Sequence[float]) -> str:
        """Return x + x^3 times the polynomial `tail` in x^2; it is x for a tiny x."""
        square = self.multiply(x, x)
        return self.fma(self.multiply(square, self.polynomial(square, tail)), x, x)

    # Choosing.

    def compare(self, predicate: str, a: Operand, b: Operand) -> str:
        """Return the mask of the lanes where a and b compare so (`olt`, `une`, ...)."""
        return self._two(f"fcmp {predicate}", a, b)

    def select(self, mask: str, a: Operand, b: Operand) -> str:
        """Return a where the mask is set, else b."""
        kind = self.kind
        return self.text.value(
            f"select {self.mask} {mask}, {kind} {self.name(a)}, {kind} {self.name(b)}"
        )

    def minimum(self, a: Operand, b: Operand) -> str:
        """Return the lesser of a and b, and b if one is NaN."""
        return self.select(self.compare("olt", a, b), a, b)

    def maximum(self, a: Operand, b: Operand) -> str:
        """Return the greater of a and b, and b if one is NaN."""
        return self.select(self.compare("ogt", a, b), a, b)

    def clamp(self, low: float, x: str, high: float) -> str:
        """Return x brought into [low, high]; NaN stays NaN."""
        return self.minimum(high, self.maximum(low, x))

    def both(self, a: str, b: str) -> str:
        """Return the mask of the lanes that are set in both."""
        return self.text.value(f"and {self.mask} {a}, {b}")

    def either(self, a: str, b: str) -> str:
        """Return the mask of the lanes that are set in one or both."""
        return self.text.value(f"or {self.mask} {a}, {b}")

    def without(self, a: str, b: str) -> str:
        """Return the mask of the lanes that are set in a and not in b."""
        return self.both(a, self.text.value(f"xor {self.mask} {b}, {self._all_set()}"))

    def differ(self, a: str, b: str) -> str:
        """Return the mask of the lanes that are set in one only."""
        return self.text.value(f"xor {self.mask} {a}, {b}")

    def _all_set(self) -> str:
        return Shape("i1", self.shape.lanes).splat(1)

    def some(self, mask: str) -> str:
        """Return the bit that says whether the mask is set in any lane."""
        count = self.shape.lanes
        if not count:
            return mask
        packed = self.text.value(f"bitcast {self.mask} {mask} to i{count}")
        return self.text.value(f"icmp ne i{count} {packed}, 0")

    def overlay(self, mask: str, build: Callable[[], str], under: str) -> str:
        """Return what `build` appends where the mask is set, else `under`.

        What it appends is branched over where no lane is set.
        """
        return self.text.unless(
            self.kind, under, self.some(mask), lambda: self.select(mask, build(), under)
        )

    # Bits.

    def as_bits(self, a: Operand) -> str:
        """Return the bits of a as integers."""
        return self.text.value(f"bitcast {self.kind} {self.name(a)} to {self.bits}")

    def as_float(self, a: str) -> str:
        """Return the floating-point numbers that have these bits."""
        return self.text.value(f"bitcast {self.bits} {a} to {self.kind}")

    def integer(self, operation: str, a: str, b: str | int) -> str:
        """Return the result of an instruction on integers: `add`, `and`, `shl`, `lshr`, ..."""
        second = b if isinstance(b, str) else self.shape.integer.splat(b)
        return self.text.value(f"{operation} {self.bits} {a}, {second}")

    def flip_sign(self, a: str, b: str) -> str:
        """Return a with its sign changed where b is negative."""
        sign = self.integer("and", self.as_bits(b), 1 << (self.shape.bits - 1))
        return self.as_float(self.integer("xor", self.as_bits(a), sign))

    def is_negative(self, a: str) -> str:
        """Return the mask of the lanes whose sign bit is set, that of -0.0 too."""
        bits, zero = self.as_bits(a), self.shape.integer.splat(0)
        return self.text.value(f"icmp slt {self.bits} {bits}, {zero}")

    # Exact sums and products.

    def two_sum(self, a: Operand, b: Operand) -> tuple[str, str]:
        """Return a + b rounded, and what the rounding left out."""
        total = self.add(a, b)
        second = self.subtract(total, a)
        first = self.subtract(total, second)
        return total, self.add(self.subtract(a, first), self.subtract(b, second))

    def quick_two_sum(self, a: Operand, b: Operand) -> tuple[str, str]:
        """Return the same as `two_sum` where |a| >= |b|, or a is 0."""
        total = self.add(a, b)
        return total, self.subtract(b, self.subtract(total, a))

    def two_product(self, a: Operand, b: Operand) -> tuple[str, str]:
        """Return a * b rounded, and what the rounding left out."""
        product = self.multiply(a, b)
        if self.has_fma:
            return product, self.fma(a, b, self.negate(product))
        (a_high, a_low), (b_high, b_low) = self._halves(a), self._halves(b)
        left = self.subtract(self.multiply(a_high, b_high), product)
        left = self.add(left, self.multiply(a_high, b_low))
        left = self.add(left, self.multiply(a_low, b_high))
        return product, self.add(left, self.multiply(a_low, b_low))

    def _halves(self, a: Operand) -> tuple[str, str]:
        """Return a as the sum of two numbers of half as many bits."""
        shifted = self.multiply(a, 2.0 ** ((self.layout.fraction + 2) // 2) + 1)
        high = self.subtract(shifted, self.subtract(shifted, a))
        return high, self.subtract(a, high)

    # Width.

    def as_doubles(self) -> Lanes:
        """Return arithmetic in double on as many lanes."""
        return Lanes(self.text, self.shape.of("double"), self.target)

    def widened(self) -> Lanes:
        """Return arithmetic in double on as many lanes, as exact as a result in float needs."""
        return Lanes(self.text, self.shape.of("double"), self.target, "wide")

    def widen(self, a: str) -> str:
        """Return a as doubles."""
        if self.shape.element == "double":
            return a
        return self.text.value(f"fpext {self.kind} {a} to {self.shape.of('double').name}")

    def narrow(self, a: str) -> str:
        """Return doubles as what this arithmetic is on."""
        if self.shape.element == "double":
            return a
        return self.text.value(f"fptrunc {self.shape.of('double').name} {a} to {self.kind}")

    def spread(self, scalar: str) -> str:
        """Return one number in all lanes."""
        if not self.shape.lanes:
            return scalar
        kind, lanes = self.kind, self.shape.lanes
        first = self.text.value(
            f"insertelement {kind} poison, {self.shape.element} {scalar}, i64 0"
        )
        return self.text.value(
            f"shufflevector {kind} {first}, {kind} poison, <{lanes} x i32> zeroinitializer"
        )
