"""`compat.v1`: what stood at the top and has moved since, or is the same by another name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...values.context import executing_eagerly
from ...values.run_errors import OpError
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..graph import graph_lists as _gl
from ..graph import queues as _q
from ..graph.debugging import assert_all_finite, check_numerics
from ..graph.printing import write
from ..graph.state import control_dependencies
from ..image.cutting import extract_patches
from ..ops import array_ops as _a
from ..ops import composed as _o
from ..ops import creation as _c
from ..ops import gathering as _g
from ..ops import math_ops as _m
from ..ops import older as _ol
from ..ops import signal_ops as _si
from ..ops import special as _sp
from ..ops import strings as _s
from ..ops import window_ops as _w
from ..ops.indexed_slices import scalar_mul
from ..text import joined as _t


def verify_tensor_all_finite(
    t: object = None, msg: str = "", name: str | None = None, x: object = None, message: str = ""
) -> TfTensor:
    """Return the tensor, or raise with the message where an element is NaN or infinite."""
    return assert_all_finite(t if x is None else x, message or msg, name=name)


def print_(
    input_: object,
    data: object,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return a tensor; when it is computed, a message and values go to standard error."""
    values = list(data) if isinstance(data, list | tuple) else [data]
    with InGraph(graph_of([input_, *values])):
        x = convert(input_)
        most = -1 if first_n is None else first_n
        said = write([message or "", *values], None, "", "\n", summarize, most)
        with control_dependencies([] if said is None else [said]):
            return _m.identity(x, name=name)


def extract_image_patches(
    images: object,
    ksizes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Sequence[int] | None = None,
) -> TfTensor:
    """Return the rectangles around each place, their pixels in the last axis."""
    wanted = sizes if ksizes is None else ksizes
    if wanted is None or strides is None or rates is None or padding is None:
        raise TypeError("extract_image_patches wants ksizes, strides, rates and padding")
    return extract_patches(images, wanted, strides, rates, padding, name=name)


def parallel_stack(values: Sequence[object], name: str = "parallel_stack") -> TfTensor:
    """Join tensors of one known shape along a new first axis, in a graph."""
    if executing_eagerly():
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    with InGraph(graph_of(list(values))):
        parts = [convert(value) for value in values]
        if not parts or not parts[0].shape.is_fully_defined():
            raise ValueError("the shape of each of the values has to be fully known")
        return _a.stack(parts, name=name)


def no_regularizer(_: object) -> None:
    """Return nothing: what has no penalty."""


def _cast_to(dtype: str) -> Callable[..., TfTensor]:
    return lambda x, name=None: _m.cast(x, dtype, name=name)


ALIASES: dict[str, object] = {
    **{each.__name__: each for each in (_q.PaddingFIFOQueue, _q.PriorityQueue, _q.QueueBase)},
    **{name: getattr(_si, name) for name in ("fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d")},
    **{
        f"unsorted_segment_{how}": getattr(_g, f"unsorted_segment_{how}")
        for how in ("mean", "min", "prod", "sqrt_n")
    },
    **{
        f"tensor_scatter_{how}": getattr(_g, f"tensor_scatter_nd_{how}")
        for how in ("add", "sub", "update")
    },
    **{f"to_{row}": _cast_to(row) for row in ("bfloat16", "complex64", "complex128")},
    **{
        name: getattr(_ol, name)
        for name in (
            *("batch_gather", "clip_by_average_norm", "extract_volume_patches"),
            *("histogram_fixed_width_bins", "is_numeric_tensor", "setdiff1d"),
            *("required_space_to_batch_paddings", "space_to_batch_nd", "sparse_matmul"),
        )
    },
    "OpError": OpError,
    "batch_to_space_nd": _o.batch_to_space,
    "extract_image_patches": extract_image_patches,
    "guarantee_const": _m.identity,
    "Print": print_,
    "angle": _o.angle,
    "check_numerics": check_numerics,
    "depth_to_space": _w.depth_to_space,
    "div_no_nan": _sp.divide_no_nan,
    "floor_div": _m.FUNCTIONS["floordiv"],
    "floormod": _m.FUNCTIONS["floormod"],
    "initialize_local_variables": _gl.local_variables_initializer,
    "is_non_decreasing": _o.is_non_decreasing,
    "is_strictly_increasing": _o.is_strictly_increasing,
    "lin_space": _c.linspace,
    "log_sigmoid": _sp.log_sigmoid,
    "no_regularizer": no_regularizer,
    "parallel_stack": parallel_stack,
    "reduce_join": _t.first_reduce_join,
    "regex_replace": _s.regex_replace,
    "reverse_v2": _a.reverse,
    "scalar_mul": scalar_mul,
    "space_to_depth": _w.space_to_depth,
    "string_strip": _s.strip,
    "substr": _s.first_substr,
    "verify_tensor_all_finite": verify_tensor_all_finite,
    "where_v2": _a.where,
}
"""By the name at the top of the first version: the function."""
