"""Normalisations: give vectors mean 0 and variance 1, then scale and shift them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose.maker import Maker
from ..families import FLOAT, FLOATS, expect, expect_same
from ..op import Array, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dims import Dim, product
from ..types.dtypes import bf16, f16, f32, f64
from ..types.shapes import UnequalError, broadcast
from ..types.tensor import TensorSpec
from .formula import Formula, dims_of, double, over, rounded
from .layout import check_axis


def _reshaped(term: Term, shape: Sequence[Dim]) -> Term:
    return Term(term.math, Maker(term.math.emit).reshape(term.value, shape=tuple(shape)))


def _vector_samples(rank: int, **attributes: Any) -> tuple[Sample, ...]:
    """Return samples of an image with `rank` vectors as long as axis 1; the last is positive."""
    return tuple(
        Sample(
            (shape, *((shape[axis],),) * rank),
            {"epsilon": 1e-3, **attributes, **({"axis": axis} if axis != 1 else {})},
            dtypes,
            ranges=(*(None,) * rank, (0.5, 2.0)),
        )
        for shape, axis, dtypes in (
            ((2, 3, 4, 5), 1, (f32, f64, f16, bf16)),
            ((2, 5), 1, (f32,)),
            ((2, 4, 3), 2, (f32,)),
            ((0, 3, 2), 1, (f32,)),
        )
    )


def _along(term: Term, rank: int, axis: int) -> Term:
    """Return a vector as a tensor of this rank that varies along one axis."""
    return _reshaped(term, [dims_of(term)[0] if i == axis else 1 for i in range(rank)])


@register
class BatchNorm(Formula):
    """Shift and scale each channel by statistics that are given."""

    name = "gv.batch_norm"
    ALONG_AXIS: ClassVar = True
    SAMPLES: ClassVar = _vector_samples(4)

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        scale: TensorSpec,
        bias: TensorSpec,
        mean: TensorSpec,
        variance: TensorSpec,
        *,
        epsilon: float,
        axis: int = 1,
    ) -> Sequence[TensorSpec]:
        """Return the image's spec."""
        expect(x, FLOAT)
        check_axis(axis, x.rank)
        for vector in (scale, bias, mean, variance):
            _check_vector(vector, x, x.dims[axis])
        return (x,)

    @classmethod
    def evaluate(cls, *operands: Array, epsilon: float, axis: int) -> Sequence[Array]:
        """Normalise."""
        x, *vectors = double(*operands)
        shape = [-1 if i == axis else 1 for i in range(x.ndim)]
        scale, bias, mean, variance = (v.reshape(shape) for v in vectors)
        return rounded((x - mean) / np.sqrt(variance + epsilon) * scale + bias, operands[0])

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """X * factor + offset, where both are made of the statistics."""
        x, scale, bias, mean, variance = terms
        factor = scale * (variance + attributes["epsilon"]).apply("rsqrt")
        offset = bias - mean * factor
        rank, axis = len(dims_of(x)), attributes["axis"]
        return x * _along(factor, rank, axis) + _along(offset, rank, axis)


def _check_vector(vector: TensorSpec, x: TensorSpec, channels: Dim) -> None:
    expect_same(x, vector)
    text = f"statistics {vector}, expected {channels} elements as channels"
    if vector.rank != 1:
        raise TypeError(text)
    if vector.dims != (channels,):
        raise UnequalError(text, vector.dims[0], channels)


def _normalised(x: Term, axes: Sequence[int], epsilon: float) -> Term:
    """Return (x - mean) / sqrt(variance + epsilon) over axes."""
    centred = x - over(x, "mean", axes)
    variance = over(centred * centred, "mean", axes)
    return centred * (variance + epsilon).apply("rsqrt")


def _normalised_array(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = x - _mean(x, axes)
        return np.asarray(centred / np.sqrt(_mean(centred**2, axes) + epsilon))


def _mean(x: Array, axes: tuple[int, ...]) -> Array:
    number = np.float64(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    return np.asarray(np.sum(x, axis=axes, keepdims=True) / number)


def _check_broadcasts(x: TensorSpec, *others: TensorSpec) -> None:
    expect(x, FLOAT)
    expect_same(x, *others)
    for other in others:
        if broadcast(x.dims, other.dims) != x.dims:
            raise TypeError(f"a factor or offset {other} is larger than {x}")


@register
class LayerNorm(Formula):
    """Give each slice behind `axis` mean 0 and variance 1, then scale and shift it."""

    name = "gv.layer_norm"
    SAMPLES: ClassVar = (
        Sample(((3, 19), (19,), (19,)), {"axis": 1, "epsilon": 1e-3}, FLOATS),
        Sample(((2, 3, 4), (3, 4), (4,)), {"axis": 1, "epsilon": 1e-3}),
        Sample(((2, 3, 4), (4,), (1, 3, 1)), {"axis": 2, "epsilon": 1e-3}),
        Sample(((5,), (5,), ()), {"axis": 0, "epsilon": 1e-3}),
        Sample(((0, 3), (3,), (3,)), {"axis": 1, "epsilon": 1e-3}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, scale: TensorSpec, bias: TensorSpec, *, axis: int, epsilon: float
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        _check_broadcasts(x, scale, bias)
        check_axis(axis, x.rank)
        return (x,)

    @classmethod
    def evaluate(
        cls, x: Array, scale: Array, bias: Array, *, axis: int, epsilon: float
    ) -> Sequence[Array]:
        """Normalise."""
        wide, factor, offset = double(x, scale, bias)
        normal = _normalised_array(wide, tuple(range(axis, x.ndim)), epsilon)
        return rounded(normal * factor + offset, x)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """(x - mean) * rsqrt(variance + epsilon) * scale + bias."""
        x, scale, bias = terms
        axes = range(attributes["axis"], len(dims_of(x)))
        return _normalised(x, axes, attributes["epsilon"]) * scale + bias


@register
class RmsNorm(Formula):
    """Divide each slice behind `axis` by the root of its mean square, then scale it."""

    name = "gv.rms_norm"
    SAMPLES: ClassVar = (
        Sample(((3, 19), (19,)), {"axis": 1, "epsilon": 1e-3}, FLOATS),
        Sample(((2, 3, 4), (3, 4)), {"axis": 1, "epsilon": 1e-3}),
        Sample(((0, 3), (3,)), {"axis": 1, "epsilon": 1e-3}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, scale: TensorSpec, *, axis: int, epsilon: float
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        _check_broadcasts(x, scale)
        check_axis(axis, x.rank)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, scale: Array, *, axis: int, epsilon: float) -> Sequence[Array]:
        """Divide and scale."""
        wide, factor = double(x, scale)
        square = _mean(wide**2, tuple(range(axis, x.ndim)))
        return rounded(wide / np.sqrt(square + epsilon) * factor, x)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """X * rsqrt(mean(x * x) + epsilon) * scale."""
        x, scale = terms
        axes = range(attributes["axis"], len(dims_of(x)))
        square = over(x * x, "mean", axes)
        factor: Term = (square + attributes["epsilon"]).apply("rsqrt")
        return x * factor * scale


class PerSample(Formula):
    """A normalisation of each sample of [N, C, *S] by itself, with a scale for each channel."""

    @classmethod
    def check_vectors(cls, x: TensorSpec, scale: TensorSpec, bias: TensorSpec) -> None:
        """Raise `TypeError` unless there are channels and as many scales."""
        expect(x, FLOAT)
        if x.rank < 2:
            raise TypeError(f"rank {x.rank}, expected at least 2: batch and channels")
        for vector in (scale, bias):
            _check_vector(vector, x, x.dims[1])


@register
class InstanceNorm(PerSample):
    """Give each channel of each sample mean 0 and variance 1, then scale and shift it."""

    name = "gv.instance_norm"
    ONNX: ClassVar = "InstanceNormalization"
    SAMPLES: ClassVar = (
        Sample(((2, 3, 4, 5), (3,), (3,)), {"epsilon": 1e-3}, FLOATS),
        Sample(((2, 3, 7), (3,), (3,)), {}),
        Sample(((0, 3, 2), (3,), (3,)), {}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, scale: TensorSpec, bias: TensorSpec, *, epsilon: float = 1e-5
    ) -> Sequence[TensorSpec]:
        """Return the image's spec."""
        cls.check_vectors(x, scale, bias)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, scale: Array, bias: Array, *, epsilon: float) -> Sequence[Array]:
        """Normalise."""
        wide, *vectors = double(x, scale, bias)
        factor, offset = (v.reshape(-1, *(1,) * (x.ndim - 2)) for v in vectors)
        normal = _normalised_array(wide, tuple(range(2, x.ndim)), epsilon)
        return rounded(normal * factor + offset, x)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """Normalise over the spatial axes."""
        x, scale, bias = terms
        rank = len(dims_of(x))
        normal = _normalised(x, range(2, rank), attributes["epsilon"])
        return normal * _along(scale, rank, 1) + _along(bias, rank, 1)


@register
class GroupNorm(PerSample):
    """Give each group of channels of each sample mean 0 and variance 1, then scale and shift."""

    name = "gv.group_norm"
    SAMPLES: ClassVar = (
        Sample(((2, 6, 4, 5), (6,), (6,)), {"groups": 3, "epsilon": 1e-3}, FLOATS),
        Sample(((2, 4), (4,), (4,)), {"groups": 2, "epsilon": 1e-3}),
        Sample(((0, 4, 2), (4,), (4,)), {"groups": 1, "epsilon": 1e-3}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, scale: TensorSpec, bias: TensorSpec, *, groups: int, epsilon: float
    ) -> Sequence[TensorSpec]:
        """Return the image's spec."""
        cls.check_vectors(x, scale, bias)
        if groups < 1 or x.dims[1] % groups != 0:
            raise TypeError(f"{x.dims[1]} channels, expected a multiple of the {groups} groups")
        return (x,)

    @classmethod
    def evaluate(
        cls, x: Array, scale: Array, bias: Array, *, groups: int, epsilon: float
    ) -> Sequence[Array]:
        """Normalise."""
        wide, *vectors = double(x, scale, bias)
        factor, offset = (v.reshape(-1, *(1,) * (x.ndim - 2)) for v in vectors)
        parts = wide.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
        normal = _normalised_array(parts, tuple(range(2, parts.ndim)), epsilon)
        return rounded(normal.reshape(x.shape) * factor + offset, x)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """Normalise each group as one vector."""
        x, scale, bias = terms
        dims, groups = dims_of(x), attributes["groups"]
        parts = _reshaped(x, (dims[0], groups, product(dims[1:]) // groups))
        normal = _reshaped(_normalised(parts, (2,), attributes["epsilon"]), dims)
        rank = len(dims)
        return normal * _along(scale, rank, 1) + _along(bias, rank, 1)


@register
class Lrn(Formula):
    """Divide each element by a power of the mean square of neighbouring channels."""

    name = "gv.lrn"
    ONNX: ClassVar = "LRN"
    # As many samples as channels: ONNX's reference confuses the two.
    SAMPLES: ClassVar = (
        Sample(((5, 5, 2, 3),), {"size": 3, "alpha": 0.3, "beta": 0.7, "bias": 2.0}, FLOATS),
        Sample(((7, 7, 1, 1),), {"size": 5, "alpha": 0.5}),
        Sample(((4, 4, 3, 1),), {"size": 2}),
        Sample(((0, 4, 3, 1),), {"size": 3}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        bias: float = 1.0,
    ) -> Sequence[TensorSpec]:
        """Return the image's spec."""
        expect(x, FLOAT)
        if x.rank < 2 or size < 1:
            raise TypeError(f"rank {x.rank} and size {size}, expected at least 2 and 1")
        return (x,)

    @classmethod
    def evaluate(
        cls, x: Array, *, size: int, alpha: float, beta: float, bias: float
    ) -> Sequence[Array]:
        """Sum the squares of each channel's neighbours."""
        (wide,) = double(x)
        total = np.zeros_like(wide)
        for channel in range(x.shape[1]):
            near = slice(max(channel - (size - 1) // 2, 0), channel + size // 2 + 1)
            total[:, channel] = np.sum(wide[:, near] ** 2, axis=1)
        return rounded(wide / (bias + alpha / size * total) ** beta, x)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """X / (bias + alpha / size * sum of squares) ** beta, the sum a pool over channels."""
        (x,), size = terms, attributes["size"]
        dims = dims_of(x)
        square = _reshaped(x * x, (dims[0], 1, dims[1], product(dims[2:])))
        pads = (((size - 1) // 2, size // 2), (0, 0))
        total = Maker(x.math.emit).sum_pool(
            square.value, window=(size, 1), strides=(1, 1), pads=pads, dilations=(1, 1)
        )
        factor = attributes["alpha"] / size
        base = _reshaped(Term(x.math, total), dims) * factor + attributes["bias"]
        power: Term = base.apply("pow", attributes["beta"])
        return x / power
