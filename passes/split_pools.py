"""Take apart large windows of largest elements: along one axis after the other.

    %y = gv.max_pool %x {window = [9, 9]}    =>    %r = gv.max_pool %x {window = [1, 9]}
                                                   %y = gv.max_pool %r {window = [9, 1]}

The largest of a window is the largest of its rows' largest, and a row's is found once for all
windows that it lies in: 18 elements are compared for a result, where it was 81. The last axis comes
first, whose strides leave the fewest elements behind. Windows of three by three stay whole: what is
saved is less than the tensor in between costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.ir import SSAValue

from ..ir import Op, Program
from ..ir.windows import spatial_axes
from .analysis.rewrite import Rewriter
from .base import Pass

WORTH = 2
"""So many times fewer elements are to be compared."""


@dataclass(frozen=True)
class SplitPools(Pass):
    """Take apart large windows of largest elements, along one axis after the other."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every pool that is worth it."""
        rewriter = Rewriter({"gv.max_pool": (split,)})
        rewriter.run(program)
        self.count("split", rewriter.hits.get("split", 0))


def split(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Return the largest along each axis of those along the axes behind it."""
    given = op.plain_attributes()
    wide = [axis for axis, extent in enumerate(given["window"]) if extent > 1]
    if len(wide) < 2 or WORTH * compared(op, given) > prod(given["window"]) * places(op, given):
        return None
    value = op.operands[0]
    strides = [axis for axis, stride in enumerate(given["strides"]) if stride > 1]
    for axis in sorted({*wide, *strides}, reverse=True):
        value = rewriter("max_pool", value, **{**given, **along(axis, given)})
    return value


def along(axis: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a pool moves by along one axis alone."""

    def only(name: str, rest: object) -> tuple[object, ...]:
        return tuple(x if i == axis else rest for i, x in enumerate(given[name]))

    return {
        **{name: only(name, 1) for name in ("window", "strides", "dilations")},
        "pads": only("pads", (0, 0)),
    }


def compared(op: Op, given: Mapping[str, Any]) -> int:
    """Return how many elements are compared along one axis after the other, for each channel."""
    before, behind = extents(op, given)
    total = 0
    for axis in reversed(range(len(behind))):
        before[axis] = behind[axis]
        if given["window"][axis] > 1:
            total += given["window"][axis] * prod(before)
    return total


def places(op: Op, given: Mapping[str, Any]) -> int:
    """Return how many windows there are, for each channel."""
    return prod(extents(op, given)[1])


def extents(op: Op, given: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """Return the axes before and behind: of an open size what a large image has for one place."""
    last = given["channels_last"]
    axes = spatial_axes(op.specs[0].rank, channels_last=last)
    before, behind = (
        [spec.dims[axis] for axis in axes] for spec in (op.specs[0], op.result_specs[0])
    )
    made: list[tuple[int, int]] = []
    for old, new, stride in zip(before, behind, given["strides"], strict=True):
        if isinstance(old, int) and isinstance(new, int):
            made.append((old, new))
        else:
            made.append((int(stride), 1))
    return [old for old, _ in made], [new for _, new in made]
