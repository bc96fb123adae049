"""Rules of max pools that say where their elements were, and of undoing them."""

from __future__ import annotations

from itertools import product

from xdsl.ir import Block

from ....ir import Dim
from ....ir.compose import functions as c
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule
from ..windows import Windows
from ..within import require_within

MAX_TAPS = 1024
"""Windows of more elements are refused where places are wanted: each is a step."""


def pooled_places(node: Node, x: Value, pooled: Value, windows: Windows) -> Value:
    """Return where in the flat image the first largest element of each window is.

    A window's element is taken where it equals the pool's, from the last to the first.
    """
    make, taps = node.make, list(product(*map(range, windows.kernel)))
    if len(taps) > MAX_TAPS:
        node.refuse(f"places of windows of {len(taps)} elements, expected at most {MAX_TAPS}")
    counts = node.shape(pooled)
    low = node.dtype(x).minimum
    found: object = make.filled(0, d.i64, counts)
    wide = make.pad(x, pads=((0, 0), (0, 0), *windows.pads), value=float(low))
    for tap in reversed(taps):
        rows = [(0, counts[0], 1), (0, counts[1], 1)]
        offsets = [k * dilation for k, dilation in zip(tap, windows.dilations, strict=True)]
        for offset, count, stride in zip(offsets, counts[2:], windows.strides, strict=True):
            rows.append((offset, offset + (count - 1) * stride + 1, stride))
        starts, stops, steps = zip(*rows, strict=True)
        element = make.slice(wide, starts=starts, stops=stops, steps=steps)
        place, inside = _tap(node, x, counts, windows, offsets)
        here = make.logical_and(make.equal(element, pooled), inside)
        found = make.select(here, place, found)
    return make.add(found, _first_places(node, node.shape(x), counts))


def _tap(
    node: Node, x: Value, counts: tuple[Dim, ...], windows: Windows, offsets: list[int]
) -> tuple[Value, Value]:
    """Return a tap's place in its image, and whether it is inside."""
    make, rank = node.make, len(counts)
    extents = list(enumerate(node.shape(x)[2:]))
    if node.integer("storage_order", 0):
        extents.reverse()
    place, inside, unit = make.number(0, d.i64), make.filled(1, d.bool_, ()), make.number(1, d.i64)
    for axis, extent in reversed(extents):
        shape = tuple(counts[i] if i == axis + 2 else 1 for i in range(rank))
        at = make.iota(shape=shape, axis=axis + 2, dtype=d.i64)
        first = offsets[axis] - windows.pads[axis][0]
        at = make.mul(at, make.number(windows.strides[axis], d.i64))
        at = make.add(at, make.number(first, d.i64))
        reaches = make.greater_equal(at, make.number(0, d.i64))
        inside = make.logical_and(inside, reaches)
        inside = make.logical_and(inside, make.less(at, make.extent_of(extent)))
        place = make.add(place, make.mul(at, unit))
        unit = make.mul(unit, make.extent_of(extent))
    return place, inside


def _first_places(node: Node, shape: tuple[Dim, ...], counts: tuple[Dim, ...]) -> Value:
    """Return the place of each image's first element."""
    make = node.make
    ones = (1,) * (len(counts) - 2)
    batch = make.iota(shape=(counts[0], 1, *ones), axis=0, dtype=d.i64)
    channel = make.iota(shape=(1, counts[1], *ones), axis=1, dtype=d.i64)
    image = make.add(make.mul(batch, make.extent_of(shape[1])), channel)
    return make.mul(image, make.extent_of(dim_rules.product(shape[2:])))


@rule("MaxUnpool")
def max_unpool(node: Node, x: Value, places: Value, shape: Value | None = None) -> Value:
    """Put each element where a max pool took it from, zeros elsewhere."""
    make, source = node.make, node.shape(x)
    kernel = node.integers("kernel_shape") or ()
    rank = len(kernel)
    strides = node.integers("strides") or (1,) * rank
    pads = node.integers("pads") or (0,) * (2 * rank)
    rows = zip(source[2:], strides, kernel, pads[:rank], pads[rank:], strict=True)
    extents = tuple((s - 1) * stride + k - low - high for s, stride, k, low, high in rows)
    inferred = (*source[:2], *extents)
    wanted = inferred if shape is None else node.dims(shape, "output_shape")
    # Places that a pool of the model tells are those of its image, which is what is wanted. Of
    # others the standard's own case says that they are those of the shape without it.
    if not (isinstance(places.owner, Block) or places.owner.name == "gv.constant"):
        inferred = tuple(wanted)
    zeros = make.filled(0, node.dtype(x), (dim_rules.product(inferred),))
    require_within(node, places, 0, dim_rules.product(inferred), "place")
    flat = [make.reshape(v, shape=(dim_rules.product(source),)) for v in (places, x)]
    made = make.scatter_elements(zeros, *flat, axis=0, reduction="none")
    made = make.reshape(made, shape=inferred)
    if shape is None:
        return made
    return c.resize_edges(
        node.emit, made, [(0, w - i) for w, i in zip(wanted, inferred, strict=True)]
    )
