"""Exponentials, logarithms, roots, and the error function."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..compose import complex as whole
from ..families import FLOATS, INEXACT, Unary, unary_samples
from ..op import register
from ..scalar_math import Term
from ..types import numerics


@register
class Exp(Unary):
    """The number e to the power of each element."""

    name = "gv.exp"
    COMPLEX: ClassVar = whole.exp
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Exp"
    FUNCTION: ClassVar = np.exp
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """exp(x)."""
        return (grad * y,)


@register
class Exp2(Unary):
    """Two to the power of each element."""

    name = "gv.exp2"
    FUNCTION: ClassVar = np.exp2
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """exp2(x) * log(2)."""
        return (grad * y * python_math.log(2.0),)


@register
class Expm1(Unary):
    """exp(x) - 1, precise near 0."""

    name = "gv.expm1"
    COMPLEX: ClassVar = whole.expm1
    KINDS: ClassVar = INEXACT
    FUNCTION: ClassVar = np.expm1
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """exp(x)."""
        return (grad * (y + 1.0),)


@register
class Log(Unary):
    """The natural logarithm; NaN of negative numbers, -inf of 0."""

    name = "gv.log"
    COMPLEX: ClassVar = whole.log
    KINDS: ClassVar = INEXACT
    ONNX: ClassVar = "Log"
    FUNCTION: ClassVar = np.log
    NEAR: ClassVar = True
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=0.1, high=9.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / x."""
        return (grad / x,)


@register
class Log2(Unary):
    """The logarithm to base 2."""

    name = "gv.log2"
    FUNCTION: ClassVar = np.log2
    NEAR: ClassVar = True
    SAMPLES: ClassVar = Log.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (x * log(2))."""
        return (grad / (x * python_math.log(2.0)),)


@register
class Log10(Unary):
    """The logarithm to base 10."""

    name = "gv.log10"
    FUNCTION: ClassVar = np.log10
    NEAR: ClassVar = True
    SAMPLES: ClassVar = Log.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (x * log(10))."""
        return (grad / (x * python_math.log(10.0)),)


@register
class Log1p(Unary):
    """log(1 + x), precise near 0."""

    name = "gv.log1p"
    COMPLEX: ClassVar = whole.log1p
    KINDS: ClassVar = INEXACT
    FUNCTION: ClassVar = np.log1p
    NEAR: ClassVar = True
    SAMPLES: ClassVar = unary_samples(*FLOATS, low=-0.8, high=9.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (1 + x)."""
        return (grad / (x + 1.0),)


@register
class Sqrt(Unary):
    """The square root; NaN of negative numbers."""

    name = "gv.sqrt"
    COMPLEX: ClassVar = whole.sqrt
    KINDS: ClassVar = INEXACT
    UNSIGNED: ClassVar = True
    COMPILED_ALONE: ClassVar = True
    ONNX: ClassVar = "Sqrt"
    FUNCTION: ClassVar = np.sqrt
    SAMPLES: ClassVar = Log.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """1 / (2 * sqrt(x)); 0 where nothing comes back, whatever x is."""
        return (grad.asked_for(0.5 / y),)


@register
class Rsqrt(Unary):
    """One over the square root."""

    name = "gv.rsqrt"
    COMPLEX: ClassVar = whole.rsqrt
    KINDS: ClassVar = INEXACT
    SAMPLES: ClassVar = Log.SAMPLES

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """-1 / (2 * x * sqrt(x)); 0 where nothing comes back, whatever x is."""
        return (grad.asked_for(-0.5 * y / x),)


@register
class Erf(Unary):
    """The error function."""

    name = "gv.erf"
    ONNX: ClassVar = "Erf"
    FUNCTION: ClassVar = numerics.erf
    NEAR: ClassVar = True

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """2 / sqrt(pi) * exp(-x * x)."""
        return (grad * (-x * x).apply("exp") * (2.0 / python_math.sqrt(python_math.pi)),)
