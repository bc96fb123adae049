"""Reductions."""

from __future__ import annotations

from typing import Any

from ....ir import Op
from ....ir.op import REGISTRY
from ....ir.ops.reduce import ArgExtreme
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axes
from .rules import writes
from .writer import Writer

OPERATORS = {
    "gv.sum": "ReduceSum",
    "gv.mean": "ReduceMean",
    "gv.prod": "ReduceProd",
    "gv.max": "ReduceMax",
    "gv.min": "ReduceMin",
    "gv.logsumexp": "ReduceLogSumExp",
}


@writes(*OPERATORS)
def reduce(out: Writer, op: Op, x: str) -> str:
    """Reduce; nothing where there are no axes."""
    return _reduced(out, op, OPERATORS[op.name], x)


def _reduced(out: Writer, op: Op, operator: str, x: str) -> str:
    rules = op.plain_attributes()
    axes = normalize_axes(rules["axes"], op.specs[0].rank)
    if not axes:
        return x
    return str(out.node(operator, x, out.integers(axes), keepdims=int(rules["keepdims"])))


@writes("gv.any", "gv.all")
def quantify(out: Writer, op: Op, x: str) -> str:
    """Count what is true, or what is not."""
    if op.name == "gv.any":
        count = _reduced(out, op, "ReduceSum", out.cast(x, d.i32))
        return str(out.node("Greater", count, out.number(0, d.i32)))
    count = _reduced(out, op, "ReduceSum", out.cast(out.node("Not", x), d.i32))
    return str(out.node("Equal", count, out.number(0, d.i32)))


@writes("gv.argmax", "gv.argmin")
def arg(out: Writer, op: Op, x: str) -> str:
    """Return the place of the first or last extreme."""
    rules = op.plain_attributes()
    operator = "ArgMax" if op.name == "gv.argmax" else "ArgMin"
    extreme, dtype = REGISTRY[op.name], op.specs[0].dtype
    if rules["passes_nan"] and dtype.is_float and issubclass(extreme, ArgExtreme):
        x = out.node("Where", out.node("IsNaN", x), out.number(extreme.WORST, dtype), x)
    flags: dict[str, Any] = {
        "keepdims": int(rules["keepdims"]),
        "select_last_index": int(rules["last"]),
    }
    return str(out.node(operator, x, axis=rules["axis"], **flags))


@writes("gv.softmax", "gv.log_softmax")
def softmax(out: Writer, op: Op, x: str) -> str:
    """Write ONNX's own operator."""
    operator = "Softmax" if op.name == "gv.softmax" else "LogSoftmax"
    return str(out.node(operator, x, axis=op.plain_attributes()["axis"]))
