"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..families import FLOAT, FLOATS, EmitMath, expect
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..scalar_math import Term
from ..types.dtypes import bf16, f32
from ..types.tensor import TensorSpec
from .formula import Formula, dims_of, double, over, rounded
from .layout import check_axis

AXIS_SAMPLES = (
    Sample(((3, 17),), {"axis": 1}, FLOATS, low=-8.0, high=8.0),
    Sample(((2, 3, 4),), {"axis": 1}, (f32, bf16)),
    Sample(((5, 1),), {"axis": 1}),
    Sample(((7,),), {"axis": 0}),
    Sample(((0, 3),), {"axis": 1}),
    Sample(((3, 0),), {"axis": 1}),
)


class AlongAxis(Op):
    """An operation on the vectors along one axis."""

    ALONG_AXIS: ClassVar = True
    SAMPLES: ClassVar = AXIS_SAMPLES

    @classmethod
    def infer(cls, x: TensorSpec, *, axis: int) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        expect(x, FLOAT)
        check_axis(axis, x.rank)
        return (x,)


SHORT = 32
"""Rows of fewer elements take numpy longer, each by itself, than all of them side by side."""


def _are_short(x: Array, axis: int) -> bool:
    """Say whether an axis is of many short rows."""
    return axis == x.ndim - 1 and 1 < x.shape[axis] < SHORT < x.size // x.shape[axis]


def _in_columns(x: Array, axis: int) -> tuple[Array, int]:
    """Return an array in f64, and the axis: short rows stand side by side."""
    if _are_short(x, axis):
        return x.reshape(-1, x.shape[axis]).T.astype(np.float64, order="C"), 0
    return double(x)[0], axis


def _in_rows(made: Array, x: Array, axis: int) -> Sequence[Array]:
    """Return what was made of an array, rounded as it is."""
    if _are_short(x, axis):
        made = np.ascontiguousarray(made.T).reshape(x.shape)
    return rounded(made, x)


@register
class Softmax(AlongAxis, Formula):
    """exp(x) over its sum along an axis, without overflow."""

    name = "gv.softmax"

    @classmethod
    def evaluate(cls, x: Array, *, axis: int) -> Sequence[Array]:
        """Take the largest element out, and divide by the sum."""
        wide, at = _in_columns(x, axis)
        parts = np.exp(wide - np.maximum.reduce(wide, at, keepdims=True, initial=-np.inf))
        return _in_rows(parts / np.add.reduce(parts, at, keepdims=True), x, axis)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """exp(x - max) / sum."""
        (x,), axes = terms, (attributes["axis"],)
        if dims_of(x)[axes[0]] == 0:
            return x
        parts = (x - over(x, "max", axes)).apply("exp")
        return parts / over(parts, "sum", axes)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Y * (grad - sum(grad * y))."""
        grad, y = (Term(EmitMath(call.emit), v) for v in (grads[0], call.results[0]))
        return ((y * (grad - over(grad * y, "sum", (call.attributes["axis"],)))).value,)


@register
class LogSoftmax(AlongAxis, Formula):
    """The logarithm of the softmax along an axis."""

    name = "gv.log_softmax"

    @classmethod
    def evaluate(cls, x: Array, *, axis: int) -> Sequence[Array]:
        """Take the largest element out, and subtract the logarithm of the sum."""
        wide, at = _in_columns(x, axis)
        shifted = wide - np.maximum.reduce(wide, at, keepdims=True, initial=-np.inf)
        total = np.log(np.add.reduce(np.exp(shifted), at, keepdims=True))
        return _in_rows(shifted - total, x, axis)

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """X - max - log(sum(exp(x - max)))."""
        (x,), axes = terms, (attributes["axis"],)
        if dims_of(x)[axes[0]] == 0:
            return x
        shifted = x - over(x, "max", axes)
        return shifted - over(shifted.apply("exp"), "sum", axes).apply("log")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Grad - softmax * sum(grad)."""
        grad, y = (Term(EmitMath(call.emit), v) for v in (grads[0], call.results[0]))
        return ((grad - y.apply("exp") * over(grad, "sum", (call.attributes["axis"],))).value,)
