"""Build LLVM IR as text: shapes of values, constants, and a growing list of lines.

Text is about ten times cheaper to make than `llvmlite.ir` objects, and LLVM has to parse it in
either case. All names begin with a prefix of their own (`%v12` values, `b7` labels), because
arguments, values and labels share one namespace in a function.

    >>> text = Text()
    >>> f32x4 = Shape("float", 4)
    >>> twice = text.value(f"fadd {f32x4.name} %x, %x")
    >>> half = text.value(f"fmul {f32x4.name} {twice}, {f32x4.splat(0.5)}")
    >>> print(text.body())
      %v0 = fadd <4 x float> %x, %x
      %v1 = fmul <4 x float> %v0, splat (float 0x3FE0000000000000)
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from ....lazy import cached_property

BITS = {
    "i1": 1,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "double": 64,
}
"""Width of each element type."""

SUFFIX = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
"""How intrinsic names spell the floating-point types; integers are spelt as they are."""


@dataclass(frozen=True)
class Shape:
    """The LLVM type of one value: an element, or a vector of `lanes` of them."""

    element: str
    lanes: int = 0

    @cached_property
    def name(self) -> str:
        """Return the type as LLVM writes it, `float` or `<16 x float>`."""
        return f"<{self.lanes} x {self.element}>" if self.lanes else self.element

    @cached_property
    def suffix(self) -> str:
        """Return the type as intrinsic names spell it, `f32` or `v16f32`."""
        element = SUFFIX.get(self.element, self.element)
        return f"v{self.lanes}{element}" if self.lanes else element

    @cached_property
    def bits(self) -> int:
        """Return the width of one element."""
        return BITS[self.element]

    @cached_property
    def is_float(self) -> bool:
        """Tell whether the element is a floating-point number."""
        return self.element in SUFFIX

    @cached_property
    def integer(self) -> Shape:
        """Return the integers of the same width and count, as a bitcast needs them."""
        return replace(self, element=f"i{self.bits}")

    @cached_property
    def mask(self) -> Shape:
        """Return what a comparison of two such values gives."""
        return replace(self, element="i1")

    def of(self, element: str) -> Shape:
        """Return the shape with as many lanes of another element."""
        return Shape(element, self.lanes)

    def splat(self, value: float | int) -> str:
        """Return the constant that has `value` in each lane."""
        if not self.lanes:
            return number(self.element, value)
        return f"splat ({self.element} {number(self.element, value)})"


@lru_cache(maxsize=4096)
def _spell(element: str, value: float, negative: bool) -> str:
    del negative  # tells 0.0 from -0.0, which are equal as keys
    if element == "half":
        value = math.copysign(math.inf, value) if abs(value) >= 65520 else value
        return "0xH" + struct.pack(">e", value).hex().upper()
    if element == "bfloat":
        return f"0xR{_bfloat(value):04X}"
    if element == "float":
        value = ctypes.c_float(value).value
    return "0x" + struct.pack(">d", value).hex().upper()


def number(element: str, value: float | int) -> str:
    """Return one constant of type `element`, exactly, as LLVM writes it.

    A float is rounded to the type; an integer may be given signed or unsigned.

        >>> number("float", 0.1), number("half", 1.0), number("bfloat", 1.0), number("i8", 255)
        ('0x3FB99999A0000000', '0xH3C00', '0xR3F80', '-1')
    """
    if element in SUFFIX:
        value = float(value)
        if math.isnan(value):  # a quiet NaN, whatever its payload was
            return {"half": "0xH7E00", "bfloat": "0xR7FC0"}.get(element, "0x7FF8000000000000")
        return _spell(element, value, struct.pack(">d", value)[0] >= 128)
    if element == "i1":
        return "true" if value else "false"
    width = BITS[element]
    low = int(value) & ((1 << width) - 1)
    return str(low - (1 << width) if low >> (width - 1) else low)


def _bfloat(value: float) -> int:
    """Return the bits of `value` rounded to bfloat16, ties to even."""
    bits: int = struct.unpack("<I", ctypes.c_float(value))[0]
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


class Text:
    """The lines of one function under construction, and the declarations they need."""

    __slots__ = ("block", "count", "declarations", "functions", "lines")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self.functions: dict[str, str] = {}
        self.count = 0
        self.block = "entry"

    def value(self, instruction: str) -> str:
        """Append an instruction and return the name of its result."""
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append("  " + text)

    def fresh(self) -> str:
        """Return a new value name, for a result that must be named before it is made."""
        self.count += 1
        return f"%v{self.count - 1}"

    def define(self, name: str, instruction: str) -> None:
        """Append an instruction whose result was named by `fresh`."""
        self.lines.append(f"  {name} = {instruction}")

    def fresh_label(self) -> str:
        """Return a new label, to be used as `label %NAME` and begun with `label`."""
        self.count += 1
        return f"b{self.count - 1}"

    def label(self, name: str) -> None:
        """Begin the block `name`; `block` tells which block is being filled."""
        self.lines.append(name + ":")
        self.block = name

    def unless(self, kind: str, under: str, condition: str, build: Callable[[], str]) -> str:
        """Return `under`, a value of a kind, unless a condition holds: then what `build` appends.

        That is branched over otherwise.
        """
        before, inside, after = self.block, self.fresh_label(), self.fresh_label()
        self.line(f"br i1 {condition}, label %{inside}, label %{after}")
        self.label(inside)
        made = build()
        last = self.block
        self.line(f"br label %{after}")
        self.label(after)
        return self.value(f"phi {kind} [ {under}, %{before} ], [ {made}, %{last} ]")

    def declare(self, declaration: str) -> None:
        """Ask for one `declare` line in the module, however often it is asked for."""
        self.declarations[declaration] = None

    def intrinsic(self, name: str, shape: Shape, *operands: str) -> str:
        """Call `name` with operands and result all of `shape`: `llvm.fma`, `llvm.fabs`, ..."""
        kind = shape.name
        full = f"@{name}.{shape.suffix}"
        self.declare(f"declare {kind} {full}({', '.join([kind] * len(operands))})")
        arguments = ", ".join([f"{kind} {operand}" for operand in operands])
        return self.value(f"call {kind} {full}({arguments})")

    def body(self) -> str:
        """Return the lines so far."""
        return "\n".join(self.lines)
