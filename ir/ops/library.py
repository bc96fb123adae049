"""What a library of others computes: one more kernel of an operation, to be chosen by name."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from ..facts import KernelForm, Work
from ..op import Array, Op, register
from ..types.dtypes import f32, f64
from ..types.tensor import TensorSpec
from .matrix import Matmul


@register
class MatmulLibrary(Op):
    """The products of matrices by a function of a library, such as `cblas_sgemm`.

    It is `gv.matmul` of f32 or f64. The order of the sums, and the threads, are the library's.
    """

    name = "gv.matmul_library"
    KERNEL: ClassVar = KernelForm("library")

    @classmethod
    def infer(
        cls,
        lhs: TensorSpec,
        rhs: TensorSpec,
        *,
        function: str,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return rows of the left and columns of the right operand."""
        if lhs.dtype not in (f32, f64):
            raise TypeError(f"element type {lhs.dtype}, expected f32 or f64")
        if not function.isidentifier():
            raise TypeError(f"function {function!r}, expected an identifier of C")
        return Matmul.infer(lhs, rhs, transpose_lhs=transpose_lhs, transpose_rhs=transpose_rhs)

    @classmethod
    def evaluate(
        cls, lhs: Array, rhs: Array, *, function: str, transpose_lhs: bool, transpose_rhs: bool
    ) -> Sequence[Array]:
        """Multiply."""
        return Matmul.evaluate(lhs, rhs, transpose_lhs=transpose_lhs, transpose_rhs=transpose_rhs)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the depth for each element of the result."""
        depth = operands[0].static_shape[-2 if attributes["transpose_lhs"] else -1]
        return Work.products(prod(results[0].static_shape) * depth)


__all__ = ["MatmulLibrary"]
