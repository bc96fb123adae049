"""`LoopsMath`: the arithmetic of scalar rules, carried out by building `loops` operations.

An element is one value or a vector of them. Floats narrower than f32 are computed in f32:
they are widened when read and narrowed when written or cast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerType, f32, i1
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ....ir.dialects.upstream import RemFOp
from ....ir.narrow import narrowed, to_odd, widened
from ....ir.scalar_math import ScalarMath, Term
from ....ir.types import dtypes
from ....ir.types.dtypes import DType
from .loops import NO_OVERFLOW, Loops, Rows, float_predicate, predicate, storage, vector_type
from .quotient import parts_of

_NARROW = ("f16", "bf16")
_FAST: Rows = {"fastmath": arith.FastMathFlagsAttr("none")}
_NEAR: Rows = {"fastmath": arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])}


@dataclass(frozen=True)
class Element:
    """A value of a dtype: scalar (no lanes) or vector."""

    value: SSAValue
    dtype: DType
    lanes: int


def computed(dtype: DType) -> Attribute:
    """Return the IR element type that a dtype is computed in."""
    return f32 if dtype.name in _NARROW else storage(dtype)


def _unary(op: type[Operation]) -> Callable[[LoopsMath, Element], Element]:
    def rule(self: LoopsMath, a: Element) -> Element:
        return self._make(op, a, properties=_FAST)

    return rule


class LoopsMath(ScalarMath):
    """`ScalarMath` on elements of one kernel."""

    def __init__(self, loops: Loops) -> None:
        self.loops = loops

    # -- values ---------------------------------------------------------------------------

    def constant(self, value: Any, dtype: DType) -> Element:
        """Return a scalar constant."""
        if dtype.kind == "n":
            value = int(np.array(value).astype(dtype.numpy).view(np.int8))
        elif dtype.kind == "f":
            value = float(value)
        elif dtype.kind == "u":
            value = _wrap(int(value), dtype.bits)
        else:
            value = int(value)
        return Element(self.loops.constant(value, computed(dtype)), dtype, 0)

    def dtype_of(self, x: Element) -> DType:
        """Return the dtype."""
        return x.dtype

    def from_index(self, value: SSAValue, dtype: DType, lanes: int) -> Element:
        """Return an index value or vector as a number."""
        kind = vector_type(IntegerType(64), lanes)
        wide = Element(self.loops.pure(arith.IndexCastOp, (value,), kind), dtypes.i64, lanes)
        return self.cast(wide, dtype)

    def to_index(self, x: Element) -> SSAValue:
        """Return an integer element as index value or vector."""
        wide = self.cast(x, dtypes.i64)
        return self.loops.pure(arith.IndexCastOp, (wide.value,), vector_type(IndexType(), x.lanes))

    def widen(self, value: SSAValue, dtype: DType, lanes: int) -> Element:
        """Return what was read from a buffer as an element."""
        if dtype.name in _NARROW:
            value = self.loops.pure(arith.ExtFOp, (value,), vector_type(f32, lanes))
        return Element(value, dtype, lanes)

    def narrow(self, x: Element) -> SSAValue:
        """Return what to write to a buffer."""
        if x.dtype.name not in _NARROW:
            return x.value
        kind = vector_type(storage(x.dtype), x.lanes)
        made = x.value.owner
        if isinstance(made, arith.ExtFOp) and made.operands[0].type == kind:
            return made.operands[0]  # it was read so
        return self.loops.pure(arith.TruncFOp, (x.value,), kind)

    def stored(self, x: Element) -> Element:
        """Return what is read again of what is written to a buffer."""
        return self.widen(self.narrow(x), x.dtype, x.lanes)

    def spread(self, x: Element, lanes: int) -> Element:
        """Return a vector; a scalar is put into every lane."""
        if x.lanes or not lanes:
            return x
        return Element(self.loops.broadcast(x.value, lanes), x.dtype, lanes)

    # -- building -------------------------------------------------------------------------

    def _make(self, op: type[Operation], *xs: Element, dtype: DType | None = None,
              properties: Rows | None = None) -> Element:  # fmt: skip
        lanes = max(x.lanes for x in xs)
        spread = [self.spread(x, lanes) for x in xs]
        out = dtype or xs[0].dtype
        kind = vector_type(i1 if out.kind == "b" else computed(out), lanes)
        return Element(self.loops.pure(op, [x.value for x in spread], kind, properties), out, lanes)

    def _pick(self, a: Element, b: Element, table: tuple[Any, Any, Any]) -> Element:
        """Make the float, signed or unsigned form of a binary operation."""
        op = table["fiu".index("i" if a.dtype.kind == "b" else a.dtype.kind)]
        return self._make(op, a, b, properties=_FLAGS.get(op))

    def add(self, a: Element, b: Element) -> Element:
        """Return a + b."""
        return self._pick(a, b, (arith.AddfOp, arith.AddiOp, arith.AddiOp))

    def sub(self, a: Element, b: Element) -> Element:
        """Return a - b."""
        return self._pick(a, b, (arith.SubfOp, arith.SubiOp, arith.SubiOp))

    def mul(self, a: Element, b: Element) -> Element:
        """Return a * b."""
        return self._pick(a, b, (arith.MulfOp, arith.MuliOp, arith.MuliOp))

    def div(self, a: Element, b: Element) -> Element:
        """Return a / b, truncating for integers."""
        number = known_float(b) if self.loops.fuses and a.dtype == b.dtype == dtypes.f32 else None
        parts = None if number is None else parts_of(number)
        if parts is not None:
            high, low = (self.constant(part, a.dtype) for part in parts)
            return self.fma(a, high, self.mul(a, low)) if parts[1] else self.mul(a, high)
        return self._pick(a, b, (arith.DivfOp, arith.DivSIOp, arith.DivUIOp))

    def truncated_divide(self, a: Element, b: Element) -> Element:
        """Return a / b rounded towards zero."""
        divided = self.div(a, b)
        return self.trunc(divided) if a.dtype.is_float else divided

    def floor_divide(self, a: Element, b: Element) -> Element:
        """Return a / b rounded down."""
        if a.dtype.is_float:
            return self.floor(self.div(a, b))
        return self._pick(a, b, (arith.DivfOp, arith.FloorDivSIOp, arith.DivUIOp))

    def fmod(self, a: Element, b: Element) -> Element:
        """Return the remainder with the sign of the dividend, exactly."""
        return self._pick(a, b, (RemFOp, arith.RemSIOp, arith.RemUIOp))

    def mod(self, a: Element, b: Element) -> Element:
        """Return the remainder with the sign of the divisor."""
        rest = self.fmod(a, b)
        if a.dtype.kind == "u":
            return rest
        zero = self.constant(0, a.dtype)
        unlike = self.logical_xor(self.compare("lt", rest, zero), self.compare("lt", b, zero))
        wrong = self.logical_and(self.compare("ne", rest, zero), unlike)
        found = self.select(wrong, self.add(rest, b), rest)
        if not a.dtype.is_float:
            return found
        none = self.select(self.compare("lt", b, zero), self.neg(zero), zero)
        return self.select(self.compare("eq", rest, zero), none, found)

    def neg(self, a: Element) -> Element:
        """Return -a."""
        if a.dtype.is_float:
            return self._make(arith.NegfOp, a, properties=_FAST)
        return self.sub(self.constant(0, a.dtype), a)

    def abs(self, a: Element) -> Element:
        """Return |a|."""
        if a.dtype.is_float:
            return self._make(math.AbsFOp, a, properties=_FAST)
        return a if a.dtype.kind == "u" else self._make(math.AbsIOp, a)

    def minimum(self, a: Element, b: Element) -> Element:
        """Return the smaller; NaN if either is."""
        if a.dtype.kind == "b":
            return self.logical_and(a, b)
        return self._pick(a, b, (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp))

    def greater(self, a: Element, b: Element) -> Element:
        """Return the greater of a and b, and b if one is NaN."""
        return self.select(self.compare("gt", a, b), a, b)

    def maximum(self, a: Element, b: Element) -> Element:
        """Return the larger; NaN if either is."""
        if a.dtype.kind == "b":
            return self.logical_or(a, b)
        return self._pick(a, b, (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp))

    def fma(self, a: Element, b: Element, c: Element) -> Element:
        """Return a * b + c, of floats rounded once."""
        if not a.dtype.is_float:
            return self.add(self.mul(a, b), c)
        return self._make(math.FmaOp, a, b, c, properties=_FAST)

    def pow(self, a: Element, b: Element) -> Element:
        """Return a to the power b."""
        if a.dtype.is_float:
            return self._make(math.PowFOp, a, b, properties=_FAST)
        wide = self._make(
            math.PowFOp, self.cast(a, dtypes.f64), self.cast(b, dtypes.f64), properties=_FAST
        )
        return self.cast(wide, a.dtype)

    exp = _unary(math.ExpOp)
    exp2 = _unary(math.Exp2Op)

    def exp_near(self, x: Element) -> Element:
        """Return e^x, some units in the last place off, for an x that is not large."""
        return self._make(math.ExpOp, x, properties=_NEAR)

    def exp2_near(self, x: Element) -> Element:
        """Return 2^x, some units in the last place off, for an x that is not large."""
        return self._make(math.Exp2Op, x, properties=_NEAR)

    expm1 = _unary(math.ExpM1Op)
    log = _unary(math.LogOp)
    log2 = _unary(math.Log2Op)
    log10 = _unary(math.Log10Op)
    log1p = _unary(math.Log1pOp)
    sqrt = _unary(math.SqrtOp)
    rsqrt = _unary(math.RsqrtOp)
    sin = _unary(math.SinOp)
    cos = _unary(math.CosOp)
    tan = _unary(math.TanOp)
    asin = _unary(math.AsinOp)
    acos = _unary(math.AcosOp)
    atan = _unary(math.AtanOp)
    sinh = _unary(math.SinhOp)
    cosh = _unary(math.CoshOp)
    tanh = _unary(math.TanhOp)
    asinh = _unary(math.AsinhOp)
    acosh = _unary(math.AcoshOp)
    atanh = _unary(math.AtanhOp)
    erf = _unary(math.ErfOp)
    floor = _unary(math.FloorOp)
    ceil = _unary(math.CeilOp)
    trunc = _unary(math.TruncOp)

    def atan2(self, a: Element, b: Element) -> Element:
        """Return the angle of the point (b, a)."""
        return self._make(math.Atan2Op, a, b, properties=_FAST)

    def round(self, a: Element) -> Element:
        """Return the nearest integer, ties to even."""
        return self._make(math.RoundEvenOp, a, properties=_FAST)

    # -- truth ----------------------------------------------------------------------------

    def compare(self, relation: str, a: Element, b: Element) -> Element:
        """Return the truth of `eq ne lt le gt ge`."""
        if a.dtype.is_float:
            rows = float_predicate(_FLOAT_PREDICATES[relation])
            return self._make(arith.CmpfOp, a, b, dtype=dtypes.bool_, properties=rows)
        unsigned = 4 if a.dtype.kind in "ub" and relation not in ("eq", "ne") else 0
        rows = predicate(_PREDICATES[relation] + unsigned)
        return self._make(arith.CmpiOp, a, b, dtype=dtypes.bool_, properties=rows)

    def isnan(self, a: Element) -> Element:
        """Return whether a is not a number."""
        rows = float_predicate(14)
        return self._make(arith.CmpfOp, a, a, dtype=dtypes.bool_, properties=rows)

    def select(self, condition: Element, a: Element, b: Element) -> Element:
        """Return a where the condition holds, else b."""
        return self._make(arith.SelectOp, condition, a, b, dtype=a.dtype)

    def logical_not(self, a: Element) -> Element:
        """Return the opposite truth."""
        return self._make(arith.XOrIOp, a, self.constant(1, dtypes.bool_))

    def logical_and(self, a: Element, b: Element) -> Element:
        """Return whether both hold."""
        return self._make(arith.AndIOp, a, b)

    def logical_or(self, a: Element, b: Element) -> Element:
        """Return whether one holds."""
        return self._make(arith.OrIOp, a, b)

    def logical_xor(self, a: Element, b: Element) -> Element:
        """Return whether exactly one holds."""
        return self._make(arith.XOrIOp, a, b)

    bitwise_and, bitwise_or, bitwise_xor = logical_and, logical_or, logical_xor

    def bitwise_not(self, a: Element) -> Element:
        """Return every bit flipped."""
        return self._make(arith.XOrIOp, a, self.constant(_ones(a.dtype), a.dtype))

    def shift_left(self, a: Element, b: Element) -> Element:
        """Return a shifted up; zero where the count is not below the width."""
        return self._shift(arith.ShLIOp, a, b, self.constant(0, a.dtype))

    def shift_right(self, a: Element, b: Element) -> Element:
        """Return a shifted down; only sign bits are left where the count is too large."""
        if a.dtype.kind == "u":
            return self._shift(arith.ShRUIOp, a, b, self.constant(0, a.dtype))
        last = self.constant(a.dtype.bits - 1, a.dtype)
        return self._shift(arith.ShRSIOp, a, b, self._make(arith.ShRSIOp, a, last))

    def _shift(self, op: type[Operation], a: Element, b: Element, beyond: Element) -> Element:
        width = self.constant(a.dtype.bits, a.dtype)
        rows = predicate(_PREDICATES["lt"] + 4)
        inside = self._make(arith.CmpiOp, b, width, dtype=dtypes.bool_, properties=rows)
        safe = self.select(inside, b, self.constant(0, a.dtype))
        return self.select(inside, self._make(op, a, safe, properties=_FLAGS.get(op)), beyond)

    # -- conversion -----------------------------------------------------------------------

    def cast(self, a: Element, dtype: DType) -> Element:
        """Return the value in another dtype: towards zero, saturating, NaN to 0, != 0 to bool."""
        if a.dtype == dtype:
            return a
        if "n" in (a.dtype.kind, dtype.kind):
            return self._narrow(a, dtype)
        if dtype.kind == "b":
            return self.compare("ne", a, self.constant(0, a.dtype))
        if a.dtype.kind == "f":
            return self._from_float(a, dtype)
        if dtype.kind == "f":
            return self._int_to_float(a, dtype)
        return self._int_to_int(a, dtype)

    def bitcast(self, a: Element, dtype: DType) -> Element:
        """Return the same bits as another dtype of the same width."""
        if a.dtype.kind == "b" or dtype.kind == "b":
            byte = self.cast(a, dtypes.u8) if a.dtype.kind == "b" else a
            return self.cast(Element(byte.value, dtypes.u8, a.lanes), dtype)
        if "f" not in a.dtype.kind + dtype.kind:
            return Element(a.value, dtype, a.lanes)
        kind = vector_type(storage(dtype), a.lanes)
        return self.widen(self.loops.pure(arith.BitcastOp, (self.narrow(a),), kind), dtype, a.lanes)

    def _narrow(self, a: Element, dtype: DType) -> Element:
        """Convert from or to a narrow type, through f32 or i32."""
        if a.dtype.kind == "n":
            stored = Term(self, Element(a.value, dtypes.u8, a.lanes))
            return self.cast(widened(stored, a.dtype).value, dtype)
        if dtype.is_narrow_float and a.dtype == dtypes.f64:
            wide = to_odd(Term(self, a))
        else:
            wide = Term(self, self.cast(a, dtypes.f32 if dtype.is_narrow_float else dtypes.i32))
        byte: Element = narrowed(wide, dtype).value
        return Element(byte.value, dtype, byte.lanes)

    def _from_float(self, a: Element, dtype: DType) -> Element:
        if dtype.kind == "f":
            return self._float_to_float(a, dtype)
        op = arith.FPToUIOp if dtype.kind == "u" else arith.FPToSIOp
        return self._make(op, a, dtype=dtype)

    def _float_to_float(self, a: Element, dtype: DType) -> Element:
        have, want = computed(a.dtype), computed(dtype)
        out = Element(a.value, dtype, a.lanes)
        if have != want:
            op = arith.ExtFOp if dtype.name == "f64" else arith.TruncFOp
            rows = _FAST if op is arith.TruncFOp and "fastmath" in _TRUNC_FIELDS else None
            kind = vector_type(want, a.lanes)
            out = Element(self.loops.pure(op, (a.value,), kind, rows), dtype, a.lanes)
        if dtype.name not in _NARROW:
            return out
        return self.stored(out)

    def _int_to_float(self, a: Element, dtype: DType) -> Element:
        op = arith.SIToFPOp if a.dtype.kind == "i" else arith.UIToFPOp
        made = self._make(op, a, dtype=dtype)
        if dtype.name not in _NARROW:
            return made
        return self.stored(made)

    def _int_to_int(self, a: Element, dtype: DType) -> Element:
        if dtype.bits == a.dtype.bits:
            return Element(a.value, dtype, a.lanes)
        if dtype.bits < a.dtype.bits:
            return self._make(arith.TruncIOp, a, dtype=dtype, properties=_FLAGS.get(arith.TruncIOp))
        op = arith.ExtSIOp if a.dtype.kind == "i" else arith.ExtUIOp
        return self._make(op, a, dtype=dtype)


def known_float(x: Element) -> float | None:
    """Return the number that a constant is, None for other elements."""
    owner = x.value.owner
    if x.lanes or not isinstance(owner, arith.ConstantOp):
        return None
    value = owner.value
    return float(value.value.data) if isinstance(value, FloatAttr) else None


_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}
_FLOAT_PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}
_TRUNC_FIELDS: frozenset[str] = frozenset(arith.TruncFOp.get_irdl_definition().properties)
_FLAGS: dict[type[Operation], Rows] = {
    **dict.fromkeys((arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, RemFOp), _FAST),
    **dict.fromkeys((arith.MinimumfOp, arith.MaximumfOp), _FAST),
    **{
        op: NO_OVERFLOW
        for op in (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp, arith.TruncIOp)
        if "overflowFlags" in op.get_irdl_definition().properties
    },
}


def _wrap(value: int, bits: int) -> int:
    """Return the signed number with the same low bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _ones(dtype: DType) -> int:
    return 1 if dtype.kind == "b" else -1 if dtype.kind == "i" else (1 << dtype.bits) - 1
