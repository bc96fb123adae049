"""Host steps: shapes that are data, selections whose size is data, texts.

Sizes that such a step finds out are read off its results where something else needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir import Op
from ....ir import dtypes as d
from .rules import writes
from .writer import Writer


@writes("gv.read_sizes")
def read_sizes(out: Writer, op: Op, vector: str) -> Sequence[str]:
    """Note that dimensions are the elements of a vector."""
    wide = out.cast(vector, d.i64)
    for place, size in enumerate(op.plain_attributes()["sizes"]):
        out.extents.declare_element(wide, place, size)
    return ()


@writes("gv.reshape_to")
def reshape_to(out: Writer, op: Op, x: str, shape: str) -> str:
    """Write the operator itself."""
    zero = int(op.plain_attributes()["zero"])
    return str(out.node("Reshape", x, out.cast(shape, d.i64), allowzero=zero))


@writes("gv.expand_to")
def expand_to(out: Writer, op: Op, x: str, shape: str) -> str:
    """Write the operator itself."""
    return str(out.node("Expand", x, out.cast(shape, d.i64)))


@writes("gv.slice_by")
def slice_by(out: Writer, op: Op, x: str, *bounds: str) -> str:
    """Write the operator itself."""
    starts, stops, steps = (out.cast(each, d.i64) for each in bounds)
    axes = out.integers(op.plain_attributes()["axes"])
    return str(out.node("Slice", x, starts, stops, axes, steps))


@writes("gv.pad_by")
def pad_by(out: Writer, op: Op, x: str, pads: str, value: str) -> str:
    """Write the operator itself."""
    rules = op.plain_attributes()
    if op.specs[2].rank:
        value = str(out.node("Squeeze", value))
    axes = out.integers(rules["axes"])
    return str(out.node("Pad", x, out.cast(pads, d.i64), value, axes, mode=rules["mode"]))


@writes("gv.range_of")
def range_of(out: Writer, op: Op, *bounds: str) -> str:
    """Write the operator itself, which wants numbers without axes."""
    pairs = zip(bounds, op.specs, strict=True)
    given = [out.node("Squeeze", name) if spec.rank else name for name, spec in pairs]
    return str(out.node("Range", *given))


@writes("gv.leading")
def leading(out: Writer, op: Op, x: str, count: str) -> str:
    """Cut off what is behind the count."""
    stop = out.node("Reshape", out.cast(count, d.i64), out.integers((1,)))
    return str(out.node("Slice", x, out.integers((0,)), stop, out.integers((0,))))


@writes("gv.non_zero")
def non_zero(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself; a number is a vector of one."""
    if not op.specs[0].rank:
        x = str(out.node("Reshape", x, out.integers((1,))))
    return str(out.node("NonZero", x))


@writes("gv.unique")
def unique(out: Writer, op: Op, x: str) -> Sequence[str]:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more: dict[str, Any] = {} if rules["axis"] is None else {"axis": rules["axis"]}
    made: Sequence[str] = out.node("Unique", x, outputs=4, sorted=int(rules["sorted"]), **more)
    return made


@writes("gv.non_max_suppression")
def non_max_suppression(out: Writer, op: Op, *xs: str) -> str:
    """Write the operator itself."""
    boxes, scores, *numbers = xs
    kinds = (d.i64, d.f32, d.f32)
    given = [out.cast(name, kind) for name, kind in zip(numbers, kinds, strict=True)]
    center = int(op.plain_attributes()["center"])
    return str(out.node("NonMaxSuppression", boxes, scores, *given, center_point_box=center))


@writes("gv.text_concat")
def text_concat(out: Writer, op: Op, a: str, b: str) -> str:
    """Write the operator itself."""
    return str(out.node("StringConcat", a, b))


@writes("gv.text_match")
def text_match(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself."""
    return str(out.node("RegexFullMatch", x, pattern=op.plain_attributes()["pattern"]))
