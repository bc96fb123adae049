"""Columns of windows added up to an image, tap by tap.

    x : [n, c * 9, h * w]   =>   sum over the 9 taps of x[:, :, tap] moved by where the tap lies

With strides of 2 each tap has its part in every second element only: those that begin alike are
added up, and put between the others at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from ...ir import Dim
from ...ir.compose import functions as c
from ...ir.types import dims as dim_rules
from .node import Node, Value

MOST_TAPS = 64
"""Taps of a window up to which each is a summand of its own."""


@dataclass(frozen=True)
class FoldedAxis:
    """One axis of the image, and how windows lie on it."""

    extent: Dim
    taps: int
    stride: int
    dilation: int
    low: int
    """How many elements the first window begins before the image."""
    places: Dim
    """How many windows there are."""

    @property
    def steps(self) -> Dim:
        """Return how many strides the image is long, the last of which may be a part."""
        return dim_rules.ceil_divide(self.extent, self.stride)

    def begin(self, tap: int) -> tuple[int, int]:
        """Return in which step the first element of a tap is, and where in the step."""
        return divmod(tap * self.dilation - self.low, self.stride)

    def pads(self, tap: int) -> tuple[int, Dim]:
        """Return how many elements there are before and behind those of a tap."""
        step, _ = self.begin(tap)
        return step, self.steps - self.places - step

    @property
    def is_tiled(self) -> bool:
        """Say whether the windows lie side by side and are all of the image."""
        beside = self.taps == self.stride and self.dilation == 1 and self.low == 0
        return beside and self.extent == self.places * self.stride


def added_up(node: Node, x: Value, axes: Sequence[FoldedAxis]) -> Value | None:
    """Add columns up; None where they are too many, or it is open how they lie."""
    taps = [*itertools.product(*(range(axis.taps) for axis in axes))]
    batch, columns, _ = node.shape(x)
    channels = dim_rules.floor_divide(columns, len(taps))
    places = [axis.places for axis in axes]
    if all(axis.is_tiled for axis in axes):
        every = node.make.reshape(x, shape=(batch, channels, *(a.taps for a in axes), *places))
        return _between(node, every, axes)
    behind = [axis.pads(tap)[1] for axis in axes for tap in range(axis.taps)]
    if len(taps) > MOST_TAPS or not all(isinstance(pad, int) for pad in behind):
        return None
    parts: dict[tuple[int, ...], list[Value]] = {}
    spread = node.make.reshape(x, shape=(batch, channels, len(taps), *places))
    for number, tap in enumerate(taps):
        rows = [*zip(axes, tap, strict=True)]
        one = node.make.reshape(
            c.cut(node.emit, spread, 2, number, number + 1), shape=(batch, channels, *places)
        )
        pads = ((0, 0), (0, 0), *(axis.pads(t) for axis, t in rows))
        moved = node.make.pad(one, pads=pads)
        parts.setdefault(tuple(axis.begin(t)[1] for axis, t in rows), []).append(moved)
    if prod(axis.stride for axis in axes) == 1:
        return reduce(node.make.add, *parts.values())
    shape = (batch, channels, *(axis.steps for axis in axes))
    none = node.make.filled(0, node.dtype(x), shape)
    starts = itertools.product(*(range(axis.stride) for axis in axes))
    sums = [reduce(node.make.add, parts[start]) if start in parts else none for start in starts]
    every = node.make.reshape(
        c.stack(node.emit, sums, 2), shape=(*shape[:2], *(a.stride for a in axes), *shape[2:])
    )
    return _between(node, every, axes)


def _between(node: Node, every: Value, axes: Sequence[FoldedAxis]) -> Value:
    """Put elements [n, c, *strides, *steps] between each other, and cut what is too much."""
    rank = len(axes)
    order = [0, 1, *(2 + i + at for i in range(rank) for at in (rank, 0))]
    made = node.make.transpose(every, order=tuple(order))
    head = node.shape(every)[:2]
    made = node.make.reshape(made, shape=(*head, *(axis.steps * axis.stride for axis in axes)))
    for at, axis in enumerate(axes, 2):
        if axis.steps * axis.stride != axis.extent:
            made = c.cut(node.emit, made, at, 0, axis.extent)
    return made
