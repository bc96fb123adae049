"""Equations of operations that only move elements: reshape, transpose, broadcast, slice, concat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...ir import Op, operands_of
from ...ir.ops.reduce import Reduction
from ...ir.types.dims import Dim
from ...ir.types.shapes import broadcast
from ..analysis.constants import constant_of, scalar_of
from ..analysis.rewrite import Rewriter, Rule, RuleBook, producer, reads, spec

RULES = RuleBook[Rule]()
LAST = RuleBook[Rule]()
"""What is tried where no rule of the operation's own applies."""


def broadcasts(op: type[Op]) -> bool:
    """Say whether an operation is element-wise, on several operands."""
    return op.has("scalar") and len(op.signature().operands) > 1


@RULES.on("reshape", "broadcast_to")
def same_type(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """reshape(x), broadcast_to(x) -> x, if it has that shape already."""
    (source,) = operands_of(op)
    return source if source.type == op.results[0].type else None


@RULES.on("reshape")
def reshape_of_reshape(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """reshape(reshape(x)) -> reshape(x)."""
    inner = producer(op.operands[0], "reshape")
    if inner is None:
        return None
    return rewriter("reshape", inner.operands[0], shape=spec(op.results[0]).dims)


@RULES.on("transpose")
def transpose_of_nothing(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """transpose(x, [0, 1, 2]) -> x."""
    order = op.plain_attributes()["order"]
    return op.operands[0] if order == tuple(range(len(order))) else None


@RULES.on("transpose")
def transpose_of_transpose(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """transpose(transpose(x, p), q) -> transpose(x, p[q])."""
    inner = producer(op.operands[0], "transpose")
    if inner is None:
        return None
    first, second = inner.plain_attributes()["order"], op.plain_attributes()["order"]
    return rewriter("transpose", inner.operands[0], order=tuple(first[axis] for axis in second))


@RULES.on("transpose")
def transpose_of_unit_axes(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """transpose(x) -> reshape(x), if only axes of extent 1 change places."""
    shape = spec(op.operands[0]).dims
    moved = [axis for axis in op.plain_attributes()["order"] if shape[axis] != 1]
    if moved != sorted(moved):
        return None
    return rewriter("reshape", op.operands[0], shape=spec(op.results[0]).dims)


@RULES.on("broadcast_to")
def broadcast_of_broadcast(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """broadcast_to(broadcast_to(x)) -> broadcast_to(x)."""
    inner = producer(op.operands[0], "broadcast_to")
    if inner is None:
        return None
    return rewriter("broadcast_to", inner.operands[0], shape=spec(op.results[0]).dims)


@LAST.where(broadcasts)
@reads("broadcast_to")
def broadcast_operand(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """f(x, broadcast_to(y)) -> f(x, y), if the element-wise f broadcasts y as far itself."""
    operands = list(operands_of(op))
    for index, operand in enumerate(operands):
        inner = producer(operand, "broadcast_to")
        if inner is not None and _still_as_wide(op, operands, index, spec(inner.operands[0]).dims):
            operands[index] = inner.operands[0]
    return _with_operands(op, rewriter, operands)


@LAST.where(broadcasts)
@reads("constant")
def shrink_splat(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """f(x, constant [c, c, ...]) -> f(x, constant c) for element-wise f."""
    operands = list(operands_of(op))
    for index, operand in enumerate(operands):
        array = constant_of(operand)
        if array is None or array.ndim == 0 or array.size == 0:
            continue
        first = array[(0,) * array.ndim]
        splat = scalar_of(operand) is not None or (
            array.size <= 4096 and array.tobytes() == first.tobytes() * array.size
        )
        if splat and _still_as_wide(op, operands, index, ()):
            operands[index] = rewriter.constant(np.array(first))
    return _with_operands(op, rewriter, operands)


def _still_as_wide(
    op: Op, operands: Sequence[SSAValue], index: int, shape: tuple[Dim, ...]
) -> bool:
    shapes = [shape if i == index else spec(v).dims for i, v in enumerate(operands)]
    return broadcast(*shapes) == spec(op.results[0]).dims


def _with_operands(op: Op, rewriter: Rewriter, operands: list[SSAValue]) -> SSAValue | None:
    if operands == list(operands_of(op)):
        return None
    return rewriter.again(op, *operands)


@RULES.on("slice")
def slice_of_everything(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """slice(x) -> x, if it takes all elements in order."""
    forward = all(step == 1 for step in op.plain_attributes()["steps"])
    return op.operands[0] if forward and op.operands[0].type == op.results[0].type else None


@RULES.on("slice")
def slice_of_slice(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """slice(slice(x)) -> slice(x), where all steps are 1."""
    inner = producer(op.operands[0], "slice")
    if inner is None:
        return None
    outer, first = op.plain_attributes(), inner.plain_attributes()
    if any(step != 1 for step in (*outer["steps"], *first["steps"])):
        return None
    starts = tuple(a + b for a, b in zip(outer["starts"], first["starts"], strict=True))
    stops = tuple(a + b for a, b in zip(outer["stops"], first["starts"], strict=True))
    return rewriter("slice", inner.operands[0], starts=starts, stops=stops, steps=outer["steps"])


@RULES.on("pad")
def pad_by_nothing(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """pad(x, 0) -> x."""
    nothing = all(pair == (0, 0) for pair in op.plain_attributes()["pads"])
    return op.operands[0] if nothing else None


@RULES.on("concat")
def concat_of_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """concat(x) -> x, and tensors without elements fall away."""
    axis = op.plain_attributes()["axis"]
    kept = [v for v in op.operands if spec(v).dims[axis] != 0] or [op.operands[0]]
    if len(kept) == len(op.operands) and len(kept) > 1:
        return None
    return kept[0] if len(kept) == 1 else rewriter("concat", *kept, axis=axis)


@RULES.on("concat")
def concat_of_concat(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """concat(concat(x, y), z) -> concat(x, y, z) along one axis, if only it uses the inner."""
    axis = op.plain_attributes()["axis"]
    operands: list[SSAValue] = []
    for value in op.operands:
        inner = producer(value, "concat")
        if inner is not None and value.has_one_use() and inner.plain_attributes()["axis"] == axis:
            operands += inner.operands
        else:
            operands.append(value)
    return None if len(operands) == len(op.operands) else rewriter("concat", *operands, axis=axis)


@RULES.where(lambda op: issubclass(op, Reduction))
def reduce_over_nothing(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """sum(x, axes=[]) -> x, and so for all reductions."""
    return op.operands[0] if op.plain_attributes()["axes"] == () else None


@RULES.on("gather")
def gather_of_one(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """gather(x, constant i) -> reshape(slice(x)), if i is one index inside of x."""
    source, indices = op.operands
    index, shape = scalar_of(indices), spec(source).dims
    axis = op.plain_attributes()["axis"]
    extent = shape[axis]
    if index is None or spec(indices).size != 1 or not isinstance(extent, int):
        return None
    if not -extent <= index < extent:
        return None
    start = index % extent
    starts = tuple(start if i == axis else 0 for i in range(len(shape)))
    stops = tuple(start + 1 if i == axis else d for i, d in enumerate(shape))
    part = rewriter("slice", source, starts=starts, stops=stops, steps=(1,) * len(shape))
    return rewriter("reshape", part, shape=spec(op.results[0]).dims)


@RULES.on("matmul")
@reads("transpose")
def matmul_of_transpose(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """`x @ transpose(y) -> matmul(x, y, transpose_rhs)`, and so on the left.

    The transpose may move other axes too; what counts is that y's last axis is last again.
    """
    attributes, operands, found = op.plain_attributes(), list(op.operands), False
    for index, side in enumerate(("transpose_lhs", "transpose_rhs")):
        inner = producer(operands[index], "transpose")
        if inner is None:
            continue
        *batch, row, column = inner.plain_attributes()["order"]
        if row != len(batch) + 1:
            continue
        found, attributes[side] = True, not attributes[side]
        operands[index] = inner.operands[0]
        if (order := (*batch, column, row)) != tuple(range(len(order))):
            operands[index] = rewriter("transpose", operands[index], order=order)
    return rewriter("matmul", *operands, **attributes) if found else None


@RULES.on("conv")
@reads("pad")
def conv_of_pad(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """conv(pad(x, zeros)) -> conv(x) with wider pads."""
    inner = producer(op.operands[0], "pad")
    if inner is None:
        return None
    pad, attributes = inner.plain_attributes(), op.plain_attributes()
    pads = pad["pads"]
    spatial = slice(1, -1) if attributes["channels_last"] else slice(2, None)
    outside = (pads[0], pads[-1]) if attributes["channels_last"] else pads[:2]
    if pad["mode"] != "constant" or pad["value"] != 0 or any(p != (0, 0) for p in outside):
        return None
    if any(not isinstance(n, int) or n < 0 for pair in pads for n in pair):
        return None
    rows = zip(attributes["pads"], pads[spatial], strict=True)
    attributes["pads"] = tuple((a + c, b + d) for (a, b), (c, d) in rows)
    return rewriter("conv", inner.operands[0], op.operands[1], **attributes)


@RULES.on("extent")
def extent_of_numbers(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """extent(2, 3) -> constant [2, 3]."""
    values = op.plain_attributes()["values"]
    if not all(isinstance(v, int) for v in values):
        return None
    return rewriter.constant(np.array(values, np.int64))
