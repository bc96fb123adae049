"""Products of groups of rows with a matrix each: how many rows a group has is data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...compose.maker import Maker
from ...facts import KernelForm
from ...op import Array, Call, Op, register
from ...samples import Sample
from ...types.dtypes import bf16, f16, f32, i32, i64
from ...types.shapes import UnequalError
from ...types.tensor import TensorSpec
from ..matrix import Matmul

COUNTS = (None, None, (-2.0, 9.0))
COUNTED: dict[str, Any] = {"operand_dtypes": (None, None, i64), "ranges": COUNTS}


@register
class MatmulGrouped(Op):
    """The products of groups of rows of [M, K] with a matrix of [G, K, N] each, as [M, N].

    `sizes` [G] says how many rows each group has, one group behind the other. Less than none is
    none, and there are no more than are left; rows behind the last group give zero.
    """

    name = "gv.matmul_grouped"
    CONTRACTS: ClassVar = True
    KERNEL: ClassVar = KernelForm("contract", needs=lambda can: can.group_products)
    SAMPLES: ClassVar = (
        Sample(((20, 8), (3, 8, 12), (3,)), {}, (f32, f16, bf16), **COUNTED),
        Sample(((9, 5), (2, 5, 3), (2,)), operand_dtypes=(None, None, i32), ranges=COUNTS),
        Sample(((4, 6), (1, 6, 2), (1,)), **COUNTED),
    )

    @classmethod
    def infer(cls, x: TensorSpec, weights: TensorSpec, sizes: TensorSpec) -> Sequence[TensorSpec]:
        """Return the rows of the left, and the columns of the right operand."""
        if x.dtype != weights.dtype or not x.dtype.is_float:
            raise TypeError(f"element types {x.dtype} and {weights.dtype}, expected one of floats")
        if sizes.dtype not in (i32, i64):
            raise TypeError(f"sizes of type {sizes.dtype}, expected i32 or i64")
        for each, rank in ((x, 2), (weights, 3), (sizes, 1)):
            if each.rank != rank:
                raise TypeError(f"operand {each}, expected {rank} axes")
        pairs = (
            ("depths", x.dims[1], weights.dims[1]), ("groups", weights.dims[0], sizes.dims[0]),
        )  # fmt: skip
        for what, one, other in pairs:
            if one != other:
                raise UnequalError(f"{what} differ: {one} and {other}", one, other)
        return (x.with_shape((x.dims[0], weights.dims[2])),)

    @classmethod
    def evaluate(cls, x: Array, weights: Array, sizes: Array) -> Sequence[Array]:
        """Multiply group after group."""
        made = np.zeros((x.shape[0], weights.shape[2]), x.dtype)
        start = 0
        for matrix, size in zip(weights, sizes.tolist(), strict=True):
            rows = slice(start, start + max(size, 0))
            (made[rows],) = Matmul.evaluate(
                x[rows], matrix, transpose_lhs=False, transpose_rhs=False
            )
            start = min(rows.stop, x.shape[0])
        return (made,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Multiply all rows with each matrix, and take those of its group."""
        make, (x, weights, sizes) = Maker(call.emit), call.operands
        (rows, depth), groups = call.specs[0].dims, call.specs[1].dims[0]
        zero = make.number(0, i64)
        sizes = make.maximum(make.to(sizes, i64), zero)
        ends = make.reshape(make.cumsum(sizes, axis=0), shape=(groups, 1, 1))
        starts = make.sub(ends, make.reshape(sizes, shape=(groups, 1, 1)))
        row = make.iota(shape=(1, rows, 1), axis=1, dtype=i64)
        mine = make.logical_and(make.greater_equal(row, starts), make.less(row, ends))
        every = make.matmul(make.reshape(x, shape=(1, rows, depth)), weights)
        dtype = call.result_specs[0].dtype
        return make.sum(make.select(mine, every, make.number(0, dtype)), axes=(0,))
