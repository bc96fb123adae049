"""A host step that resizes images to sizes that a run says, with all that ONNX has for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import Any, ClassVar

import numpy as np

from ...families import FLOAT, INTEGER, REAL, expect
from ...host import HostOp
from ...op import Array, register
from ...types.dims import Dim
from ...types.dtypes import DType, f32, of_numpy
from ...types.tensor import TensorSpec
from ..resize import Resize, times
from ..resize_matrix import Stretch, outside, weights

WHOLE = (0.0, 1.0)
"""Begin and end of an axis that is not cropped."""
POLICIES = ("stretch", "not_larger", "not_smaller")
CROPS = "tf_crop_and_resize"


@register
class ResizeTo(HostOp):
    """The image resized along some axes to sizes, or by factors: a vector of integers or floats.

    The third operand, if there is one, has begin and end of what is cropped of each axis. Beyond
    the image that leaves `fill`. A policy other than `stretch` keeps the aspect: the sizes are the
    most that there may be (`not_larger`) or the least.
    """

    name = "gv.resize_to"
    RULES: ClassVar = ("mode", "nearest", "cubic", "exclude_outside")

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        given: TensorSpec,
        *regions: TensorSpec,
        axes: tuple[int, ...],
        sizes: tuple[Dim, ...],
        policy: str = "stretch",
        mode: str = "nearest",
        coordinate: str = "half_pixel",
        nearest: str = "round_prefer_floor",
        cubic: float = -0.75,
        exclude_outside: bool = False,
        antialias: bool = False,
        fill: float = 0.0,
    ) -> Sequence[TensorSpec]:
        """Return the shape with those axes replaced by the sizes."""
        expect(x, REAL)
        expect(given, INTEGER + FLOAT)
        if given.shape != (len(axes),) or len(sizes) != len(axes) != len({*axes}):
            raise TypeError(f"{given} and {len(sizes)} sizes for axes {[*axes]}")
        if len(regions) > 1 or any(each.shape != (2 * len(axes),) for each in regions):
            raise TypeError(f"regions {[*map(str, regions)]} for {len(axes)} axes")
        if policy not in POLICIES or bool(regions) != (coordinate == CROPS):
            raise TypeError(f"policy {policy!r}, coordinate {coordinate!r}")
        shape = list(x.dims)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return (x.with_shape(shape),)

    @classmethod
    def evaluate(
        cls, x: Array, given: Array, *regions: Array, axes: tuple[int, ...], sizes: Any = (),
        policy: str, coordinate: str, antialias: bool, fill: float, **rules: Any,
    ) -> Sequence[Array]:  # fmt: skip
        """Resize, or raise `ValueError`."""
        shape, factors = target(x.shape, given, axes, policy)
        if not x.size and np.prod(shape):
            raise ValueError(f"{[*shape]} of no elements")
        in_floats = rules["mode"] != "nearest" and not of_numpy(x.dtype).is_float
        wide = x.astype(np.float32) if in_floats else x
        if not (antialias or regions):
            more = {"shape": shape, "scales": factors, "coordinate": coordinate}
            (made,) = Resize.evaluate(wide, **more, **rules)
            return (made.astype(x.dtype, copy=False),)
        ends = dict.fromkeys(range(x.ndim), WHOLE)
        for place, axis in enumerate(axes):
            for each in regions:
                ends[axis] = float(each[place]), float(each[place + len(axes)])
        rows = [
            Stretch(
                n, result, factors[axis] if factors else result / max(n, 1), coordinate=coordinate,
                antialias=antialias, region=ends[axis], **rules,
            )
            for axis, (n, result) in enumerate(zip(x.shape, shape, strict=True))
        ]  # fmt: skip
        whole = of_numpy(x.dtype) if antialias and in_floats else None
        made = through(wide, rows, fill, scaled=bool(factors), whole=whole)
        return (made.astype(x.dtype, copy=False),)


def target(
    shape: Sequence[int], given: Array, axes: Sequence[int], policy: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return a shape, and by which factors it comes out, nothing if those are the extents'.

    >>> target((4, 6), np.int64([8, 8]), (0, 1), "not_larger")
    ((5, 8), (1.3333333333333333, 1.3333333333333333))
    """
    numbers, made, factors = given.tolist(), list(shape), [1.0] * len(shape)
    if any(not 0 <= number < inf for number in numbers):
        raise ValueError(f"sizes or scales {numbers}, expected numbers from 0 on")
    if given.dtype.kind not in "iu":
        for axis, factor in zip(axes, numbers, strict=True):
            made[axis], factors[axis] = times(shape[axis], factor), factor
        exact = all(n * f == m for n, f, m in zip(shape, factors, made, strict=True))
        return tuple(made), () if exact else tuple(factors)
    if policy == "stretch":
        for axis, size in zip(axes, numbers, strict=True):
            made[axis] = size
        return tuple(made), ()
    ratios = [size / shape[axis] for axis, size in zip(axes, numbers, strict=True) if shape[axis]]
    if len(ratios) < len(axes):
        raise ValueError(f"{[*shape]} of no elements, expected some")
    factor = min(ratios) if policy == "not_larger" else max(ratios)
    for axis in axes:
        made[axis], factors[axis] = floor(factor * shape[axis] + 0.5), factor
    return tuple(made), tuple(factors)


def ends_of(dtype: DType) -> tuple[float, float]:
    """Return the least and the largest number of a type of integers that an f32 is, too.

    >>> from gravure.ir.types.dtypes import i32, u8
    >>> ends_of(u8), ends_of(i32)
    ((0.0, 255.0), (-2147483648.0, 2147483520.0))
    """
    most = np.float32(dtype.maximum)
    if int(most) > dtype.maximum:
        most = np.nextafter(most, np.float32(0))
    return float(dtype.minimum), float(most)


def through(
    x: Array, rows: Sequence[Stretch], fill: float, *, scaled: bool, whole: DType | None = None
) -> Array:
    """Multiply each axis that changes by its matrix; put the fill where nothing was.

    Of `whole` numbers each is rounded to one that its type has, the last axis first.
    """
    dtype = of_numpy(x.dtype)
    made: Array = x.astype(x.dtype if dtype.is_float and dtype.size > 2 else f32.numpy)
    beyond = np.zeros((1,) * x.ndim, np.bool_)
    for axis, how in [*enumerate(rows)][:: -1 if whole else 1]:
        if how.extent == how.result and how.region == WHOLE and not (scaled and how.factor != 1):
            continue
        matrix = weights(how).T.astype(made.dtype)
        made = np.moveaxis(np.moveaxis(made, axis, -1) @ matrix, -1, axis)
        if whole is not None:
            made = np.clip(np.floor(made + made.dtype.type(0.5)), *ends_of(whole))
        if how.coordinate == CROPS:
            around = [how.result if each == axis else 1 for each in range(x.ndim)]
            beyond = beyond | outside(how).reshape(around)
    made = np.where(beyond, made.dtype.type(fill), made) if beyond.any() else made
    return np.ascontiguousarray(made)
