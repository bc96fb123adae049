"""Combiners: how elements of a reduction are put together, lane by lane and across lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag

from ...ir.dtypes import DType
from .elements import Element, LoopsMath, computed
from .loops import Loops, Rows

Combine = Callable[[LoopsMath, Element, Element], Element]

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
