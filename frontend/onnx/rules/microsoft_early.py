"""Rules of `com.microsoft` operators that were there before the standard had the like.

Converters of estimators and older exporters emit them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.compose import functions as c
from ..node import Node, Value
from ..registry import rule
from .index import gather_nd
from .layout import pad, range_, triangle
from .microsoft import MICROSOFT
from .sample import grid_sample
from .signal import expect_rows

rule("Trilu", domain=MICROSOFT)(triangle)
rule("GatherND", domain=MICROSOFT)(gather_nd)
rule("GridSample", domain=MICROSOFT)(grid_sample)
rule("Pad", domain=MICROSOFT)(pad)


@rule("Range", domain=MICROSOFT)
def steps(node: Node, start: Value, limit: Value, delta: Value | None = None) -> Value:
    """Return numbers from a first one on, by default one apart."""
    return range_(node, start, limit, delta or node.make.number(1, node.dtype(start)))


@rule("ExpandDims", domain=MICROSOFT)
def expand_dims(node: Node, x: Value, axis: Value) -> Value:
    """Insert an axis of extent 1."""
    (at,) = node.integers_of(node.vector(axis), "axis")
    return c.unsqueeze(node.emit, x, (at + node.rank(x) + 1 if at < 0 else at,))


@rule("Unique", domain=MICROSOFT)
def distinct(node: Node, x: Value) -> Sequence[Value]:
    """Return distinct elements as they come, which of them each is, and counts."""
    sizes = node.unknown(high=node.spec(x).size)
    values, _, which, counts = node.make.unique(x, sizes=sizes, sorted=False)
    return [values, which, counts]


@rule("Inverse", domain=MICROSOFT)
def inverse(node: Node, x: Value) -> Value:
    """Return inverses of the matrices on the last two axes."""
    expect_rows(node, x)
    made: Value = node.make.inverse(x)
    return made


@rule("CDist", domain=MICROSOFT)
def distances(node: Node, a: Value, b: Value) -> Value:
    """Return the distance of each row of one matrix to each of another, or its square."""
    make, metric = node.make, node.text("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        node.refuse(f"metric {metric!r}, expected 'euclidean' or 'sqeuclidean'")
    apart = make.sub(c.unsqueeze(node.emit, a, (1,)), c.unsqueeze(node.emit, b, (0,)))
    made: Value = make.sum(make.mul(apart, apart), axes=(2,))
    return make.sqrt(made) if metric == "euclidean" else made
