"""Heights and widths of images, known or open; images alone and in batches."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ...eager.remembered import remembered
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import shape
from ..ops.math_ops import FUNCTIONS

Size = int | TfTensor
"""A number of pixels: a scalar tensor of int32 where only the run tells it."""


def extent(images: TfTensor, axis: int) -> Size:
    """Return how long an axis is, which may count from the end."""
    dims = images.shape._dims
    known = None if dims is None else dims[axis]
    return shape(images)[axis] if known is None else int(known)


def height_and_width(images: TfTensor) -> tuple[Size, Size]:
    """Return height and width."""
    return extent(images, -3), extent(images, -2)


def channels_of(images: TfTensor) -> int:
    """Return the number of channels, which must be known."""
    found = extent(images, -1)
    if not isinstance(found, int):
        raise ValueError(f"the number of channels of {images.shape} is not known")
    return found


def least(a: Size, b: Size) -> Size:
    """Return the smaller of two sizes."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else FUNCTIONS["minimum"](a, b)


def most(a: Size, b: Size) -> Size:
    """Return the greater of two sizes."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else FUNCTIONS["maximum"](a, b)


def batched(function: Callable[..., TfTensor]) -> Callable[..., TfTensor]:
    """Return a function of several images as that of one image or several."""

    @functools.wraps(function)
    def public(image: object, *args: object, **options: object) -> TfTensor:
        with InGraph(graph_of([image])):
            x = convert(image)
            dims = x.shape._dims
            if dims is not None and len(dims) not in (3, 4):
                raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
            if dims is None or len(dims) == 4:
                return function(x, *args, **options)
            return function(x[None], *args, **options)[0]

    return remembered(public)
