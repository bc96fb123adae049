"""Neural-network operations, linear algebra and clipping by TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import compositions as c
from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from .calls import op, perform, rule
from .gathering import check_indices
from .values import InGraph, convert, graph_of, same, static


def _unary(type_: str, gv: str, **attributes: Any) -> Any:
    @op(type_, "features", strict=False)
    def function(m: Maker, features: Any) -> Any:
        """Apply the activation to each element."""
        return getattr(m, gv)(features, **attributes)

    return function


relu, elu = _unary("Relu", "relu"), _unary("Elu", "elu")
swish = _unary("Swish", "silu")


@op("Selu", "features", strict=False)
def selu(m: Maker, features: Any) -> Any:
    """Scaled exponential unit."""
    return m.selu(features)


@op("Relu6", "features", strict=False)
def relu6(m: Maker, features: Any) -> Any:
    """Clip to 0 and 6."""
    row = spec_of_value(features).dtype
    return m.minimum(m.maximum(features, m.number(0, row)), m.number(6, row))


@op("LeakyRelu", "features", strict=False)
def leaky_relu(m: Maker, features: Any, alpha: float = 0.2) -> Any:
    """Keep a part of what is negative."""
    return m.leaky_relu(features, alpha=float(alpha))


@op("Gelu", "features", strict=False)
def gelu(m: Maker, features: Any, approximate: bool = False) -> Any:
    """Gaussian error linear unit."""
    return m.gelu(features, approximate="tanh" if approximate else "none")


@op("Softmax", "logits", strict=False)
def softmax(m: Maker, logits: Any, axis: int = -1) -> Any:
    """Exponentials that sum to one."""
    return m.softmax(logits, axis=axis % spec_of_value(logits).rank)


@op("LogSoftmax", "logits", strict=False)
def log_softmax(m: Maker, logits: Any, axis: int = -1) -> Any:
    """Return the logarithm of softmax."""
    return m.log_softmax(logits, axis=axis % spec_of_value(logits).rank)


@op("SoftmaxCrossEntropyWithLogits", "labels", "logits")
def softmax_cross_entropy_with_logits(m: Maker, labels: Any, logits: Any, axis: int = -1) -> Any:
    """Return the cross entropy of labels and softmax."""
    at = axis % spec_of_value(logits).rank
    logs = m.log_softmax(logits, axis=at)
    return m.neg(m.sum(m.mul(labels, logs), axes=(at,)))


@op("SparseSoftmaxCrossEntropyWithLogits", "labels", "logits", strict=False)
def sparse_softmax_cross_entropy_with_logits(m: Maker, labels: Any, logits: Any) -> Any:
    """Return the cross entropy of numbered classes and softmax."""
    at = spec_of_value(logits).rank - 1
    check_indices(labels, spec_of_value(logits).dims[at])
    logs = m.log_softmax(logits, axis=at)
    column = c.unsqueeze(m.emit, m.to(labels, rows.i64), (at,))
    return m.neg(c.squeeze(m.emit, m.gather_elements(logs, column, axis=at), (at,)))


@op("SigmoidCrossEntropyWithLogits", "labels", "logits")
def sigmoid_cross_entropy_with_logits(m: Maker, labels: Any, logits: Any) -> Any:
    """Return the cross entropy of labels and sigmoid."""
    row = spec_of_value(logits).dtype
    positive = m.maximum(logits, m.number(0, row))
    return m.add(m.sub(positive, m.mul(logits, labels)), m.softplus(m.neg(m.abs(logits))))


@op("BiasAdd", "value", "bias")
def bias_add(m: Maker, value: Any, bias: Any, data_format: Any = None) -> Any:
    """Add a vector along the channels."""
    return m.add(value, bias)


@op("L2Loss", "t", strict=False)
def l2_loss(m: Maker, t: Any) -> Any:
    """Half of the sum of squares."""
    spec = spec_of_value(t)
    total = m.sum(m.mul(t, t), axes=tuple(range(spec.rank)))
    return m.mul(total, m.number(0.5, spec.dtype))


@op("ClipByValue", "t", "clip_value_min", "clip_value_max")
def clip_by_value(m: Maker, t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Limit the elements."""
    return m.minimum(m.maximum(t, clip_value_min), clip_value_max)


@op("ClipByNorm", "t", "clip_norm")
def clip_by_norm(m: Maker, t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """Scale down to a norm."""
    spec = spec_of_value(t)
    along = tuple(range(spec.rank)) if axes is None else tuple(static(axes))
    norm = m.sqrt(m.sum(m.mul(t, t), axes=along, keepdims=True)) if along else m.abs(t)
    return m.div(m.mul(t, clip_norm), m.maximum(norm, clip_norm))


@rule("GlobalNorm", label="global_norm")
def _global_norm(m: Maker, *xs: Any) -> Any:
    total = None
    for x in xs:
        part = m.sum(m.mul(x, x), axes=tuple(range(spec_of_value(x).rank)))
        total = part if total is None else m.add(total, part)
    return m.sqrt(total)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Return the norm of several tensors together."""
    return perform("GlobalNorm", [convert(t) for t in t_list if t is not None], name=name)


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: Any = None) -> Any:
    """Scale several tensors down together."""
    norm = global_norm(t_list) if use_norm is None else use_norm
    scale = clip_norm / _maximum(norm, clip_norm)
    return [None if t is None else convert(t) * scale for t in t_list], norm


def _maximum(a: Any, b: Any) -> Any:
    from .math_ops import FUNCTIONS  # noqa: PLC0415

    return FUNCTIONS["maximum"](a, b)


def moments(x: Any, axes: Any, keepdims: bool = False, name: Any = None, **_: Any) -> Any:
    """Mean and variance."""
    from .math_ops import reduce_mean, reduce_variance  # noqa: PLC0415

    return reduce_mean(x, axes, keepdims), reduce_variance(x, axes, keepdims)


@op("ZeroFraction", "value", strict=False, differentiable=False)
def zero_fraction(m: Maker, value: Any) -> Any:
    """Return how much of a tensor is 0."""
    spec = spec_of_value(value)
    hits = m.cast(m.equal(value, m.number(0, spec.dtype)), dtype=rows.f32)
    return m.mean(hits, axes=tuple(range(spec.rank)))


@op("BandPart", "input", strict=False)
def band_part(m: Maker, input: Any, num_lower: int, num_upper: int) -> Any:
    """Keep a band around the diagonal."""
    lower, upper = int(static(num_lower)), int(static(num_upper))
    kept = c.triangle(m.emit, input, -lower, upper=True) if lower >= 0 else input
    return c.triangle(m.emit, kept, upper, upper=False) if upper >= 0 else kept


@op("Diag", "diagonal", strict=False)
def diag(m: Maker, diagonal: Any) -> Any:
    """Matrices with a diagonal."""
    spec = spec_of_value(diagonal)
    n = spec.dims[-1]
    eye = m.constant(value=np.eye(int(n), dtype=spec.dtype.numpy))  # type: ignore[arg-type]
    return m.mul(c.unsqueeze(m.emit, diagonal, (spec.rank,)), eye)


@op("DiagPart", "input", strict=False)
def diag_part(m: Maker, input: Any) -> Any:
    """Return the diagonals of matrices."""
    spec = spec_of_value(input)
    n = int(spec.dims[-1])  # type: ignore[arg-type]
    eye = m.constant(value=np.eye(n, dtype=spec.dtype.numpy))
    return m.sum(m.mul(input, eye), axes=(spec.rank - 1,))


@rule("Einsum", label="einsum")
def _einsum(m: Maker, *xs: Any, equation: str) -> Any:
    return m.einsum(*xs, equation=equation)


def einsum(equation: str, *inputs: Any, name: str | None = None, **_: Any) -> Any:
    """Products and sums by an equation."""
    with InGraph(graph_of(inputs)):
        return perform("Einsum", same(*inputs), name=name, equation=equation.replace(" ", ""))
