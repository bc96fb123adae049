"""Comparisons, logic on bools, and choices between elements."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose import complex as whole
from ..compose.maker import Maker
from ..facts import Scaling
from ..families import (
    ANY,
    BOOL,
    FLOATS,
    INTEGERS,
    REAL,
    Binary,
    Elementwise,
    Unary,
    binary_samples,
    expect,
    expect_same,
    shape_of,
    unary_samples,
    unbroadcast,
)
from ..op import Array, Call, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dtypes import bool_, c64, f64, i8, i32, i64, u8, u64
from ..types.tensor import TensorSpec


class Comparison(Binary):
    """A comparison of two tensors; false where an operand is NaN."""

    KINDS: ClassVar = REAL
    RESULT: ClassVar = bool_
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS, low=-1, high=2)

    PREDICATE: ClassVar[str]
    """The name of the comparison in `ScalarMath.compare`."""

    @classmethod
    def formula(cls, a: Term, b: Term) -> Term:
        """Compare."""
        return a.compare(cls.PREDICATE, b)


@register
class Equal(Comparison):
    """Whether elements are equal."""

    name = "gv.equal"
    COMPLEX: ClassVar = whole.equal
    COMPLEX_FUNCTION: ClassVar = np.equal
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "Equal"
    KINDS: ClassVar = ANY
    FUNCTION: ClassVar = np.equal
    SAMPLES: ClassVar = binary_samples(*FLOATS, *INTEGERS, bool_, c64, low=-1, high=2)
    PREDICATE: ClassVar = "eq"


@register
class NotEqual(Comparison):
    """Whether elements differ; true where an operand is NaN."""

    name = "gv.not_equal"
    COMPLEX: ClassVar = whole.not_equal
    COMPLEX_FUNCTION: ClassVar = np.not_equal
    COMMUTATIVE: ClassVar = True
    KINDS: ClassVar = ANY
    FUNCTION: ClassVar = np.not_equal
    SAMPLES: ClassVar = Equal.SAMPLES
    PREDICATE: ClassVar = "ne"


@register
class Less(Comparison):
    """Whether elements of the first tensor are less."""

    name = "gv.less"
    ONNX: ClassVar = "Less"
    FUNCTION: ClassVar = np.less
    PREDICATE: ClassVar = "lt"


@register
class LessEqual(Comparison):
    """Whether elements of the first tensor are not more."""

    name = "gv.less_equal"
    ONNX: ClassVar = "LessOrEqual"
    FUNCTION: ClassVar = np.less_equal
    PREDICATE: ClassVar = "le"


@register
class Greater(Comparison):
    """Whether elements of the first tensor are more."""

    name = "gv.greater"
    ONNX: ClassVar = "Greater"
    FUNCTION: ClassVar = np.greater
    PREDICATE: ClassVar = "gt"


@register
class GreaterEqual(Comparison):
    """Whether elements of the first tensor are not less."""

    name = "gv.greater_equal"
    ONNX: ClassVar = "GreaterOrEqual"
    FUNCTION: ClassVar = np.greater_equal
    PREDICATE: ClassVar = "ge"


@register
class IsNan(Unary):
    """Whether elements are NaN."""

    name = "gv.isnan"
    ONNX: ClassVar = "IsNaN"
    RESULT: ClassVar = bool_
    FUNCTION: ClassVar = np.isnan


@register
class IsInf(Unary):
    """Whether elements are infinite, of the signs asked for."""

    name = "gv.isinf"
    COMPILED_ALONE: ClassVar = True
    NEAR: ClassVar = False
    RESULT: ClassVar = bool_
    SAMPLES: ClassVar = (
        *unary_samples(*FLOATS),
        Sample(((3, 17),), {"positive": False}),
        Sample(((3, 17),), {"negative": False}),
        Sample(((3, 17),), {"positive": False, "negative": False}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, *, positive: bool = True, negative: bool = True
    ) -> Sequence[TensorSpec]:
        """Return bools of the operand's shape."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, positive: bool, negative: bool) -> Term:
        """Compare with the infinities."""
        if positive and negative:
            return x.apply("abs").equals(python_math.inf)
        if positive or negative:
            return x.equals(python_math.inf if positive else -python_math.inf)
        return x < -python_math.inf


@register
class IsFinite(Unary):
    """Whether elements are neither infinite nor NaN."""

    name = "gv.isfinite"
    RESULT: ClassVar = bool_
    FUNCTION: ClassVar = np.isfinite

    @classmethod
    def formula(cls, x: Term) -> Term:
        """|x| < inf."""
        return x.apply("abs") < python_math.inf


@register
class LogicalNot(Unary):
    """The opposite of each bool."""

    name = "gv.logical_not"
    INVOLUTION: ClassVar = True
    ONNX: ClassVar = "Not"
    KINDS: ClassVar = BOOL
    FUNCTION: ClassVar = np.logical_not
    SAMPLES: ClassVar = unary_samples(bool_)


class Logical(Binary):
    """A function of two bools."""

    KINDS: ClassVar = BOOL
    SAMPLES: ClassVar = binary_samples(bool_)


@register
class LogicalAnd(Logical):
    """Whether both elements hold."""

    name = "gv.logical_and"
    IDEMPOTENT: ClassVar = True
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "And"
    FUNCTION: ClassVar = np.logical_and


@register
class LogicalOr(Logical):
    """Whether one of the elements holds."""

    name = "gv.logical_or"
    IDEMPOTENT: ClassVar = True
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "Or"
    FUNCTION: ClassVar = np.logical_or


@register
class LogicalXor(Logical):
    """Whether exactly one of the elements holds."""

    name = "gv.logical_xor"
    COMMUTATIVE: ClassVar = True
    ONNX: ClassVar = "Xor"
    FUNCTION: ClassVar = np.logical_xor


@register
class Select(Elementwise):
    """The element of one tensor where a condition holds, of another where it does not."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.select"
    PARTWISE: ClassVar = True
    NEAR: ClassVar = False
    ONNX: ClassVar = "Where"
    SAMPLES: ClassVar = (
        Sample(((2, 9), (2, 9), (2, 9)), {}, (*FLOATS, i8, i64, u8, bool_, c64), (bool_,)),
        Sample(((3, 1), (4,), ()), {}, (FLOATS[0], i32), (bool_,)),
        Sample(((), (0, 2), (1, 2)), {}, (f64, u64), (bool_,)),
    )

    @classmethod
    def infer(cls, condition: TensorSpec, x: TensorSpec, y: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape of all three with the type of the latter two."""
        expect(condition, BOOL)
        expect_same(x, y)
        return (TensorSpec(x.dtype, shape_of(condition, x, y)),)

    @classmethod
    def formula(cls, condition: Term, x: Term, y: Term) -> Term:
        """Choose."""
        return condition.where(x, y)

    @classmethod
    def evaluate(cls, condition: Array, x: Array, y: Array) -> Sequence[Array]:
        """Choose."""
        return (np.where(condition, x, y),)

    @classmethod
    def backward(
        cls, grad: Term, result: Term, condition: Term, x: Term, y: Term
    ) -> Sequence[Term | None]:
        """Give the gradient to the operand that is taken."""
        return (None, condition.where(grad, 0.0), condition.where(0.0, grad))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the gradient to the operand that is taken, of complex numbers too."""
        spec = call.specs[1]
        if spec.dtype.kind != "c":
            return super().gradient(call, *grads)
        make, condition = Maker(call.emit), call.operands[0]
        zero = make.number(0, spec.dtype)
        for_x, for_y = ((grads[0], zero), (zero, grads[0]))
        taken = (make.select(condition, *pair) for pair in (for_x, for_y))
        found = zip(taken, call.specs[1:], strict=True)
        return (None, *(unbroadcast(call, made, each) for made, each in found))


@register
class Clip(Elementwise):
    """Each element kept between two others; the upper one where they contradict."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.clip"
    SCALES: ClassVar = Scaling.POSITIVE
    NEAR: ClassVar = False
    KINDS: ClassVar = REAL
    SAMPLES: ClassVar = (
        Sample(((3, 9), (), ()), {}, (*FLOATS, *INTEGERS), (), -4, 4, (None, (-3, 1), (0, 3))),
        Sample(((2, 1, 4), (3, 1), (4,)), {}, (FLOATS[0],)),
    )

    @classmethod
    def infer(cls, x: TensorSpec, low: TensorSpec, high: TensorSpec) -> Sequence[TensorSpec]:
        """Return the broadcast shape."""
        return cls.result(x, low, high)

    @classmethod
    def formula(cls, x: Term, low: Term, high: Term) -> Term:
        """min(max(x, low), high)."""
        return x.apply("maximum", low).apply("minimum", high)

    @classmethod
    def evaluate(cls, x: Array, low: Array, high: Array) -> Sequence[Array]:
        """Limit."""
        return (np.asarray(np.minimum(np.maximum(x, low), high)),)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, low: Term, high: Term) -> Sequence[Term | None]:
        """Give the gradient to the operand that is taken."""
        inner = x.apply("maximum", low)
        under = (inner <= high).where(grad, 0.0)
        above = (inner <= high).where(0.0, grad)
        return ((x >= low).where(under, 0.0), (x >= low).where(0.0, under), above)
