"""Ragged tensors cut into parts along an axis of which the length is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ....ir.types.tensor import TensorSpec
from ...values.dispatch import handles
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.values import convert, static
from ..ops import array_ops as a
from .converting import axis_of
from .partition import computed
from .tensor import Ragged, RaggedTensor, same_graph


@handles(RaggedTensor, a.split)
def split(
    value: RaggedTensor,
    num_or_size_splits: object,
    axis: object = 0,
    num: object = None,
    name: str | None = None,
) -> list[Ragged]:
    """Return parts of one length, or of lengths that are given, along an axis."""
    asked = num_or_size_splits
    if isinstance(asked, int) and asked == 1:
        return [value]
    with same_graph(value, asked):
        given = convert(asked)
        if not given.dtype.is_integer:
            raise TypeError(
                "`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers, "
                f"found {given.dtype.name}"
            )
        at = axis_of(static(axis), value.shape.rank)
        extent = _extent(value, at)
        count = asked if isinstance(asked, int) else _count(given, num)
        if count < 1 and isinstance(asked, int):
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`: found {asked}")
        known = [static(extent), static(given)]
        if any(isinstance(x, TfTensor) for x in known):
            ends = _ends_in_run(given, extent, count, name)
        else:
            ends = _ends(np.asarray(known[1]), int(known[0]), count).tolist()
        before = [slice(None)] * at
        return [value[(*before, slice(i, j))] for i, j in pairwise(ends)]


def _extent(x: RaggedTensor, at: int) -> TfTensor:
    """Return the length along an axis, or raise where rows differ in it."""
    if at == 0:
        return x.nrows()
    if at > x.ragged_rank:
        return a.shape(x.flat_values)[at - x.ragged_rank]
    length = x.partitions[at - 1].uniform_row_length()
    if length is None:
        raise ValueError(
            f"Cannot split a ragged dimension: axis {at} of a value of shape {x.shape}"
        )
    return length


def _count(sizes: TfTensor, num: object) -> int:
    """Return how many lengths are given, or raise."""
    rank = sizes.shape.rank
    if rank not in (1, None):
        raise TypeError(
            "`num_or_size_splits` must be an `int` or 1-D list or `Tensor`, found shape "
            f"{sizes.shape}"
        )
    known = sizes.shape.as_list()[0] if rank else None
    said = None if num is None else int(static(num))
    if known is None and said is None:
        raise ValueError(
            "`num` must be specified as an `int` where the size of `num_or_size_splits` is not "
            "known before the run"
        )
    if None not in (known, said) and known != said:
        raise ValueError(f"`num` does not match the size of `num_or_size_splits`: {said}, {known}")
    made = said if known is None else known
    assert made is not None, "one of both is there"
    return made


def _ends(sizes: Array, extent: int, count: int) -> Array:
    """Return where parts begin and end, or raise where they are not all of an axis."""
    if not sizes.ndim:
        if extent % count:
            raise InvalidArgumentError(
                f"Cannot exactly split the `axis` dimension: {extent} into {count} of one size"
            )
        sizes = np.full(count, extent // count)
    if len(sizes) != count:
        raise InvalidArgumentError(
            f"`num` is inconsistent with the {len(sizes)} sizes that are given: {count}"
        )
    if (sizes < 0).any():
        raise InvalidArgumentError(f"`num_or_size_splits` must be non-negative: {sizes.tolist()}")
    if sizes.sum() != extent:
        raise InvalidArgumentError(
            f"Cannot exactly split the `axis` dimension: {extent} into {sizes.tolist()}"
        )
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ends_in_run(
    sizes: TfTensor, extent: TfTensor, count: int, name: str | None
) -> Sequence[TfTensor]:
    """Return where parts begin and end, which a run finds."""

    def compute(given: Array, length: Array) -> Sequence[Array]:
        if given.ndim > 1:
            raise InvalidArgumentError(f"sizes of parts have shape {given.shape}, expected 1-D")
        return [_ends(given, int(length), count)]

    spec = TensorSpec(kinds.i64, (count + 1,))
    (ends,) = computed("RaggedSplit", compute, [sizes, extent], [spec], name)
    return a.unstack(ends)
