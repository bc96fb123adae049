"""Indices that are data must lie inside of what they are into: a run that finds others ends.

    indices : i64[2,3] into an axis of 5      =>      gv.require all of them in [-5, 5)

Kernels clamp what is outside, so that nothing is read or written there; but what they make of it is
not what the model says. What is known while the model is read is looked at then, and what is known
to lie inside is not looked at in runs (`spans`). Indices that were only moved are looked at where
they came from, once for all nodes that use them alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ...ir import Dim, Op, spec_of
from ...ir.compose.functions import cut
from ...ir.ops.control.state import Require
from ...ir.ops.convert import Cast
from ...ir.ops.layout import BroadcastTo, Reshape, Transpose
from ...ir.types import dims as dim_rules
from ...ir.types.dtypes import i64, u64
from ..dims.slices import Knowledge
from .node import Node, Value
from .spans import span_of


class WantedRange(NamedTuple):
    """What each integer of a value must be: from `low` to below `high`, or the `other` one."""

    source: SSAValue
    low: Dim
    high: Dim
    other: int | None


def require_index(node: Node, indices: Value, extent: Dim, what: str = "index") -> None:
    """Require that indices lie in an axis of so many elements, counted from its end if negative."""
    require_within(node, indices, -extent, extent, what)


def require_points(node: Node, points: Value, extents: Sequence[Dim]) -> None:
    """Require that index vectors, which are the last axis, lie inside of axes of these extents."""
    depth = node.shape(points)[-1] if node.rank(points) else None
    if not isinstance(depth, int) or depth > len(extents):
        return  # the operation refuses them
    if len({*extents[:depth]}) == 1:
        require_index(node, points, extents[0])
        return
    for at, extent in enumerate(extents[:depth]):
        column = cut(node.emit, points, node.rank(points) - 1, at, at + 1)
        require_index(node, column, extent, f"index[{at}]")


def require_within(
    node: Node, indices: Value, low: Dim, high: Dim, what: str, other: int | None = None
) -> None:
    """Require that all integers of a value are from `low` to below `high`, or are `other`.

    Raises `TypeError` where it is known that one is not.
    """
    wanted = WantedRange(origin(node, indices), low, high, other)
    if spec_of(wanted.source.type).size == 0 or is_met(node, wanted, what):
        return
    made = node.emitter.required
    before = made.get(wanted)
    if before is not None and before.parent in (node.block, node.emitter.entry):
        return
    with at_source(node, wanted):
        made[wanted] = looked_at(node, wanted, what)


def is_met(node: Node, wanted: WantedRange, what: str) -> bool:
    """Say whether what is wanted is known to hold; raise `TypeError` where it never does."""
    span = span_of(node.emitter, wanted.source)
    if span.low is None or span.high is None or wanted.other is not None:
        return False
    known = Knowledge(node.emitter.ranges, node.emitter.facts)
    if known.at_least(span.low, wanted.low) and known.at_least(wanted.high - 1, span.high):
        return True
    is_outside = known.at_least(wanted.low - 1, span.low) or known.at_least(span.high, wanted.high)
    is_certain = node.block is node.emitter.entry  # a branch or a trip need not be taken
    if is_outside and is_certain and node.emitter.span(wanted.source) is not None:
        node.fail(f"{what} from {span.low} to {span.high}, expected [{wanted.low}, {wanted.high})")
    return False


def origin(node: Node, value: SSAValue) -> SSAValue:
    """Return what a value's elements were before they were moved: all of them, and no others."""
    while isinstance(owner := value.owner, Op) and owner.operands:
        x = owner.operands[0]
        if isinstance(owner, Cast):
            before, after = (spec_of(each.type).dtype for each in (x, value))
            keeps = before.is_integer and after.is_integer and after.maximum >= before.maximum
            keeps = keeps and after.minimum <= before.minimum
        elif isinstance(owner, BroadcastTo):
            keeps = dim_rules.bounds(spec_of(value.type).size, node.emitter.ranges)[0] > 0
        else:
            keeps = isinstance(owner, Reshape | Transpose)
        if not keeps:
            break
        value = x
    return value


@contextmanager
def at_source(node: Node, wanted: WantedRange) -> Iterator[None]:
    """Append for a while where an argument of the model is known, if sizes are known there too.

    So layers that use the same one stay alike.
    """
    entry, point = node.emitter.entry, node.emitter.emit.point
    sizes = dim_rules.symbols(wanted.low) | dim_rules.symbols(wanted.high)
    told = {n for x in entry.args for n in dim_rules.symbols(spec_of(x.type).size)}
    is_given = node.block is entry and wanted.source.owner is entry
    if is_given and sizes <= told and entry.first_op is not None:
        node.emitter.emit.point = InsertPoint.before(entry.first_op)
    try:
        yield
    finally:
        node.emitter.emit.point = point


def looked_at(node: Node, wanted: WantedRange, what: str) -> Operation:
    """Append what looks at a value in the run; return the requirement.

    Taken as numbers without a sign, those above the lowest one are in range if the largest is: it
    is looked for in one sweep, and tells which integer is wrong.
    """
    make, (source, low, high, other) = node.make, wanted
    lowest, x = make.extent_of(low), make.to(source, i64)
    above = make.sub(x, lowest)
    if other is not None:
        is_other = make.equal(x, make.number(other, i64))
        above = make.select(is_other, make.number(0, i64), above)
    axes = tuple(range(node.rank(source)))
    largest = make.max(make.to(above, u64), axes=axes, keepdims=False)
    holds = make.less(largest, make.extent_of(high - low, u64))
    ranges = node.emitter.ranges
    if all(dim_rules.bounds(x, ranges)[0] <= 0 for x in (high - low, spec_of(source.type).size)):
        count = make.extent_of(spec_of(source.type).size)  # none may be in no range
        holds = make.logical_or(holds, make.equal(count, make.number(0, i64)))
    found = make.add(make.to(largest, i64), lowest)
    text, bounds = f"{node.op_type}: {what}", f"is not in [{low}, {high})"
    argument = -1
    if isinstance(source, BlockArgument) and source.owner is node.emitter.entry and other is None:
        argument = source.index
    made: SSAValue = make.emit(
        Require, holds, make.number(0, i64), found,
        message=f"{text} {bounds}", told=f"{text} = {{value}} {bounds}",
        argument=argument, within=(low, high),
    )  # fmt: skip
    assert isinstance(made.owner, Operation), "what is appended is an operation"
    return made.owner
