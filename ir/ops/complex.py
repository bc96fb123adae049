"""Complex numbers and their parts.

Compiled code has real numbers only: before anything else is done, `passes/split_complex.py` takes
complex tensors apart, and what others give or get is memory in which the parts of each number lie
side by side: pairs (`gv.pairs`, `gv.of_pairs`), or where both have room in a word, these, which
vectors of both parts are made of at once (`gv.words`, `gv.of_words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose.complex import Complex
from ..compose.maker import Maker
from ..facts import Work
from ..families import (
    expect_same,
    shape_of,
    spec_of_value,
    unbroadcast,
)
from ..op import REGISTRY, Array, Call, EagerEmit, Op, register
from ..samples import Sample
from ..types.dtypes import PARTS, WHOLE, DType, c64, c128, f32, f64, i64
from ..types.tensor import TensorSpec, spec_of_array

FROM_COMPLEX = tuple(Sample(shape, {}, (c64, c128)) for shape in (((2, 9),), ((),), ((0, 3),)))


def _part_of(x: TensorSpec) -> DType:
    """Return the type of the parts of a tensor's elements, or raise `TypeError`."""
    if x.dtype not in PARTS:
        raise TypeError(f"element type {x.dtype}, expected complex numbers")
    return PARTS[x.dtype]


class OnePart(Op):
    """One part of each complex number."""

    SAMPLES: ClassVar = FROM_COMPLEX

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape, of real numbers."""
        return (x.with_dtype(_part_of(x)),)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count nothing: parts are read, or taken to have the other sign."""
        return Work(flops=0)


@register
class Real(OnePart):
    """The real parts of complex numbers."""

    name = "gv.real"

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Return a view."""
        return (np.asarray(x.real),)

    @classmethod
    def by_parts(cls, make: Maker, x: Complex) -> Any:
        """Return the part."""
        return x.real

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give a number without an imaginary part."""
        return (call.emit(ToComplex, grads[0], _zero(call, call.specs[0])),)


@register
class Imag(OnePart):
    """The imaginary parts of complex numbers."""

    name = "gv.imag"

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Return a view."""
        return (np.asarray(x.imag),)

    @classmethod
    def by_parts(cls, make: Maker, x: Complex) -> Any:
        """Return the part."""
        return x.imag

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give a number without a real part."""
        return (call.emit(ToComplex, _zero(call, call.specs[0]), grads[0]),)


def _zero(call: Call, spec: TensorSpec) -> Any:
    return call.emit(REGISTRY["gv.constant"], value=np.zeros((), PARTS[spec.dtype].numpy))


@register
class ToComplex(Op):
    """Complex numbers of their real and imaginary parts."""

    name = "gv.complex"
    SAMPLES: ClassVar = (
        Sample(((2, 9), (2, 9)), {}, (f32, f64), differentiable=False),
        Sample(((3, 1), (4,)), {}, (f32,), differentiable=False),
        Sample(((), (0, 2)), {}, (f32,), differentiable=False),
    )

    @classmethod
    def infer(cls, real: TensorSpec, imag: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape."""
        expect_same(real, imag)
        if real.dtype not in WHOLE:
            raise TypeError(f"parts of {real.dtype}, expected f32 or f64")
        return (TensorSpec(WHOLE[real.dtype], shape_of(real, imag)),)

    work = OnePart.work

    @classmethod
    def evaluate(cls, real: Array, imag: Array) -> Sequence[Array]:
        """Put the parts side by side."""
        shape = np.broadcast_shapes(real.shape, imag.shape)
        made = np.empty(shape, np.complex64 if real.dtype == np.float32 else np.complex128)
        made.real, made.imag = real, imag
        return (made,)

    @classmethod
    def by_parts(cls, make: Maker, real: Any, imag: Any) -> Any:
        """Return the parts, of one shape."""
        dims = shape_of(*(spec_of_value(x) for x in (real, imag)))
        assert dims is not None, "compiled code knows ranks"
        both = [x if spec_of_value(x).dims == dims else make.broadcast_to(x, shape=dims)
                for x in (real, imag)]  # fmt: skip
        return Complex(make, *both)

    @classmethod
    def evaluated(cls, op: type[Op], operands: Sequence[Array]) -> Array:
        """Return what an operation makes of complex arrays, by its rule for their parts."""
        make = Maker(EagerEmit())
        made = op.by_parts(make, *(Complex(make, x.real, x.imag) for x in operands))
        return cls.evaluate(made.real, made.imag)[0]

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each part its own."""
        found = [call.emit(op, grads[0]) for op in (Real, Imag)]
        return [unbroadcast(call, g, spec) for g, spec in zip(found, call.specs, strict=True)]


@register
class Conj(OnePart):
    """The conjugates of complex numbers."""

    name = "gv.conj"
    INVOLUTION: ClassVar = True

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        _part_of(x)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Take the opposite of the imaginary parts."""
        return (np.asarray(np.conj(x)),)

    @classmethod
    def by_parts(cls, make: Maker, x: Complex) -> Any:
        """Take the opposite of the imaginary part."""
        return x.conjugate()

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the conjugate."""
        return (call.emit(Conj, grads[0]),)


class Memory(Op):
    """The operand's memory as another tensor: nothing is computed through it."""

    WORKLESS: ClassVar = True
    IS_VIEW: ClassVar = True

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """View the array."""
        (made,) = cls.infer(spec_of_array(x))
        return (np.ascontiguousarray(x).view(made.dtype.numpy).reshape(made.static_shape),)


@register
class Pairs(Memory):
    """The same memory as pairs of real numbers, along one more axis."""

    name = "gv.pairs"
    SAMPLES: ClassVar = tuple(
        Sample(s.shapes, {}, s.dtypes, differentiable=False) for s in FROM_COMPLEX
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape with an axis of two behind it."""
        return (TensorSpec(_part_of(x), (*x.dims, 2)),)


@register
class OfPairs(Memory):
    """The same memory, pairs of real numbers along the last axis, as complex numbers."""

    name = "gv.of_pairs"
    SAMPLES: ClassVar = tuple(
        Sample(shapes, {}, (f32, f64), differentiable=False)
        for shapes in (((3, 2),), ((2,),), ((0, 3, 2),))
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape without the axis."""
        if x.dtype not in WHOLE or x.dims[-1:] != (2,):
            raise TypeError(f"{x}, expected pairs of f32 or f64")
        return (TensorSpec(WHOLE[x.dtype], x.dims[:-1]),)


@register
class AsWords(Memory):
    """The same memory of complex numbers of two f32 as words, whose lower half is the real part."""

    name = "gv.words"
    SAMPLES: ClassVar = tuple(
        Sample(s.shapes, {}, (c64,), differentiable=False) for s in FROM_COMPLEX
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape, of integers."""
        if x.dtype != c64:
            raise TypeError(f"element type {x.dtype}, expected c64")
        return (x.with_dtype(i64),)


@register
class OfWords(Memory):
    """The same memory, words of two f32, as complex numbers."""

    name = "gv.of_words"
    SAMPLES: ClassVar = tuple(
        Sample(s.shapes, {}, (i64,), differentiable=False) for s in FROM_COMPLEX
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape, of complex numbers."""
        if x.dtype != i64:
            raise TypeError(f"element type {x.dtype}, expected i64")
        return (x.with_dtype(c64),)
