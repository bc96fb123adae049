"""Reading at indices that are data.

An index may be negative: it counts from the end. After that it is clamped into the axis: nothing is
ever read outside. Who means no index outside has the run look (`gv.require`), as ONNX models do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import SSAValue

from ..compose.functions import sum_along, unsqueeze
from ..compose.maker import Maker
from ..demands import at_most, expect_elements
from ..families import INTEGER, EmitMath, expect
from ..op import Array, Call, Op, register
from ..reading import Reading
from ..samples import Sample
from ..scalar_math import Term
from ..types.dims import Dim
from ..types.dtypes import DType, bool_, f32, i8, i32, i64, u8
from ..types.indices import Indices, number
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec, spec_of
from .layout import MOVED, check_axis, replaced


def in_range(indices: Array, extent: int) -> Array:
    """Return indices counted from the front and clamped into an axis, as i64.

    >>> in_range(np.array([-1, 7, -9, 2]), 4)
    array([3, 3, 0, 2])
    """
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    wide = indices.astype(np.int64)
    if np.maximum.reduce(wide.view(np.uint64), None, initial=0) < extent:  # (negative is large)
        return wide
    wrapped = np.where(wide < 0, wide + extent, wide)
    return np.maximum(np.minimum(wrapped, max(extent - 1, 0)), 0)


def check_not_empty(axis: int, extent: Dim, indices: TensorSpec) -> None:
    """Raise `TypeError` for indices into an axis without elements, or demand some of the run."""
    expect_elements(axis, extent, indices.size, "for {} indices")


def indexed(
    shapes: tuple[tuple[int, ...], ...],
    operand: int,
    attributes: dict[str, Any],
    dtypes: tuple[DType, ...] = (f32,),
    **more: Any,
) -> Sample:
    """Return a sample in which one operand is indices, some of them outside by default."""
    rank = len(shapes)
    index_dtype, span = more.pop("index_dtype", i64), more.pop("span", (-4, 5))
    return Sample(
        shapes,
        attributes,
        dtypes,
        tuple(index_dtype if i == operand else None for i in range(rank)),
        ranges=tuple(span if i == operand else None for i in range(rank)),
        **more,
    )


@register
class Gather(Op):
    """The slices of an axis at indices; the indices' axes stand in the axis's place."""

    name = "gv.gather"
    INDICES: ClassVar = 1
    SAMPLES: ClassVar = (
        indexed(((4, 3), (2, 5)), 1, {"axis": 0}, MOVED),
        indexed(((3, 4, 2), (6,)), 1, {"axis": 1}),
        indexed(((3, 4), ()), 1, {"axis": 1}, index_dtype=i32),
        indexed(((4,), (2, 2)), 1, {"axis": 0}, index_dtype=u8),
        indexed(((4, 0), (2,)), 1, {"axis": 0}),
        indexed(((0, 4), (0,)), 1, {"axis": 0}),
        indexed(((40, 33), (7,)), 1, {"axis": 0}, (f32, i8), differentiable=False),
    )

    @classmethod
    def infer(cls, x: TensorSpec, indices: TensorSpec, *, axis: int) -> Sequence[TensorSpec]:
        """Return the shape with the indices' axes in place of the axis."""
        expect(indices, INTEGER)
        check_axis(axis, x.rank)
        check_not_empty(axis, x.dims[axis], indices)
        return (x.with_shape(replaced(x.dims, axis, *indices.dims)),)

    @classmethod
    def evaluate(cls, x: Array, indices: Array, *, axis: int) -> Sequence[Array]:
        """Take the slices; numpy itself counts from the end, and refuses what is outside."""
        if indices.dtype != np.uint64:
            try:
                return (np.asarray(x.take(indices, axis)),)
            except IndexError:
                pass  # an index is outside, and is clamped
        return (np.take(x, in_range(indices, x.shape[axis]), axis),)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read the index, then the slice's element."""
        (x, indices), axis = operands, attributes["axis"]
        extent, rank = spec_of(x.type).dims[axis], spec_of(indices.type).rank
        at = reading.element(indices, index[axis : axis + rank])
        picked = reading.picked(at, extent)
        return reading.element(x, (*index[:axis], picked, *index[axis + rank :]))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Add the slices' gradients where the slices came from."""
        axis = call.attributes["axis"]
        extent = call.specs[0].dims[axis]
        return (sum_along(call.emit, grads[0], call.operands[1], axis, extent), None)


def check_elements(x: TensorSpec, indices: TensorSpec, axis: int) -> None:
    """Check that indices have the tensor's rank, and beside the axis at most its extents."""
    expect(indices, INTEGER)
    check_axis(axis, x.rank)
    if indices.rank != x.rank:
        raise TypeError(f"indices of rank {indices.rank}, expected {x.rank}")
    check_not_empty(axis, x.dims[axis], indices)
    for other, (extent, found) in enumerate(zip(x.dims, indices.dims, strict=True)):
        if other != axis:
            text = f"{found} indices along axis {other}, expected at most {extent}"
            at_most(found, extent, text)


def element_index(shape: tuple[int, ...], indices: Array, axis: int) -> tuple[Array, ...]:
    """Return the full index of each element that indices along an axis name."""
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = in_range(indices, shape[axis])
    return tuple(places)


@register
class GatherElements(Op):
    """The elements at indices along an axis, each at its own place along the others."""

    name = "gv.gather_elements"
    INDICES: ClassVar = 1
    SAMPLES: ClassVar = (
        indexed(((4, 3), (2, 3)), 1, {"axis": 0}, MOVED),
        indexed(((3, 4, 2), (2, 6, 1)), 1, {"axis": 1}, index_dtype=i32),
        indexed(((4, 0), (2, 0)), 1, {"axis": 0}),
    )

    @classmethod
    def infer(cls, x: TensorSpec, indices: TensorSpec, *, axis: int) -> Sequence[TensorSpec]:
        """Return the indices' shape."""
        check_elements(x, indices, axis)
        return (x.with_shape(indices.dims),)

    @classmethod
    def evaluate(cls, x: Array, indices: Array, *, axis: int) -> Sequence[Array]:
        """Take the elements."""
        return (x[element_index(x.shape, indices, axis)],)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read the index, then the element."""
        (x, indices), axis = operands, attributes["axis"]
        picked = reading.picked(reading.element(indices, index), spec_of(x.type).dims[axis])
        return reading.element(x, (*index[:axis], picked, *index[axis + 1 :]))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Add the elements' gradients where the elements came from."""
        spec, make = call.specs[0], Maker(call.emit)
        zeros = make.filled(0, spec.dtype, spec.dims)
        axis = call.attributes["axis"]
        added = make.scatter_elements(zeros, call.operands[1], grads[0], axis=axis, reduction="add")
        return (added, None)


@register
class GatherNd(Op):
    """The slices at index vectors, which are the indices' last axis.

    The first `batch_dims` axes of both operands are walked together.
    """

    name = "gv.gather_nd"
    INDICES: ClassVar = 1
    ONNX: ClassVar = "GatherND"
    SAMPLES: ClassVar = (
        indexed(((4, 3), (5, 2)), 1, {}, MOVED, span=(-3, 2)),
        indexed(((4, 3, 2), (2, 3, 1)), 1, {}, span=(-4, 3)),
        indexed(((4, 3, 2), (2, 3)), 1, {}, span=(-2, 1)),
        indexed(((2, 4, 3), (2, 5, 1)), 1, {"batch_dims": 1}, span=(-4, 3)),
        indexed(((4, 3), (0, 2)), 1, {}),
    )

    @classmethod
    def infer(
        cls, x: TensorSpec, indices: TensorSpec, *, batch_dims: int = 0
    ) -> Sequence[TensorSpec]:
        """Return the indices' leading axes and the axes that they leave."""
        depth = index_depth(x, indices, batch_dims)
        for axis in range(batch_dims, batch_dims + depth):
            check_not_empty(axis, x.dims[axis], indices)
        for one, other in zip(x.dims[:batch_dims], indices.dims, strict=False):
            if one != other:
                text = f"shapes {x} and {indices} differ in the first {batch_dims} axes"
                raise UnequalError(text, one, other)
        return (x.with_shape((*indices.dims[:-1], *x.dims[batch_dims + depth :])),)

    @classmethod
    def evaluate(cls, x: Array, indices: Array, *, batch_dims: int) -> Sequence[Array]:
        """Take the slices."""
        batch = np.indices(indices.shape[:batch_dims], sparse=True)
        more = indices.ndim - 1 - batch_dims
        leading = [b.reshape(*b.shape, *(1,) * more) for b in batch]
        at = (*leading, *vectors(x.shape[batch_dims:], indices))
        first = np.zeros(indices.shape[:-1], np.int64)
        return (x[np.newaxis][(first, *at)],)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read the index vector, then the slice's element."""
        (x, indices), batch = operands, attributes["batch_dims"]
        *leading, depth = spec_of(indices.type).dims
        assert isinstance(depth, int), "index vectors have a known length"
        extents, at = spec_of(x.type).dims[batch:], index[: len(leading)]
        picked = [
            reading.picked(reading.element(indices, (*at, number(n))), extents[n])
            for n in range(depth)
        ]
        return reading.element(x, (*index[:batch], *picked, *index[len(leading) :]))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Add the slices' gradients where the slices came from."""
        spec, make, indices = call.specs[0], Maker(call.emit), call.operands[1]
        column = (*call.specs[1].dims[:-1], 1)
        dtype = call.specs[1].dtype
        batch = call.attributes["batch_dims"]
        leading = [make.iota(shape=column, axis=axis, dtype=dtype) for axis in range(batch)]
        if leading:
            indices = make.concat(*leading, indices, axis=len(column) - 1)
        zeros = make.filled(0, spec.dtype, spec.dims)
        return (make.scatter_nd(zeros, indices, grads[0], reduction="add"), None)


def index_depth(x: TensorSpec, indices: TensorSpec, batch_dims: int = 0) -> int:
    """Return the length of the index vectors, or raise `TypeError`."""
    expect(indices, INTEGER)
    depth = indices.dims[-1] if indices.rank else None
    if not isinstance(depth, int):
        raise TypeError(f"indices {indices}, expected vectors of a known length")
    if depth > x.rank - batch_dims or not 0 <= batch_dims < indices.rank:
        raise TypeError(
            f"index vectors of length {depth} behind {batch_dims} batch axes, "
            f"expected at most rank {x.rank}"
        )
    return depth


def vectors(shape: tuple[int, ...], indices: Array) -> tuple[Array, ...]:
    """Return the index along each axis that index vectors name."""
    return tuple(in_range(indices[..., i], shape[i]) for i in range(indices.shape[-1]))


@register
class OneHot(Op):
    """For each index a vector that is `on` at the index and `off` elsewhere.

    An index may be negative; one that is out of range gives only `off`.
    """

    EXACT: ClassVar = True
    COMPILED_ALONE: ClassVar = True

    name = "gv.one_hot"
    SAMPLES: ClassVar = (
        indexed(((2, 3),), 0, {"depth": 4, "axis": 2, "dtype": f32}),
        indexed(((5,),), 0, {"depth": 4, "axis": 0, "dtype": i32, "on": 5.0, "off": -1.0}),
        indexed(((),), 0, {"depth": 3, "axis": 0, "dtype": bool_}, index_dtype=i32),
        indexed(((2,),), 0, {"depth": 0, "axis": 1, "dtype": f32}),
    )

    @classmethod
    def infer(
        cls,
        indices: TensorSpec,
        *,
        depth: Dim,
        axis: int,
        dtype: DType,
        on: float = 1.0,
        off: float = 0.0,
    ) -> Sequence[TensorSpec]:
        """Return the indices' shape with a new axis."""
        expect(indices, INTEGER)
        check_axis(axis, indices.rank + 1)
        if isinstance(depth, int) and depth < 0:
            raise TypeError(f"depth {depth}, expected at least 0")
        shape = (*indices.dims[:axis], depth, *indices.dims[axis:])
        return (TensorSpec(dtype, shape),)

    @classmethod
    def evaluate(
        cls, indices: Array, *, depth: int, axis: int, dtype: DType, on: float, off: float
    ) -> Sequence[Array]:
        """Compare indices with places."""
        wide = indices.astype(np.int64)
        wide = np.expand_dims(np.where(wide < 0, wide + depth, wide), axis)
        places = np.arange(depth).reshape(-1, *(1,) * (indices.ndim - axis))
        values = [np.array(v).astype(dtype.numpy) for v in (on, off)]
        return (np.where(wide == places, *values),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Compare indices with places, and choose."""
        make, attributes = Maker(call.emit), call.attributes
        axis, depth, dtype = attributes["axis"], attributes["depth"], attributes["dtype"]
        wide = Term(EmitMath(call.emit), make.to(call.operands[0], i64))
        wrapped = (wide < 0).where(wide + Term(wide.math, make.extent_of(depth)), wide)
        column = unsqueeze(call.emit, wrapped.value, (axis,))
        shape = (depth, *(1,) * (call.specs[0].rank - axis))
        hit = make.equal(column, make.iota(shape=shape, axis=0, dtype=i64))
        on, off = (make.number(attributes[name], dtype) for name in ("on", "off"))
        return make.select(hit, on, off)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give nothing: indices have no gradient."""
        return (None,)
