"""`Formula`: operations that are a formula of element-wise operations and reductions.

Narrow floats are computed in f32 and rounded once; the numpy meaning is computed in f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compose.maker import Maker
from ..families import EmitMath, spec_of_value
from ..gradient.tape import Composite
from ..op import Array, Call
from ..scalar_math import Term
from ..types.dims import Dim
from ..types.dtypes import of_numpy
from ..types.numerics import round_to, widened


class Formula(Composite):
    """An operation that is a formula on terms of at least f32."""

    @classmethod
    def formula(cls, *terms: Term, **attributes: Any) -> Term:
        """Return the result."""
        raise NotImplementedError(f"{cls.name} has no formula")

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Carry out the formula, in at least f32."""
        dtype, math = call.specs[0].dtype, EmitMath(call.emit)
        terms = [Term(math, x).cast(widened(dtype)) for x in call.operands]
        return cls.formula(*terms, **call.attributes).cast(dtype).value


def over(term: Term, reduction: str, axes: Sequence[int]) -> Term:
    """Return a reduction that keeps its axes."""
    reduced = getattr(Maker(term.math.emit), reduction)(term.value, axes=tuple(axes), keepdims=True)
    return Term(term.math, reduced)


def dims_of(term: Term) -> tuple[Dim, ...]:
    """Return the shape of a term that is a tensor."""
    return spec_of_value(term.value).dims


def rounded(made: Array, like: Array) -> Sequence[Array]:
    """Return a result rounded to the element type of an operand."""
    return (round_to(np.asarray(made), of_numpy(like.dtype)),)


def double(*arrays: Array) -> tuple[Array, ...]:
    """Return arrays in f64."""
    return tuple(x.astype(np.float64) for x in arrays)
