"""Broadcast what has a counted size against a fixed one: the count may be 1 or that size.

    y[n, 4] + k[3, 4]  with n of gv.non_zero:  y is expanded to [3, 4]

Sizes of other origin are taken to be equal, as shapes of models that are traced are. Where a run
shows that they are not, the model is read once more, and either of two sizes may be 1:

    x[n, 3] + y[m, 3]  each is expanded to [max(n, m), 3] by reading its only row again and again,
                       and runs require that the sizes are equal or one of them is 1

Where one may be 0, or only data tells it, a host step looks which size wins: u is m where n is 1,
else n. A size beside a number which the user lets be 1 too is so from the first reading on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ...ir import Dim, TensorSpec
from ...ir.host import HostOp, defined
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as d
from ...ir.types.shapes import BroadcastError
from ..dims.assume import Assumption, NeedsAssumptionError
from ..dims.slices import Knowledge
from .node import Node

Given = TypeVar("Given")


def taken_back(block: Block, last: Operation | None) -> bool:
    """Erase what stands behind an operation; say whether that was all that uses it.

    What a graph inside that is not done uses was no broadcasting of the node's inputs.
    """
    made: list[Operation] = []
    while (op := block.last_op if not made else made[-1].prev_op) is not last and op is not None:
        made.append(op)
    for op in made:
        users = (use.operation for result in op.results for use in result.uses)
        if op.regions or any(user not in made for user in users):
            return False
    for op in made:
        block.erase_op(op)
    return True


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
    for number, size in (cause.sizes, cause.sizes[::-1]):
        if isinstance(number, int) and node.emitter.ranges.get(str(size)) == (1, None):
            reason = f"node {node.label!r}: {error}"
            raise NeedsAssumptionError(Assumption(size, number, are_equal=False, reason=reason))
    if all(dim_rules.bounds(size, node.emitter.ranges)[0] >= 1 for size in (one, other)):
        return _changed(inputs, _repeating(node, inputs, cause, one, other))
    make = node.make
    a, b = make.extent_of(one), make.extent_of(other)
    first = make.reshape(make.select(make.equal(a, make.number(1, d.i64)), b, a), shape=(1,))
    ones = [node.constant(np.ones(cause.behind, np.int64))] if cause.behind else []
    wanted = make.concat(first, *ones, axis=0) if ones else first
    (size,) = node.unknown()
    to = wanted, size
    return _changed(
        inputs, [_expanded(node, value, cause.behind, (one, other), to) for value in inputs]
    )


def spread_given(
    node: Node, inputs: Sequence[Given], error: BaseException, given: Collection[str]
) -> list[Given | SSAValue] | None:
    """Return the same for a number and a size that the user lets be 1, and other than the number.

    None for others: what is `given` by nobody is taken to be that number.
    """
    cause = cause_of(error)
    if cause is None:
        return None
    for number, size in (cause.sizes, cause.sizes[::-1]):
        if isinstance(number, int) and str(size) in given:
            return spread_sizes(node, inputs, error)
    return None


def _changed(
    inputs: Sequence[Given], made: list[Given | SSAValue]
) -> list[Given | SSAValue] | None:
    """Return what was made of inputs; None where it is what they were."""
    return made if any(a is not b for a, b in zip(made, inputs, strict=True)) else None


def _repeating(
    node: Node, inputs: Sequence[Given], cause: BroadcastError, one: Dim, other: Dim
) -> list[Given | SSAValue]:
    """Return inputs in which the axis that has one of two sizes, both at least 1, has the larger.

    Reading behind the end of an axis gives its last row, which is the only one there.
    """
    make = node.make
    _require_fit(node, one, other)
    known, sizes = Knowledge(node.emitter.ranges), (one, other)
    larger = dim_rules.maximum(one, other)
    for size, less in (sizes, sizes[::-1]):
        if isinstance(size, int) or known.at_least(size, less):
            larger = size
    places = make.iota(shape=(larger,), axis=0, dtype=d.i64)
    made: list[Given | SSAValue] = []
    for value in inputs:
        place = _axis_of(node, value, cause.behind, (one, other))
        if place is None or place.shape[place.axis] == larger:
            made.append(value)
        else:
            made.append(make.gather(place.value, places, axis=place.axis))
    return made


def _require_fit(node: Node, one: Dim, other: Dim) -> None:
    """Let runs refuse two sizes, both at least 1, that are neither equal nor is one of them 1."""
    make = node.make
    a, b, only = make.extent_of(one), make.extent_of(other), make.number(1, d.i64)
    fits = make.logical_or(make.equal(a, b), make.equal(make.minimum(a, b), only))
    make.require(fits, message=f"sizes {one} and {other} are to be equal, or one of them 1")


def with_larger(node: Node, own: Sequence[Dim], wanted: Sequence[Dim]) -> list[Dim]:
    """Return wanted sizes with those in their place that a tensor has instead, and are larger.

    What is repeated up to max(n, m), because either may be 1, is to broadcast to n all the same.
    """
    known, made = Knowledge(node.emitter.ranges), list(wanted)
    for at in range(1, min(len(own), len(wanted)) + 1):
        has, size = own[-at], wanted[-at]
        if isinstance(has, int) or str(has).isidentifier() or size in (1, has):
            continue  # what the user gave is taken to be equal first
        if dim_rules.bounds(size, node.emitter.ranges)[0] >= 1 and known.at_least(has, size):
            _require_fit(node, has, size)
            made[-at] = has
    return made


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
    place = _axis_of(node, value, behind, which)
    if place is None:
        return value
    wanted, size = to
    sizes = (*place.shape[: place.axis], size, *place.shape[place.axis + 1 :])
    made: SSAValue = node.make.expand_to(place.value, wanted, sizes=sizes)
    return made


class SizedAxis(NamedTuple):
    """An axis of a tensor."""

    value: SSAValue
    shape: tuple[Dim, ...]
    axis: int


def _axis_of(node: Node, value: object, behind: int, which: Sequence[Dim]) -> SizedAxis | None:
    """Return the axis of a tensor before so many others, if it has one of some sizes."""
    if not isinstance(value, SSAValue):
        return None
    spec = node.kind(value)
    if not isinstance(spec, TensorSpec) or spec.shape is None or spec.rank <= behind:
        return None
    axis = spec.rank - 1 - behind
    return SizedAxis(value, spec.shape, axis) if spec.shape[axis] in which else None
