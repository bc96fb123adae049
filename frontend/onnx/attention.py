"""Attention over heads as graph operations: what the contrib operators have in common."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir import Dim
from ...ir.compose import functions as c
from ...ir.types import dtypes as d
from .node import Node, Value
from .within import require_within


@dataclass(frozen=True)
class Heads:
    """Queries, keys and values: [B, N, S, D], [B, N, T, D], [B, N, T, E]."""

    q: Value
    k: Value
    v: Value


def split_heads(node: Node, x: Value, count: int) -> Value:
    """Turn [B, S, N * D] into [B, N, S, D]."""
    batch, steps, width = node.shape(x)
    parts = node.make.reshape(x, shape=(batch, steps, count, width // count))
    return node.make.transpose(parts, order=(0, 2, 1, 3))


def join_heads(node: Node, x: Value) -> Value:
    """Turn [B, N, S, D] into [B, S, N * D]."""
    batch, count, steps, width = node.shape(x)
    rows = node.make.transpose(x, order=(0, 2, 1, 3))
    return node.make.reshape(rows, shape=(batch, steps, count * width))


def shared_heads(node: Node, x: Value, count: int) -> Value:
    """Repeat each head so that there are so many: several queries share a key."""
    own = node.shape(x)[1]
    if own == count:
        return x
    if not isinstance(own, int) or count % own:
        node.fail(f"{count} heads do not share {own}")
    return c.repeat(node.emit, x, (1, count // own, 1, 1))


def attend(
    node: Node, heads: Heads, scale: float, bias: Value | None = None, softcap: float = 0.0,
    sink: Value | None = None,
) -> Value:  # fmt: skip
    """Return the values, weighed by how queries and keys agree; computed in f32, rounded once.

    The bias is added to the scores: it holds masks too, as numbers far below zero. A sink [N] is
    the score of one more key of each head, whose value is zero.
    """
    make, dtype = node.make, node.dtype(heads.q)
    wide = d.f64 if dtype == d.f64 else d.f32
    q, k, v = (make.to(x, wide) for x in (heads.q, heads.k, heads.v))
    scores = make.matmul(make.mul(q, make.number(scale, wide) if scale else _usual(node, q)),
                         make.transpose(k, order=(0, 1, 3, 2)))  # fmt: skip
    if softcap > 0:
        cap = make.number(softcap, wide)
        scores = make.mul(make.tanh(make.div(scores, cap)), cap)
    if bias is not None:
        scores = make.add(scores, make.to(bias, wide))
    if sink is None:
        weights = make.softmax(scores, axis=3)
    else:
        batch, count, steps, total = node.shape(scores)
        column = make.broadcast_to(
            c.unsqueeze(node.emit, make.to(sink, wide), (0, 2, 3)), shape=(batch, count, steps, 1)
        )
        weights = make.softmax(make.concat(scores, column, axis=3), axis=3)
        weights = c.cut(node.emit, weights, 3, 0, total)
    return make.to(make.matmul(weights, v), dtype)


def _usual(node: Node, q: Value) -> Value:
    """Return one over the root of how many elements a head has, which a run may tell."""
    make, width, dtype = node.make, node.shape(q)[-1], node.dtype(q)
    if isinstance(width, int):
        return make.number(width**-0.5, dtype)
    return make.reciprocal(make.sqrt(make.extent_of(width, dtype)))


def added(node: Node, *masks: Value | None) -> Value | None:
    """Return the sum of biases, of which some may be none."""
    total = None
    for mask in masks:
        if mask is not None:
            total = mask if total is None else node.make.add(total, mask)
    return total


def hidden_where(node: Node, visible: Value, low: float) -> Value:
    """Return a bias that hides what is not visible."""
    make = node.make
    return make.select(visible, make.number(0, d.f32), make.number(low, d.f32))


def key_mask(
    node: Node, mask: Value | None, batch: Dim, total: Dim, low: float
) -> Value | None:  # fmt: skip
    """Return the bias of a mask of keys: flags [B, T], [B, S, T], [B, 1, S, T], or bounds.

    These are lengths [B], or [2 B]: ends, then starts.
    """
    if mask is None:
        return None
    make, shape = node.make, node.shape(mask)
    if len(shape) == 1:
        if shape not in ((batch,), (2 * batch,)):
            node.refuse(f"a mask of shape {[*shape]}, expected one or two for each of {batch}")
        place = make.iota(shape=(1, total), axis=1, dtype=d.i64)
        bounds = c.unsqueeze(node.emit, make.to(mask, d.i64), (1,))
        visible = make.less(place, c.cut(node.emit, bounds, 0, 0, batch))
        if shape != (batch,):
            starts = c.cut(node.emit, bounds, 0, batch, 2 * batch)
            visible = make.logical_and(visible, make.greater_equal(place, starts))
    else:
        visible = make.not_equal(mask, make.number(0, node.dtype(mask)))
    places = {2: (1, 2), 3: (1,), 4: ()}[node.rank(visible)]
    return hidden_where(node, c.unsqueeze(node.emit, visible, places), low)


LOWEST = -3.0e38
"""Added to scores of what comes later, which weighs nothing even where all else is masked."""


def causal_mask(node: Node, steps: Dim, total: Dim) -> Value:
    """Return the bias [S, T] that hides keys behind a query; the last query sees all of them."""
    return c.causal_bias(node.emit, steps, total, LOWEST)


def rotated(
    node: Node, x: Value, tables: tuple[Value, Value], places: Value, *, interleaved: bool
) -> Value:
    """Turn pairs of elements of [B, N, S, D] by the angles of their places [B, S].

    Pairs are halves of the head, or neighbours; what the tables [max, R / 2] leave stays.
    """
    make, (batch, count, steps, width) = node.make, node.shape(x)
    most, half = node.static_shape(tables[0], "for a rotation")
    require_within(node, places, 0, most, "position")
    cosine, sine = (
        c.unsqueeze(node.emit, make.to(make.gather(table, places, axis=0), node.dtype(x)), (1,))
        for table in tables
    )
    turned = c.cut(node.emit, x, 3, 0, 2 * half)
    if interleaved:
        pairs = make.reshape(turned, shape=(batch, count, steps, half, 2))
        first, second = (
            c.squeeze(node.emit, c.cut(node.emit, pairs, 4, i, i + 1), (4,)) for i in (0, 1)
        )
    else:
        first, second = (c.cut(node.emit, turned, 3, i * half, (i + 1) * half) for i in (0, 1))
    one = make.sub(make.mul(first, cosine), make.mul(second, sine))
    two = make.add(make.mul(second, cosine), make.mul(first, sine))
    if interleaved:
        made = c.stack(node.emit, (one, two), 4)
        made = make.reshape(made, shape=(batch, count, steps, 2 * half))
    else:
        made = make.concat(one, two, axis=3)
    if width == 2 * half:
        return made
    return make.concat(made, c.cut(node.emit, x, 3, 2 * half, width), axis=3)
