"""Isotonic regression: the rows nearest to given ones that never rise (Kruskal, 1964).

Neighbours that rise are pooled into their mean, until nothing rises any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....codegen.serial.function import I32s, I64s, serial
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...eager.remembered import remembered
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import reshape, shape, transpose
from ..ops.creation import ones_like, range_
from ..ops.gathering import gather, unsorted_segment_sum
from ..ops.math_ops import REDUCTIONS, cast

PROMOTED = {
    **{name: name for name in ("float32", "float16", "bfloat16")},
    **dict.fromkeys(("int8", "int16"), "float32"),
}
"""The element types of results, where they are not float64."""


def regression(matrix: Array, dtype: np.dtype[np.generic]) -> Sequence[Array]:
    """Return the rows that never rise, and which pool of its row each element is in."""
    numbers = np.zeros(matrix.shape, np.int32)
    if not matrix.size:
        return matrix.astype(dtype), numbers
    is_wide = dtype == np.float64
    found = np.array(matrix, np.float64 if is_wide else np.float32, order="C")
    rooms = [np.empty(matrix.shape[1], kind) for kind in (found.dtype, found.dtype, np.int64)]
    _pool(found, numbers, *rooms)
    return found.astype(dtype, copy=False), numbers


@serial
def _pool(found: Array, numbers: I32s, sums: Array, means: Array, counts: I64s) -> int:
    """Pool what rises in each row, from its first element to its last, in the place of the row."""
    width = len(counts)
    for row in range(len(numbers) // width):
        first, last = row * width, -1
        for i in range(width):
            last += 1
            sums[last], means[last], counts[last] = found[first + i], found[first + i], 1
            while last > 0 and means[last] > means[last - 1]:
                last -= 1
                sums[last] += sums[last + 1]
                counts[last] += counts[last + 1]
                means[last] = sums[last] / float(counts[last])
        at = first
        for pool in range(last + 1):
            for _ in range(counts[pool]):
                found[at], numbers[at] = means[pool], pool
                at += 1
    return width


@custom_gradient
def _of_rows(
    matrix: TfTensor,
) -> tuple[tuple[TfTensor, TfTensor], Callable[[TfTensor, object], TfTensor]]:
    """Return both results for rows; a gradient is spread evenly over each pool."""
    dtype = convert(np.zeros(0), PROMOTED.get(matrix.dtype.name, "float64")).dtype
    kind = np.dtype(dtype.as_numpy_dtype)
    specs = [TensorSpec(dtype.row, matrix.spec.shape), TensorSpec(rows.i32, matrix.spec.shape)]
    found, segments = host("IsotonicRegression", lambda x: regression(x, kind), [matrix], specs)

    def gradient(grad: TfTensor, _: object) -> TfTensor:
        size = shape(matrix)
        first = reshape(range_(size[0]) * size[1], [-1, 1])
        places, total = reshape(segments + first, [-1]), size[0] * size[1]
        sums = unsorted_segment_sum(reshape(grad, [-1]), places, total)
        counts = unsorted_segment_sum(ones_like(reshape(grad, [-1])), places, total)
        return cast(reshape(gather(sums, places) / gather(counts, places), size), matrix.dtype)

    return (found, segments), gradient


@remembered
def isotonic_regression(
    inputs: object, decreasing: bool = True, axis: int = -1
) -> tuple[TfTensor, TfTensor]:
    """Return what is nearest to a tensor and does not rise along an axis, and its pools."""
    with InGraph(graph_of([inputs])):
        x = convert(inputs)
        rank = x.shape.rank
        if rank is None:
            raise ValueError("isotonic_regression: the rank of inputs is not known")
        last = axis % rank == rank - 1
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        turned = x if last else transpose(x, order)
        size = shape(turned)
        flat = reshape(turned, [REDUCTIONS["reduce_prod"](size[:-1]), size[-1]])
        found, segments = _of_rows(flat if decreasing else -flat)
        made = [reshape(found if decreasing else -found, size), reshape(segments, size)]
        back = [order.index(i) for i in range(rank)]
        one, other = made if last else [transpose(v, back) for v in made]
        return one, other
