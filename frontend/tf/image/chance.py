"""What augments a training set: mirrors, cuts and colours by chance, with TensorFlow's numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.bridge import TfTensor
from ..core.shapes import ShapeLike
from ..core.values import InGraph, convert, graph_of, static
from ..ops.array_ops import shape, where
from ..ops.indexing import slice_
from ..ops.math_ops import FUNCTIONS, cast
from ..ops.random_ops import stateless_uniform, uniform
from .colours import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .cutting import flip_left_right, flip_up_down

Draw = Callable[..., TfTensor]
"""Draws evenly: a shape and two bounds, or the element type of integers."""


def _stateful(seed: int | None) -> Draw:
    def draw(dims: object, low: object, high: object, dtype: str = "float32") -> TfTensor:
        return uniform(dims, low, high, dtype, seed)

    return draw


def _stateless(seed: object) -> Draw:
    def draw(dims: ShapeLike, low: object, high: object, dtype: str = "float32") -> TfTensor:
        return stateless_uniform(dims, seed, low, high, dtype)

    return draw


def _by_chance(image: object, draw: Draw, change: Callable[[TfTensor], TfTensor]) -> TfTensor:
    """Change an image or leave it, each with a chance of one half; of several, each by itself."""
    with InGraph(graph_of([image])):
        x = convert(image)
        if len(x.shape) == 3:
            return where(draw([], 0, 1.0) < 0.5, change(x), x)
        flips = FUNCTIONS["round"](draw([shape(x)[0]], 0.0, 1.0))
        return where(flips[:, None, None, None] > 0.5, change(x), x)


def random_flip_left_right(image: object, seed: int | None = None) -> TfTensor:
    """Mirror at the vertical axis, or not."""
    return _by_chance(image, _stateful(seed), flip_left_right)


def random_flip_up_down(image: object, seed: int | None = None) -> TfTensor:
    """Mirror at the horizontal axis, or not."""
    return _by_chance(image, _stateful(seed), flip_up_down)


def stateless_random_flip_left_right(image: object, seed: object) -> TfTensor:
    """Mirror at the vertical axis, or not, as the seed says."""
    return _by_chance(image, _stateless(seed), flip_left_right)


def stateless_random_flip_up_down(image: object, seed: object) -> TfTensor:
    """Mirror at the horizontal axis, or not, as the seed says."""
    return _by_chance(image, _stateless(seed), flip_up_down)


def _positive(name: str, value: float) -> float:
    if value < 0:
        raise ValueError(f"{name} must be non-negative.")
    return value


def _between(lower: float, upper: float) -> tuple[float, float]:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return lower, upper


def random_brightness(image: object, max_delta: float, seed: int | None = None) -> TfTensor:
    """Add to all channels, at most so much."""
    delta = _positive("max_delta", max_delta)
    return adjust_brightness(image, _stateful(seed)([], -delta, delta))


def stateless_random_brightness(image: object, max_delta: float, seed: object) -> TfTensor:
    """Add to all channels what the seed says."""
    delta = _positive("max_delta", max_delta)
    return adjust_brightness(image, _stateless(seed)([], -delta, delta))


def random_contrast(image: object, lower: float, upper: float, seed: int | None = None) -> TfTensor:
    """Move away from the mean, or to it, by a factor between two."""
    return adjust_contrast(image, _stateful(seed)([], *_between(lower, upper)))


def stateless_random_contrast(image: object, lower: float, upper: float, seed: object) -> TfTensor:
    """Move away from the mean, or to it, by the factor that the seed says."""
    return adjust_contrast(image, _stateless(seed)([], *_between(lower, upper)))


def random_saturation(
    image: object, lower: float, upper: float, seed: int | None = None
) -> TfTensor:
    """Multiply the saturation by a factor between two."""
    return adjust_saturation(image, _stateful(seed)([], *_between(lower, upper)))


def stateless_random_saturation(
    image: object, lower: float, upper: float, seed: object
) -> TfTensor:
    """Multiply the saturation by the factor that the seed says."""
    return adjust_saturation(image, _stateless(seed)([], *_between(lower, upper)))


def _hue(max_delta: float) -> float:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _positive("max_delta", max_delta)


def random_hue(image: object, max_delta: float, seed: int | None = None) -> TfTensor:
    """Turn the hue by at most so much."""
    delta = _hue(max_delta)
    return adjust_hue(image, _stateful(seed)([], -delta, delta))


def stateless_random_hue(image: object, max_delta: float, seed: object) -> TfTensor:
    """Turn the hue by what the seed says."""
    delta = _hue(max_delta)
    return adjust_hue(image, _stateless(seed)([], -delta, delta))


def _cut(value: object, size: object, draw: Draw) -> TfTensor:
    with InGraph(graph_of([value, size])):
        x = convert(value)
        wanted, dims = static(size), x.shape._dims
        if dims is not None and isinstance(wanted, list | tuple):
            for axis, (have, want) in enumerate(zip(dims, wanted, strict=True)):
                if isinstance(have, int) and isinstance(want, int) and have < want:
                    raise ValueError(f"Need value.shape >= size, got {dims} and {wanted}: {axis}")
        sizes = cast(convert(size), "int32")
        room = shape(x) - sizes + 1
        most = int(np.iinfo(np.int32).max)
        drawn = draw([len(dims)] if dims is not None else shape(shape(x)), 0, most, dtype="int32")
        return slice_(x, drawn % room, wanted if isinstance(wanted, list | tuple) else sizes)


def random_crop(
    value: object, size: object, seed: int | None = None, name: str | None = None
) -> TfTensor:
    """Cut a part of a size out of a tensor, at a place by chance."""
    return _cut(value, size, _stateful(seed))


def stateless_random_crop(
    value: object, size: object, seed: object, name: str | None = None
) -> TfTensor:
    """Cut a part of a size out of a tensor, at the place that the seed says."""
    return _cut(value, size, _stateless(seed))
