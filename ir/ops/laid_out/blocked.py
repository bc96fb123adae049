"""Products with weights of 4 bits that share a scale by blocks of the depth.

Words of eight numbers stand in panels as the rows of other weights do (see `packed`). The left
operand comes in 16 bits with a scale for each block of a row, so that a block is a sum of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...facts import KernelForm
from ...op import Array, Op, register
from ...samples import Sample
from ...types.dims import Dim, ceil_divide
from ...types.dtypes import f32, i16, i32
from ...types.tensor import TensorSpec
from ...types.words import numbers_of_words
from .packed import unpack

BLOCK = 32
"""Rows of a weight that share a scale."""
WORD = 8
"""Numbers in a word."""
ZERO = 8
"""What stands for 0 among the numbers 0..15."""


@register
class MatmulBlocked(Op):
    """The product of x = levels * factors [..., M, K] and a packed matrix of 4 bits [K, columns].

    levels are i16, words [P, K / 8, tile] i32 of eight numbers, factors [..., M, K / 32] and scales
    [P, K / 32, tile] f32; the matrix is (number - 8) * scale. offsets (i32) is -8 times the sum of
    levels over each block.
    """

    name = "gv.matmul_blocked"
    KERNEL: ClassVar = KernelForm("blocked", strides=1)
    SAMPLES: ClassVar = (
        Sample(
            ((2, 64), (1, 8, 16), (2, 2), (2, 2), (1, 2, 16)), {"columns": 10},
            operand_dtypes=(i16, i32, None, i32, None), differentiable=False,
            ranges=((-100, 100), (-2e9, 2e9), None, None, None),
        ),
    )  # fmt: skip

    @classmethod
    def infer(
        cls, levels: TensorSpec, words: TensorSpec, factors: TensorSpec, offsets: TensorSpec,
        scales: TensorSpec, *, columns: Dim,
    ) -> Sequence[TensorSpec]:  # fmt: skip
        """Return [..., M, columns]."""
        kinds = tuple(s.dtype for s in (levels, words, factors, offsets, scales))
        if kinds != (i16, i32, f32, i32, f32):
            raise TypeError(f"element types {kinds}, expected i16, i32, f32, i32, f32")
        if levels.rank < 2 or words.rank != 3 or scales.rank != 3:
            raise TypeError(f"operands {levels} and {words}, expected [..., M, K] and panels")
        (panels, rows, tile), blocks = words.dims, scales.dims[1]
        if rows * WORD != levels.dims[-1] or blocks * BLOCK != levels.dims[-1]:
            raise TypeError(f"{rows} words and {blocks} blocks for a depth of {levels.dims[-1]}")
        for each in (factors, offsets):
            if each.dims != (*levels.dims[:-1], blocks):
                raise TypeError(f"{each} for {levels}, expected {blocks} blocks of each row")
        if scales.dims != (panels, blocks, tile) or ceil_divide(columns, int(tile)) != panels:  # type: ignore[arg-type]
            raise TypeError(f"scales {scales} of {words} for {columns} columns")
        return (TensorSpec(f32, (*levels.dims[:-1], columns)),)

    @classmethod
    def evaluate(
        cls, levels: Array, words: Array, factors: Array, offsets: Array, scales: Array, *,
        columns: int,
    ) -> Sequence[Array]:  # fmt: skip
        """Sum integers block by block, and scale each sum."""
        numbers = np.moveaxis(numbers_of_words(words), -1, 2)
        panels, rows, _, tile = numbers.shape
        matrix = unpack(numbers.reshape(panels, rows * WORD, tile), columns).astype(np.int32)
        total = np.zeros((*levels.shape[:-1], columns), np.float32)
        for block, scale in enumerate(unpack(scales, columns)):
            part = slice(block * BLOCK, (block + 1) * BLOCK)
            factor, offset = (v[..., block : block + 1] for v in (factors, offsets))
            summed = levels[..., part].astype(np.int32) @ matrix[part] + offset
            total = total + summed.astype(np.float32) * factor * scale
        return (total,)


__all__ = ["BLOCK", "WORD", "ZERO", "MatmulBlocked"]
