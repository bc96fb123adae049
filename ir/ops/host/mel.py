"""The matrix of the mel scale, of numbers that are data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...families import INTEGER, REAL, expect
from ...host import HostOp
from ...op import Array, register
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.tensor import TensorSpec

MOST = 1 << 24
"""The most elements of the matrix."""


@register
class MelWeights(HostOp):
    """The matrix that turns a spectrum into bins of the mel scale.

    Operands are how many bins, the length of the transform, the samples of a second, and the lowest
    and highest frequency.
    """

    name = "gv.mel_weights"

    @classmethod
    def infer(
        cls,
        bins: TensorSpec,
        length: TensorSpec,
        rate: TensorSpec,
        low: TensorSpec,
        high: TensorSpec,
        *,
        dtype: DType,
        sizes: tuple[Dim, ...],
    ) -> Sequence[TensorSpec]:
        """Return the sizes as a shape."""
        for each in (bins, length, rate):
            expect(each, INTEGER)
        expect(low, REAL)
        expect(high, REAL)
        if len(sizes) != 2 or any(x.is_static and x.size != 1 for x in (bins, length, rate)):
            raise TypeError(f"{len(sizes)} sizes, bins {bins}, length {length}, rate {rate}")
        return (TensorSpec(dtype, sizes),)

    @classmethod
    def evaluate(
        cls, bins: Array, length: Array, rate: Array, low: Array, high: Array, *, dtype: DType,
        sizes: Any = (),
    ) -> Sequence[Array]:  # fmt: skip
        """Make the matrix, or raise `ValueError`."""
        count, points, samples = (int(x.reshape(())) for x in (bins, length, rate))
        edges = float(low.reshape(())), float(high.reshape(()))
        if count < 0 or points < 0 or not count * (points // 2 + 1) <= MOST:
            raise ValueError(f"a matrix of {points // 2 + 1} x {count}, expected at most {MOST}")
        if samples < 1:
            raise ValueError(f"{samples} samples of a second, expected 1 or more")
        return (mel(count, points, samples, edges).astype(dtype.numpy),)


def mel(count: int, points: int, samples: int, edges: tuple[float, float]) -> Array:
    """Return the matrix in 64 bits: triangles between marks, which are even on the mel scale."""
    low, high = (2595 * np.log10(1 + edge / 700) for edge in edges)
    marks = low + np.arange(count + 2) * ((high - low) / (count + 2))
    hertz = 700 * (10 ** (marks / 2595) - 1)
    places = ((points + 1) * hertz // samples).astype(np.int64)
    if places.min() < 0 or places.max() > points // 2 + 1 or not np.isfinite(hertz).all():
        raise ValueError(f"frequencies {edges[0]} to {edges[1]} lie outside of the spectrum")
    made = np.zeros((points // 2 + 1, count))
    for i, (left, middle, right) in enumerate(zip(places, places[1:], places[2:], strict=False)):
        if left == middle:
            made[middle, i] = 1
        for j in range(left, middle + 1 if left < middle else left):
            made[j, i] = (j - left) / (middle - left)
        for j in range(middle, right):
            made[j, i] = (right - j) / (right - middle)
    return made
