"""Operations that work on each element by itself: the arithmetic ones."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose import complex as whole
from ..facts import Scaling
from ..families import (
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBER,
    REAL,
    Binary,
    Unary,
    binary_samples,
    unary_samples,
)
from ..op import REGISTRY, Array, Call, register
from ..scalar_math import NumpyMath, Term
from ..types import numerics
from ..types.dtypes import PARTS, c64, c128
from ..types.tensor import TensorSpec


@register
class Add(Binary):
    """The sum of two tensors; integers wrap."""

    name = "gv.add"
    PARTWISE: ClassVar = True
    UNSIGNED: ClassVar = True
    NODE: ClassVar = "AddV2"
    SCALES: ClassVar = Scaling.ALL
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "Add"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.add
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS, c64, c128)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give both operands the gradient itself."""
        return (grad, grad)


@register
class Sub(Binary):
    """The difference of two tensors; integers wrap."""

    name = "gv.sub"
    PARTWISE: ClassVar = True
    SCALES: ClassVar = Scaling.ALL
    ONNX: ClassVar = "Sub"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.subtract
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS, c64, c128)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give the second operand the gradient's opposite."""
        return (grad, -grad)


@register
class Mul(Binary):
    """The product of two tensors, element by element; integers wrap."""

    name = "gv.mul"
    COMPLEX: ClassVar = operator.mul
    COMPLEX_FUNCTION: ClassVar = numerics.complex_multiply
    UNSIGNED: ClassVar = True
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "Mul"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.multiply
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS, c64, c128)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give each operand the gradient times the other operand."""
        return (grad * b, grad * a)


def _divide(a: Array, b: Array) -> Array:
    return (numerics.truncated_divide if a.dtype.kind in "iu" else numerics.divide)(a, b)


@register
class Div(Binary):
    """The quotient of two tensors; of integers, rounded towards zero, and 0 where divided by 0."""

    name = "gv.div"
    COMPLEX: ClassVar = operator.truediv
    COMPLEX_FUNCTION: ClassVar = numerics.complex_divide
    UNSIGNED: ClassVar = True
    COMPILED_ALONE: ClassVar = True
    COMPILED_KINDS: ClassVar = "iu"
    NODE: ClassVar = "RealDiv"
    ONNX: ClassVar = "Div"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = _divide
    SAMPLES: ClassVar = (
        *binary_samples(*FLOATS, c64, low=0.5, high=2.0),
        *binary_samples(*INTEGERS, low=-9, high=9),
    )

    @classmethod
    def formula(cls, a: Term, b: Term) -> Term:
        """Divide by the rule of the element type."""
        return a.apply("truncated_divide", b) if a.dtype.is_integer else a / b

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """1 / b, and -a / (b * b)."""
        return (grad / b, -(grad * y) / b)


@register
class FloorDivide(Binary):
    """The quotient of two tensors rounded down; 0 where an integer is divided by 0."""

    name = "gv.floor_divide"
    COMPILED_ALONE: ClassVar = True
    KINDS: ClassVar = REAL
    FUNCTION: ClassVar = numerics.floor_divide
    SAMPLES: ClassVar = (
        *binary_samples(*FLOATS, low=0.3, high=9.0),
        *binary_samples(*INTEGERS, low=-9, high=9),
    )


@register
class Mod(Binary):
    """The remainder with the sign of the divisor; 0 where an integer is divided by 0."""

    name = "gv.mod"
    COMPILED_ALONE: ClassVar = True
    COMPILED_KINDS: ClassVar = "iu"
    KINDS: ClassVar = REAL
    FUNCTION: ClassVar = numerics.floor_remainder
    SAMPLES: ClassVar = FloorDivide.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Differentiate a - b * floor(a / b) between its jumps."""
        return (grad, -grad * (a / b).apply("floor"))


@register
class Fmod(Binary):
    """The remainder with the sign of the dividend; 0 where an integer is divided by 0."""

    name = "gv.fmod"
    COMPILED_ALONE: ClassVar = True
    KINDS: ClassVar = REAL
    FUNCTION: ClassVar = numerics.truncated_remainder
    SAMPLES: ClassVar = FloorDivide.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Differentiate a - b * trunc(a / b) between its jumps."""
        return (grad, -grad * (a / b).apply("trunc"))


def _power(a: Array, b: Array) -> Array:
    """Return powers; of integers by multiplying, 0 or a sign for negative exponents."""
    if a.dtype.kind not in "iu":
        # one exponent for all would give roots: NaN of -inf
        whole = [x.copy() for x in np.broadcast_arrays(a[..., None], b[..., None])]
        made: Array = np.power(*whole)[..., 0]
        return made
    positive = np.power(a, np.where(b < 0, a.dtype.type(0), b))
    sign = np.where(np.asarray(b & 1) != 0, a, a * a)
    inverse = np.where(np.abs(a) == 1, sign, a.dtype.type(0))
    return np.where(b < 0, inverse, positive)


def _root(x: Term) -> Term:
    """Return the power 1/2, of -0 and -inf too."""
    return x.equals(-np.inf).where(np.inf, x.apply("sqrt") + 0.0)


POWERS: dict[float, Callable[[Term], Term]] = {
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    0.5: _root,
    -0.5: lambda x: 1.0 / _root(x),
    -1.0: lambda x: 1.0 / x,
}
"""The exponents for which a power of floats is some arithmetic, to the last bit."""


def _powers(a: Term, b: Term) -> Term:
    """Return powers of floats: of each of `POWERS` by one root and one division for all of them."""
    size = b.apply("abs")
    one = size.equals(0.5).where(_root(a), a)
    several = size.equals(3.0).where(a * a * a, size.equals(2.0).where(a * a, one))
    known = (b < 0.0).where(1.0 / several, several)
    is_known = b.equals(2.0) | b.equals(3.0) | size.equals(1.0) | size.equals(0.5)
    return is_known.where(known, a.apply("pow", b))


@register
class Pow(Binary):
    """One tensor to the power of another.

    Integers wrap; a negative exponent gives the reciprocal rounded towards zero, of 0 gives 0.
    """

    name = "gv.pow"
    COMPLEX: ClassVar = whole.power
    COMPILED_ALONE: ClassVar = True
    COMPILED_KINDS: ClassVar = "iu"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = _power
    NEAR: ClassVar = True
    SAMPLES: ClassVar = (
        *binary_samples(*FLOATS, low=0.3, high=2.0),
        *binary_samples(*INTEGERS, low=-4, high=9),
    )

    @classmethod
    def formula(cls, a: Term, b: Term) -> Term:
        """Take the machine's power of floats, or arithmetic; square and multiply integers."""
        if not a.dtype.is_integer:
            return _powers(a, b)
        power, square, bits = b.like(1), a, b
        for _ in range(a.dtype.bits):
            power = bits.apply("bitwise_and", 1).differs(0).where(power * square, power)
            square, bits = square * square, bits.apply("shift_right", 1)
        if a.dtype.kind == "u":
            return power
        sign = b.apply("bitwise_and", 1).differs(0).where(a, 1)
        inverse = (a.equals(1) | a.equals(-1)).where(sign, 0)
        return (b < 0).where(inverse, power)

    @classmethod
    def polynomial(cls, math: Any, a: Any, b: Any) -> Any:
        """Return the power of polynomials, by which the formula cannot choose."""
        return math.pow(a, b)

    @classmethod
    def nearest(cls, *operands: Array) -> Array | None:
        """Return the arithmetic that the power is, where the exponent is one such number."""
        a, b = operands
        power = POWERS.get(float(b)) if b.ndim == 0 else None
        if power is None:
            return None
        with np.errstate(all="ignore"):
            return np.array(power(Term(NumpyMath(), a)).value, a.dtype)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Multiply by b * a**(b - 1), and by y * log(a) where a has one."""
        has_one = a.differs(0) if a.dtype.kind == "c" else a > 0
        log = has_one.where(has_one.where(a, 1.0).apply("log"), 0.0)
        slope = b.equals(0).where(0.0, b * a.apply("pow", b - 1.0))
        return (grad * slope, grad * y * log)


@register
class Minimum(Binary):
    """The smaller of two tensors, element by element; NaN where either is NaN."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.minimum"
    IDEMPOTENT: ClassVar = True
    SCALES: ClassVar = Scaling.POSITIVE
    COMMUTATIVE: ClassVar = True
    KINDS: ClassVar = REAL
    FUNCTION: ClassVar = numerics.smaller
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give the gradient to the operand that is taken, the first of equal ones."""
        return ((a <= b).where(grad, 0.0), (a <= b).where(0.0, grad))


@register
class Maximum(Binary):
    """The larger of two tensors, element by element; NaN where either is NaN."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.maximum"
    IDEMPOTENT: ClassVar = True
    SCALES: ClassVar = Scaling.POSITIVE
    COMMUTATIVE: ClassVar = True
    KINDS: ClassVar = REAL
    FUNCTION: ClassVar = numerics.larger
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give the gradient to the operand that is taken, the first of equal ones."""
        return ((a >= b).where(grad, 0.0), (a >= b).where(0.0, grad))


@register
class Neg(Unary):
    """The opposite of each element; integers wrap."""

    name = "gv.neg"
    PARTWISE: ClassVar = True
    SCALES: ClassVar = Scaling.ALL
    INVOLUTION: ClassVar = True
    ONNX: ClassVar = "Neg"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.negative
    SAMPLES: ClassVar = unary_samples(*FLOATS, *INTEGERS, c64)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Take the opposite."""
        return (-grad,)


@register
class Abs(Unary):
    """The absolute value; the lowest integer is its own."""

    name = "gv.abs"
    COMPLEX: ClassVar = whole.absolute
    COMPLEX_FUNCTION: ClassVar = numerics.complex_absolute
    SCALES: ClassVar = Scaling.POSITIVE
    IDEMPOTENT: ClassVar = True
    ONNX: ClassVar = "Abs"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.absolute
    SAMPLES: ClassVar = unary_samples(*FLOATS, *INTEGERS)

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec; of complex numbers, real ones."""
        (made,) = super().infer(x)
        return (made.with_dtype(PARTS.get(x.dtype, x.dtype)),)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by the sign."""
        return (grad * x.emitted("sign"),)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Go along each complex number's own direction; 0 has none."""
        if call.specs[0].dtype.kind != "c":
            return super().gradient(call, *grads)
        wide = call.emit(REGISTRY["gv.cast"], grads[0], dtype=call.specs[0].dtype)
        return (call.emit(Mul, wide, call.emit(Sign, call.operands[0])),)


@register
class Sign(Unary):
    """-1, 0 or 1; NaN of NaN."""

    name = "gv.sign"
    COMPLEX: ClassVar = whole.sign
    COMPILED_ALONE: ClassVar = True
    IDEMPOTENT: ClassVar = True
    ONNX: ClassVar = "Sign"
    KINDS: ClassVar = NUMBER
    FUNCTION: ClassVar = np.sign
    SAMPLES: ClassVar = unary_samples(*FLOATS, *INTEGERS)

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Compare with 0."""
        positive = (x > 0).where(1, x - x)  # 0 of -0 too, and NaN of NaN
        return positive if x.dtype.kind == "u" else (x < 0).where(-1, positive)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return zeros: beside 0 nothing changes."""
        spec = call.specs[0]
        if spec.dtype.kind not in "fc":
            return (None,)
        zero = call.emit(REGISTRY["gv.constant"], value=np.zeros((), spec.dtype.numpy))
        return (call.emit(REGISTRY["gv.mul"], grads[0], zero),)


@register
class Reciprocal(Unary):
    """One over each element."""

    name = "gv.reciprocal"
    COMPLEX: ClassVar = whole.reciprocal
    KINDS: ClassVar = INEXACT
    COMPILED_ALONE: ClassVar = True
    NEAR: ClassVar = False
    ONNX: ClassVar = "Reciprocal"
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=0.5, high=4.0)

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Divide."""
        return 1.0 / x

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """-1 / (x * x); 0 where nothing comes back, whatever x is."""
        return (grad.asked_for(-y * y),)
