"""Rules for numbers of few bits: to them, back from them, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import Rule, needs
from .maker import Grower, Value


def _scale(maker: Grower, size: int | None) -> Value:
    """Return scales that are powers of two, so that nothing is rounded on the way."""
    numbers = [maker.choose([0.25, 0.5, 1.0]) for _ in range(size or 1)]
    return maker.constant(np.array(numbers if size is not None else numbers[0], np.float32))


def _zero(maker: Grower, dtype: str, size: int | None) -> Value:
    low = 0 if dtype == "uint8" else -3
    numbers = [maker.number(low, 5) for _ in range(size or 1)]
    return maker.constant(np.array(numbers if size is not None else numbers[0], dtype))


def _axis(maker: Grower, x: Value) -> tuple[int, int | None]:
    """Return an axis, and its size if it has scales of its own."""
    fixed = [n for n, dim in enumerate(x.shape) if len(set(dim)) == 1]
    if fixed and maker.chance(0.5):
        axis = maker.choose(fixed)
        return axis, x.shape[axis][0]
    return 0, None


def quantised(maker: Grower, x: Value) -> Value:
    """Return floats as eight bits, by a scale for all or for each part of an axis."""
    needs(x.dtype == "float32" and x.is_exact)
    axis, size = _axis(maker, x)
    dtype = maker.choose(["int8", "uint8"])
    operands = [x, _scale(maker, size), _zero(maker, dtype, size)]
    return maker.node("QuantizeLinear", operands, dtype, most=255.0, step=1.0, axis=axis)


def restored(maker: Grower, x: Value) -> Value:
    """Return eight bits as floats."""
    needs(x.dtype in ("int8", "uint8"))
    axis, size = _axis(maker, x)
    operands = [x, _scale(maker, size), _zero(maker, x.dtype, size)]
    return maker.node(
        "DequantizeLinear", operands, "float32", most=x.most + 5, step=0.25, axis=axis
    )


def there_and_back(maker: Grower, x: Value) -> Value:
    """Return floats that went through eight bits."""
    return restored(maker, quantised(maker, x))


def integer_product(maker: Grower, x: Value) -> Value:
    """Return a product of matrices of eight bits."""
    needs(x.dtype in ("int8", "uint8") and x.rank > 1)
    inner = x.shape[-1]
    wide = maker.choose([1, 3, 8])
    needs(len(set(inner)) == 1)
    dtype = maker.choose(["int8", "uint8"])
    y = maker.drawn(dtype, [inner[0], wide])
    operands: list[Value | None] = [x, y]
    if maker.chance(0.7):
        operands += [_zero(maker, x.dtype, None), _zero(maker, dtype, None)]
    return maker.node("MatMulInteger", operands, "int32", most=1e9, step=1.0, single=False)


def scaled_product(maker: Grower, x: Value) -> Value:
    """Return a product of matrices of eight bits, as eight bits."""
    needs(x.dtype in ("int8", "uint8") and x.rank > 1 and len(set(x.shape[-1])) == 1)
    kind, other = x.dtype, maker.choose(["int8", "uint8"])
    y = maker.drawn(other, [x.shape[-1][0], maker.choose([1, 3, 8])])
    operands = [
        x, _scale(maker, None), _zero(maker, kind, None), y, _scale(maker, None),
        _zero(maker, other, None), _scale(maker, None), _zero(maker, kind, None),
    ]  # fmt: skip
    return maker.node("QLinearMatMul", operands, kind, most=255.0, step=1.0, single=False)


def integer_convolution(maker: Grower, x: Value) -> Value:
    """Return a convolution of eight bits, as they are or scaled."""
    needs(x.dtype in ("int8", "uint8") and x.rank == 4 and len(set(x.shape[1])) == 1)
    needs(all(min(dim) > 0 for dim in x.shape[1:]))
    channels, outs, size = x.shape[1][0], maker.choose([1, 3]), maker.choose([1, 2, 3])
    pads: dict[str, Any] = {"pads": [size // 2] * 4} if maker.chance(0.6) else {}
    dtype = maker.choose(["int8", "uint8"])
    w = maker.drawn(dtype, [outs, channels, size, size])
    if maker.chance(0.5):
        operands = [x, w, _zero(maker, x.dtype, None), _zero(maker, dtype, None)]
        return maker.node(
            "ConvInteger", operands, "int32", most=1e9, step=1.0, single=False, **pads
        )
    operands = [
        x, _scale(maker, None), _zero(maker, x.dtype, None), w, _scale(maker, None),
        _zero(maker, dtype, None), _scale(maker, None), _zero(maker, x.dtype, None),
    ]  # fmt: skip
    return maker.node("QLinearConv", operands, x.dtype, most=255.0, step=1.0, single=False, **pads)


def measured(maker: Grower, x: Value) -> Value:
    """Return floats that went through eight bits whose scale is measured in the run."""
    needs(x.dtype == "float32" and not x.can_be_empty and x.most < 1e3)
    y = maker.node(
        "DynamicQuantizeLinear", [x], "uint8", outputs=3, most=255.0, step=1.0, noise=0.0
    )
    _, scale, zero = maker.nodes[-1].output
    s, z = Value(scale, "float32", (), 16.0), Value(zero, "uint8", (), 255.0, 1.0)
    return maker.node("DequantizeLinear", [y, s, z], "float32", most=2 * x.most + 1, step=0.0,
                      noise=2 * x.noise + x.most / 100, single=False)  # fmt: skip


RULES: tuple[Rule, ...] = (
    quantised, quantised, restored, there_and_back, integer_product, scaled_product,
    integer_convolution, measured,
)  # fmt: skip
