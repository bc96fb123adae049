"""Arithmetic, comparison and bits: what looks at registers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..faults import UnsupportedPtx
from ..machine import Machine, Plain, Reader
from ..memory import Array
from ..operands import Decoder, expect, rule
from ..text import Instruction
from . import floats

ROUNDING = ("rn", "rz", "rm", "rp")
FLOATS = ("f16", "f32", "f64", "bf16", "f16x2", "bf16x2")
HALVES = {"f16x2": "f16", "bf16x2": "bf16"}
SHORTS = {"u16x2": np.uint16, "s16x2": np.int16}
"""Pairs of whole numbers in 32 bits, which devices from 9.0 on add and compare."""

Function = Callable[..., Array]


def apply(decoder: Decoder, instruction: Instruction, function: Function, kind: str) -> Plain:
    """Return what computes the first operand from the others, all of one type."""
    out, *inputs = instruction.operands
    write = decoder.write(out, kind)
    reads = [decoder.read(each, kind) for each in inputs]
    if len(reads) == 1:
        [one] = reads
        return lambda m: write(m, function(one(m)))
    if len(reads) == 2:
        first, second = reads
        return lambda m: write(m, function(first(m), second(m)))
    return lambda m: write(m, function(*(read(m) for read in reads)))


def on_halves(function: Function, kind: type) -> Function:
    """Return a function of 16-bit values as one of pairs of them in 32 bits."""

    def both(*pairs: Array) -> Array:
        shape = np.broadcast_shapes(*(np.shape(pair) for pair in pairs))
        arrays = [np.ascontiguousarray(np.broadcast_to(pair, shape or (1,))) for pair in pairs]
        values = function(*(array.view(kind) for array in arrays))
        return np.ascontiguousarray(values).view(np.uint32)

    return both


def integer_function(function: Function, kind: str) -> Function:
    """Return a function of whole numbers for a type, which may be a pair of them."""
    return on_halves(function, SHORTS[kind]) if kind in SHORTS else function


def through_f32(function: Function) -> Function:
    """Return a function of f32 as one of the bits of bf16, rounded once more."""
    return lambda *values: floats.to_bf16(function(*(floats.from_bf16(v) for v in values)))


def float_function(instruction: Instruction, function: Function) -> Function:
    """Return the function for the float type of an instruction, with what its modifiers add."""
    kind = instruction.type
    if kind in ("bf16", "bf16x2"):
        function = through_f32(function)
    if kind in HALVES:
        function = on_halves(function, np.float16 if kind == "f16x2" else np.uint16)
    if "ftz" in instruction.modifiers and kind == "f32":
        inner = function
        function = lambda *values: floats.flush(inner(*(floats.flush(v) for v in values)))  # noqa: E731
    if "sat" in instruction.modifiers:
        if kind != "f32":
            raise UnsupportedPtx(f"modifier .sat of {instruction.op}.{kind}")
        unbounded = function
        function = lambda *values: saturate(unbounded(*values))  # noqa: E731
    return function


def saturate(x: Array) -> Array:
    """Return f32 between 0 and 1; a NaN becomes 0."""
    return np.fmin(np.fmax(x, np.float32(0)), np.float32(1))


def mode_of(instruction: Instruction) -> str:
    """Return the rounding that the modifiers name."""
    return next((each for each in instruction.modifiers if each in ROUNDING), "rn")


_DIRECTED: Mapping[str, Function] = {
    "add": floats.odd_sum,
    "sub": lambda x, y: floats.odd_sum(x, -y),
    "mul": lambda x, y: x * y,
}


@rule("add", "sub", "mul")
def _sums(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", "sat", "lo", "hi", "wide", *ROUNDING)
    kind, mode = instruction.type, mode_of(instruction)
    if kind not in FLOATS:
        return _integers(instruction, decoder)
    function: Function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[instruction.op]
    if mode != "rn":
        if kind != "f32":
            raise UnsupportedPtx(f"rounding .{mode} of {kind}")
        exact = _DIRECTED[instruction.op]
        function = lambda x, y: floats.round_f32(  # noqa: E731
            exact(x.astype(np.float64), y.astype(np.float64)), mode
        )
    return apply(decoder, instruction, float_function(instruction, function), kind)


def _integers(instruction: Instruction, decoder: Decoder) -> Plain:
    kind, modifiers = instruction.type, instruction.modifiers
    if "sat" in modifiers:
        raise UnsupportedPtx(f"modifier .sat of {instruction.op}.{kind}")
    if "wide" in modifiers:
        return _wide(instruction, decoder)
    if "hi" in modifiers:
        return apply(decoder, instruction, high_of(kind), kind)
    plain = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[instruction.op]
    return apply(decoder, instruction, integer_function(plain, kind), kind)


def _wide(instruction: Instruction, decoder: Decoder) -> Plain:
    """Return what multiplies (and adds) to twice the width."""
    kind = instruction.type
    twice = f"{kind[0]}{2 * int(kind[1:])}"
    wider = decoder.kind(twice)
    out, x, y, *rest = instruction.operands
    write = decoder.write(out, twice)
    first, second = decoder.read(x, kind), decoder.read(y, kind)
    if not rest:
        return lambda m: write(m, first(m).astype(wider) * second(m).astype(wider))
    third = decoder.read(rest[0], twice)
    return lambda m: write(m, first(m).astype(wider) * second(m).astype(wider) + third(m))


def high_of(kind: str) -> Function:
    """Return what gives the upper half of a product."""
    bits = int(kind[1:])
    if bits < 64:
        wider = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{bits // 4}").type
        shift = wider(bits)

        def narrow_high(x: Array, y: Array) -> Array:
            product: Array = (x.astype(wider) * y.astype(wider)) >> shift
            return product.astype(np.result_type(x, y))

        return narrow_high

    def high(x: Array, y: Array) -> Array:
        low32, s32 = np.uint64(0xFFFFFFFF), np.uint64(32)
        a, b = x.view(np.uint64), y.view(np.uint64)
        al, ah, bl, bh = a & low32, a >> s32, b & low32, b >> s32
        middle = ah * bl + ((al * bl) >> s32)
        other = al * bh + (middle & low32)
        found: Array = ah * bh + (middle >> s32) + (other >> s32)
        if kind[0] == "s":
            found = found - np.where(x < 0, b, np.uint64(0)) - np.where(y < 0, a, np.uint64(0))
        return found.view(x.dtype)

    return high


@rule("mad")
def _mad(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "lo", "hi", "wide")
    kind = instruction.type
    if "wide" in instruction.modifiers:
        return _wide(instruction, decoder)
    if "hi" in instruction.modifiers:
        high = high_of(kind)
        return apply(decoder, instruction, lambda x, y, z: high(x, y) + z, kind)
    return apply(decoder, instruction, lambda x, y, z: x * y + z, kind)


@rule("fma")
def _fma(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", "sat", "relu", *ROUNDING)
    kind, mode = instruction.type, mode_of(instruction)
    functions: Mapping[str, Function] = {
        "f32": lambda x, y, z: floats.fma_f32(x, y, z, mode),
        "f64": floats.fma_f64,
        "f16": floats.fma_f16,
        "bf16": floats.fma_bf16,
        "f16x2": on_halves(floats.fma_f16, np.float16),
        "bf16x2": on_halves(floats.fma_bf16, np.uint16),
    }
    function = functions[kind]
    if kind == "f32":
        function = float_function(instruction, function)
    elif "sat" in instruction.modifiers or "relu" in instruction.modifiers or mode != "rn":
        raise UnsupportedPtx(f"{instruction.op}.{'.'.join(instruction.modifiers)}")
    return apply(decoder, instruction, function, kind)


@rule("min", "max")
def _extremes(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", "NaN", "relu")
    kind = instruction.type
    is_max, keeps_nan = instruction.op == "max", "NaN" in instruction.modifiers
    if "relu" in instruction.modifiers:
        raise UnsupportedPtx(f"modifier .relu of {instruction.op}")
    if kind not in FLOATS:
        plain: Function = np.maximum if is_max else np.minimum
        return apply(decoder, instruction, integer_function(plain, kind), kind)
    function = _float_max(keeps_nan) if is_max else _float_min(keeps_nan)
    return apply(decoder, instruction, float_function(instruction, function), kind)


def _float_max(keeps_nan: bool) -> Function:
    """Return the larger of two, where +0 is larger than -0."""
    larger: Any = np.maximum if keeps_nan else np.fmax

    def function(x: Array, y: Array) -> Array:
        found = larger(x, y)
        return np.where((x == 0) & (y == 0) & np.signbit(x), y, found).astype(found.dtype)

    return function


def _float_min(keeps_nan: bool) -> Function:
    """Return the smaller of two, where -0 is smaller than +0."""
    smaller: Any = np.minimum if keeps_nan else np.fmin

    def function(x: Array, y: Array) -> Array:
        found = smaller(x, y)
        return np.where((x == 0) & (y == 0) & ~np.signbit(x), y, found).astype(found.dtype)

    return function


@rule("div")
def _divide(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", "full", "approx", *ROUNDING)
    kind = instruction.type
    if kind in FLOATS:
        if mode_of(instruction) != "rn":
            raise UnsupportedPtx(f"rounding .{mode_of(instruction)} of div")
        return apply(decoder, instruction, float_function(instruction, np.divide), kind)
    return apply(decoder, instruction, _integer_quotient, kind)


def _integer_quotient(x: Array, y: Array) -> Array:
    """Return x / y rounded to zero; what is divided by 0 is all bits set, as hardware has it."""
    kind = np.result_type(x, y)
    safe = np.where(y == 0, kind.type(1), y)
    if kind.kind == "u":
        return np.where(y == 0, ~kind.type(0), x // safe)
    found: Array = x // safe
    found = found + ((found * safe != x) & ((x < 0) != (safe < 0))).astype(kind)
    return np.where(y == 0, kind.type(-1), found)


@rule("rem")
def _remainder(instruction: Instruction, decoder: Decoder) -> Plain:
    def function(x: Array, y: Array) -> Array:
        return np.where(y == 0, x, x - _integer_quotient(x, y) * y)

    return apply(decoder, instruction, function, instruction.type)


@rule("abs", "neg")
def _signs(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz")
    kind = instruction.type
    function: Function = np.abs if instruction.op == "abs" else np.negative
    if kind in FLOATS:
        function = float_function(instruction, function)
    return apply(decoder, instruction, function, kind)


@rule("copysign")
def _copysign(instruction: Instruction, decoder: Decoder) -> Plain:
    return apply(decoder, instruction, lambda sign, x: np.copysign(x, sign), instruction.type)


_OF_FLOAT: Mapping[str, Function] = {
    "sqrt": np.sqrt,
    "rsqrt": lambda x: (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype),
    "rcp": lambda x: np.divide(x.dtype.type(1), x),
    "ex2": lambda x: np.exp2(x.astype(np.float64)).astype(x.dtype),
    "lg2": lambda x: np.log2(x.astype(np.float64)).astype(x.dtype),
    "sin": lambda x: np.sin(x.astype(np.float64)).astype(x.dtype),
    "cos": lambda x: np.cos(x.astype(np.float64)).astype(x.dtype),
    "tanh": lambda x: np.tanh(x.astype(np.float64)).astype(x.dtype),
}
"""Functions of one number. Approximate ones are as good as can be, so better than hardware's."""


@rule(*_OF_FLOAT)
def _functions(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", "approx", "rn")
    function = float_function(instruction, _OF_FLOAT[instruction.op])
    return apply(decoder, instruction, function, instruction.type)


@rule("testp")
def _test_property(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    tests: Mapping[str, Function] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda x: ~np.isnan(x),
        "notanumber": np.isnan,
    }
    test = tests[instruction.modifiers[0]]
    write = decoder.write(instruction.operands[0], "pred")
    read = decoder.read(instruction.operands[1], kind)
    return lambda m: write(m, test(read(m)))


_COMPARE: Mapping[str, Function] = {
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal},
    **{"hi": np.greater, "hs": np.greater_equal},
    **{"equ": lambda x, y: ~((x < y) | (x > y)), "neu": lambda x, y: ~(x == y)},
    **{"ltu": lambda x, y: ~(x >= y), "leu": lambda x, y: ~(x > y)},
    **{"gtu": lambda x, y: ~(x <= y), "geu": lambda x, y: ~(x < y)},
    **{
        "num": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
        "nan": lambda x, y: np.isnan(x) | np.isnan(y),
    },
}
_JOIN: Mapping[str, Function] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def comparison(name: str, kind: str) -> Function:
    """Return how two values of a type are compared."""
    function = _COMPARE[name]
    if kind in FLOATS and name == "ne":
        return lambda x, y: (x < y) | (x > y)
    if kind == "bf16":
        plain = comparison(name, "f32")
        return lambda x, y: plain(floats.from_bf16(x), floats.from_bf16(y))
    return function


@rule("setp")
def _set_predicate(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "ftz", *_COMPARE, *_JOIN)
    kind, name = instruction.type, instruction.modifiers[0]
    if kind in HALVES:
        return _set_two_predicates(instruction, decoder)
    function = comparison(name, kind)
    out, x, y, *other = instruction.operands
    writes = [decoder.write(each, "pred") for each in out.split("|")]
    first, second = decoder.read(x, kind), decoder.read(y, kind)
    join = next((_JOIN[each] for each in instruction.modifiers[1:] if each in _JOIN), None)
    third = decoder.read(other[0], "pred") if other else None

    def plain(m: Machine) -> None:
        found = function(first(m), second(m))
        for number, write in enumerate(writes):
            value = found if number == 0 else ~found
            write(m, value if join is None or third is None else join(value, third(m)))

    return plain


def _set_two_predicates(instruction: Instruction, decoder: Decoder) -> Plain:
    """Compare the low halves and the high halves of two words."""
    kind, name = instruction.type, instruction.modifiers[0]
    if any(each in _JOIN for each in instruction.modifiers[1:]):
        raise UnsupportedPtx(f"setp of {kind} joined with a predicate")
    half = np.float16 if kind == "f16x2" else np.uint16
    function = comparison(name, HALVES[kind])
    out, x, y = instruction.operands
    writes = [decoder.write(each, "pred") for each in out.split("|")]
    first, second = decoder.read(x, kind), decoder.read(y, kind)

    def plain(m: Machine) -> None:
        words = [first(m), second(m)]
        for write, shift in zip(writes, (0, 16), strict=True):
            halves = [(word >> np.uint32(shift)).astype(np.uint16).view(half) for word in words]
            write(m, function(*halves))

    return plain


@rule("selp")
def _select(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    out, x, y, condition = instruction.operands
    write, choose = decoder.write(out, kind), decoder.read(condition, "pred")
    first, second = decoder.read(x, kind), decoder.read(y, kind)
    return lambda m: write(m, np.where(choose(m), first(m), second(m)))


@rule("slct")
def _select_by_sign(instruction: Instruction, decoder: Decoder) -> Plain:
    kind, sign = instruction.modifiers[-2:]
    out, x, y, condition = instruction.operands
    write, choose = decoder.write(out, kind), decoder.read(condition, sign)
    first, second = decoder.read(x, kind), decoder.read(y, kind)
    return lambda m: write(m, np.where(choose(m) >= 0, first(m), second(m)))


def reader_of_predicate(decoder: Decoder, name: str, is_negated: bool) -> Reader:
    """Return what reads a guard."""
    read = decoder.read(name, "pred")
    return (lambda m: ~read(m)) if is_negated else read
