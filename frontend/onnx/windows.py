"""What a node's attributes say about windows on an image: strides, pads, dilations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...ir import Dim
from ...ir.types import dims as dim_rules
from .node import Node

Pads = tuple[tuple[int, int], ...]
Edges = tuple[tuple[Dim, Dim], ...]
"""Pads that depend on a symbol."""


@dataclass(frozen=True)
class Windows:
    """How windows lie on the spatial axes."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pads

    @property
    def spans(self) -> tuple[int, ...]:
        """Return the extent of a window, with the holes."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))


def windows_of(
    node: Node, kernel: Sequence[int], extents: Sequence[Dim]
) -> tuple[Windows, Edges | None]:
    """Return the windows that a node's attributes describe on axes of these extents.

    Where their pads depend on a symbol they have none: those are the second result, which has to
    be put around the image before.
    """
    rank = len(extents)
    if len(kernel) != rank:
        node.fail(f"a window of {len(kernel)} axes, expected {rank}")
    ones = (1,) * rank
    strides = node.integers("strides") or ones
    dilations = node.integers("dilations") or ones
    pads = node.integers("pads") or (0,) * (2 * rank)
    if not len(strides) == len(dilations) == rank or len(pads) != 2 * rank:
        found = f"{len(strides)} strides, {len(dilations)} dilations, {len(pads)} pads"
        node.fail(f"{found}, expected {rank}, {rank}, {2 * rank}")
    if min(*strides, *dilations, *kernel) < 1:
        node.fail(f"window {kernel}, strides {strides}, dilations {dilations}, expected from 1 on")
    made = Windows(tuple(kernel), strides, dilations, tuple(zip(pads, pads[rank:], strict=False)))
    bare = replace(made, pads=((0, 0),) * rank)
    mode = node.text("auto_pad", "NOTSET")
    if mode == "VALID":
        return bare, None
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        edges = _same(made, extents, upper=mode == "SAME_UPPER")
        known = [(a, b) for a, b in edges if isinstance(a, int) and isinstance(b, int)]
        if len(known) < rank:
            return bare, edges
        return replace(made, pads=tuple(known)), None
    if mode not in ("", "NOTSET"):
        node.fail(f"auto_pad {mode!r}, expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    return made, None


def _same(windows: Windows, extents: Sequence[Dim], *, upper: bool) -> Edges:
    """Pad so that there are as many windows as strides fit on the axis."""
    pads = []
    for extent, span, stride in zip(extents, windows.spans, windows.strides, strict=True):
        total = (dim_rules.ceil_divide(extent, stride) - 1) * stride + span - extent
        if span < stride:
            total = 0 if span == 1 else dim_rules.maximum(total, 0)
        small = dim_rules.floor_divide(total, 2)
        pads.append((small, total - small) if upper else (total - small, small))
    return tuple(pads)


def clamped(windows: Windows, extents: Sequence[Dim]) -> Windows:
    """Return windows without the places at their ends that lie beside the image in all of them.

    So a window is never much larger than its image, whatever the model says. What a window holds
    of the image stays the same.
    """
    rows = zip(
        windows.kernel, windows.strides, windows.dilations, windows.pads, extents, strict=True
    )
    made = [_clamped_axis(*row) for row in rows]
    return Windows(
        tuple(kernel for kernel, _ in made),
        windows.strides,
        windows.dilations,
        tuple(pads for _, pads in made),
    )


def _clamped_axis(
    kernel: int, stride: int, dilation: int, pads: tuple[int, int], extent: Dim
) -> tuple[int, tuple[int, int]]:
    low, high = pads
    span = (kernel - 1) * dilation + 1
    if not isinstance(extent, int) or span <= extent:
        return kernel, pads
    last = max(extent + low + high - span, 0) // stride * stride  # where the last window begins
    front = max((low - last) // dilation, 0)
    back = max(min(kernel - -(-(extent + low) // dilation), high // dilation), 0)
    front = min(front, kernel - 1)
    back = min(back, kernel - 1 - front)
    return kernel - front - back, (low - front * dilation, high - back * dilation)
