"""Sorting along an axis. Of equal elements the first stays first; a NaN counts as largest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compose.maker import Maker
from ..demands import at_most
from ..facts import KernelForm, Work
from ..families import REAL, AxisPlaces, expect
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dims import Dim, product
from ..types.dtypes import bf16, f16, f32, f64, i8, i64, u8, u64
from ..types.numerics import widen
from ..types.tensor import TensorSpec
from .layout import check_axis, replaced

SORTED = (f32, f64, f16, bf16, i64, i8, u8, u64)


def order_of(x: Array, axis: int, *, descending: bool) -> Array:
    """Return the indices along an axis that sort it.

    >>> order_of(np.array([2, 1, 2, 0]), 0, descending=True)
    array([0, 2, 1, 3])
    """
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - backwards, axis)


def first_of(x: Array, k: int, axis: int, *, largest: bool) -> Array:
    """Return the indices of the k best elements along an axis, best first, as `order_of` has them.

    Few of many are told apart by the worst of them, and only they are sorted: unless others are
    equal to it, or there are NaN.

    >>> first_of(np.array([2, 1, 2, 0, 3, 1, 0, 1, 0]), 1, 0, largest=True)
    array([4])
    """
    count = x.shape[axis]
    if count >= LONG and 0 < k <= count // (4 * CLASS):
        long = np.moveaxis(x, axis, -1)
        each = [_first_of_row(row, k, largest=largest) for row in long.reshape(-1, count)]
        return np.moveaxis(np.array(each, np.int64).reshape(*long.shape[:-1], k), -1, axis)
    if 0 < 8 * k < count and x.size:
        rows = np.moveaxis(x, axis, -1).reshape(-1, count)
        place = count - k if largest else k - 1
        worst = np.partition(rows, place, axis=-1)[:, place, None]
        found = (rows >= worst) if largest else (rows <= worst)
        if (found.sum(-1) == k).all():
            few = np.nonzero(found)[1].reshape(-1, k)
            order = order_of(np.take_along_axis(rows, few, -1), -1, descending=largest)
            best = np.take_along_axis(few, order, -1)
            dims = (*x.shape[:axis], *x.shape[axis + 1 :], k)
            return np.moveaxis(best.reshape(dims), -1, axis)
    return order_of(x, axis, descending=largest).take(range(k), axis).astype(np.int64)


def _first_of_row(row: Array, k: int, *, largest: bool) -> Array:
    """Return the indices of the k best of a long row.

    It is parted into classes. The k-th best of what is best in each is no better than the k-th best
    of all: no more than what is as good as that is sorted.
    """
    classes = len(row) // CLASS
    parts = row[: classes * CLASS].reshape(CLASS, classes)
    best = np.maximum.reduce(parts, axis=0) if largest else np.minimum.reduce(parts, axis=0)
    place = classes - k if largest else k - 1
    worst = np.partition(best, place)[place]
    is_whole = row.dtype.kind != "f" or not np.isnan(best).any()
    if not is_whole or np.isnan(row[classes * CLASS :]).any():  # NaN have a place of their own
        return order_of(row, 0, descending=largest)[:k].astype(np.int64)
    few = np.flatnonzero(row >= worst if largest else row <= worst)
    return few[order_of(row[few], 0, descending=largest)[:k]]


LONG = 1 << 12
"""Rows of so many elements are looked at by classes."""
CLASS = 32
"""Elements of a class."""
FEW = 16
"""How many of a column are kept in registers at most."""
PLACES = 32
"""Bits of a place behind the key of an element."""
MOST = 1 << PLACES
"""Rows of 32 bits or fewer are shorter: an element and its place are compared as one number."""
NARROWEST = 4
"""Columns side by side from which on vectors of them take less time than one by one."""


@register
class TopK(AxisPlaces):
    """The k largest (or smallest) elements along an axis, best first, and their indices.

    Without `sorted` their order is of no importance to the caller.
    """

    name = "gv.top_k"
    KERNEL: ClassVar = KernelForm("sort")
    EXACT: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((4, 9),), {"k": 3, "axis": 1}, SORTED, low=-9, high=9),
        Sample(((9, 4),), {"k": 2, "axis": 0, "largest": False}, SORTED, low=-9, high=9),
        Sample(((2, 5, 3),), {"k": 5, "axis": 1}),
        Sample(((2, 5),), {"k": 0, "axis": 1}),
        Sample(((0, 5),), {"k": 2, "axis": 1, "sorted": False}),
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        *,
        k: Dim,
        axis: int,
        largest: bool = True,
        sorted: bool = True,
    ) -> Sequence[TensorSpec]:
        """Return values and indices, k along the axis."""
        expect(x, REAL)
        check_axis(axis, x.rank)
        text = f"k {k}, expected 0 to {x.dims[axis]}, the extent of axis {axis}"
        at_most(0, k, text)
        at_most(k, x.dims[axis], text)
        if x.dtype.size < i64.size:
            many = f"{x.dims[axis]} of {x.dtype} along axis {axis}, expected fewer than {MOST}"
            at_most(x.dims[axis], MOST - 1, many)
        result = x.with_shape(replaced(x.dims, axis, k))
        return (result, result.with_dtype(i64))

    @classmethod
    def has_few(cls, x: TensorSpec, *, k: Dim, axis: int, **_: object) -> bool:
        """Say whether few elements are wanted of each of many columns, which lie side by side."""
        columns = product(x.dims[axis + 1 :])
        if not isinstance(k, int) or x.dtype.kind == "c":
            return False
        return 1 <= k <= FEW and (not isinstance(columns, int) or columns >= NARROWEST)

    @classmethod
    def extent(cls, operands: Sequence[TensorSpec], **attributes: Any) -> Dim:
        """Return the extent of the axis that is sorted."""
        return operands[0].dims[attributes["axis"]]  # type: ignore[no-any-return]

    @classmethod
    def evaluate(
        cls, x: Array, *, k: int, axis: int, largest: bool, sorted: bool
    ) -> Sequence[Array]:
        """Sort, and take the first."""
        first = first_of(widen(x), k, axis, largest=largest)
        return (np.take_along_axis(x, first, axis), first)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Compare each element as often as a heap is deep."""
        shape = operands[0].static_shape
        depth = max(shape[attributes["axis"]], 1).bit_length()
        return Work(flops=prod(shape) * depth)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Put the values' gradients where the values came from."""
        spec, make = call.specs[0], Maker(call.emit)
        if grads[0] is None:
            return (None,)
        zeros = make.filled(0, spec.dtype, spec.dims)
        axis = call.attributes["axis"]
        parts = (call.results[1], grads[0])
        return (make.scatter_elements(zeros, *parts, axis=axis, reduction="add"),)


class Sorting(Op):
    """A result of sorting along an axis."""

    EXACT: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(((4, 9),), {"axis": 1}, SORTED, low=-9, high=9),
        Sample(((9, 4),), {"axis": 0, "descending": True}, SORTED, low=-9, high=9),
        Sample(((0, 5),), {"axis": 1}),
        Sample(((3, 0),), {"axis": 1}),
    )

    @classmethod
    def check_sorted(cls, x: TensorSpec, axis: int) -> None:
        """Raise `TypeError` for what cannot be sorted."""
        expect(x, REAL)
        check_axis(axis, x.rank)

    @classmethod
    def top_k(cls, call: Call) -> Any:
        """Return all elements in order, and their indices."""
        axis, descending = call.attributes["axis"], call.attributes["descending"]
        k = call.specs[0].dims[axis]
        return call.emit(TopK, *call.operands, k=k, axis=axis, largest=descending)


@register
class Sort(Sorting):
    """The elements of each vector along an axis in order."""

    name = "gv.sort"

    @classmethod
    def infer(cls, x: TensorSpec, *, axis: int, descending: bool = False) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        cls.check_sorted(x, axis)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, axis: int, descending: bool) -> Sequence[Array]:
        """Sort; equal elements keep their order."""
        wide = widen(x)
        if descending:
            wide = np.flip(np.sort(np.flip(wide, axis), axis, kind="stable"), axis)
        else:
            wide = np.sort(wide, axis, kind="stable")
        return (wide.astype(x.dtype),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take all by `gv.top_k`."""
        return cls.top_k(call)[0]

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Put the gradients where the elements came from."""
        indices = cls.top_k(call)[1]
        axis = call.attributes["axis"]
        zeros = Maker(call.emit).filled(0, call.specs[0].dtype, call.specs[0].dims)
        return (Maker(call.emit).scatter_elements(zeros, indices, grads[0], axis=axis),)


@register
class Argsort(Sorting, AxisPlaces):
    """The indices along an axis that put its vectors in order."""

    name = "gv.argsort"

    @classmethod
    def infer(cls, x: TensorSpec, *, axis: int, descending: bool = False) -> Sequence[TensorSpec]:
        """Return the operand's shape, of i64."""
        cls.check_sorted(x, axis)
        return (x.with_dtype(i64),)

    @classmethod
    def extent(cls, operands: Sequence[TensorSpec], **attributes: Any) -> Dim:
        """Return the extent of the axis that is sorted."""
        return operands[0].dims[attributes["axis"]]  # type: ignore[no-any-return]

    @classmethod
    def evaluate(cls, x: Array, *, axis: int, descending: bool) -> Sequence[Array]:
        """Sort the places; those of equal elements keep their order."""
        return (order_of(widen(x), axis, descending=descending).astype(np.int64),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take all by `gv.top_k`."""
        return cls.top_k(call)[1]

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give nothing: an order does not depend on its elements smoothly."""
        return (None,)
