"""Rules of operators that resize images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from ...ir import Dim
from ...ir import dtypes as d
from ...ir.shapes import normalize_axis
from .node import Node, Value
from .rules import rule


@dataclass(frozen=True)
class How:
    """How elements between the given ones are made up."""

    mode: str
    coordinate: str
    """Where a place of the result lies in the image."""
    nearest: str
    """How that is rounded where the mode is `nearest`."""


@rule("Upsample", until=8)
def upsample_by_attributes(node: Node, x: Value) -> Value:
    """Enlarge by the factors of attributes."""
    factors = node.floats("scales")
    if factors is None:
        factors = (1.0, 1.0, node.number("height_scale"), node.number("width_scale"))
    return _stretched(node, x, How(_mode(node), "asymmetric", "floor"), factors)


@rule("Resize", since=10, until=10)
def resize_simply(node: Node, x: Value, scales: Value) -> Value:
    """Resize by factors; where axes shrink, the nearest element is the one above."""
    factors = list(map(float, node.numbers(scales, "scales").ravel()))
    x = _stretched(node, x, How(_mode(node), "asymmetric", "floor"), [max(f, 1) for f in factors])
    if min(factors) < 1:
        smaller = [min(f, 1) for f in factors]
        x = _stretched(node, x, How(_mode(node), "asymmetric", "ceil"), smaller)
    return x


@rule("Upsample", since=9)
def upsample(node: Node, x: Value, scales: Value) -> Value:
    """Enlarge by the factors of an input."""
    factors = tuple(map(float, node.numbers(scales, "scales").ravel()))
    return _stretched(node, x, How(_mode(node), "asymmetric", "floor"), factors)


def _mode(node: Node) -> str:
    mode = node.text("mode", "nearest")
    return "linear" if mode in ("bilinear", "trilinear") else mode


@rule("Resize", since=11)
def resize(
    node: Node, x: Value, roi: Value | None = None, scales: Value | None = None,
    sizes: Value | None = None,
) -> Value:  # fmt: skip
    """Resize by factors or to sizes, along all axes or some."""
    where = node.text("coordinate_transformation_mode", "half_pixel")
    if where == "tf_crop_and_resize":
        node.refuse("cropping while resizing is not supported")
    node.number("extrapolation_value", 0.0)
    if node.integer("antialias", 0):
        node.refuse("antialias is not supported")
    rank = node.rank(x)
    axes = [normalize_axis(a, rank) for a in node.integers("axes") or range(rank)]
    how = node.text("nearest_mode", "round_prefer_floor")
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    factors, shape = [1.0] * rank, list(node.shape(x))
    if sizes is not None and node.shape(sizes) != (0,):
        _to_sizes(node, axes, node.dims(sizes, "sizes"), policy, factors, shape)
        given = tuple(factors) if policy != "stretch" else ()
        return _resized(node, x, How(_mode(node), where, how), tuple(shape), given)
    if scales is None:
        node.fail("neither scales nor sizes are given")
    for axis, factor in zip(axes, node.numbers(scales, "scales").ravel(), strict=True):
        factors[axis] = float(factor)
    return _stretched(node, x, How(_mode(node), where, how), factors)


def _to_sizes(
    node: Node, axes: Sequence[int], sizes: Sequence[Dim], policy: str, factors: list[float],
    shape: list[Dim],
) -> None:  # fmt: skip
    """Write the sizes into `shape`, and into `factors` what keeps the aspect if it is kept."""
    if len(sizes) != len(axes):
        node.fail(f"{len(sizes)} sizes, expected {len(axes)}")
    if policy == "stretch":
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return
    pairs = [(size, shape[axis]) for axis, size in zip(axes, sizes, strict=True)]
    ratios = [s / e for s, e in pairs if isinstance(s, int) and isinstance(e, int) and e]
    if len(ratios) < len(pairs):
        node.refuse(f"keep_aspect_ratio_policy {policy} depends on a symbol")
    factor = min(ratios) if policy == "not_larger" else max(ratios)
    for axis in axes:
        extent = shape[axis]
        factors[axis] = factor
        shape[axis] = floor(factor * extent + 0.5) if isinstance(extent, int) else extent


def _stretched(node: Node, x: Value, how: How, factors: Sequence[float]) -> Value:
    """Resize by factors; whole extents that come out exactly need them no longer."""
    if len(factors) != node.rank(x):
        node.fail(f"{len(factors)} scales, expected {node.rank(x)}")
    shape: list[Dim] = []
    exact = True
    for extent, factor in zip(node.shape(x), factors, strict=True):
        if isinstance(extent, int):
            shape.append(floor(extent * factor))
            exact = exact and shape[-1] == extent * factor
        elif factor == int(factor):
            shape.append(extent * int(factor))
        else:
            node.refuse(f"{extent} elements times {factor} depends on a symbol")
    given = () if exact else tuple(factors)
    return _resized(node, x, how, tuple(shape), given)


def _resized(
    node: Node, x: Value, how: How, shape: tuple[Dim, ...], factors: tuple[float, ...]
) -> Value:
    """Append the operation; integers are interpolated as floats."""
    cubic = node.number("cubic_coeff_a", -0.75)
    exclude = bool(node.integer("exclude_outside", 0))
    dtype = node.dtype(x)
    in_floats = how.mode != "nearest" and not dtype.is_float
    made = node.make.resize(
        node.make.to(x, d.f32) if in_floats else x,
        shape=shape, mode=how.mode, coordinate=how.coordinate, nearest=how.nearest,
        scales=factors, cubic=cubic, exclude_outside=exclude,
    )  # fmt: skip
    return node.make.to(made, dtype)
