"""Rules of `com.microsoft` operators on quantised values, as onnxruntime's quantiser emits them.

Where the standard's forms are a dequantised operand, an operator and a quantised result, these are
all three in one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ....ir.types.dims import product
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule
from ..within import require_within
from .matrix import centred, matmul
from .microsoft import MICROSOFT, normalised, ones_of, to_itself
from .quantise import quantized, quantized_conv
from .recurrent import layer_of
from .window import average_pool, largest_of


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


@rule("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", domain=MICROSOFT)
def unary(node: Node, *inputs: Value | None) -> Value:
    """Apply a function to a quantised tensor."""
    x, x_scale, x_zero, y_scale, y_zero = node.padded(inputs, 5)
    number = _number(node, x, x_scale, x_zero)
    made = UNARY[node.op_type](node, number)
    return _quantised(node, made, y_scale, y_zero, x)


@rule("QLinearGlobalAveragePool", domain=MICROSOFT)
def average_of_all(node: Node, *inputs: Value | None) -> Value:
    """Return the mean of each image: its sum times one number, so that halves go where they do."""
    x, x_scale, x_zero, y_scale, y_zero = node.padded(inputs, 5)
    make, last = node.make, bool(node.integer("channels_last", 0))
    axes = tuple(range(1, node.rank(x) - 1) if last else range(2, node.rank(x)))
    steps = make.to(centred(node, x, None if x_zero is None else _alone(node, x_zero)), d.i32)
    total = make.to(make.sum(steps, axes=axes, keepdims=True), d.f32)
    count = make.extent_of(product(tuple(node.shape(x)[axis] for axis in axes)), d.f32)
    factor = make.div(_alone(node, x_scale), make.mul(_alone(node, y_scale), count))
    return _quantised(node, make.mul(total, factor), make.number(1.0, d.f32), y_zero, x)


def _softmax(node: Node, x: Value) -> Value:
    axis = normalize_axis(node.integer("axis", -1), node.rank(x))
    if node.integer("opset", 13) >= 13:
        return node.make.softmax(x, axis=axis)
    rows = node.make.softmax(c.flatten(node.emit, x, axis), axis=1)
    return node.make.reshape(rows, shape=node.shape(x))


UNARY: dict[str, Callable[[Node, Value], Value]] = {
    "QLinearSigmoid": lambda node, x: node.make.sigmoid(x),
    "QLinearLeakyRelu": lambda node, x: node.make.leaky_relu(x, alpha=node.number("alpha", 0.01)),
    "QLinearSoftmax": _softmax,
}


@rule("QLinearAveragePool", domain=MICROSOFT)
def pool(node: Node, *inputs: Value | None) -> Value:
    """Return the mean of each window of a quantised image."""
    x, x_scale, x_zero, y_scale, y_zero = node.padded(inputs, 5)
    number = _channels_first(node, _number(node, x, x_scale, x_zero))
    made = _channels_last(node, average_pool(node, number))
    return _quantised(node, made, y_scale, y_zero, x)


@rule("NhwcMaxPool", domain=MICROSOFT)
def largest(node: Node, x: Value) -> Value:
    """Return the largest of each window of an image whose channels are last."""
    made, *_ = largest_of(node, c.channels_first(node.emit, x))
    return c.channels_last(node.emit, made)


@rule("QLinearConv", domain=MICROSOFT)
def convolution(node: Node, x: Value, *more: Value) -> Value:
    """Convolve a quantised image whose channels may be last."""
    return _channels_last(node, quantized_conv(node, _channels_first(node, x), *more))


def _channels_first(node: Node, x: Value) -> Value:
    return c.channels_first(node.emit, x) if node.integer("channels_last", 0) else x


def _channels_last(node: Node, x: Value) -> Value:
    return c.channels_last(node.emit, x) if node.integer("channels_last", 0) else x


@rule("QLinearWhere", domain=MICROSOFT)
def where(node: Node, condition: Value, *inputs: Value | None) -> Value:
    """Take elements of one of two quantised tensors."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.padded(inputs, 8)
    sides = [_number(node, a, a_scale, a_zero), _number(node, b, b_scale, b_zero)]
    return _quantised(node, node.make.select(condition, *sides), y_scale, y_zero, a)


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


@rule("QAttention", domain=MICROSOFT)
def attention(node: Node, x: Value, weights: Value, *more: Value | None) -> Sequence[Value]:
    """Return attention of a quantised input to itself, by quantised weights."""
    bias, x_scale, w_scale, mask, x_zero, w_zero, past = node.padded(more, 7)
    product = _scaled_product(node, (x, x_scale, x_zero), (weights, w_scale, w_zero), bias)
    return to_itself(node, product, mask, past)


@rule("QEmbedLayerNormalization", domain=MICROSOFT)
def embedding(
    node: Node, ids: Value, segments: Value | None, *more: Value | None
) -> Sequence[Value | None]:
    """Add the rows of quantised tables of words, positions and segments, and normalise."""
    tables, (mask, *rest) = more[:5], node.padded(more[5:], 11)
    make, (_, steps) = node.make, node.shape(ids)
    at = make.iota(shape=(1, steps), axis=1, dtype=d.i64)
    triples = [*zip(tables, rest[:5], rest[5:], strict=True)]
    total: Value | None = None
    for (table, scale, zero), rows in zip(triples, (ids, at, segments), strict=False):
        if table is not None and rows is not None:
            require_within(node, rows, 0, node.shape(table)[0], "row")
            found = _number(node, make.gather(table, rows, axis=0), scale, zero)
            total = found if total is None else make.add(total, found)
    gamma, beta = (_number(node, *triple) for triple in triples[3:])
    return [normalised(node, total, gamma, beta, simple=False), ones_of(node, ids, mask)]


@rule("DynamicQuantizeLSTM", domain=MICROSOFT)
def recurrent(node: Node, x: Value, w: Value, r: Value, *more: Value | None) -> Sequence[Value]:
    """Return what an LSTM of quantised weights gives.

    The weights are taken for what they stand for: inputs and states are not rounded to 8 bits.
    """
    *others, w_scale, w_zero, r_scale, r_zero = node.padded(more, 9)
    w, r = (
        node.make.transpose(_of_gates(node, *each), order=(0, 2, 1))
        for each in ((w, w_scale, w_zero), (r, r_scale, r_zero))
    )
    return layer_of(node, "LSTM", [x, w, r, *others])


def _of_gates(node: Node, q: Value, scale: Value, zero: Value | None) -> Value:
    """Return what weights of gates stand for, with a scale a direction, or one a column too."""
    ways = node.shape(q)[0]

    def spread(value: Value) -> Value:
        columns = node.shape(value)[1] if node.rank(value) == 2 else 1
        return node.make.reshape(value, shape=(ways, 1, columns))

    steps = node.make.to(centred(node, q, None if zero is None else spread(zero)), d.f32)
    made: Value = node.make.mul(steps, spread(scale))
    return made
