"""`ImageProjectiveTransform`: images seen through projective maps of the coordinates."""

from __future__ import annotations

from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import broadcast_to, expand_dims, reshape, shape, stack, where
from ..ops.creation import range_
from ..ops.gathering import gather_nd
from ..ops.math_ops import FUNCTIONS, cast, identity

INTERPOLATIONS = ("NEAREST", "BILINEAR")


def _within(x: TfTensor, size: TfTensor) -> TfTensor:
    """Return coordinates between the first pixel and the last."""
    return FUNCTIONS["maximum"](FUNCTIONS["minimum"](x, size - 1.0), 0.0)


def _reflected(x: TfTensor, size: TfTensor) -> TfTensor:
    """Return coordinates in the image and its mirrored copies, each edge twice: dcba|abcd|dcba."""
    twice = 2.0 * size
    low = where(x < twice, x + twice * _cut(-x / twice), x)
    low = where(low < -size, low + twice, -low - 1.0)
    high = x - twice * _cut(x / twice)
    high = where(high >= size, twice - high - 1.0, high)
    return _by_side(x, size, low, high)


def _wrapped(x: TfTensor, size: TfTensor) -> TfTensor:
    """Return coordinates in the image and its copies: abcd|abcd|abcd."""
    apart = FUNCTIONS["maximum"](size - 1.0, 1.0)
    low = x + size * (_cut(-x / apart) + 1.0)
    return _by_side(x, size, low, x - size * _cut(x / apart))


def _by_side(x: TfTensor, size: TfTensor, low: TfTensor, high: TfTensor) -> TfTensor:
    found = where(x < 0.0, low, where(x > size - 1.0, high, x))
    return _within(found, size)


def _cut(x: TfTensor, more: float = 0.0) -> TfTensor:
    """Return whole numbers, cut towards 0 when so much is added away from it."""
    return FUNCTIONS["sign"](x) * FUNCTIONS["floor"](FUNCTIONS["abs"](x) + more)


FILLS = {
    "CONSTANT": lambda x, size: x,
    "REFLECT": _reflected,
    "WRAP": _wrapped,
    "NEAREST": _within,
}


def image_projective_transform(
    images: object,
    transforms: object,
    output_shape: object,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    fill_value: object = 0.0,
    name: str | None = None,
) -> TfTensor:
    """Return images whose pixel (x, y) is that at a place which eight numbers say.

    The numbers `a0 ... c1` say ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
    k = c0 x + c1 y + 1; one row of them is for all images.
    """
    if interpolation not in INTERPOLATIONS:
        raise InvalidArgumentError(
            f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR"
        )
    if fill_mode not in FILLS:
        raise InvalidArgumentError(
            f"Invalid mode {fill_mode}. Supported types: REFLECT, WRAP, CONSTANT, or NEAREST"
        )
    with InGraph(graph_of([images, transforms, output_shape, fill_value])):
        x, maps = convert(images), convert(transforms, "float32")
        extents = cast(shape(x), "float32")
        across, down, is_somewhere = _places(maps, convert(output_shape, "int32"))
        across = FILLS[fill_mode](across, extents[2])
        down = FILLS[fill_mode](down, extents[1])
        fill = cast(convert(fill_value, "float32"), x.dtype)
        if interpolation == "NEAREST":
            found = _read(x, _cut(down, 0.5), _cut(across, 0.5), fill)
        else:
            found = _between(x, down, across, fill)
        seen = where(expand_dims(is_somewhere, -1), found, fill)
        return identity(seen, name=name)


def _places(maps: TfTensor, size: TfTensor) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return where each pixel of each image is looked for, and which are anywhere."""
    rows = cast(reshape(range_(size[0]), [1, -1, 1]), "float32")
    columns = cast(reshape(range_(size[1]), [1, 1, -1]), "float32")
    a0, a1, a2, b0, b1, b2, c0, c1 = (reshape(maps[:, i], [-1, 1, 1]) for i in range(8))
    below = c0 * columns + c1 * rows + 1.0
    is_somewhere = FUNCTIONS["not_equal"](below, 0.0)
    below = where(is_somewhere, below, 1.0)
    across = (a0 * columns + a1 * rows + a2) / below
    return across, (b0 * columns + b1 * rows + b2) / below, is_somewhere


def _read(x: TfTensor, down: TfTensor, across: TfTensor, fill: TfTensor) -> TfTensor:
    """Return the pixels at whole places, and what fills what is outside."""
    whole = shape(x)
    full = stack([whole[0], shape(down)[1], shape(down)[2]])
    last = [cast(whole[i] - 1, "float32") for i in (1, 2)]
    inside = (down >= 0.0) & (down <= last[0]) & (across >= 0.0) & (across <= last[1])
    at = [cast(_within(p, n + 1.0), "int32") for p, n in zip((down, across), last, strict=True)]
    image = broadcast_to(reshape(range_(whole[0]), [-1, 1, 1]), full)
    index = stack([image, *(broadcast_to(p, full) for p in at)], axis=-1)
    return where(expand_dims(inside, -1), gather_nd(x, index), fill)


def _between(x: TfTensor, down: TfTensor, across: TfTensor, fill: TfTensor) -> TfTensor:
    """Return what lies between four pixels, each in proportion to how near it is."""
    top, left = FUNCTIONS["floor"](down), FUNCTIONS["floor"](across)
    bottom, right = top + 1.0, left + 1.0
    parts = [expand_dims(p, -1) for p in (right - across, across - left)]

    def row(at: TfTensor) -> TfTensor:
        """Return what lies between two pixels of a row."""
        ends = (cast(_read(x, at, side, fill), "float32") for side in (left, right))
        first, second = (part * end for part, end in zip(parts, ends, strict=True))
        return first + second

    above, beneath = expand_dims(bottom - down, -1), expand_dims(down - top, -1)
    return cast(above * row(top) + beneath * row(bottom), x.dtype)
