"""Bounds of slices as people and models write them: from the end, too far, or symbolic."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir import Dim, DimExpr, Range
from ..ir import dims as dim_rules

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
