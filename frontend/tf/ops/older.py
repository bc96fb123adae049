"""Functions that few programs use, made of others: blocks, differences of lists, windows."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ...dims.unknown import unknown_dim
from ...eager.remembered import remember_all
from ...values.dtypes import DTypeLike, finfo
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import InGraph, convert, graph_of, same, static
from .array_ops import pad, reshape, reverse, shape, size, stack, where
from .composed import batch_to_space, space_to_batch
from .creation import ones_like, range_, zeros_like
from .gathering import gather
from .math_ops import FUNCTIONS, REDUCTIONS, argmax, cast, matmul, square
from .window_ops import batch_normalization, conv3d


def batch_norm_with_global_normalization(
    input: object,
    mean: TfTensor,
    variance: object,
    beta: TfTensor,
    gamma: object,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> TfTensor:
    """Centre and scale by given moments, and by `gamma` where it is asked for."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


def _extents(x: TfTensor, name: str) -> list[int]:
    """Return the extents of all axes but the first, which must be known."""
    found = [d for d in x.shape.as_list()[1:] if d is not None]
    if len(found) + 1 != x.shape.rank:
        raise NotImplementedError(f"{name}: found shape {x.shape}, expected known extents")
    return found


ListDiff = namedtuple("ListDiff", "out idx")
MaxPoolWithArgmax = namedtuple("MaxPoolWithArgmax", "output argmax")
floor, minimum, maximum = (FUNCTIONS[n] for n in ("floor", "minimum", "maximum"))


def batch_gather(params: object, indices: object, name: str | None = None) -> TfTensor:
    """Take slices along the last axis of the indices; the axes before it are those of both."""
    with InGraph(graph_of([params, indices])):
        places = convert(indices)
        rank = places.shape.rank
        if rank is None:
            raise ValueError(
                "batch_dims may only be negative if rank(indices) is statically known."
            )
        return gather(params, places, axis=rank - 1, batch_dims=rank - 1, name=name)


def clip_by_average_norm(t: object, clip_norm: object, name: str | None = None) -> TfTensor:
    """Scale a tensor so that its norm for each element is `clip_norm` at the most."""
    with InGraph(graph_of([t])):
        x = convert(t)
        count = cast(size(x), x.dtype)
        inverse = FUNCTIONS["rsqrt"](REDUCTIONS["reduce_sum"](square(x)))
        factor = minimum(inverse * count, 1.0 / convert(clip_norm, x.dtype))
        return FUNCTIONS["multiply"](x * convert(clip_norm, x.dtype), factor, name=name)


def setdiff1d(
    x: object, y: object, index_dtype: DTypeLike | None = "int32", name: str | None = None
) -> ListDiff:
    """Return the elements of one list that are not in another, and where they are."""
    with InGraph(graph_of([x, y])):
        a, b = same(x, y)

        def compute(left: Array, right: Array) -> Sequence[Array]:
            if left.dtype.kind == "O":
                gone = set(right.tolist())
                stays = np.fromiter((x not in gone for x in left.tolist()), np.bool_, len(left))
            else:
                stays = np.isin(left, right, invert=True)
            places = np.flatnonzero(stays)
            return left[places], places

        count = unknown_dim()
        specs = [unknown(a.spec.dtype, count), unknown(rows.i64, count)]
        out, idx = host("ListDiff", compute, [a, b], specs, name=name)
        return ListDiff(out, cast(idx, index_dtype))


def sparse_matmul(
    a: object,
    b: object,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Multiply matrices that may hold many zeros, which are multiplied like all numbers."""
    with InGraph(graph_of([a, b])):
        left, right = convert(a), convert(b)
        if "bfloat16" in (left.dtype.name, right.dtype.name):
            left, right = cast(left, "float32"), cast(right, "float32")
        return matmul(left, right, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def histogram_fixed_width_bins(
    values: object,
    value_range: object,
    nbins: int = 100,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
) -> TfTensor:
    """Return the number of the bin of each value: what lies outside is in the outermost ones."""
    with InGraph(graph_of([values, value_range])):
        x = convert(values)
        ends = convert(value_range, x.dtype)
        if isinstance(nbins, int) and nbins <= 0:
            raise InvalidArgumentError(f"nbins {nbins} must > 0")
        scaled = (x - ends[0]) / (ends[1] - ends[0])
        place = cast(floor(scaled * convert(float(nbins), scaled.dtype)), dtype)
        return minimum(maximum(place, zeros_like(place)), ones_like(place) * (nbins - 1), name=name)


def required_space_to_batch_paddings(
    input_shape: object,
    block_shape: object,
    base_paddings: object = None,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor]:
    """Return what has to be put on so that blocks fit, and what has to be cut off afterwards."""
    with InGraph(graph_of([input_shape, block_shape, base_paddings])):
        given = [input_shape, block_shape, *([] if base_paddings is None else [base_paddings])]
        tensors = [convert(x, "int32") for x in given]
        known = [static(x) for x in tensors]
        if not any(isinstance(x, TfTensor) for x in known):
            return _known_paddings(*(np.asarray(x, np.int32) for x in known))
        extents, blocks, *base = tensors
        begin, end = (base[0][:, 0], base[0][:, 1]) if base else (zeros_like(blocks),) * 2
        over = FUNCTIONS["floormod"](extents + begin + end, blocks)
        more = FUNCTIONS["floormod"](blocks - over, blocks)
        return stack([begin, end + more], axis=1), stack([zeros_like(more), more], axis=1)


def _known_paddings(
    extents: Array, blocks: Array, base: Array | None = None
) -> tuple[TfTensor, TfTensor]:
    """Return the same of numbers that are known, as constants."""
    begin, end = np.zeros((2, len(blocks)), np.int32) if base is None else base.reshape(-1, 2).T
    more = -(extents + begin + end) % blocks
    return convert(np.stack([begin, end + more], 1)), convert(np.stack([0 * more, more], 1))


def space_to_batch_nd(
    input: object, block_shape: object, paddings: object, name: str | None = None
) -> TfTensor:
    """Move blocks of space into the first axis."""
    return space_to_batch(input, block_shape, paddings, name=name)


def with_space_to_batch(
    input: object,
    dilation_rate: object,
    padding: str,
    op: Callable[..., TfTensor],
    filter_shape: object = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> TfTensor:
    """Carry out an operation on windows as if their elements lay apart: by blocks in the batch."""
    rates = [int(n) for n in np.ravel(static(dilation_rate))]
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = sorted(range(first, first + len(rates)) if spatial_dims is None else spatial_dims)
    if len(axes) != len(rates) or axes[0] < 1:
        raise ValueError(f"spatial_dims is {axes}, expected {len(rates)} axes behind the batch")
    with InGraph(graph_of([input])):
        x = convert(input)
        if all(rate == 1 for rate in rates):
            return op(x, len(rates), padding)
        base = np.zeros((axes[-1], 2), np.int32)
        if padding.upper() == "SAME":
            if filter_shape is None:
                raise ValueError("`filter_shape` must be specified for `padding='SAME'`.")
            widths = np.ravel(static(filter_shape))[: len(rates)]
            for axis, rate, width in zip(axes, rates, widths, strict=True):
                whole = (int(width) - 1) * rate
                base[axis - 1] = whole // 2, whole - whole // 2
        blocks = [dict(zip(axes, rates, strict=True)).get(a, 1) for a in range(1, axes[-1] + 1)]
        sizes = shape(x)[1 : axes[-1] + 1]
        paddings, crops = required_space_to_batch_paddings(sizes, blocks, base)
        apart = space_to_batch(x, blocks, paddings)
        made = op(apart, len(rates), "VALID")
        return batch_to_space(made, blocks, crops)


def extract_volume_patches(
    input: object,
    ksizes: Sequence[int],
    strides: Sequence[int],
    padding: str,
    name: str | None = None,
) -> TfTensor:
    """Return the boxes around each place, their elements in the last axis."""
    with InGraph(graph_of([input])):
        x = convert(input)
        depth = _extents(x, "extract_volume_patches")[-1]
        count = math.prod(ksizes[1:4]) * depth
        one = np.eye(count, dtype=x.spec.dtype.numpy).reshape(*ksizes[1:4], depth, count)
        return conv3d(x, one, list(strides), padding, name=name)


def log_poisson_loss(
    targets: object, log_input: object, compute_full_loss: bool = False, name: str | None = None
) -> TfTensor:
    """Return the loss of counts whose logarithm is predicted, by Stirling's formula if in full."""
    with InGraph(graph_of([targets, log_input])):
        x = convert(log_input)
        wanted = convert(targets, x.dtype)
        made = FUNCTIONS["exp"](x) - x * wanted
        if compute_full_loss:
            few = FUNCTIONS["logical_and"](wanted >= 0.0, wanted <= 1.0)
            safe = where(few, ones_like(wanted), wanted)  # (below 0 there is no such number)
            log = FUNCTIONS["log"]
            stirling = safe * log(safe) - safe + 0.5 * log(2.0 * math.pi * safe)
            made = made + where(few, zeros_like(wanted), stirling)
        return reshape(made, shape(made), name=name)


Size: TypeAlias = int | TfTensor
"""How long an axis is: a scalar tensor of int32 where only a run tells it."""


def _sizes(x: TfTensor, name: str) -> tuple[Size, Size, Size]:
    """Return height, width and depth of images."""
    found = x.shape.as_list()
    if len(found) != 4:
        raise ValueError(f"{name}: found shape {x.shape}, expected rank 4")
    height, width, depth = (shape(x)[i] if d is None else d for i, d in enumerate(found) if i)
    return height, width, depth


def _moves(
    extents: Sequence[Size], kernel: Sequence[int], strides: Sequence[int], rates: Sequence[int],
    padding: str,
) -> tuple[list[list[Size]], list[Size]]:  # fmt: skip
    """Return the padding and the number of windows along each axis."""
    edges: list[list[Size]] = []
    counts: list[Size] = []
    for extent, size_, step, rate in zip(extents, kernel, strides, rates, strict=True):
        reach = (size_ - 1) * rate + 1
        count = -(-extent // step) if padding == "SAME" else -(-(extent - reach + 1) // step)
        missing: Size = 0
        if padding == "SAME":
            missing = (count - 1) * step + reach - extent
            missing = max(0, missing) if isinstance(missing, int) else maximum(missing, 0)
        edges.append([missing // 2, missing - missing // 2])
        counts.append(count)
    return edges, counts


def _in_windows(
    x: TfTensor, kernel: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str,
    filler: float,
) -> TfTensor:  # fmt: skip
    """Return the elements under each place of a window along a new axis before the last one."""
    edges, counts = _moves(_sizes(x, "windows")[:2], kernel, strides, rates, padding)
    if any(not isinstance(n, int) or n for edge in edges for n in edge):
        x = pad(x, [[0, 0], *edges, [0, 0]], constant_values=filler)
    parts = []
    for down in range(kernel[0]):
        for right in range(kernel[1]):
            top, left = down * rates[0], right * rates[1]
            bottom, end = (
                at + (n - 1) * step + 1
                for at, n, step in zip((top, left), counts, strides, strict=True)
            )
            parts.append(x[:, top : bottom : strides[0], left : end : strides[1]])
    return stack(parts, axis=3)


def dilation2d(
    input: object,
    filters: object,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> TfTensor:
    """Return the greatest sum of a window's elements and a filter's: dilation of grey values."""
    _check_format("dilation2d", data_format)
    with InGraph(graph_of([input, filters])):
        x, kernel = same(input, filters)
        lowest = float(finfo(x.dtype).min) / 2
        sizes = _extents(kernel[None], "dilation2d")
        found = _in_windows(x, sizes[:2], strides[1:3], dilations[1:3], padding, lowest)
        sums = found + reshape(kernel, [math.prod(sizes[:2]), sizes[2]])
        return REDUCTIONS["reduce_max"](sums, axis=3, name=name)


def erosion2d(
    value: object,
    filters: object,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    name: str | None = None,
) -> TfTensor:
    """Return the least difference of a window's elements and a filter's: erosion of grey values."""
    _check_format("erosion2d", data_format)
    with InGraph(graph_of([value, filters])):
        x, kernel = same(value, filters)
        turned = reverse(kernel, [0, 1])
        made = dilation2d(-x, turned, strides, padding, data_format, dilations)
        return FUNCTIONS["negative"](made, name=name)


def _check_format(name: str, data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(f"{name}: Data formats other than NHWC are not yet supported")


def _pair(value: object) -> list[int]:
    """Return height and width of sizes that are given as one, two or four numbers."""
    found = [int(n) for n in np.ravel(static(value))]
    return found * 2 if len(found) == 1 else found if len(found) == 2 else found[1:3]


def max_pool_with_argmax(
    input: object,
    ksize: object,
    strides: object,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: DTypeLike | None = "int64",
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """Return the greatest elements of windows, and where each is in its flattened image."""
    _check_format("max_pool_with_argmax", data_format)
    with InGraph(graph_of([input])):
        x = convert(input)
        kernel, steps = _pair(ksize), _pair(strides)
        height, width, depth = _sizes(x, "max_pool_with_argmax")
        lowest = int(x.dtype.min) if x.dtype.is_integer else float(finfo(x.dtype).min)
        found = _in_windows(x, kernel, steps, [1, 1], padding, lowest)
        edges, counts = _moves((height, width), kernel, steps, [1, 1], padding)
        chosen = argmax(found, axis=3)
        down, right = (
            range_(cast(n, "int64")) * step - cast(low, "int64")
            for n, step, (low, _) in zip(counts, steps, edges, strict=True)
        )
        height, width, depth = (cast(n, "int64") for n in (height, width, depth))
        inside = reshape(np.arange(kernel[0])[:, None] * width + np.arange(kernel[1]), [-1])
        first = (reshape(down * width, [-1, 1]) + right)[:, :, None]
        index = (gather(inside, chosen) + first) * depth + range_(depth)
        if include_batch_in_index:
            images = cast(range_(shape(x)[0]), "int64") * (height * width * depth)
            index = index + reshape(images, [-1, 1, 1, 1])
        made = REDUCTIONS["reduce_max"](found, axis=3, name=name)
        return MaxPoolWithArgmax(made, cast(index, output_dtype))


def is_numeric_tensor(tensor: object) -> bool:
    """Say whether something is a tensor of numbers."""
    spec = getattr(tensor, "spec", None)
    return spec is not None and spec.dtype.kind in "iufc"


remember_all(globals())
