"""Activations, by Keras's names."""

from __future__ import annotations

import numpy as _np

from ...eager.tensor import Tensor
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import math_ops as _m
from ...tf.ops import nn_ops as _n
from ...tf.ops import sorting as _sorting
from ...tf.ops import special as _special
from ...values.given import TensorLike
from .numbers import clip as _clip
from .tensors import as_sparse, cast, convert_to_tensor, dtype_or_float, name_of, rank, sizes

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS


def relu(x: TensorLike) -> Tensor:
    """Return max(x, 0)."""
    return _n.relu(convert_to_tensor(x))


def relu6(x: TensorLike) -> Tensor:
    """Return x cut to [0, 6]."""
    return _n.relu6(convert_to_tensor(x))


def sigmoid(x: TensorLike) -> Tensor:
    """Return 1 / (1 + exp(-x))."""
    logits = convert_to_tensor(x)
    return _with_logits(_F["sigmoid"](logits), logits)


def _with_logits(shares: Tensor, logits: Tensor) -> Tensor:
    """Let losses know what shares were made of, as Keras does with TensorFlow's tensors."""
    shares._keras_logits = logits  # type: ignore[attr-defined]
    return shares


def sparse_sigmoid(x: TensorLike) -> Tensor:
    """Return (x + 1) / 2 cut to [0, 1]."""
    tensor = convert_to_tensor(x)
    return _clip((tensor + 1.0) * 0.5, 0.0, 1.0)


def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent."""
    return _F["tanh"](convert_to_tensor(x))


def tanh_shrink(x: TensorLike) -> Tensor:
    """Return x - tanh(x)."""
    tensor = convert_to_tensor(x)
    return tensor - _F["tanh"](tensor)


def softplus(x: TensorLike) -> Tensor:
    """Return log(1 + exp(x))."""
    return _F["softplus"](convert_to_tensor(x))


def softsign(x: TensorLike) -> Tensor:
    """Return x / (1 + |x|)."""
    return _special.softsign(convert_to_tensor(x))


def soft_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """Return x brought nearer to zero by a threshold."""
    tensor = convert_to_tensor(x)
    low = _F["minimum"](tensor + threshold, _made.zeros_like(tensor))
    return low + _F["maximum"](tensor - threshold, _made.zeros_like(tensor))


def sparse_plus(x: TensorLike) -> Tensor:
    """Return 0 below -1, x above 1, and (x + 1)^2 / 4 between."""
    tensor = convert_to_tensor(x)
    ones = _made.ones_like(tensor)
    low, high = _F["less_equal"](tensor, -ones), _F["greater_equal"](tensor, ones)
    between = (tensor + 1.0) * (tensor + 1.0) / 4.0
    return _a.where(low, _made.zeros_like(tensor), _a.where(high, tensor, between))


def silu(x: TensorLike) -> Tensor:
    """Return x sigmoid(x)."""
    return _n.swish(convert_to_tensor(x))


def squareplus(x: TensorLike, b: float = 4) -> Tensor:
    """Return (x + sqrt(x^2 + b)) / 2."""
    tensor = convert_to_tensor(x)
    return (tensor + _F["sqrt"](tensor * tensor + b)) / 2.0


def log_sigmoid(x: TensorLike) -> Tensor:
    """Return log(sigmoid(x))."""
    return _special.log_sigmoid(convert_to_tensor(x))


def leaky_relu(x: TensorLike, negative_slope: float = 0.2) -> Tensor:
    """Return x, less steep below zero."""
    return _n.leaky_relu(convert_to_tensor(x), negative_slope)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Return x / 6 + 1 / 2 cut to [0, 1]."""
    tensor = convert_to_tensor(x)
    return _n.relu6(tensor + 3.0) / 6.0


def hard_silu(x: TensorLike) -> Tensor:
    """Return x hard_sigmoid(x)."""
    tensor = convert_to_tensor(x)
    return tensor * hard_sigmoid(tensor)


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x, below zero alpha (exp(x) - 1)."""
    tensor = convert_to_tensor(x)
    found = _n.elu(tensor)
    if alpha == 1:
        return found
    return _a.where(_F["greater"](tensor, _made.zeros_like(tensor)), found, alpha * found)


def selu(x: TensorLike) -> Tensor:
    """Return the scaled exponential linear unit."""
    return _n.selu(convert_to_tensor(x))


def gelu(x: TensorLike, approximate: bool = True) -> Tensor:
    """Return x times the normal distribution's share below it."""
    return _n.gelu(convert_to_tensor(x), approximate)


def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x, below zero alpha (exp(x / alpha) - 1)."""
    tensor = convert_to_tensor(x)
    zeros = _made.zeros_like(tensor)
    low = alpha * _F["expm1"](_F["minimum"](tensor, zeros) / alpha)
    return _F["maximum"](tensor, zeros) + low


def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the first half gated by the second."""
    tensor = convert_to_tensor(x)
    length = tensor.shape[axis]
    if length is None or length % 2:
        raise ValueError(f"axis size must be divisible by 2. Received: {tensor.shape}, axis={axis}")
    first, second = _a.split(tensor, 2, axis)
    return first * _F["sigmoid"](second)


def hard_tanh(x: TensorLike) -> Tensor:
    """Return x cut to [-1, 1]."""
    return _clip(convert_to_tensor(x), -1.0, 1.0)


def hard_shrink(x: TensorLike, threshold: float = 0.5) -> Tensor:
    """Return zero where the absolute value is at most a threshold."""
    tensor = convert_to_tensor(x)
    kept = _F["greater"](_F["abs"](tensor), cast(threshold, name_of(tensor)))
    return _a.where(kept, tensor, _made.zeros_like(tensor))


def threshold(x: TensorLike, threshold: float, default_value: float) -> Tensor:
    """Return another value where x is not above a threshold."""
    tensor = convert_to_tensor(x)
    kept = _F["greater"](tensor, cast(threshold, name_of(tensor)))
    return _a.where(kept, tensor, cast(default_value, name_of(tensor)))


def softmax(x: TensorLike, axis: int | None = -1) -> Tensor:
    """Return exponentials that add up to one along an axis; None: all of them."""
    tensor = convert_to_tensor(x)
    if axis is not None:
        return _with_logits(_n.softmax(tensor, axis), tensor)
    shares = _a.reshape(_n.softmax(_a.reshape(tensor, [-1])), _a.shape(tensor))
    return _with_logits(shares, tensor)


def log_softmax(x: TensorLike, axis: int | None = -1) -> Tensor:
    """Return the logarithm of the softmax."""
    tensor = convert_to_tensor(x)
    if axis is None:
        return _a.reshape(_n.log_softmax(_a.reshape(tensor, [-1])), _a.shape(tensor))
    return _n.log_softmax(tensor, axis)


def sparsemax(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the nearest point of the simplex (Martins and Astudillo, 2016)."""
    tensor = convert_to_tensor(x)
    place = axis % rank(tensor)
    order = [i for i in range(rank(tensor)) if i != place] + [place]
    rows = _a.transpose(tensor, order)
    falling = _sorting.sort(rows, -1, "DESCENDING")
    sums = _m.cumsum(falling, -1)
    ones = cast(_made.range_(1, sizes(tensor)[place] + 1), name_of(rows))
    inside = _F["greater"](1.0 + ones * falling, sums)
    count = _R["reduce_sum"](cast(inside, name_of(rows)), -1, keepdims=True)
    chosen = _a.where(inside, falling, _made.zeros_like(falling))
    total = _R["reduce_sum"](chosen, -1, keepdims=True)
    found = _F["maximum"](rows - (total - 1.0) / count, _made.zeros_like(rows))
    return _a.transpose(found, [int(i) for i in _np.argsort(order)])


def one_hot(
    x: TensorLike,
    num_classes: int,
    axis: int = -1,
    dtype: str | None = None,
    sparse: bool = False,
) -> Tensor:
    """Return rows with a one at a number; nothing for what is out of range."""
    if sparse:
        return as_sparse(one_hot(x, num_classes, axis, dtype))
    places = convert_to_tensor(x)
    places = places if name_of(places) in ("int32", "int64", "uint8") else cast(places, "int64")
    wanted = dtype_or_float(dtype)
    if wanted == "bool":
        return cast(_made.one_hot(places, num_classes, axis=axis, dtype="int8"), "bool")
    return _made.one_hot(places, num_classes, axis=axis, dtype=wanted)


def multi_hot(
    x: TensorLike,
    num_classes: int,
    axis: int = -1,
    dtype: str | None = None,
    sparse: bool = False,
) -> Tensor:
    """Return rows with ones at several numbers."""
    if sparse:
        return as_sparse(multi_hot(x, num_classes, axis, dtype))
    places = convert_to_tensor(x)
    reduced = 1 if rank(places) > 1 else 0
    ones = one_hot(cast(places, "int32"), num_classes, axis, dtype)
    return _R["reduce_any" if name_of(ones) == "bool" else "reduce_max"](ones, reduced)
