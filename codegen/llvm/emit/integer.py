"""Emit integer `arith` and `math` operations; nothing here is undefined behaviour in LLVM.

Division by zero gives 0, as does the remainder; INT_MIN / -1 is INT_MIN; a shift by the width or
more gives 0, or the sign for `shrsi`. Where the IR shows the divisor or the amount to be harmless,
nothing is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from xdsl.dialects import arith
from xdsl.ir import Operation

from ..text.build import Shape, Text
from .emitter import Emit, Emitter, known_integer


def plain(instruction: str) -> Emit:
    """Return the emitter of an operation that is one instruction on two operands."""

    def emit(e: Emitter, op: Operation) -> None:
        x, y = op.operands
        result = op.results[0]
        kind, names = e.shape(result).name, e.names
        names[result] = e.text.value(f"{instruction} {kind} {names[x]}, {names[y]}")

    return emit


def _intrinsic(name: str, bits: str = "") -> Emit:
    """Return the emitter of an operation that is a call of one intrinsic.

    A sign bit of `i1` turns the order of two values round: `bits` does instead for those.
    """

    def emit(e: Emitter, op: Operation) -> None:
        x, y = e.operands(op)
        shape = e.shape(op.results[0])
        if bits and shape.element == "i1":
            e.names[op.results[0]] = e.text.value(f"{bits} {shape.name} {x}, {y}")
        else:
            e.names[op.results[0]] = e.text.intrinsic(name, shape, x, y)

    return emit


def _counting(name: str, flag: str = "") -> Emit:
    """Return the emitter of an intrinsic on one operand, with a flag as LLVM wants it."""

    def emit(e: Emitter, op: Operation) -> None:
        (x,) = e.operands(op)
        shape = e.shape(op.results[0])
        full = f"@{name}.{shape.suffix}"
        comma = ", i1" if flag else ""
        e.text.declare(f"declare {shape.name} {full}({shape.name}{comma})")
        e.names[op.results[0]] = e.text.value(
            f"call {shape.name} {full}({shape.name} {x}{comma} {flag})"
        )

    return emit


class Division:
    """The parts of one division that may have to be guarded."""

    def __init__(self, e: Emitter, op: Operation, *, signed: bool) -> None:
        self.text, self.arch = e.text, e.target.architecture.name
        self.signed = signed
        self.shape = e.shape(op.results[0])
        self.x, self.y = e.operands(op)
        known = known_integer(op.operands[1])
        self.guarded = known is None or known == 0 or (signed and known == -1)
        self.safe = self._safe() if self.guarded else self.y

    def _safe(self) -> str:
        """Return the divisor with 1 in the place of what must not be divided by."""
        text, shape, y = self.text, self.shape, self.y
        bad = self._equal(0)
        if self.signed:
            bad = text.value(f"or {shape.mask.name} {bad}, {self._equal(-1)}")
        return select(text, shape, bad, shape.splat(1), y)

    def _equal(self, value: int) -> str:
        shape = self.shape
        return self.text.value(f"icmp eq {shape.name} {self.y}, {shape.splat(value)}")

    def quotient(self) -> str:
        """Return x / y towards zero."""
        text, shape = self.text, self.shape
        result = self.divided
        if not self.guarded:
            return result
        if self.signed:
            negative = text.value(f"sub {shape.name} {shape.splat(0)}, {self.x}")
            result = select(text, shape, self._equal(-1), negative, result)
        return select(text, shape, self._equal(0), shape.splat(0), result)

    def remainder(self) -> str:
        """Return the remainder, with the sign of x; it is 0 of what was replaced by 1."""
        text, kind = self.text, self.shape.name
        if self.floats is None:
            name = "srem" if self.signed else "urem"
            return text.value(f"{name} {kind} {self.x}, {self.safe}")
        whole = text.value(f"mul {kind} {self.divided}, {self.safe}")
        return text.value(f"sub {kind} {self.x}, {whole}")

    @cached_property
    def divided(self) -> str:
        """Return x / y towards zero, where nothing has to be guarded against.

        Lanes are divided as floats: there is no such instruction on integers, and one after the
        other takes longer. A quotient is at least 1 / y away from a whole number that it does not
        reach, and floats of more bits than x has are rounded by less.
        """
        text, kind, floats = self.text, self.shape.name, self.floats
        if floats is None:
            name = "sdiv" if self.signed else "udiv"
            return text.value(f"{name} {kind} {self.x}, {self.safe}")
        sign = "s" if self.signed else "u"
        x, y = (
            text.value(f"{sign}itofp {kind} {each} to {floats.name}")
            for each in (self.x, self.safe)
        )
        quotient = text.value(f"fdiv {floats.name} {x}, {y}")
        return text.value(f"fpto{sign}i {floats.name} {quotient} to {kind}")

    @property
    def floats(self) -> Shape | None:
        """Return the floats that lanes are divided as; None: they are divided as they are."""
        shape = self.shape
        if not self.guarded or not shape.lanes or self.arch != "x86_64":
            return None
        if shape.bits in (8, 16):
            return shape.of("float")
        return shape.of("double") if shape.bits == 32 and self.signed else None


def select(text: Text, shape: Shape, condition: str, x: str, y: str) -> str:
    """Choose lane by lane."""
    return text.value(f"select {shape.mask.name} {condition}, {shape.name} {x}, {shape.name} {y}")


def _power_of_two(op: Operation) -> int | None:
    """Return the logarithm of the divisor if it is known to be a power of two."""
    known = known_integer(op.operands[1])
    if known is None or known <= 0 or known & (known - 1):
        return None
    return known.bit_length() - 1


def _divide(e: Emitter, op: Operation) -> None:
    e.names[op.results[0]] = Division(e, op, signed=True).quotient()


def _remainder(e: Emitter, op: Operation) -> None:
    e.names[op.results[0]] = Division(e, op, signed=True).remainder()


def _divide_unsigned(e: Emitter, op: Operation) -> None:
    power, result = _power_of_two(op), op.results[0]
    if power is None:
        e.names[result] = Division(e, op, signed=False).quotient()
        return
    shape = e.shape(result)
    x = e.names[op.operands[0]]
    e.names[result] = e.text.value(f"lshr {shape.name} {x}, {shape.splat(power)}")


def _remainder_unsigned(e: Emitter, op: Operation) -> None:
    power, result = _power_of_two(op), op.results[0]
    if power is None:
        e.names[result] = Division(e, op, signed=False).remainder()
        return
    shape = e.shape(result)
    x = e.names[op.operands[0]]
    e.names[result] = e.text.value(f"and {shape.name} {x}, {shape.splat((1 << power) - 1)}")


def _rounded(*, up: bool, signed: bool = True) -> Emit:
    """Return the emitter of a division that rounds up or down."""

    def emit(e: Emitter, op: Operation) -> None:
        division = Division(e, op, signed=signed)
        text, shape = e.text, division.shape
        mask, kind = shape.mask.name, shape.name
        quotient, remainder = division.quotient(), division.remainder()
        inexact = text.value(f"icmp ne {kind} {remainder}, {shape.splat(0)}")
        if signed:
            signs = text.value(f"xor {kind} {remainder}, {division.y}")
            order = "sge" if up else "slt"
            moves = text.value(f"icmp {order} {kind} {signs}, {shape.splat(0)}")
            inexact = text.value(f"and {mask} {inexact}, {moves}")
        step = text.value(f"zext {mask} {inexact} to {kind}")
        name = "add" if up else "sub"
        e.names[op.results[0]] = text.value(f"{name} {kind} {quotient}, {step}")

    return emit


def _floor_divide(e: Emitter, op: Operation) -> None:
    """Divide down; by a power of two that is a shift."""
    power, result = _power_of_two(op), op.results[0]
    if power is None:
        _FLOOR(e, op)
        return
    shape = e.shape(result)
    x = e.names[op.operands[0]]
    e.names[result] = e.text.value(f"ashr {shape.name} {x}, {shape.splat(power)}")


_FLOOR = _rounded(up=False)


def _shift(instruction: str) -> Emit:
    """Return the emitter of a shift, by any amount."""

    def emit(e: Emitter, op: Operation) -> None:
        shape, text = e.shape(op.results[0]), e.text
        x, y = e.operands(op)
        kind, width = shape.name, shape.bits
        known = known_integer(op.operands[1])
        if known is not None and 0 <= known < width:
            e.names[op.results[0]] = text.value(f"{instruction} {kind} {x}, {y}")
            return
        fits = text.value(f"icmp ult {kind} {y}, {shape.splat(width)}")
        last = shape.splat(width - 1)
        amount = select(text, shape, fits, y, last)
        result = text.value(f"{instruction} {kind} {x}, {amount}")
        if instruction != "ashr":
            result = select(text, shape, fits, result, shape.splat(0))
        e.names[op.results[0]] = result

    return emit


_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _compare(e: Emitter, op: Operation) -> None:
    assert isinstance(op, arith.CmpiOp)
    x, y = e.operands(op)
    predicate = _PREDICATES[op.predicate.value.data]
    kind = e.shape(op.operands[0]).name
    e.names[op.results[0]] = e.text.value(f"icmp {predicate} {kind} {x}, {y}")


INTEGER: Mapping[str, Emit] = {
    "arith.addi": plain("add"),
    "arith.subi": plain("sub"),
    "arith.muli": plain("mul"),
    "arith.divsi": _divide,
    "arith.divui": _divide_unsigned,
    "arith.remsi": _remainder,
    "arith.remui": _remainder_unsigned,
    "arith.floordivsi": _floor_divide,
    "arith.ceildivsi": _rounded(up=True),
    "arith.ceildivui": _rounded(up=True, signed=False),
    "arith.minsi": _intrinsic("llvm.smin", "or"),
    "arith.maxsi": _intrinsic("llvm.smax", "and"),
    "arith.minui": _intrinsic("llvm.umin"),
    "arith.maxui": _intrinsic("llvm.umax"),
    "arith.andi": plain("and"),
    "arith.ori": plain("or"),
    "arith.xori": plain("xor"),
    "arith.shli": _shift("shl"),
    "arith.shrsi": _shift("ashr"),
    "arith.shrui": _shift("lshr"),
    "arith.cmpi": _compare,
    "math.absi": _counting("llvm.abs", "false"),
    "math.ctpop": _counting("llvm.ctpop"),
    "math.ctlz": _counting("llvm.ctlz", "false"),
    "math.cttz": _counting("llvm.cttz", "false"),
}
"""Emitters of the operations on integers."""
