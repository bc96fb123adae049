"""Emit conversions between types.

A float becomes an integer by truncation, clamped to the integer's range, NaN becoming 0. LLVM's
own `fptosi.sat` does the same in a hundred instructions on vectors, and plain `fptosi` leaves all
that undefined.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import BFloat16Type, VectorType
from xdsl.ir import Operation, SSAValue

from ....errors import CompileError
from ..text.build import Shape
from ..text.narrow_floats import (
    bfloat_to_float,
    cast,
    double_to_odd_float,
    float_to_bfloat,
    float_to_half,
    half_to_float,
)
from .emitter import Emit, Emitter
from .integer import select


def _is_bfloat(value: SSAValue) -> bool:
    kind = value.type
    return isinstance(kind.element_type if isinstance(kind, VectorType) else kind, BFloat16Type)


def _convert(e: Emitter, op: Operation, instruction: str) -> None:
    source, result = op.operands[0], op.results[0]
    before, after = e.shape(source), e.shape(result)
    e.names[result] = (
        e.names[source]
        if before == after
        else cast(e.text, instruction, before, e.names[source], after)
    )


def _plain(instruction: str) -> Emit:
    return lambda e, op: _convert(e, op, instruction)


def _cast_index(e: Emitter, op: Operation) -> None:
    widens = e.shape(op.operands[0]).bits < e.shape(op.results[0]).bits
    _convert(e, op, "sext" if widens else "trunc")


def _widen_float(e: Emitter, value: SSAValue) -> tuple[Shape, str]:
    """Return a float as f32 or f64."""
    shape, x = e.shape(value), e.names[value]
    if shape.is_float:
        return shape, x
    if _is_bfloat(value):
        return shape.of("float"), bfloat_to_float(e.text, shape, x)
    return shape.of("float"), half_to_float(e.text, e.target, shape, x)


def _extend_float(e: Emitter, op: Operation) -> None:
    shape, x = _widen_float(e, op.operands[0])
    result = e.shape(op.results[0])
    e.names[op.results[0]] = x if shape == result else cast(e.text, "fpext", shape, x, result)


def _narrow_float(e: Emitter, result: SSAValue, shape: Shape, x: str) -> None:
    """Name `result` what f32 or f64 rounds to."""
    after, text = e.shape(result), e.text
    if after.is_float:
        e.names[result] = cast(text, "fptrunc", shape, x, after) if shape != after else x
        return
    if shape.element == "double":
        x, shape = double_to_odd_float(text, shape, x), shape.of("float")
    if _is_bfloat(result):
        e.names[result] = float_to_bfloat(text, e.target, shape, x)
    else:
        e.names[result] = float_to_half(text, e.target, shape, x)


def _truncate_float(e: Emitter, op: Operation) -> None:
    shape, x = _widen_float(e, op.operands[0])
    _narrow_float(e, op.results[0], shape, x)


def _float_of_integer(instruction: str) -> Emit:
    def emit(e: Emitter, op: Operation) -> None:
        source, result = op.operands[0], op.results[0]
        before, after = e.shape(source), e.shape(result)
        if after.is_float:
            _convert(e, op, instruction)
            return
        wide = before.of("double")
        _narrow_float(e, result, wide, cast(e.text, instruction, before, e.names[source], wide))

    return emit


def _integer_of_float(*, signed: bool) -> Emit:
    def emit(e: Emitter, op: Operation) -> None:
        shape, x = _widen_float(e, op.operands[0])
        result = e.shape(op.results[0])
        bits = result.bits
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if bits == 1 and signed:
            raise CompileError(f"{op.name}: expected an integer of 8 bits or more, found i1")
        small = bits <= (16 if shape.element == "float" else 32)
        form = _clamped if small else _chosen
        e.names[op.results[0]] = form(e, shape, x, result, (low, high))

    return emit


def _clamped(e: Emitter, shape: Shape, x: str, result: Shape, limits: tuple[int, int]) -> str:
    """Clamp as a float, which holds both limits exactly, and convert to a wider integer."""
    text = e.text
    if limits[0] < 0:
        present = text.value(f"fcmp ord {shape.name} {x}, {x}")
        x = select(text, shape, present, x, shape.splat(0.0))
    for order, limit in zip(("ogt", "olt"), limits, strict=True):
        bound = shape.splat(float(limit))
        inside = text.value(f"fcmp {order} {shape.name} {x}, {bound}")
        x = select(text, shape, inside, x, bound)  # from 0 on, NaN becomes 0 here
    needed = 32 if result.bits < 32 else 64
    if limits[0] < 0:
        needed = max(32, result.bits)
    wide = shape.of(f"i{needed}")
    whole = cast(text, "fptosi", shape, x, wide)
    return whole if wide == result else cast(text, "trunc", wide, whole, result)


def _chosen(e: Emitter, shape: Shape, x: str, result: Shape, limits: tuple[int, int]) -> str:
    """Convert, and replace what was out of range: there the conversion gives poison.

    `select` stops poison in the operand that is not chosen.
    """
    text, (low, high) = e.text, limits
    name = "fptosi" if low < 0 else "fptoui"
    whole = cast(text, name, shape, x, result)
    tests = [
        (f"oge {shape.name} {x}, {shape.splat(float(high + 1))}", high),
        (f"olt {shape.name} {x}, {shape.splat(float(low))}", low),
        (f"uno {shape.name} {x}, {x}", 0),
    ]
    if low == 0:  # not above -1: NaN too
        tests[1:] = [(f"ule {shape.name} {x}, {shape.splat(-1.0)}", 0)]
    for test, value in tests:
        whole = select(text, result, text.value(f"fcmp {test}"), result.splat(value), whole)
    return whole


def _bitcast(e: Emitter, op: Operation) -> None:
    _convert(e, op, "bitcast")


CONVERT: Mapping[str, Emit] = {
    "arith.extsi": _plain("sext"),
    "arith.extui": _plain("zext"),
    "arith.trunci": _plain("trunc"),
    "arith.index_cast": _cast_index,
    "arith.sitofp": _float_of_integer("sitofp"),
    "arith.uitofp": _float_of_integer("uitofp"),
    "arith.fptosi": _integer_of_float(signed=True),
    "arith.fptoui": _integer_of_float(signed=False),
    "arith.extf": _extend_float,
    "arith.truncf": _truncate_float,
    "arith.bitcast": _bitcast,
    "vector.bitcast": _bitcast,
}
"""Emitters of the conversions."""
