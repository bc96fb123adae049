"""Rules of Slice: bounds that count from the end, reach too far, or are symbolic."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....ir import Dim, Op
from ....ir.types import dtypes as d
from ....ir.types.shapes import UnequalError, normalize_axis
from ...dims.slices import Knowledge, bounds
from ..node import Node, Value
from ..registry import rule


@rule("Slice", until=9)
def slice_by_attributes(node: Node, x: Value) -> Value:
    """Cut axes by attributes."""
    starts, ends = node.integers("starts") or (), node.integers("ends") or ()
    axes = node.integers("axes")
    return _slice(node, x, starts, ends, range(len(starts)) if axes is None else axes, None)


@rule("Slice", since=10)
def slice_by_inputs(
    node: Node, x: Value, starts: Value, ends: Value, axes: Value | None = None,
    steps: Value | None = None,
) -> Value:  # fmt: skip
    """Cut axes by inputs."""
    if axes is not None and node.is_data(axes):
        return _slice_along(node, x, starts, ends, axes, steps)
    if node.is_data(starts) or node.is_data(ends) or (steps is not None and node.is_data(steps)):
        return _slice_by(node, x, starts, ends, axes, steps)
    first, last = node.dims(starts, "starts"), node.dims(ends, "ends")
    along = range(len(first)) if axes is None else node.integers_of(axes, "axes")
    by = node.integers_of(steps, "steps") if steps is not None else None
    return _slice(node, x, first, last, along, by)


def _slice_by(
    node: Node, x: Value, starts: Value, ends: Value, axes: Value | None, steps: Value | None
) -> Value:
    """Cut by bounds that are data."""
    make = node.make
    if axes is None and not isinstance(count := node.spec(starts).size, int):
        places = make.iota(shape=(count,), axis=0, dtype=node.dtype(starts))
        return _slice_along(node, x, starts, ends, places, steps)
    count = _count(node, (starts, ends, *(v for v in (axes, steps) if v is not None)))
    given = range(count) if axes is None else node.integers_of(axes, "axes")
    along = tuple(normalize_axis(axis, node.rank(x)) for axis in given)
    by = make.filled(1, node.dtype(starts), (count,)) if steps is None else steps
    if count == 1 and _is_one(node, by) and _is_one_behind(node, starts, ends):
        sizes: tuple[Dim, ...] = (1,)
    else:
        sizes = tuple(node.unknown(high=node.shape(x)[axis])[0] for axis in along)
    return make.slice_by(x, starts, ends, by, axes=along, sizes=sizes)


def _slice_along(
    node: Node, x: Value, starts: Value, ends: Value, axes: Value, steps: Value | None
) -> Value:
    """Cut axes that are data."""
    sizes = tuple(node.unknown(high=dim)[0] for dim in node.shape(x))
    by = steps
    if by is None:
        by = node.make.filled(1, node.dtype(starts), (node.spec(axes).size,))
    given = map(node.vector, (starts, ends, by, axes))
    return node.make.slice_along(x, *given, sizes=sizes)


def _is_one_behind(node: Node, start: Value, end: Value) -> bool:
    """Say whether one bound is another plus 1, as in `x[i:i + 1]`: each run looks whether it is."""
    total = _unshaped(end).owner
    if not isinstance(total, Op) or total.name != "gv.add":
        return False
    parts = [_unshaped(part) for part in total.operands]
    return _unshaped(start) in parts and any(_is_one(node, part) for part in parts)


def _is_one(node: Node, value: Value) -> bool:
    known = node.known(value)
    return known is not None and known.size == 1 and known.ravel()[0] == 1


def _unshaped(value: SSAValue) -> SSAValue:
    """Return what a value is a reshape of."""
    while isinstance(value.owner, Op) and value.owner.name == "gv.reshape":
        value = value.owner.operands[0]
    return value


def _count(node: Node, bounds: Sequence[Value]) -> int:
    """Return how many axes are cut: as many as one input has numbers, else the first."""
    sizes = [node.spec(value).size for value in bounds]
    counts = [*(size for size in sizes if isinstance(size, int)), 1]
    for size in sizes:
        if size != counts[0]:  # each run checks what is assumed of a size that is data
            message = f"{size} numbers for {counts[0]} axes"
            raise UnequalError(message, size, counts[0])
    return counts[0]


def _slice(
    node: Node, x: Value, starts: Sequence[Dim], ends: Sequence[Dim], axes: Sequence[int],
    steps: Sequence[int] | None,
) -> Value:  # fmt: skip
    if steps is None:
        steps = (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        node.fail(f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes, {len(steps)} steps")
    shape = node.shape(x)
    rows: list[tuple[Dim, Dim, int]] = [(0, extent, 1) for extent in shape]
    emitter = node.emitter
    facts = (emitter.sure, [*emitter.facts, *emitter.sure])
    sure, assumed = (Knowledge(emitter.ranges, each) for each in facts)
    taken: list[int] = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        at = normalize_axis(axis, len(shape))
        if step == 0:
            node.fail("step 0, expected another number")
        ends = (start, end, step, shape[at])
        rows[at] = bounds(*ends, assumed, keeps_first=True)
        if step == 1 and rows[at] != bounds(*ends, sure, keeps_first=True):
            taken.append(at)
    for at in taken:
        x = _taken(node, x, at, *rows[at][:2])
        rows[at] = (0, node.shape(x)[at], 1)
    first, last, by = zip(*rows, strict=True) if rows else ((), (), ())
    return node.make.slice(x, starts=first, stops=last, steps=by)


def _taken(node: Node, x: Value, axis: int, start: Dim, stop: Dim) -> Value:
    """Take a range that is only assumed to be inside by index, which never reads outside."""
    make = node.make
    count = make.iota(shape=(stop - start,), axis=0, dtype=d.i64)
    return make.gather(x, make.add(count, make.extent_of(start)), axis=axis)
