"""Ragged tensors as tensors and sparse tensors, and with fewer axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from ....codegen.serial.function import I64s, U32s, serial
from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...data.stored import Compute, StoredStep, stored
from ...values.dtypes import DTypeLike
from ...values.texts import TEXT, Text, behind_each_other, made_text
from ..core.bridge import TfTensor, row_of, wrap
from ..core.host_ops import host, unknown
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert, static
from ..nondense.sparse_at_once import are_here
from ..nondense.sparse_tensor import SparseTensor
from ..ops import array_ops as a
from ..ops import math_ops as m
from ..ops.gathering import gather
from .partition import RowPartition, computed
from .planning import rows_read, with_levels
from .rows import Rows, indices_of
from .tensor import OPERATIONS, Ragged, RaggedTensor, same_graph


def axis_of(axis: object, rank: int | None, name: str = "axis") -> int:
    """Return an axis counted from the front, or raise."""
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"{name} must be an int; got {type(axis).__name__}")
    axis = int(axis)
    if axis >= 0 and rank is None:
        return axis
    if rank is None:
        raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis % rank


def read_of(x: RaggedTensor) -> list[TfTensor]:
    """Return what the host reads of rows: the sizes of the values, and splits."""
    return [a.shape(x.flat_values, "int64"), *x.nested_row_splits]


OUTSIDE = -1
"""The place of a row that is cut off."""


@serial
def lay_rows(splits: I64s, places: I64s, width: int, made: I64s) -> int:
    """Write the numbers of what rows hold to their places, as many as are to be in each."""
    for i in range(len(places)):
        for k in range(min(splits[i + 1] - splits[i], width) if places[i] >= 0 else 0):
            made[places[i] * width + k] = splits[i] + k
    return len(made)


def table(rows: Rows, ends: Sequence[int]) -> Array:
    """Return which place of rows stands where in an array of so many along each axis.

    Where there is none, it is the one behind all.
    """
    at, below = np.arange(len(rows)), rows
    at[ends[0] :] = OUTSIDE
    for size in ends[1:-1]:
        numbers, offsets = below.numbered()
        is_inside = (at[numbers] >= 0) & (offsets < size)
        below, at = below.below, np.where(is_inside, at[numbers] * size + offsets, OUTSIDE)
    made = np.full(math.prod(ends), len(below.places))
    lay_rows(below.splits[0], at, ends[-1], made)
    return made.reshape(ends)


@stored("places of rows")
def _places(levels: int, wanted: Sequence[int | None] | None) -> Compute:
    """Return what finds the places of values in rows filled up; a missing one is behind all."""

    def compute(*arrays: Array) -> Sequence[Array]:
        rows = rows_read(arrays[: levels + 1], levels)
        asked = arrays[levels + 1].tolist() if wanted is None else wanted
        ends = [
            most if n is None or n < 0 else n
            for most, n in zip(rows.extents(), asked, strict=False)
        ]
        return (table(rows, ends),)

    return compute


@stored("texts of rows")
def _texts(levels: int, wanted: Sequence[int | None] | None) -> Compute:
    """Return what fills rows of texts up: texts are moved by the host, so all is one step."""
    find = _places(levels, wanted)

    def compute(*arrays: Array | Text) -> Sequence[object]:
        *given, flat, default = arrays
        (places,) = cast("Sequence[Array]", find(*given))
        if not isinstance(flat, Text) or not flat.is_long:
            return (np.concatenate([flat, np.asarray(default).reshape(1)])[places],)
        last = made_text(default)
        made = behind_each_other([flat.row, last.row]).taken(places.ravel())
        return (Text(made, places.shape),)

    return compute


def to_tensor(
    x: RaggedTensor, default_value: object = None, name: str | None = None, shape: object = None
) -> TfTensor:
    """Return rows filled up to one length, or to a shape, and cut to it."""
    with same_graph(*x.components(), default_value, shape):
        default = _default(x, default_value)
        wanted, dynamic = _wanted(x, shape)
        filled = None if dynamic is not None else _filled(x, default, wanted)
        if filled is not None:
            return filled
        levels = x.ragged_rank
        given = read_of(x)

        held = {"levels": levels, "wanted": None if dynamic is not None else [*wanted]}
        flat = x.flat_values
        is_text = flat.spec.dtype == TEXT and flat.shape.rank == 1
        compute = StoredStep("texts of rows" if is_text else "places of rows", held)
        dims = x.row_sizes()
        known = [n if w is None else w for n, w in zip(dims, wanted, strict=False)]
        known = [None] * (levels + 1) if dynamic is not None else known
        more = [] if dynamic is None else [dynamic]
        if is_text:
            texts = unknown(TEXT, *known)
            every = [*given, *more, flat, default]
            return host("RaggedToTensor", compute, every, [texts], reads_text=True, name=name)[0]
        spec = unknown(kinds.i64, *known)
        places = computed("RaggedToTensor", compute, [*given, *more], [spec], name)[0]
        inner = flat.shape._dims
        whole = a.concat([flat, a.expand_dims(default, 0)], 0)
        made = gather(whole, places)
        if inner is not None:
            made.set_shape([*known, *inner[1:]])
        return made


LONG = 1 << 12
"""So many elements are written to their places at once, instead of finding the places first."""


def _filled(x: RaggedTensor, default: TfTensor, wanted: Sequence[int | None]) -> TfTensor | None:
    """Return many words in rows filled up at once; None: they are filled up by places."""
    flat, splits = x.values, x.row_splits
    if isinstance(flat, RaggedTensor) or not are_here([flat, splits, default]):
        return None
    if flat.spec.dtype == TEXT:  # of which no objects are to be made
        return None
    array = flat._array
    if array.ndim != 1 or len(array) < LONG or array.dtype.itemsize != 4:
        return None
    ends = splits._array.astype(np.int64, copy=False)
    most = int(np.diff(ends).max(initial=0))
    height, width = (
        n if w is None or w < 0 else w for n, w in zip((len(ends) - 1, most), wanted, strict=True)
    )
    made = np.empty((height, width), array.dtype)
    words, rest = np.ascontiguousarray(array).view(np.uint32), default._array.reshape(1)
    _fill_rows(ends, words, rest.view(np.uint32), height, width, made.view(np.uint32))
    return wrap(made)


@serial
def _fill_rows(
    splits: I64s, words: U32s, rest: U32s, height: int, width: int, made: U32s
) -> int:  # fmt: skip
    """Write rows of words, cut or filled up to a width; rows that are missing are filled up."""
    for row in range(height):
        begin, size, at = 0, 0, row * width
        if row < len(splits) - 1:
            begin = splits[row]
            size = min(splits[row + 1] - begin, width)
        for k in range(size):
            made[at + k] = words[begin + k]
        for k in range(size, width):
            made[at + k] = rest[0]
    return height


def _default(x: RaggedTensor, value: object) -> TfTensor:
    """Return the element that fills rows up."""
    row, flat = x.flat_values.spec.dtype, x.flat_values
    if value is None:
        value = b"" if row == TEXT else np.zeros((), row.numpy)
    default = convert(value, row)
    rank, have = flat.shape.rank, default.shape.rank
    if rank is not None and have is not None and have > rank - 1:
        raise ValueError(
            f"default_value.shape={default.shape} and rt_input.flat_values.shape={flat.shape} are "
            f"incompatible: default_value.rank = {have}  must be less than "
            f"rt_input.flat_values.rank = {rank}"
        )
    if rank == 1:
        return default
    return a.broadcast_to(default, a.shape(flat)[1:])


def _wanted(x: RaggedTensor, shape: object) -> tuple[list[int | None], TfTensor | None]:
    """Return the sizes that are asked for, and the tensor that holds them if it is computed."""
    count = x.ragged_rank + 1
    if shape is None:
        return [None] * count, None
    computes = hasattr(shape, "spec") or hasattr(shape, "__gv_tensor__")
    known: object = static(shape) if computes else shape
    if isinstance(known, TfTensor):
        return [None] * count, m.cast(known, "int64")
    listed = [None if n == -1 else n for n in known] if isinstance(known, list) else known
    made = TensorShape(cast("ShapeLike", listed))
    if made.rank is None:
        return [None] * count, None
    dims = made.as_list()
    rank = x.shape.rank
    if rank is not None and len(dims) != rank:
        raise ValueError(f"Shape {made} must have rank {rank}")
    for have, want in zip((x.shape._dims or ())[count:], dims[count:], strict=False):
        if None not in (have, want) and have != want:
            raise ValueError(f"Shapes {x.shape} and {made} are not compatible: inner sizes differ")
    return dims[:count], None


def to_sparse(x: RaggedTensor, name: str | None = None) -> SparseTensor:
    """Return a sparse tensor of the elements."""
    with same_graph(*x.components()):
        levels, rank = x.ragged_rank, x.shape.rank

        def compute(*arrays: Array) -> Sequence[Array]:
            inner = [int(n) for n in arrays[0][1:]]
            rows = rows_read(arrays, levels, is_still=not inner)
            ends = [*rows.extents(), *inner]
            if not inner:
                return indices_of(rows.splits), np.array(ends, np.int64)
            made = np.empty((len(rows.places), math.prod(inner), len(ends)), np.int64)
            behind = np.indices(inner).reshape(len(inner), math.prod(inner))
            made[..., levels + 1 :] = behind.T
            at: list[Array] = [np.arange(len(rows))]
            while rows.splits:
                numbers, offsets = rows.numbered()
                at = [*(i[numbers] for i in at), offsets]
                rows = rows.below
            for number, each in enumerate(at):
                made[..., number] = each[:, None]
            return made.reshape(-1, len(ends)), np.array(ends, np.int64)

        specs = [unknown(kinds.i64, None, rank), unknown(kinds.i64, rank)]
        indices, sizes = computed("RaggedToSparse", compute, read_of(x), specs, name)
        return SparseTensor(indices, a.reshape(x.flat_values, [-1]), sizes)


def bounding_shape(
    x: RaggedTensor,
    axis: object = None,
    name: str | None = None,
    out_type: DTypeLike | None = None,
) -> TfTensor:
    """Return the largest extent along each axis, along one or several of them."""
    with same_graph(*x.components(), axis):
        levels, rank = x.ragged_rank, x.shape.rank
        row = row_of(out_type or x.row_splits.dtype)
        assert row is not None, "a type is given"
        number = row.numpy

        def compute(*arrays: Array) -> Sequence[Array]:
            inner = [int(n) for n in arrays[0][1:]]
            return (np.array([*rows_read(arrays, levels).extents(), *inner], number),)

        sizes = computed("BoundingShape", compute, read_of(x), [unknown(row, rank)], name)[0]
        if axis is None:
            return sizes
        wanted = static(axis)
        if isinstance(wanted, int):
            return sizes[axis_of(wanted, rank)]
        if isinstance(wanted, list):
            return gather(sizes, [axis_of(each, rank) for each in wanted])
        return gather(sizes, convert(wanted))


def merge_dims(x: Ragged, outer_axis: int, inner_axis: int) -> Ragged:
    """Return the same values with the axes from one to another made one."""
    outer = axis_of(outer_axis, x.shape.rank, "outer_axis")
    inner = axis_of(inner_axis, x.shape.rank, "inner_axis")
    if outer > inner:
        raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to "
                         f"inner_axis ({inner_axis})")  # fmt: skip
    if outer == inner:
        return x
    with same_graph(*(x.components() if isinstance(x, RaggedTensor) else [x])):
        if not isinstance(x, RaggedTensor):
            sizes = a.shape(x, "int64")
            ends = [sizes[:outer], convert([-1], "int64"), sizes[inner + 1 :]]
            dims = x.shape._dims
            made = a.reshape(x, a.concat(ends, 0))
            merging = [] if dims is None else [n for n in dims[outer : inner + 1] if n is not None]
            if dims is not None and len(merging) == inner + 1 - outer:
                merged = int(np.prod(merging, dtype=np.int64))
                made.set_shape([*dims[:outer], merged, *dims[inner + 1 :]])
            return made
        levels = x.ragged_rank
        if outer > levels:
            return x.with_flat_values(merge_dims(x.flat_values, outer - levels, inner - levels))
        if inner > levels:
            flat = with_levels(x.flat_values, inner - levels)
            found = x.with_flat_values(flat)
            return merge_dims(found, outer, inner)
        return _merged(x, outer, inner)


def _merged(x: RaggedTensor, outer: int, inner: int) -> Ragged:
    partitions = list(x.partitions)
    below: Ragged = x
    for _ in range(inner):
        assert isinstance(below, RaggedTensor), "there are so many levels"
        below = below.values
    if outer == 0:
        return below
    splits = partitions[outer - 1].row_splits()
    for each in partitions[outer:inner]:
        splits = gather(each.row_splits(), splits)
    uniform = [each.static_uniform_row_length for each in partitions[outer - 1 : inner]]
    known = [n for n in uniform if n is not None]
    length = None
    if len(known) == len(uniform):
        length = convert(int(np.prod(known, dtype=np.int64)), splits.dtype)
    made = RaggedTensor.cut(below, RowPartition(splits, uniform=length))
    for rows in reversed(partitions[: outer - 1]):
        made = RaggedTensor.cut(made, rows)
    return made


OPERATIONS.update(
    to_tensor=to_tensor, to_sparse=to_sparse, bounding_shape=bounding_shape, merge_dims=merge_dims
)
