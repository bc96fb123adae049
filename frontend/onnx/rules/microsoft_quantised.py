"""Rules of `com.microsoft` operators on quantised values, as onnxruntime's quantiser emits them.

Where the standard's forms are a dequantised operand, an operator and a quantised result, these are
all three in one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule
from .matrix import centred, matmul
from .microsoft import MICROSOFT
from .quantise import quantized


def _number(node: Node, q: Value, scale: Value, zero: Value | None) -> Value:
    """Return what quantised values stand for; scale and zero point are one number each."""
    flat = None if zero is None else _alone(node, zero)
    steps = node.make.to(centred(node, q, flat), d.f32)
    return node.make.mul(steps, _alone(node, scale))


def _alone(node: Node, value: Value) -> Value:
    return node.make.reshape(value, shape=()) if node.spec(value).size == 1 else value


def _quantised(node: Node, x: Value, scale: Value, zero: Value | None, like: Value) -> Value:
    """Return a result quantised as it is asked for, by default without an offset."""
    offset = None if zero is None else _alone(node, zero)
    dtype = node.dtype(like if zero is None else zero)
    return quantized(node, x, _alone(node, scale), offset, dtype)


@rule("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def binary(node: Node, *inputs: Value | None) -> Value:
    """Add or multiply quantised tensors."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.padded(inputs, 8)
    apply = node.make.add if node.op_type == "QLinearAdd" else node.make.mul
    made = apply(_number(node, a, a_scale, a_zero), _number(node, b, b_scale, b_zero))
    return _quantised(node, made, y_scale, y_zero, a)


@rule(
    "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool", "QLinearSoftmax",
    domain=MICROSOFT,
)  # fmt: skip
def unary(node: Node, *inputs: Value | None) -> Value:
    """Apply a function to a quantised tensor."""
    x, x_scale, x_zero, y_scale, y_zero = node.padded(inputs, 5)
    number = _number(node, x, x_scale, x_zero)
    made = UNARY[node.op_type](node, number)
    return _quantised(node, made, y_scale, y_zero, x)


def _average(node: Node, x: Value) -> Value:
    last = bool(node.integer("channels_last", 0))
    axes = range(1, node.rank(x) - 1) if last else range(2, node.rank(x))
    return node.make.mean(x, axes=tuple(axes), keepdims=True)


def _softmax(node: Node, x: Value) -> Value:
    axis = normalize_axis(node.integer("axis", -1), node.rank(x))
    if node.integer("opset", 13) >= 13:
        return node.make.softmax(x, axis=axis)
    rows = node.make.softmax(c.flatten(node.emit, x, axis), axis=1)
    return node.make.reshape(rows, shape=node.shape(x))


UNARY: dict[str, Callable[[Node, Value], Value]] = {
    "QLinearSigmoid": lambda node, x: node.make.sigmoid(x),
    "QLinearLeakyRelu": lambda node, x: node.make.leaky_relu(x, alpha=node.number("alpha", 0.01)),
    "QLinearGlobalAveragePool": _average,
    "QLinearSoftmax": _softmax,
}


@rule("QLinearConcat", domain=MICROSOFT)
def concat(node: Node, y_scale: Value, y_zero: Value, *parts: Value) -> Value:
    """Join quantised tensors, each with a scale of its own."""
    axis = normalize_axis(node.integer("axis"), node.rank(parts[0]))
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    made = [
        _quantised(node, _number(node, *triple), y_scale, y_zero, triple[0]) for triple in triples
    ]
    return node.make.concat(*made, axis=axis)


@rule("QGemm", domain=MICROSOFT)
def gemm(node: Node, *inputs: Value | None) -> Value:
    """Multiply quantised matrices and add a bias in 32 bits; quantise if it is asked for."""
    a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero = node.padded(inputs, 9)
    make = node.make
    columns = bool(node.integer("transB", 0))
    if columns and node.rank(b_zero) == 1 and node.spec(b_zero).size != 1:
        b_zero = c.unsqueeze(node.emit, b_zero, (1,))
    left, right = centred(node, a, _alone(node, a_zero)), centred(node, b, _alone(node, b_zero))
    made = make.matmul(
        left, right, transpose_lhs=bool(node.integer("transA", 0)), transpose_rhs=columns
    )
    if bias is not None:
        made = make.add(made, bias)
    factor = make.mul(_alone(node, a_scale), _alone(node, b_scale))
    factor = make.mul(factor, make.number(node.number("alpha", 1.0), d.f32))
    made = make.mul(make.to(made, d.f32), factor)
    return made if y_scale is None else _quantised(node, made, y_scale, y_zero, a)


@rule("MatMulIntegerToFloat", domain=MICROSOFT)
def to_float(node: Node, a: Value, b: Value, *more: Value | None) -> Value:
    """Multiply quantised matrices, and return what the product stands for."""
    a_scale, b_scale, a_zero, b_zero, bias = node.padded(more, 5)
    return _scaled_product(node, (a, a_scale, a_zero), (b, b_scale, b_zero), bias)


@rule("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic(node: Node, a: Value, b: Value, b_scale: Value, *more: Value | None) -> Value:
    """Quantise the left operand by its own range, and multiply in 32 bits."""
    b_zero, bias = node.padded(more, 2)
    make = node.make
    axes = tuple(range(node.rank(a)))
    zero = make.number(0, d.f32)
    low = make.minimum(make.min(a, axes=axes), zero)
    high = make.maximum(make.max(a, axes=axes), zero)
    scale = make.div(make.sub(high, low), make.number(255, d.f32))
    offset = make.round(make.div(make.sub(zero, low), scale))
    offset = make.to(make.clip(offset, zero, make.number(255, d.f32)), d.u8)
    left = quantized(node, a, scale, offset, d.u8)
    return _scaled_product(node, (left, scale, offset), (b, b_scale, b_zero), bias)


def _scaled_product(
    node: Node, left: Sequence[Value | None], right: Sequence[Value | None], bias: Value | None
) -> Value:
    make = node.make
    values = []
    for q, _, zero in (left, right):
        values.append(centred(node, q, None if zero is None else _alone(node, zero)))
    factor = make.mul(_alone(node, left[1]), _alone(node, right[1]))
    made = make.mul(make.to(matmul(node, *values), d.f32), factor)
    return made if bias is None else make.add(made, bias)
