"""Attention: values weighed by how queries and keys agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..compose.functions import HIDDEN, causal_bias, move_axis
from ..compose.maker import Maker
from ..facts import KernelForm
from ..families import spec_of_value
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dims import Dim, ceil_divide
from ..types.dtypes import bf16, f16, f32
from ..types.numerics import round_to
from ..types.shapes import UnequalError, broadcast
from ..types.tensor import TensorSpec, spec_of_array

FLOATS = (f32, f16, bf16)
FUSED = KernelForm("attention", slow_needs=lambda can: can.attend_halves, strides=3, walked=3)
"""Queries, keys and values are walked; a bias is read as elements."""


@register
class Attention(Op):
    """softmax(scores) v, with scores = cap(scale q k') + bias, of floats of 16 or 32 bits.

    Queries [*B, S, D], keys [*B, T, D] and values [*B, T, E], of which the axes *B broadcast, give
    [*B, S, E]; a bias broadcasts to the scores [*B, S, T]. With a softcap c, cap(x) is c tanh(x /
    c). If causal, the last query sees all keys, and each one before it one less. Where all scores
    of a query are -inf, the result is zero with `zeros`, else NaN; without keys it is zero. With
    `hiding`, a bias that is as low as `HIDDEN` is the score itself, whatever the product is: so a
    NaN or an infinity among what is hidden comes to nothing.
    """

    name = "gv.attention"
    KERNEL: ClassVar = FUSED
    SAMPLES: ClassVar = (
        Sample(((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 4)), {"scale": 0.25}, FLOATS),
        Sample(((2, 9, 20), (2, 40, 20), (2, 40, 33), (2, 9, 40)), {"scale": 0.5, "softcap": 2.0}),
        Sample(((3, 70, 16), (3, 70, 16), (3, 70, 32)), {"causal": True}),
        Sample(((2, 3, 1, 16), (2, 1, 33, 16), (1, 1, 33, 16), (2, 1, 1, 33)), {"scale": 0.1}),
        Sample(((4, 7), (1030, 7), (1030, 3)), {"causal": True, "zeros": True}),
        Sample(((1, 2, 7), (1, 1, 7), (1, 1, 16)), {"scale": -1.0}),
        Sample(((2, 5, 8), (2, 9, 8), (2, 9, 4), (2, 1, 9)), {"hiding": True}, FLOATS),
        Sample(((0, 3), (4, 3), (4, 5))),
        Sample(((5, 8), (7, 8), (2, 3, 7, 4), (5, 7)), {"scale": 0.5, "zeros": True}),
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
        hiding: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape of the queries with the width of the values."""
        return (q.with_shape((*_rows_of(q, k, v, *bias), v.dims[-1])),)

    @classmethod
    def evaluate(
        cls, q: Array, k: Array, v: Array, *bias: Array, scale: float, softcap: float,
        causal: bool, zeros: bool, hiding: bool,
    ) -> Sequence[Array]:  # fmt: skip
        """Compute in f64, and round once."""
        like = spec_of_array(q).dtype
        v = np.asarray(v, np.float64)
        with np.errstate(all="ignore"):
            scores = _scores(
                q, k, *bias, scale=scale, softcap=softcap, causal=causal, hiding=hiding
            )
            most = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
            parts = np.exp(scores - most)
            made = np.matmul(parts / np.sum(parts, axis=-1, keepdims=True), v)
            empty = 0.0 if zeros or not scores.shape[-1] else np.nan
            made = np.where(most == -np.inf, empty, made)
            return (round_to(made, like),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Multiply, shape the scores, take the softmax, and multiply."""
        make, dtype = Maker(call.emit), call.result_specs[0].dtype
        scores = _make_scores(make, call.operands, call.attributes)
        last = spec_of_value(scores).rank - 1  # values may have more axes
        weights = make.softmax(scores, axis=last)
        if call.attributes["zeros"]:
            most = make.max(scores, axes=(last,), keepdims=True)
            empty = make.equal(most, make.number(-np.inf, dtype))
            weights = make.select(empty, make.number(0, dtype), weights)
        return make.matmul(weights, call.operands[2])


@register
class AttentionParts(Op):
    """What each `step` keys give to an attention, for blocks of a GPU or threads to share them.

    Operands and flags are those of `gv.attention`. For P parts the result is f32 of the shape [P,
    *B, S, E + 2]: the values, weighed by e to the power of scores less the largest score of the
    part; then the largest score; then the sum of weights. Where all scores are -inf, weights are 0.
    """

    name = "gv.attention_parts"
    KERNEL: ClassVar = FUSED
    SAMPLES: ClassVar = (
        Sample(((2, 3, 2, 8), (2, 3, 70, 8), (2, 3, 70, 4)), {"step": 32}, FLOATS),
        Sample(
            ((2, 5, 20), (2, 80, 20), (80, 33), (2, 1, 80)),
            {"step": 64, "scale": 0.5, "softcap": 2.0, "causal": True},
        ),
        Sample(((2, 3, 1, 16), (2, 1, 130, 16), (1, 1, 130, 16)), {"step": 64, "scale": 0.1}),
    )

    @classmethod
    def infer(
        cls,
        q: TensorSpec,
        k: TensorSpec,
        v: TensorSpec,
        *bias: TensorSpec,
        step: int,
        scale: float = 1.0,
        softcap: float = 0.0,
        causal: bool = False,
        hiding: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the shape of all parts."""
        rows = _rows_of(q, k, v, *bias)
        if step < 1 or step % 32:
            raise TypeError(f"parts of {step} keys, expected a multiple of 32")
        parts = ceil_divide(k.dims[-2], step)
        return (TensorSpec(f32, (parts, *rows, v.dims[-1] + 2)),)

    @classmethod
    def evaluate(
        cls, q: Array, k: Array, v: Array, *bias: Array, step: int, scale: float, softcap: float,
        causal: bool, hiding: bool,
    ) -> Sequence[Array]:  # fmt: skip
        """Compute in f64, part after part."""
        v = np.asarray(v, np.float64)
        with np.errstate(all="ignore"):
            scores = _scores(
                q, k, *bias, scale=scale, softcap=softcap, causal=causal, hiding=hiding
            )
            batch = np.broadcast_shapes(scores.shape[:-2], v.shape[:-2])
            starts = range(0, k.shape[-2], step)
            made = np.empty((len(starts), *batch, q.shape[-2], v.shape[-1] + 2), np.float32)
            for number, start in enumerate(starts):
                part = scores[..., start : start + step]
                most = np.max(part, axis=-1, keepdims=True)
                weights = np.where(part == -np.inf, 0, np.exp(part - most))
                made[number, ..., :-2] = np.matmul(weights, v[..., start : start + step, :])
                made[number, ..., -2:-1] = most
                made[number, ..., -1:] = np.sum(weights, axis=-1, keepdims=True)
            return (made,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Cut scores and values into parts, which are an axis more."""
        make, step, made = Maker(call.emit), call.attributes["step"], call.result_specs[0]
        q, k, v, *bias = (make.to(operand, f32) for operand in call.operands)
        scores = _make_scores(make, (q, k, v, *bias), call.attributes)
        scores = make.broadcast_to(scores, shape=(*made.dims[1:-1], call.specs[1].dims[-2]))
        scores = _in_parts(make, scores, made.rank - 2, step, -np.inf)
        dims = spec_of_value(v).dims
        v = make.reshape(v, shape=(*(1,) * (made.rank - 1 - len(dims)), *dims))
        v = _in_parts(make, v, made.rank - 3, step, 0.0)
        last = (made.rank - 1,)
        most = make.max(scores, axes=last, keepdims=True)
        none, zero = make.number(-np.inf, f32), make.number(0, f32)
        shift = make.select(make.equal(most, none), zero, most)
        weights = make.exp(make.sub(scores, shift))
        total = make.sum(weights, axes=last, keepdims=True)
        return make.concat(make.matmul(weights, v), most, total, axis=made.rank - 1)


def _in_parts(make: Maker, x: Any, axis: int, step: int, fill: float) -> Any:
    """Return a tensor whose axis is cut into parts of `step`, which come first."""
    dims = spec_of_value(x).dims
    parts = ceil_divide(dims[axis], step)
    pads = [(0, parts * step - dims[axis] if i == axis else 0) for i in range(len(dims))]
    whole = make.pad(x, pads=tuple(pads), mode="constant", value=fill)
    cut = make.reshape(whole, shape=(*dims[:axis], parts, step, *dims[axis + 1 :]))
    return move_axis(make.emit, cut, axis, 0)


def _scores(
    q: Array, k: Array, *bias: Array, scale: float, softcap: float, causal: bool, hiding: bool
) -> Array:
    """Return the scores in f64, -inf where a query sees no such key."""
    q, k = (np.asarray(x, np.float64) for x in (q, k))
    scores: Array = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    if softcap:
        scores = np.tanh(scores / softcap) * softcap
    for wide in (np.asarray(x, np.float64) for x in bias):
        total = scores + wide
        scores = np.where(wide <= HIDDEN, wide, total) if hiding else total
    if causal:
        rows, columns = scores.shape[-2:]
        seen = np.tri(rows, columns, columns - rows, dtype=bool)
        scores = np.where(seen, scores, -np.inf)
    return scores


def _make_scores(make: Maker, operands: Sequence[Any], flags: Mapping[str, Any]) -> Any:
    """Make the same of other operations."""
    q, k, _, *bias = operands
    scores = make.matmul(q, k, transpose_rhs=True)
    dtype = spec_of_value(scores).dtype
    scores = make.mul(scores, make.number(flags["scale"], dtype))
    if flags["softcap"]:
        cap = make.number(flags["softcap"], dtype)
        scores = make.mul(make.tanh(make.div(scores, cap)), cap)
    for each in bias:
        total = make.add(scores, each)
        scores = total
        if flags["hiding"]:  # the only number of f16 that is so low is -inf
            low = make.number(-np.inf if dtype == f16 else HIDDEN, dtype)
            scores = make.select(make.less_equal(each, low), each, total)
    if flags["causal"]:
        dims: Sequence[Dim] = spec_of_value(scores).dims
        hidden = causal_bias(make.emit, dims[-2], dims[-1], -np.inf)
        scores = make.add(scores, make.to(hidden, dtype))
    return scores


def _rows_of(q: TensorSpec, k: TensorSpec, v: TensorSpec, *bias: TensorSpec) -> Sequence[Dim]:
    """Return the shape of queries for these operands; refuse what does not go together."""
    _expect_operands(q, k, v, *bias)
    batch = broadcast(broadcast(q.dims[:-2], k.dims[:-2]), v.dims[:-2])
    scores = (*batch, q.dims[-2], k.dims[-2])
    for each in bias:
        if broadcast(each.dims, scores) != scores:
            raise TypeError(f"bias {each} does not broadcast to the scores {list(scores)}")
    return scores[:-1]


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
