"""Combiners: how elements of a reduction are put together, lane by lane and across lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue

from ....ir.types.dtypes import DType
from .elements import Element, LoopsMath, computed
from .loops import Index, Loops, Rows, vector_type
from .read import ElementReader

Combine = Callable[[LoopsMath, Element, Element], Element]

ACCUMULATORS = 4

COMBINERS: dict[str, Combine] = {
    "add": LoopsMath.add,
    "mul": LoopsMath.mul,
    "max": LoopsMath.maximum,
    "min": LoopsMath.minimum,
    "and": LoopsMath.logical_and,
    "or": LoopsMath.logical_or,
}

_KINDS: dict[str, tuple[str, str, str]] = {
    "add": ("add", "add", "add"),
    "mul": ("mul", "mul", "mul"),
    "max": ("maximumf", "maxsi", "maxui"),
    "min": ("minimumf", "minsi", "minui"),
    "and": ("and", "and", "and"),
    "or": ("or", "or", "or"),
}
"""Names of the reduction across lanes for floats, signed and unsigned integers."""


def identity(combiner: str, dtype: DType) -> Any:
    """Return the value that changes nothing."""
    values = {
        "add": 0,
        "mul": 1,
        "max": dtype.minimum,
        "min": dtype.maximum,
        "and": -1 if dtype.kind == "i" else dtype.maximum,
        "or": 0,
    }
    return values[combiner]


def across_lanes(loops: Loops, combiner: str, x: Element) -> Element:
    """Return the combination of all lanes of a vector."""
    if not x.lanes:
        return x
    kind = "u" if x.dtype.kind == "b" else x.dtype.kind
    name = _KINDS[combiner]["fiu".index(kind)]
    if x.dtype.kind == "b":
        name = {"max": "or", "min": "and"}.get(combiner, name)
    flag = CombiningKindAttr(CombiningKindFlag(name))
    rows: Rows = {"kind": flag, "fastmath": arith.FastMathFlagsAttr("none")}
    value = loops.pure(vector.ReductionOp, (x.value,), computed(x.dtype), rows)
    return Element(value, x.dtype, 0)


def halved(
    loops: Loops, x: Element, lanes: int, combine: Callable[[Element, Element], Element]
) -> Element:
    """Return the combination of both halves of a vector, and of theirs, down to so many lanes."""
    while x.lanes > lanes:
        half = x.lanes // 2
        low, high = (
            Element(loops.shuffle(x.value, x.value, range(at, at + half)), x.dtype, half)
            for at in (0, half)
        )
        x = combine(low, high)
    return x


@dataclass(frozen=True)
class LoopReduction:
    """A reduction along a loop: what there is already, what changes nothing, what it takes in."""

    total: Element
    start: Element
    combine: Combine
    element: Callable[[Index], Element]


def accumulate(
    reader: ElementReader, high: Index, parts: Sequence[LoopReduction],
    then: Callable[[Sequence[Index]], None] = lambda _: None,
) -> list[Element]:  # fmt: skip
    """Combine the elements 0..high of each part: by four vectors, by one, and a masked rest.

    `then` is run behind the vectors that are taken in together, with their places.
    """
    loops, math, lanes = reader.loops, reader.math, max(reader.space.lanes, 1)
    known = loops.known(high)
    whole = known - known % lanes if isinstance(known, int) else None
    totals = [part.total for part in parts]

    def taken_in(values: Sequence[SSAValue], places: Sequence[Index]) -> list[SSAValue]:
        rest, made = iter(values), []
        for part in parts:
            for at in places:
                (so_far,) = alike([next(rest)], part.total)
                made.append(part.combine(math, so_far, part.element(at)).value)
        then(places)
        return made

    position: Index = 0
    if whole is None or whole >= lanes * ACCUMULATORS * 2:
        stride = lanes * ACCUMULATORS
        position = loops.multiply(loops.divide(high, stride), stride)
        many = [x.value for p in parts for x in (p.total, *[p.start] * (ACCUMULATORS - 1))]
        with loops.loop(0, position, stride, many) as one:
            places = [loops.add(one.index, i * lanes) for i in range(ACCUMULATORS)]
            one.carry(*taken_in(one.values, places))
        for number, part in enumerate(parts):
            first = number * ACCUMULATORS
            a, b, c, d = alike(one.results[first : first + ACCUMULATORS], part.total)
            totals[number] = part.combine(math, part.combine(math, a, b), part.combine(math, c, d))
    stop = loops.multiply(loops.divide(high, lanes), lanes)
    if loops.known(position) != loops.known(stop):
        with loops.loop(position, stop, lanes, [total.value for total in totals]) as one:
            one.carry(*taken_in(one.values, [loops.index(one.index)]))
        totals = [x for v, t in zip(one.results, totals, strict=True) for x in alike([v], t)]
    if (whole is not None and whole == known) or not reader.space.lanes:
        return totals
    reader.mask = mask = loops.mask(loops.subtract(high, loops.index(stop)), lanes)
    for number, part in enumerate(parts):
        last = part.element(stop)
        kind = vector_type(computed(last.dtype), lanes)
        chosen = loops.pure(arith.SelectOp, (mask, last.value, part.start.value), kind)
        last = Element(chosen, last.dtype, lanes)
        totals[number] = part.combine(math, totals[number], last)
    then([stop])
    reader.mask = None
    reader.fresh()
    return totals


def alike(values: Sequence[SSAValue], like: Element) -> list[Element]:
    """Return values as elements of one type."""
    return [Element(v, like.dtype, like.lanes) for v in values]
