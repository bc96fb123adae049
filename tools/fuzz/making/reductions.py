"""Rules for what many elements become one by: sums, means, softmax, normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .elementwise import Rule, needs
from .maker import DIGITS, Grower, Value, numpy_type

MOST_WHOLE = 2.0**31
"""Products of integers are less: where they do not fit, onnxruntime gives the largest number."""
MOST_EXPONENT = 1000
"""Bounds of products are below two to this power, which floats hold."""


def axes_of(maker: Grower, x: Value) -> tuple[list[int], list[Value]]:
    """Return axes to reduce, and how they are written: not at all for all."""
    axes = maker.subset(x)
    if not axes:
        return list(range(x.rank)), []
    written = [maker.axis_written(x, axis) for axis in axes]
    return axes, [maker.constant(np.array(written, np.int64))]


def counted(maker: Grower, x: Value, axes: list[int]) -> int:
    """Return how many elements become one at most."""
    return max(math.prod(x.shape[axis][w] for axis in axes) for w in range(maker.worlds))


def summed(maker: Grower, x: Value) -> Value:
    """Return a sum, a sum of squares, or a norm."""
    needs(x.dtype in ("float32", "float64", "float16", "bfloat16", "int32", "int64"))
    axes, operand = axes_of(maker, x)
    count = counted(maker, x, axes)
    options: dict[str, Any] = {"keepdims": maker.number(0, 1)}
    name = maker.choose(["ReduceSum", "ReduceSumSquare", "ReduceL1"])
    most, step, noise = x.most * count, x.step, x.noise * count
    if name == "ReduceSumSquare":
        most, step, noise = most * x.most, step * step, noise * 2 * x.most
    if noise:
        noise += count * 2.0 ** -DIGITS[x.dtype] * most
    return maker.node(name, [x, *operand], most=most, step=step, noise=noise, single=False,
                      **options)  # fmt: skip


def averaged(maker: Grower, x: Value) -> Value:
    """Return a mean, or the logarithm of a sum of exponentials."""
    needs(x.is_float and not x.can_be_empty)
    axes, operand = axes_of(maker, x)
    count = counted(maker, x, axes)
    noise = 2 * x.noise + (count + 16) * 2.0 ** -DIGITS[x.dtype] * (x.most + 4)
    name = maker.choose(["ReduceMean", "ReduceLogSumExp", "ReduceL2"])
    if name == "ReduceL2":
        noise = math.sqrt(count) * noise + 0.01 * (not x.is_exact)
    return maker.node(name, [x, *operand], most=x.most * count + 5, step=0.0, noise=noise,
                      single=False, keepdims=maker.number(0, 1))  # fmt: skip


def largest(maker: Grower, x: Value) -> Value:
    """Return the largest or the smallest element."""
    needs(x.is_float or x.dtype in ("int8", "uint8", "int32", "int64", "bool"))
    axes, operand = axes_of(maker, x)
    needs(all(min(x.shape[axis]) > 0 for axis in axes))
    return maker.node(maker.choose(["ReduceMax", "ReduceMin"]), [x, *operand],
                      keepdims=maker.number(0, 1))  # fmt: skip


def multiplied(maker: Grower, x: Value) -> Value:
    """Return the product of few elements."""
    needs(x.dtype in ("float32", "float64", "int32", "int64"))
    axes, operand = axes_of(maker, x)
    count = counted(maker, x, axes)
    needs(count < 6 or not x.is_float)
    top = max(x.most, 1.0)
    needs(count < 60 and count * math.log2(top) < MOST_EXPONENT)
    noise = count * x.noise * top ** (count - 1) if x.is_float else 0.0
    most = top**count
    needs(x.is_float or most < MOST_WHOLE)
    return maker.node("ReduceProd", [x, *operand], most=most, step=x.step**min(count, 60) and min(
        x.step**min(count, 60), 1.0), noise=noise, single=False,
        keepdims=maker.number(0, 1))  # fmt: skip


def softened(maker: Grower, x: Value) -> Value:
    """Return shares of one, or their logarithms, or a one at the largest."""
    needs(x.is_float and x.rank > 0 and not x.can_be_empty)
    axis = maker.axis(x)
    name = maker.choose(["Softmax", "Softmax", "LogSoftmax", "Hardmax"])
    place = maker.axis_written(x, axis)
    if name == "Hardmax":
        needs(x.is_exact)
        return maker.node(name, [x], most=1.0, step=1.0, axis=place)
    eps = 2.0 ** -DIGITS[x.dtype]
    noise = 2 * x.noise + (max(x.shape[axis]) + 32) * eps * (x.most + 4)
    return maker.node(name, [x], most=2 * x.most + 5, step=0.0, noise=noise, single=False,
                      axis=place)  # fmt: skip


def normalised(maker: Grower, x: Value) -> Value:
    """Return elements that have a mean and a spread, by scales."""
    needs(x.dtype in ("float32", "float64") and x.rank > 1 and not x.can_be_empty)
    name = maker.choose(["LayerNormalization", "InstanceNormalization", "BatchNormalization",
                         "GroupNormalization", "MeanVarianceNormalization"])  # fmt: skip
    noise = 1e-3 + 8 * x.noise * max(1.0, x.most)
    known: dict[str, Any] = {"most": 4 * x.most + 40, "step": 0.0, "noise": noise, "single": False}
    if name == "MeanVarianceNormalization":
        needs(x.rank == 4 and x.is_exact)
        return maker.node(name, [x], axes=[0, 2, 3], **(known | {"noise": 0.05}))
    if name == "LayerNormalization":
        needs(len(set(x.shape[-1])) == 1)
        scale, bias = (maker.drawn(x.dtype, [x.shape[-1][0]]) for _ in range(2))
        return maker.node(name, [x, scale, bias], epsilon=0.5, **known)
    needs(len(set(x.shape[1])) == 1 and (x.rank > 2 or name == "BatchNormalization"))
    channels = x.shape[1][0]
    scale, bias = (maker.drawn(x.dtype, [channels]) for _ in range(2))
    if name == "BatchNormalization":
        mean = maker.drawn(x.dtype, [channels])
        spread = maker.constant((np.arange(channels) + 1).astype(numpy_type(x.dtype)))
        return maker.node(name, [x, scale, bias, mean, spread], **known)
    if name == "GroupNormalization":
        groups = maker.choose([g for g in (1, 2, channels) if channels % g == 0])
        return maker.node(name, [x, scale, bias], num_groups=groups, epsilon=0.5, **known)
    return maker.node(name, [x, scale, bias], epsilon=0.5, **known)


def spread(maker: Grower, x: Value) -> Value:
    """Return elements by their neighbours: by a norm, or by those in other channels."""
    needs(x.dtype in ("float32", "float64") and x.rank == 4 and not x.can_be_empty)
    noise = 1e-4 + 2 * x.noise
    return maker.node("LRN", [x], size=maker.choose([1, 3, 5]), most=x.most, step=0.0, noise=noise,
                      single=False)  # fmt: skip


RULES: tuple[Rule, ...] = (
    summed,
    summed,
    averaged,
    largest,
    largest,
    multiplied,
    softened,
    softened,
    normalised,
    spread,
)
