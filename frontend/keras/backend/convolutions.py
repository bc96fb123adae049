"""Windows that move over images: convolutions, pools, patches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as _np
from keras.src.backend.common.backend_utils import (
    check_conv_input_channels as _check,
)
from keras.src.backend.common.backend_utils import (
    check_conv_transpose_input_channels as _check_transposed,
)
from keras.src.backend.common.backend_utils import (
    compute_conv_transpose_output_crops_for_torch as _crops_of,
)
from keras.src.backend.config import standardize_data_format as _format
from keras.src.utils.argument_validation import standardize_tuple as _each

from ....ir.types.tensor import Array
from ...array import nn as _nn
from ...eager.tensor import Tensor
from ...tf.core.bridge import dressed as _dressed
from ...tf.ops import array_ops as _a
from ...tf.ops import gathering as _g
from ...tf.ops import math_ops as _m
from ...tf.ops import window_ops as _w
from ...values.given import TensorLike
from .tensors import cast, convert_to_tensor, name_of, promoted, rank, sizes, sizes_but_batch

Many = int | Sequence[int]


def _last(x: Tensor, data_format: str) -> Tensor:
    """Bring the channels to the end."""
    if data_format == "channels_last":
        return x
    return _a.transpose(x, [0, *range(2, rank(x)), 1])


def _back(x: Tensor, data_format: str) -> Tensor:
    if data_format == "channels_last":
        return x
    return _a.transpose(x, [0, rank(x) - 1, *range(1, rank(x) - 1)])


def _pool(
    function: Callable[..., Tensor],
    inputs: TensorLike,
    pool_size: Many,
    strides: Many | None,
    padding: str,
    data_format: str | None,
) -> Tensor:
    order = _format(data_format)
    x = convert_to_tensor(inputs)
    many = rank(x) - 2
    window = _each(pool_size, many, "pool_size")
    steps = window if strides is None else _each(strides, many, "strides")
    found = function(_last(x, order), list(window), list(steps), padding.upper())
    return _back(found, order)


def max_pool(
    inputs: TensorLike,
    pool_size: Many,
    strides: Many | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Return the largest elements of windows."""
    return _pool(_w.max_pool, inputs, pool_size, strides, padding, data_format)


def average_pool(
    inputs: TensorLike,
    pool_size: Many,
    strides: Many | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Return the means of windows."""
    return _pool(_w.avg_pool, inputs, pool_size, strides, padding, data_format)


def _adaptive(
    inputs: TensorLike, output_size: Many, data_format: str | None, reduction: str
) -> Tensor:
    """Return a fixed number of windows along each axis, reduced axis by axis."""
    order = _format(data_format)
    x = _last(convert_to_tensor(inputs), order)
    many = rank(x) - 2
    for axis, count in enumerate(_each(output_size, many, "output_size"), start=1):
        length = sizes(x)[axis] if x.shape[axis] is None else x.shape[axis]
        starts = [i * length // count for i in range(count)]
        ends = [-(-(i + 1) * length // count) for i in range(count)]
        along = (slice(None),) * axis
        parts = [x[(*along, slice(a, b))] for a, b in zip(starts, ends, strict=True)]
        if reduction == "mean":
            reduced = [_m.reduce_mean(part, axis, keepdims=True) for part in parts]
        else:
            reduced = [_m.REDUCTIONS["reduce_max"](part, axis, keepdims=True) for part in parts]
        x = _a.concat(reduced, axis)
    return _back(x, order)


def adaptive_average_pool(
    inputs: TensorLike, output_size: Many, data_format: str | None = None
) -> Tensor:
    """Return means of as many windows as the output has elements."""
    return _adaptive(inputs, output_size, data_format, "mean")


def adaptive_max_pool(
    inputs: TensorLike, output_size: Many, data_format: str | None = None
) -> Tensor:
    """Return the largest elements of as many windows as the output has elements."""
    return _adaptive(inputs, output_size, data_format, "max")


def _held(*values: TensorLike) -> tuple[list[Tensor], str]:
    """Return what a convolution works with, and the element type of its result."""
    found = promoted(*map(convert_to_tensor, values))
    kind = name_of(found[0])
    if kind == "int8":
        kind = "int32"
    held = kind if kind.startswith(("float", "bfloat")) else "float32"
    return [cast(x, held) for x in found], kind


def conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Many = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Many = 1,
) -> Tensor:
    """Return an image seen through filters; fewer channels in a filter mean groups."""
    x, filters, order = convert_to_tensor(inputs), convert_to_tensor(kernel), _format(data_format)
    channels = x.shape[-1] if order == "channels_last" else x.shape[1]
    if channels is not None and channels % sizes(filters)[-2]:
        _check(x, filters, order)
    return _convolved(inputs, kernel, strides, padding, data_format, dilation_rate)


def _convolved(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Many,
    padding: str,
    data_format: str | None,
    dilation_rate: Many,
) -> Tensor:
    order = _format(data_format)
    (x, filters), kind = _held(inputs, kernel)
    many = rank(x) - 2
    if padding == "causal":
        raise ValueError("padding 'causal' is the layers': pad first, then use 'valid'")
    steps, apart = _each(strides, many, "strides"), _each(dilation_rate, many, "dilation_rate")
    layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[many]
    found = _w.convolution(
        _last(x, order), filters, list(steps), padding.upper(), layout, list(apart)
    )
    return cast(_back(found, order), kind)


def depthwise_conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Many = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Many = 1,
) -> Tensor:
    """Return an image of which each channel is seen through filters of its own."""
    filters = convert_to_tensor(kernel)
    *window, channels, times = sizes(filters)
    grouped = _a.reshape(filters, [*window, 1, channels * times])
    return _convolved(inputs, grouped, strides, padding, data_format, dilation_rate)


def separable_conv(
    inputs: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Many = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Many = 1,
) -> Tensor:
    """Return a depthwise convolution, mixed by a product of the channels."""
    found = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(found, pointwise_kernel, 1, "valid", data_format)


def conv_transpose(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: Many = 1,
    padding: str = "valid",
    output_padding: Many | None = None,
    data_format: str | None = None,
    dilation_rate: Many = 1,
) -> Tensor:
    """Return what the gradient of a convolution is."""
    order = _format(data_format)
    (x, filters), kind = _held(inputs, kernel)
    _check_transposed(x, filters, order)
    many = rank(x) - 2
    steps, apart = _each(strides, many, "strides"), _each(dilation_rate, many, "dilation_rate")
    crops = _crops_of(
        input_shape=tuple(x.shape),
        kernel_shape=sizes(filters),
        strides=steps,
        padding=padding,
        output_padding=output_padding,
        dilation_rate=apart,
    )
    found = _dressed(
        _nn.conv_transpose(
            _last(x, order),
            _a.transpose(filters, [many + 1, many, *range(many)]),
            strides=list(steps),
            padding=[(max(low, 0), max(high, 0)) for low, high in crops],
            dilations=list(apart),
            channels_last=True,
        )
    )
    if any(min(pair) < 0 for pair in crops):
        around = [(max(-low, 0), max(-high, 0)) for low, high in crops]
        found = _a.pad(found, [(0, 0), *around, (0, 0)])
    return cast(_back(found, order), kind)


def unfold(
    input: TensorLike,
    kernel_size: Many,
    dilation: Many = 1,
    padding: Many = 0,
    stride: Many = 1,
) -> Tensor:
    """Return the patches [N, C kh kw, L] of images [N, C, H, W]."""
    x = convert_to_tensor(input)
    (kh, kw), (dh, dw) = _each(kernel_size, 2, "kernel_size"), _each(dilation, 2, "dilation")
    ph, pw = (padding, padding) if isinstance(padding, int) else padding
    sh, sw = _each(stride, 2, "stride")
    x = _a.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    _, channels, height, width = sizes_but_batch(x)
    rows = _places(height, kh, dh, sh)
    columns = _places(width, kw, dw, sw)
    found = _g.gather(_g.gather(x, rows, axis=2), columns, axis=4)
    # [N, C, oh, kh, ow, kw]
    turned = _a.transpose(found, [0, 1, 3, 5, 2, 4])
    count = rows.shape[0] * columns.shape[0]
    return _a.reshape(turned, [-1, channels * kh * kw, count])


def _places(length: int, window: int, apart: int, step: int) -> Array:
    """Return the places that windows read along an axis."""
    count = (length - apart * (window - 1) - 1) // step + 1
    found = _np.arange(count)[:, None] * step + _np.arange(window) * apart
    return found.astype(_np.int32)


def fold(
    x: TensorLike,
    output_size: Many,
    kernel_size: Many,
    dilation: Many = 1,
    padding: Many = 0,
    stride: Many = 1,
) -> Tensor:
    """Return images of which patches [N, C kh kw, L] are parts; what overlaps is added up."""
    patches = convert_to_tensor(x)
    height, width = _each(output_size, 2, "output_size")
    (kh, kw), (dh, dw) = _each(kernel_size, 2, "kernel_size"), _each(dilation, 2, "dilation")
    ph, pw = (padding, padding) if isinstance(padding, int) else padding
    sh, sw = _each(stride, 2, "stride")
    tall, wide = height + 2 * ph, width + 2 * pw
    rows, columns = _places(tall, kh, dh, sh), _places(wide, kw, dw, sw)
    _, inner, _ = sizes_but_batch(patches)
    channels = inner // (kh * kw)
    # The place of each element in a flat image, in the order of the patches.
    flat = rows.T[:, None, :, None] * wide + columns.T[None, :, None, :]
    values = _a.reshape(patches, [-1, channels, flat.size])
    turned = _a.transpose(values, [2, 0, 1])
    summed = _g.unsorted_segment_sum(turned, flat.reshape(-1).astype(_np.int32), tall * wide)
    image = _a.reshape(_a.transpose(summed, [1, 2, 0]), [-1, channels, tall, wide])
    return image[:, :, ph : ph + height, pw : pw + width]


def depth_to_space(x: TensorLike, block_size: int, data_format: str = "channels_last") -> Tensor:
    """Turn channels into blocks of pixels."""
    order = _format(data_format)
    tensor = _last(convert_to_tensor(x), order)
    return _back(_w.depth_to_space(tensor, block_size), order)


def space_to_depth(x: TensorLike, block_size: int, data_format: str = "channels_last") -> Tensor:
    """Turn blocks of pixels into channels."""
    order = _format(data_format)
    tensor = _last(convert_to_tensor(x), order)
    return _back(_w.space_to_depth(tensor, block_size), order)
