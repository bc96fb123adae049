"""Circular and hyperbolic functions and their inverses; angles are in radians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..compose import complex as whole
from ..families import FLOATS, INEXACT, Binary, Unary, binary_samples, unary_samples
from ..op import register
from ..scalar_math import Term


@register
class Sin(Unary):
    """The sine."""

    name = "gv.sin"
    COMPLEX: ClassVar = whole.sin
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Sin"
    FUNCTION: ClassVar = np.sin
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """cos(x)."""
        return (grad * x.apply("cos"),)


@register
class Cos(Unary):
    """The cosine."""

    name = "gv.cos"
    COMPLEX: ClassVar = whole.cos
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Cos"
    FUNCTION: ClassVar = np.cos
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """-sin(x)."""
        return (-grad * x.apply("sin"),)


@register
class Tan(Unary):
    """The tangent."""

    name = "gv.tan"
    COMPLEX: ClassVar = whole.tan
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Tan"
    FUNCTION: ClassVar = np.tan
    NEAR: ClassVar = True
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-1.2, high=1.2)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 + tan(x)**2."""
        return (grad * (y * y + 1.0),)


@register
class Asin(Unary):
    """The inverse sine; NaN outside of -1 to 1."""

    name = "gv.asin"
    ONNX: ClassVar = "Asin"
    FUNCTION: ClassVar = np.arcsin
    NEAR: ClassVar = True
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-0.9, high=0.9)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / sqrt(1 - x * x)."""
        return (grad * (1.0 - x * x).apply("rsqrt"),)


@register
class Acos(Unary):
    """The inverse cosine; NaN outside of -1 to 1."""

    name = "gv.acos"
    ONNX: ClassVar = "Acos"
    FUNCTION: ClassVar = np.arccos
    NEAR: ClassVar = True
    SAMPLES: ClassVar = Asin.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """-1 / sqrt(1 - x * x)."""
        return (-grad * (1.0 - x * x).apply("rsqrt"),)


@register
class Atan(Unary):
    """The inverse tangent."""

    name = "gv.atan"
    ONNX: ClassVar = "Atan"
    FUNCTION: ClassVar = np.arctan
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (1 + x * x)."""
        return (grad / (x * x + 1.0),)


@register
class Atan2(Binary):
    """The angle of the point (rhs, lhs), from -pi to pi."""

    name = "gv.atan2"
    FUNCTION: ClassVar = np.arctan2
    NEAR: ClassVar = True
    SAMPLES: ClassVar = binary_samples(*FLOATS, low=0.3, high=2.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Multiply by b / (a * a + b * b), and by -a over the same."""
        part = grad / (a * a + b * b)
        return (part * b, -part * a)


@register
class Sinh(Unary):
    """The hyperbolic sine."""

    name = "gv.sinh"
    COMPLEX: ClassVar = whole.sinh
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Sinh"
    FUNCTION: ClassVar = np.sinh
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """cosh(x)."""
        return (grad * x.apply("cosh"),)


@register
class Cosh(Unary):
    """The hyperbolic cosine."""

    name = "gv.cosh"
    COMPLEX: ClassVar = whole.cosh
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Cosh"
    FUNCTION: ClassVar = np.cosh
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """sinh(x)."""
        return (grad * x.apply("sinh"),)


@register
class Tanh(Unary):
    """The hyperbolic tangent."""

    name = "gv.tanh"
    COMPLEX: ClassVar = whole.tanh
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Tanh"
    FUNCTION: ClassVar = np.tanh
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 - tanh(x)**2."""
        return (grad * (1.0 - y * y),)


@register
class Asinh(Unary):
    """The inverse hyperbolic sine."""

    name = "gv.asinh"
    ONNX: ClassVar = "Asinh"
    FUNCTION: ClassVar = np.arcsinh
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / sqrt(x * x + 1)."""
        return (grad * (x * x + 1.0).apply("rsqrt"),)


@register
class Acosh(Unary):
    """The inverse hyperbolic cosine; NaN below 1."""

    name = "gv.acosh"
    ONNX: ClassVar = "Acosh"
    FUNCTION: ClassVar = np.arccosh
    NEAR: ClassVar = True
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=1.2, high=9.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / sqrt(x * x - 1)."""
        return (grad * (x * x - 1.0).apply("rsqrt"),)


@register
class Atanh(Unary):
    """The inverse hyperbolic tangent; NaN outside of -1 to 1."""

    name = "gv.atanh"
    ONNX: ClassVar = "Atanh"
    FUNCTION: ClassVar = np.arctanh
    NEAR: ClassVar = True
    SAMPLES: ClassVar = Asin.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (1 - x * x)."""
        return (grad / (1.0 - x * x),)
