"""Variables in parts: one tensor whose rows, or columns, are variables of their own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import TfTensor, row_of
from ..core.creators import SliceInfo
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..graph.state import Variable, control_dependencies
from ..ops.array_ops import concat
from ..ops.indexing import slice_
from ..ops.math_ops import identity

Partitioner: TypeAlias = Callable[..., Sequence[int]]
"""Returns into how many parts each axis is cut, of `shape` and `dtype`; one axis at the most."""


class PartitionInfo:
    """Where a part lies in the whole variable: what an initializer may want to know."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        self.full_shape, self.var_offset = list(full_shape), list(var_offset)

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """Return the axis along which a part of this shape was cut, None if it is whole."""
        pairs = zip(self.full_shape, list(shape), strict=True)
        return next((axis for axis, (whole, size) in enumerate(pairs) if whole != size), None)

    def single_offset(self, shape: Sequence[int]) -> int:
        """Return where a part of this shape begins."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]


def _on_parts(change: Callable[..., object], says: str) -> Callable[..., list[object]]:
    """Return a method that changes each part by its share of a value."""

    def method(
        self: PartitionedVariable,
        value: object,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[object]:
        return self._each(change, value, read_value)

    method.__name__, method.__doc__ = change.__name__, says
    return method


class PartitionedVariable:
    """Variables that together are one tensor. It is converted to a tensor, and is none itself."""

    def __init__(self, name: str, parts: Sequence[Variable], axis: int, count: int) -> None:
        self.name, self._parts, self._axis = name, list(parts), axis
        self.dtype: DataType = parts[0].dtype
        sizes = [int(part.shape.as_list()[axis] or 0) for part in parts]
        self._offsets = [sum(sizes[:i]) for i in range(len(sizes))]
        self.shape = TensorShape(
            [sum(sizes) if i == axis else size for i, size in enumerate(parts[0].shape.as_list())]
        )
        self.partitions = [count if i == axis else 1 for i in range(len(self.shape))]
        """Into how many parts each axis is cut."""
        for part, offset in zip(self._parts, self._offsets, strict=True):
            place = [offset if i == axis else 0 for i in range(len(self.shape))]
            lies = SliceInfo(name, self.shape.as_list(), place, part.shape.as_list())
            part._set_save_slice_info(lies)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole."""
        return self.shape

    def as_tensor(self) -> TfTensor:
        """Return the whole: as any variable, it is read without waiting for what is around."""
        with control_dependencies(None):
            return self._whole()

    def _whole(self) -> TfTensor:
        name = self.name.rpartition("/")[2]
        if len(self._parts) == 1:
            return identity(self._parts[0], name=name)
        whole = concat(self._parts, self._axis, name=f"{name}/ConcatPartitions/concat")
        return identity(whole, name=name)

    __gv_tensor__ = as_tensor

    assign = _on_parts(Variable.assign, "Give each part its share of a value; return what does it.")
    assign_add = _on_parts(
        Variable.assign_add, "Add its share of a value to each part; return what does it."
    )
    assign_sub = _on_parts(
        Variable.assign_sub, "Take its share of a value from each part; return what does it."
    )

    def _each(self, change: Callable[..., object], value: object, read: bool) -> list[object]:
        made = []
        for part, offset in zip(self._parts, self._offsets, strict=True):
            begin = [offset if i == self._axis else 0 for i in range(len(self.shape))]
            share = slice_(value, begin, part.shape.as_list())
            made.append(change(part, share, read_value=read))
        return made


def cut(
    partitioner: Partitioner, shape: ShapeLike, dtype: DTypeLike
) -> tuple[int, int, list[tuple[PartitionInfo, list[int]]]]:
    """Return the axis that a partitioner cuts, into how many, and where each part is."""
    whole = TensorShape(shape)
    if not whole.is_fully_defined():
        raise ValueError(
            "Shape of a new partitioned variable must be fully defined, but instead was "
            f"{whole if shape is not None else '<unknown>'}."
        )
    counts = [int(n) for n in partitioner(shape=whole, dtype=as_dtype(dtype))]
    sizes = [int(n or 0) for n in whole.as_list()]
    if len(counts) != len(sizes):
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{counts} vs. {whole}"
        )
    if any(n < 1 for n in counts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {counts}")
    if sum(n > 1 for n in counts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {whole}, partitioning: {counts}"
        )
    axis = max(range(len(counts)), key=counts.__getitem__)
    count, extent = counts[axis], sizes[axis]
    if count > extent:
        raise ValueError(f"{count} parts of axis {axis} of {whole}: at most {extent} are not empty")
    found, offset = [], 0
    for i in range(count):
        size = extent // count + (i < extent % count)
        place = [offset if i == axis else 0 for i in range(len(sizes))]
        part = [size if i == axis else n for i, n in enumerate(sizes)]
        found.append((PartitionInfo(sizes, place), part))
        offset += size
    return axis, count, found


def first_of_part(
    first: object, info: PartitionInfo, shape: Sequence[int]
) -> Callable[..., object] | TfTensor | None:
    """Return what a part starts with: a share of a value, or what an initializer gives for it."""
    if first is None:
        return None
    if not callable(first):
        return slice_(first, info.var_offset, list(shape))
    made: Callable[..., object] = first() if isinstance(first, type) else first
    known = inspect.signature(made).parameters
    takes = "partition_info" in known or any(p.kind is p.VAR_KEYWORD for p in known.values())

    def make(shape: Sequence[int], dtype: DTypeLike | None = None, **_: object) -> object:
        """Return the first value of the part."""
        return made(shape, dtype=dtype, **({"partition_info": info} if takes else {}))

    return make


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cut an axis into so many parts, or into as many as it has elements."""

    def partitioner(shape: ShapeLike, **_: object) -> list[int]:
        """Return the parts of each axis."""
        sizes = TensorShape(shape).as_list()
        made = [1] * len(sizes)
        made[axis] = min(num_shards, int(sizes[axis] or 0))
        return made

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cut an axis into parts that have at most so many bytes, if an element of it has not more."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, "
            f"max_shard_bytes is {max_shard_bytes} and bytes_per_string_element is "
            f"{bytes_per_string_element}"
        )
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"max_shards must be positive, found {max_shards}")

    def partitioner(shape: ShapeLike, dtype: DTypeLike) -> list[int]:
        """Return the parts of each axis."""
        sizes = [int(n or 0) for n in TensorShape(shape).as_list()]
        made = [1] * len(sizes)
        one = math.prod(sizes) // max(1, sizes[axis]) * bytes_of(dtype, bytes_per_string_element)
        count = math.ceil(sizes[axis] / max(1, max_shard_bytes // max(1, one)))
        made[axis] = min(count, max_shards or count)
        return made

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cut an axis into at most so many parts that have at least so many bytes."""

    def partitioner(shape: ShapeLike, dtype: DTypeLike) -> list[int]:
        """Return the parts of each axis."""
        sizes = [int(n or 0) for n in TensorShape(shape).as_list()]
        made = [1] * len(sizes)
        size = math.prod(sizes) * bytes_of(dtype, bytes_per_string_element)
        made[axis] = max(1, min(sizes[axis], max_partitions, math.ceil(size / min_slice_size)))
        return made

    return partitioner


def bytes_of(dtype: DTypeLike, text: int) -> int:
    """Return how many bytes an element takes, `text` for texts."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return text if row.kind == "s" else row.numpy.itemsize
