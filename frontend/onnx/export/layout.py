"""Operations that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir import Dim, Op
from ....ir.types import dtypes as d
from ....ir.types.dims import product
from .extents import NotWritableError
from .rules import writes
from .writer import Writer

LOWEST = np.iinfo(np.int64).min


def transposed(out: Writer, x: str, order: Sequence[int]) -> str:
    """Return a value with its axes in another order."""
    if list(order) == sorted(order):
        return x
    return str(out.node("Transpose", x, perm=list(order)))


@writes("gv.transpose")
def transpose(out: Writer, op: Op, x: str) -> str:
    """Write the axes' order."""
    return transposed(out, x, op.plain_attributes()["order"])


@writes("gv.reshape")
def reshape(out: Writer, op: Op, x: str) -> str:
    """Write the shape; one symbol in it is what is left."""
    return reshaped(out, x, op.specs[0].dims, op.result_specs[0].dims)


def reshaped(out: Writer, x: str, before: Sequence[Dim], after: Sequence[Dim]) -> str:
    """Return a value in another shape."""
    symbols = [axis for axis, dim in enumerate(after) if not isinstance(dim, int)]
    kept = [a for a in symbols if a < len(before) and before[a] == after[a]]
    free = [a for a in symbols if a not in kept]
    if not free and kept and product(tuple(before)) != 0:
        free, kept = kept[-1:], kept[:-1]
    if len(free) > 1 or (symbols and 0 in after):
        return str(out.node("Reshape", x, out.integers(after), allowzero=1))
    plain = [-1 if a in free else 0 if a in kept else dim for a, dim in enumerate(after)]
    zero: dict[str, Any] = {"allowzero": 1} if 0 in after else {}
    return str(out.node("Reshape", x, out.integers(plain), **zero))


@writes("gv.broadcast_to")
def broadcast_to(out: Writer, op: Op, x: str) -> str:
    """Write the shape."""
    return str(out.node("Expand", x, out.integers(op.result_specs[0].dims)))


@writes("gv.concat")
def concat(out: Writer, op: Op, *xs: str) -> str:
    """Join."""
    return str(out.node("Concat", *xs, axis=op.plain_attributes()["axis"]))


@writes("gv.slice")
def slice_(out: Writer, op: Op, x: str) -> str:
    """Write the axes of which something is left out, or that are reversed."""
    rules, shape = op.plain_attributes(), op.specs[0].dims
    rows = list(zip(rules["starts"], rules["stops"], rules["steps"], strict=True))
    axes = [a for a, (row, dim) in enumerate(zip(rows, shape, strict=True)) if row != (0, dim, 1)]
    if not axes:
        return x
    starts = [rows[a][0] for a in axes]
    stops = [LOWEST if rows[a][1] == -1 - shape[a] else rows[a][1] for a in axes]
    steps = [rows[a][2] for a in axes]
    vectors = [out.integers(values) for values in (starts, stops, axes, steps)]
    return str(out.node("Slice", x, *vectors))


@writes("gv.pad")
def pad(out: Writer, op: Op, x: str) -> str:
    """Write the pads; what repeats elements further than the axis is long is taken by index."""
    rules, shape = op.plain_attributes(), op.specs[0].dims
    pads, mode = rules["pads"], rules["mode"]
    if mode == "constant":
        value = out.number(rules["value"], out.types[x])
        ends = [low for low, _ in pads] + [high for _, high in pads]
        return str(out.node("Pad", x, out.integers(ends), value))
    for axis, (low, high) in enumerate(pads):
        extent = shape[axis]
        if (low, high) == (0, 0):
            continue
        if not (isinstance(extent, int) and isinstance(low, int) and isinstance(high, int)):
            raise NotWritableError(f"pads of mode {mode} that are symbols")
        index = np.pad(np.arange(extent), (max(low, 0), max(high, 0)), mode=mode)
        first = max(-low, 0)  # what a negative pad takes away
        index = index[first : first + low + extent + high]
        x = out.node("Gather", x, out.store(index.astype(np.int64)), axis=axis)
    return x


@writes("gv.iota")
def iota(out: Writer, op: Op) -> str:
    """Count, and repeat along the other axes."""
    rules = op.plain_attributes()
    shape, axis, dtype = rules["shape"], rules["axis"], rules["dtype"]
    extent = shape[axis]
    if isinstance(extent, int) and extent <= 64:
        counted = out.store(np.arange(extent).astype(dtype.numpy))
    else:
        stop = out.node("Squeeze", out.integers((extent,)))
        counted = out.cast(
            out.node("Range", out.number(0, d.i64), stop, out.number(1, d.i64)), dtype
        )
    after = len(shape) - axis - 1
    if after:
        counted = out.node("Reshape", counted, out.integers((-1, *(1,) * after)))
    if len(shape) == 1:
        return counted
    return str(out.node("Expand", counted, out.integers(shape)))


@writes("gv.extent")
def extent(out: Writer, op: Op) -> str:
    """Write the dimensions."""
    return out.integers(op.plain_attributes()["values"])


@writes("gv.resize")
def resize(out: Writer, op: Op, x: str) -> str:
    """Write ONNX's own operator, whose attributes these are."""
    rules, result = op.plain_attributes(), op.result_specs[0]
    scales = rules["scales"]
    if scales and not op.specs[0].is_static:
        raise NotWritableError("scales of a symbolic shape")
    sizes = "" if scales else out.integers(result.dims)
    factors = out.store(np.array(scales, np.float32)) if scales else ""
    if scales:
        extents = zip(op.specs[0].static_shape, scales, result.static_shape, strict=True)
        if any(int(np.floor(np.float32(n) * np.float32(s))) != m for n, s, m in extents):
            raise NotWritableError("scales that lead to another size")
    return str(
        out.node(
            "Resize", x, "", factors, sizes, mode=rules["mode"],
            coordinate_transformation_mode=rules["coordinate"], nearest_mode=rules["nearest"],
            cubic_coeff_a=rules["cubic"], exclude_outside=int(rules["exclude_outside"]),
        )
    )  # fmt: skip
