"""Emit floating-point `arith` and `math` operations on f32 and f64, without fast-math flags.

Functions that take more than a few instructions (exp, tanh, ...) are in `math.py`.
`maximumf(x, y)` is y if y is NaN or greater than x, else x; `maxnumf(x, y)` is y if x is NaN or y
is greater, else x: so both are the same bits on every machine, zeros included, and cost one
instruction where y is a constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation

from ....errors import CompileError
from ....target import Target
from ..text.build import Shape, Text
from ..text.remainder import remainder_function
from .emitter import Emit, Emitter, is_known_number
from .integer import select


def float_shape(e: Emitter, op: Operation) -> Shape:
    """Return the shape an operation computes in, which must be of f32 or f64."""
    shape = e.shape(op.operands[0])
    if not shape.is_float:
        raise CompileError(f"{op.name}: expected f32 or f64, found {op.operands[0].type}")
    return shape


def _plain(instruction: str) -> Emit:
    def emit(e: Emitter, op: Operation) -> None:
        shape = float_shape(e, op)
        x, y = e.operands(op)
        e.names[op.results[0]] = e.text.value(f"{instruction} {shape.name} {x}, {y}")

    return emit


def _negate(e: Emitter, op: Operation) -> None:
    shape = float_shape(e, op)
    e.names[op.results[0]] = e.text.value(f"fneg {shape.name} {e.names[op.operands[0]]}")


def intrinsic(name: str) -> Emit:
    """Return the emitter of an operation that is an intrinsic of the same type throughout."""

    def emit(e: Emitter, op: Operation) -> None:
        shape = float_shape(e, op)
        e.names[op.results[0]] = e.text.intrinsic(name, shape, *e.operands(op))

    return emit


# Note [Order of fcmp and select]
# `select(fcmp ogt y, x), y, x` is what x86 calls vmaxps y, x, NaN and zeros included, so LLVM
# makes one instruction of it without being allowed to assume anything.


def extreme(text: Text, shape: Shape, order: str, x: str, y: str) -> str:
    """Return y if it is beyond x in the order (`ogt`, `olt`), else x."""
    beyond = text.value(f"fcmp {order} {shape.name} {y}, {x}")
    return select(text, shape, beyond, y, x)


def propagating(text: Text, shape: Shape, order: str, x: str, y: str) -> str:
    """Return `minimumf` or `maximumf`."""
    best = extreme(text, shape, order, x, y)
    missing = text.value(f"fcmp uno {shape.name} {y}, {y}")
    return select(text, shape, missing, y, best)


def ignoring(text: Text, shape: Shape, order: str, x: str, y: str) -> str:
    """Return `minnumf` or `maxnumf`."""
    best = extreme(text, shape, order, x, y)
    missing = text.value(f"fcmp uno {shape.name} {x}, {x}")
    return select(text, shape, missing, y, best)


def _minimum_or_maximum(order: str) -> Emit:
    def emit(e: Emitter, op: Operation) -> None:
        shape = float_shape(e, op)
        x, y = e.operands(op)
        form = extreme if is_known_number(op.operands[1]) else propagating
        e.names[op.results[0]] = form(e.text, shape, order, x, y)

    return emit


def _number_minimum_or_maximum(order: str) -> Emit:
    def emit(e: Emitter, op: Operation) -> None:
        shape = float_shape(e, op)
        x, y = e.operands(op)
        if is_known_number(op.operands[0]):
            result = extreme(e.text, shape, order, x, y)
        elif is_known_number(op.operands[1]):  # unordered or beyond: y too where x is NaN
            result = extreme(e.text, shape, order.replace("o", "u", 1), x, y)
        else:
            result = ignoring(e.text, shape, order, x, y)
        e.names[op.results[0]] = result

    return emit


_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


def _compare(e: Emitter, op: Operation) -> None:
    assert isinstance(op, arith.CmpfOp)
    shape = float_shape(e, op)
    x, y = e.operands(op)
    predicate = _PREDICATES[op.predicate.value.data]
    e.names[op.results[0]] = e.text.value(f"fcmp {predicate} {shape.name} {x}, {y}")


def _select(e: Emitter, op: Operation) -> None:
    condition, x, y = e.operands(op)
    shape = e.shape(op.results[0])
    kind = e.shape(op.operands[0]).name  # one bit may choose between vectors
    e.names[op.results[0]] = e.text.value(
        f"select {kind} {condition}, {shape.name} {x}, {shape.name} {y}"
    )


def _remainder(e: Emitter, op: Operation) -> None:
    """Emit C's fmod: a call for each lane, for its loop depends on the values."""
    shape, text = float_shape(e, op), e.text
    x, y = e.operands(op)
    function = remainder_function(text, shape.element)
    one = f"call {shape.element} @{function}({shape.element} %s, {shape.element} %s)"
    if not shape.lanes:
        e.names[op.results[0]] = text.value(one % (x, y))
        return
    result = "poison"
    for lane in range(shape.lanes):
        left, right = (
            text.value(f"extractelement {shape.name} {each}, i64 {lane}") for each in (x, y)
        )
        element = text.value(one % (left, right))
        result = text.value(
            f"insertelement {shape.name} {result}, {shape.element} {element}, i64 {lane}"
        )
    e.names[op.results[0]] = result


def multiply_add(text: Text, target: Target, shape: Shape, operands: Sequence[str]) -> str:
    """Return x * y + z: of floats rounded once where the machine can do that, else twice."""
    if target.has_fma and shape.is_float:
        return text.intrinsic("llvm.fma", shape, *operands)
    x, y, z = operands
    kind = "f" if shape.is_float else ""
    product = text.value(f"{kind}mul {shape.name} {x}, {y}")
    return text.value(f"{kind}add {shape.name} {product}, {z}")


def _multiply_add(e: Emitter, op: Operation) -> None:
    shape = float_shape(e, op)
    e.names[op.results[0]] = multiply_add(e.text, e.target, shape, e.operands(op))


FLOAT: Mapping[str, Emit] = {
    "arith.addf": _plain("fadd"),
    "arith.subf": _plain("fsub"),
    "arith.mulf": _plain("fmul"),
    "arith.divf": _plain("fdiv"),
    "arith.remf": _remainder,
    "arith.negf": _negate,
    "arith.minimumf": _minimum_or_maximum("olt"),
    "arith.maximumf": _minimum_or_maximum("ogt"),
    "arith.minnumf": _number_minimum_or_maximum("olt"),
    "arith.maxnumf": _number_minimum_or_maximum("ogt"),
    "arith.cmpf": _compare,
    "arith.select": _select,
    "math.absf": intrinsic("llvm.fabs"),
    "math.copysign": intrinsic("llvm.copysign"),
    "math.fma": _multiply_add,
    "math.sqrt": intrinsic("llvm.sqrt"),
    "vector.fma": _multiply_add,
}
"""Emitters of the operations on floats (and `arith.select`, which takes all types)."""
