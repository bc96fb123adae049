"""Combiners: how elements of a reduction are put together, lane by lane and across lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue

from ...ir.dtypes import DType
from .elements import Element, LoopsMath, computed
from .loops import Index, Loops, Rows, vector_type
from .read import Reader

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


def accumulate(
    reader: Reader, high: Index, state: tuple[Element, Element], combine: Combine,
    element: Callable[[Index], Element],
) -> Element:  # fmt: skip
    """Combine the elements 0..high: by four vectors, by one, and a masked rest.

    `state` is what there is already, and what changes nothing.
    """
    loops, math, lanes = reader.loops, reader.math, max(reader.space.lanes, 1)
    (total, start), known = state, loops.known(high)
    whole = known - known % lanes if isinstance(known, int) else None
    position: Index = 0
    if whole is None or whole >= lanes * ACCUMULATORS * 2:
        stride = lanes * ACCUMULATORS
        stop = loops.multiply(loops.divide(high, stride), stride)
        many = [total, *[start] * (ACCUMULATORS - 1)]
        with loops.loop(0, stop, stride, [a.value for a in many]) as one:
            made = [
                combine(math, a, element(loops.add(one.index, i * lanes)))
                for i, a in enumerate(alike(one.values, total))
            ]
            one.carry(*(a.value for a in made))
        parts = alike(one.results, total)
        total = combine(math, combine(math, parts[0], parts[1]), combine(math, parts[2], parts[3]))
        position = stop
    stop = loops.multiply(loops.divide(high, lanes), lanes)
    if loops.known(position) != loops.known(stop):
        with loops.loop(position, stop, lanes, [total.value]) as one:
            (inside,) = alike(one.values, total)
            one.carry(combine(math, inside, element(loops.index(one.index))).value)
        (total,) = alike(one.results, total)
    if (whole is not None and whole == known) or not reader.space.lanes:
        return total
    reader.mask = loops.mask(loops.subtract(high, loops.index(stop)), lanes)
    last = element(stop)
    kind = vector_type(computed(last.dtype), lanes)
    chosen = loops.pure(arith.SelectOp, (reader.mask, last.value, start.value), kind)
    reader.mask = None
    reader.fresh()
    return combine(math, total, Element(chosen, last.dtype, lanes))


def alike(values: Sequence[SSAValue], like: Element) -> list[Element]:
    """Return values as elements of one type."""
    return [Element(v, like.dtype, like.lanes) for v in values]
