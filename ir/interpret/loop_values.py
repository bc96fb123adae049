"""What the pure operations of the `loops` level compute, on numpy scalars and vectors.

One function an operation, exactly as the LLVM back end computes it:

- integers wrap; division by zero gives 0, as does the remainder; INT_MIN / -1 is INT_MIN; a
  shift by the width or more gives 0 (of a signed right shift: the sign);
- a float becomes an integer by truncation, clamped to the integer's range, NaN becoming 0;
- fused multiply-adds are rounded once; transcendental functions of f32 are the correctly
  rounded ones to within half a unit of f64, and so a yardstick and not what a machine gives;
- `maximumf(x, y)` is y if y is NaN or greater than x, else x; `maxnumf(x, y)` is y if x is NaN or
  y is greater, else x; the minima likewise. So of two zeros the first is taken;
- a reduction adds the upper half of the lanes to the lower half until one lane is left, and then
  adds the accumulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

Value = Any  # a numpy scalar, or a vector as a 1-D numpy array

_FLOATS: Mapping[type, Any] = {
    Float16Type: np.dtype(np.float16),
    BFloat16Type: np.dtype(ml_dtypes.bfloat16),
    Float32Type: np.dtype(np.float32),
    Float64Type: np.dtype(np.float64),
    IndexType: np.dtype(np.int64),
}
_INTEGERS = {1: np.dtype(np.bool_), **{n: np.dtype(f"i{n // 8}") for n in (8, 16, 32, 64)}}


def numpy_dtype(kind: Attribute) -> np.dtype[Any]:
    """Return numpy's dtype of a scalar type, or of the elements of a vector or memref."""
    if isinstance(kind, VectorType | MemRefType):
        kind = kind.element_type
    if isinstance(kind, IntegerType):
        return _INTEGERS[kind.width.data]
    found: np.dtype[Any] = _FLOATS[type(kind)]
    return found


def _dtype(op: Operation) -> np.dtype[Any]:
    """Return the dtype of an operation's result."""
    return numpy_dtype(op.results[0].type)


def _lanes(op: Operation) -> int:
    """Return how many lanes the result has, 0 for a scalar."""
    kind = op.results[0].type
    return int(kind.get_shape()[0]) if isinstance(kind, VectorType) else 0


def unsigned(value: Value) -> Value:
    """Return the same bits as unsigned integers."""
    return value.view(f"u{value.dtype.itemsize}") if value.dtype != np.bool_ else value


# Constants.


def constant(op: Operation) -> Value:
    """Return the value of an `arith.constant`."""
    assert isinstance(op, arith.ConstantOp)
    value, dtype = op.value, _dtype(op)
    if isinstance(value, IntegerAttr):
        return _wrap(value.value.data, dtype)
    if isinstance(value, FloatAttr):
        return np.array(value.value.data).astype(dtype)[()]
    assert isinstance(value, DenseIntOrFPElementsAttr)
    numbers = list(value.get_values())
    lanes = _lanes(op)
    if len(numbers) == 1:
        numbers *= lanes
    if np.issubdtype(dtype, np.integer) or dtype == np.bool_:
        return np.array([_wrap(int(number), dtype) for number in numbers], dtype)
    return np.array(numbers, np.float64).astype(dtype)


def _wrap(number: int, dtype: np.dtype[Any]) -> Value:
    """Return an integer of any size, wrapped to the type."""
    if dtype == np.bool_:
        return np.bool_(number & 1)
    return np.array(number & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)[()]


# Integers.


def _boolean(on_bools: Callable[[Value, Value], Value], on_others: Any) -> Any:
    """Return an operation that is another one on single bits."""

    def run(_: Operation, x: Value, y: Value) -> Value:
        return on_bools(x, y) if x.dtype == np.bool_ else on_others(x, y)

    return run


def _divide(x: Value, y: Value) -> Value:
    """Divide towards zero; by zero gives 0."""
    safe = np.where((y == 0) | (y == -1), 1, y).astype(x.dtype)
    remainder = np.fmod(x, safe)
    quotient = (x - remainder) // safe
    return np.where(y == 0, 0, np.where(y == -1, -x, quotient)).astype(x.dtype)[()]


def _remainder(x: Value, y: Value) -> Value:
    safe = np.where((y == 0) | (y == -1), 1, y).astype(x.dtype)
    return np.fmod(x, safe)


def _divide_unsigned(x: Value, y: Value) -> Value:
    left, right = unsigned(x), unsigned(y)
    safe = np.where(right == 0, 1, right).astype(right.dtype)
    return np.where(right == 0, 0, left // safe).astype(left.dtype).view(x.dtype)[()]


def _remainder_unsigned(x: Value, y: Value) -> Value:
    left, right = unsigned(x), unsigned(y)
    safe = np.where(right == 0, 1, right).astype(right.dtype)
    return (left % safe).astype(left.dtype).view(x.dtype)[()]


def _divide_down(x: Value, y: Value) -> Value:
    quotient, remainder = _divide(x, y), _remainder(x, y)
    down = (remainder != 0) & ((remainder < 0) != (y < 0))
    return (quotient - down.astype(x.dtype)).astype(x.dtype)[()]


def _divide_up(x: Value, y: Value) -> Value:
    quotient, remainder = _divide(x, y), _remainder(x, y)
    up = (remainder != 0) & ((remainder < 0) == (y < 0))
    return (quotient + up.astype(x.dtype)).astype(x.dtype)[()]


def _divide_up_unsigned(x: Value, y: Value) -> Value:
    up = _remainder_unsigned(x, y) != 0
    return (_divide_unsigned(x, y) + up.astype(x.dtype)).astype(x.dtype)[()]


def _shift(x: Value, y: Value, go: Callable[[Value, Value], Value], *, sign: bool) -> Value:
    """Shift by an amount that may be too large."""
    width = 8 * x.dtype.itemsize
    amount = unsigned(y)
    within = np.minimum(amount, amount.dtype.type(width - 1))
    result = go(x, within.astype(x.dtype))
    if not sign:
        result = np.where(amount < width, result, 0)
    return result.astype(x.dtype)[()]


def _shift_right_unsigned(x: Value, y: Value) -> Value:
    def go(left: Value, amount: Value) -> Value:
        return np.right_shift(unsigned(left), unsigned(amount)).view(x.dtype)

    return _shift(x, y, go, sign=False)


_INTEGER_COMPARISONS: tuple[Callable[[Value, Value], Value], ...] = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.less, np.less_equal, np.greater, np.greater_equal,
)  # fmt: skip


def _compare_integers(op: Operation, x: Value, y: Value) -> Value:
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    if predicate >= 6:
        return _INTEGER_COMPARISONS[predicate](unsigned(x), unsigned(y))
    if x.dtype == np.bool_:  # a signed bit is 0 or -1
        x, y = -x.astype(np.int8), -y.astype(np.int8)
    return _INTEGER_COMPARISONS[predicate](x, y)


def _never(x: Value, y: Value) -> Value:
    return np.zeros(np.shape(x), np.bool_)[()] & (x == y)


_FLOAT_COMPARISONS: tuple[Callable[[Value, Value], Value], ...] = (
    _never,
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda x, y: (x < y) | (x > y),
    lambda x, y: ~(np.isnan(x) | np.isnan(y)),
)


def _compare_floats(op: Operation, x: Value, y: Value) -> Value:
    assert isinstance(op, arith.CmpfOp)
    predicate = op.predicate.value.data
    if predicate < 8:
        return _FLOAT_COMPARISONS[predicate](x, y)
    opposite = {8: 6, 9: 5, 10: 4, 11: 3, 12: 2, 13: 1, 14: 7, 15: 0}[predicate]
    return ~_FLOAT_COMPARISONS[opposite](x, y)


def _select(_: Operation, condition: Value, x: Value, y: Value) -> Value:
    chosen: Value = np.where(condition, x, y)
    return chosen[()]


# Conversions.


def _extend_unsigned(op: Operation, x: Value) -> Value:
    return unsigned(x).astype(f"u{_dtype(op).itemsize}").view(_dtype(op))[()]


def _extend_signed(op: Operation, x: Value) -> Value:
    wide = x.astype(_dtype(op))
    return (-wide if x.dtype == np.bool_ else wide)[()]


def _truncate_integer(op: Operation, x: Value) -> Value:
    dtype = _dtype(op)
    return ((x & 1) != 0) if dtype == np.bool_ else x.astype(dtype)[()]


def _cast_index(op: Operation, x: Value) -> Value:
    widens = x.dtype.itemsize < _dtype(op).itemsize
    return _extend_signed(op, x) if widens else _truncate_integer(op, x)


def _float_of_unsigned(op: Operation, x: Value) -> Value:
    return round_float(unsigned(x), _dtype(op))


def _float_of_signed(op: Operation, x: Value) -> Value:
    return round_float(-x.astype(np.int8) if x.dtype == np.bool_ else x, _dtype(op))


def _integer_of_float(op: Operation, x: Value, low: int, high: int, dtype: Any) -> Value:
    """Truncate and clamp; `high` need not be a float, but high + 1 is."""
    wide = np.trunc(np.asarray(x).astype(np.float64))
    inside = (wide >= low) & (wide < float(high + 1))
    result = np.where(inside, wide, 0).astype(dtype)
    result = np.where(wide < low, np.array(low, dtype), result)
    result = np.where(wide >= float(high + 1), np.array(high, dtype), result)
    return result.view(f"i{result.dtype.itemsize}").astype(_dtype(op))[()]


def _signed_of_float(op: Operation, x: Value) -> Value:
    bits = 8 * _dtype(op).itemsize
    return _integer_of_float(op, x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1, _dtype(op))


def _unsigned_of_float(op: Operation, x: Value) -> Value:
    dtype = _dtype(op)
    if dtype == np.bool_:
        return _integer_of_float(op, x, 0, 1, np.uint8)
    return _integer_of_float(op, x, 0, (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}")


def _to_odd(high: Value, error: Value) -> Value:
    """Return `high + error` rounded to odd, where `high` is that sum rounded to nearest."""
    bits = np.asarray(high, np.float64).view(np.int64)
    inexact = (error != 0) & np.isfinite(high) & np.isfinite(error) & ((bits & 1) == 0)
    away = np.where((error > 0) == (np.asarray(high) > 0), 1, -1)
    return np.where(inexact, bits + away, bits).view(np.float64)[()]


def round_float(x: Value, dtype: np.dtype[Any]) -> Value:
    """Return numbers rounded once to a floating-point type."""
    if dtype == ml_dtypes.bfloat16 and x.dtype != np.float32:
        wide = x.astype(np.float64)
        single = wide.astype(np.float32)
        bits = np.asarray(single).view(np.int32)
        error = wide - single.astype(np.float64)
        inexact = (error != 0) & np.isfinite(wide) & ((bits & 1) == 0)
        away = np.where((error > 0) == (wide > 0), 1, -1).astype(np.int32)
        x = np.where(inexact, bits + away, bits).view(np.float32)
    return x.astype(dtype)[()]


def _bitcast(op: Operation, x: Value) -> Value:
    dtype, lanes = _dtype(op), _lanes(op)
    if np.bool_ in (x.dtype, dtype):
        return _bitcast_bits(x, dtype, lanes)
    result = np.atleast_1d(x).view(dtype)
    return result if lanes else result[0]


def _bitcast_bits(x: Value, dtype: np.dtype[Any], lanes: int) -> Value:
    """Cast between vectors of bits and integers: lane 0 is the lowest bit."""
    if x.dtype == np.bool_ and dtype == np.bool_:
        return x
    if x.dtype == np.bool_:
        packed = np.packbits(np.atleast_1d(x), bitorder="little")
        result = packed.view(dtype)
        return result if lanes else result[0]
    bits = np.unpackbits(np.atleast_1d(x).view(np.uint8), bitorder="little")
    return bits.astype(np.bool_) if lanes else bits.astype(np.bool_)[0]


# Floats.


def _two_sum(x: Value, y: Value) -> tuple[Value, Value]:
    """Return the rounded sum and its error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(x: Value, y: Value) -> tuple[Value, Value]:
    """Return the rounded product of f64 and its error, by splitting (Veltkamp, Dekker)."""
    product = x * y

    def split(value: Value) -> tuple[Value, Value]:
        scaled = 134217729.0 * value
        high = scaled - (scaled - value)
        return high, value - high

    (a, b), (c, d) = split(x), split(y)
    return product, ((a * c - product) + a * d + b * c) + b * d


def fused_multiply_add(x: Value, y: Value, z: Value) -> Value:
    """Return x * y + z rounded once, of any float type."""
    if x.dtype != np.float64:
        wide = [np.asarray(each).astype(np.float64) for each in (x, y, z)]
        total, error = _two_sum(wide[0] * wide[1], wide[2])
        return round_float(np.asarray(_to_odd(total, error)), x.dtype)
    upper, lower = _two_product(x, y)
    high, low = _two_sum(z, lower)
    total, rest = _two_sum(upper, high)
    small, error = _two_sum(low, rest)
    result: Value = total + _to_odd(small, error)
    result = np.where(result == 0, x * y + z, result)[()]  # the sign of zero
    sizes = [np.abs(each) for each in (x, y, z)]
    safe = np.ones(np.shape(result), np.bool_)
    for size in sizes:
        safe &= (size == 0) | ((size > 1e-120) & (size < 1e120))
    if safe.all():
        return result
    return _fused_slowly(x, y, z, result, safe)


def _fused_slowly(x: Value, y: Value, z: Value, result: Value, safe: Value) -> Value:
    """Return `result`, with the lanes that may have over- or underflowed done in fractions."""
    flat = [np.broadcast_to(each, np.shape(result)).ravel() for each in (x, y, z)]
    out = np.array(result, np.float64).ravel()
    for lane in np.flatnonzero(~np.asarray(safe).ravel()):
        a, b, c = (each[lane] for each in flat)
        out[lane] = a * b + c
        if np.isfinite(a) and np.isfinite(b) and np.isfinite(c):
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            if exact != 0:
                try:
                    out[lane] = float(exact)
                except OverflowError:
                    out[lane] = math.inf if exact > 0 else -math.inf
    return out.reshape(np.shape(result))[()]


def _through_double(function: Callable[..., Value]) -> Any:
    """Return an operation that computes in f64 and rounds to the operands' type."""

    def run(_: Operation, *operands: Value) -> Value:
        wide = [np.asarray(each).astype(np.float64) for each in operands]
        return np.asarray(function(*wide)).astype(operands[0].dtype)[()]

    return run


def _same_type(function: Callable[..., Value]) -> Any:
    """Return an operation that numpy has as it is."""

    def run(_: Operation, *operands: Value) -> Value:
        return np.asarray(function(*operands)).astype(operands[0].dtype)[()]

    return run


def _plain(function: Callable[..., Value]) -> Any:
    """Return an operation that ignores its attributes."""
    return lambda _, *operands: function(*operands)


def _round_half_away(x: Value) -> Value:
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, np.abs(whole) + 1, np.abs(whole)), x)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _extreme(beyond: Callable[[Value, Value], Value], *, ignores: bool) -> Any:
    """Return y if it is beyond x or decides by being NaN, or by x being NaN; else x."""

    def run(_: Operation, x: Value, y: Value) -> Value:
        missing = np.isnan(x) if ignores else np.isnan(y)
        chosen: Value = np.where(beyond(y, x) | missing, y, x)
        return chosen[()]

    return run


def _count_ones(x: Value) -> Value:
    return np.bitwise_count(unsigned(x)).astype(x.dtype)


def _leading_zeros(x: Value) -> Value:
    bits = unsigned(x)
    for shift in [n for n in (1, 2, 4, 8, 16, 32) if n < 8 * x.dtype.itemsize]:
        bits = bits | (bits >> bits.dtype.type(shift))
    return (8 * x.dtype.itemsize - np.bitwise_count(bits).astype(np.int64)).astype(x.dtype)[()]


def _trailing_zeros(x: Value) -> Value:
    return _count_ones(~x & (x - x.dtype.type(1)))


# Vectors.


def _create_mask(op: Operation, count: Value) -> Value:
    return np.arange(_lanes(op)) < count


def _broadcast(op: Operation, x: Value) -> Value:
    return np.full(_lanes(op), x, _dtype(op)) if np.ndim(x) == 0 else np.resize(x, _lanes(op))


def _position(op: vector.ExtractOp | vector.InsertOp, dynamic: tuple[Value, ...]) -> int:
    static: tuple[int, ...] = tuple(int(each) for each in op.static_position.get_values())
    index = int(dynamic[0]) if dynamic else static[0]
    kind = op.operands[0 if isinstance(op, vector.ExtractOp) else 1].type
    assert isinstance(kind, VectorType)
    if not 0 <= index < kind.get_shape()[0]:
        raise IndexError(f"{op.name}: lane {index} of {kind}")
    return index


def _extract(op: Operation, x: Value, *dynamic: Value) -> Value:
    assert isinstance(op, vector.ExtractOp)
    return x[_position(op, dynamic)]


def _insert(op: Operation, element: Value, x: Value, *dynamic: Value) -> Value:
    assert isinstance(op, vector.InsertOp)
    result = x.copy()
    result[_position(op, dynamic)] = element
    return result


def _shuffle(op: Operation, x: Value, y: Value) -> Value:
    assert isinstance(op, vector.ShuffleOp)
    lanes = [int(each) for each in op.mask.get_values()]
    return np.concatenate([x, y])[np.maximum(lanes, 0)]


def _reduce(op: Operation, x: Value, *accumulator: Value) -> Value:
    assert isinstance(op, vector.ReductionOp)
    combine = COMBINE[op.kind.data.value]
    assert len(x) & (len(x) - 1) == 0, f"{op.name}: {len(x)} lanes, expected a power of two"
    while len(x) > 1:
        half = len(x) // 2
        x = combine(op, x[:half], x[half:])
    total = x[0]
    return combine(op, total, accumulator[0]) if accumulator else total


_ADD = _boolean(np.logical_xor, np.add)
_MULTIPLY = _boolean(np.logical_and, np.multiply)


def _least_signed(_: Operation, x: Value, y: Value) -> Value:
    return (x | y) if x.dtype == np.bool_ else np.minimum(x, y)


def _greatest_signed(_: Operation, x: Value, y: Value) -> Value:
    return (x & y) if x.dtype == np.bool_ else np.maximum(x, y)


def _least_unsigned(_: Operation, x: Value, y: Value) -> Value:
    return np.minimum(unsigned(x), unsigned(y)).view(x.dtype)


def _greatest_unsigned(_: Operation, x: Value, y: Value) -> Value:
    return np.maximum(unsigned(x), unsigned(y)).view(x.dtype)


_MINIMUM = _extreme(np.less, ignores=False)
_MAXIMUM = _extreme(np.greater, ignores=False)
_MINIMUM_NUMBER = _extreme(np.less, ignores=True)
_MAXIMUM_NUMBER = _extreme(np.greater, ignores=True)

COMBINE: Mapping[str, Callable[..., Value]] = {
    "add": _ADD,
    "mul": _MULTIPLY,
    "minsi": _least_signed,
    "maxsi": _greatest_signed,
    "minui": _least_unsigned,
    "maxui": _greatest_unsigned,
    "and": _plain(np.bitwise_and),
    "or": _plain(np.bitwise_or),
    "xor": _plain(np.bitwise_xor),
    "minnumf": _MINIMUM_NUMBER,
    "maxnumf": _MAXIMUM_NUMBER,
    "minimumf": _MINIMUM,
    "maximumf": _MAXIMUM,
}
"""How each kind of reduction joins two values."""


PURE: Mapping[str, Callable[..., Value]] = {
    "arith.constant": constant,
    "arith.addi": _ADD,
    "arith.subi": _boolean(np.logical_xor, np.subtract),
    "arith.muli": _MULTIPLY,
    "arith.divsi": _plain(_divide),
    "arith.divui": _plain(_divide_unsigned),
    "arith.remsi": _plain(_remainder),
    "arith.remui": _plain(_remainder_unsigned),
    "arith.floordivsi": _plain(_divide_down),
    "arith.ceildivsi": _plain(_divide_up),
    "arith.ceildivui": _plain(_divide_up_unsigned),
    "arith.minsi": _least_signed,
    "arith.maxsi": _greatest_signed,
    "arith.minui": _least_unsigned,
    "arith.maxui": _greatest_unsigned,
    "arith.andi": _plain(np.bitwise_and),
    "arith.ori": _plain(np.bitwise_or),
    "arith.xori": _plain(np.bitwise_xor),
    "arith.shli": _plain(lambda x, y: _shift(x, y, np.left_shift, sign=False)),
    "arith.shrsi": _plain(lambda x, y: _shift(x, y, np.right_shift, sign=True)),
    "arith.shrui": _plain(_shift_right_unsigned),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.addf": _plain(np.add),
    "arith.subf": _plain(np.subtract),
    "arith.mulf": _plain(np.multiply),
    "arith.divf": _plain(np.divide),
    "arith.remf": _plain(np.fmod),
    "arith.negf": _plain(np.negative),
    "arith.minimumf": _MINIMUM,
    "arith.maximumf": _MAXIMUM,
    "arith.minnumf": _MINIMUM_NUMBER,
    "arith.maxnumf": _MAXIMUM_NUMBER,
    "arith.extsi": _extend_signed,
    "arith.extui": _extend_unsigned,
    "arith.trunci": _truncate_integer,
    "arith.index_cast": _cast_index,
    "arith.sitofp": _float_of_signed,
    "arith.uitofp": _float_of_unsigned,
    "arith.fptosi": _signed_of_float,
    "arith.fptoui": _unsigned_of_float,
    "arith.extf": lambda op, x: x.astype(_dtype(op))[()],
    "arith.truncf": lambda op, x: round_float(x, _dtype(op)),
    "arith.bitcast": _bitcast,
    "math.absf": _plain(np.abs),
    "math.absi": _plain(np.abs),
    "math.floor": _plain(np.floor),
    "math.ceil": _plain(np.ceil),
    "math.roundeven": _plain(np.rint),
    "math.round": _same_type(_round_half_away),
    "math.trunc": _plain(np.trunc),
    "math.copysign": _plain(np.copysign),
    "math.sqrt": _plain(np.sqrt),
    "math.fma": _plain(fused_multiply_add),
    "math.ctpop": _plain(_count_ones),
    "math.ctlz": _plain(_leading_zeros),
    "math.cttz": _plain(_trailing_zeros),
    "math.erf": _through_double(_erf),
    "math.rsqrt": _through_double(lambda x: 1 / np.sqrt(x)),
    "math.atan2": _through_double(np.arctan2),
    "math.powf": _through_double(np.power),
    "math.asin": _through_double(np.arcsin),
    "math.acos": _through_double(np.arccos),
    "math.atan": _through_double(np.arctan),
    "math.asinh": _through_double(np.arcsinh),
    "math.acosh": _through_double(np.arccosh),
    "math.atanh": _through_double(np.arctanh),
    **{
        f"math.{name}": _through_double(getattr(np, name))
        for name in (
            *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "cbrt"),
        )
    },
    "vector.broadcast": _broadcast,
    "vector.create_mask": _create_mask,
    "vector.fma": _plain(fused_multiply_add),
    "vector.reduction": _reduce,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shuffle": _shuffle,
    "vector.bitcast": _bitcast,
    "gvk.step": lambda op: np.arange(_lanes(op), dtype=np.int64),
}
"""Operation name to its meaning: a function of the operation and its operands' values."""
