"""How often sequences of numbers are in rows, as comparisons of parts of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import Array
from ...ir.compose import functions as c
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as d
from .node import Node, Value


def weighed_counts(node: Node, x: Value, grams: Sequence[int]) -> Value:
    """Count in each row the sequences of a pool, and weigh the counts."""
    starts, places = node.integers("ngram_counts") or (), node.integers("ngram_indexes") or ()
    shortest, longest = node.integer("min_gram_length"), node.integer("max_gram_length")
    weights = np.array(node.floats("weights") or (1.0,) * len(places), np.float32)
    skips, mode = node.integer("max_skip_count"), node.text("mode")
    rows = node.make.to(x if node.rank(x) == 2 else c.unsqueeze(node.emit, x, (0,)), d.i64)
    counts = []
    for length in range(1, len(starts) + 1):
        end = starts[length] if length < len(starts) else len(grams)
        pool = np.reshape(grams[starts[length - 1] : end], (-1, length))
        wanted = shortest <= length <= longest
        counts.append(_counted(node, rows, pool, range(skips + 1 if length > 1 else 1), wanted))
    total = node.make.concat(*counts, axis=1) if len(counts) > 1 else counts[0]
    if mode == "IDF":
        total = node.make.to(node.make.greater(total, node.make.number(0, d.f32)), d.f32)
    if mode != "TF":
        total = node.make.mul(total, node.constant(weights))
    spread = np.zeros((len(places), max(places) + 1), np.float32)
    spread[np.arange(len(places)), places] = 1
    made = node.make.matmul(total, node.constant(spread))
    return made if node.rank(x) == 2 else c.squeeze(node.emit, made, (0,))


def _counted(
    node: Node, rows: Value, pool: Array, skips: range,
    wanted: bool,
) -> Value:  # fmt: skip
    """Return how often each sequence of one length is in each row, with some left out between."""
    make, (count, extent) = node.make, node.shape(rows)
    total = make.filled(0, d.f32, (count, len(pool)))
    if not wanted or not len(pool):
        return total
    for skip in skips:
        reach = (pool.shape[1] - 1) * (skip + 1)
        last = dim_rules.maximum(extent - reach, 0)
        if last == 0:
            continue
        found = make.filled(1, d.bool_, ())
        for k in range(pool.shape[1]):
            at = k * (skip + 1)
            part = c.unsqueeze(node.emit, c.cut(node.emit, rows, 1, at, at + last), (1,))
            found = make.logical_and(found, make.equal(part, node.constant(pool[:, k : k + 1])))
        total = make.add(total, make.sum(make.to(found, d.f32), axes=(2,)))
    return total
