"""Rules of Slice: bounds that count from the end, reach too far, or are symbolic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import Dim, DimExpr, Range
from ...ir import dims as dim_rules
from ...ir.shapes import normalize_axis
from .node import Node, Value
from .rules import rule


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
    first, last = node.dims(starts, "starts"), node.dims(ends, "ends")
    along = range(len(first)) if axes is None else node.integers_of(axes, "axes")
    by = node.integers_of(steps, "steps") if steps is not None else None
    return _slice(node, x, first, last, along, by)


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
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        at = normalize_axis(axis, len(shape))
        if step == 0:
            node.fail("step 0, expected another number")
        rows[at] = bounds(start, end, step, shape[at], node.emitter.ranges)
    first, last, by = zip(*rows, strict=True) if rows else ((), (), ())
    return node.make.slice(x, starts=first, stops=last, steps=by)


FAR = (1 << 31) - 1
"""Numbers from here on mean "to the end"."""


def bounds(
    start: Dim, end: Dim, step: int, extent: Dim, ranges: Mapping[str, Range]
) -> tuple[Dim, Dim, int]:
    """Return start, stop and step as `gv.slice` wants them: inside the axis, in order.

    >>> bounds(-3, 1 << 60, 1, 10, {})
    (7, 10, 1)
    >>> bounds(1 << 60, -(1 << 60), -2, 10, {})
    (9, -11, -2)
    """
    if isinstance(start, int) and isinstance(end, int) and isinstance(extent, int):
        first, last, _ = slice(start, end, step).indices(extent)
        if not range(first, last, step):
            return 0, 0, 1
        return first, last if last >= 0 else -1 - extent, step
    if step > 0:
        first_dim = _clamped(start, extent, 0, extent, ranges)
        last_dim = _clamped(end, extent, 0, extent, ranges)
        if first_dim == 0 or last_dim == extent:
            return first_dim, last_dim, step
        return first_dim, _at_least(last_dim, first_dim, ranges), step
    first_dim = _clamped(start, extent, 0, extent - 1, ranges)
    last_dim = _clamped(end, extent, -1, extent - 1, ranges)
    stop = -1 - extent if isinstance(last_dim, int) and last_dim == -1 else last_dim
    return first_dim, stop, step


def _clamped(value: Dim, extent: Dim, low: int, high: Dim, ranges: Mapping[str, Range]) -> Dim:
    """Return a bound counted from the front and inside of [low, high]."""
    if isinstance(value, int):
        if value >= FAR:
            return high
        if value <= -FAR:
            return low
        if value < 0:
            return _at_least(extent + value, low, ranges)
        return value if at_least(high, value, ranges) else dim_rules.minimum(value, high)
    lowest = dim_rules.bounds(value, ranges)[0]
    if lowest < 0:
        value = _at_least(value, low, ranges)
    return value if at_least(high, value, ranges) else dim_rules.minimum(value, high)


def _at_least(value: Dim, low: Dim, ranges: Mapping[str, Range]) -> Dim:
    return value if at_least(value, low, ranges) else dim_rules.maximum(value, low)


def at_least(a: Dim, b: Dim, ranges: Mapping[str, Range]) -> bool:
    """Say whether a >= b for certain, term by term over the ranges of symbols.

    >>> n = dim_rules.symbol("N")
    >>> at_least(n, 1, {"N": (1, None)}), at_least(4, n, {"N": (1, None)})
    (True, False)
    """
    difference = a - b
    if isinstance(difference, int):
        return difference >= 0
    lowest = 0
    for monomial, coefficient in difference.terms:
        low, high = dim_rules.bounds(DimExpr(((monomial, 1),)), ranges) if monomial else (1, 1)
        if coefficient < 0 and high is None:
            return False
        lowest += coefficient * (low if coefficient > 0 else high or 0)
    return lowest >= 0
