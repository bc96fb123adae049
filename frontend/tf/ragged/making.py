"""Ragged tensors from other values: `from_*`, `tf.ragged.constant`, `range`, placeholders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...data.stages import part
from ...values.dtypes import DTypeLike, named
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from ..core.bridge import TfTensor, dressed, row_of
from ..core.element_types import as_dtype
from ..core.host_ops import host, unknown
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.structures import Part
from ..core.values import convert, is_typed, same, static
from ..graph.state import get_default_graph
from ..graph.state import placeholder as tensor_placeholder
from ..nondense.sparse_tensor import SparseTensor, SparseTensorValue, sparse_of
from ..ops import array_ops as a
from ..ops import math_ops as m
from ..ops.gathering import gather
from .moving import expand_dims
from .partition import RowPartition, agreed, computed, whole_numbers
from .planning import assembled, levels_of, planned, with_levels
from .rows import Rows, ranges, splits_of, steps_up
from .tensor import (
    Ragged,
    RaggedPile,
    RaggedTensor,
    RaggedTensorSpec,
    ragged_or_tensor,
    same_graph,
)


def _values(values: object) -> Ragged:
    made = ragged_or_tensor(values, None, "values")
    if made.shape.rank == 0:
        raise ValueError(f"Shape {made.shape} must have rank at least 1")
    return made


def _number(x: Ragged, dtype: object) -> TfTensor:
    """Return how many values there are."""
    if isinstance(x, RaggedTensor):
        return x.nrows(dtype)  # type: ignore[arg-type]
    return a.shape(x, dtype)[0]  # type: ignore[arg-type]


def _holding(values: Ragged, rows: RowPartition, form: str, validate: bool) -> RaggedTensor:
    """Return values cut into rows, which have to hold all of them."""
    have, known = (values.shape._dims or (None,))[0], rows.static_nvals
    if have is not None and known is not None:
        if validate and have != known:
            raise InvalidArgumentError(
                f"Arguments to {form} do not form a valid RaggedTensor: the rows hold {known} "
                f"values, found {have}"
            )
        return RaggedTensor.cut(values, rows)
    if not validate:
        return RaggedTensor.cut(values, rows)
    row = rows.row_splits().spec

    def compute(splits: Array, count: Array) -> Sequence[Array]:
        if int(splits[-1]) != int(count):
            raise InvalidArgumentError(
                f"Arguments to {form} do not form a valid RaggedTensor: the rows hold "
                f"{splits[-1]} values, found {count}"
            )
        return (splits,)

    number = _number(values, "int64")
    splits = computed("CheckValues", compute, [rows.row_splits(), number], [row])[0]
    return RaggedTensor.cut(
        values, RowPartition(splits, uniform=rows.uniform_row_length(), nrows=None)
    )


def from_row_splits(
    values: object, row_splits: object, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Return values cut where rows begin and end."""
    with same_graph(values, row_splits):
        rows = RowPartition.from_row_splits(row_splits, validate)
        return _holding(_values(values), rows, "from_row_splits", validate)


def from_row_lengths(
    values: object, row_lengths: object, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Return values cut into rows of these lengths."""
    with same_graph(values, row_lengths):
        rows = RowPartition.from_row_lengths(row_lengths, validate)
        return _holding(_values(values), rows, "from_row_lengths", validate)


def from_row_starts(
    values: object, row_starts: object, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Return values cut where rows begin."""
    with same_graph(values, row_starts):
        found = _values(values)
        starts = whole_numbers(row_starts, None, "row_starts")
        count = _number(found, starts.dtype)
        rows = RowPartition.from_row_starts(starts, count, validate)
        return RaggedTensor.cut(found, rows)


def from_row_limits(
    values: object, row_limits: object, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Return values cut where rows end."""
    with same_graph(values, row_limits):
        rows = RowPartition.from_row_limits(row_limits, validate)
        return _holding(_values(values), rows, "from_row_limits", validate)


def from_value_rowids(
    values: object,
    value_rowids: object,
    nrows: object = None,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Return values of which each names its row."""
    with same_graph(values, value_rowids, nrows):
        rows = RowPartition.from_value_rowids(value_rowids, nrows, validate)
        return _holding(_values(values), rows, "from_value_rowids", validate)


def from_uniform_row_length(
    values: object,
    uniform_row_length: object,
    nrows: object = None,
    validate: bool = True,
    name: str | None = None,
) -> RaggedTensor:
    """Return values cut into rows of one length."""
    with same_graph(values, uniform_row_length, nrows):
        found = _values(values)
        typed = [x for x in (uniform_row_length, nrows) if is_typed(x)]
        row = whole_numbers(typed[0], None, "nrows").dtype if typed else as_dtype("int64")
        if isinstance(found, RaggedTensor):
            row = found.row_splits.dtype
        known = (found.shape._dims or (None,))[0]
        count = _number(found, row) if known is None else convert(known, row)
        rows = RowPartition.from_uniform_row_length(
            uniform_row_length, count, nrows, validate, dtype=row
        )
        return RaggedTensor.cut(found, rows)


def _nested(name: str, parts: object) -> list[object]:
    if hasattr(parts, "spec"):
        raise TypeError(f"{name} must be a list of Tensors, got {parts!r}")
    return list(parts)  # type: ignore[call-overload,no-any-return]


def from_nested_row_splits(
    flat_values: object,
    nested_row_splits: object,
    name: str | None = None,
    validate: bool = True,
) -> Ragged:
    """Return values cut at several levels, from the outermost one."""
    made = ragged_or_tensor(flat_values)
    for each in reversed(_nested("nested_row_splits", nested_row_splits)):
        made = from_row_splits(made, each, validate=validate)
    return made


def from_nested_row_lengths(
    flat_values: object,
    nested_row_lengths: object,
    name: str | None = None,
    validate: bool = True,
) -> Ragged:
    """Return values cut into rows of lengths at several levels."""
    made = ragged_or_tensor(flat_values)
    for each in reversed(_nested("nested_row_lengths", nested_row_lengths)):
        made = from_row_lengths(made, each, validate=validate)
    return made


def from_nested_value_rowids(
    flat_values: object,
    nested_value_rowids: object,
    nested_nrows: object = None,
    name: str | None = None,
    validate: bool = True,
) -> Ragged:
    """Return values that name their rows, at several levels."""
    ids = _nested("nested_value_rowids", nested_value_rowids)
    counts = [None] * len(ids) if nested_nrows is None else _nested("nested_nrows", nested_nrows)
    if len(counts) != len(ids):
        raise ValueError(
            "Argument `nested_nrows` must have the same length as argument "
            f"`nested_value_rowids`. len(nested_nrows) = {len(counts)} vs. "
            f"len(nested_values_rowids) = {len(ids)}."
        )
    made = ragged_or_tensor(flat_values)
    for each, count in zip(reversed(ids), reversed(counts), strict=True):
        made = from_value_rowids(made, each, count, validate=validate)
    return made


def from_tensor(
    tensor: object,
    lengths: object = None,
    padding: object = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Ragged:
    """Return the rows of a tensor, without what is behind their lengths or is padding."""
    if as_dtype(row_splits_dtype).name not in ("int32", "int64"):
        raise ValueError("row_splits_dtype must be int32 or int64")
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    with same_graph(tensor, *_parts(lengths)):
        x = convert(tensor)
        rank = x.shape.rank
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Shape {x.shape} must have rank at least {ragged_rank + 1}")
        if isinstance(lengths, list | tuple) and (
            bool(lengths) and (isinstance(lengths[0], list | tuple | np.ndarray)
            or (hasattr(lengths[0], "spec") and lengths[0].shape.rank))
        ):  # fmt: skip
            if ragged_rank not in (1, len(lengths)):
                raise ValueError(
                    "If lengths is a tuple of row_lengths, then ragged_rank must be len(lengths): "
                    f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
                )
            made = _cut_to(x, [_lengths(n) for n in lengths])
        elif lengths is not None:
            made = _cut_to(x, [_lengths(lengths)], ragged_rank)
        elif padding is not None:
            made = _without_padding(x, convert(padding, x.spec.dtype), ragged_rank)
        else:
            made = with_levels(x, ragged_rank)
        assert isinstance(made, RaggedTensor), "it has rows"
        return made.with_row_splits_dtype(row_splits_dtype)


def _lengths(given: object) -> TfTensor:
    """Return the lengths of rows, or raise."""
    found = convert(given) if is_typed(given) or np.size(given) else convert(given, "int64")  # type: ignore[arg-type]
    if not found.dtype.is_integer:
        raise TypeError(f"lengths must be an integer tensor, got {found.dtype.name}")
    return whole_numbers(given, None, "lengths")


def _parts(lengths: object) -> Sequence[object]:
    return lengths if isinstance(lengths, list | tuple) else [lengths]


def _cut_to(x: TfTensor, lengths: Sequence[TfTensor], levels: int = 1) -> Ragged:
    """Return the rows of a tensor as long as lengths say, at each level that has some."""
    count = len(lengths)
    levels = max(levels, count)
    if count == 1 and levels > 1:  # the last of several levels has lengths
        full = with_levels(x, levels)
        assert isinstance(full, RaggedTensor), "it has rows"

        def last(rows: Rows, counts: Array) -> Rows:
            inner = Rows(rows.splits[-1:], rows.places)
            return _shortened(inner, counts.ravel()).over(rows.splits[:-1])

        dims = full.shape._dims or [None] * levels
        return planned(
            "RaggedFromTensor", [full], last, levels, more=lengths, nrows=dims[0],
            lengths=dims[1:levels],
        )  # fmt: skip

    def plan(rows: Rows, *each: Array) -> Rows:
        return _all_shortened(rows, each)

    known = x.shape._dims
    nrows = None if known is None else known[0]
    return planned("RaggedFromTensor", [x], plan, levels, read=levels, more=lengths, nrows=nrows)


def _all_shortened(rows: Rows, lengths: Sequence[Array]) -> Rows:
    counts = lengths[0].ravel()
    short = _shortened(rows, counts)
    if len(lengths) == 1:
        return short
    return _all_shortened(short.below, lengths[1:]).over(short.splits[:1])


def _shortened(rows: Rows, counts: Array) -> Rows:
    """Return rows without what is behind their lengths."""
    if len(counts) != len(rows):
        raise InvalidArgumentError(f"{len(counts)} lengths are given for {len(rows)} rows")
    least = np.clip(counts.astype(np.int64), 0, rows.counts)
    return rows.below.take(ranges(rows.splits[0][:-1], least)).above(least)


def _without_padding(x: TfTensor, padding: TfTensor, levels: int) -> Ragged:
    """Return the rows of a tensor without the padding at their ends."""
    equal = m.FUNCTIONS["equal"](x, padding)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("padding: the rank of the tensor is not known")
    known = x.shape._dims or (None,) * rank
    padding.shape.assert_is_compatible_with(TensorShape(known[levels + 1 :]))
    if rank > levels + 1:
        equal = m.REDUCTIONS["reduce_all"](equal, axis=list(range(levels + 1, rank)))

    def plan(rows: Rows, same_: Array) -> Rows:
        table = ~same_.reshape(int(np.prod(same_.shape[:-1], dtype=np.int64)), same_.shape[-1])
        width = table.shape[1]
        used = np.max(table * np.arange(1, width + 1), axis=1, initial=0)
        inner_rows = Rows(rows.splits[-1:], rows.places)
        return _shortened(inner_rows, used).over(rows.splits[:-1])

    return planned(
        "RaggedFromTensor", [x], plan, levels, read=levels, more=[equal], nrows=known[0],
        lengths=known[1:levels],
    )  # fmt: skip


def from_sparse(
    st_input: object, name: str | None = None, row_splits_dtype: DTypeLike = "int64"
) -> RaggedTensor:
    """Return the rows of a sparse matrix, whose elements stand at the beginning of their rows."""
    if not isinstance(st_input, SparseTensor | SparseTensorValue):
        raise TypeError(f"Argument `st_input` must be a SparseTensor, got {type(st_input)}")
    sp = sparse_of(st_input)
    rank = sp.shape.rank or (sp.indices.shape._dims or (None, None))[1]
    if rank != 2:
        raise ValueError(f"rank(st_input) must be 2, got {rank}")
    row = row_of(row_splits_dtype)
    assert row is not None, "a type was given"
    number = row.numpy
    with same_graph(*sp.components()):

        def compute(indices: Array, sizes: Array) -> Sequence[Array]:
            indices = indices.reshape(-1, 2)
            ids = indices[:, 0]
            counts = np.bincount(ids, minlength=int(sizes[0]))
            wanted = ranges(np.zeros(len(counts), np.int64), counts)
            if (np.diff(ids) < 0).any() or (indices[:, 1] != wanted).any():
                raise InvalidArgumentError("SparseTensor is not right-ragged")
            return (splits_of(counts).astype(number),)

        height = (sp.shape._dims or (None,))[0]
        size = None if height is None else height + 1
        given = [sp.indices, sp.dense_shape]
        splits = computed("RaggedFromSparse", compute, given, [unknown(row, size)])[0]
        return RaggedTensor.cut(sp.values, RowPartition(splits))


def placeholder(
    dtype: DTypeLike,
    ragged_rank: int,
    value_shape: object = None,
    name: str | None = None,
) -> Ragged:
    """Return a ragged tensor of a graph that is fed."""
    inner = [] if value_shape is None else TensorShape(value_shape).as_list()  # type: ignore[arg-type]
    flat = [None, *inner]
    if ragged_rank == 0:
        return dressed(tensor_placeholder(dtype, value_shape, name))
    with get_default_graph().name_scope(name or "RaggedPlaceholder"):
        made = tensor_placeholder(dtype, flat, "flat_values")
        splits = [
            tensor_placeholder("int64", [None], f"row_splits_{level}")
            for level in reversed(range(ragged_rank))
        ]
    return assembled(made, splits[::-1])  # type: ignore[arg-type]


def range_(
    starts: object,
    limits: object = None,
    deltas: object = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> RaggedTensor:
    """Return rows of numbers that count up from a start to a limit."""
    if limits is None:
        starts, limits = 0, starts
    with same_graph(starts, limits, deltas):
        row = row_of(dtype)
        given = [starts, limits, deltas]
        if row is None:
            order = (kinds.i32, kinds.i64, kinds.f32, kinds.f64)
            found = [convert(x).spec.dtype for x in given]
            if any(x not in order for x in found):
                raise ValueError(f"ranges are of numbers, not of {', '.join(map(named, found))}")
            row = max(found, key=order.index)
        parts = [m.cast(convert(x) if is_typed(x) else convert(x, row), row) for x in given]
        parts = same(*parts)
        for x in parts:
            if x.shape.rank not in (0, 1, None):
                raise ValueError(f"Shape {x.shape} must be at most rank 1")
        kind = row_of(row_splits_dtype)
        assert kind is not None, "a type was given"
        number = row.numpy

        def compute(*arrays: Array) -> Sequence[Array]:
            start, limit, delta = np.broadcast_arrays(*map(np.atleast_1d, arrays))
            if len({x.size for x in arrays if x.ndim}) > 1:
                raise InvalidArgumentError("starts, limits, and deltas must have the same shape")
            if (delta == 0).any():
                raise InvalidArgumentError("Requires delta != 0")
            span = (limit.astype(np.float64) - start) / delta
            counts = np.maximum(np.ceil(span), 0).astype(np.int64)
            if row.kind == "i":
                begin, step = (np.ascontiguousarray(x, np.int64) for x in (start, delta))
                return splits_of(counts).astype(kind.numpy), steps_up(begin, step, counts, number)
            offsets = ranges(np.zeros(len(counts), np.int64), counts)
            made = np.repeat(start, counts) + offsets.astype(number) * np.repeat(delta, counts)
            return splits_of(counts).astype(kind.numpy), made.astype(number)

        sizes = [x.shape._dims[0] for x in parts if x.shape._dims]
        height = sizes[0] if sizes else 1
        specs = [unknown(kind, None if height is None else height + 1), unknown(row, None)]
        splits, values = computed("RaggedRange", compute, parts, specs, name)
        return RaggedTensor.cut(values, RowPartition(splits))


def row_splits_to_segment_ids(
    splits: object, name: str | None = None, out_type: DTypeLike | None = None
) -> TfTensor:
    """Return for each value the number of its row."""
    with same_graph(splits):
        found = whole_numbers(splits, None, "splits")
        if found.shape.rank not in (1, None):
            raise ValueError(f"Shape {found.shape} must have rank 1")
        if found.shape._dims == (0,):
            raise ValueError("Invalid row_splits: []")
        ids = RowPartition(found).value_rowids()
        return m.cast(ids, out_type) if out_type is not None else ids


def segment_ids_to_row_splits(
    segment_ids: object,
    num_segments: object = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return where the rows begin and end that values name."""
    with same_graph(segment_ids, num_segments):
        if is_typed(segment_ids) and not convert(segment_ids).dtype.is_integer:
            raise TypeError(f"segment_ids must be an integer tensor, got {segment_ids!r}")
        ids = whole_numbers(segment_ids, None, "segment_ids")
        count = None if num_segments is None else m.cast(convert(num_segments), ids.dtype)
        if ids.shape.rank not in (1, None):
            raise ValueError(f"Shape {ids.shape} must have rank 1")
        splits = RowPartition.from_value_rowids(ids, count, validate=False).row_splits()
        return m.cast(splits, out_type) if out_type is not None else splits


APART = "data and partitions have incompatible ragged shapes"


def stack_dynamic_partitions(
    data: object, partitions: object, num_partitions: object, name: str | None = None
) -> RaggedTensor:
    """Return rows of what belongs to each part."""
    with same_graph(data, partitions, num_partitions):
        x, count = ragged_or_tensor(data), convert(num_partitions)
        ids = ragged_or_tensor(partitions)
        count.shape.assert_has_rank(0)
        rank = ids.shape.rank
        if rank is None:
            raise ValueError("partitions must have known rank")
        if rank == 0:
            x, ids, rank = expand_dims(x, 0), expand_dims(ids, 0), 1
        ids.shape.assert_is_compatible_with(x.shape[:rank])
        levels = rank - 1 if levels_of(x) or levels_of(ids) else 0
        if levels:
            x, ids = with_levels(x, levels), with_levels(ids, levels)
        numbers = ids.flat_values if isinstance(ids, RaggedTensor) else ids
        if isinstance(x, RaggedTensor) and isinstance(ids, RaggedTensor):
            for mine, theirs in zip(x.partitions, ids.partitions, strict=False):
                numbers = agreed(mine.row_splits(), theirs.row_splits(), APART, numbers)
            x = held(x, levels)
        elif rank > 1 and isinstance(x, TfTensor):
            rest = a.shape(x, "int64")[rank:]
            x = a.reshape(x, a.concat([convert([-1], "int64"), rest], 0))
            numbers = a.reshape(numbers, [-1])
        size = static(count)

        def compute(where: Array, total: Array) -> Sequence[Array]:
            if (where < 0).any():
                raise InvalidArgumentError("partitions must be non-negative")
            if (where >= total).any():
                raise InvalidArgumentError("partitions must be less than num_partitions")
            order = np.argsort(where.ravel(), kind="stable").astype(np.int64)
            return splits_of(np.bincount(where.ravel(), minlength=int(total))), order

        ends = size + 1 if isinstance(size, int) else None
        specs = [unknown(kinds.i64, ends), unknown(kinds.i64, None)]
        splits, order = computed("StackPartitions", compute, [numbers, count], specs, name)
        return RaggedTensor.cut(_rows_taken(x, order), RowPartition(splits))


for _function in (
    *(from_row_splits, from_row_lengths, from_row_starts, from_row_limits, from_value_rowids),
    *(from_uniform_row_length, from_nested_row_splits, from_nested_row_lengths),
    *(from_nested_value_rowids, from_tensor, from_sparse),
):
    setattr(RaggedTensor, _function.__name__, staticmethod(_function))


def _rows_taken(x: Ragged, order: TfTensor) -> Ragged:
    """Return rows by their numbers."""
    if isinstance(x, TfTensor):
        return gather(x, order)
    return planned("RaggedTake", [x], Rows.take, x.ragged_rank, more=[order])


def held(x: RaggedTensor, levels: int) -> Ragged:
    """Return what rows hold at a level."""
    made: Ragged = x
    for _ in range(levels):
        assert isinstance(made, RaggedTensor), "there are so many levels"
        made = made.values
    return made


class RowPart(Part):
    """A tensor that is a row of rows when it is put into a batch."""

    def __init__(self, tensor: TfTensor, row_splits_dtype: DTypeLike) -> None:
        self._tensor = tensor
        self._spec = RaggedTensorSpec(tensor.shape, tensor.dtype, 0, row_splits_dtype)

    @property
    def part_spec(self) -> RaggedTensorSpec:
        """Return what it is like."""
        return self._spec

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for it in an element."""

        def compute(flat: Array) -> Sequence[Array]:
            return (part(RaggedPile(flat)),)

        return host("Serialize", compute, [self._tensor], [unknown(TEXT)])[0]


def as_row(value: object, spec: object, row_splits_dtype: DTypeLike) -> object:
    """Return a tensor of which sizes are open as rows, for a batch; all else as it is."""
    dims = spec.shape._dims if isinstance(spec, TensorSpec | RaggedTensorSpec) else ()
    if dims is None:
        raise ValueError("elements of a ragged batch have known ranks")
    open_ = [axis for axis, extent in enumerate(dims) if extent is None]
    if not open_ or not isinstance(value, TfTensor):
        return value
    if open_[-1] == 0:
        return RowPart(value, row_splits_dtype)
    return from_tensor(value, ragged_rank=open_[-1], row_splits_dtype=row_splits_dtype)
