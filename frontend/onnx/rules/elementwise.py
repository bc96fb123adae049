"""Rules of element-wise operators that are not one graph operation of the same attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ....ir import DType
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from .training import dropped

LEGACY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "And": "logical_and",
    "Or": "logical_or", "Xor": "logical_xor", "Equal": "equal", "Less": "less",
    "Greater": "greater",
}  # fmt: skip
"""Operators whose second operand, before version 7, was placed by `axis` and `broadcast`."""


def _legacy(name: str) -> Callable[..., Any]:
    """Return the rule of an operator before version 7."""

    def old(node: Node, x: Value, y: Value) -> Any:
        if node.integer("broadcast", 0) and node.has("axis"):
            after = node.rank(x) - node.integer("axis") % node.rank(x) - node.rank(y)
            y = node.make.reshape(y, shape=(*node.shape(y), *(1,) * after))
        return getattr(node.make, name)(x, y)

    return old


for _operator, _name in LEGACY.items():
    rule(_operator, until=6)(_legacy(_name))


@rule("Identity", takes_parts=True)
def identity(node: Node, x: Value) -> Value:
    """Return the operand."""
    return x


@rule("Dropout")
def dropout(
    node: Node, x: Value, ratio: Value | None = None, training: Value | None = None
) -> Sequence[Value | None]:
    """Return the operand, and a mask of all true: nothing is dropped in inference."""
    for name in ("ratio", "is_test", "seed"):
        node.has(name)
    if training is not None and node.numbers(training, "training_mode").any():
        share = 0.5 if ratio is None else float(node.numbers(ratio, "ratio").ravel()[0])
        if share and not node.has("seed"):
            hint = "export the model for inference, or give the node a seed"
            node.refuse("training mode without a seed is not supported", hint=hint)
        if share:
            return dropped(node, x, share)
    if not node.wants(1):
        return x, None
    mask_type = d.bool_ if node.version >= 10 else node.dtype(x)
    return x, node.make.filled(1, mask_type, node.shape(x))


VARIADIC = {"Max": "maximum", "Min": "minimum", "Sum": "add", "Mean": "add"}


@rule(*VARIADIC)
def variadic(node: Node, *xs: Value) -> Value:
    """Combine any number of operands from left to right."""
    combine = getattr(node.make, VARIADIC[node.op_type])
    total = reduce(combine, xs)
    if node.op_type != "Mean":
        return total
    return node.make.div(total, node.make.number(len(xs), node.dtype(total)))


@rule("Clip", until=10)
def clip_by_attributes(node: Node, x: Value) -> Value:
    """Limit elements to a range of numbers."""
    low = node.constant(node.number("min"), node.dtype(x)) if node.has("min") else None
    high = node.constant(node.number("max"), node.dtype(x)) if node.has("max") else None
    return clip(node, x, low, high)


@rule("Clip", since=11)
def clip(node: Node, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    """Limit elements to a range, either end of which may be left open."""
    low, high = (None if end is None else _one_number(node, end) for end in (low, high))
    if low is not None and high is not None:
        return node.make.clip(x, low, high)
    if low is not None:
        return node.make.maximum(x, low)
    return x if high is None else node.make.minimum(x, high)


def _one_number(node: Node, end: Value) -> Value:
    """Return the end of a range as a number; a vector of one is what other runtimes take, too."""
    if node.shape(end) not in ((), (1,)):
        node.fail(f"an end of the range has shape {list(node.shape(end))}, expected one number")
    return node.make.reshape(end, shape=())


@rule("Pow", since=7)
def power(node: Node, x: Value, y: Value) -> Value:
    """Raise to a power of any type: computed in the wider, given in the base's."""
    base, exponent = node.dtype(x), node.dtype(y)
    if base == exponent:
        return node.make.pow(x, y)
    wide = _common(base, exponent)
    raised = node.make.pow(node.make.to(x, wide), node.make.to(y, wide))
    return node.make.to(raised, base)


def _common(a: DType, b: DType) -> DType:
    """Return a type that holds both: the float, or the wider integer."""
    if a.is_float != b.is_float:
        return a if a.is_float else b
    return d.of_numpy(np.promote_types(a.numpy, b.numpy))


@rule("Mod")
def modulo(node: Node, x: Value, y: Value) -> Value:
    """Return the remainder with the sign of y, or of x if `fmod`."""
    return node.make.fmod(x, y) if node.integer("fmod", 0) else node.make.mod(x, y)


@rule("PRelu", until=6)
def prelu_by_channel(node: Node, x: Value, slope: Value) -> Value:
    """Return x, times its channel's slope where it is negative."""
    if node.rank(slope) == 1 and node.rank(x) > 2:
        slope = node.make.reshape(slope, shape=(*node.shape(slope), *(1,) * (node.rank(x) - 2)))
    return prelu(node, x, slope)


@rule("PRelu", since=7)
def prelu(node: Node, x: Value, slope: Value) -> Value:
    """Return x, times the slope where it is negative."""
    make = node.make
    zero = make.number(0, node.dtype(x))
    return make.select(make.less(x, zero), make.mul(x, slope), x)


@rule("IsInf")
def is_infinite(node: Node, x: Value) -> Value:
    """Say whether elements are infinite, of either sign or of one."""
    return node.make.isinf(
        x,
        positive=bool(node.integer("detect_positive", 1)),
        negative=bool(node.integer("detect_negative", 1)),
    )


@rule("BitShift")
def shift(node: Node, x: Value, count: Value) -> Value:
    """Shift bits to the left or to the right."""
    direction = node.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        node.fail(f"direction {direction!r}, expected LEFT or RIGHT")
    shifted = node.make.shift_left if direction == "LEFT" else node.make.shift_right
    return shifted(x, count)


@rule("Shrink")
def shrink(node: Node, x: Value) -> Value:
    """Move elements towards zero by `bias`; those within `lambd` of zero become it."""
    make, dtype = node.make, node.dtype(x)
    limit, bias = node.number("lambd", 0.5), node.number("bias", 0.0)
    lower = make.add(x, make.number(bias, dtype))
    upper = make.sub(x, make.number(bias, dtype))
    zero = make.number(0, dtype)
    above = make.select(make.greater(x, make.number(limit, dtype)), upper, zero)
    return make.select(make.less(x, make.number(-limit, dtype)), lower, above)


@rule("Swish")
def swish(node: Node, x: Value) -> Value:
    """Return x * sigmoid(alpha * x)."""
    make, alpha = node.make, node.number("alpha", 1.0)
    if alpha == 1:
        return make.silu(x)
    scaled = make.mul(x, make.number(alpha, node.dtype(x)))
    return make.mul(x, make.sigmoid(scaled))


@rule("ParametricSoftplus", "Affine", "ScaledTanh")
def experimental(node: Node, x: Value) -> Value:
    """Compute an early operator of two factors."""
    make, dtype = node.make, node.dtype(x)
    alpha = make.number(node.number("alpha", 1.0), dtype)
    beta = make.number(node.number("beta", 1.0), dtype)
    match node.op_type:
        case "ParametricSoftplus":
            return make.mul(alpha, make.softplus(make.mul(x, beta)))
        case "Affine":
            return make.add(make.mul(x, alpha), beta)
        case _:
            return make.mul(alpha, make.tanh(make.mul(x, beta)))
