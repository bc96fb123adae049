"""How operations are computed on operands whose axes are in another order.

A rule gets an operation of which one operand, `source`, is at hand as `transpose(source,
undo)`, where `undo` is the inverse of `order`; it makes the same operation on that, and
returns the new value with the order that gives the old result. Rules refuse with None.

    r = relu(transpose(u, order))   =>   r = transpose(relu(u), order)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ...ir import REGISTRY, GraphEmit, Op
from ...ir.ops.normalise import PerSample
from ...ir.ops.reduce import ArgExtreme, Reduction
from ...ir.types.dims import Dim
from ...ir.types.shapes import normalize_axes, normalize_axis
from ..analysis.orders import (
    Order,
    compose_shape,
    inverse,
    is_plain,
    reshape,
    segments,
    to_last,
)
from ..analysis.rewrite import RuleBook, spec


class Versions(Protocol):
    """Gives values in other orders of axes."""

    def version(self, value: SSAValue, order: Order) -> SSAValue:
        """Return the value transposed by an order."""


@dataclass(frozen=True)
class Moving:
    """An operation that is to be computed in another order."""

    op: Op
    order: Order
    """The order from the new to the old axes of the operand that gives the order."""
    source: SSAValue
    """That operand, in its old order."""
    versions: Versions
    emit: GraphEmit

    @property
    def undo(self) -> Order:
        """Return the order from the old to the new axes."""
        return inverse(self.order)

    @property
    def moved(self) -> SSAValue:
        """Return the operand in the new order."""
        return self.versions.version(self.source, self.undo)

    def make(self, *operands: SSAValue, **changes: Any) -> SSAValue:
        """Make the operation on these operands, with changed attributes."""
        attributes = {**self.op.plain_attributes(), **changes}
        made: SSAValue = self.emit(type(self.op), *operands, **attributes)
        return made

    def along(self, per_axis: Sequence[Any]) -> tuple[Any, ...]:
        """Return what belongs to each old axis in the order of the new ones."""
        return tuple(per_axis[axis] for axis in self.undo)


Moved: TypeAlias = tuple[SSAValue, Order] | None
Rule: TypeAlias = Callable[[Moving], Moved]
RULES = RuleBook[Rule]()


@RULES.where(lambda op: op.has("scalar"))
def elementwise(moving: Moving) -> Moved:
    """Bring all operands into the new order."""
    operands = [_aligned(moving, value) for value in moving.op.operands]
    return moving.make(*operands), moving.order


def _aligned(moving: Moving, value: SSAValue) -> SSAValue:
    """Return an operand in the new order; one of lower rank gets leading axes first."""
    shape, rank = spec(value).dims, len(moving.order)
    if len(shape) == rank:
        return moving.versions.version(value, moving.undo)
    full: tuple[Dim, ...] = (*(1 for _ in range(rank - len(shape))), *shape)
    moved = compose_shape(full, moving.undo)
    wide = [axis for axis, dim in enumerate(moved) if dim != 1]
    if not wide:
        return value
    if len(wide) == 1:
        return reshape(moving.emit, value, moved[wide[0] :])
    return moving.versions.version(reshape(moving.emit, value, full), moving.undo)


@RULES.where(lambda op: op.ALONG_AXIS)
def same_shape_along_axis(moving: Moving) -> Moved:
    """Move the axis of softmax and the like."""
    axis = normalize_axis(moving.op.plain_attributes()["axis"], len(moving.order))
    rest = moving.op.operands[1:]
    return moving.make(moving.moved, *rest, axis=moving.order[axis]), moving.order


@RULES.on("concat")
def concat(moving: Moving) -> Moved:
    """Move the axis, and all operands."""
    axis = moving.op.plain_attributes()["axis"]
    operands = [moving.versions.version(v, moving.undo) for v in moving.op.operands]
    return moving.make(*operands, axis=moving.order[axis]), moving.order


@RULES.where(lambda op: issubclass(op, Reduction))
def reduction(moving: Moving) -> Moved:
    """Move the reduced axes."""
    attributes = moving.op.plain_attributes()
    axes = normalize_axes(attributes["axes"], len(moving.order))
    made = moving.make(moving.moved, axes=tuple(sorted(moving.order[axis] for axis in axes)))
    return made, _without(moving.order, axes, keepdims=attributes["keepdims"])


@RULES.where(lambda op: issubclass(op, ArgExtreme))
def search(moving: Moving) -> Moved:
    """Move the axis that argmax searches along."""
    attributes = moving.op.plain_attributes()
    axis = normalize_axis(attributes["axis"], len(moving.order))
    made = moving.make(moving.moved, axis=moving.order[axis])
    return made, _without(moving.order, (axis,), keepdims=attributes["keepdims"])


def _without(order: Order, axes: Sequence[int], *, keepdims: bool) -> Order:
    """Return the order that is left when old axes are reduced."""
    if keepdims:
        return order
    left = [new for old, new in enumerate(order) if old not in axes]
    ranks = sorted(left)
    return tuple(ranks.index(new) for new in left)


@RULES.on("slice")
def slice_(moving: Moving) -> Moved:
    """Move starts, stops and steps."""
    attributes = moving.op.plain_attributes()
    changed = {name: moving.along(attributes[name]) for name in ("starts", "stops", "steps")}
    return moving.make(moving.moved, **changed), moving.order


@RULES.on("pad")
def pad(moving: Moving) -> Moved:
    """Move the pads."""
    pads = moving.along(moving.op.plain_attributes()["pads"])
    return moving.make(moving.moved, pads=pads), moving.order


@RULES.on("broadcast_to")
def broadcast_to(moving: Moving) -> Moved:
    """Move the extents; new axes stay in front."""
    shape = spec(moving.op.results[0]).dims
    new = len(shape) - len(moving.order)
    order = (*range(new), *(axis + new for axis in moving.order))
    return moving.make(moving.moved, shape=compose_shape(shape, inverse(order))), order


@RULES.on("transpose")
def transpose(moving: Moving) -> Moved:
    """Change the order only: nothing is computed."""
    order = moving.op.plain_attributes()["order"]
    return moving.moved, compose_shape(moving.order, order)  # type: ignore[return-value]


@RULES.on("gather")
def gather(moving: Moving) -> Moved:
    """Move the axis that is gathered along, if the result has as many axes."""
    indices = moving.op.operands[1]
    if moving.op.operands[0] is not moving.source or spec(indices).rank != 1:
        return None
    axis = moving.op.plain_attributes()["axis"]
    made = moving.make(moving.moved, indices, axis=moving.order[axis])
    return made, moving.order


@RULES.on("reshape")
def reshape_(moving: Moving) -> Moved:
    """Reshape each run of axes where it is, if its axes stand together in the new order.

    A run whose axes do not is brought together first; the runs stand in the order of their
    first new axes.
    """
    target = spec(moving.op.results[0]).dims
    runs = segments(spec(moving.source).dims, target)
    if runs is None or any(not left for left, _ in runs):
        return None
    runs.sort(key=lambda run: min(moving.order[axis] for axis in run[0]))
    sources = tuple(axis for left, _ in runs for axis in left)
    targets = tuple(axis for _, right in runs for axis in right)
    if is_plain(sources):
        return None
    value = moving.versions.version(moving.source, sources)
    made = reshape(moving.emit, value, compose_shape(target, targets))
    return made, inverse(targets)


@RULES.on("resize")
def resize(moving: Moving) -> Moved:
    """Move extents and scales."""
    attributes = moving.op.plain_attributes()
    changed = {
        name: moving.along(attributes[name]) for name in ("shape", "scales") if attributes[name]
    }
    return moving.make(moving.moved, **changed), moving.order


@RULES.where(lambda op: issubclass(op, PerSample))
def sample_norm(moving: Moving) -> Moved:
    """Write instance_norm and group_norm out: they exist for channels-first images only."""
    x, *vectors = moving.op.operands
    if x is not moving.source or spec(x).dtype.size < 4:
        return None  # narrower floats are normalised in f32, by the decomposition
    attributes = moving.op.plain_attributes()
    channel, shape = moving.order[1], spec(moving.moved).dims
    parts = shape
    if (groups := attributes.get("groups")) is not None:
        parts = (*shape[:channel], groups, shape[channel] // groups, *shape[channel + 1 :])
    axes = tuple(axis for axis in range(len(parts)) if axis not in (moving.order[0], channel))
    normal = _normalised(moving, reshape(moving.emit, moving.moved, parts), axes)
    made = reshape(moving.emit, normal, shape)
    for name, vector in zip(("mul", "add"), vectors, strict=True):
        behind = (1 for _ in shape[channel + 1 :])
        column = reshape(moving.emit, vector, (shape[channel], *behind))
        made = moving.emit(REGISTRY[f"gv.{name}"], made, column)
    return made, moving.order


def _normalised(moving: Moving, x: SSAValue, axes: Order) -> SSAValue:
    """Return x with mean 0 and variance 1 over some axes."""

    def op(name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        made: SSAValue = moving.emit(REGISTRY[f"gv.{name}"], *operands, **attributes)
        return made

    centred = op("sub", x, op("mean", x, axes=axes, keepdims=True))
    variance = op("mean", op("mul", centred, centred), axes=axes, keepdims=True)
    number = np.array(moving.op.plain_attributes()["epsilon"], spec(x).dtype.numpy)
    return op("mul", centred, op("rsqrt", op("add", variance, op("constant", value=number))))


def windows(moving: Moving) -> Moved:
    """Compute a convolution or pool on channels-last images."""
    _, *rest = moving.op.operands
    return moving.make(moving.moved, *rest, channels_last=True), moving.order


def weights_of_windows(moving: Moving) -> Moved:
    """Compute the gradient of weights from channels-last images; it keeps its own order."""
    grad = moving.versions.version(moving.op.operands[1], moving.undo)
    made = moving.make(moving.moved, grad, channels_last=True)
    return made, tuple(range(spec(made).rank))


def image_rule(op: Op) -> Rule:
    """Return how an operation on images is computed channels-last."""
    return weights_of_windows if op.name == "gv.conv_weights" else windows


def is_image_operation(op: Op) -> bool:
    """Say whether an operation on images exists for both orders of their axes."""
    return (
        "channels_last" in type(op).signature().defaults
        and op.name != "gv.max_pool_gradient"  # it decomposes
        and len(op.results) == 1
        and not op.plain_attributes()["channels_last"]
    )


def channels_last_order(rank: int) -> Order:
    """Return the order from [N, *S, C] to [N, C, *S]."""
    return inverse(to_last(rank))


def all_rules() -> Mapping[str, Rule]:
    """Return the rule of each operation by its name."""
    return {name: rules[0] for name, rules in RULES.table().items()}
