"""Images by TensorFlow's names: `tf.image`. They are [..., height, width, channels]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from ....ir.compose.functions import Maker
from ....ir.families import spec_of_value
from ...values.dtypes import DTypeLike, as_dtype
from ..core.bridge import TfTensor
from ..core.calls import op
from ..core.shapes import TensorShape
from ..core.values import InGraph, convert, graph_of, static
from .array_ops import concat, pad, reshape, reverse, tile, transpose
from .creation import constant, zeros_like
from .math_ops import FUNCTIONS, REDUCTIONS, cast, matmul, reduce_mean, saturate_cast, square

ResizeMethod = SimpleNamespace(
    BILINEAR="bilinear", NEAREST_NEIGHBOR="nearest", BICUBIC="bicubic", AREA="area",
    LANCZOS3="lanczos3", LANCZOS5="lanczos5", GAUSSIAN="gaussian", MITCHELLCUBIC="mitchellcubic",
)  # fmt: skip
GREY = (0.2989, 0.587, 0.114)
"""How bright red, green and blue are."""


def _size(images: TfTensor) -> tuple[int, int]:
    """Return height and width, which must be known."""
    height, width = TensorShape(images.shape.as_list()[1:3]).known()
    return height, width


def _batch(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return a function of one image or several as that of several."""

    def public(image: object, *args: object, **options: object) -> TfTensor:
        with InGraph(graph_of([image])):
            x = convert(image)
            if len(x.shape) not in (3, 4):
                raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
            made = function(x if len(x.shape) == 4 else x[None], *args, **options)
            return made if len(x.shape) == 4 else made[0]

    public.__doc__ = function.__doc__
    return public


@op("ResizeImages", "images", strict=False)
def _resized(m: Maker, images: object, size: tuple[int, int], mode: str, how: str) -> object:
    dims = spec_of_value(images).dims
    shape = (dims[0], *size, dims[3])
    rounding = "floor" if mode == "nearest" else "round_prefer_floor"
    return m.resize(
        images, shape=shape, mode=mode, coordinate=how, nearest=rounding, cubic=-0.5,
        exclude_outside=mode == "cubic",
    )  # fmt: skip


MODES = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}


@_batch
def resize(
    images: TfTensor,
    size: object,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return images of another height and width, interpolated."""
    if method not in MODES:
        raise NotImplementedError(f"resize: method {method!r} is not supported")
    wanted = tuple(int(n) for n in np.ravel(static(size)))
    height, width = _size(images)
    if preserve_aspect_ratio:
        scale = min(wanted[0] / height, wanted[1] / width)
        wanted = round(height * scale), round(width * scale)
    if antialias and (wanted[0] < height or wanted[1] < width) and method != "nearest":
        raise NotImplementedError("resize: antialias of smaller images is not supported")
    if method == "nearest":
        # a place is the middle of a pixel: it lies in the pixel that it is scaled back into
        return _nearest(images, wanted)
    return _resized(cast(images, "float32"), size=wanted, mode=MODES[method], how="half_pixel")


def _nearest(images: TfTensor, wanted: Sequence[int]) -> TfTensor:
    from .gathering import gather  # noqa: PLC0415  (short name inside)

    for axis, count in enumerate(wanted, 1):
        scale = _size(images)[axis - 1] / count
        places = np.floor((np.arange(count) + 0.5) * scale).astype(np.int32)
        images = gather(images, constant(places), axis=axis)
    return images


def old_resize(mode: str) -> Callable[..., TfTensor]:
    """Return what resizes as the first version did: pixels lie at their corners."""

    @_batch
    def function(
        images: TfTensor,
        size: object,
        align_corners: bool = False,
        half_pixel_centers: bool = False,
        name: str | None = None,
    ) -> TfTensor:
        """Return images of another height and width."""
        wanted = tuple(int(n) for n in np.ravel(static(size)))
        how = "align_corners" if align_corners else "asymmetric"
        if half_pixel_centers:
            return resize(images, wanted, mode)
        x = images if mode == "nearest" else cast(images, "float32")
        return _resized(x, size=wanted, mode=MODES[mode], how=how)

    return function


@_batch
def flip_left_right(image: object) -> TfTensor:
    """Mirror at the vertical axis."""
    return reverse(image, [2])


@_batch
def flip_up_down(image: object) -> TfTensor:
    """Mirror at the horizontal axis."""
    return reverse(image, [1])


@_batch
def turned(image: object, name: str | None = None) -> TfTensor:
    """Exchange height and width."""
    return transpose(image, [0, 2, 1, 3])


@_batch
def rot90(image: TfTensor, k: int = 1, name: str | None = None) -> TfTensor:
    """Turn by quarters against the clock."""
    for _ in range(int(static(k)) % 4):
        image = reverse(transpose(image, [0, 2, 1, 3]), [1])
    return image


@_batch
def crop_to_bounding_box(
    image: TfTensor, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> TfTensor:
    """Cut a rectangle out."""
    height, width = _size(image)
    ends = offset_height + target_height, offset_width + target_width
    if min(offset_height, offset_width) < 0 or ends[0] > height or ends[1] > width:
        raise ValueError(f"a rectangle up to {ends} does not lie in an image {height} x {width}")
    return image[:, offset_height : ends[0], offset_width : ends[1]]


@_batch
def pad_to_bounding_box(
    image: TfTensor, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> TfTensor:
    """Put zeros around."""
    height, width = _size(image)
    below, right = target_height - offset_height - height, target_width - offset_width - width
    if min(offset_height, offset_width, below, right) < 0:
        raise ValueError(f"an image {height} x {width} does not lie in the rectangle asked for")
    return pad(image, [[0, 0], [offset_height, below], [offset_width, right], [0, 0]])


@_batch
def resize_with_crop_or_pad(image: TfTensor, target_height: int, target_width: int) -> TfTensor:
    """Cut off or put zeros around, evenly on both sides."""
    height, width = _size(image)
    cut = min(height, target_height), min(width, target_width)
    at = (height - cut[0]) // 2, (width - cut[1]) // 2
    inner = crop_to_bounding_box(image, *at, *cut)
    put = (target_height - cut[0]) // 2, (target_width - cut[1]) // 2
    return pad_to_bounding_box(inner, *put, target_height, target_width)


@_batch
def central_crop(image: TfTensor, central_fraction: float) -> TfTensor:
    """Keep the middle."""
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    height, width = _size(image)
    top, left = (int((n - n * central_fraction) / 2) for n in (height, width))
    return crop_to_bounding_box(image, top, left, height - 2 * top, width - 2 * left)


def convert_image_dtype(
    image: object, dtype: DTypeLike | None, saturate: bool = False, name: str | None = None
) -> TfTensor:
    """Return an image of another type, scaled: 1 of floats is the most of integers."""
    with InGraph(graph_of([image])):
        x, wanted = convert(image), as_dtype(dtype)
        if x.dtype == wanted:
            return x
        if x.dtype.is_integer and wanted.is_integer:
            raise NotImplementedError("convert_image_dtype: from integers to integers")
        if x.dtype.is_integer:
            scale: float = 1.0 / x.dtype.max
            return cast(x, wanted) * scale
        if wanted.is_integer:
            scaled = x * (wanted.max + 0.5)
            return saturate_cast(scaled, wanted) if saturate else cast(scaled, wanted)
        return cast(x, wanted)


def _as_float(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return a function of images of floats as one of any, scaled forth and back."""

    def public(image: object, *args: object) -> TfTensor:
        with InGraph(graph_of([image])):
            x = convert(image)
            wide = x if x.dtype.is_floating else convert_image_dtype(x, "float32")
            return convert_image_dtype(function(wide, *args), x.dtype, saturate=True)

    public.__doc__ = function.__doc__
    return public


@_as_float
def adjust_brightness(image: TfTensor, delta: object) -> TfTensor:
    """Add to all channels."""
    return image + cast(delta, image.dtype)


@_as_float
def adjust_contrast(images: TfTensor, contrast_factor: object) -> TfTensor:
    """Move away from the mean of each channel, or to it."""
    mean = reduce_mean(images, axis=[-3, -2], keepdims=True)
    return (images - mean) * contrast_factor + mean


@_as_float
def adjust_gamma(image: TfTensor, gamma: object = 1, gain: object = 1) -> TfTensor:
    """Raise to a power, and multiply."""
    return gain * image ** cast(gamma, image.dtype)


def rgb_to_grayscale(images: object, name: str | None = None) -> TfTensor:
    """Return how bright the pixels are."""
    with InGraph(graph_of([images])):
        x = convert(images)
        wide = x if x.dtype.is_floating else convert_image_dtype(x, "float32")
        grey = REDUCTIONS["reduce_sum"](wide * constant(GREY, wide.dtype), axis=-1, keepdims=True)
        return convert_image_dtype(grey, x.dtype)


def grayscale_to_rgb(images: object, name: str | None = None) -> TfTensor:
    """Return images of three equal channels."""
    with InGraph(graph_of([images])):
        x = convert(images)
        return tile(x, [1] * (len(x.shape) - 1) + [3])


def _mixed(weights: object) -> Callable[..., TfTensor]:
    def public(images: object, name: str | None = None) -> TfTensor:
        """Mix the channels."""
        with InGraph(graph_of([images])):
            x = convert(images)
            flat = matmul(reshape(x, [-1, 3]), constant(np.array(weights).T.tolist(), x.dtype))
            return reshape(flat, x.shape.as_list())

    return public


rgb_to_yuv = _mixed(
    [[0.299, 0.587, 0.114], [-0.14714119, -0.28886916, 0.43601035],
     [0.61497538, -0.51496512, -0.10001026]]
)  # fmt: skip
yuv_to_rgb = _mixed(
    [[1, 0, 1.13988303], [1, -0.394642334, -0.58062185], [1, 2.03206185, 0]]
)  # fmt: skip


def per_image_standardization(image: object) -> TfTensor:
    """Give each image the mean 0 and the deviation 1, or nearly so."""
    with InGraph(graph_of([image])):
        x = cast(convert(image), "float32")
        axes, count = [-3, -2, -1], math.prod(x.shape.known()[-3:])
        mean = reduce_mean(x, axis=axes, keepdims=True)
        spread = reduce_mean(x * x, axis=axes, keepdims=True) - mean * mean
        deviation = FUNCTIONS["sqrt"](FUNCTIONS["maximum"](spread, 0.0))
        return (x - mean) / FUNCTIONS["maximum"](deviation, float(count) ** -0.5)


def steps(image: object) -> tuple[TfTensor, TfTensor]:
    """Return the steps to the pixel below, and to the right; 0 at the edge."""
    with InGraph(graph_of([image])):
        x = convert(image)
        down, right = x[:, 1:] - x[:, :-1], x[:, :, 1:] - x[:, :, :-1]
        ends = zeros_like(x[:, :1]), zeros_like(x[:, :, :1])
        return concat([down, ends[0]], 1), concat([right, ends[1]], 2)


def total_variation(images: object, name: str | None = None) -> TfTensor:
    """Return the sum of the steps between neighbours."""
    with InGraph(graph_of([images])):
        x = convert(images)
        total = REDUCTIONS["reduce_sum"]
        down, right = x[..., 1:, :, :] - x[..., :-1, :, :], x[..., 1:, :] - x[..., :-1, :]
        size = FUNCTIONS["abs"]
        axes = [-3, -2, -1]
        return total(size(down), axis=axes) + total(size(right), axis=axes)


def psnr(a: object, b: object, max_val: object, name: str | None = None) -> TfTensor:
    """Return the ratio of the greatest value to the noise, in decibels."""
    with InGraph(graph_of([a, b])):
        x, y = (convert_image_dtype(v, "float32") for v in (a, b))
        top = convert_image_dtype(constant(max_val, convert(a).dtype), "float32")
        error = reduce_mean(square(x - y), axis=[-3, -2, -1])
        log = FUNCTIONS["log"]
        return 20 * log(top) / np.float32(np.log(10.0)) - np.float32(10 / np.log(10)) * log(error)


@op("ExtractImagePatches", "images", strict=False)
def _patches(
    m: Maker,
    images: object,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> object:
    from .window_ops import _pads, _spatial  # noqa: PLC0415  (the same rules of edges)

    dtype, channels = spec_of_value(images).dtype, int(spec_of_value(images).dims[3])  # type: ignore[arg-type]
    pads = _pads(padding, _spatial(images, True), sizes, strides, rates)
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
    return _patches(images, **{k: list(v)[1:3] for k, v in inner.items()}, padding=padding)


NAMES = {
    name: globals()[name]
    for name in (
        *("resize", "flip_left_right", "flip_up_down", "rot90", "crop_to_bounding_box"),
        *("pad_to_bounding_box", "resize_with_crop_or_pad", "central_crop", "psnr"),
        *("convert_image_dtype", "adjust_brightness", "adjust_contrast", "adjust_gamma"),
        *("rgb_to_grayscale", "grayscale_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "total_variation"),
        *("per_image_standardization", "extract_patches", "ResizeMethod"),
    )
}
"""What `tf.image` has; what is called otherwise here is added there."""
