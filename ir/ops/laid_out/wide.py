"""Products whose sums have more bits than what is multiplied: what tensor cores compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm
from ...iteration import Iteration
from ...op import REGISTRY, Array, Op, register
from ...samples import Sample
from ...types.dtypes import DType, bf16, f16, f32, i8, i32, u8
from ...types.tensor import TensorSpec, spec_of_array
from ..matrix import Matmul

SUMS: dict[tuple[DType, DType], DType] = {
    **{(kind, kind): f32 for kind in (f16, bf16, f32)},
    **{(a, b): i32 for a in (i8, u8) for b in (i8, u8)},
}
"""The type of the sums, by the types of both operands."""
CUT = -1 << 13
"""The bits of an f32 that are left in tf32: sign, exponent, 10 of the fraction."""


@register
class MatmulWide(Op):
    """The products of matrices with wider sums: f16 and bf16 give f32, i8 and u8 give i32.

    Of f32 the last 13 bits of the fraction do not count (tf32), and the sums are f32.
    """

    name = "gv.matmul_wide"
    CONTRACTS: ClassVar = True
    KERNEL: ClassVar = KernelForm("contract", strides=2, converts=True)
    SAMPLES: ClassVar = (
        Sample(((3, 16), (16, 8)), {}, (f16, bf16, i8, u8)),
        Sample(((9, 40), (24, 40)), {"transpose_rhs": True}, (f16, bf16, f32, i8, u8)),
        Sample(((40, 10), (40, 24)), {"transpose_lhs": True}, (bf16, f32, i8)),
        Sample(((2, 17, 33), (2, 33, 9)), {}, (bf16, f32, u8)),
    )

    @classmethod
    def infer(
        cls,
        lhs: TensorSpec,
        rhs: TensorSpec,
        *,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return rows of the left and columns of the right operand."""
        wide = SUMS.get((lhs.dtype, rhs.dtype))
        if wide is None:
            raise TypeError(f"there are no wide sums of {lhs.dtype} by {rhs.dtype}")
        flags = {"transpose_lhs": transpose_lhs, "transpose_rhs": transpose_rhs}
        (made,) = Matmul.infer(lhs, rhs.with_dtype(lhs.dtype), **flags)
        return (made.with_dtype(wide),)

    @classmethod
    def evaluate(
        cls, lhs: Array, rhs: Array, *, transpose_lhs: bool, transpose_rhs: bool
    ) -> Sequence[Array]:
        """Multiply what is left of the operands, in the type of the sums."""
        wide = SUMS[spec_of_array(lhs).dtype, spec_of_array(rhs).dtype]
        operands = [
            cut(array) if array.dtype == np.float32 else to(array, wide) for array in (lhs, rhs)
        ]
        return Matmul.evaluate(*operands, transpose_lhs=transpose_lhs, transpose_rhs=transpose_rhs)

    @classmethod
    def iteration(
        cls, lhs: TensorSpec, rhs: TensorSpec, *, transpose_lhs: bool, transpose_rhs: bool
    ) -> Iteration:
        """Loop as over the product of one type."""
        wide = SUMS[lhs.dtype, rhs.dtype]
        like = rhs.with_dtype(lhs.dtype)
        made = Matmul.iteration(lhs, like, transpose_lhs=transpose_lhs, transpose_rhs=transpose_rhs)

        def body(math: Any, a: Any, b: Any) -> Any:
            if lhs.dtype is f32:
                return math.mul(cut_element(math, a), cut_element(math, b))
            return math.mul(math.cast(a, wide), math.cast(b, wide))

        return replace(made, body=body)


def to(array: Array, dtype: DType) -> Array:
    """Return an array in another type."""
    made: Array = REGISTRY["gv.cast"].evaluate(array, dtype=dtype)[0]
    return made


def cut(array: Array) -> Array:
    """Return what tf32 keeps of an array of f32."""
    bits: Array = np.ascontiguousarray(array).view(np.int32) & np.int32(CUT)
    return bits.view(np.float32)


def cut_element(math: Any, x: Any) -> Any:
    """Return what tf32 keeps of an element."""
    return math.bitcast(math.bitwise_and(math.bitcast(x, i32), math.constant(CUT, i32)), f32)
