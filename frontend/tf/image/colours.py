"""Colours: channels, brightness, element types. Images are [..., height, width, channels]."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence

from ...eager.remembered import remember_all, remembered
from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..graph.flow import stop_gradient
from ..ops.array_ops import concat, shape, stack, unstack, where
from ..ops.composed import saturate_cast
from ..ops.creation import constant
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, reduce_mean
from ..ops.nn_ops import clip_by_value

GREY = (0.2989, 0.587, 0.114)
"""How bright red, green and blue are."""


def convert_image_dtype(
    image: object, dtype: DTypeLike | None, saturate: bool = False, name: str | None = None
) -> TfTensor:
    """Return an image of another type, scaled: 1 of floats is the most of integers."""
    with InGraph(graph_of([image])):
        x, wanted = convert(image), as_dtype(dtype)
        if x.dtype == wanted:
            return x
        if x.dtype.is_integer and wanted.is_integer:
            return _between_integers(x, wanted, saturate)
        if x.dtype.is_integer:
            scale: float = 1.0 / x.dtype.max
            return cast(x, wanted) * scale
        if wanted.is_integer:
            scaled = x * (wanted.max + 0.5)
            return saturate_cast(scaled, wanted) if saturate else cast(scaled, wanted)
        return cast(x, wanted)


def _between_integers(x: TfTensor, wanted: DataType, saturate: bool) -> TfTensor:
    """Scale by the ratio of the greatest values, which is a power of two."""
    change = saturate_cast if saturate else cast
    have, want = int(x.dtype.max), int(wanted.max)
    if have > want:
        return change(x // ((have + 1) // (want + 1)), wanted)
    return change(x, wanted) * ((want + 1) // (have + 1))


def _as_float(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return a function of images of floats as one of any, scaled forth and back."""
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def public(*args: object, **options: object) -> TfTensor:
        image, rest = (args[0], args[1:]) if args else (options.pop(first), ())
        with InGraph(graph_of([image])):
            x = convert(image)
            wide = x if x.dtype.is_floating else convert_image_dtype(x, "float32")
            found = function(wide, *rest, **options)
            return convert_image_dtype(found, x.dtype, saturate=True)

    return remembered(public)


@_as_float
def adjust_brightness(image: TfTensor, delta: object) -> TfTensor:
    """Add to all channels."""
    return image + cast(delta, image.dtype)


@_as_float
def adjust_contrast(images: TfTensor, contrast_factor: object) -> TfTensor:
    """Move away from the mean of each channel, or to it."""
    if convert(contrast_factor).shape.rank not in (0, None):
        raise InvalidShapesError(f"contrast_factor must be scalar, found {contrast_factor}")
    mean = reduce_mean(images, axis=[-3, -2], keepdims=True)
    return (images - mean) * contrast_factor + mean


@_as_float
def adjust_gamma(image: TfTensor, gamma: object = 1, gain: object = 1) -> TfTensor:
    """Raise to a power, and multiply."""
    known = static(gamma)
    if isinstance(known, int | float) and known < 0:
        raise InvalidShapesError(f"Gamma should be a non-negative real number, found {known}")
    return _powers(image, gamma, gain)


@remembered
def _powers(image: TfTensor, gamma: object, gain: object) -> TfTensor:
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
        return concat([x, x, x], -1)


def _mixed(weights: Sequence[Sequence[float]]) -> Callable[..., TfTensor]:
    def public(images: object, name: str | None = None) -> TfTensor:
        """Mix the channels."""
        with InGraph(graph_of([images])):
            x = convert(images)
            wide = cast(x, "float32") if x.dtype.size < FULL else x
            channels = unstack(wide, 3, axis=-1)
            mixed = []
            for row in weights:
                parts = [c * w for c, w in zip(channels, row, strict=True) if w]
                mixed.append(functools.reduce(operator.add, parts))
            return cast(stack(mixed, axis=-1), x.dtype)

    return remembered(public)


FULL = 4
"""The bytes of floats that are added up as they are."""


rgb_to_yuv = _mixed(
    [[0.299, 0.587, 0.114], [-0.14714119, -0.28886916, 0.43601035],
     [0.61497538, -0.51496512, -0.10001026]]
)  # fmt: skip
yuv_to_rgb = _mixed(
    [[1, 0, 1.13988303], [1, -0.394642334, -0.58062185], [1, 2.03206185, 0]]
)  # fmt: skip
rgb_to_yiq = _mixed(
    [[0.299, 0.587, 0.114], [0.59590059, -0.27455667, -0.32134392],
     [0.2115, -0.52273617, 0.31119955]]
)  # fmt: skip
yiq_to_rgb = _mixed(
    [[1, 0.95598634, 0.6208248], [1, -0.27201283, -0.64720424], [1, -1.10674021, 1.70423049]]
)  # fmt: skip


def rgb_to_hsv(images: object, name: str | None = None) -> TfTensor:
    """Return hue, saturation and value, all from 0 to 1."""
    with InGraph(graph_of([images])):
        x = convert(images)
        channels = unstack(x, 3, axis=-1)
        value, least = (REDUCTIONS[f"reduce_{n}"](x, axis=-1) for n in ("max", "min"))
        span, zero = value - least, value * 0.0
        saturation = where(value > 0.0, span / where(value > 0.0, value, zero + 1.0), zero)
        return stack([_hue_of(channels, value, span), saturation, value], axis=-1)


def _hue_of(channels: Sequence[TfTensor], value: TfTensor, span: TfTensor) -> TfTensor:
    """Return the hues of pixels, of which the greatest channel and how far it is from the least."""
    red, green, blue = channels
    zero = value * 0.0
    unit = 1.0 / (6.0 * where(span > 0.0, span, zero + 1.0))
    others = where(
        FUNCTIONS["equal"](green, value),
        unit * (blue - red) + 2.0 / 6.0, unit * (red - green) + 4.0 / 6.0,
    )  # fmt: skip
    hue = where(FUNCTIONS["equal"](red, value), unit * (green - blue), others)
    hue = where(span > 0.0, hue, zero)
    return where(hue < 0.0, hue + 1.0, hue)


def _pure(hue: TfTensor) -> list[TfTensor]:
    """Return red, green and blue of hues, from 0 to 1."""
    size = FUNCTIONS["abs"]
    away = (size(hue * 6.0 - 3.0) - 1.0, 2.0 - size(hue * 6.0 - 2.0), 2.0 - size(hue * 6.0 - 4.0))
    return [clip_by_value(channel, 0.0, 1.0) for channel in away]


def hsv_to_rgb(images: object, name: str | None = None) -> TfTensor:
    """Return red, green and blue of hue, saturation and value; there is no gradient."""
    with InGraph(graph_of([images])):
        return _of_hue(stop_gradient(convert(images)))


@remembered
def _of_hue(images: TfTensor) -> TfTensor:
    """Return red, green and blue of hue, saturation and value."""
    hue, saturation, value = unstack(images, 3, axis=-1)
    pure = _pure(hue)
    return stack([(1.0 - saturation + saturation * c) * value for c in pure], axis=-1)


@_as_float
def adjust_hue(image: TfTensor, delta: object, name: str | None = None) -> TfTensor:
    """Turn the hue by a part of the circle, from -1 to 1; the least and the most stay.

    That holds below 0 too, where there is no saturation that would say it.
    """
    known = static(delta)
    if image.eager and isinstance(known, int | float) and not -1 <= known <= 1:
        raise InvalidShapesError(f"delta must be in the interval [-1, 1], found {known}")
    return _turned(image, delta)


@remembered
def _turned(image: TfTensor, delta: object) -> TfTensor:
    """Turn the hue by what was looked at: that it was is not remembered where it is a tensor."""
    channels = unstack(image, 3, axis=-1)
    high, low = (REDUCTIONS[f"reduce_{n}"](image, axis=-1) for n in ("max", "min"))
    span = high - low
    hue = _hue_of(channels, high, span) + cast(delta, image.dtype)
    pure = _pure(hue - FUNCTIONS["floor"](hue))
    return stack([low + c * span for c in pure], axis=-1)


@_as_float
def adjust_saturation(
    image: TfTensor, saturation_factor: object, name: str | None = None
) -> TfTensor:
    """Multiply the saturation."""
    wide = rgb_to_hsv(image)
    saturation = clip_by_value(wide[..., 1:2] * cast(saturation_factor, image.dtype), 0.0, 1.0)
    return _of_hue(concat([wide[..., :1], saturation, wide[..., 2:]], -1))


def per_image_standardization(image: object) -> TfTensor:
    """Give each image the mean 0 and the deviation 1, or nearly so."""
    with InGraph(graph_of([image])):
        x = cast(convert(image), "float32")
        axes = [-3, -2, -1]
        count = cast(REDUCTIONS["reduce_prod"](shape(x)[-3:]), "float32")
        mean = reduce_mean(x, axis=axes, keepdims=True)
        spread = reduce_mean(x * x, axis=axes, keepdims=True) - mean * mean
        deviation = FUNCTIONS["sqrt"](FUNCTIONS["maximum"](spread, 0.0))
        return (x - mean) / FUNCTIONS["maximum"](deviation, FUNCTIONS["rsqrt"](count))


remember_all(globals())
