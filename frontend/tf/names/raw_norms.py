"""`tf.raw_ops`: batch normalisation by its own names, which gives what its way back takes, too."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import cast

from ..core.values import InGraph, convert, graph_of
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops import nn_ops as _n
from ..ops import window_ops as _w
from ..ops.creation import zeros

FIELDS = ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2")


def _norm(type_: str, *last: str) -> Callable[..., object]:
    """Return a version of the operation; the third one gives an empty tensor at the end."""
    results = cast("Callable[..., object]", namedtuple(type_, (*FIELDS, *last)))

    def fused_batch_norm(
        x: object, scale: object, offset: object, mean: object, variance: object,
        epsilon: float = 1e-4, exponential_avg_factor: float = 1.0, data_format: str = "NHWC",
        is_training: bool = True, name: str | None = None,
    ) -> object:  # fmt: skip
        """Normalise images by the moments of the batch, or by those given; return them too."""
        with InGraph(graph_of([x, scale, offset, mean, variance])):
            given, factor = convert(x), convert(scale)
            rank, is_last = len(given.shape), data_format.endswith("C")
            image = _m.cast(given, factor.dtype)  # halves are summed up as f32
            image = image if is_last else _a.transpose(image, [0, *range(2, rank), 1])
            centre, spread = convert(mean), convert(variance)
            kept = averaged = centre, spread
            if is_training:
                kept = _n.moments(image, list(range(rank - 1)))
                count = _m.cast(_m.REDUCTIONS["reduce_prod"](_a.shape(image)[:-1]), image.dtype)
                fair = count / _m.FUNCTIONS["maximum"](count - 1.0, 1.0)
                averaged = kept[0], kept[1] * fair
                share = exponential_avg_factor
                if share != 1.0:
                    pairs = zip(averaged, (centre, spread), strict=True)
                    mean_of, spread_of = (n * share + o * (1.0 - share) for n, o in pairs)
                    averaged = mean_of, spread_of
            made = _w.batch_normalization(image, *kept, convert(offset), factor, epsilon)
            made = made if is_last else _a.transpose(made, [0, rank - 1, *range(1, rank - 1)])
            rest = [zeros([0], factor.dtype) for _ in last]
            return results(_m.cast(made, given.dtype, name=name), *averaged, *kept, *rest)

    return fused_batch_norm


NORMS = {
    "FusedBatchNorm": _norm("FusedBatchNorm"),
    "FusedBatchNormV2": _norm("FusedBatchNormV2"),
    "FusedBatchNormV3": _norm("FusedBatchNormV3", "reserve_space_3"),
}
"""By the type of an operation: its function."""
