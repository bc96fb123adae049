"""Rules of normalisations and softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule

SOFTMAX = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardmax": "hardmax"}


@rule(*SOFTMAX, until=12)
def softmax_of_rows(node: Node, x: Value) -> Value:
    """Apply to the rows of the matrix that the tensor is when cut at `axis`."""
    shape = node.shape(x)
    axis = normalize_axis(node.integer("axis", 1), len(shape))
    if axis == len(shape) - 1:
        return _softmax(node, x, axis)
    rows = c.flatten(node.emit, x, axis)
    return node.make.reshape(_softmax(node, rows, 1), shape=shape)


@rule(*SOFTMAX, since=13)
def softmax(node: Node, x: Value) -> Value:
    """Apply along one axis."""
    return _softmax(node, x, normalize_axis(node.integer("axis", -1), node.rank(x)))


def _softmax(node: Node, x: Value, axis: int) -> Value:
    name = SOFTMAX[node.op_type]
    if name == "hardmax":
        return _hardmax(node, x, axis)
    apply: Callable[..., Value] = getattr(node.make, name)
    dtype = node.dtype(x)
    if dtype not in (d.f16, d.bf16):
        return apply(x, axis=axis)
    return node.make.to(apply(node.make.to(x, d.f32), axis=axis), dtype)  # see `unrounded`


def _hardmax(node: Node, x: Value, axis: int) -> Value:
    """Return 1 at the first largest element, 0 elsewhere."""
    make, shape, row = node.make, node.shape(x), x
    if dim_rules.bounds(shape[axis], node.emitter.ranges)[0] <= 0:  # it may be empty
        row = make.pad(x, pads=tuple((0, int(i == axis)) for i in range(len(shape))), value=-np.inf)
    best = make.argmax(row, axis=axis, keepdims=True)
    place = make.iota(shape=shape, axis=axis, dtype=node.dtype(best))
    return make.to(make.equal(place, best), node.dtype(x))


@rule("BatchNormalization")
def batch_norm(
    node: Node, x: Value, scale: Value, bias: Value, mean: Value, variance: Value
) -> Sequence[Value]:
    """Normalise each channel by given statistics, or in training by the batch's own."""
    if not node.integer("spatial", 1) or not node.integer("is_test", 1):
        node.refuse("statistics for each place are not supported")
    momentum, epsilon = node.number("momentum", 0.9), node.number("epsilon", 1e-5)
    dtype = node.dtype(x)
    given = [node.make.to(v, dtype) for v in (scale, bias, mean, variance)]
    if not node.integer("training_mode", 0):
        return [node.make.batch_norm(x, *given, axis=1, epsilon=epsilon)]
    own_mean, own_variance = _moments(node, x, [a for a in range(node.rank(x)) if a != 1])
    made = node.make.batch_norm(
        x, given[0], given[1], own_mean, own_variance, axis=1, epsilon=epsilon
    )
    running = [
        _blend(node, node.make.to(own, node.dtype(old)), old, momentum)
        for own, old in ((own_mean, mean), (own_variance, variance))
    ]
    return [made, *running]


def _moments(node: Node, x: Value, axes: Sequence[int], keepdims: bool = False) -> Sequence[Value]:
    """Return mean and variance over axes."""
    make = node.make
    wide = make.mean(x, axes=tuple(axes), keepdims=True)
    off = make.sub(x, wide)
    variance = make.mean(make.mul(off, off), axes=tuple(axes), keepdims=keepdims)
    return (wide if keepdims else c.squeeze(node.emit, wide, axes)), variance


def _blend(node: Node, new: Value, old: Value, momentum: float) -> Value:
    make, dtype = node.make, node.dtype(old)
    kept = make.mul(old, make.number(momentum, dtype))
    return make.add(kept, make.mul(new, make.number(1 - momentum, dtype)))


@rule("LayerNormalization")
def layer_norm(node: Node, x: Value, scale: Value, bias: Value | None = None) -> Sequence[Value]:
    """Normalise over the axes from `axis` on; mean and inverse deviation on request."""
    node.has("stash_type")
    axis = normalize_axis(node.integer("axis", -1), node.rank(x))
    epsilon = node.number("epsilon", 1e-5)
    dtype = node.dtype(x)
    scale = node.make.to(scale, dtype)
    offset = node.make.number(0, dtype) if bias is None else node.make.to(bias, dtype)
    made = node.make.layer_norm(x, scale, offset, axis=axis, epsilon=epsilon)
    if not node.wants(1) and not node.wants(2):
        return [made]
    mean, variance = _moments(node, x, range(axis, node.rank(x)), keepdims=True)
    shifted = node.make.add(variance, node.make.number(epsilon, dtype))
    return [made, mean, node.make.rsqrt(shifted)]


@rule("SimplifiedLayerNormalization", "RMSNormalization")
def rms_norm(node: Node, x: Value, scale: Value) -> Value:
    """Divide by the root of the mean square over the axes from `axis` on."""
    node.has("stash_type")
    axis = normalize_axis(node.integer("axis", -1), node.rank(x))
    scale = node.make.to(scale, node.dtype(x))
    return node.make.rms_norm(x, scale, axis=axis, epsilon=node.number("epsilon", 1e-5))


@rule("InstanceNormalization")
def instance_norm(node: Node, x: Value, scale: Value, bias: Value) -> Value:
    """Normalise each channel of each image."""
    return node.make.instance_norm(x, scale, bias, epsilon=node.number("epsilon", 1e-5))


@rule("GroupNormalization", since=18, until=20)
def group_norm_by_group(node: Node, x: Value, scale: Value, bias: Value) -> Value:
    """Normalise groups of channels; scale and bias are one number a group."""
    groups, channels = node.integer("num_groups"), node.shape(x)[1]
    each = (dim_rules.floor_divide(channels, groups),)
    scale, bias = (c.repeat(node.emit, v, each) for v in (scale, bias))
    return group_norm(node, x, scale, bias)


@rule("GroupNormalization", since=21)
def group_norm(node: Node, x: Value, scale: Value, bias: Value) -> Value:
    """Normalise groups of channels."""
    node.has("stash_type")
    groups, epsilon = node.integer("num_groups"), node.number("epsilon", 1e-5)
    return node.make.group_norm(x, scale, bias, groups=groups, epsilon=epsilon)


@rule("LpNormalization")
def lp_norm(node: Node, x: Value) -> Value:
    """Divide by the 1-norm or 2-norm along an axis; 0 where that is 0."""
    make, axis = node.make, normalize_axis(node.integer("axis", -1), node.rank(x))
    if node.integer("p", 2) == 1:
        norm = make.sum(make.abs(x), axes=(axis,), keepdims=True)
    else:
        norm = make.sqrt(make.sum(make.mul(x, x), axes=(axis,), keepdims=True))
    zero, one = make.number(0, node.dtype(x)), make.number(1, node.dtype(x))
    return make.div(x, make.select(make.equal(norm, zero), one, norm))


@rule("MeanVarianceNormalization")
def mean_variance_norm(node: Node, x: Value) -> Value:
    """Subtract the mean and divide by the deviation over axes."""
    across = node.integer("across_channels", 0)
    node.integer("normalize_variance", 1)
    default = (0, 1, 2, 3) if across else (0, 2, 3)
    axes = [normalize_axis(a, node.rank(x)) for a in node.integers("axes") or default]
    make = node.make
    mean, variance = _moments(node, x, axes, keepdims=True)
    spread = make.add(make.sqrt(variance), make.number(1e-9, node.dtype(x)))
    return make.div(make.sub(x, mean), spread)


@rule("LRN")
def local_response_norm(node: Node, x: Value) -> Value:
    """Divide by a power of the sum of squares over neighbouring channels."""
    size, alpha = node.integer("size"), node.number("alpha", 1e-4)
    channels = node.shape(x)[1] if node.rank(x) > 1 else None
    if isinstance(channels, int) and size > (most := 2 * channels + size % 2):
        size, alpha = most, alpha * most / size  # there are no more channels than these
    return node.make.lrn(
        x, size=size, alpha=alpha,
        beta=node.number("beta", 0.75), bias=node.number("bias", 1.0),
    )  # fmt: skip
