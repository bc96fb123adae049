"""Rules of `com.microsoft` operators that exporters and optimisers of transformers emit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....ir import Dim
from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ..attention import (
    LOWEST,
    Heads,
    added,
    attend,
    causal_mask,
    hidden_where,
    join_heads,
    key_mask,
    rotated,
    shared_heads,
    split_heads,
)
from ..node import Node, Value
from ..registry import rule
from ..within import require_within
from .matrix import gemm, scaled
from .quantise import dequantize, quantize
from .window import conv

MICROSOFT = "com.microsoft"

rule("QuantizeLinear", domain=MICROSOFT)(quantize)
rule("DequantizeLinear", domain=MICROSOFT)(dequantize)


@rule("Gelu", "BiasGelu", domain=MICROSOFT)
def gelu(node: Node, x: Value, bias: Value | None = None) -> Value:
    """Return the Gaussian error unit of the operand, with a bias added before."""
    return node.make.gelu(x if bias is None else node.make.add(x, bias))


@rule("FastGelu", domain=MICROSOFT)
def fast_gelu(node: Node, x: Value, bias: Value | None = None) -> Value:
    """Return its approximation by tanh."""
    return node.make.gelu(x if bias is None else node.make.add(x, bias), approximate="tanh")


@rule("QuickGelu", domain=MICROSOFT)
def quick_gelu(node: Node, x: Value) -> Value:
    """Return x * sigmoid(alpha * x)."""
    make, alpha = node.make, node.number("alpha", 1.702)
    return make.mul(x, make.sigmoid(make.mul(x, make.number(alpha, node.dtype(x)))))


@rule("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(node: Node, a: Value, b: Value) -> Value:
    """Multiply matrices, transposed before or not, and scale."""
    a, b = (
        _batches_behind(node, x) if node.integer(name, 0) else x
        for x, name in ((a, "transBatchA"), (b, "transBatchB"))
    )
    # A vector is a row, or a column: there is nothing to turn.
    is_row, is_column = node.rank(a) == 1, node.rank(b) == 1
    made = node.make.matmul(
        c.unsqueeze(node.emit, a, (0,)) if is_row else a,
        c.unsqueeze(node.emit, b, (1,)) if is_column else b,
        transpose_lhs=bool(node.integer("transA", 0)) and not is_row,
        transpose_rhs=bool(node.integer("transB", 0)) and not is_column,
    )  # fmt: skip
    last = node.rank(made) - 1
    made = c.squeeze(node.emit, made, [last - 1] * is_row + [last] * is_column)
    return scaled(node, made, node.number("alpha", 1.0))


def _batches_behind(node: Node, x: Value) -> Value:
    """Turn [M, *B, K] into [*B, M, K]."""
    rank = node.rank(x)
    return node.make.transpose(x, order=(*range(1, rank - 1), 0, rank - 1))


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_layer_norm(
    node: Node, x: Value, skip: Value, scale: Value, *more: Value | None
) -> Sequence[Value | None]:
    """Normalise a sum over the last axis; the fourth output is the sum."""
    is_simple = node.op_type == "SkipSimplifiedLayerNormalization"
    beta, bias = (None, *node.padded(more, 1)) if is_simple else node.padded(more, 2)
    total = node.make.add(x, skip)
    if bias is not None:
        total = node.make.add(total, bias)
    return [normalised(node, total, scale, beta, simple=is_simple), None, None, total]


def normalised(node: Node, x: Value, scale: Value, beta: Value | None, *, simple: bool) -> Value:
    """Return a sum of the like as it is normalised along its last axis."""
    epsilon, axis = node.number("epsilon", 1e-5 if simple else 1e-12), node.rank(x) - 1
    if simple:
        return node.make.rms_norm(x, scale, axis=axis, epsilon=epsilon)
    shift = node.make.number(0, node.dtype(x)) if beta is None else beta
    return node.make.layer_norm(x, scale, shift, axis=axis, epsilon=epsilon)


@rule("EmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_norm(
    node: Node, ids: Value, segments: Value | None, words: Value, positions: Value,
    kinds: Value | None, *more: Value | None,
) -> Sequence[Value | None]:  # fmt: skip
    """Add the rows of words, positions and segments, and normalise; count the mask's ones."""
    make = node.make
    scale, beta, mask, places = node.padded(more, 4)
    _, steps = node.shape(ids)
    require_within(node, ids, 0, node.shape(words)[0], "word")
    total = make.gather(words, ids, axis=0)
    at = make.iota(shape=(1, steps), axis=1, dtype=d.i64) if places is None else places
    require_within(node, at, 0, node.shape(positions)[0], "position")
    total = make.add(total, make.gather(positions, at, axis=0))
    if kinds is not None and segments is not None:
        require_within(node, segments, 0, node.shape(kinds)[0], "segment")
        total = make.add(total, make.gather(kinds, segments, axis=0))
    return [normalised(node, total, scale, beta, simple=False), ones_of(node, ids, mask), total]


def ones_of(node: Node, ids: Value, mask: Value | None) -> Value:
    """Return how many words of each row a mask lets be seen, 0 without one."""
    node.integer("mask_index_type", 0)
    if mask is None:
        return node.make.filled(0, d.i32, (node.shape(ids)[0],))
    made: Value = node.make.sum(node.make.to(mask, d.i32), axes=(1,))
    return made


@rule("Attention", domain=MICROSOFT)
def attention(node: Node, x: Value, weights: Value, *more: Value | None) -> Sequence[Value]:
    """Return attention of an input to itself: its product with weights is Q, K and V in a row."""
    bias, mask, past, extra, length = node.padded(more, 5)
    if length is not None:
        node.refuse("a past that shares its buffer with the present is not supported")
    product = node.make.matmul(x, weights)
    product = product if bias is None else node.make.add(product, bias)
    return to_itself(node, product, mask, past, extra)


def to_itself(
    node: Node, product: Value, mask: Value | None, past: Value | None, extra: Value | None = None
) -> Sequence[Value]:
    """Return attention of what has Q, K and V in a row, and what is kept of K and V."""
    if node.integer("past_present_share_buffer", 0):
        node.refuse("a past that shares its buffer with the present is not supported")
    if node.integer("do_rotary", 0):
        node.refuse("do_rotary is not supported")
    make, count = node.make, node.integer("num_heads")
    low = node.number("mask_filter_value", -10000.0)
    width = node.shape(product)[2]
    sizes = node.integers("qkv_hidden_sizes") or (dim_rules.floor_divide(width, 3),) * 3
    q, k, v = (split_heads(node, p, count) for p in c.split(node.emit, product, 2, sizes))
    if past is not None:
        k, v = (
            make.concat(
                c.squeeze(node.emit, c.cut(node.emit, past, 0, i, i + 1), (0,)), new, axis=2
            )
            for i, new in enumerate((k, v))
        )
    batch, _, total, _ = node.shape(k)
    masks = [key_mask(node, mask, batch, total, low), extra]
    if node.integer("unidirectional", 0):
        masks.append(causal_mask(node, node.shape(q)[2], total))
    made = attend(node, Heads(q, k, v), node.number("scale", 0.0), added(node, *masks))
    present = [c.stack(node.emit, (k, v), 0)] if node.wants(1) else []
    return [join_heads(node, made), *present]


@rule("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(
    node: Node, query: Value, key: Value | None = None, value: Value | None = None,
    *more: Value | None,
) -> Sequence[Value]:  # fmt: skip
    """Return attention of queries to keys and values, each given by itself or packed together."""
    bias, mask, extra, past_key, past_value, length, indirect = node.padded(more, 7)
    if length is not None or indirect is not None:
        node.refuse("a past that shares its buffer with the present is not supported")
    make, count = node.make, node.integer("num_heads")
    low = node.number("mask_filter_value", -10000.0)
    parts = _unpacked(node, query, key, value)
    if bias is not None:
        widths = [node.shape(p)[2] if node.rank(p) == 3 else 0 for p in parts]
        if 0 in widths:
            node.refuse("a bias on keys that are split into heads is not supported")
        cuts = c.split(node.emit, bias, 0, widths)
        parts = [make.add(p, b) for p, b in zip(parts, cuts, strict=True)]
    q, k, v = (split_heads(node, p, count) if node.rank(p) == 3 else p for p in parts)
    if past_key is not None and past_value is not None:
        k, v = make.concat(past_key, k, axis=2), make.concat(past_value, v, axis=2)
    batch, _, total, _ = node.shape(k)
    masks = [key_mask(node, mask, batch, total, low), extra]
    if node.integer("unidirectional", 0):
        masks.append(causal_mask(node, node.shape(q)[2], total))
    made = attend(node, Heads(q, k, v), node.number("scale", 0.0), added(node, *masks))
    return [join_heads(node, made), k, v][: max(len(node.proto.output), 1)]


def _unpacked(node: Node, query: Value, key: Value | None, value: Value | None) -> list[Value]:
    """Return queries, keys and values: of [B, S, N, 3, D], Q and [B, T, N, 2, D], or of three."""

    def taken(packed: Value, index: int) -> Value:
        part = c.squeeze(node.emit, c.cut(node.emit, packed, 3, index, index + 1), (3,))
        batch, steps, heads, width = node.shape(part)
        return node.make.reshape(part, shape=(batch, steps, heads * width))

    if key is None:
        return [taken(query, index) for index in range(3)]
    if value is None:
        return [query, *(taken(key, index) for index in range(2))]
    return [query, key, value]


@rule("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(node: Node, x: Value, places: Value, cosine: Value, sine: Value) -> Value:
    """Turn pairs of elements of each head by the angles of their places."""
    make, is_flat = node.make, node.rank(x) == 3
    node.integer("rotary_embedding_dim", 0)
    node.number("scale", 1.0)
    if node.integer("is_packed_batching", 0):
        node.refuse("is_packed_batching is not supported")
    count = node.integer("num_heads", 0)
    if is_flat:
        if not count:
            width = node.static_shape(x, "where num_heads is not given")[2]
            count = width // (2 * node.static_shape(cosine, "for a rotation")[1])
        x = split_heads(node, x, count)
    batch, _, steps, _ = node.shape(x)
    if node.rank(places) < 2:
        row = make.iota(shape=(1, steps), axis=1, dtype=d.i64)
        places = make.add(row, make.reshape(make.to(places, d.i64), shape=(1, 1)))
        places = make.broadcast_to(places, shape=(batch, steps))
    made = rotated(
        node, x, (cosine, sine), places, interleaved=bool(node.integer("interleaved", 0))
    )
    return join_heads(node, made) if is_flat else made


USUAL_GROUPS: Mapping[str, int | str] = {
    "causal": 1, "qk_output": 0, "sliding_window_cache": 0,
    "k_quant_type": "NONE", "v_quant_type": "NONE",
}  # fmt: skip
"""Attributes that onnxruntime writes, and the only values of them that are read."""


@rule("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(
    node: Node, query: Value, key: Value | None, value: Value | None, *more: Value | None
) -> Sequence[Value]:
    """Return causal attention in which queries share keys, and the grown cache of both."""
    (past_key, past_value, lengths, whole, cosine, sine, places, extra, sink, *quantised) = (
        node.padded(more, 9)
    )
    if any(value is not None for value in quantised):
        node.refuse("scales of a cache and weights of a norm are not supported")
    node.number("qk_norm_epsilon", 1e-6)
    for name, usual in USUAL_GROUPS.items():
        node.only(name, usual)
    if lengths is None or whole is None:
        node.fail("seqlens_k or total_sequence_length is missing")
    make, counts = node.make, (node.integer("num_heads"), node.integer("kv_num_heads"))
    if key is None or value is None:
        whole_width = node.shape(query)[2]
        width = dim_rules.floor_divide(whole_width, counts[0] + 2 * counts[1])
        sizes = [width * n for n in (counts[0], counts[1], counts[1])]
        query, key, value = c.split(node.emit, query, 2, sizes)
    q, k, v = (
        split_heads(node, x, n)
        for x, n in ((query, counts[0]), (key, counts[1]), (value, counts[1]))
    )
    batch, _, steps, _ = node.shape(q)
    ends = make.reshape(make.to(lengths, d.i64), shape=(batch, 1))
    first = make.sub(ends, make.extent_of(steps - 1))
    first = make.maximum(first, make.number(0, d.i64))  # prompts of all lengths begin at 0
    row = make.add(make.iota(shape=(1, steps), axis=1, dtype=d.i64), first)
    turned = bool(node.integer("rotary_interleaved", 0))
    if node.integer("do_rotary", 0):
        if cosine is None or sine is None:
            node.fail("cos_cache or sin_cache is missing")
        at = row if places is None else places
        q, k = (rotated(node, x, (cosine, sine), at, interleaved=turned) for x in (q, k))
    total = steps
    if past_key is not None:
        (total,) = node.sizes(node.vector(whole), "total_sequence_length")
    require_within(node, lengths, 0, total, "last place")
    k, v = (_grown(node, past, new, row, total) for past, new in ((past_key, k), (past_value, v)))
    bias = added(node, _window(node, row, ends, total), extra)
    seen = (c.cut(node.emit, x, 2, 0, total) for x in (k, v))
    heads = Heads(q, *(shared_heads(node, x, counts[0]) for x in seen))
    if node.integer("smooth_softmax", 0) > 0 and sink is None:
        sink = make.filled(0, d.f32, (counts[0],))
    scale, cap = node.number("scale", 0.0), node.number("softcap", 0.0)
    return [join_heads(node, attend(node, heads, scale, bias, cap, sink)), k, v]


def _grown(node: Node, past: Value | None, new: Value, row: Value, total: Dim) -> Value:
    """Return a cache with new entries at the places of each row of a batch.

    It stays as long as it is where it has room for all.
    """
    if past is None:
        return new
    length = node.shape(past)[2]
    more = dim_rules.maximum(length, total) - length
    longer = c.resize_edges(node.emit, past, [(0, 0), (0, 0), (0, more), (0, 0)])
    at = node.make.broadcast_to(c.unsqueeze(node.emit, row, (1, 3)), shape=node.shape(new))
    return node.make.scatter_elements(longer, at, new, axis=2, reduction="none")


def _window(node: Node, row: Value, ends: Value, total: Dim) -> Value:
    """Return the bias that hides keys behind each query or the end, and those too far before."""
    make, size = node.make, node.integer("local_window_size", -1)
    column = make.iota(shape=(1, 1, total), axis=2, dtype=d.i64)
    at = c.unsqueeze(node.emit, row, (2,))
    visible = make.less_equal(column, make.minimum(at, c.unsqueeze(node.emit, ends, (2,))))
    if size > 0:
        near = make.greater(column, make.sub(at, make.number(size, d.i64)))
        visible = make.logical_and(visible, near)
    return c.unsqueeze(node.emit, hidden_where(node, visible, LOWEST), (1,))


@rule("MatMulNBits", domain=MICROSOFT)
def matmul_bits(node: Node, a: Value, b: Value, scales: Value, *more: Value | None) -> Value:
    """Multiply by weights of 2, 4 or 8 bits that share a scale by blocks: [N, blocks, bytes]."""
    zeros, order, bias = node.padded(more, 3)
    node.integer("accuracy_level", 0)
    node.only("weight_prepacked", 0)
    make, dtype = node.make, node.dtype(a)
    rows, inner, block = node.integer("N"), node.integer("K"), node.integer("block_size")
    bits, blocks = node.integer("bits", 4), -(-inner // block)
    if bits not in (2, 4, 8):
        node.refuse(f"weights of {bits} bits, expected 2, 4 or 8")
    levels = make.reshape(levels_of(node, b, bits), shape=(rows, blocks, block))
    scale = make.reshape(scales, shape=(rows, blocks, 1))
    if zeros is None:
        zero = make.number(1 << bits - 1, node.dtype(scale))
    elif node.dtype(zeros) == d.u8:
        packed = -(-blocks * bits // 8)
        each = levels_of(node, make.reshape(zeros, shape=(rows, packed)), bits)
        each = c.cut(node.emit, each, 1, 0, blocks)
        zero = make.to(c.unsqueeze(node.emit, each, (2,)), node.dtype(scale))
    else:
        zero = make.reshape(zeros, shape=(rows, blocks, 1))
    if order is not None:  # the block of each row of the whole matrix, instead of its place
        levels = make.reshape(levels, shape=(rows, blocks * block, 1))
        levels = c.cut(node.emit, levels, 1, 0, inner)
        scale = make.gather(scale, order, axis=1)
        zero = zero if zeros is None else make.gather(zero, order, axis=1)
    weights = make.mul(make.sub(make.to(levels, node.dtype(scale)), zero), scale)
    weights = make.reshape(weights, shape=(rows, node.spec(weights).size // rows))
    weights = make.to(c.cut(node.emit, weights, 1, 0, inner), dtype)
    row = c.unsqueeze(node.emit, a, (0,)) if node.rank(a) == 1 else a
    made = make.matmul(row, make.transpose(weights, order=(1, 0)))
    made = made if row is a else c.squeeze(node.emit, made, (0,))
    return made if bias is None else make.add(made, bias)


def levels_of(node: Node, x: Value, bits: int) -> Value:
    """Return the numbers in bytes, the lowest bits first: as many times more on the last axis."""
    if bits == 8:
        return x
    make, (*outer, width) = node.make, node.shape(x)
    shifts = node.constant(np.arange(0, 8, bits), d.u8)
    parts = make.shift_right(c.unsqueeze(node.emit, x, (len(outer) + 1,)), shifts)
    parts = make.bitwise_and(parts, make.number((1 << bits) - 1, d.u8))
    return make.reshape(parts, shape=(*outer, width * (8 // bits)))


@rule("FusedGemm", domain=MICROSOFT)
def fused_gemm(node: Node, a: Value, b: Value, bias: Value | None = None) -> Value:
    """Multiply matrices, add, and apply an activation."""
    params = {name: node.number(f"activation_{name}") for name in ("alpha", "beta", "gamma")
              if node.has(f"activation_{name}")}  # fmt: skip
    return _activated(node, gemm(node, a, b, bias), list(params.values()))


@rule("FusedConv", domain=MICROSOFT)
def fused_conv(
    node: Node, x: Value, w: Value, bias: Value | None = None, more: Value | None = None
) -> Value:
    """Convolve, add, and apply an activation."""
    made = conv(node, x, w, bias)
    made = made if more is None else node.make.add(made, more)
    return _activated(node, made, node.floats("activation_params") or ())


def _activated(node: Node, x: Value, params: Sequence[float]) -> Value:
    name = node.text("activation", "")
    if not name:
        return x
    if name not in ACTIVATIONS:
        node.refuse(f"activation {name!r}, expected one of {', '.join(ACTIVATIONS)}")
    if name == "Clip":
        low, high = (node.make.number(p, node.dtype(x)) for p in params)
        return node.make.clip(x, low, high)
    given = dict(zip(("alpha", "beta"), params, strict=False))
    made: Value = getattr(node.make, ACTIVATIONS[name])(x, **given)
    return made


ACTIVATIONS = {
    "Clip": "clip", "HardSigmoid": "hard_sigmoid", "LeakyRelu": "leaky_relu", "Relu": "relu",
    "Sigmoid": "sigmoid", "Tanh": "tanh",
}  # fmt: skip
"""By their names there: operations whose attributes are the parameters, in order."""
