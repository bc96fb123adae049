"""`DynamicRaggedShape`: the shape of rows of different lengths, and what is made by shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from ...eager.tensor import Tensor
from ...values.dispatch import NotDenseError, handles
from ...values.dtypes import DataType, DTypeLike
from ...values.nest import TensorGroup
from ..core.bridge import TfTensor, dressed
from ..core.element_types import as_dtype
from ..core.values import convert, static
from ..ops import array_ops as a
from ..ops import math_ops as m
from ..ops.creation import fill, ones, zeros
from .partition import RowPartition, whole_numbers
from .planning import assembled, broadcast
from .tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph


class DynamicRaggedShape(TensorGroup):
    """How values are cut into rows at each level, and the shape of what is not cut."""

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: object,
        dtype: DTypeLike | None = None,
        validate: bool = False,
    ) -> None:
        if not isinstance(row_partitions, list | tuple):
            raise TypeError(f"row_partitions should be a list of RowPartition, {row_partitions!r}")
        kinds = {each.dtype.name for each in row_partitions}
        inner = whole_numbers(inner_shape, None, "inner_shape")
        row = as_dtype(dtype) if dtype else as_dtype(kinds.pop()) if kinds else inner.dtype
        rows = (each.with_dtype(row) for each in row_partitions)
        self._rows: tuple[RowPartition, ...] = tuple(rows)
        self._inner = m.cast(inner, row)
        if self._inner.shape.rank not in (1, None):
            raise ValueError(f"inner_shape must have rank 1, got {self._inner.shape}")

    @classmethod
    def from_tensor(cls, t: object, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Return the shape of a value."""
        x = ragged_or_tensor(t)
        if isinstance(x, RaggedTensor):
            return cls(x.partitions, a.shape(x.flat_values, dtype or x.row_splits.dtype), dtype)
        return cls([], a.shape(x, dtype or "int64"), dtype)

    @classmethod
    def from_row_partitions(
        cls, row_partitions: Sequence[RowPartition], dtype: DTypeLike | None = None
    ) -> DynamicRaggedShape:
        """Return the shape of rows of single elements."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        count = a.reshape(row_partitions[-1].nvals(), [1])
        return cls(row_partitions, count, dtype)

    @classmethod
    def from_lengths(
        cls,
        lengths: Sequence[object],
        num_row_partitions: int | None = None,
        dtype: DTypeLike = "int64",
    ) -> DynamicRaggedShape:
        """Return a shape by numbers and, where rows differ, tuples of lengths."""
        if not isinstance(lengths, list | tuple):
            raise ValueError("lengths should be a list")
        several = [i for i, n in enumerate(lengths) if not isinstance(n, int | np.integer)]
        least = several[-1] if several else 0
        count = least if num_row_partitions is None else num_row_partitions
        if count < least or count >= max(len(lengths), 1) or (several and several[0] == 0):
            raise ValueError(f"lengths {lengths} have no {count} levels of rows")
        total = int(lengths[0]) if lengths else 0
        rows = []
        for each in lengths[1 : count + 1]:
            if isinstance(each, int | np.integer):
                rows.append(RowPartition.from_uniform_row_length(
                    convert(int(each), dtype), nrows=convert(total, dtype)))  # fmt: skip
                total *= int(each)
                continue
            found = np.asarray(each)
            if len(found) != total:
                raise ValueError(f"{len(found)} lengths are given for {total} rows")
            rows.append(RowPartition.from_row_lengths(convert(found.astype(np.int64), "int64")))
            total = int(found.sum())
        inner = [total, *lengths[count + 1 :]] if lengths else []
        return cls(rows, convert(np.array(inner, np.int64)), dtype)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """Return how values are cut at each level."""
        return self._rows

    @property
    def num_row_partitions(self) -> int:
        """Return how many levels of rows there are."""
        return len(self._rows)

    @property
    def dtype(self) -> DataType:
        """Return the type of the numbers."""
        return self._inner.dtype

    @property
    def inner_shape(self) -> TfTensor:
        """Return the shape of the values without rows."""
        return self._inner

    @property
    def inner_rank(self) -> int | None:
        """Return how many axes the values without rows have."""
        return self._inner.shape.num_elements()

    @property
    def rank(self) -> int | None:
        """Return how many axes there are."""
        inner = self.inner_rank
        return None if inner is None else inner + len(self._rows)

    def static_lengths(self, ragged_lengths: bool = True) -> list[object]:
        """Return the length of each axis: a number, several where rows differ, or None."""
        inner = static(self._inner)
        dims = inner if isinstance(inner, list) else [None] * (self.inner_rank or 0)
        if not self._rows:
            return list(dims)
        made: list[object] = [self._rows[0].static_nrows]
        for each in self._rows:
            length = each.static_uniform_row_length
            known = None if isinstance(static(each.row_lengths()), TfTensor) else each
            if length is not None or not ragged_lengths or known is None:
                made.append(length)
            else:
                made.append(tuple(static(each.row_lengths())))
        return [*made, *dims[1:]]

    def is_uniform(self, axis: int) -> bool:
        """Say whether all rows along an axis have one length."""
        rank = self.rank
        if rank is not None and not 0 <= axis < rank:
            raise IndexError(f"axis {axis} is not in [0, {rank})")
        return axis == 0 or axis > len(self._rows) or self._rows[axis - 1].is_uniform()

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """Return the same shape by numbers of another type."""
        return DynamicRaggedShape(self._rows, self._inner, dtype)

    def __getitem__(self, index: int | slice) -> TfTensor | DynamicRaggedShape:
        """Return the length along an axis, or some axes."""
        rank = self.rank
        if isinstance(index, slice):
            if rank is None:
                raise ValueError("Rank must be known to use __getitem__ on a slice.")
            axes = range(*index.indices(rank))
            if axes.step != 1:
                raise IndexError("Cannot stride through a shape")
            if axes.start == 0 and axes.stop > len(self._rows):
                ends = self._inner[: axes.stop - len(self._rows)]
                return DynamicRaggedShape(self._rows, ends, self.dtype)
            if axes.start == 0 and axes:
                rows = self._rows[: len(axes) - 1]
                size = a.reshape(self._rows[len(axes) - 1].nrows(), [1])
                return DynamicRaggedShape(rows, size, self.dtype)
            if any(not self.is_uniform(axis) for axis in axes):
                raise ValueError("All relevant dimensions must be uniform")
            sizes = [self._length(axis) for axis in axes]
            parts = a.stack(sizes) if sizes else convert(np.zeros(0, np.int64))
            return DynamicRaggedShape([], parts, self.dtype)
        if not isinstance(index, int | np.integer):
            raise TypeError(f"index must be an int or a slice, got {index!r}")
        axis = int(index) + (rank or 0) if index < 0 else int(index)
        if rank is not None and not 0 <= axis < rank:
            raise IndexError(f"Index must not be negative or out of bounds: {index}")
        if not self.is_uniform(axis):
            raise ValueError(f"Index {index} is not uniform")
        return self._length(axis)

    def _length(self, axis: int) -> TfTensor:
        """Return the length along an axis whose rows have one."""
        if axis > len(self._rows) or not self._rows:
            found: TfTensor = self._inner[axis - len(self._rows)]
            return found
        if axis == 0:
            count: TfTensor = self._rows[0].nrows()
            return count
        length: TfTensor | None = self._rows[axis - 1].uniform_row_length()
        assert length is not None, "rows have one length"
        return length

    def holding(self, flat: TfTensor) -> Ragged:
        """Return values that are cut by this shape."""
        splits = [each.row_splits() for each in self._rows]
        return assembled(flat, splits, [each.static_uniform_row_length for each in self._rows])

    def components(self) -> list[TfTensor]:
        """Return the inner shape, then splits from the outermost level."""
        return [self._inner, *(each.row_splits() for each in self._rows)]

    def with_components(self, parts: Sequence[object]) -> object:
        """Return a shape of other tensors; of anything else, this shape."""
        inner, *splits = parts
        if not isinstance(inner, Tensor):
            return self
        rows = [RowPartition(dressed(x)) for x in splits if isinstance(x, Tensor)]
        return DynamicRaggedShape(rows, dressed(inner))

    def __gv_tensor__(self) -> NoReturn:
        raise NotDenseError(self)

    def described(self) -> DynamicRaggedShape:
        """Return the shape: it describes itself."""
        return self

    def form(self) -> int:
        """Return how many levels there are."""
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DynamicRaggedShape) or self.form() != other.form():
            return False
        mine, theirs = ([static(x) for x in s.components()] for s in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        shown = ", ".join(str(n) for n in self.static_lengths())
        return (
            f"<DynamicRaggedShape lengths=[{shown}] num_row_partitions={self.num_row_partitions}>"
        )


@handles(RaggedTensor, a.shape)
def shape(
    input: RaggedTensor, out_type: DTypeLike | None = "int32", name: str | None = None
) -> DynamicRaggedShape:
    """Return the shape of rows."""
    return DynamicRaggedShape.from_tensor(input, out_type)


@handles(RaggedTensor, a.size)
def size(
    input: RaggedTensor, out_type: DTypeLike | None = "int32", name: str | None = None
) -> TfTensor:
    """Return the number of elements."""
    return a.size(input.flat_values, out_type)


@handles(RaggedTensor, a.rank)
def rank(input: RaggedTensor, name: str | None = None) -> TfTensor:
    """Return the number of axes."""
    with same_graph(input):
        return m.FUNCTIONS["add"](a.rank(input.flat_values), input.ragged_rank)


def _shaped(function: Callable[..., TfTensor], place: int) -> Callable[..., Ragged]:
    """Return what fills rows: the function of a shape, which is its operand of that number."""

    def made(*args: object, **kwargs: object) -> Ragged:
        """Fill rows of a shape."""
        given = list(args)
        shape_ = given[place] if len(given) > place else kwargs.pop(WHERE[place])
        assert isinstance(shape_, DynamicRaggedShape), "the shape is one of rows"
        inner = shape_.inner_shape
        flat = function(*given[:place], inner, *given[place + 1 :], **kwargs)
        return shape_.holding(flat)

    return made


WHERE = ("shape", "shape")
for _function in (ones, zeros):
    handles(DynamicRaggedShape, _function)(_shaped(_function, 0))
handles(DynamicRaggedShape, a.reshape)(_shaped(a.reshape, 1))


@handles(DynamicRaggedShape, fill)
def _fill(dims: DynamicRaggedShape, value: object, name: str | None = None) -> Ragged:
    return dims.holding(fill(dims.inner_shape, value))


@handles(DynamicRaggedShape, a.broadcast_to)
@handles(RaggedTensor, a.broadcast_to)
def broadcast_to(input: object, shape: DynamicRaggedShape, name: str | None = None) -> Ragged:
    """Return a value repeated to the shape of rows."""
    with same_graph(input, *shape.components()):
        x = ragged_or_tensor(input)
        if not shape.num_row_partitions and isinstance(x, TfTensor):
            return a.broadcast_to(x, shape.inner_shape)
        found = broadcast([shape.holding(zeros(shape.inner_shape, x.dtype)), x])
        return found.holding(a.broadcast_to(found.flats[1], shape.inner_shape))
