"""Emit operations that move lanes about, and reductions.

A reduction of floats adds the upper half of the lanes to the lower half until one is left, and
then joins the accumulator from the right. Of integers any order gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import vector
from xdsl.ir import Operation

from ....errors import CompileError
from ..text.build import Shape, Text
from .emitter import Emit, Emitter, literal
from .float import ignoring, propagating

Combine = Callable[[Text, Shape, str, str], str]


def _constant(e: Emitter, op: Operation) -> None:
    e.names[op.results[0]] = literal(op)  # type: ignore[arg-type]


def splat(text: Text, shape: Shape, x: str) -> str:
    """Return a vector of one value."""
    kind = shape.name
    first = text.value(f"insertelement {kind} poison, {shape.element} {x}, i64 0")
    return text.value(
        f"shufflevector {kind} {first}, {kind} poison, <{shape.lanes} x i32> zeroinitializer"
    )


def _broadcast(e: Emitter, op: Operation) -> None:
    source, result = op.operands[0], op.results[0]
    before, after, x = e.shape(source), e.shape(result), e.names[source]
    if before == after:
        e.names[result] = x
    elif before.lanes:
        if before.lanes != 1:
            raise CompileError(f"{op.name}: cannot make {result.type} of {source.type}")
        e.names[result] = _shuffled(e.text, before, x, x, [0] * after.lanes)
    elif x[0] == "%":
        e.names[result] = splat(e.text, after, x)
    else:
        e.names[result] = f"splat ({after.element} {x})"


def _shuffled(text: Text, shape: Shape, x: str, y: str, lanes: list[int]) -> str:
    """Return lanes of two vectors put together; a negative number is any lane."""
    chosen = ", ".join([f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes])
    kind = shape.name
    return text.value(f"shufflevector {kind} {x}, {kind} {y}, <{len(lanes)} x i32> <{chosen}>")


def _shuffle(e: Emitter, op: Operation) -> None:
    assert isinstance(op, vector.ShuffleOp)
    x, y = e.operands(op)
    shapes = [e.shape(operand) for operand in op.operands]
    lanes = [max(int(each), 0) for each in op.mask.get_values()]
    if shapes[0] != shapes[1]:
        longest = max(shapes, key=lambda shape: shape.lanes)
        first = shapes[0].lanes
        lanes = [lane if lane < first else lane - first + longest.lanes for lane in lanes]
        x, y = (
            _shuffled(e.text, shape, each, each, _padded(shape.lanes, longest.lanes))
            for shape, each in zip(shapes, (x, y), strict=True)
        )
        shapes[0] = longest
    e.names[op.results[0]] = _shuffled(e.text, shapes[0], x, y, lanes)


def _padded(count: int, lanes: int) -> list[int]:
    return [lane if lane < count else -1 for lane in range(lanes)]


def _lane(op: vector.ExtractOp | vector.InsertOp, dynamic: list[str]) -> str:
    return dynamic[0] if dynamic else str(int(op.static_position.get_values()[0]))


def _extract(e: Emitter, op: Operation) -> None:
    assert isinstance(op, vector.ExtractOp)
    x, *dynamic = e.operands(op)
    kind = e.shape(op.operands[0]).name
    e.names[op.results[0]] = e.text.value(f"extractelement {kind} {x}, i64 {_lane(op, dynamic)}")


def _insert(e: Emitter, op: Operation) -> None:
    assert isinstance(op, vector.InsertOp)
    element, x, *dynamic = e.operands(op)
    shape = e.shape(op.results[0])
    e.names[op.results[0]] = e.text.value(
        f"insertelement {shape.name} {x}, {shape.element} {element}, i64 {_lane(op, dynamic)}"
    )


def counting(shape: Shape) -> str:
    """Return the constant 0, 1, 2, ... of a shape of integers."""
    return f"<{', '.join([f'{shape.element} {lane}' for lane in range(shape.lanes)])}>"


def first_lanes(text: Text, lanes: int, count: str) -> str:
    """Return the mask of the first `count` lanes; `count` (i64) may be any number."""
    for name, limit in (("smax", 0), ("smin", lanes)):
        text.declare(f"declare i64 @llvm.{name}.i64(i64, i64)")
        count = text.value(f"call i64 @llvm.{name}.i64(i64 {count}, i64 {limit})")
    number = Shape("i32", lanes)
    within = splat(text, number, text.value(f"trunc i64 {count} to i32"))
    return text.value(f"icmp ult {number.name} {counting(number)}, {within}")


def _create_mask(e: Emitter, op: Operation) -> None:
    (count,) = e.operands(op)
    e.names[op.results[0]] = first_lanes(e.text, e.shape(op.results[0]).lanes, count)


def _step(e: Emitter, op: Operation) -> None:
    e.names[op.results[0]] = counting(e.shape(op.results[0]))


def _instruction(name: str) -> Combine:
    return lambda text, shape, x, y: text.value(f"{name} {shape.name} {x}, {y}")


def _called(name: str) -> Combine:
    return lambda text, shape, x, y: text.intrinsic(name, shape, x, y)


_FLOATS: Mapping[str, Combine] = {
    "add": _instruction("fadd"),
    "mul": _instruction("fmul"),
    "minnumf": lambda text, shape, x, y: ignoring(text, shape, "olt", x, y),
    "maxnumf": lambda text, shape, x, y: ignoring(text, shape, "ogt", x, y),
    "minimumf": lambda text, shape, x, y: propagating(text, shape, "olt", x, y),
    "maximumf": lambda text, shape, x, y: propagating(text, shape, "ogt", x, y),
}
_INTEGERS: Mapping[str, tuple[str, Combine]] = {
    "add": ("add", _instruction("add")),
    "mul": ("mul", _instruction("mul")),
    "and": ("and", _instruction("and")),
    "or": ("or", _instruction("or")),
    "xor": ("xor", _instruction("xor")),
    "minsi": ("smin", _called("llvm.smin")),
    "maxsi": ("smax", _called("llvm.smax")),
    "minui": ("umin", _called("llvm.umin")),
    "maxui": ("umax", _called("llvm.umax")),
}
_OF_BITS = {"minsi": "or", "maxsi": "and", "minui": "and", "maxui": "or"}


def tree(text: Text, shape: Shape, x: str, combine: Combine) -> str:
    """Return all lanes joined, halves first (see the module)."""
    while shape.lanes > 1:
        half = shape.lanes // 2
        lower = _shuffled(text, shape, x, x, list(range(half)))
        upper = _shuffled(text, shape, x, x, list(range(half, shape.lanes)))
        shape = Shape(shape.element, half)
        x = combine(text, shape, lower, upper)
    return text.value(f"extractelement {shape.name} {x}, i64 0")


def _reduce(e: Emitter, op: Operation) -> None:
    assert isinstance(op, vector.ReductionOp)
    x, *accumulator = e.operands(op)
    shape, text, kind = e.shape(op.operands[0]), e.text, op.kind.data.value
    if shape.is_float:
        combine = _FLOATS[kind]
        total = tree(text, shape, x, combine)
    else:
        kind = _OF_BITS.get(kind, kind) if shape.element == "i1" else kind
        name, combine = _INTEGERS[kind]
        full = f"@llvm.vector.reduce.{name}.{shape.suffix}"
        text.declare(f"declare {shape.element} {full}({shape.name})")
        total = text.value(f"call {shape.element} {full}({shape.name} {x})")
    if accumulator:
        total = combine(text, Shape(shape.element), total, accumulator[0])
    e.names[op.results[0]] = total


VECTOR: Mapping[str, Emit] = {
    "arith.constant": _constant,
    "vector.broadcast": _broadcast,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.reduction": _reduce,
    "vector.shuffle": _shuffle,
    "gvk.step": _step,
}
"""Emitters of constants and of the operations on lanes."""
