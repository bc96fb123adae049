"""Rules of convolutions and pools: what ONNX says about windows, as strides, pads, dilations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, prod

from ....ir import Dim
from ....ir.compose import functions as c
from ..node import Node, Value
from ..registry import rule
from ..windows import Pads, Windows, clamped, windows_of
from .matrix import centred
from .unpool import pooled_places


def along_channels(node: Node, bias: Value, rank: int) -> Value:
    """Return a vector with its axis where the channels of [N, C, *S] are."""
    return node.make.reshape(bias, shape=(*node.shape(bias), *(1,) * (rank - 2)))


def windowed(
    node: Node, x: Value, kernel: Sequence[int], edge: float = 0.0
) -> tuple[Value, Windows]:
    """Return an image with what is put around it before, and the windows on that."""
    windows, edges = windows_of(node, kernel, node.shape(x)[2:])
    if edges is None:
        return x, windows
    return node.make.pad(x, pads=((0, 0), (0, 0), *edges), value=edge), windows


@rule("Conv")
def conv(node: Node, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Convolve, and add a number for each filter."""
    rank = node.rank(x)
    if rank < 3 or node.rank(w) != rank:
        node.fail(f"ranks {rank} and {node.rank(w)}, expected two equal ones from 3")
    kernel = node.static_shape(w, "for the weights of a convolution")[2:]
    given = node.integers("kernel_shape")
    if given is not None and given != kernel:
        node.fail(f"kernel_shape {given}, expected {kernel} as the weights have")
    x, windows = windowed(node, x, kernel)
    made = convolved(node, x, w, windows, node.integer("group", 1))
    return made if bias is None else node.make.add(made, along_channels(node, bias, rank))


def convolved(node: Node, x: Value, w: Value, windows: Windows, groups: int) -> Value:
    """Append the convolution; negative pads crop first."""
    pads = windows.pads
    if any(p < 0 for pair in pads for p in pair):
        x = c.resize_edges(node.emit, x, ((0, 0), (0, 0), *pads))
        pads = ((0, 0),) * len(pads)
    return node.make.conv(
        x, w, strides=windows.strides, pads=pads, dilations=windows.dilations, groups=groups
    )


@rule("ConvTranspose")
def conv_transpose(node: Node, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Spread each element by a window of weights, and add a number for each filter."""
    rank = node.rank(x)
    if rank < 3 or node.rank(w) != rank:
        node.fail(f"ranks {rank} and {node.rank(w)}, expected two equal ones from 3")
    kernel = node.static_shape(w, "for the weights of a convolution")[2:]
    if (given := node.integers("kernel_shape")) not in (None, kernel):
        node.fail(f"kernel_shape {given}, expected {kernel} as the weights have")
    strides = node.integers("strides") or (1,) * len(kernel)
    dilations = node.integers("dilations") or (1,) * len(kernel)
    more = node.integers("output_padding") or (0,) * len(kernel)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = _transposed_pads(node, node.shape(x)[2:], spans, strides, more)
    made = node.make.conv_transpose(
        x, w, strides=strides, pads=pads, dilations=dilations, output_pads=more,
        groups=node.integer("group", 1),
    )  # fmt: skip
    return made if bias is None else node.make.add(made, along_channels(node, bias, rank))


def _transposed_pads(
    node: Node, extents: Sequence[Dim], spans: Sequence[int], strides: Sequence[int],
    more: Sequence[int],
) -> Pads:  # fmt: skip
    """Return the pads given, or those that lead to the size that is asked for."""
    rank = len(spans)
    mode, size = node.text("auto_pad", "NOTSET"), node.integers("output_shape")
    given = node.integers("pads") or (0,) * (2 * rank)
    if mode in ("", "NOTSET") and size is None:
        return tuple(zip(given[:rank], given[rank:], strict=True))
    if mode == "VALID" and size is None:
        return ((0, 0),) * rank
    pads = []
    for axis, (extent, span, stride) in enumerate(zip(extents, spans, strides, strict=True)):
        wanted = extent * stride if size is None else size[-rank:][axis]
        total = (extent - 1) * stride + span + more[axis] - wanted
        if not isinstance(total, int):
            message = f"output_shape of an axis of {extent} elements depends on a symbol"
            node.refuse_sizes(message, extent)
        total = max(total, 0) if size is None else total
        small = total // 2
        pads.append((small, total - small) if mode == "SAME_UPPER" else (total - small, small))
    return tuple(pads)


@rule("MaxPool")
def max_pool(node: Node, x: Value) -> Sequence[Value]:
    """Return the largest element of each window, and where it is on request."""
    return largest_of(node, x)


def largest_of(node: Node, x: Value) -> list[Value]:
    """Return what `MaxPool` gives."""
    node.integer("storage_order", 0)
    kernel, dtype = node.integers("kernel_shape") or (), node.dtype(x)
    whole, windows = windowed(node, x, kernel, -inf if dtype.is_float else dtype.minimum)
    if whole is not x and node.wants(1):
        node.refuse("places of the largest, with an auto_pad that depends on a symbol")
    x = whole
    extra = _rounded_up(node, windows, node.shape(x)[2:])
    windows = clamped(replace(windows, pads=_longer(windows.pads, extra)), node.shape(x)[2:])
    made = node.make.max_pool(
        x, window=windows.kernel, strides=windows.strides, pads=windows.pads,
        dilations=windows.dilations,
    )  # fmt: skip
    return [made, pooled_places(node, x, made, windows)] if node.wants(1) else [made]


@rule("AveragePool")
def average_pool(node: Node, x: Value) -> Value:
    """Return the mean of each window, of its padding too if `count_include_pad`."""
    kernel = node.integers("kernel_shape") or ()
    whole_image, windows = windowed(node, x, kernel)
    counts_pads = bool(node.integer("count_include_pad", 0))
    node.integer("ceil_mode", 0)  # changes nothing where the edges are as long as it takes
    if whole_image is not x and not counts_pads:
        return _mean_inside(node, x, whole_image, kernel)
    x = whole_image
    extra = _rounded_up(node, windows, node.shape(x)[2:])
    pads = windows.pads
    if counts_pads and any(extra):  # what is added at the end by rounding up never counts
        x = node.make.pad(x, pads=((0, 0), (0, 0), *pads))
        pads, counts_pads = ((0, 0),) * len(pads), False
    whole = replace(windows, pads=_longer(pads, extra))
    fitting = clamped(whole, node.shape(x)[2:])
    made: Value = node.make.avg_pool(
        x, window=fitting.kernel, strides=windows.strides, pads=fitting.pads,
        dilations=windows.dilations, count_padding=counts_pads,
    )  # fmt: skip
    if counts_pads and fitting.kernel != whole.kernel:
        share = prod(fitting.kernel) / prod(whole.kernel)
        made = node.make.mul(made, node.make.number(share, node.dtype(x)))
    return made


def _mean_inside(node: Node, x: Value, whole: Value, kernel: Sequence[int]) -> Value:
    """Return the mean of what windows on an image with edges hold of the image itself."""
    make, dtype = node.make, node.dtype(x)
    ones, windows = windowed(node, make.filled(1, dtype, (1, 1, *node.shape(x)[2:])), kernel)
    total, count = (
        make.avg_pool(
            each, window=windows.kernel, strides=windows.strides, pads=windows.pads,
            dilations=windows.dilations, count_padding=True,
        )
        for each in (whole, ones)
    )  # fmt: skip
    return make.div(total, count)


def _longer(pads: Pads, extra: Sequence[int]) -> Pads:
    return tuple((low, high + more) for (low, high), more in zip(pads, extra, strict=True))


def _rounded_up(node: Node, windows: Windows, extents: Sequence[Dim]) -> list[int]:
    """Return how much longer each axis must be for `ceil_mode`'s last window."""
    if not node.integer("ceil_mode", 0):
        return [0] * len(extents)
    extra = []
    rows = zip(extents, windows.pads, windows.spans, windows.strides, strict=True)
    for extent, (low, high), span, stride in rows:
        if not isinstance(extent, int):
            # Rounding down what is longer rounds up. A window that would start in the padding at
            # the end is left out: if there may be one, each stride of the rest begins a window.
            extra.append(stride - 1 if span >= high + stride else span - 1 - high)
            continue
        room = extent + low + high
        count = -(-(room - span) // stride) + 1
        if (count - 1) * stride >= extent + low:  # a window that would start in the padding
            count -= 1
        extra.append(max((count - 1) * stride + span - room, 0))
    return extra


@rule("LpPool")
def lp_pool(node: Node, x: Value) -> Value:
    """Return the p-norm of each window."""
    make, dtype = node.make, node.dtype(x)
    power = make.number(node.integer("p", 2) if node.version > 1 else node.number("p", 2.0), dtype)
    kernel = node.integers("kernel_shape") or ()
    x, windows = windowed(node, x, kernel)
    extra = _rounded_up(node, windows, node.shape(x)[2:])
    windows = clamped(replace(windows, pads=_longer(windows.pads, extra)), node.shape(x)[2:])
    mean = make.avg_pool(
        make.pow(make.abs(x), power), window=windows.kernel, strides=windows.strides,
        pads=windows.pads, dilations=windows.dilations, count_padding=True,
    )  # fmt: skip
    total = make.mul(mean, make.number(prod(windows.kernel), dtype))
    return make.pow(total, make.reciprocal(power))


def _all_places(node: Node, x: Value) -> tuple[int, ...]:
    if node.rank(x) < 3:
        node.fail(f"rank {node.rank(x)}, expected at least 3")
    return tuple(range(2, node.rank(x)))


@rule("GlobalAveragePool")
def global_average_pool(node: Node, x: Value) -> Value:
    """Return the mean over the image."""
    return node.make.mean(x, axes=_all_places(node, x), keepdims=True)


@rule("GlobalMaxPool")
def global_max_pool(node: Node, x: Value) -> Value:
    """Return the largest element of the image."""
    return node.make.max(x, axes=_all_places(node, x), keepdims=True)


@rule("GlobalLpPool")
def global_lp_pool(node: Node, x: Value) -> Value:
    """Return the p-norm of the image."""
    make, dtype = node.make, node.dtype(x)
    power = make.number(node.integer("p", 2) if node.version > 1 else node.number("p", 2.0), dtype)
    total = make.sum(make.pow(make.abs(x), power), axes=_all_places(node, x), keepdims=True)
    return make.pow(total, make.reciprocal(power))


@rule("ConvInteger")
def conv_integer(
    node: Node, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    """Convolve 8-bit values less their zero points, in 32 bits."""
    if w_zero is not None and node.rank(w_zero) == 1:
        w_zero = node.make.reshape(w_zero, shape=(*node.shape(w_zero), *(1,) * (node.rank(w) - 1)))
    kernel = node.static_shape(w, "for the weights of a convolution")[2:]
    node.has("kernel_shape")
    image, weights = centred(node, x, x_zero), centred(node, w, w_zero)
    image, windows = windowed(node, image, kernel)
    return convolved(node, image, weights, windows, node.integer("group", 1))
