"""Attention: values weighed by how queries and keys agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..compositions import Maker, causal_bias
from ..dims import Dim
from ..dtypes import bf16, f16, f32
from ..numerics import round_to
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..shapes import UnequalError, broadcast
from ..tensor import TensorSpec, spec_of_array
from .families import spec_of_value

FLOATS = (f32, f16, bf16)


@register
class Attention(Op):
    """softmax(scores) v, with scores = cap(scale q k') + bias, of floats of 16 or 32 bits.

    Queries [*B, S, D], keys [*B, T, D] and values [*B, T, E], of which the axes *B broadcast, give
    [*B, S, E]; a bias broadcasts to the scores [*B, S, T]. With a softcap c, cap(x) is c tanh(x /
    c). If causal, the last query sees all keys, and each one before it one less. Where all scores
    of a query are -inf, the result is zero with `zeros`, else NaN; without keys it is zero.
    """

    name = "gv.attention"
    SAMPLES: ClassVar = (
        Sample(((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4)), {"scale": 0.25}, FLOATS),
        Sample(((2, 9, 20), (2, 40, 20), (2, 40, 33), (2, 9, 40)), {"scale": 0.5, "softcap": 2.0}),
        Sample(((3, 70, 16), (3, 70, 16), (3, 70, 32)), {"causal": True}),
        Sample(((2, 3, 1, 16), (2, 1, 33, 16), (1, 1, 33, 16), (2, 1, 1, 33)), {"scale": 0.1}),
        Sample(((4, 7), (1030, 7), (1030, 3)), {"causal": True, "zeros": True}),
        Sample(((1, 2, 7), (1, 1, 7), (1, 1, 16)), {"scale": -1.0}),
        Sample(((0, 3), (4, 3), (4, 5))),
    )

    @classmethod
    def infer(
        cls,
        q: TensorSpec,
        k: TensorSpec,
        v: TensorSpec,
        *bias: TensorSpec,
        scale: float = 1.0,
        softcap: float = 0.0,
        causal: bool = False,
        zeros: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape of the queries with the width of the values."""
        _expect_operands(q, k, v, *bias)
        batch = broadcast(broadcast(q.dims[:-2], k.dims[:-2]), v.dims[:-2])
        scores = (*batch, q.dims[-2], k.dims[-2])
        for each in bias:
            if broadcast(each.dims, scores) != scores:
                raise TypeError(f"bias {each} does not broadcast to the scores {list(scores)}")
        return (q.with_shape((*batch, q.dims[-2], v.dims[-1])),)

    @classmethod
    def evaluate(
        cls, q: Array, k: Array, v: Array, *bias: Array, scale: float, softcap: float,
        causal: bool, zeros: bool,
    ) -> Sequence[Array]:  # fmt: skip
        """Compute in f64, and round once."""
        like = spec_of_array(q).dtype
        q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
        with np.errstate(all="ignore"):
            scores = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
            if softcap:
                scores = np.tanh(scores / softcap) * softcap
            scores = sum((np.asarray(x, np.float64) for x in bias), scores)
            if causal:
                rows, columns = scores.shape[-2:]
                seen = np.tri(rows, columns, columns - rows, dtype=bool)
                scores = np.where(seen, scores, -np.inf)
            most = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
            parts = np.exp(scores - most)
            made = np.matmul(parts / np.sum(parts, axis=-1, keepdims=True), v)
            empty = 0.0 if zeros or not scores.shape[-1] else np.nan
            made = np.where(most == -np.inf, empty, made)
            return (round_to(made, like),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Multiply, shape the scores, take the softmax, and multiply."""
        make, flags = Maker(call.emit), call.attributes
        (q, k, v, *bias), last = call.operands, len(call.result_specs[0].dims) - 1
        dtype = call.result_specs[0].dtype
        scores = make.matmul(q, k, transpose_rhs=True)
        scores = make.mul(scores, make.number(flags["scale"], dtype))
        if flags["softcap"]:
            cap = make.number(flags["softcap"], dtype)
            scores = make.mul(make.tanh(make.div(scores, cap)), cap)
        for each in bias:
            scores = make.add(scores, each)
        if flags["causal"]:
            dims: Sequence[Dim] = spec_of_value(scores).dims
            hidden = causal_bias(call.emit, dims[-2], dims[-1], -np.inf)
            scores = make.add(scores, make.to(hidden, dtype))
        weights = make.softmax(scores, axis=last)
        if flags["zeros"]:
            most = make.max(scores, axes=(last,), keepdims=True)
            empty = make.equal(most, make.number(-np.inf, dtype))
            weights = make.select(empty, make.number(0, dtype), weights)
        return make.matmul(weights, v)


def _expect_operands(*operands: TensorSpec) -> None:
    """Raise `TypeError` unless these are queries, keys, values and at most one bias."""
    if len(operands) not in (3, 4):
        raise TypeError(f"{len(operands)} operands, expected 3 or 4")
    for each in operands:
        if each.dtype not in FLOATS or each.dtype != operands[0].dtype:
            raise TypeError(f"element type {each.dtype}, expected one of f32, f16 and bf16")
    q, k, v = operands[:3]
    if min(q.rank, k.rank, v.rank) < 2:
        raise TypeError(f"operands {q}, {k} and {v}, expected at least 2 axes")
    for one, other, what in (
        (q.dims[-1], k.dims[-1], "widths of queries and keys"),
        (k.dims[-2], v.dims[-2], "numbers of keys and values"),
    ):
        if one != other:
            raise UnequalError(f"{what} differ: {one} and {other}", one, other)
    for width in (k.dims[-1], v.dims[-1]):
        if not isinstance(width, int):
            raise TypeError(f"heads of {width} elements, expected a number")
