"""Rules of quantised operators: integers that stand for `(q - zero) * scale`."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import Dim, DType
from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule
from .convert import to_narrow
from .matrix import centred, matmul
from .window import along_channels, convolved, windowed


@rule("QuantizeLinear")
def quantize(node: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    """Return round(x / scale) + zero, in the range of the integer type."""
    make = node.make
    saturates = bool(node.integer("saturate", 1))
    wanted = node.element_type("output_dtype") if node.integer("output_dtype", 0) else d.u8
    dtype = wanted if zero is None else node.dtype(zero)
    precise = node.dtype(scale)
    if node.integer("precision", 0):
        precise = node.element_type("precision")
    elif not precise.is_float:  # a power of two, or an integer before it was forbidden
        precise = d.f32
    scale, zero = _spread(node, x, scale), None if zero is None else _spread(node, x, zero)
    parts = make.to(make.div(make.to(x, precise), make.to(scale, precise)), d.f32)
    if not dtype.is_narrow_float:
        return levelled(node, parts, zero, dtype)
    if zero is not None:
        parts = make.add(parts, make.to(zero, d.f32))
    return to_narrow(node, parts, dtype) if saturates else make.to(parts, dtype)


def quantized(node: Node, x: Value, scale: Value, zero: Value | None, dtype: DType) -> Value:
    """Return a value over its scale, rounded, shifted and clamped."""
    make = node.make
    return levelled(node, make.div(make.to(x, d.f32), make.to(scale, d.f32)), zero, dtype)


def levelled(node: Node, parts: Value, zero: Value | None, dtype: DType) -> Value:
    """Return an f32 rounded, shifted by the zero point and clamped to an integer type."""
    make = node.make
    if not (dtype.is_integer or dtype.is_narrow_integer):
        node.refuse(f"quantising to {dtype} is not supported")
    level = make.round(parts)
    if zero is not None:
        level = make.add(level, make.to(zero, d.f32))
    low, high = (make.number(n, d.f32) for n in (dtype.minimum, dtype.maximum))
    return make.to(make.clip(level, low, high), dtype)


@rule("DequantizeLinear")
def dequantize(node: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    """Return (x - zero) * scale."""
    wanted = node.integer("output_dtype", 0)
    dtype = node.element_type("output_dtype") if wanted else node.dtype(scale)
    shape, parts = node.shape(x), _cut(node, x)
    if parts is not None:
        x, at = node.make.reshape(x, shape=parts[0]), (parts[1],)
        scale = c.unsqueeze(node.emit, scale, at)
        zero = None if zero is None else c.unsqueeze(node.emit, zero, at)
    else:
        scale, zero = _spread(node, x, scale), None if zero is None else _spread(node, x, zero)
    if node.dtype(x).is_narrow_float:
        steps = centred(node, x, zero, d.f32)
    else:
        steps = node.make.to(centred(node, x, zero), d.f32)
    made = node.make.to(node.make.mul(steps, node.make.to(scale, d.f32)), dtype)
    return made if parts is None else node.make.reshape(made, shape=shape)


def _cut(node: Node, x: Value) -> tuple[tuple[Dim, ...], int] | None:
    """Return the shape with an axis cut into whole blocks, and which it is; None without such."""
    block, shape = node.integer("block_size", 0), node.shape(x)
    if not block:
        return None
    at = normalize_axis(node.integer("axis", 1), node.rank(x))
    extent = shape[at]
    if not isinstance(extent, int) or extent % block:
        return None
    return (*shape[:at], extent // block, block, *shape[at + 1 :]), at + 1


def _spread(node: Node, x: Value, factor: Value) -> Value:
    """Return a scale or zero point in a shape that broadcasts against x."""
    rank = node.rank(factor)
    axis, block = node.integer("axis", 1), node.integer("block_size", 0)
    if rank == 0 or node.shape(factor) == (1,):
        return node.make.reshape(factor, shape=())
    at = normalize_axis(axis, node.rank(x))
    if block:
        parts: list[Dim] = [1] * node.rank(x)
        parts[at] = block
        wide = c.repeat(node.emit, factor, parts)
        if node.shape(wide)[at] != node.shape(x)[at]:
            wide = c.cut(node.emit, wide, at, 0, node.shape(x)[at])
        return wide
    after = node.rank(x) - at - 1
    return node.make.reshape(factor, shape=(*node.shape(factor), *(1,) * after))


@rule("QLinearMatMul")
def quantized_matmul(node: Node, *inputs: Value) -> Value:
    """Multiply quantised matrices in 32 bits, and quantise the product."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
    if node.rank(a_zero) == 1 and node.shape(a_zero) != (1,):
        a_zero, a_scale = (c.unsqueeze(node.emit, v, (1,)) for v in (a_zero, a_scale))
    product = matmul(node, centred(node, a, a_zero), centred(node, b, b_zero))
    return requantized(node, product, (a_scale, b_scale, y_scale), y_zero)


def requantized(node: Node, total: Value, scales: Sequence[Value], zero: Value) -> Value:
    """Return sums of integers as levels of y: from f64, rounded before the zero point is added."""
    make = node.make
    a, b, y = (make.to(scale, d.f32) for scale in scales)
    factor = make.to(make.div(make.mul(a, b), y), d.f64)
    level = make.to(make.round(make.mul(make.to(total, d.f64), factor)), d.f32)
    dtype = node.dtype(zero)
    low, high = (make.number(n, d.f32) for n in (dtype.minimum, dtype.maximum))
    return make.to(make.clip(make.add(level, make.to(zero, d.f32)), low, high), dtype)


@rule("QLinearConv")
def quantized_conv(node: Node, *inputs: Value) -> Value:
    """Convolve quantised values in 32 bits, and quantise the result."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias = node.padded(inputs, 9)
    rank = node.rank(x)
    kernel = node.static_shape(w, "for the weights of a convolution")[2:]
    node.integers("kernel_shape")
    if node.rank(w_zero) == 1 and node.shape(w_zero) != (1,):
        w_zero = node.make.reshape(w_zero, shape=(*node.shape(w_zero), *(1,) * (rank - 1)))
    if node.rank(w_scale) == 1 and node.shape(w_scale) != (1,):
        w_scale = along_channels(node, w_scale, rank)
    image, weights = centred(node, x, x_zero), centred(node, w, w_zero)
    image, windows = windowed(node, image, kernel)
    made = convolved(node, image, weights, windows, node.integer("group", 1))
    if bias is not None:
        made = node.make.add(made, along_channels(node, bias, rank))
    return requantized(node, made, (x_scale, w_scale, y_scale), y_zero)
