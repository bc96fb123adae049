"""Rectangles of images, frames around them, mirrors and turns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.types.dims import Dim
from ...eager.remembered import remember_all, remembered
from ...graph.graph import GraphTensor
from ..core.bridge import TfTensor
from ..core.calls import op
from ..core.values import convert, static, whole
from ..graph.flow import switch_case
from ..ops.array_ops import concat, pad, reverse, shape, stack, transpose, unstack, where
from ..ops.creation import range_, zeros, zeros_like
from ..ops.gathering import gather
from ..ops.indexing import slice_
from ..ops.math_ops import cast
from ..ops.random_ops import normal, uniform
from ..ops.window_ops import pads_of, spatial
from .sizes import Size, batched, extent, height_and_width, least, most


@batched
def flip_left_right(image: TfTensor) -> TfTensor:
    """Mirror at the vertical axis."""
    return reverse(image, [2])


@batched
def flip_up_down(image: TfTensor) -> TfTensor:
    """Mirror at the horizontal axis."""
    return reverse(image, [1])


@batched
def turned(image: TfTensor, name: str | None = None) -> TfTensor:
    """Exchange height and width."""
    return transpose(image, [0, 2, 1, 3])


@batched
def rot90(image: TfTensor, k: object = 1, name: str | None = None) -> TfTensor:
    """Turn by quarters against the clock."""
    turns = whole(k)
    if not isinstance(turns, int):
        ways = [partial(_turned, image, count) for count in range(4)]
        made: TfTensor = switch_case(cast(turns % 4, "int32"), ways)  # type: ignore[assignment]
        return made
    return _turned(image, turns % 4)


def _turned(image: TfTensor, count: int) -> TfTensor:
    for _ in range(count):
        image = reverse(transpose(image, [0, 2, 1, 3]), [1])
    return image


@batched
def crop_to_bounding_box(
    image: TfTensor,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> TfTensor:
    """Cut a rectangle out, which must lie in the image."""
    found = height_and_width(image)
    starts = _static(offset_height), _static(offset_width)
    sizes = _static(target_height), _static(target_width)
    for size, start, count in zip(found, starts, sizes, strict=True):
        known = [v for v in (start, count) if isinstance(v, int)]
        inside = not isinstance(size, int) or len(known) < 2 or sum(known) <= size
        if min(known, default=0) < 0 or not inside:
            raise ValueError(
                f"a rectangle at {starts} of {sizes} does not lie in an image of {found}"
            )
    return slice_(image, _row(0, *starts, 0), _row(-1, *sizes, -1))


def _static(value: Size) -> Size:
    found: Size = static(value)
    return found


def _row(*values: Size) -> object:
    """Return sizes as one list, or as a tensor where one is open."""
    if all(isinstance(v, int) for v in values):
        return list(values)
    return stack([cast(v, "int32") for v in values])


@batched
def pad_to_bounding_box(
    image: TfTensor,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> TfTensor:
    """Put zeros around."""
    found = height_and_width(image)
    starts = _static(offset_height), _static(offset_width)
    wanted = _static(target_height), _static(target_width)
    ends = [w - s - f for w, s, f in zip(wanted, starts, found, strict=True)]
    if any(isinstance(v, int) and v < 0 for v in (*starts, *ends)):
        raise ValueError(f"an image of {found} does not lie at {starts} in one of {wanted}")
    pairs = list(zip(starts, ends, strict=True))
    if all(isinstance(v, int) for v in (*starts, *ends)):
        return pad(image, [[0, 0], *pairs, [0, 0]])
    for axis, pair in enumerate(pairs, 1):
        dims: list[Size] = [extent(image, at) for at in range(4)]
        parts = [zeros([*dims[:axis], count, *dims[axis + 1 :]], image.dtype) for count in pair]
        image = concat([parts[0], image, parts[1]], axis)
    if not image.eager and all(isinstance(v, int) for v in wanted):
        image.set_shape([image.shape[0], *wanted, image.shape[3]])
    return image


@batched
def resize_with_crop_or_pad(image: TfTensor, target_height: Size, target_width: Size) -> TfTensor:
    """Cut off or put zeros around, evenly on both sides."""
    found, wanted = height_and_width(image), (_static(target_height), _static(target_width))
    pairs = list(zip(found, wanted, strict=True))
    cut = [most((f - w) // 2, 0) for f, w in pairs]
    inner = crop_to_bounding_box(image, *cut, *(least(f, w) for f, w in pairs))
    put = [most((w - f) // 2, 0) for f, w in pairs]
    return pad_to_bounding_box(inner, *put, *wanted)


@batched
def central_crop(image: TfTensor, central_fraction: float) -> TfTensor:
    """Keep the middle."""
    fraction = static(central_fraction)
    if isinstance(fraction, GraphTensor):
        fraction = cast(fraction, "float64")
    elif not 0 < fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    found = height_and_width(image)
    starts = [_margin(size, fraction) for size in found]
    return crop_to_bounding_box(
        image, *starts, *(f - 2 * s for f, s in zip(found, starts, strict=True))
    )


def _margin(size: Size, fraction: float) -> Size:
    if isinstance(size, int) and isinstance(fraction, int | float):
        return int((size - size * fraction) / 2)
    wide = cast(size, "float64")
    return cast((wide - wide * fraction) / 2.0, "int32")


@op("ExtractImagePatches", "images", strict=False)
def _patches(
    m: Maker,
    images: object,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> object:
    extents = spatial(images, True)
    pads = pads_of(padding, extents, sizes, strides, rates)
    found = [_windows(*each) for each in zip(extents, pads, sizes, strides, rates, strict=True)]
    if any(each is None for each in found):
        return _by_filters(m, images, pads, sizes, strides, rates)
    padded = m.pad(images, pads=((0, 0), *pads, (0, 0)))
    rows, columns = (m.constant(value=each) for each in found)
    taken = m.gather(m.gather(padded, rows, axis=1), columns, axis=3)
    count, tall, height, wide, width, channels = spec_of_value(taken).dims
    beside = m.transpose(taken, order=(0, 1, 3, 2, 4, 5))
    return m.reshape(beside, shape=(count, tall, wide, height * width * channels))


def _windows(
    extent_: Dim, pads: tuple[Dim, Dim], size: int, stride: int, rate: int
) -> Array | None:
    """Return which rows of a padded image each window is of; None where that is not known."""
    length, wide = extent_ + pads[0] + pads[1], (size - 1) * rate + 1
    if not isinstance(length, int):
        return None
    count = math.trunc((length - wide + stride) / stride)
    if count < 0:
        raise ValueError(
            f"Computed output size would be negative: {count} [input_size: {length}, "
            f"effective_filter_size: {wide}, stride: {stride}]"
        )
    return np.arange(count)[:, None] * stride + np.arange(size) * rate


def _by_filters(
    m: Maker,
    images: object,
    pads: Sequence[tuple[Dim, Dim]],
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
) -> object:
    """Return patches of images of open sizes: each filter takes one element of a window."""
    dtype, channels = spec_of_value(images).dtype, int(spec_of_value(images).dims[3])  # type: ignore[arg-type]
    height, width = sizes
    count = height * width * channels
    order = np.arange(count).reshape(height, width, channels)
    kernel = np.zeros((count, channels, height, width), dtype.numpy)
    rows, columns, every = np.indices(order.shape)
    kernel[order.ravel(), every.ravel(), rows.ravel(), columns.ravel()] = 1
    return m.conv(
        images, m.constant(value=kernel), strides=tuple(strides), pads=pads,
        dilations=tuple(rates), groups=1, channels_last=True,
    )  # fmt: skip


def extract_patches(
    images: object,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> TfTensor:
    """Return the rectangles around each place, their pixels in the last axis."""
    inner = {"sizes": sizes, "strides": strides, "rates": rates}
    known = {k: [int(x) for x in list(v)[1:3]] for k, v in inner.items()}
    return _patches(images, **known, padding=padding)


def extract_glimpse(
    input: object,
    size: object,
    offsets: object,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> TfTensor:
    """Cut a window out of each image, around a place of its own; outside of the image is noise.

    Noise of other kinds than `zero` is drawn anew in each call.
    """
    found, mask = _glimpses(input, size, offsets, centered, normalized)
    return where(mask, found, _noise(found, noise), name=name)


@remembered
def _glimpses(
    input: object, size: object, offsets: object, centered: bool, normalized: bool
) -> tuple[TfTensor, TfTensor]:
    """Return what windows see of images, and where they are inside: noise is drawn each time."""
    images, places = convert(input, "float32"), cast(offsets, "float32")
    height, width = height_and_width(images)
    rows, columns = (
        _window(place, extent_, length, centered, normalized)
        for place, extent_, length in zip(
            unstack(places, axis=1), (height, width), unstack(convert(size)), strict=True
        )
    )
    return _within(images, rows, columns)


def first_glimpse(
    input: object,
    size: object,
    offsets: object,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Cut windows as the first version does: all places are those of the windows' middles.

    What is told from the images' middles is halved, in elements too.
    """
    found, mask = _first_glimpses(input, size, offsets, centered, normalized)
    kind = "uniform" if uniform_noise else "gaussian"
    return where(mask, found, _noise(found, kind), name=name)


@remembered
def _first_glimpses(
    input: object, size: object, offsets: object, centered: bool, normalized: bool
) -> tuple[TfTensor, TfTensor]:
    images, places = convert(input, "float32"), cast(offsets, "float32")
    lines: list[TfTensor] = []
    extents, lengths = height_and_width(images), unstack(convert(size))
    for place, extent_, length in zip(unstack(places, axis=1), extents, lengths, strict=True):
        whole = cast(extent_, "float32")
        middle = place * whole if normalized else place
        middle = (middle + whole) / 2.0 if centered else middle
        corner = cast(middle - cast(length, "float32") / 2.0, "int32")
        lines.append(corner[:, None] + range_(length))
    rows, columns = lines
    return _within(images, rows, columns)


def _within(images: TfTensor, rows: TfTensor, columns: TfTensor) -> tuple[TfTensor, TfTensor]:
    """Return the elements in rows and columns of each image, and which of them are inside of it."""
    height, width = height_and_width(images)
    inside = [(x >= 0) & (x < e) for x, e in ((rows, height), (columns, width))]
    at = [where(ok, x, 0) for ok, x in zip(inside, (rows, columns), strict=True)]
    found = gather(gather(images, at[0], axis=1, batch_dims=1), at[1], axis=2, batch_dims=1)
    return found, (inside[0][:, :, None] & inside[1][:, None, :])[..., None]


def _window(
    place: TfTensor, extent_: Size, length: TfTensor, centered: bool, normalized: bool
) -> TfTensor:
    """Return the rows of each image's window, which may lie outside."""
    whole = cast(extent_, "float32")
    if normalized and centered:  # from -1 to 1, of the window's middle
        place = (place + 1.0) * whole / 2.0 - cast(length, "float32") / 2.0
    elif normalized:
        place = place * whole
    elif centered:  # TensorFlow takes the window's corner here
        place = place + whole / 2.0
    return cast(place, "int32")[:, None] + range_(length)


def _noise(like: TfTensor, kind: str) -> TfTensor:
    """Return what stands where a window leaves its image."""
    if kind == "zero":
        return zeros_like(like)
    if kind == "uniform":
        return uniform(shape(like), 0.0, 1.0)
    if kind == "gaussian":
        return normal(shape(like))
    raise ValueError(f"noise is {kind!r}, expected 'uniform', 'gaussian' or 'zero'")


remember_all(globals())
