"""Rules of operators that resize images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from ....ir import Dim, DType
from ....ir.ops.host.resizing import ends_of
from ....ir.ops.resize import times
from ....ir.ops.resize_matrix import Stretch, outside
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axis
from ..node import Node, Value
from ..registry import rule
from ..taps import OpenStretch, resized_along

WHOLE = (0.0, 1.0)
"""Begin and end of an axis that is not cropped."""
FINEST = 1 << 10
"""The largest divisor of a factor whose product with a size rounds nowhere, in 32 bits either."""

MOST_EXTENT = 1 << 20
"""The highest extent up to which all are looked at."""


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
    if node.is_data(scales):
        make, one = node.make, node.make.number(1, d.f32)
        x = _resized_by(node, x, How(_mode(node), "asymmetric", "floor"), make.maximum(scales, one))
        return _resized_by(
            node, x, How(_mode(node), "asymmetric", "ceil"), make.minimum(scales, one)
        )
    factors = list(map(float, node.numbers(scales, "scales").ravel()))
    x = _stretched(node, x, How(_mode(node), "asymmetric", "floor"), [max(f, 1) for f in factors])
    if min(factors) < 1:
        smaller = [min(f, 1) for f in factors]
        x = _stretched(node, x, How(_mode(node), "asymmetric", "ceil"), smaller)
    return x


@rule("Upsample", since=9)
def upsample(node: Node, x: Value, scales: Value) -> Value:
    """Enlarge by the factors of an input."""
    if node.is_data(scales):
        return _resized_by(node, x, How(_mode(node), "asymmetric", "floor"), scales)
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
    fill = node.number("extrapolation_value", 0.0)
    crops, antialias = where == "tf_crop_and_resize", _antialiases(node)
    rank = node.rank(x)
    axes = [normalize_axis(a, rank) for a in node.integers("axes") or range(rank)]
    how = _how(node, where)
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    factors, shape = [1.0] * rank, list(node.shape(x))
    given: tuple[float, ...] = ()
    by = sizes if sizes is not None and node.shape(sizes) != (0,) else scales
    if by is not None and _is_late(node, x, axes, by, roi if crops else None):
        return _resized_late(node, x, how, by, roi if crops else None)
    if by is sizes and sizes is not None:
        _to_sizes(node, axes, node.sizes(sizes, "sizes"), policy, factors, shape)
        given = tuple(factors) if policy != "stretch" else ()
    elif scales is None:
        node.fail("neither scales nor sizes are given")
    elif node.is_data(scales):
        return _resized_by(node, x, how, scales, axes)
    else:
        for axis, factor in zip(axes, node.numbers(scales, "scales").ravel(), strict=True):
            factors[axis] = float(factor)
        shape, given = _stretched_shape(node, x, factors)
    if not crops and not antialias:
        return _resized(node, x, how, tuple(shape), given)
    regions = _regions(node, roi, axes) if crops else [WHOLE] * rank
    return _by_taps(node, x, _rows(node, x, how, shape, given, regions), fill)


def _antialiases(node: Node) -> bool:
    """Say whether what is made smaller is smoothed, which the nearest elements are not."""
    return bool(node.integer("antialias", 0)) and _mode(node) != "nearest"


def _is_late(node: Node, x: Value, axes: Sequence[int], by: Value, roi: Value | None) -> bool:
    """Say whether what is cropped, or a factor that keeps the aspect, is known in the run only."""
    keeps = node.text("keep_aspect_ratio_policy", "stretch") != "stretch"
    keeps = keeps and node.dtype(by).is_integer
    if roi is None and not _antialiases(node) and not keeps:
        return False
    known = [node.known(each) for each in (by, *(() if roi is None else (roi,)))]
    if any(each is None for each in known):
        return True
    if roi is None and not keeps:
        return False
    extents = [node.shape(x)[axis] for axis in axes]
    sizes, *ends = (each.ravel().tolist() for each in known if each is not None)
    staying = extents if node.dtype(by).is_integer else [1.0] * len(axes)
    regions = (
        zip(*np.reshape(ends[0], (2, -1)).tolist(), strict=True) if ends else [WHOLE] * len(axes)
    )
    return any(
        not isinstance(extent, int) or isinstance(size, dim_rules.DimExpr)
        for extent, size, stays, region in zip(extents, sizes, staying, regions, strict=True)
        if keeps or size != stays or tuple(region) != WHOLE
    )


def _resized_late(node: Node, x: Value, how: How, by: Value, roi: Value | None) -> Value:
    """Append the host step that has all rules."""
    rank, policy = node.rank(x), node.text("keep_aspect_ratio_policy", "stretch")
    axes = tuple(normalize_axis(a, rank) for a in node.integers("axes") or range(rank))
    known = node.known(by) if node.dtype(by).is_integer and policy == "stretch" else None
    sizes = node.fill_in([None] * len(axes) if known is None else known.ravel().tolist())
    return node.make.resize_to(
        x, by, *(() if roi is None else (roi,)), axes=axes, sizes=sizes, policy=policy,
        mode=how.mode, coordinate=how.coordinate, nearest=how.nearest,
        cubic=node.number("cubic_coeff_a", -0.75),
        exclude_outside=bool(node.integer("exclude_outside", 0)),
        antialias=_antialiases(node),
        fill=node.number("extrapolation_value", 0.0),
    )  # fmt: skip


def _how(node: Node, where: str) -> How:
    """Return how elements are made up.

    What `tf_half_pixel_for_nn` rounds down lies half an element above what `half_pixel` does:
    that rounds to the nearest. It was in the standard until its version 12, and tf2onnx writes it
    still.
    """
    mode, nearest = _mode(node), node.text("nearest_mode", "round_prefer_floor")
    if (where, mode, nearest) == ("tf_half_pixel_for_nn", "nearest", "floor"):
        return How(mode, "half_pixel", "round_prefer_ceil")
    return How(mode, where, nearest)


def _regions(node: Node, roi: Value | None, axes: Sequence[int]) -> list[tuple[float, float]]:
    """Return begin and end of what is cropped of each axis, as parts of it."""
    found = [WHOLE] * (max(axes) + 1)
    if roi is None:
        node.fail("roi is missing")
    numbers = node.numbers(roi, "roi").ravel()
    for i, axis in enumerate(axes):
        found[axis] = float(numbers[i]), float(numbers[i + len(axes)])
    return found


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
        sizes_of = [size for pair in pairs for size in pair]
        node.refuse_sizes(f"keep_aspect_ratio_policy {policy} depends on a symbol", *sizes_of)
    factor = min(ratios) if policy == "not_larger" else max(ratios)
    for axis in axes:
        extent = shape[axis]
        factors[axis] = factor
        shape[axis] = floor(factor * extent + 0.5) if isinstance(extent, int) else extent


def _stretched(node: Node, x: Value, how: How, factors: Sequence[float]) -> Value:
    """Resize by factors."""
    shape, given = _stretched_shape(node, x, factors)
    return _resized(node, x, how, tuple(shape), given)


def _stretched_shape(
    node: Node, x: Value, factors: Sequence[float]
) -> tuple[list[Dim], tuple[float, ...]]:
    """Return the shape, and the factors unless all extents come out exactly."""
    if len(factors) != node.rank(x):
        node.fail(f"{len(factors)} scales, expected {node.rank(x)}")
    shape: list[Dim] = []
    exact = True
    for extent, factor in zip(node.shape(x), factors, strict=True):
        if isinstance(extent, int):
            shape.append(times(extent, factor))
            exact = exact and shape[-1] == extent * factor
        else:
            shape.append(_times(node, extent, factor))
            exact = exact and factor == int(factor)
    return shape, () if exact else tuple(factors)


def _times(node: Node, extent: Dim, factor: float) -> Dim:
    """Return a symbolic extent times a factor, rounded down, as `times` does it for a number.

    It is a quotient where that is the same for all extents there may be; else the run computes it.
    """
    above, below = factor.as_integer_ratio()
    if below > FINEST:
        above, below = Fraction(factor).limit_denominator(FINEST).as_integer_ratio()
        high = dim_rules.bounds(extent, node.emitter.ranges)[1]
        if not _is_quotient(factor, above, below, high):
            return _computed(node, extent, factor)
    return dim_rules.floor_divide(extent * above, below)


def _computed(node: Node, extent: Dim, factor: float) -> Dim:
    """Return an extent times a factor, rounded down, which a run computes."""
    make = node.make
    product = make.mul(make.extent_of(extent, d.f32), make.number(factor, d.f32))
    whole = make.to(make.floor(product), d.i64)
    return node.sizes(whole, "scales", extent * ceil(factor))[0]


def _is_quotient(factor: float, above: int, below: int, high: int | None) -> bool:
    """Say whether all extents up to a highest times a factor are rounded down as by a fraction.

    >>> [_is_quotient(2.6, 13, 5, high) for high in (44, 45)]
    [True, False]
    """
    if high is None or high > MOST_EXTENT:
        return False
    extents = np.arange(high + 1)
    products = np.floor(extents.astype(np.float32) * np.float32(factor))
    return bool(np.all(extents * above // below == products))


def _rows(
    node: Node, x: Value, how: How, shape: Sequence[Dim], given: Sequence[float],
    regions: Sequence[tuple[float, float]],
) -> list[tuple[int, Stretch | OpenStretch]]:  # fmt: skip
    """Return the axes that change, and how."""
    found: list[tuple[int, Stretch | OpenStretch]] = []
    cubic = node.number("cubic_coeff_a", -0.75)
    exclude = node.integer("exclude_outside", 0) > 0
    for axis, (extent, result) in enumerate(zip(node.shape(x), shape, strict=True)):
        region = regions[axis] if axis < len(regions) else WHOLE
        if extent == result and region == WHOLE and (not given or given[axis] == 1):
            continue
        if not isinstance(extent, int) or not isinstance(result, int):
            factor = given[axis] if given else None
            stretch = OpenStretch(extent, result, factor, how.mode, how.coordinate, cubic, exclude)
            found.append((axis, stretch))
            continue
        found.append((axis, Stretch(
            extent, result, given[axis] if given else result / max(extent, 1), how.mode,
            how.coordinate, how.nearest, cubic, _antialiases(node), exclude, region,
        )))  # fmt: skip
    return found


def _by_taps(
    node: Node, x: Value, rows: Sequence[tuple[int, Stretch | OpenStretch]], fill: float
) -> Value:
    """Resize each axis that changes; put the fill where nothing was.

    Integers that are made fewer by all they stand for are rounded after each axis, the last one
    first, as images are wherever that is done; the standard leaves it open.
    """
    make, dtype = node.make, node.dtype(x)
    wide = d.f64 if dtype == d.f64 else d.f32
    made, beyond = make.to(x, wide), None
    in_steps = _antialiases(node) and not dtype.is_float
    for axis, stretch in sorted(rows, key=lambda row: row[0], reverse=in_steps):
        made = resized_along(node, made, axis, stretch)
        if in_steps:
            made = _whole(node, made, dtype)
        if not isinstance(stretch, Stretch) or stretch.coordinate != "tf_crop_and_resize":
            continue
        missing = outside(stretch)
        if missing.any():
            shape = tuple(stretch.result if i == axis else 1 for i in range(node.rank(x)))
            mask = node.constant(missing.reshape(shape))
            beyond = mask if beyond is None else make.logical_or(beyond, mask)
    if beyond is not None:
        made = make.select(beyond, make.number(fill, wide), made)
    return make.to(made, dtype)


def _whole(node: Node, x: Value, dtype: DType) -> Value:
    """Return the nearest numbers that a type of integers has, the upper one of two."""
    make, own = node.make, node.dtype(x)
    near = make.floor(make.add(x, make.number(0.5, own)))
    return make.clip(near, *(make.number(end, own) for end in ends_of(dtype)))


def _resized_by(
    node: Node, x: Value, how: How, scales: Value, axes: Sequence[int] | None = None
) -> Value:
    """Append the host step for factors that are data."""
    axes = range(node.rank(x)) if axes is None else axes
    rules = {"axes": tuple(axes), "sizes": node.unknown(len(axes))}
    return _appended(node, x, how, lambda image, **more: node.make.resize_by(
        image, scales, **rules, **more
    ))  # fmt: skip


def _resized(
    node: Node, x: Value, how: How, shape: tuple[Dim, ...], factors: tuple[float, ...]
) -> Value:
    """Append the operation."""
    return _appended(node, x, how, lambda image, **more: node.make.resize(
        image, shape=shape, scales=factors, **more
    ))  # fmt: skip


def _appended(node: Node, x: Value, how: How, resize: Callable[..., Value]) -> Value:
    """Append an operation; integers are interpolated as floats."""
    dtype = node.dtype(x)
    in_floats = how.mode != "nearest" and not dtype.is_float
    made = resize(
        node.make.to(x, d.f32) if in_floats else x,
        mode=how.mode, coordinate=how.coordinate, nearest=how.nearest,
        cubic=node.number("cubic_coeff_a", -0.75),
        exclude_outside=bool(node.integer("exclude_outside", 0)),
    )  # fmt: skip
    return node.make.to(made, dtype)
