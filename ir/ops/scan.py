"""Scans: each element becomes a combination of those up to it along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..facts import KernelForm, Work
from ..families import FLOATS, INTEGERS, REAL, EmitMath, expect
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dtypes import of_numpy
from ..types.numerics import round_to
from ..types.shapes import normalize_axis
from ..types.tensor import TensorSpec


class Scan(Op):
    """A running combination along an axis.

    `exclusive` leaves each element itself out; `reverse` starts at the end.
    """

    COMBINER: ClassVar[str]
    """`add` or `mul`."""
    FUNCTION: ClassVar[Callable[..., Any]]
    """numpy's running combination."""
    KERNEL: ClassVar = KernelForm("scan")
    ALONG_AXIS: ClassVar = True
    COMPILED_ALONE: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((3, 19),), {"axis": 1}, (*FLOATS, *INTEGERS)),
        Sample(((2, 5, 3),), {"axis": -2, "exclusive": True}, FLOATS),
        Sample(((4, 3),), {"axis": 0, "reverse": True}),
        Sample(((4, 3),), {"axis": 1, "reverse": True, "exclusive": True}),
        Sample(((0, 3),), {"axis": 0}),
        Sample(((2, 0),), {"axis": 1, "exclusive": True}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, *, axis: int, exclusive: bool = False, reverse: bool = False
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        expect(x, REAL)
        if not x.rank:
            raise TypeError(f"axis {axis} is out of range for rank 0")
        normalize_axis(axis, x.rank)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Sequence[Array]:
        """Combine; floats in f64."""
        dtype = of_numpy(x.dtype)
        if not (exclusive or reverse):
            wide = x.astype(np.float64, copy=False) if dtype.is_float else x
            made = cls.FUNCTION(wide, axis=axis, dtype=wide.dtype)
            return (made if made.dtype == x.dtype else round_to(made, dtype),)
        wide = np.moveaxis(x.astype(np.float64) if dtype.is_float else x, axis, -1)
        wide = wide[..., ::-1] if reverse else wide
        made = cls.FUNCTION(wide, axis=-1, dtype=wide.dtype)
        if exclusive:
            first = np.full((*made.shape[:-1], 1), cls.COMBINER == "mul", made.dtype)
            made = np.concatenate([first, made], axis=-1)[..., : made.shape[-1]]
        made = np.ascontiguousarray(np.moveaxis(made[..., ::-1] if reverse else made, -1, axis))
        return (round_to(made, dtype) if dtype.is_float else made,)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Combine once for each element."""
        return Work(flops=prod(results[0].static_shape))


@register
class CumSum(Scan):
    """The sum of the elements up to each; integers wrap."""

    name = "gv.cumsum"
    COMBINER: ClassVar = "add"
    FUNCTION: ClassVar = np.cumsum

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Add up the gradients from each element on."""
        turned = {**call.attributes, "reverse": not call.attributes["reverse"]}
        return (call.emit(CumSum, grads[0], **turned),)


@register
class CumProd(Scan):
    """The product of the elements up to each; integers wrap."""

    name = "gv.cumprod"
    COMBINER: ClassVar = "mul"
    FUNCTION: ClassVar = np.cumprod

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Add up gradient times result from each element on, over the element; 0 of 0."""
        math = EmitMath(call.emit)
        grad, y, x = (Term(math, v) for v in (grads[0], call.results[0], call.operands[0]))
        turned = {**call.attributes, "reverse": not call.attributes["reverse"]}
        total = call.emit(CumSum, (grad * y).value, **turned)
        is_zero = x.equals(0.0)
        found = Term(math, total) / is_zero.where(1.0, x)  # no slope is that of a quotient by 0
        return (is_zero.where(0.0, found).value,)
