"""Bounds of slices as people and models write them: from the end, too far, or symbolic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ...ir import Dim, DimExpr, Range
from ...ir.types import dims as dim_rules

FAR = (1 << 31) - 1
"""Numbers from here on mean "to the end"."""

LITTLE = 64
"""What is computed of sizes and may be below 0 by so much is counted from the end where it is."""

DEPTH = 4
"""How many functions in a dimension are looked into to compare it."""
MOST = 500
"""How many dimensions are looked into to compare two."""


@dataclass(frozen=True)
class Knowledge:
    """What is known of symbols: their ranges, and expressions that are at least 0."""

    ranges: Mapping[str, Range] = field(default_factory=dict)
    facts: Sequence[Dim] = ()

    def at_least(self, a: Dim, b: Dim) -> bool:
        """Say whether a >= b for certain.

        >>> n = dim_rules.symbol("N")
        >>> positive = Knowledge({"N": (1, None)})
        >>> positive.at_least(n, 1), positive.at_least(4, n), positive.at_least(n, n // 2)
        (True, False, True)
        >>> positive.at_least(dim_rules.minimum(n, 2), dim_rules.minimum(n, 1))
        True
        >>> positive.at_least(dim_rules.parse("7 * ((N + 24) // 28)"), n // 4)
        True
        """
        difference = a - b
        if self._is_positive(difference, DEPTH, {}, ()):
            return True
        return bool(self.facts) and self._is_positive(difference, DEPTH, {}, self.facts)

    def _is_positive(
        self, dim: Dim, depth: int, failed: dict[Dim, int], facts: Sequence[Dim]
    ) -> bool:
        """Say whether a dimension is at least 0 for certain.

        `failed` are those that were looked into, and how deep: facts that are taken away in any
        order leave the same. A fact about other symbols alone says nothing.
        """
        if isinstance(dim, int):
            return dim >= 0
        if dim_rules.bounds(dim, self.ranges)[0] >= 0:
            return True
        if failed.get(dim, -1) >= depth:
            return False
        failed[dim] = depth
        if not depth or len(failed) > MOST:
            return False
        names = dim_rules.symbols(dim)
        near = (fact for fact in facts if names & dim_rules.symbols(fact))
        lower = chain(_simpler(dim), (dim - fact for fact in near))
        if any(self._is_positive(each, depth - 1, failed, facts) for each in lower):
            return True
        return any(
            all(self._is_positive(each, depth - 1, failed, facts) for each in both)
            for both in _either(dim)
        )


def bounds(
    start: Dim, end: Dim, step: int, extent: Dim, known: Knowledge, *, keeps_first: bool = False
) -> tuple[Dim, Dim, int]:
    """Return start, stop and step as `gv.slice` wants them: inside the axis, in order.

    A start that is too far before the first element, with a negative step, takes none, as in
    Python; the first alone with `keeps_first`, as in ONNX. A symbolic bound that is below 0 counts
    from the end. Where a start, or an end behind the first element, may be above 0 and far below,
    it is taken for one from the front: the slice demands of the run that it is inside of the axis.

    >>> bounds(-3, 1 << 60, 1, 10, Knowledge())
    (7, 10, 1)
    >>> bounds(1 << 60, -(1 << 60), -2, 10, Knowledge())
    (9, -11, -2)
    >>> bounds(-20, -20, -1, 10, Knowledge())
    (0, 0, 1)
    >>> bounds(-20, -20, -1, 10, Knowledge(), keeps_first=True)
    (0, -11, -1)

    Without the first elements there are as many as without the last, in the same words:

    >>> width, positive = dim_rules.symbol("w"), Knowledge({"w": (1, None)})
    >>> start, stop, _ = bounds(2, FAR, 1, width, positive)
    >>> str(stop - start), str(bounds(0, -2, 1, width, positive)[1])
    ('max(0, w - 2)', 'max(0, w - 2)')
    """
    if keeps_first and isinstance(start, int) and isinstance(extent, int):
        start = max(start, -extent)
    if isinstance(start, int) and isinstance(end, int) and isinstance(extent, int):
        first, last, _ = slice(start, end, step).indices(extent)
        if not range(first, last, step):
            return 0, 0, 1
        return first, last if last >= 0 else -1 - extent, step
    front, back = _signed(start, extent, known), _signed(end, extent, known)
    if step > 0:
        first_dim = _clamped(front, extent, 0, extent, known)
        if front is not start and not known.at_least(0, start):
            first_dim = _from_the_front(start, extent, known)
        if first_dim == 0 and back is not end and not known.at_least(0, end):
            return 0, _from_the_front(end, extent, known), step
        last_dim = _clamped(back, extent, 0, extent, known)
        is_cut = isinstance(front, int) and front > 0 and isinstance(first_dim, DimExpr)
        if is_cut and last_dim == extent:
            first_dim = extent - _raised(extent - front, 0, known)  # as many as without the last
        if first_dim == 0 or last_dim == extent:
            return first_dim, last_dim, step
        return first_dim, _raised(last_dim, first_dim, known), step
    first_dim = _clamped(front, extent, 0 if keeps_first else -1, extent - 1, known)
    last_dim = _clamped(back, extent, -1, extent - 1, known)
    if not known.at_least(first_dim, last_dim):
        last_dim = dim_rules.minimum(last_dim, first_dim)
    stop = -1 - extent if isinstance(last_dim, int) and last_dim == -1 else last_dim
    return first_dim, stop, step


def _signed(value: Dim, extent: Dim, known: Knowledge) -> Dim:
    """Return a symbolic bound counted from the front, from whichever end it is counted.

    Divided by what is larger than all sizes, what is below 0 is -1, and the rest is 0.
    """
    if isinstance(value, int) or known.at_least(value, 0):
        return value
    ends = -1 if known.at_least(-1, value) else dim_rules.floor_divide(value, FAR << 10)
    made = value - extent * ends
    return made if isinstance(made, DimExpr) else max(made, 0)


def _from_the_front(value: Dim, extent: Dim, known: Knowledge) -> Dim:
    """Return a symbolic bound from the front, cut to the axis where it is never far below 0.

    >>> n = dim_rules.symbol("N")
    >>> str(_from_the_front(n - 1, n, Knowledge())), str(_from_the_front(n - 99, n, Knowledge()))
    ('max(0, N - 1)', 'N - 99')

    Where N - 1 is below 0 there is nothing to count from the end; of 2 elements N - 3 is the last.
    """
    below = Knowledge(known.ranges, (*known.facts, -1 - value))
    if below.at_least(0, value + extent):
        value = _raised(value, 0, known)
    elif dim_rules.bounds(value, known.ranges)[0] >= -LITTLE:
        return _clamped(_signed(value, extent, known), extent, 0, extent, known)
    return _lowered(value, extent, known)


def _clamped(value: Dim, extent: Dim, low: int, high: Dim, known: Knowledge) -> Dim:
    """Return a bound counted from the front and inside of [low, high]."""
    if isinstance(value, int):
        if value >= FAR:
            return high
        if value < 0:
            value = low if value <= -FAR else _raised(extent + value, low, known)
            return value if known.at_least(high, low) else _lowered(value, high, known)
    else:
        value = _raised(value, low, known)
    return _lowered(value, high, known)


def _raised(value: Dim, low: Dim, known: Knowledge) -> Dim:
    """Return the larger of two; that itself, where it is known which it is."""
    if known.at_least(value, low):
        return value
    return low if known.at_least(low, value) else dim_rules.maximum(value, low)


def _lowered(value: Dim, high: Dim, known: Knowledge) -> Dim:
    """Return the smaller of two; that itself, where it is known which it is."""
    if known.at_least(high, value):
        return value
    return high if known.at_least(value, high) else dim_rules.minimum(value, high)


def _either(dim: DimExpr) -> Iterator[tuple[Dim, Dim]]:
    """Give the two expressions of which one is the dimension, depending on which is an extreme."""
    for monomial, coefficient in dim.terms:
        wanted = "min" if coefficient > 0 else "max"
        if len(monomial) == 1 and monomial[0].op == wanted:
            rest = dim - DimExpr(((monomial, coefficient),))
            first, second = (dim_rules.parse(text) for text in monomial[0].args)
            yield rest + first * coefficient, rest + second * coefficient


def without_quotients(dim: Dim) -> Dim:
    """Return an expression that is at least 0 where this one is, without its whole quotients.

    >>> str(without_quotients((dim_rules.symbol("N") + 1) // 2 - 4))
    'N - 7'
    """
    for monomial, coefficient in dim.terms if isinstance(dim, DimExpr) else ():
        if coefficient == 1 and len(monomial) == 1 and monomial[0].op == "//":
            first, second = map(dim_rules.parse, monomial[0].args)
            if isinstance(second, int) and second > 0:
                rest = dim - DimExpr(((monomial, 1),))
                return without_quotients(rest * second + first)
    return dim


def _simpler(dim: DimExpr) -> Iterator[Dim]:
    """Give expressions without one of the functions that are positive only if this one is."""
    for monomial, coefficient in dim.terms:
        if len(monomial) != 1 or not monomial[0].op:
            continue
        atom = monomial[0]
        first, second = (dim_rules.parse(text) for text in atom.args)
        rest = dim - DimExpr(((monomial, coefficient),))
        match atom.op:
            case "//" if isinstance(second, int) and second > 0:
                # It is a whole number: at least 0 if `second` times as much is above -second.
                least = first if coefficient < 0 else first - (second - 1)
                yield rest * second + least * coefficient + (second - 1)
            case "%" if isinstance(second, int) and second > 0:
                yield rest + (coefficient * (second - 1) if coefficient < 0 else 0)
            case "min" if coefficient < 0:
                yield from (rest + first * coefficient, rest + second * coefficient)
            case "max" if coefficient > 0:
                yield from (rest + first * coefficient, rest + second * coefficient)
