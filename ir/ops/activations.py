"""The activation functions of networks, element by element."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..compose import complex as whole
from ..compose.tails import erfc
from ..facts import Scaling
from ..families import FLOATS, INEXACT, INTEGERS, REAL, Unary, unary_samples
from ..op import register
from ..samples import Sample
from ..scalar_math import Term
from ..types import numerics
from ..types.numerics import in_wide
from ..types.tensor import Array, TensorSpec


def sigmoid(x: Term) -> Term:
    """Return 1 / (1 + exp(-x)) as a formula."""
    return 1.0 / ((-x).apply("exp") + 1.0)


@register
class Sigmoid(Unary):
    """The logistic function."""

    name = "gv.sigmoid"
    COMPLEX: ClassVar = whole.sigmoid
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Sigmoid"

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return 1 / (1 + exp(-x))."""
        return sigmoid(x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by y * (1 - y)."""
        return (grad * y * (1.0 - y),)


@register
class Relu(Unary):
    """Each element, 0 where it is negative."""

    COMPILED_ALONE: ClassVar = True

    name = "gv.relu"
    STEPS: ClassVar = "results"
    SCALES: ClassVar = Scaling.POSITIVE
    IDEMPOTENT: ClassVar = True
    NEAR: ClassVar = False
    ONNX: ClassVar = "Relu"
    KINDS: ClassVar = REAL
    SAMPLES: ClassVar = unary_samples(*FLOATS, *INTEGERS)

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return max(x, 0)."""
        return x.apply("maximum", 0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Pass the gradient where y is positive: then x need not be kept."""
        return ((y > 0.0).where(grad, 0.0),)


def _gelu(x: Array) -> Array:
    wide = x.astype(np.float64)
    return (0.5 * wide * numerics.erfc(-python_math.sqrt(0.5) * wide)).astype(x.dtype)


@register
class Gelu(Unary):
    """x * P(X <= x) of a normal X, exactly or by a hyperbolic tangent."""

    name = "gv.gelu"
    ONNX: ClassVar = "Gelu"
    SAMPLES: ClassVar = (
        *unary_samples(*FLOATS),
        Sample(((3, 17),), {"approximate": "tanh"}, FLOATS),
    )

    @classmethod
    def infer(cls, x: TensorSpec, *, approximate: str = "none") -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if approximate not in ("none", "tanh"):
            raise TypeError(f"approximate is {approximate!r}, expected 'none' or 'tanh'")
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, approximate: str) -> Term:
        """Return 0.5 * x * erfc(-x / sqrt(2)): far below 0 all digits are those of erfc."""
        if approximate == "tanh":
            return x * cls._share_of_tanh(x)
        return x * (erfc(x * -python_math.sqrt(0.5)) * 0.5)

    @classmethod
    def evaluate(cls, x: Array, *, approximate: str = "none") -> Sequence[Array]:
        """Compute it by Python's erfc, or the formula."""
        if approximate == "none":
            return (np.asarray(in_wide(_gelu)(x)),)
        return super().evaluate(x, approximate=approximate)

    @classmethod
    def _share_of_tanh(cls, x: Term) -> Term:
        inner = (x * x * x * 0.044715 + x) * python_math.sqrt(2.0 / python_math.pi)
        return (inner.apply("tanh") + 1.0) * 0.5

    @classmethod
    def _share(cls, x: Term, y: Term) -> Term:
        """Return P(X <= x): below 0 what the result says of it, near 0 and above by erf."""
        near = ((x * python_math.sqrt(0.5)).apply("erf") + 1.0) * 0.5
        return (x < -1.0).where(y / x.apply("minimum", -1.0), near)  # no slope is that of y / 0

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, approximate: str) -> Sequence[Term | None]:
        """Add the share to x times its slope."""
        share = cls._share_of_tanh(x) if approximate == "tanh" else cls._share(x, y)
        if approximate == "tanh":
            inner = (x * x * 0.134145 + 1.0) * python_math.sqrt(2.0 / python_math.pi)
            slope = share * (1.0 - share) * inner * 2.0
        else:
            slope = (x * x * -0.5).apply("exp") * python_math.sqrt(0.5 / python_math.pi)
        return (grad * (share + x * slope),)


@register
class Silu(Unary):
    """x * sigmoid(x), also called swish."""

    name = "gv.silu"

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return x / (1 + exp(-x))."""
        return x * sigmoid(x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by s + y * (1 - s) for s = sigmoid(x)."""
        share = x.emitted("sigmoid")
        return (grad * (share + y * (1.0 - share)),)


@register
class Softplus(Unary):
    """log(1 + exp(x)), without overflow."""

    name = "gv.softplus"
    ONNX: ClassVar = "Softplus"

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return max(x, 0) + log1p(exp(-|x|))."""
        return softplus(x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by sigmoid(x)."""
        return (grad * x.emitted("sigmoid"),)


def softplus(x: Term) -> Term:
    """Return log(1 + exp(x)) as a formula that does not overflow."""
    return x.apply("maximum", 0.0) + (-x.apply("abs")).apply("exp").apply("log1p")


@register
class Softsign(Unary):
    """x / (1 + |x|)."""

    name = "gv.softsign"
    ONNX: ClassVar = "Softsign"

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return x / (1 + |x|)."""
        return x / (x.apply("abs") + 1.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by 1 / (1 + |x|)**2."""
        size = x.apply("abs") + 1.0
        return (grad / (size * size),)


@register
class LeakyRelu(Unary):
    """Each element, multiplied by alpha where it is negative."""

    name = "gv.leaky_relu"
    STEPS: ClassVar = "operands"
    SCALES: ClassVar = Scaling.POSITIVE
    ONNX: ClassVar = "LeakyRelu"

    @classmethod
    def infer(cls, x: TensorSpec, *, alpha: float = 0.01) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float) -> Term:
        """Return x, or alpha * x."""
        return (x < 0.0).where(x * alpha, x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, alpha: float) -> Sequence[Term | None]:
        """Multiply by 1, or alpha."""
        return ((x > 0.0).where(grad, grad * alpha),)


@register
class ThresholdedRelu(Unary):
    """Each element, 0 where it is not more than alpha."""

    name = "gv.thresholded_relu"
    COMPILED_ALONE: ClassVar = True
    NEAR: ClassVar = False
    ONNX: ClassVar = "ThresholdedRelu"

    @classmethod
    def infer(cls, x: TensorSpec, *, alpha: float = 1.0) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float) -> Term:
        """Return x, or 0."""
        return (x > alpha).where(x, 0.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, alpha: float) -> Sequence[Term | None]:
        """Pass the gradient where x is more than alpha."""
        return ((x > alpha).where(grad, 0.0),)


@register
class Elu(Unary):
    """Each element, alpha * (exp(x) - 1) where it is negative."""

    name = "gv.elu"
    ONNX: ClassVar = "Elu"

    @classmethod
    def infer(cls, x: TensorSpec, *, alpha: float = 1.0) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float) -> Term:
        """Return x, or alpha * (exp(x) - 1)."""
        return (x < 0.0).where(x.apply("expm1") * alpha, x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, alpha: float) -> Sequence[Term | None]:
        """Multiply by 1, or alpha * exp(x)."""
        return ((x < 0.0).where(grad * (y + alpha), grad),)


@register
class Selu(Unary):
    """gamma times each element, gamma * alpha * (exp(x) - 1) where it is negative."""

    name = "gv.selu"
    ONNX: ClassVar = "Selu"

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        alpha: float = 1.67326319217681884765625,
        gamma: float = 1.05070102214813232421875,
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float, gamma: float) -> Term:
        """Return gamma * x, or gamma * alpha * (exp(x) - 1)."""
        return (x < 0.0).where(x.apply("expm1") * (alpha * gamma), x * gamma)

    @classmethod
    def backward(
        cls, grad: Term, y: Term, x: Term, *, alpha: float, gamma: float
    ) -> Sequence[Term | None]:
        """Multiply by gamma, or gamma * alpha * exp(x)."""
        return ((x < 0.0).where(grad * (y + alpha * gamma), grad * gamma),)


@register
class Celu(Unary):
    """Each element, alpha * (exp(x / alpha) - 1) where it is negative."""

    name = "gv.celu"
    ONNX: ClassVar = "Celu"
    SAMPLES: ClassVar = (*unary_samples(*FLOATS), Sample(((3, 17),), {"alpha": 0.5}))

    @classmethod
    def infer(cls, x: TensorSpec, *, alpha: float = 1.0) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if alpha == 0.0:
            raise TypeError("alpha is 0, expected another number")
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float) -> Term:
        """Return x, or alpha * (exp(x / alpha) - 1)."""
        return (x < 0.0).where((x / alpha).apply("expm1") * alpha, x)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term, *, alpha: float) -> Sequence[Term | None]:
        """Multiply by 1, or exp(x / alpha)."""
        return ((x < 0.0).where(grad * (y / alpha + 1.0), grad),)


@register
class HardSigmoid(Unary):
    """alpha * x + beta, kept between 0 and 1."""

    name = "gv.hard_sigmoid"
    ONNX: ClassVar = "HardSigmoid"

    @classmethod
    def infer(cls, x: TensorSpec, *, alpha: float = 0.2, beta: float = 0.5) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return cls.result(x)

    @classmethod
    def formula(cls, x: Term, *, alpha: float, beta: float) -> Term:
        """Return max(0, min(1, alpha * x + beta))."""
        return (x * alpha + beta).apply("minimum", 1.0).apply("maximum", 0.0)

    @classmethod
    def backward(
        cls, grad: Term, y: Term, x: Term, *, alpha: float, beta: float
    ) -> Sequence[Term | None]:
        """Multiply by alpha between the limits."""
        return (((y > 0.0) & (y < 1.0)).where(grad * alpha, 0.0),)


@register
class HardSwish(Unary):
    """x times x / 6 + 1 / 2 kept between 0 and 1."""

    name = "gv.hard_swish"
    ONNX: ClassVar = "HardSwish"
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-5.0, high=5.0)

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return x * max(0, min(1, x / 6 + 1 / 2))."""
        share = (x * (1.0 / 6.0) + 0.5).apply("minimum", 1.0)
        return x * share.apply("maximum", 0.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by x / 3 + 1 / 2 between -3 and 3, where it is 0 and 1."""
        between = (x < 3.0).where(grad * (x * (1.0 / 3.0) + 0.5), grad)
        return ((x > -3.0).where(between, 0.0),)


@register
class Mish(Unary):
    """x * tanh(softplus(x))."""

    name = "gv.mish"
    ONNX: ClassVar = "Mish"

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Return x * tanh(softplus(x))."""
        return x * softplus(x).apply("tanh")

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Multiply by t + x * (1 - t * t) * sigmoid(x) for t = tanh(softplus(x))."""
        share = x.emitted("softplus").apply("tanh")
        return (grad * (share + x * (1.0 - share * share) * x.emitted("sigmoid")),)
