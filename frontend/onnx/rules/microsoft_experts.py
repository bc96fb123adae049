"""Rules of `com.microsoft` operators in which each row goes through a few of many layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from ....ir import Dim
from ....ir.compose import functions as c
from ....ir.types.shapes import UnequalError
from ..node import Node, Value
from ..registry import rule
from .microsoft import MICROSOFT, levels_of

MOST_EXPERTS = 256
"""More layers than these are refused: each is written out."""


@dataclass(frozen=True)
class Experts:
    """The two products of all layers; each product's weights stand as [layers, to, from]."""

    first: Value
    first_bias: Value | None
    second: Value
    second_bias: Value | None


@rule("MoE", domain=MICROSOFT)
def mixture(node: Node, x: Value, scores: Value, *inputs: Value | None) -> Value:
    """Return the sum of the layers with the highest scores; a softmax of all says the shares."""
    first, first_bias, second, second_bias, *third = node.padded(inputs, 6)
    _refuse_third(node, third)
    shares = _chosen(node, node.make.softmax(scores, axis=1))
    return _mixed(node, x, shares, Experts(first, first_bias, second, second_bias))


@rule("QMoE", domain=MICROSOFT)
def mixture_of_few_bits(node: Node, x: Value, scores: Value, *inputs: Value | None) -> Value:
    """Return the same of weights of a few bits; a softmax of those that are chosen says shares."""
    given = node.padded(inputs, 13)
    first, first_scale, first_bias, second, second_scale, second_bias, *third = given
    first_zero, second_zero, *more = given[9:]
    _refuse_third(node, [*third[:3], *more])
    layers = Experts(
        _written_out(node, first, first_scale, first_zero), first_bias,
        _written_out(node, second, second_scale, second_zero), second_bias,
    )  # fmt: skip
    return _mixed(node, x, _chosen(node, scores, among_chosen=True), layers)


def _refuse_third(node: Node, inputs: Sequence[Value | None]) -> None:
    """Refuse what onnxruntime's processors have no code for, either."""
    node.only("use_sparse_mixer", 0)
    if any(each is not None for each in inputs):
        node.refuse("a third product of each layer, or weights of shares, are not supported")


def _chosen(node: Node, scores: Value, *, among_chosen: bool = False) -> Value:
    """Return which part each layer has of each row: 0 of those that are not chosen."""
    make, count, experts = node.make, node.integer("k", 1), node.shape(scores)[1]
    if not isinstance(experts, int) or not 0 < count <= experts <= MOST_EXPERTS:
        node.refuse(f"{count} of {experts} layers, expected some of up to {MOST_EXPERTS}")
    highest, places = make.top_k(scores, k=count, axis=1)
    if among_chosen:
        highest = make.softmax(highest, axis=1)
    if node.integer("normalize_routing_weights", 0) and not among_chosen:
        highest = make.div(highest, make.sum(highest, axes=(1,), keepdims=True))
    zeros = make.filled(0, node.dtype(scores), node.shape(scores))
    made: Value = make.scatter_elements(zeros, places, highest, axis=1, reduction="none")
    return made


def _mixed(node: Node, x: Value, shares: Value, layers: Experts) -> Value:
    """Return the sums; each layer multiplies only the rows that chose it."""
    make, shape = node.make, node.shape(x)
    count: Dim = prod(shape[:-1])
    found = node.shape(shares)[0]
    if found != count:
        raise UnequalError(f"scores of {found} rows, expected {count}", found, count)
    rows = make.reshape(x, shape=(count, shape[-1]))
    made = make.filled(0, node.dtype(x), node.shape(rows))
    for expert in range(node.static_shape(layers.first, "for layers")[0]):
        share = _at(node, shares, expert, 1)
        taken = make.not_equal(share, make.number(0, node.dtype(share)))
        (chosen,) = node.unknown(high=count)
        places = make.reshape(make.non_zero(taken, sizes=(chosen,)), shape=(chosen,))
        here = make.gather(rows, places, axis=0)
        here = _activated(node, _product(node, here, layers.first, layers.first_bias, expert))
        here = _product(node, here, layers.second, layers.second_bias, expert)
        here = make.mul(here, c.unsqueeze(node.emit, make.gather(share, places, axis=0), (1,)))
        made = make.scatter_nd(made, c.unsqueeze(node.emit, places, (1,)), here, reduction="add")
    return make.reshape(made, shape=shape)


def _at(node: Node, x: Value, index: int, axis: int) -> Value:
    return c.squeeze(node.emit, c.cut(node.emit, x, axis, index, index + 1), (axis,))


def _product(node: Node, x: Value, weights: Value, bias: Value | None, expert: int) -> Value:
    """Return rows times the weights of a layer, and its bias added."""
    made = node.make.matmul(x, _at(node, weights, expert, 0), transpose_rhs=True)
    if bias is None:
        return made
    return node.make.add(made, c.cut(node.emit, bias, 0, expert, expert + 1))


def _written_out(node: Node, x: Value, scales: Value, zeros: Value | None) -> Value:
    """Return weights of 4 or 8 bits as floats; each row has a scale, or each block of it."""
    make, bits = node.make, node.integer("expert_weight_bits", 4)
    if bits not in (2, 4, 8):
        node.refuse(f"weights of {bits} bits, expected 2, 4 or 8")
    levels, dtype = levels_of(node, x, bits), node.dtype(scales)
    experts, rows, inner = node.shape(levels)
    block = node.integer("block_size", 0) or inner
    blocks: Dim = inner // block
    scale = make.reshape(scales, shape=(experts, rows, blocks, 1))
    zero = make.number(1 << bits - 1, dtype)
    if zeros is not None:
        each = make.reshape(zeros, shape=(experts, node.spec(zeros).size // experts))
        each = c.cut(node.emit, levels_of(node, each, bits), 1, 0, rows * blocks)
        zero = make.to(make.reshape(each, shape=(experts, rows, blocks, 1)), dtype)
    numbers = make.to(make.reshape(levels, shape=(experts, rows, blocks, block)), dtype)
    numbers = make.mul(make.sub(numbers, zero), scale)
    return make.reshape(numbers, shape=(experts, rows, inner))


def _activated(node: Node, x: Value) -> Value:
    """Return what a layer's first product becomes."""
    make, name = node.make, node.text("activation_type", "relu")
    alpha, beta = node.number("activation_alpha", 1.0), node.number("activation_beta", 0.0)
    limit, fusion = node.number("swiglu_limit", inf), node.integer("swiglu_fusion", 0)
    if name == "swiglu":
        if fusion != 1:
            node.refuse(f"swiglu_fusion {fusion}, expected 1: gates and values in turn")
        return _gated(node, x, alpha, beta, limit)
    if name == "silu":
        return make.mul(x, make.sigmoid(x))
    if name == "gelu":
        return make.gelu(x, approximate="tanh")
    if name == "relu":
        return make.relu(x)
    if name != "identity":
        node.refuse(f"activation_type {name!r} is not supported")
    return x


def _gated(node: Node, x: Value, alpha: float, beta: float, limit: float) -> Value:
    """Return values, each times its gate, which stands before it."""
    make, dtype, (count, wide) = node.make, node.dtype(x), node.shape(x)
    pairs = make.reshape(x, shape=(count, wide // 2, 2))
    gate, value = _at(node, pairs, 0, 2), _at(node, pairs, 1, 2)
    if limit != inf:
        most = make.number(limit, dtype)
        gate = make.minimum(gate, most)
        value = make.clip(value, make.number(-limit, dtype), most)
    gate = make.mul(gate, make.sigmoid(make.mul(gate, make.number(alpha, dtype))))
    return make.mul(gate, make.add(value, make.number(beta, dtype)))
