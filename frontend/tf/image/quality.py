"""How much images differ, and where their edges are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import concat, pad, stack
from ..ops.creation import constant, zeros_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, reduce_mean, square
from ..ops.window_ops import depthwise_conv2d, pool
from .colours import convert_image_dtype
from .sizes import channels_of, extent


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


def sobel_edges(image: object) -> TfTensor:
    """Return the slopes down and to the right: [batch, height, width, channels, 2]."""
    with InGraph(graph_of([image])):
        x = convert(image)
        padded = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
        across = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)
        made = []
        for kernel in (across, across.T):
            every = np.repeat(kernel[:, :, None, None], channels_of(x), axis=2)
            made.append(depthwise_conv2d(padded, constant(every), [1, 1, 1, 1], "VALID"))
        return stack(made, axis=-1)


def _smoothed(x: TfTensor, size: int, sigma: float) -> TfTensor:
    """Return the means by a bell of each window that lies inside of the images."""
    steps_away = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    bell = -0.5 * (steps_away / np.float32(sigma)) ** 2
    both = np.exp(bell[:, None] + bell[None, :])
    kernel = (both / both.sum()).astype(np.float32)[:, :, None, None]
    every = np.repeat(kernel, channels_of(x), axis=2)
    return depthwise_conv2d(x, constant(every), [1, 1, 1, 1], "VALID")


def _alike(
    x: TfTensor, y: TfTensor, top: TfTensor, window: tuple[int, float], ks: tuple[float, float]
) -> tuple[TfTensor, TfTensor]:
    """Return by windows how alike the images are in all, and in contrast and structure."""
    first, second = ((k * top) ** 2 for k in ks)
    means = [_smoothed(v, *window) for v in (x, y)]
    product = means[0] * means[1] * 2.0
    squares = square(means[0]) + square(means[1])
    brightness = (product + first) / (squares + first)
    both = _smoothed(x * y, *window) * 2.0
    powers = _smoothed(square(x) + square(y), *window)
    contrast = (both - product + second) / (powers - squares + second)
    return brightness * contrast, contrast


def ssim(
    img1: object,
    img2: object,
    max_val: object,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> TfTensor:
    """Return how alike images are in structure, at most 1 (Wang et al., 2004)."""
    with InGraph(graph_of([img1, img2])):
        x, y = (convert_image_dtype(v, "float32") for v in (img1, img2))
        top = convert_image_dtype(constant(max_val, convert(img1).dtype), "float32")
        alone = len(x.shape) == 3
        x, y = _several(x, y)
        both, _ = _alike(x, y, top, (filter_size, filter_sigma), (k1, k2))
        made = reduce_mean(both, axis=[-1] if return_index_map else [-3, -2, -1])
        return made[0] if alone else made


def _several(*images: TfTensor) -> list[TfTensor]:
    """Return images that stand alone as batches of one."""
    return [x[None] if len(x.shape) == 3 else x for x in images]


SHARES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""How much each scale counts."""


def ssim_multiscale(
    img1: object,
    img2: object,
    max_val: object,
    power_factors: Sequence[float] = SHARES,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> TfTensor:
    """Return how alike images are in structure at several scales, each half of the last."""
    with InGraph(graph_of([img1, img2])):
        x, y = (convert_image_dtype(v, "float32") for v in (img1, img2))
        top = convert_image_dtype(constant(max_val, convert(img1).dtype), "float32")
        alone, found = len(x.shape) == 3, []
        x, y = _several(x, y)
        for scale in range(len(power_factors)):
            if scale:
                x, y = _halved(x), _halved(y)
            both, contrast = _alike(x, y, top, (filter_size, filter_sigma), (k1, k2))
            last = scale == len(power_factors) - 1
            mean = reduce_mean(both if last else contrast, axis=[-3, -2])
            found.append(FUNCTIONS["maximum"](mean, 0.0))
        powers = FUNCTIONS["pow"](stack(found, axis=-1), constant(list(power_factors)))
        made = reduce_mean(REDUCTIONS["reduce_prod"](powers, axis=-1), axis=-1)
        return made[0] if alone else made


def _halved(x: TfTensor) -> TfTensor:
    """Return means of two by two pixels; an edge that is left over is mirrored."""
    odd = [extent(x, axis) % 2 for axis in (-3, -2)]
    if any(not isinstance(v, int) for v in odd):
        raise NotImplementedError("ssim_multiscale: heights and widths must be known")
    if any(odd):
        x = pad(x, [[0, 0], [0, odd[0]], [0, odd[1]], [0, 0]], mode="SYMMETRIC")
    return pool(x, [2, 2], "AVG", strides=[2, 2], padding="VALID")
