"""Broadcast what has a counted size against a fixed one: the count may be 1 or that size.

    y[n, 4] + k[3, 4]  with n of gv.non_zero:  y is expanded to [3, 4]

Sizes of other origin are taken to be equal, as shapes of models that are traced are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from xdsl.ir import Block, SSAValue

from ...ir import Dim, TensorSpec
from ...ir.host import HostOp, defined
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
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, BroadcastError):
        cause = cause.__cause__
    if cause is None:
        return None
    for count, size in (cause.sizes, cause.sizes[::-1]):
        if isinstance(size, int) and size > 1 and _is_count(count, main):
            made = [_spread(node, value, cause.behind, count, size) for value in inputs]
            return made if any(a is not b for a, b in zip(made, inputs, strict=True)) else None
    return None


def _is_count(size: Dim, main: Block) -> bool:
    """Say whether a size is how many of something a host step finds."""
    name = str(size)
    hosts = (op for op in main.walk() if isinstance(op, HostOp) and op.COUNTS)
    return name.isidentifier() and any(name in defined(op) for op in hosts)


def _spread(node: Node, value: Given, behind: int, count: Dim, size: int) -> Given | SSAValue:
    """Return a tensor with an axis of a count expanded; what is neither 1 nor that size raises."""
    spec = node.kind(value) if isinstance(value, SSAValue) else None
    if not isinstance(spec, TensorSpec) or spec.shape is None or spec.rank <= behind:
        return value
    axis = spec.rank - 1 - behind
    if spec.shape[axis] != count:
        return value
    wanted = node.constant(np.array([size, *(1,) * behind]), d.i64)
    sizes = (*spec.shape[:axis], size, *spec.shape[axis + 1 :])
    made: SSAValue = node.make.expand_to(value, wanted, sizes=sizes)
    return made
