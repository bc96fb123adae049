"""Operations that take or put elements by index, sort and scan.

An index outside of its axis, which gravure takes for the nearest one, is an error in ONNX.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir import Op
from ....ir.types import dtypes as d
from .extents import NotWritableError
from .rules import writes
from .writer import Writer


def places(out: Writer, indices: str) -> str:
    """Return indices of a type that ONNX takes."""
    return indices if out.types[indices] in (d.i32, d.i64) else out.cast(indices, d.i64)


@writes("gv.gather")
def gather(out: Writer, op: Op, x: str, indices: str) -> str:
    """Take slices."""
    return str(out.node("Gather", x, places(out, indices), axis=op.plain_attributes()["axis"]))


@writes("gv.gather_elements")
def gather_elements(out: Writer, op: Op, x: str, indices: str) -> str:
    """Take elements."""
    axis = op.plain_attributes()["axis"]
    return str(out.node("GatherElements", x, places(out, indices), axis=axis))


@writes("gv.gather_nd")
def gather_nd(out: Writer, op: Op, x: str, indices: str) -> str:
    """Take slices at points."""
    batch = op.plain_attributes()["batch_dims"]
    return str(out.node("GatherND", x, out.cast(indices, d.i64), batch_dims=batch))


@writes("gv.scatter_elements")
def scatter_elements(out: Writer, op: Op, x: str, indices: str, updates: str) -> str:
    """Put elements."""
    rules, at = op.plain_attributes(), places(out, indices)
    how = {name: rules[name] for name in ("axis", "reduction")}
    return str(out.node("ScatterElements", x, at, updates, **how))


@writes("gv.scatter_nd")
def scatter_nd(out: Writer, op: Op, x: str, indices: str, updates: str) -> str:
    """Put slices at points."""
    reduction = op.plain_attributes()["reduction"]
    return str(out.node("ScatterND", x, out.cast(indices, d.i64), updates, reduction=reduction))


@writes("gv.one_hot")
def one_hot(out: Writer, op: Op, indices: str) -> str:
    """Write ONNX's own operator for the types that runtimes have it for."""
    rules = op.plain_attributes()
    if rules["dtype"] is not d.f32 or out.types[indices] is not d.i64:
        raise NotWritableError("one_hot of other types than i64 and f32")
    depth = out.node("Squeeze", out.integers((rules["depth"],)))
    values = out.store(np.array([rules["off"], rules["on"]], np.float32))
    return str(out.node("OneHot", indices, depth, values, axis=rules["axis"]))


@writes("gv.top_k")
def top_k(out: Writer, op: Op, x: str) -> tuple[str, str]:
    """Take the first in order."""
    rules = op.plain_attributes()
    values, places = out.node(
        "TopK", x, out.integers((rules["k"],)), outputs=2, axis=rules["axis"],
        largest=int(rules["largest"]), sorted=int(rules["sorted"]),
    )  # fmt: skip
    return values, places


@writes("gv.cumsum")
def cumsum(out: Writer, op: Op, x: str) -> str:
    """Add up along an axis."""
    rules = op.plain_attributes()
    flags: dict[str, Any] = {name: int(rules[name]) for name in ("exclusive", "reverse")}
    axis = out.store(np.array(rules["axis"] % op.specs[0].rank, np.int64))
    return str(out.node("CumSum", x, axis, **flags))


@writes("gv.cumprod")
def cumprod(out: Writer, op: Op, x: str) -> str:
    """Multiply with what lies 1, 2, 4, ... before, until all that lies before is in."""
    rules, spec = op.plain_attributes(), op.specs[0]
    axis, rank = rules["axis"] % spec.rank, spec.rank
    extent = spec.dims[axis]
    if not isinstance(extent, int):
        raise NotWritableError("a running product of a symbolic length")
    one = out.like(1, x)

    def moved(value: str, by: int) -> str:
        """Return a value that starts later by so many ones."""
        pads = [0] * (2 * rank)
        pads[axis + rank * rules["reverse"]] = by
        pads[axis + rank * (not rules["reverse"])] = -by
        return str(out.node("Pad", value, out.integers(pads), one))

    made, step = x, 1
    while step < extent:
        made = out.node("Mul", made, moved(made, step))
        step *= 2
    return moved(made, min(1, extent)) if rules["exclusive"] else made
