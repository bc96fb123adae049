"""Conversions between element types, and rounding to whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from .. import numerics
from ..dtypes import DTYPES, DType, bf16, bool_, c64, f16, f32, f64, i8, i32, i64, u8, u64
from ..op import Array, Call, register
from ..samples import Sample
from ..scalar_math import Term
from ..tensor import TensorSpec
from .families import FLOATS, Elementwise, Unary, unary_samples

_REAL = tuple(dtype for dtype in DTYPES.values() if dtype.kind != "c")


@register
class Cast(Elementwise):
    """Each element in another type.

    A float becomes an integer by truncation, clamped to the integer's range, NaN becoming 0;
    an integer becomes a narrower one by dropping the upper bits; bool is whether it is not 0.
    """

    name = "gv.cast"
    SAMPLES: ClassVar = (
        *(
            Sample(((2, 9),), {"dtype": to}, _REAL, low=-300, high=300, differentiable=to == f64)
            for to in (f64, f32, i8, i64, u8, bool_)
        ),
        *(
            Sample(((3,),), {"dtype": to}, (*FLOATS, i32, bool_), differentiable=False)
            for to in (f16, bf16, i32, u64, c64)
        ),
        Sample(((),), {"dtype": i32}),
        Sample(((0, 3),), {"dtype": i32}),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, dtype: DType) -> Sequence[TensorSpec]:
        """Return the operand's shape with the new element type."""
        if x.dtype.kind == "c" and dtype.kind not in "bc":
            raise TypeError(f"element type {x.dtype} does not become {dtype}")
        return (x.with_dtype(dtype),)

    @classmethod
    def formula(cls, x: Term, *, dtype: DType) -> Term:
        """Convert."""
        return x.cast(dtype)

    @classmethod
    def evaluate(cls, x: Array, *, dtype: DType) -> Sequence[Array]:
        """Convert."""
        return (numerics.saturate(x, dtype),)

    @classmethod
    def gradient(cls, call: Call, *grads: object) -> Sequence[object]:
        """Convert back, between floats."""
        source = call.specs[0].dtype
        if not (source.is_float and call.attributes["dtype"].is_float):
            return (None,)
        return (call.emit(Cast, grads[0], dtype=source),)


class Rounding(Unary):
    """A float rounded to a whole number; its slope is 0 wherever it has one."""

    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-9.0, high=9.0)


@register
class Floor(Rounding):
    """The next whole number below."""

    name = "gv.floor"
    ONNX: ClassVar = "Floor"
    FUNCTION: ClassVar = np.floor


@register
class Ceil(Rounding):
    """The next whole number above."""

    name = "gv.ceil"
    ONNX: ClassVar = "Ceil"
    FUNCTION: ClassVar = np.ceil


@register
class Round(Rounding):
    """The nearest whole number, the even one of two."""

    name = "gv.round"
    ONNX: ClassVar = "Round"
    FUNCTION: ClassVar = np.rint


@register
class Trunc(Rounding):
    """The next whole number towards zero."""

    name = "gv.trunc"
    FUNCTION: ClassVar = np.trunc
