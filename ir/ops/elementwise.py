"""Operations that work on each element by itself: the arithmetic ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..op import Array, Call, Op, register
from ..samples import Sample
from ..shapes import broadcast
from ..tensor import TensorSpec


class Binary(Op):
    """An element-wise operation on two tensors of one element type whose shapes broadcast."""

    @classmethod
    def infer(cls, lhs: TensorSpec, rhs: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape; the element types must agree."""
        if lhs.dtype != rhs.dtype:
            raise TypeError(f"element types differ: {lhs.dtype} and {rhs.dtype}")
        return (TensorSpec(lhs.dtype, broadcast(lhs.dims, rhs.dims)),)


class Unary(Op):
    """An element-wise operation on one tensor."""

    @classmethod
    def infer(cls, source: TensorSpec) -> Sequence[TensorSpec]:
        """Return the source's spec."""
        return (source,)


@register
class Add(Binary):
    """The sum of two tensors."""

    name = "gv.add"
    ONNX: ClassVar = "Add"
    SAMPLES: ClassVar = (Sample(((2, 3), (3,))), Sample(((), (4, 1))), Sample(((0, 2), (1, 2))))

    @classmethod
    def evaluate(cls, lhs: Array, rhs: Array) -> Sequence[Array]:
        """Add."""
        return (np.add(lhs, rhs),)

    @classmethod
    def scalar(cls, math: Any, lhs: Any, rhs: Any) -> Any:
        """Add."""
        return math.add(lhs, rhs)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Both operands get the gradient itself, summed over what was broadcast."""
        return (grads[0], grads[0])
