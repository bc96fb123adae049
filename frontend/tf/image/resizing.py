"""Images of other sizes.

Two neighbours along each axis where pixels are interpolated between known sizes; matrices of
weights, one for each axis, for kernels that are wider or as wide as the scale. Sizes may be open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.types.dims import Dim
from ...eager.remembered import remember_all
from ..core.bridge import TfTensor
from ..core.calls import op
from ..core.required import refuse
from ..core.values import InvalidShapesError, convert, static
from ..ops.array_ops import reshape, where
from ..ops.creation import constant, range_
from ..ops.gathering import gather
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, add_n, cast, matmul
from ..ops.nn_ops import clip_by_value, einsum
from .cutting import pad_to_bounding_box
from .sizes import Size, batched, height_and_width, least, most

ResizeMethod = SimpleNamespace(
    BILINEAR="bilinear", NEAREST_NEIGHBOR="nearest", BICUBIC="bicubic", AREA="area",
    LANCZOS3="lanczos3", LANCZOS5="lanczos5", GAUSSIAN="gaussian", MITCHELLCUBIC="mitchellcubic",
)  # fmt: skip
METHODS = tuple(vars(ResizeMethod).values())
MODES = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
SMALLEST = 1000 * float(np.finfo(np.float32).tiny)
"""Sums of weights below it are not made 1."""


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[TfTensor], TfTensor]:
    """Return two polynomials of the distance: up to 1, and up to 2."""

    def weight(x: TfTensor) -> TfTensor:
        inner = ((near[0] * x + near[1]) * x + near[2]) * x + near[3]
        outer = ((far[0] * x + far[1]) * x + far[2]) * x + far[3]
        return where(x >= 2.0, 0.0 * x, where(x >= 1.0, outer, inner))

    return weight


def _lanczos(radius: float) -> Callable[[TfTensor], TfTensor]:
    def weight(x: TfTensor) -> TfTensor:
        away = where(x <= 1e-3, 1.0 + 0.0 * x, x)  # the limit at 0 is 1
        sine = FUNCTIONS["sin"]
        wave = radius * sine(math.pi * away) * sine(math.pi * away / radius)
        inside = where(x <= 1e-3, 1.0 + 0.0 * x, wave / (math.pi**2 * away * away))
        return where(x > radius, 0.0 * x, inside)

    return weight


def _bell(x: TfTensor) -> TfTensor:
    return where(x >= 1.5, 0.0 * x, FUNCTIONS["exp"](x * x / (-2.0 * 0.5 * 0.5)))


class Weighting(NamedTuple):
    """How much a pixel counts, by its distance; nothing beyond the radius does."""

    radius: float
    weight: Callable[[TfTensor], TfTensor]


KERNELS = {
    "bilinear": Weighting(1.0, lambda x: FUNCTIONS["maximum"](1.0 - x, 0.0)),
    "bicubic": Weighting(2.0, _cubic((1.5, -2.5, 0.0, 1.0), (-0.5, 2.5, -4.0, 2.0))),
    "lanczos3": Weighting(3.0, _lanczos(3.0)),
    "lanczos5": Weighting(5.0, _lanczos(5.0)),
    "gaussian": Weighting(1.5, _bell),
    "mitchellcubic": Weighting(
        2.0, _cubic((7 / 6, -2.0, 0.0, 8 / 9), (-7 / 18, 2.0, -10 / 3, 16 / 9))
    ),
}


INTERPOLATING = ("bilinear", "bicubic", "area")
"""The methods that leave images of the same size as they are; the others make them smoother."""


@op("ResizeImages", "images", strict=False)
def resized(m: Maker, images: object, size: tuple[int, int], mode: str, how: str) -> object:
    """Interpolate to a known size."""
    dims: tuple[Dim, ...] = spec_of_value(images).dims
    shape = (dims[0], *size, dims[3])
    rounding = "floor" if mode == "nearest" else "round_prefer_floor"
    return m.resize(
        images, shape=shape, mode=mode, coordinate=how, nearest=rounding, cubic=-0.5,
        exclude_outside=mode == "cubic",
    )  # fmt: skip


@op("ResizeNothing", "images", strict=False)
def _of_nothing(m: Maker, images: object, size: tuple[int, int]) -> object:
    """Raise in the run, as there: what images have no pixels may stand in a branch not taken."""
    refuse(m, ValueError("input image must be of non-zero size"), images)
    spec = spec_of_value(images)
    return m.filled(0, spec.dtype, (spec.dims[0], *size, spec.dims[3]))


def wanted_size(size: object) -> tuple[Size, Size]:
    """Return the height and width that are asked for; open ones are scalars."""
    given = static(size)
    if isinstance(given, list | tuple | np.ndarray) and len(given) == 2:
        height, width = (
            v if isinstance(v, TfTensor) else int(v) if isinstance(v, int | float) else convert(v)
            for v in given
        )
    elif isinstance(given, TfTensor):
        dims = given.shape._dims
        if dims is not None and dims not in ((2,), (None,)):
            raise ValueError(f"'size' must be a 1-D Tensor of 2 elements: {given.shape}")
        height, width = given[0], given[1]
    else:
        raise ValueError(f"'size' must be a 1-D Tensor of 2 elements: {given!r}")
    for v in (height, width):
        if isinstance(v, int) and v <= 0:
            raise InvalidShapesError(f"output dimensions must be positive, got {height} x {width}")
    return _counted(height), _counted(width)


def _counted(value: Size) -> Size:
    return value if isinstance(value, int) else cast(value, "int32")


@batched
def resize(
    images: TfTensor,
    size: object,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return images of another height and width: float32, or as they are with 'nearest'."""
    if method not in METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    before = height_and_width(images)
    wanted = wanted_size(size)
    if any(isinstance(v, int) and not v for v in before):
        nothing = images if method == "nearest" else cast(images, "float32")
        height, width = (v if isinstance(v, int) else 1 for v in wanted)
        return _of_nothing(nothing, size=(height, width))
    if preserve_aspect_ratio:
        wanted = in_proportion(before, wanted)
    stays = all(isinstance(v, int) for v in (*before, *wanted)) and wanted == before
    if method == "nearest":
        if stays:
            return images
        # a place is the middle of a pixel: it lies in the pixel that it is scaled back into
        return _by_axes(images, before, _middles(before, wanted), _nearest)
    x = cast(images, "float32")
    if stays and method in INTERPOLATING:
        return x
    if method == "area":
        return _by_area(x, before, wanted)
    if antialias or method not in MODES:
        kernel = KERNELS[method]
        pairs = zip(before, wanted, strict=True)
        return weighted(x, [_weights(kernel, *pair, antialias) for pair in pairs])
    if method == "bilinear" and isinstance(wanted[0], int) and isinstance(wanted[1], int):
        return resized(x, size=wanted, mode=MODES[method], how="half_pixel")
    places = [place - 0.5 for place in _middles(before, wanted)]
    return _by_axes(x, before, places, _inside if method == "bicubic" else _between)


def in_proportion(before: tuple[Size, Size], wanted: tuple[Size, Size]) -> tuple[Size, Size]:
    """Return the size within the wanted one that keeps the proportions."""
    height, width = before
    tall, wide = wanted
    if (
        isinstance(height, int) and isinstance(width, int)
        and isinstance(tall, int) and isinstance(wide, int)
    ):  # fmt: skip
        scale = min(tall / height, wide / width)
        return round(height * scale), round(width * scale)
    have = [cast(v, "float32") for v in before]
    want = [cast(v, "float32") for v in wanted]
    ratio = FUNCTIONS["minimum"](want[0] / have[0], want[1] / have[1])
    first, second = (cast(FUNCTIONS["round"](ratio * v), "int32") for v in have)
    return first, second


Along = Callable[[TfTensor, int, Size, TfTensor], TfTensor]
"""Resizes along one axis: images, the axis, how many pixels there are, where the new ones lie."""


def _by_axes(
    images: TfTensor, before: tuple[Size, Size], places: Sequence[TfTensor], along: Along
) -> TfTensor:
    for axis in (1, 2):
        images = along(images, axis, before[axis - 1], places[axis - 1])
    return images


def _scale(before: Size, wanted: Size) -> TfTensor:
    """Return how many pixels of before there are for one, a float32."""
    if isinstance(before, int) and isinstance(wanted, int):
        return constant(np.float32(before) / np.float32(wanted))
    return cast(before, "float32") / cast(wanted, "float32")


def _middles(before: tuple[Size, Size], wanted: tuple[Size, Size]) -> list[TfTensor]:
    """Return where the middles of the new pixels lie among the old ones, along both axes."""
    pairs = zip(before, wanted, strict=True)
    return [(cast(range_(w), "float32") + 0.5) * _scale(b, w) for b, w in pairs]


def _aligned(before: Size, wanted: Size) -> TfTensor:
    """Return how many pixels of before there are for one, if the outermost are the same."""
    count = cast(wanted, "float32")
    ends = (cast(before, "float32") - 1.0) / FUNCTIONS["maximum"](count - 1.0, 1.0)
    return where(count > 1.0, ends, _scale(before, wanted))


def _corners(
    before: tuple[Size, Size], wanted: tuple[Size, Size], *, align: bool
) -> list[TfTensor]:
    """Return where new pixels lie if their corners count, or if the outermost are the same."""
    scaled = _aligned if align else _scale
    pairs = zip(before, wanted, strict=True)
    return [cast(range_(w), "float32") * scaled(b, w) for b, w in pairs]


def _at(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    """Return the pixels at places, those outside of the image at its edge."""
    end = cast(before, "float32") - 1.0
    return gather(images, cast(clip_by_value(place, 0.0, end), "int32"), axis=axis)


def _nearest(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    return _at(images, axis, before, FUNCTIONS["floor"](place))


def _nearest_corner(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    return _at(images, axis, before, FUNCTIONS["floor"](place + 0.5))


def _column(values: TfTensor, axis: int) -> TfTensor:
    return reshape(values, [-1] + [1] * (3 - axis))


def _between(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    """Mix the two pixels on both sides of each place."""
    low = FUNCTIONS["floor"](place)
    first, second = (_at(images, axis, before, at) for at in (low, low + 1.0))
    return first + (second - first) * _column(place - low, axis)


STEPS = 1024
"""Into how many places TensorFlow cuts the way between two pixels."""
TAPS = (-1.0, 0.0, 1.0, 2.0)
"""The four pixels around a place, from the one below it."""


def _four_weights(place: TfTensor, weight: Callable[[TfTensor], TfTensor]) -> list[TfTensor]:
    """Return how much the four pixels around each place count."""
    way = place - FUNCTIONS["floor"](place)
    share = FUNCTIONS["round"](way * float(STEPS)) / float(STEPS)
    return [weight(away) for away in (share + 1.0, share, 1.0 - share, 2.0 - share)]


def _four(
    images: TfTensor, axis: int, before: Size, place: TfTensor, weights: Sequence[TfTensor]
) -> TfTensor:
    low = FUNCTIONS["floor"](place)
    pairs = zip(TAPS, weights, strict=True)
    return add_n([_at(images, axis, before, low + t) * _column(w, axis) for t, w in pairs])


def _inside(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    """Mix the four pixels around each place; those outside of the image do not count."""
    low, end = FUNCTIONS["floor"](place), cast(before, "float32") - 1.0
    given = zip(TAPS, _four_weights(place, KERNELS["bicubic"].weight), strict=True)
    both = FUNCTIONS["logical_and"]
    weights = [where(both(low + t >= 0.0, low + t <= end), w, 0.0 * w) for t, w in given]
    total = add_n(weights)
    return _four(images, axis, before, place, [w / total for w in weights])


SHARP = _cubic((1.25, -2.25, 0.0, 1.0), (-0.75, 3.75, -6.0, 3.0))
"""The weights of the first version's bicubic interpolation."""


def _sharp(images: TfTensor, axis: int, before: Size, place: TfTensor) -> TfTensor:
    """Mix the four pixels around each place; outside of the image are those of its edge."""
    return _four(images, axis, before, place, _four_weights(place, SHARP))


def _weights(kernel: Weighting, before: Size, wanted: Size, antialias: bool) -> TfTensor:
    """Return how much each old pixel counts for each new one: [wanted, before]."""
    scale = 1.0 / _scale(wanted, before)
    wide = FUNCTIONS["maximum"](scale, 1.0) if antialias else constant(1.0)
    middle = ((cast(range_(wanted), "float32") + 0.5) * scale)[:, None]
    distance = FUNCTIONS["abs"](cast(range_(before), "float32") + 0.5 - middle) * (1.0 / wide)
    weight = where(distance > kernel.radius, 0.0 * distance, kernel.weight(distance))
    total = REDUCTIONS["reduce_sum"](weight, axis=1, keepdims=True)
    return where(FUNCTIONS["abs"](total) >= SMALLEST, weight / total, weight)


def _shares(before: Size, wanted: Size, *, align: bool = False) -> TfTensor:
    """Return which part of each new pixel each old one covers: [wanted, before].

    With `align` the last old pixel covers what lies beyond it.
    """
    scale = _aligned(before, wanted) if align else _scale(before, wanted)
    start = (cast(range_(wanted), "float32") * scale)[:, None]
    end = ((cast(range_(wanted), "float32") + 1.0) * scale)[:, None]
    left = cast(range_(before), "float32")
    right = where(left < cast(before, "float32") - 1.0, left + 1.0, left + 1e9)
    low, high = FUNCTIONS["maximum"](left, start), FUNCTIONS["minimum"](right, end)
    made: TfTensor = FUNCTIONS["maximum"](high - low, 0.0) / scale
    return made


def _by_area(
    images: TfTensor, before: tuple[Size, Size], wanted: tuple[Size, Size], *, align: bool = False
) -> TfTensor:
    """Return images whose pixels are the means of what they cover.

    Few pixels are added up as TensorFlow does, each row first; many by matrices.
    """
    pairs = [*zip(before, wanted, strict=True)]
    tall, wide = (_covered(*pair, align=align) for pair in pairs)
    if tall is None or wide is None:
        return weighted(images, [_shares(*pair, align=align) for pair in pairs])
    for axis, found in ((2, wide), (1, tall)):
        taps = zip(found.places, found.sizes, strict=True)
        images = add_n([_part(gather(images, at, axis=axis), axis, size) for at, size in taps])
    with np.errstate(all="ignore"):
        return images * (np.float32(1.0) / (tall.scale * wide.scale))


def _part(pixels: TfTensor, axis: int, sizes: Array) -> TfTensor:
    """Return so much of each pixel; what is not covered does not count, though it be infinite."""
    part = pixels * _column(constant(sizes), axis)
    return part if sizes.all() else where(_column(constant(sizes > 0), axis), part, 0.0)


MOST = 16
"""So many pixels that one covers are added up one by one."""


class Covered(NamedTuple):
    """Which old pixels each new one covers along an axis: the first of all, the second, ..."""

    places: list[TfTensor]
    sizes: list[Array]
    """How much of each is covered, in old pixels."""
    scale: np.float32


def _covered(before: Size, wanted: Size, *, align: bool) -> Covered | None:
    """Return what new pixels cover of few old ones; None: many, or it is open how many there are.

    The last old pixel covers what lies beyond it.
    """
    if not (isinstance(before, int) and isinstance(wanted, int)):
        return None
    ends = align and wanted > 1
    scale = np.float32(before - ends) / np.float32(wanted - ends)
    start, end = (np.arange(i, wanted + i, dtype=np.float32) * scale for i in (0, 1))
    first = np.floor(start)
    count = max(int(np.max(np.ceil(end) - first)), 1)
    if count > MOST:
        return None
    places, sizes = [], []
    for place in [first + np.float32(i) for i in range(count)]:
        inside = np.where(place + 1 > end, end - place, 1)
        size = np.where(place < start, np.where(place + 1 > end, scale, place + 1 - start), inside)
        places.append(constant(np.minimum(place, before - 1).astype(np.int32)))
        sizes.append(np.maximum(size, 0).astype(np.float32))
    return Covered(places, sizes, scale)


def weighted(images: TfTensor, weights: list[TfTensor]) -> TfTensor:
    """Return images whose rows and columns are sums with weights."""
    if not (images.shape.is_fully_defined() and all(x.spec.is_static for x in weights)):
        tall = einsum("oh,bhwc->bowc", weights[0], images)
        return einsum("ow,bhwc->bhoc", weights[1], tall)
    batch, height, width, depth = images.spec.static_shape
    (high, _), (wide, _) = (x.spec.static_shape for x in weights)
    tall = matmul(weights[0], reshape(images, [batch, height, width * depth]))
    made = matmul(weights[1], reshape(tall, [batch * high, width, depth]))
    return reshape(made, [batch, high, wide, depth])


@batched
def resize_with_pad(
    image: TfTensor,
    target_height: Size,
    target_width: Size,
    method: str = "bilinear",
    antialias: bool = False,
) -> TfTensor:
    """Resize in proportion, and put zeros around evenly."""
    resized = partial(resize, method=method, antialias=antialias)
    return padded_in_proportion(image, target_height, target_width, resized)


def padded_in_proportion(
    image: TfTensor, target_height: Size, target_width: Size, resized: partial[TfTensor]
) -> TfTensor:
    """Resize in proportion by what takes images and sizes, and put zeros around evenly."""
    before = [cast(v, "float32") for v in height_and_width(image)]
    wanted = [cast(v, "float32") for v in (target_height, target_width)]
    ratio = FUNCTIONS["maximum"](before[0] / wanted[0], before[1] / wanted[1])
    floor = FUNCTIONS["floor"]
    exact = [v / ratio for v in before]
    sizes = [_known(cast(floor(v), "int32")) for v in exact]
    put = [
        most(_known(cast(floor((w - v) / 2.0), "int32")), 0)
        for w, v in zip(wanted, exact, strict=True)
    ]
    sizes = [least(v, w) for v, w in zip(sizes, (target_height, target_width), strict=True)]
    inner = resized(image, sizes)
    inner = inner if resized.keywords["method"] in NEAREST else cast(inner, "float32")
    return pad_to_bounding_box(inner, *put, target_height, target_width)


NEAREST = ("nearest", 1)
"""The method that keeps the element type, by its name or by its number in the first version."""


def _known(value: TfTensor) -> Size:
    """Return a scalar as a number if it is computed already."""
    return int(value) if value.eager else value


@cache
def old_resize(mode: str) -> Callable[..., TfTensor]:
    """Return what resizes as the first version did: pixels lie at their corners."""

    @batched
    def function(
        images: TfTensor,
        size: object,
        align_corners: bool = False,
        half_pixel_centers: bool = False,
        name: str | None = None,
    ) -> TfTensor:
        """Return images of another height and width."""
        wanted, before = wanted_size(size), height_and_width(images)
        if half_pixel_centers:
            return resize(images, wanted, mode)
        x = images if mode == "nearest" else cast(images, "float32")
        if mode == "area":
            return _by_area(x, before, wanted, align=align_corners)
        known = isinstance(wanted[0], int) and isinstance(wanted[1], int)
        if mode == "bilinear" and known:
            how = "align_corners" if align_corners else "asymmetric"
            return resized(x, size=wanted, mode="linear", how=how)
        nearest = _nearest_corner if align_corners else _nearest
        along = {"nearest": nearest, "bilinear": _between, "bicubic": _sharp}[mode]
        return _by_axes(x, before, _corners(before, wanted, align=align_corners), along)

    return function


remember_all(globals())
