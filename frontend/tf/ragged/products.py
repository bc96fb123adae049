"""Products of matrices of different sizes: filled up to the largest, multiplied, and cut again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import unknown
from ..ops import array_ops as shapes
from ..ops import math_ops as m
from .converting import read_of, to_tensor
from .making import from_tensor
from .partition import agreed, computed
from .planning import assembled, rows_read, with_levels
from .rows import Rows
from .tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph

Product = Callable[[TfTensor, TfTensor], TfTensor]
BATCHES = "Batch dimensions of `a` and `b` do not have the same size."
RAGGED = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


@handles(RaggedTensor, m.matmul)
def matmul(
    a: object,
    b: object,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Ragged:
    """Multiply matrices, of which each may have sizes of its own."""
    del a_is_sparse, b_is_sparse, grad_a, grad_b
    for turned, adjoint, which in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if turned and adjoint:
            raise ValueError(f"Only one of transpose_{which} and adjoint_{which} can be True.")
    with same_graph(a, b):
        x, y = ragged_or_tensor(a), ragged_or_tensor(b)
        if x.dtype != y.dtype:
            raise ValueError("`a` and `b` must have the same dtype.")
        ranks = {x.shape.rank, y.shape.rank} - {None}
        if not ranks:
            raise ValueError(
                "matmul requires at least one input to have known rank if either input is ragged."
            )
        rank = ranks.pop()
        if ranks or rank is None or rank < 2:
            raise ValueError("`a` and `b` must have the same rank.")

        def product(one: TfTensor, two: TfTensor) -> TfTensor:
            return m.matmul(
                one, two, transpose_a, transpose_b, adjoint_a, adjoint_b,
                output_type=output_type, name=name,
            )  # fmt: skip

        turns = transpose_a or adjoint_a, transpose_b or adjoint_b
        return _multiplied(x, y, rank, turns, product)


def _multiplied(
    x: Ragged, y: Ragged, rank: int, turns: tuple[bool, bool], product: Product
) -> Ragged:
    """Return products of the matrices of two values of some rank."""
    if isinstance(x, TfTensor) and isinstance(y, TfTensor):
        return product(x, y)
    if rank == 2:
        return product(_full(x), _full(y))
    if rank == 3:
        return _each(x, y, turns, product)
    one, two = with_levels(x, 1), with_levels(y, 1)
    assert isinstance(one, RaggedTensor), "it has a level"
    assert isinstance(two, RaggedTensor), "it has a level"
    splits = agreed(one.row_splits, two.row_splits, BATCHES)
    inner = _multiplied(one.values, two.values, rank - 1, turns, product)
    return assembled(inner, [splits], [one.row_partition.static_uniform_row_length])


def _full(x: Ragged) -> TfTensor:
    """Return rows of one length as a matrix, or raise."""
    if isinstance(x, TfTensor):
        return x

    def compute(*arrays: Array) -> Sequence[Array]:
        counts = rows_read(arrays, 1).counts
        if (counts != counts[:1]).any():
            raise InvalidArgumentError(RAGGED)
        return (np.array([len(counts), counts[0] if len(counts) else 0], np.int64),)

    sizes = computed("SizesOfMatrix", compute, read_of(x), [unknown(kinds.i64, 2)])[0]
    return shapes.reshape(x.flat_values, sizes)


def _each(x: Ragged, y: Ragged, turns: tuple[bool, bool], product: Product) -> Ragged:
    """Return the product of each pair of matrices, cut to its sizes."""
    mine, theirs = (v.shape._dims or (None,) * 3 for v in (x, y))
    read = [part for each in (x, y) for part in _read(each)]

    def compute(*arrays: Array) -> Sequence[Array]:
        half = len(arrays) // 2
        one = _sizes(rows_read(arrays[:half], 2), turned=turns[0])
        two = _sizes(rows_read(arrays[half:], 2), turned=turns[1])
        if len(one) != len(two):
            raise InvalidArgumentError(BATCHES)
        inside, below = one[:, 1], two[:, 0]
        wrong = (inside != below) & (inside >= 0) & (below >= 0)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidArgumentError(
                f"Matrix size-incompatible: In[0]: {one[at].tolist()}, In[1]: {two[at].tolist()}"
            )
        tall, wide = np.maximum(one[:, 0], 0), np.maximum(two[:, 1], 0)
        return tall, np.repeat(wide, tall)

    specs = [unknown(kinds.i64, mine[0]), unknown(kinds.i64, None)]
    heights, widths = computed("SizesOfMatrices", compute, read, specs)
    filled = product(*(to_tensor(v) if isinstance(v, RaggedTensor) else v for v in (x, y)))
    if theirs[1 if turns[1] else 2] is None:
        return from_tensor(filled, lengths=[heights, widths])
    if mine[2 if turns[0] else 1] is None:
        return from_tensor(filled, lengths=heights)
    return filled


def _read(x: Ragged) -> list[TfTensor]:
    """Return what the host reads of matrices: they are cut at two levels."""
    found = with_levels(x, 2)
    assert isinstance(found, RaggedTensor), "it has levels"
    return read_of(found)


def _sizes(rows: Rows, *, turned: bool) -> Array:
    """Return height and width of each matrix, -1 for the width of one without rows."""
    heights, widths = rows.counts, rows.below.counts
    first = np.full(len(rows), -1, np.int64)
    some = heights > 0
    first[some] = widths[rows.splits[0][:-1][some]]
    if (widths != np.repeat(first, heights)).any():
        raise InvalidArgumentError(RAGGED)
    return np.stack([first, heights] if turned else [heights, first], axis=1)
