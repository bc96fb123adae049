"""Segments of rows, counts, and what functions of tensors do with sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ...eager.remembered import remembered
from ...values.context import STATE
from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ...values.sums import TYPES, fault_of_order, sums_of_rows
from ..core.bridge import EagerTensor, TfTensor, row_of
from ..core.calls import as_places
from ..core.host_ops import host, of_elements, unknown
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..ops import array_ops as a
from ..ops import gathering as g
from ..ops import math_ops as m
from ..ops import sorting
from ..ops.creation import ones_like, range_
from ..ops.indexed_slices import IndexedSlices
from ..ops.math_ops import FUNCTIONS
from .composite import CompositeTensor
from .numbering import THIN, different, is_inside
from .sparse_dense import added
from .sparse_tensor import SparseTensor

UNARY = (
    *("abs", "asin", "asinh", "atan", "atanh", "erf", "negative", "sign", "sin", "sqrt", "tan"),
    "tanh",
)
"""Functions of elements that leave zero alone."""


def _of_values(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function of a sparse tensor that is one of its elements."""
    return lambda x, *args, **kwargs: x.with_values(function(x.values, *args, **kwargs))


for _function in (*(FUNCTIONS[n] for n in UNARY), m.square, m.cast, m.identity):
    handles(SparseTensor, _function)(_of_values(_function))


@handles(SparseTensor, a.shape)
def _shape(
    x: SparseTensor, out_type: DTypeLike | None = "int32", name: str | None = None
) -> TfTensor:
    return m.cast(x.dense_shape, out_type, name)


@handles(SparseTensor, a.size)
def _size(x: SparseTensor, out_type: DTypeLike | None = "int32", name: str | None = None) -> object:
    return m.cast(m.REDUCTIONS["reduce_prod"](x.dense_shape), out_type, name)


@handles(SparseTensor, a.rank)
def _rank(x: SparseTensor, name: str | None = None) -> object:
    return a.size(x.dense_shape, name=name)


@handles(SparseTensor, m.truediv)
def _divided(x: object, y: object, name: str | None = None) -> object:
    """Divide as the operator does, which knows what of it is sparse."""
    return x / y  # type: ignore[operator]


@handles(SparseTensor, sorting.bincount)
def _bincount(
    arr: SparseTensor,
    weights: object = None,
    minlength: object = None,
    maxlength: object = None,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> TfTensor:
    """Count numbers, in each row with `axis=-1`."""
    by = weights
    if weights is not None:
        with InGraph(graph_of([*arr.components()])):
            by = weights_of(arr, weights)
    if axis != -1 or arr.shape.rank == 1:
        return sorting.bincount(arr.values, by, minlength, maxlength, dtype, name, 0, binary_output)
    if by is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive.")
    with InGraph(graph_of([*arr.components(), minlength, maxlength])):
        ends = [convert(-1 if n is None else n, "int64") for n in (minlength, maxlength)]
        row = row_of(dtype) if by is None else convert(by).spec.dtype
        assert row is not None, "counts have a type"

        def compute(
            places: Array, numbers: Array, sizes: Array, least: Array, most: Array, *weight: Array
        ) -> Sequence[Array]:
            width = max(int(numbers.max(initial=-1)) + 1, int(least), 0)
            width = width if most < 0 else min(width, int(most))
            there, total = _counts(places[:, 0], numbers, weight, width)
            made = np.zeros((int(sizes[0]), width), row.numpy)
            made[there[:, 0], there[:, 1]] = np.minimum(total, 1) if binary_output else total
            return [made]

        given = [arr.indices, arr.values, arr.dense_shape, *ends]
        more = [] if by is None else [convert(by)]
        spec = unknown(row, (arr.shape._dims or (None,))[0], None)
        (made,) = host("SparseBincount", compute, [*given, *more], [spec], name=name)
        return made


def mask(a: IndexedSlices, mask_indices: object, name: str | None = None) -> IndexedSlices:
    """Return slices without those at some indices."""
    with InGraph(graph_of([a.values, a.indices, mask_indices])):
        places = convert(a.indices)
        gone = convert(mask_indices, places.spec.dtype)

        def compute(indices: Array, without: Array) -> Sequence[Array]:
            return (np.flatnonzero(~np.isin(indices, without)),)

        left = host("ListDiff", compute, [places, gone], [unknown(rows.i64, None)], name=name)[0]
        values = g.gather(a.values, left)
        return IndexedSlices(values, g.gather(places, left), a.dense_shape)


def _segments(how: str) -> Callable[..., TfTensor]:
    def function(
        data: object,
        indices: object,
        segment_ids: object,
        num_segments: object = None,
        name: str | None = None,
        sparse_gradient: bool = False,
    ) -> TfTensor:
        """Combine rows of a table by their segment; the segments are in order."""
        if num_segments is None and (made := rows_at_once(data, indices, segment_ids, how)):
            return made[0]
        with InGraph(graph_of([data, indices, segment_ids, num_segments])):
            table, at, ids = (
                convert(x) for x in (data, as_places(indices), as_places(segment_ids))
            )
            if table.shape.rank == 0:
                raise InvalidShapesError("Shape must be at least rank 1 but is rank 0")
            number = static(num_segments)
            if not isinstance(number, int):
                number, at = _counted(table, at, ids, num_segments)
            fits = at.shape.rank == ids.shape.rank == 1 and at.shape == ids.shape
            if fits and isinstance(number, int):
                return _combined_of(table, at, ids, number, how, name)
            return combined_rows(g.gather(table, at), ids, number, how, name)

    return function


def rows_at_once(table: object, at: object, numbers: object, how: str) -> tuple[EagerTensor, ...]:
    """Return rows of a table combined by their segment, nothing where other ways are to be gone."""
    given = [x._array for x in (table, at, numbers) if isinstance(x, EagerTensor)]
    if len(given) < 3 or STATE.busy or how == "sqrt_n":
        return ()
    made = _at_once(given[0], given[1], given[2], how)
    return () if made is None else (EagerTensor(made),)


def _at_once(table: Array, at: Array, numbers: Array, how: str) -> Array | None:
    """Return rows combined by their segment; None: something has to be refused, or told apart."""
    if table.dtype.kind != "f" or not table.ndim or at.ndim != 1 or not at.size:
        return None
    if at.shape != numbers.shape or not is_inside(at[:, None], table.shape[:1]):
        return None
    try:
        if table.ndim != 2 or table.dtype not in TYPES or not table.size:
            return g.rows_in_order(table.take(at, axis=0), numbers, "add" if how == "sum" else how)
        g.check_order((*at.shape, *table.shape[1:]), numbers)
    except InvalidArgumentError:
        return None
    total = sums_of_rows(table, at, numbers, int(numbers[-1]) + 1)
    if how == "mean":
        total /= np.maximum(np.bincount(numbers), 1).astype(total.dtype)[:, None]
    return total


@remembered
def _combined_of(
    table: TfTensor, places: TfTensor, ids: TfTensor, number: int, how: str, name: str | None
) -> TfTensor:
    """Return so many rows, each combined of the rows of a table at the places that have it."""
    return _combined(g.gather(table, places), ids, number, how, name)


def _number(ids: TfTensor, count: object) -> object:
    """Return how many segments there are: as many as are named, or wanted."""
    number = static(count)
    if isinstance(number, int):
        return number
    counted = _count(ids, [] if count is None else [convert(count)])
    return int(counted) if isinstance(counted, EagerTensor) else counted


def combined_rows(
    values: TfTensor, ids: TfTensor, count: object, how: str, name: str | None = None
) -> TfTensor:
    """Return rows combined by their segment, as many as segments are named or wanted.

    `how` is sum, mean or sqrt_n; segments without rows are zero.
    """
    for x in (values.shape[:1] if values.shape.rank else values.shape, ids.shape):
        if x.rank == 0:
            raise InvalidShapesError("Shape must be at least rank 1 but is rank 0")
    sizes = values.shape._dims, ids.shape._dims
    found = {dims[0] for dims in sizes if dims and dims[0] is not None}
    if len(found) > 1:
        raise InvalidArgumentError("segment_ids and indices should have same size.")
    return _combined(values, ids, _number(ids, count), how, name)


@remembered
def _combined(
    values: TfTensor, ids: TfTensor, number: object, how: str, name: str | None
) -> TfTensor:
    """Return so many rows, each combined of those that have its number."""
    wide = m.cast(ids, "int64")
    ends = a.concat([a.reshape(convert(number, "int64"), [1]), a.shape(values, "int64")[1:]], 0)
    known = values.shape._dims
    if isinstance(number, int) and known is not None and None not in known[1:]:
        ends = [number, *known[1:]]  # type: ignore[assignment]
    total = added(a.expand_dims(wide, 1), values, ends, name)
    if how == "sum":
        return total
    ones = m.cast(a.reshape(ones_like(wide), [-1]), values.dtype)
    counts = g.scatter_nd(a.expand_dims(wide, 1), ones, ends[:1])
    divisor = FUNCTIONS["maximum"](counts, 1)
    divisor = FUNCTIONS["sqrt"](divisor) if how == "sqrt_n" else divisor
    rank = values.shape.rank or 1
    return m.truediv(total, a.reshape(divisor, [-1, *[1] * (rank - 1)]))


def _count(ids: TfTensor, least: list[TfTensor]) -> TfTensor:
    """Return how many segments there are, which have to be in order."""

    def compute(numbers: Array, *wanted: Array) -> Sequence[Array]:
        return (np.array(_count_of(numbers, wanted), np.int64),)

    return host("SegmentCount", compute, [ids, *least], [unknown(rows.i64)])[0]


def _count_of(numbers: Array, wanted: Sequence[Array]) -> int:
    """Return how many segments there are: as many as are wanted, or named."""
    count = int(wanted[0]) if wanted else None
    fault = fault_of_order(numbers, count)
    if fault:
        raise InvalidArgumentError(fault)
    if count is not None:
        return count
    return int(numbers[-1]) + 1 if len(numbers) else 0


def _counted(
    table: TfTensor, places: TfTensor, ids: TfTensor, count: object
) -> tuple[object, TfTensor]:
    """Return how many segments there are, and the places of rows, which must be in the table."""

    def compute(numbers: Array, at: Array, sizes: Array, *wanted: Array) -> Sequence[Array]:
        if numbers.shape != at.shape:
            raise InvalidArgumentError("segment_ids and indices should have same size.")
        found = _count_of(numbers, wanted)
        fault = g.fault_of_size(sizes[1:].tolist(), found)
        for place in np.flatnonzero((at < 0) | (at >= sizes[0]))[:1].tolist():
            fault = fault or f"indices[{place}] == {at[place]} out of range [0, {sizes[0]})"
        if fault:
            raise InvalidArgumentError(fault)
        return np.array(found, np.int64), at

    given = [ids, places, a.shape(table, "int64"), *([] if count is None else [convert(count)])]
    found, inside = host("SegmentCount", compute, given, [unknown(rows.i64), places.spec])
    return (int(found) if isinstance(found, EagerTensor) else found), inside


segment_sum, segment_mean = _segments("sum"), _segments("mean")
segment_sqrt_n = _segments("sqrt_n")


class Counted:
    """What is to be counted: the values, the row of each, and their weights."""

    def __init__(self, values: object, weights: object, *, by_row: bool) -> None:
        self.values: TfTensor
        given: TfTensor | None = None
        self.by_row, self.dense = by_row, not isinstance(values, SparseTensor)
        if isinstance(values, SparseTensor):
            self.values = values.values
            self.places, self.sizes = values.indices, values.dense_shape
            given = None if weights is None else weights_of(values, weights)
        else:
            x = convert(values)
            self.values = a.reshape(x, [-1])
            self.sizes = a.shape(x, "int64")
            counted = a.size(x, "int64") if by_row else convert(0, "int64")  # (else not asked for)
            self.places = a.reshape(range_(counted), [-1, 1])
            if isinstance(weights, CompositeTensor):
                refuse_weights(weights, "tf.Tensor", "tf.Tensor")
            if weights is not None:
                by = convert(weights)
                if not by.shape.is_compatible_with(x.shape):
                    raise InvalidShapesError(
                        f"Weights and values must have the same shape: {by.shape}, {x.shape}; "
                        "both shapes must be equal"
                    )
                given = a.reshape(by, [-1])
        self.weights = given


def refuse_weights(weights: object, wanted: str, values: str) -> NoReturn:
    """Raise, since weights are not of the kind of the values."""
    raise ValueError(
        f"Argument `weights` must be a {wanted} if `values` is a {values}. Received "
        f"weights={weights} of type: {type(weights).__name__}"
    )


def weights_of(values: SparseTensor, weights: object) -> TfTensor:
    """Return weights of the places of values, or raise."""
    if not isinstance(weights, SparseTensor):
        refuse_weights(weights, "SparseTensor", "SparseTensor")
    pairs = {
        "dense shape": (weights.dense_shape, values.dense_shape),
        "indices": (weights.indices, values.indices),
    }
    if all(one is two for one, two in pairs.values()):
        return weights.values

    def compute(*arrays: Array) -> Sequence[Array]:
        for what, one, two in zip(pairs, arrays[1::2], arrays[2::2], strict=True):
            if one.shape != two.shape or (one != two).any():
                raise InvalidArgumentError(f"'weights' and 'values' must have the same {what}.")
        return [arrays[0]]

    given = [weights.values, *(x for pair in pairs.values() for x in pair)]
    (made,) = host("SameWeights", compute, given, [weights.values.spec])
    return made


def _refuse(axis: int | None, minlength: int | None, maxlength: int | None, *, both: bool) -> None:
    """Raise where what is asked of a count does not fit together."""
    if axis not in (0, -1, None):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported")
    if both:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive")
    for text, limit in (("minlength", minlength), ("maxlength", maxlength)):
        if limit is not None and limit < 0:
            raise ValueError(f"{text} should be greater or equal to 0, got {limit}")


@remembered
def bincount(
    values: object,
    weights: object = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Count how often each number occurs, in all of a tensor (axis 0) or in each row (axis -1)."""
    _refuse(axis, minlength, maxlength, both=binary_output and weights is not None)
    with InGraph(graph_of([values, weights])):
        given = Counted(values, weights, by_row=axis == -1 and _rank_of(values) > 1)
        counted = given.values if given.weights is None else given.weights
        row = counted.spec.dtype

        def compute(places: Array, numbers: Array, sizes: Array, *weight: Array) -> Sequence[Array]:
            line = None
            if given.by_row:
                line = places[:, 0] // (int(np.prod(sizes[1:])) if given.dense else 1)
            width = max(int(numbers.max(initial=-1)) + 1, minlength or 0)
            width = width if maxlength is None else maxlength
            there, total = _counts(line, numbers, weight, width)
            found = np.minimum(total, 1) if binary_output else total
            if given.by_row:
                return there, found.astype(row.numpy), np.array([int(sizes[0]), width], np.int64)
            return there[:, 1:], found.astype(row.numpy), np.array([width], np.int64)

        rank = 2 if given.by_row else 1
        specs = of_elements(row, rank)
        more = [] if given.weights is None else [given.weights]
        operands = [given.places, given.values, given.sizes, *more]
        return SparseTensor(*host("SparseCount", compute, operands, specs, name=name))


def _counts(
    line: Array | None, numbers: Array, weight: Sequence[Array], width: int
) -> tuple[Array, Array]:
    """Return which pairs of line and number below a limit there are, and how often.

    Where there is one line only, that is None.
    """
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError("Input values must all be non-negative")
    if int(numbers.max(initial=-1)) >= width:  # (which may be far above)
        used = numbers < width
        line, numbers = None if line is None else line[used], numbers[used]
        weight = [x[used] for x in weight]
    if line is None and width <= THIN * len(numbers):
        counts = sorting.tally(numbers, width)
        there = np.flatnonzero(counts)
        found = _added(weight[0], numbers, len(counts)) if weight else counts
        return np.stack([np.zeros_like(there), there], axis=1), found[there]
    lines = np.zeros(len(numbers), np.int64) if line is None else line
    there, place = different(np.stack([lines, numbers.astype(np.int64)], axis=1))
    if not weight:
        return there, np.bincount(place, minlength=len(there))
    return there, _added(weight[0], place, len(there))


def _added(weight: Array, place: Array, count: int) -> Array:
    """Return the sums of weights by their places, added up in order."""
    total = np.zeros(count, weight.dtype)
    np.add.at(total, place.astype(np.intp, copy=False), weight)
    return total


def _rank_of(values: object) -> int:
    """Return the number of axes of what is counted."""
    if isinstance(values, SparseTensor):
        return values.shape.rank or 1
    return convert(values).shape.rank or 0
