"""Convolutions, pools, normalisation and embeddings by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, DimExpr, product
from ...eager.remembered import remember_all
from ...eager.tensor import Tensor, computed
from ...graph.graph import GraphTensor
from ...graph.inference import Abstract, is_unknown
from ...values.best import among_best
from ...values.run_errors import UnimplementedError
from ..core import shape_rules as shapes_of
from ..core.bridge import OPERATORS, TfTensor
from ..core.calls import op, perform, rule
from ..core.shapes import ShapeLike
from ..core.sizes import sizes_of
from ..core.values import InGraph, at_once, axis_in, convert, elements, graph_of, same, static
from .creation import ints
from .math_ops import FUNCTIONS, REDUCTIONS, by_parts, cast, conj, real
from .nn_ops import clip_by_norm, depth_of, greatest_of_depth, of_images


def _pair(value: object, channels_last: bool, rank: int = 2) -> tuple[int, ...]:
    """Return a stride, window or dilation of each spatial axis: whole numbers, floats are cut."""
    given = np.ravel(static(value)).tolist()
    listed = [int(x) if isinstance(x, float) else x for x in given]
    if len(listed) == 1:
        return tuple(listed * rank)
    if len(listed) == rank + 2:
        if {listed[0], listed[-1 if channels_last else 1]} != {1}:
            raise UnimplementedError(f"{listed}: nothing but 1 is supported along batch and depth")
        listed = listed[1:-1] if channels_last else listed[2:]
    return tuple(listed)


Padding: TypeAlias = str | Sequence[Sequence[int]]
"""How edges are filled: `SAME`, `VALID`, or how much before and behind each axis."""


def pads_of(
    padding: Padding,
    sizes: Sequence[Any],
    window: Sequence[Any],
    strides: Sequence[int],
    dilations: Sequence[int],
    last: bool = True,
) -> tuple[tuple[Dim, Dim], ...]:
    """Return what is put before and behind each axis; `last`: channels are the last axis."""
    if padding != "SAME":
        return _stated(padding, len(window), last)
    made = []
    for size, k, s, d in zip(sizes, window, strides, dilations, strict=True):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        made.append((total // 2, total - total // 2))
    return tuple(made)


def _require_room(
    sizes: Sequence[Any],
    window: Sequence[Any],
    dilations: Sequence[int],
    pads: Sequence[tuple[Dim, Dim]],
) -> None:
    """Raise where a window is known to be larger than an image and what is put around it."""
    for size, k, d, (low, high) in zip(sizes, window, dilations, pads, strict=True):
        room = size + low + high - (k - 1) * d - 1
        if isinstance(room, int) and room < 0:
            raise TypeError(
                f"Negative dimension size: a window over {(k - 1) * d + 1} elements does not "
                f"fit in {size} elements padded by {low} and {high}"
            )


def _stated(padding: Padding, rank: int, last: bool) -> tuple[tuple[int, int], ...]:
    """Return paddings that do not depend on sizes."""
    if not isinstance(padding, str):
        pairs = [(int(a), int(b)) for a, b in padding]
        inside = slice(1, -1) if last else slice(2, None)
        made = tuple(pairs[inside])
        if any(map(any, (pairs[0], pairs[-1] if last else pairs[1]))):
            raise TypeError(
                "Nonzero explicit padding in the batch or depth dimensions is not supported: "
                f"{pairs}"
            )
        if any(n < 0 for pair in made for n in pair):
            raise TypeError(f"All elements of explicit_paddings must be nonnegative: {pairs}")
        return made
    if padding != "VALID":
        raise TypeError(f"padding is {padding!r}, expected 'SAME' or 'VALID'")
    return ((0, 0),) * rank


def spatial(x: object, last: bool) -> tuple[int | DimExpr, ...]:
    """Return the extents that windows go along."""
    dims = spec_of_value(x).dims
    return dims[1:-1] if last else dims[2:]


def _conv(type_: str, rank: int) -> Callable[..., TfTensor]:
    """Return the function that slides filters over so many axes."""

    @op(type_, "input", "filters", slides=True, shapes=shapes_of.windows(rank))
    def function(
        m: Maker,
        input: object,
        filters: object,
        strides: object = 1,
        padding: Padding = "VALID",
        data_format: str | None = None,
        dilations: object = 1,
    ) -> object:
        """Slide filters [*sizes, in, out] over images."""
        last = data_format is None or data_format.endswith("C")
        outer = spec_of_value(input).dims[: -rank - 1]
        if len(outer) > 1:  # several axes of images are one
            input = m.reshape(
                input, shape=(product(outer), *spec_of_value(input).dims[-rank - 1 :])
            )
        *window, inner, _ = spec_of_value(filters).dims
        if len(window) != rank:
            raise TypeError(f"filters of {len(window) + 2} axes, expected {rank + 2}")
        if 0 in window:
            raise TypeError(f"filter must not have zero elements: its window is {window}")
        steps, apart = (_pair(x, last, rank) for x in (strides, dilations or 1))
        pads = pads_of(padding, spatial(input, last), window, steps, apart, last)
        _require_room(spatial(input, last), window, apart, pads)
        channels = spec_of_value(input).dims[-1 if last else 1]
        kernel = m.transpose(filters, order=(rank + 1, rank, *range(rank)))
        made = m.conv(
            input, kernel, strides=steps, pads=pads, dilations=apart,
            groups=channels // inner, channels_last=last,
        )  # fmt: skip
        if len(outer) > 1:
            made = m.reshape(made, shape=(*outer, *spec_of_value(made).dims[1:]))
        return made

    return function


def refuse_channels_first(name: str, data_format: str | None) -> None:
    """Raise for an operation that takes images with the channels last only."""
    if data_format is not None and not data_format.endswith("C"):
        raise UnimplementedError(f"{name}: {data_format} is not supported, expected NHWC")


conv2d, conv3d, _conv1d = _conv("Conv2D", 2), _conv("Conv3D", 3), _conv("Conv1D", 1)


def conv1d(
    input: object,
    filters: object,
    stride: object = 1,
    padding: Padding = "VALID",
    data_format: str = "NWC",
    dilations: object = None,
    name: str | None = None,
) -> TfTensor:
    """Slide filters [width, in, out] over sequences."""
    return _conv1d(input, filters, stride, padding, data_format, dilations, name=name)


def separable_conv2d(
    input: object,
    depthwise_filter: object,
    pointwise_filter: object,
    strides: object,
    padding: object,
    data_format: str | None = None,
    dilations: object = None,
    name: str | None = None,
) -> TfTensor:
    """Slide filters over each channel, then combine the channels."""
    refuse_channels_first("separable_conv2d", data_format)
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, dilations=dilations or 1)
    return conv2d(deep, pointwise_filter, 1, "VALID", name=name)


def atrous_conv2d(
    value: object, filters: object, rate: object, padding: object, name: str | None = None
) -> TfTensor:
    """Slide filters whose elements are apart."""
    return conv2d(value, filters, 1, padding, dilations=rate, name=name)


@op("DepthwiseConv2dNative", "input", "filter", slides=True)
def depthwise_conv2d(
    m: Maker,
    input: object,
    filter: object,
    strides: object = 1,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: object = 1,
) -> object:
    """Slide filters [height, width, in, multiplier] over each channel by itself."""
    refuse_channels_first("depthwise_conv2d", data_format)
    h, w, channels, times = spec_of_value(filter).dims
    steps, apart = _pair(strides, True), _pair(dilations or 1, True)
    pads = pads_of(padding, spatial(input, True), (h, w), steps, apart)
    kernel = m.reshape(m.transpose(filter, order=(2, 3, 0, 1)), shape=(channels * times, 1, h, w))
    return m.conv(
        input, kernel, strides=steps, pads=pads, dilations=apart, groups=channels,
        channels_last=True,
    )  # fmt: skip


@rule("Conv1DBackpropInput", label="conv1d_transpose", slides=True, shapes=shapes_of.backward)
@rule("Conv2DBackpropInput", label="conv2d_transpose", slides=True, shapes=shapes_of.backward)
@rule("Conv3DBackpropInputV2", label="conv3d_transpose", slides=True, shapes=shapes_of.backward)
def _conv_transpose(
    m: Maker,
    x: object,
    f: object,
    *sizes_: object,
    wanted: Any,
    strides: object,
    padding: Padding,
) -> object:
    wanted = tuple(ints(sizes_[0])) if sizes_ else wanted
    *window, depth, _ = spec_of_value(f).dims
    if None not in (wanted[-1], depth) and wanted[-1] != depth:
        raise TypeError(f"an output of {wanted[-1]} channels by filters of {depth}")
    rank = len(window)
    steps, ones = _pair(strides, True, rank), (1,) * rank
    pads = pads_of(padding, wanted[1:-1], window, steps, ones)
    kernel = m.transpose(f, order=(rank + 1, rank, *range(rank)))
    sizes = spatial(x, True)
    for want, size, step, extent in zip(wanted[1:-1], sizes, steps, window, strict=True):
        least = want if padding == "SAME" else want - extent + 1
        if isinstance(padding, str) and isinstance(size, int) and size != -(-least // step):
            raise TypeError(f"an output of {want} is that of {-(-least // step)}, not of {size}")
    extra = tuple(
        want - ((n - 1) * s + k - lo - hi)
        for want, n, s, k, (lo, hi) in zip(wanted[1:-1], sizes, steps, window, pads, strict=True)
    )
    return m.conv_transpose(
        x, kernel, strides=steps, pads=pads, dilations=ones, output_pads=extra, groups=1,
        channels_last=True,
    )  # fmt: skip


def _sizes(shape: ShapeLike) -> tuple[int | None, ...] | None:
    """Return the sizes of an output as far as they matter: None if one of an image is computed."""
    known = static(shape)
    if isinstance(known, GraphTensor):
        found = sizes_of(known)
        known = [known] if found is None else list(found)
    sizes = tuple(d if isinstance(d, int) else None for d in known)
    return None if len(sizes) < 3 or None in sizes[1:-1] else sizes


def _channels_last(
    function: Callable[..., TfTensor],
    input: object,
    filters: object,
    sizes: ShapeLike,
    strides: object,
    name: str | None,
) -> TfTensor:
    """Return what a function of images with the channels last makes of those with them first."""
    from .array_ops import transpose  # noqa: PLC0415
    from .gathering import gather  # noqa: PLC0415

    with InGraph(graph_of([input, filters, sizes])):
        images = convert(input)
        rank = len(images.shape)
        last, first = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
        steps = np.ravel(static(strides)).tolist()
        steps = [steps[i] for i in last] if len(steps) == rank else steps
        known = static(sizes)
        turned = gather(sizes, last) if isinstance(known, GraphTensor) else [known[i] for i in last]
        made = function(transpose(images, last), filters, turned, steps)
        return transpose(made, first, name=name)


def _transposed(label: str, type_: str) -> Callable[..., TfTensor]:
    """Return the function that is the gradient of a convolution."""

    def function(
        input: object,
        filters: object,
        output_shape: ShapeLike,
        strides: object = 1,
        padding: Padding = "SAME",
        data_format: str | None = None,
        dilations: object = None,
        name: str | None = None,
    ) -> TfTensor:
        """Return what the gradient of a convolution is; filters are [*sizes, out, in]."""
        with InGraph(graph_of([input, filters, output_shape])):
            output_shape = of_images(output_shape, input, filters, data_format)
        if data_format is not None and not data_format.endswith("C"):
            turned = partial(function, padding=padding, dilations=dilations)
            return _channels_last(turned, input, filters, output_shape, strides, name)
        if set(np.ravel(static(dilations or 1)).tolist()) != {1}:
            raise UnimplementedError(f"{label}: dilations are not supported")
        with InGraph(graph_of([input, filters, output_shape])):
            wanted = _sizes(output_shape)
            given = {"wanted": wanted, "strides": static(strides), "padding": padding}
            sizes = [] if wanted is not None else [convert(output_shape, "int32")]
            made = perform(type_, [*same(input, filters), *sizes], name=name, **given)
            if not made.eager and wanted is not None:
                made.set_shape(wanted)
            return made

    return function


conv1d_transpose = _transposed("conv1d_transpose", "Conv1DBackpropInput")
conv2d_transpose = _transposed("conv2d_transpose", "Conv2DBackpropInput")
conv3d_transpose = _transposed("conv3d_transpose", "Conv3DBackpropInputV2")


def convolution(
    input: object,
    filters: object,
    strides: object = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: object = None,
    name: str | None = None,
) -> TfTensor:
    """Slide filters over images of as many axes as the filters have."""
    rank = len(convert(filters).shape) - 2
    functions: dict[int, Callable[..., TfTensor]] = {1: conv1d, 2: conv2d, 3: conv3d}
    if rank not in functions:
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: {rank}")
    more = {"padding": padding, "data_format": data_format, "dilations": dilations or 1}
    return functions[rank](input, filters, strides or 1, name=name, **more)


def conv_transpose(
    input: object,
    filters: object,
    output_shape: object,
    strides: object,
    padding: Padding = "SAME",
    data_format: str | None = None,
    dilations: object = None,
    name: str | None = None,
) -> TfTensor:
    """Return what the gradient of a convolution of as many axes is."""
    functions = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
    if output_shape is None:
        raise ValueError(
            "`output_shape` must be a tensor or sized collection. Received: output_shape=None"
        )
    count = convert(output_shape, "int32").shape.num_elements()
    rank = (convert(filters).shape.rank or 0 if count is None else count) - 2
    if rank not in functions:
        raise ValueError(
            "`output_shape` must be of length 3, 4 or 5. Received: output_shape="
            f"{output_shape} of length {count}."
        )
    more = {"data_format": data_format, "dilations": dilations, "name": name}
    return functions[rank](input, filters, output_shape, strides, padding, **more)


def pool(
    input: object,
    window_shape: object,
    pooling_type: str,
    strides: object = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: object = None,
    name: str | None = None,
) -> TfTensor:
    """Combine the elements of windows by their greatest ("MAX") or their mean ("AVG")."""
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"Unsupported pooling_type: {pooling_type}.")
    function = max_pool if pooling_type == "MAX" else avg_pool
    apart, steps = (np.ravel(static(x or 1)).tolist() for x in (dilations, strides))
    if set(apart) == {1}:
        return function(input, window_shape, strides or 1, padding, data_format, name=name)
    if set(steps) != {1}:
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
            f"padding={padding} and dilation_rate={apart}"
        )
    return function(input, window_shape, 1, padding, data_format, dilations=apart, name=name)


def conv2d_backprop_input(
    input_sizes: object,
    filters: object,
    out_backprop: object,
    strides: object,
    padding: object,
    **more: object,
) -> TfTensor:
    """Return the gradient of a convolution's images."""
    return conv2d_transpose(out_backprop, filters, input_sizes, strides, padding, **more)


RANKS = (1, 2, 3)
"""How many axes besides batch and depth images have that are pooled."""


def _pool(type_: str, gv: str, rank: int | None = None) -> Callable[..., TfTensor]:
    """Return the function that pools over so many axes; None: over as many as there are."""
    stated = shapes_of.unranked if rank is None else shapes_of.windows(rank)

    @op(type_, "input", strict=False, label=type_.removesuffix("ND"), shapes=stated)
    def function(
        m: Maker,
        input: object,
        ksize: object,
        strides: object,
        padding: Padding = "VALID",
        data_format: str | None = None,
        *,
        dilations: object = 1,
    ) -> object:
        """Combine the elements of windows."""
        last = data_format is None or data_format.endswith("C")
        sizes = spatial(input, last)
        if rank is None and len(sizes) not in RANKS:
            raise ValueError(
                "`input.shape.rank` must be 3, 4 or 5. Received: input.shape="
                f"{spec_of_value(input).dims} of rank {len(sizes) + 2}."
            )
        if len(sizes) != (rank or len(sizes)):
            raise TypeError(f"an operand of {len(sizes) + 2} axes, expected {rank} and 2 more")
        if gv == "max_pool" and depth_of(ksize, last) > 1:
            return greatest_of_depth(m, input, ksize, strides, last)
        given = (ksize, strides, dilations)
        window, steps, apart = (_pair(v, last, len(sizes)) for v in given)
        if any(isinstance(k, int) and k < 1 for k in window):
            raise TypeError(f"Sliding window ksize must be positive: the window is {window}")
        pads = pads_of(padding, sizes, window, steps, apart, last)
        _require_room(sizes, window, apart, pads)
        for k, ends in zip(window, pads, strict=True):
            if not isinstance(padding, str) and any(n >= k for n in ends if isinstance(n, int)):
                raise TypeError(f"padding {ends} needs to be smaller than the window size {k}")
        if len(sizes) == 1 and last:  # kernels go along rows of images: a sequence is one row
            (batch, length, depth), unit = spec_of_value(input).dims, (0, 0)
            made = getattr(m, gv)(
                m.reshape(input, shape=(batch, 1, length, depth)), window=(1, *window),
                strides=(1, *steps), pads=(unit, *pads), dilations=(1, *apart), channels_last=True,
            )  # fmt: skip
            return m.reshape(made, shape=(batch, *spec_of_value(made).dims[2:]))
        more = {"strides": steps, "pads": pads, "dilations": apart, "channels_last": last}
        return getattr(m, gv)(input, window=window, **more)

    return function


max_pool, avg_pool = _pool("MaxPoolND", "max_pool"), _pool("AvgPoolND", "avg_pool")
max_pool1d, avg_pool1d = _pool("MaxPool1D", "max_pool", 1), _pool("AvgPool1D", "avg_pool", 1)
max_pool2d, avg_pool2d = _pool("MaxPool", "max_pool", 2), _pool("AvgPool", "avg_pool", 2)
max_pool3d, avg_pool3d = _pool("MaxPool3D", "max_pool", 3), _pool("AvgPool3D", "avg_pool", 3)


def _block(block_size: int, *dims: object) -> int:
    """Return how large blocks are, which the sizes of images are multiples of."""
    if block_size < 2:
        raise TypeError(f"Block size should be > 1, but was: {block_size}")
    for extent in dims:
        if isinstance(extent, int) and extent % block_size:
            raise TypeError(
                f"Dimension size must be evenly divisible by {block_size} but is {extent}"
            )
    return int(block_size)


@op("SpaceToDepth", "input", strict=False, shapes=shapes_of.ranked(4))
def space_to_depth(m: Maker, input: object, block_size: int, data_format: str = "NHWC") -> object:
    """Turn blocks of pixels into channels."""
    refuse_channels_first("space_to_depth", data_format)
    n, h, w, channels = spec_of_value(input).dims
    b = _block(block_size, h, w)
    cut = m.reshape(input, shape=(n, h // b, b, w // b, b, channels))
    turned = m.transpose(cut, order=(0, 1, 3, 2, 4, 5))
    return m.reshape(turned, shape=(n, h // b, w // b, b * b * channels))


@op("DepthToSpace", "input", strict=False, shapes=shapes_of.ranked(4))
def depth_to_space(m: Maker, input: object, block_size: int, data_format: str = "NHWC") -> object:
    """Turn channels into blocks of pixels."""
    refuse_channels_first("depth_to_space", data_format)
    n, h, w, channels = spec_of_value(input).dims
    b = _block(block_size)
    if isinstance(channels, int) and channels % (b * b):
        raise TypeError(f"Dimension size must be evenly divisible by {b * b} but is {channels}")
    cut = m.reshape(input, shape=(n, h, w, b, b, channels // (b * b)))
    turned = m.transpose(cut, order=(0, 1, 3, 2, 4, 5))
    return m.reshape(turned, shape=(n, h * b, w * b, channels // (b * b)))


def batch_normalization(
    x: object,
    mean: TfTensor,
    variance: object,
    offset: TfTensor | None,
    scale: object,
    variance_epsilon: float,
    name: str | None = None,
) -> TfTensor:
    """Centre and scale by given moments."""
    factor = FUNCTIONS["rsqrt"](convert(variance) + variance_epsilon)
    factor = factor if scale is None else factor * scale
    shift = -mean * factor if offset is None else offset - mean * factor
    image = convert(x, None if isinstance(x, TfTensor) else factor.dtype)
    return image * cast(factor, image.dtype) + cast(shift, image.dtype)


@op("L2Normalize", "x", strict=False, shapes=shapes_of.like())
def _l2_normalize(m: Maker, x: object, axis: object = None, epsilon: float = 1e-12) -> object:
    spec = spec_of_value(x)
    axes = (
        tuple(range(spec.rank))
        if axis is None
        else tuple(axis_in(a, spec.rank) for a in np.ravel(static(axis)).tolist())
    )
    total = m.sum(m.mul(x, x), axes=axes, keepdims=True)
    return m.mul(x, m.rsqrt(m.maximum(total, m.number(epsilon, spec.dtype))))


def l2_normalize(
    x: object, axis: object = None, epsilon: float = 1e-12, name: str | None = None
) -> TfTensor:
    """Divide by the norm along axes."""
    with InGraph(graph_of([x])):
        given = convert(x)
        if given.spec.dtype.kind != "c":
            return _l2_normalize(given, axis, epsilon, name=name)
        total = REDUCTIONS["reduce_sum"](real(given * conj(given)), axis, keepdims=True)
        scale = FUNCTIONS["rsqrt"](FUNCTIONS["maximum"](total, convert(epsilon, total.dtype)))
        return FUNCTIONS["multiply"](given, cast(scale, given.dtype), name=name)


@op("LRN", "input", strict=False, shapes=shapes_of.ranked(4))
def local_response_normalization(
    m: Maker,
    input: object,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> object:
    """Divide by the squares of neighbouring channels."""
    spec = spec_of_value(input)
    channels, last, total = spec.dims[-1], spec.rank - 1, None  # (beyond channels are zeros only)
    radius = min(depth_radius, max(channels - 1, 0)) if isinstance(channels, int) else depth_radius
    pads = tuple((radius, radius) if i == last else (0, 0) for i in range(spec.rank))
    squares = m.pad(m.mul(input, input), pads=pads)
    for i in range(2 * radius + 1):
        part = c.cut(m.emit, squares, last, i, i + channels)
        total = part if total is None else m.add(total, part)
    scaled = m.add(m.mul(total, m.number(alpha, spec.dtype)), m.number(bias, spec.dtype))
    return m.div(input, m.pow(scaled, m.number(beta, spec.dtype)))


def embedding_lookup(
    params: object, ids: object, max_norm: float | None = None, name: str | None = None
) -> TfTensor:
    """Take rows of a table, scaled down to a norm if one is given."""
    from .array_ops import concat  # noqa: PLC0415
    from .gathering import gather  # noqa: PLC0415

    with InGraph(graph_of([params, ids])):
        places = ids if isinstance(ids, TfTensor) else convert(ids)
    if isinstance(params, list | tuple) and not params:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    if isinstance(params, list | tuple):
        params = params[0] if len(params) == 1 else concat(list(params), 0)
    if params is None:
        raise ValueError("params must be specified")
    found = gather(params, places, name=name)
    if max_norm is None:
        return found
    along = tuple(range(places.ndim, found.ndim))
    return clip_by_norm(found, max_norm, axes=along)


@rule("Tensordot", label="Tensordot", shapes=shapes_of.unranked)
def _tensordot(m: Maker, x: object, y: object, axes: Any) -> object:
    p, q = spec_of_value(x).rank, spec_of_value(y).rank
    if isinstance(axes, int):
        left, right = list(range(p - axes, p)), list(range(axes))
    else:
        left, right = (np.ravel(g).tolist() for g in axes)
    letters = "abcdefghijklmnopqrstuvwxyz"
    first = list(letters[:p])
    second = list(letters[p : p + q])
    for i, j in zip(left, right, strict=True):
        second[j] = first[i % p]
    out = [s for s in first if s not in second] + [s for s in second if s not in first]
    return m.einsum(x, y, equation=f"{''.join(first)},{''.join(second)}->{''.join(out)}")


def tensordot(a: object, b: object, axes: object, name: str | None = None) -> TfTensor:
    """Multiply along several axes."""
    with InGraph(graph_of([a, b])):
        pair, known = same(a, b), static(axes)
        if not pair[0].dtype.is_complex:
            return perform("Tensordot", pair, name=name, axes=known)
        return by_parts(lambda x, y: perform("Tensordot", [x, y], axes=known), pair)


@op("Norm", "tensor", strict=False, shapes=shapes_of.unranked)
def _norm(
    m: Maker, tensor: object, ord: Any, axes: tuple[int, ...] | None, keepdims: bool, matrix: bool
) -> object:
    spec = spec_of_value(tensor)
    axes = tuple(axis_in(a, spec.rank) for a in (range(spec.rank) if axes is None else axes))
    if ord == "euclidean":
        return m.sqrt(m.sum(m.mul(tensor, tensor), axes=axes, keepdims=keepdims))
    size = m.abs(tensor)
    if matrix and ord in (1, np.inf):  # of matrices: the largest sum of a column or row
        row, column = axes if ord == 1 else axes[::-1]
        sums = m.sum(size, axes=(row,), keepdims=True)
        found = m.max(sums, axes=(column,), keepdims=True)
        return found if keepdims else c.squeeze(m.emit, found, axes)
    if ord == np.inf:
        return m.max(size, axes=axes, keepdims=keepdims)
    if ord == 1:
        return m.sum(size, axes=axes, keepdims=keepdims)
    powers = m.sum(m.pow(size, m.number(ord, spec.dtype)), axes=axes, keepdims=keepdims)
    return m.pow(powers, m.number(1 / ord, spec.dtype))


@op("SpectralNorm", "tensor", strict=False, differentiable=None)
def _spectral(m: Maker, tensor: object, axes: tuple[int, ...], keepdims: bool) -> object:
    """Return the largest singular value of matrices, which is real."""
    if is_unknown(tensor):
        made = spec_of_value(m.sum(tensor, axes=axes, keepdims=keepdims))
        return Abstract(made.with_dtype(rows.PARTS.get(made.dtype, made.dtype)))
    array = elements(tensor)
    return np.linalg.norm(array, 2, axes, keepdims).astype(array.real.dtype)


def norm(
    tensor: object,
    ord: object = "euclidean",
    axis: object = None,
    keepdims: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return the norm of vectors along an axis or of all elements, of matrices along two."""
    with InGraph(graph_of([tensor])):
        x = convert(tensor)
    known = None if axis is None else np.ravel(static(axis)).tolist()
    is_matrix = known is not None and len(known) == 2
    allowed = ("euclidean", "fro", 1, 2, np.inf) if is_matrix else ("euclidean", 1, 2, np.inf)
    if ord not in allowed and not (not is_matrix and isinstance(ord, int | float) and ord > 0):
        kind = "matrix" if is_matrix else "vector"
        raise ValueError(f"'ord' must be a supported {kind} norm, got {ord}")
    axes = None if known is None else tuple(known)
    if is_matrix and ord == 2:
        return _spectral(x, axes=axes, keepdims=keepdims, name=name)
    plain = "euclidean" if ord in (2, "fro") else ord
    if x.spec.dtype.kind == "c":
        found = norm(OPERATORS["abs"](x), ord, axis, keepdims, name)
        return OPERATORS["cast"](found, x.dtype) if plain == "euclidean" else found
    return _norm(x, ord=plain, axes=axes, keepdims=keepdims, matrix=is_matrix, name=name)


@op(
    "InTopK",
    *("targets", "predictions"),
    strict=False,
    differentiable=False,
    shapes=shapes_of.ranked(1, rows.bool_),
)
def in_top_k(m: Maker, targets: object, predictions: object, k: int = 1) -> object:
    """Say whether the target is among the k largest of each row."""
    spec, row, least = spec_of_value(predictions), rows.i64, int(static(k))
    fits = spec.dtype is rows.f32 and spec_of_value(targets).dims == spec.dims[:1]
    here = isinstance(predictions, Tensor) and isinstance(targets, Tensor)
    if fits and here and computed(targets, predictions):  # type: ignore[arg-type]
        return at_once(partial(among_best, least), targets, predictions)
    there, columns = m.to(targets, row), spec.dims[1]
    zero, count = m.number(0, row), m.extent_of(columns, row)
    inside = m.logical_and(m.greater_equal(there, zero), m.less(there, count))
    column = c.unsqueeze(m.emit, m.select(inside, there, zero), (1,))
    value = m.gather_elements(predictions, column, axis=1)
    is_small = isinstance(columns, int) and columns * least < 1 << 31
    sums = rows.i32 if is_small else row
    above = m.cast(m.greater(predictions, value), dtype=sums)
    # what is not finite counts as `k` larger ones: no target is among the largest beside it
    counted = m.select(m.isfinite(predictions), above, m.number(max(least, 1), sums))
    among = m.less(m.sum(counted, axes=(1,)), m.number(least, sums))
    return m.logical_and(inside, among)


remember_all(globals())
