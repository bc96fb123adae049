"""Isotonic regression: the rows nearest to given ones that never rise (Kruskal, 1964).

Neighbours that rise are pooled into their mean, until nothing rises any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ..core.bridge import TfTensor, custom_gradient
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import reshape, shape, transpose
from ..ops.creation import ones_like, range_
from ..ops.gathering import gather, unsorted_segment_sum
from ..ops.math_ops import REDUCTIONS, cast

ROUNDS = 16
"""So many times all that rises is pooled at once; what is left then goes one by one."""
PROMOTED = {
    **{name: name for name in ("float32", "float16", "bfloat16")},
    **dict.fromkeys(("int8", "int16"), "float32"),
}
"""The element types of results, where they are not float64."""


class Pools(NamedTuple):
    """Neighbours that are one: their sums, how many, and of which row."""

    sums: Array
    counts: Array
    rows: Array

    @property
    def means(self) -> Array:
        """The mean of each."""
        found: Array = self.sums / self.counts.astype(self.sums.dtype)
        return found


def pooled_at_once(pools: Pools) -> Pools:
    """Pool all runs that rise, each into one."""
    means = pools.means
    begins = np.ones(len(means), np.bool_)
    begins[1:] = (pools.rows[1:] != pools.rows[:-1]) | ~(means[1:] > means[:-1])
    starts = np.flatnonzero(begins)
    sums = np.add.reduceat(pools.sums, starts, dtype=pools.sums.dtype)
    return Pools(sums, np.add.reduceat(pools.counts, starts), pools.rows[starts])


Pool: TypeAlias = tuple[np.float64, int, int]
"""The sum of one, how many are in it, and its row."""


def _rises(one: Pool, other: Pool) -> bool:
    """Say whether the mean of the second is above that of the first."""
    kind = type(one[0])
    return bool(other[0] / kind(other[1]) > one[0] / kind(one[1]))


def pooled_one_by_one(pools: Pools) -> Pools:
    """Pool what rises from the first to the last."""
    done: list[Pool] = []
    for new in zip(pools.sums, *(x.tolist() for x in pools[1:]), strict=True):
        last = new
        while done and done[-1][2] == last[2] and _rises(done[-1], last):
            before = done.pop()
            last = before[0] + last[0], before[1] + last[1], last[2]
        done.append(last)
    sums, counts, numbers = zip(*done, strict=True)
    return Pools(np.array(sums, pools.sums.dtype), np.array(counts), np.array(numbers))


def regression(matrix: Array, dtype: np.dtype[np.generic]) -> Sequence[Array]:
    """Return the rows that never rise, and which pool of its row each element is in."""
    count, width = matrix.shape
    if not matrix.size:
        return matrix.astype(dtype), np.zeros(matrix.shape, np.int32)
    flat = matrix.ravel().astype(dtype)
    pools = Pools(flat, np.ones(len(flat), np.int64), np.repeat(np.arange(count), width))
    for _ in range(ROUNDS):
        before, pools = len(pools.sums), pooled_at_once(pools)
        if len(pools.sums) == before:
            break
    else:
        pools = pooled_one_by_one(pools)
    numbers = np.repeat(np.arange(len(pools.sums)), pools.counts).reshape(matrix.shape)
    found = np.repeat(pools.means, pools.counts).reshape(matrix.shape)
    return found, (numbers - numbers[:, :1]).astype(np.int32)


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
