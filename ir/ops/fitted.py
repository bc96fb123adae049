"""Tensors of which more is said of the sizes than their types know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..compose.maker import Maker
from ..demands import at_most, same
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


@register
class Meant(Op):
    """The tensor itself, in runs that a program is meant for: those with one size at most another.

    The further operands have shapes that tell the sizes.
    """

    name = "gv.meant"
    SAMPLES: ClassVar = (Sample(((2, 3), (4,)), {"small": 3, "large": 4, "text": "3 over 4"}),)

    @classmethod
    def infer(
        cls, x: TensorSpec, *told: TensorSpec, small: Dim, large: Dim, text: str
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec; the sizes are demanded of the run."""
        at_most(small, large, text)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *told: Array, small: int, large: int, text: str) -> Sequence[Array]:
        """Return the operand, or raise `ValueError` where the program is not meant for the run."""
        if small > large:
            raise ValueError(text)
        return (x,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Return the operand."""
        return call.operands[0]

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Pass the gradient on."""
        return (grads[0], *(None for _ in call.operands[1:]))
