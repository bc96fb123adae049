"""Pools."""

from __future__ import annotations

from math import prod
from typing import Any

from ....ir import Op
from ....ir.types import dtypes as d
from .extents import NotWritableError
from .layout import transposed
from .products import ends, first, last
from .rules import writes
from .writer import Writer


def _pooled(out: Writer, op: Op, operator: str, x: str, **more: Any) -> str:
    """Return a pool with the channels behind the batch."""
    rules, rank = op.plain_attributes(), op.specs[0].rank
    x = transposed(out, x, first(rank)) if rules["channels_last"] else x
    made = out.node(
        operator, x, kernel_shape=list(rules["window"]), strides=list(rules["strides"]),
        pads=ends(rules["pads"]), dilations=list(rules["dilations"]), **more,
    )  # fmt: skip
    return transposed(out, made, last(rank)) if rules["channels_last"] else str(made)


@writes("gv.max_pool")
def max_pool(out: Writer, op: Op, x: str) -> str:
    """Take the largest; integers in f64, where that holds them."""
    dtype = out.types[x]
    if dtype.is_integer and dtype not in (d.i8, d.u8):
        if dtype in (d.i64, d.u64):
            raise NotWritableError(f"MaxPool of ONNX does not take {dtype}")
        return out.cast(_pooled(out, op, "MaxPool", out.cast(x, d.f64)), dtype)
    return _pooled(out, op, "MaxPool", x)


@writes("gv.sum_pool")
def sum_pool(out: Writer, op: Op, x: str) -> str:
    """Take the mean, padding included, times the number of elements."""
    dtype, count = out.types[x], prod(op.plain_attributes()["window"])
    if dtype in (d.i64, d.u64):
        raise NotWritableError(f"AveragePool of ONNX does not take {dtype}")
    wide = x if dtype.is_float else out.cast(x, d.f64)
    mean = _pooled(out, op, "AveragePool", wide, count_include_pad=1)
    total = out.node("Mul", mean, out.like(count, mean))
    if dtype.is_float:
        return str(total)
    return out.cast(out.cast(out.node("Round", total), d.i64), dtype)


@writes("gv.avg_pool")
def avg_pool(out: Writer, op: Op, x: str) -> str:
    """Take the mean."""
    count = int(op.plain_attributes()["count_padding"])
    return _pooled(out, op, "AveragePool", x, count_include_pad=count)
