"""Rules of `com.microsoft` operators on tables of few bits, whose blocks share a scale."""

from __future__ import annotations

import numpy as np

from ....ir.compose import functions as c
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule
from ..within import require_index
from .microsoft import MICROSOFT, levels_of

FLOAT4 = np.array([0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4], np.float32)
FLOAT4 = np.concatenate([FLOAT4, -FLOAT4])
"""What four bits stand for: a sign, two bits of exponent and one of fraction."""
NORMAL4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0,
], np.float32)  # fmt: skip
"""The same where numbers are quantiles of a normal distribution."""


@rule("MatMulBnb4", domain=MICROSOFT)
def matmul_of_codes(node: Node, a: Value, b: Value, largest: Value) -> Value:
    """Multiply by weights of 4 bits, each the place in a table; a block has its largest number."""
    make, rows, inner = node.make, node.integer("N"), node.integer("K")
    block = node.integer("block_size")
    node.integer("training_mode", 0)
    if not node.integer("transB", 1):
        node.refuse("transB of 0 is not supported")
    # The first of two numbers has the higher bits.
    pairs = make.reshape(levels_of(node, node.vector(b), 4), shape=(node.spec(b).size, 2))
    codes = make.reshape(c.flip(node.emit, pairs, (1,)), shape=(node.spec(pairs).size,))
    table = FLOAT4 if node.integer("quant_type", 1) == 0 else NORMAL4
    numbers = make.gather(node.constant(table, d.f32), make.to(codes, d.i64), axis=0)
    numbers = c.cut(node.emit, numbers, 0, 0, rows * inner)
    scale = make.gather(
        node.vector(largest), node.constant(np.arange(rows * inner) // block, d.i64), axis=0
    )
    weights = make.mul(make.to(numbers, node.dtype(scale)), scale)
    weights = make.to(make.reshape(weights, shape=(rows, inner)), node.dtype(a))
    made: Value = make.matmul(a, make.transpose(weights, order=(1, 0)))
    return made


@rule("GatherBlockQuantized", domain=MICROSOFT)
def gather_of_blocks(
    node: Node, table: Value, rows: Value, scales: Value, zeros: Value | None = None
) -> Value:
    """Take rows of a table of few bits, and return what they stand for."""
    make, rank, block = node.make, node.rank(table), node.integer("block_size", 128)
    axis = normalize_axis(node.integer("gather_axis", 0), rank)
    along = normalize_axis(node.integer("quantize_axis", 1), rank)
    if axis == along or along != rank - 1:
        node.refuse(f"blocks along axis {along} of {rank}, rows along {axis}")
    bits = node.integer("bits", 4)
    is_packed = node.dtype(table) == d.u8 and bits < 8
    require_index(node, rows, node.shape(table)[axis])

    def taken(value: Value, *, packed: bool) -> Value:
        found = make.gather(value, rows, axis=axis)
        return levels_of(node, found, bits) if packed else found

    scale = taken(scales, packed=False)
    levels = make.to(taken(table, packed=is_packed), node.dtype(scale))
    if zeros is not None:
        zero = make.to(taken(zeros, packed=is_packed), node.dtype(scale))
        zero = c.cut(node.emit, zero, node.rank(zero) - 1, 0, node.shape(scale)[-1])
    else:
        is_offset = node.dtype(table) == d.u8
        zero = make.number((1 << bits - 1) if is_offset else 0, node.dtype(scale))
    *outer, width = node.shape(levels)
    whole = node.shape(scale)[-1] * block  # the last block may be cut short
    levels = c.resize_edges(node.emit, levels, [*[(0, 0)] * len(outer), (0, whole - width)])
    blocks = make.reshape(levels, shape=(*node.shape(scale), block))
    last = (node.rank(scale),)
    zero = zero if zeros is None else c.unsqueeze(node.emit, zero, last)
    made = make.mul(make.sub(blocks, zero), c.unsqueeze(node.emit, scale, last))
    return c.cut(node.emit, make.reshape(made, shape=(*outer, whole)), len(outer), 0, width)
