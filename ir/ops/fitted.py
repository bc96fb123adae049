"""Tensors of which more is said of the sizes than their types know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..compose.maker import Maker
from ..demands import same
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dims import Dim
from ..types.tensor import TensorSpec
from .layout import MOVED


@register
class Fitted(Op):
    """The tensor itself, whose shape must turn out to be this one."""

    name = "gv.fitted"
    PARTWISE: ClassVar = True
    SAMPLES: ClassVar = (Sample(((2, 3),), {"shape": (2, 3)}, MOVED),)

    @classmethod
    def infer(cls, x: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return the shape; what may differ from it is demanded of the run."""
        if len(shape) != x.rank:
            raise TypeError(f"rank {x.rank}, expected {len(shape)}")
        for axis, (found, wanted) in enumerate(zip(x.dims, shape, strict=True)):
            same(found, wanted, f"{found} elements along axis {axis}, expected {wanted}")
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(cls, x: Array, *, shape: tuple[int, ...]) -> Sequence[Array]:
        """Return the operand, or raise `ValueError` where it has another shape."""
        if x.shape != shape:
            raise ValueError(f"shape {x.shape}, expected {shape}")
        return (x,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take what the shape says, which is all."""
        shape = call.attributes["shape"]
        rank = len(shape)
        return Maker(call.emit).slice(
            call.operands[0], starts=(0,) * rank, stops=shape, steps=(1,) * rank
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the gradient the operand's sizes."""
        return (call.emit(Fitted, grads[0], shape=call.specs[0].dims),)
