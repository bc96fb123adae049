"""Conversions between element types, and rounding to whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose import complex as whole
from ..families import FLOATS, INEXACT, Elementwise, Unary, spec_of_value, unary_samples
from ..op import REGISTRY, Array, Call, register
from ..samples import Sample
from ..scalar_math import NumpyMath, Term
from ..types import numerics
from ..types.dtypes import (
    DTYPES,
    NARROW,
    PARTS,
    DType,
    bf16,
    bool_,
    c64,
    f8e4m3fn,
    f8e5m2,
    f8e8m0,
    f16,
    f32,
    f64,
    i4,
    i8,
    i32,
    i64,
    u8,
    u32,
    u64,
)
from ..types.tensor import TensorSpec

_REAL = tuple(dtype for dtype in DTYPES.values() if dtype.kind not in "cn")


@register
class Cast(Elementwise):
    """Each element in another type.

    A float becomes an integer by truncation, clamped to the integer's range, NaN becoming 0;
    an integer becomes a narrower one by dropping the upper bits; bool is whether it is not 0.
    A number becomes f16 or bf16 through f32: f64 and large integers are rounded twice, as by
    TensorFlow. A narrow integer is converted through i32, a narrow float through f32, but f64 is
    rounded to one once; what is too large for the float becomes NaN or infinity where the type
    has them, else its largest number.
    """

    COMPILED_ALONE: ClassVar = True

    name = "gv.cast"
    UNSIGNED: ClassVar = True
    NEAR: ClassVar = False
    CHEAP: ClassVar = True
    SAMPLES: ClassVar = (
        *(
            Sample(((2, 9),), {"dtype": to}, _REAL, low=-300, high=300, differentiable=to == f64)
            for to in (f64, f32, i8, i64, u8, bool_)
        ),
        *(
            Sample(((3,),), {"dtype": to}, (*FLOATS, i32, bool_), differentiable=False)
            for to in (f16, bf16, i32, u64, c64)
        ),
        *(
            Sample(((2, 9),), {"dtype": to}, (f32,), low=-9, high=9, differentiable=False)
            for to in NARROW
        ),
        Sample(((2, 9),), {"dtype": i4}, (f64, i64, f8e5m2), differentiable=False),
        Sample(((2, 9),), {"dtype": f32}, NARROW, low=0.5, high=9, differentiable=False),
        Sample(((2, 9),), {"dtype": i64}, (i4, f8e4m3fn), low=0.5, differentiable=False),
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
    def by_parts(cls, make: Any, x: Any, *, dtype: DType) -> Any:
        """Convert both parts; of real numbers, those that there are none of are 0."""
        if dtype not in PARTS:
            return make.logical_or(make.to(x.real, bool_), make.to(x.imag, bool_))
        part = PARTS[dtype]
        if isinstance(x, whole.Complex):
            return x.to(part)
        return whole.Complex(make, make.to(x, part), make.filled(0, part, spec_of_value(x).dims))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Convert back, between floats and complex numbers."""
        source, dtype = call.specs[0].dtype, call.attributes["dtype"]
        if source.kind not in INEXACT or dtype.kind not in INEXACT:
            return (None,)
        given = grads[0]
        if dtype.kind == "c" and source.kind != "c":
            given = call.emit(REGISTRY["gv.real"], given)
        return (call.emit(Cast, given, dtype=source),)


@register
class Rounded(Unary):
    """Each element as it is where it is stored: code keeps more digits of floats of 16 bits."""

    name = "gv.rounded"
    NEAR: ClassVar = False
    CHEAP: ClassVar = True
    IDEMPOTENT: ClassVar = True
    FUNCTION: ClassVar = np.positive

    @classmethod
    def scalar(cls, math: Any, *elements: Any, **attributes: Any) -> Any:
        """Round."""
        (x,) = elements
        return math.stored(x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Pass the gradient on."""
        return (grad,)


class Rounding(Unary):
    """A float rounded to a whole number; its slope is 0 wherever it has one."""

    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-9.0, high=9.0)


@register
class Bitcast(Elementwise):
    """The bits of each element as another type of the same width; a bool is a byte, 0 or 1."""

    name = "gv.bitcast"
    NEAR: ClassVar = False
    SAMPLES: ClassVar = (
        Sample(((2, 9),), {"dtype": i32}, (f32, u32), differentiable=False),
        Sample(((3, 5),), {"dtype": f32}, (i32, u32), differentiable=False),
        Sample(((3, 5),), {"dtype": f64}, (i64, u64), differentiable=False),
        Sample(((7,),), {"dtype": u64}, (f64,), differentiable=False),
        Sample(((3, 5),), {"dtype": u8}, (bool_, i8, f8e5m2, f8e8m0), differentiable=False),
        Sample(((3, 5),), {"dtype": f8e5m2}, (u8, f8e8m0), differentiable=False),
        Sample(((3, 5),), {"dtype": bool_}, (u8,), differentiable=False),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, dtype: DType) -> Sequence[TensorSpec]:
        """Return the operand's shape with the new element type."""
        if "c" in x.dtype.kind + dtype.kind:
            raise TypeError(f"the bits of {x.dtype} are not taken as {dtype}")
        if x.dtype.size != dtype.size or _is_part(x.dtype) or _is_part(dtype):
            raise TypeError(f"{x.dtype} and {dtype} differ in width")
        return (x.with_dtype(dtype),)

    @classmethod
    def formula(cls, x: Term, *, dtype: DType) -> Term:
        """Take the bits."""
        return x.bitcast(dtype)

    @classmethod
    def evaluate(cls, x: Array, *, dtype: DType) -> Sequence[Array]:
        """View the array as another type."""
        return (NumpyMath().bitcast(x, dtype),)


def _is_part(dtype: DType) -> bool:
    """Say whether elements are less than the bytes they take."""
    return dtype.kind == "n" and dtype.bits < 8


@register
class Floor(Rounding):
    """The next whole number below."""

    name = "gv.floor"
    IDEMPOTENT: ClassVar = True
    ONNX: ClassVar = "Floor"
    FUNCTION: ClassVar = np.floor


@register
class Ceil(Rounding):
    """The next whole number above."""

    name = "gv.ceil"
    IDEMPOTENT: ClassVar = True
    ONNX: ClassVar = "Ceil"
    FUNCTION: ClassVar = np.ceil


@register
class Round(Rounding):
    """The nearest whole number, the even one of two."""

    name = "gv.round"
    IDEMPOTENT: ClassVar = True
    ONNX: ClassVar = "Round"
    FUNCTION: ClassVar = np.rint


@register
class Trunc(Rounding):
    """The next whole number towards zero."""

    name = "gv.trunc"
    IDEMPOTENT: ClassVar = True
    FUNCTION: ClassVar = np.trunc
