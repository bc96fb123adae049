"""Bounds of slices as people and models write them: from the end, too far, or symbolic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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


def at_least(a: Dim, b: Dim, ranges: Mapping[str, Range], depth: int = 4) -> bool:
    """Say whether a >= b for certain, over the ranges of symbols.

    >>> n = dim_rules.symbol("N")
    >>> at_least(n, 1, {"N": (1, None)}), at_least(4, n, {"N": (1, None)})
    (True, False)
    >>> at_least(n, n // 2, {"N": (0, None)})
    True
    """
    difference = a - b
    if isinstance(difference, int):
        return difference >= 0
    if dim_rules.bounds(difference, ranges)[0] >= 0:
        return True
    return depth > 0 and any(
        at_least(lower, 0, ranges, depth - 1) for lower in _simpler(difference)
    )


def _simpler(difference: DimExpr) -> Iterator[Dim]:
    """Give expressions without one of the functions that are positive only if this one is."""
    for monomial, coefficient in difference.terms:
        if len(monomial) != 1 or not monomial[0].op:
            continue
        atom = monomial[0]
        first, second = (dim_rules.parse(text) for text in atom.args)
        rest = difference - DimExpr(((monomial, coefficient),))
        match atom.op:
            case "//" if isinstance(second, int) and second > 0:
                least = first if coefficient < 0 else first - (second - 1)
                yield rest * second + least * coefficient
            case "%" if isinstance(second, int) and second > 0:
                yield rest + (coefficient * (second - 1) if coefficient < 0 else 0)
            case "min" if coefficient < 0:
                yield from (rest + first * coefficient, rest + second * coefficient)
            case "max" if coefficient > 0:
                yield from (rest + first * coefficient, rest + second * coefficient)
