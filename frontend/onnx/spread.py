"""Broadcast what has a counted size against a fixed one: the count may be 1 or that size.

    y[n, 4] + k[3, 4]  with n of gv.non_zero:  y is expanded to [3, 4]

Sizes of other origin are taken to be equal, as shapes of models that are traced are. Where a run
shows that they are not, the model is read once more, and either of two sizes may be 1:

    x[n, 3] + y[m, 3]  each is expanded to [u, 3]: u is m where n is 1, else n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...ir import Dim, TensorSpec
from ...ir.host import HostOp, defined
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as d
from ...ir.types.shapes import BroadcastError
from .node import Node

Given = TypeVar("Given")


def spread_counts(
    node: Node, inputs: Sequence[Given], error: BaseException, main: Block
) -> list[Given | SSAValue] | None:
    """Return inputs of which those of a counted size have that which they have to broadcast to.

    None where the error is not about such a size.
    """
    cause = cause_of(error)
    if cause is None:
        return None
    for count, size in (cause.sizes, cause.sizes[::-1]):
        if isinstance(size, int) and size > 1 and _is_count(count, main):
            made = [_spread(node, value, cause.behind, count, size) for value in inputs]
            return made if any(a is not b for a, b in zip(made, inputs, strict=True)) else None
    return None


def spread_sizes(
    node: Node, inputs: Sequence[Given], error: BaseException
) -> list[Given | SSAValue] | None:
    """Return inputs that broadcast whichever of two sizes is 1; what else there is, a run refuses.

    None where the error is not about sizes that may be 1.
    """
    cause = cause_of(error)
    if cause is None:
        return None
    one, other = cause.sizes
    if all(not _may_be_one(node, size) for size in (one, other)):
        return None
    make = node.make
    a, b = make.extent_of(one), make.extent_of(other)
    first = make.reshape(make.select(make.equal(a, make.number(1, d.i64)), b, a), shape=(1,))
    ones = [node.constant(np.ones(cause.behind, np.int64))] if cause.behind else []
    wanted = make.concat(first, *ones, axis=0) if ones else first
    (size,) = node.unknown()
    to = wanted, size
    made = [_expanded(node, value, cause.behind, (one, other), to) for value in inputs]
    return made if any(a is not b for a, b in zip(made, inputs, strict=True)) else None


def _may_be_one(node: Node, size: Dim) -> bool:
    """Say whether a size that is no number can be 1."""
    low, high = dim_rules.bounds(size, node.emitter.ranges)
    return not isinstance(size, int) and low <= 1 and (high is None or high >= 1)


def cause_of(error: BaseException) -> BroadcastError | None:
    """Return the error about shapes that another one comes from, if one does."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, BroadcastError):
        cause = cause.__cause__
    return cause


def _is_count(size: Dim, main: Block) -> bool:
    """Say whether a size is how many of something a host step finds."""
    name = str(size)
    hosts = (op for op in main.walk() if isinstance(op, HostOp) and op.COUNTS)
    return name.isidentifier() and any(name in defined(op) for op in hosts)


def _spread(node: Node, value: Given, behind: int, count: Dim, size: int) -> Given | SSAValue:
    """Return a tensor with an axis of a count expanded; what is neither 1 nor that size raises."""
    wanted = node.constant(np.array([size, *(1,) * behind]), d.i64)
    return _expanded(node, value, behind, (count,), (wanted, size))


def _expanded(
    node: Node, value: Given, behind: int, which: Sequence[Dim], to: tuple[SSAValue, Dim]
) -> Given | SSAValue:
    """Return a tensor in which an axis that has one of some sizes is expanded."""
    spec = node.kind(value) if isinstance(value, SSAValue) else None
    if not isinstance(spec, TensorSpec) or spec.shape is None or spec.rank <= behind:
        return value
    axis = spec.rank - 1 - behind
    if spec.shape[axis] not in which:
        return value
    wanted, size = to
    sizes = (*spec.shape[:axis], size, *spec.shape[axis + 1 :])
    made: SSAValue = node.make.expand_to(value, wanted, sizes=sizes)
    return made
