"""Ordering, counting and finding by TensorFlow's names; results whose shape depends on data."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Literal

import numpy as np
from xdsl.ir import SSAValue

from ....codegen import single
from ....codegen.serial.function import I32s, I64s, serial
from ....ir.compose.maker import Emit, Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import parse, product
from ....ir.types.dtypes import DType, of_numpy
from ....ir.types.tensor import Array, TensorSpec
from ...dims.unknown import unknown_dim
from ...eager.kernels import MANY, Kernel, by_need
from ...eager.remembered import remember_all
from ...graph.graph import GraphTensor
from ...graph.inference import Abstract, is_unknown
from ...graph.kinds import RULES
from ...values.distinct import as_they_come, of_table
from ...values.dtypes import DTypeLike
from ...values.texts import Text
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor, custom_gradient, row_of
from ..core.calls import (
    op,
    op_of_several,
    perform,
    rule,
)
from ..core.extents import read_extent
from ..core.required import demand
from ..core.values import (
    InGraph,
    InvalidShapesError,
    at_once,
    axis_in,
    convert,
    elements,
    graph_of,
    same,
    static,
)
from .array_ops import expand_dims, pad, reshape, shape, size, transpose
from .creation import range_
from .gathering import gather
from .math_ops import FUNCTIONS, cast

FEW_IN_ROW = 32
"""Among so many elements those before a value are counted."""
MOST_BITS = 31
"""No row of a length that only the run has is longer than so many bits say."""

TopKV2 = namedtuple("TopKV2", "values indices")
ApproxTopK = namedtuple("ApproxTopK", "values indices")
Unique = namedtuple("Unique", "y idx")
UniqueWithCounts = namedtuple("UniqueWithCounts", "y idx count")


@op_of_several("TopKV2", "input", strict=False)
def _top_k(m: Maker, input: object, k: int = 1, sorted: bool = True) -> object:
    """Return the largest elements of each row, and where they are."""
    values, places = m.top_k(
        input, k=int(static(k)), axis=spec_of_value(input).rank - 1, largest=True, sorted=True
    )
    return values, m.cast(places, dtype=rows.i32)


@op("TopKCount", "k", "input", strict=False, refuses=True)
def _fitting(m: Maker, k: object, input: object) -> object:
    """Return how many elements of each row are wanted, if it has as many."""
    row, size = spec_of_value(k).dtype, spec_of_value(input).dims[-1]
    zero, end = m.number(0, row), m.extent_of(size, row)
    demand(
        m,
        k,
        lambda x: m.logical_and(m.greater_equal(x, zero), m.less_equal(x, end)),
        lambda x: (x < 0) | (x > size if isinstance(size, int) else False),
        f"input must have at least k columns. Had {size}, needed {{value}}",
    )
    return m.reshape(k, shape=())


def top_k(
    input: object,
    k: object = 1,
    sorted: bool = True,
    index_type: DTypeLike | None = "int32",
    name: str | None = None,
) -> TopKV2:
    """Return the largest elements of each row, and where they are."""
    known = static(k)
    if isinstance(known, GraphTensor):  # how many is computed: the first of all of them
        x = convert(input)
        order = argsort(x, -1, "DESCENDING", stable=True)[..., : _fitting(known, x)]
        return TopKV2(gather(x, order, axis=-1, batch_dims=-1), cast(order, index_type))
    values, places = _top_k(input, k=int(known), sorted=sorted, name=name)
    return TopKV2(values, cast(places, index_type))


def approx_max_k(
    operand: object,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Return the largest elements along an axis, and where they are: here all of them are found.

    Without `aggregate_to_topk` there are as many as a search with that recall looks through in the
    end, the largest first.
    """
    if not 0.0 < recall_target <= 1.0:
        raise ValueError(f"recall_target is {recall_target}, expected a number in (0, 1]")
    with InGraph(graph_of([operand])):
        x = convert(operand)
        rank = x.shape.rank
        if not aggregate_to_topk:
            dims = x.shape.known()
            size = dims[axis_in(reduction_dimension, len(dims))]
            override = reduction_input_size_override
            k = candidates(size, len(dims), k, recall_target, size if override < 0 else override)
        if reduction_dimension == -1 or reduction_dimension + 1 == rank:
            return ApproxTopK(*top_k(x, k, name=name))
        if rank is None:
            raise ValueError(f"axis {reduction_dimension} of an operand of unknown rank")
        order = [*range(rank)]
        axis = axis_in(reduction_dimension, rank)
        order[axis], order[-1] = order[-1], order[axis]
        values, places = top_k(transpose(x, order), k, name=name)
        return ApproxTopK(transpose(values, order), transpose(places, order))


def candidates(size: int, rank: int, k: int, recall: float, logical: int) -> int:
    """Return how many elements are left of an axis before the largest ones of them are taken.

    They are the largest of windows of elements, which lie in lanes side by side. There are so many
    windows that the largest elements fall into different ones as often as `recall` says, where
    `logical` elements are looked through in all.

    >>> candidates(500, 2, 10, 0.95, 500)
    256
    """
    lanes = 1024 if rank == 1 else 128
    if size <= lanes:
        return size
    tiles = -(-size // lanes)
    halvings = (tiles - 1).bit_length()
    if k > 1:
        apart = 1.0 - recall ** (1.0 / (k - 1))
        windows = logical if apart == 0.0 else min(logical, max(math.ceil(1.0 / apart), lanes))
        halvings = min(halvings, (logical // windows).bit_length() - 1)
    return -(-tiles // 2**halvings) * lanes if halvings else size


def approx_min_k(operand: object, k: int, *args: object, **more: object) -> object:
    """Return the smallest elements along an axis, and where they are: all of them are found."""
    with InGraph(graph_of([operand])):
        values, places = approx_max_k(-convert(operand), k, *args, **more)  # type: ignore[arg-type]
        return ApproxTopK(-values, places)


@rule("Sort", label="sort")
def _sort(m: Maker, x: object, axis: int, descending: bool) -> object:
    return m.sort(x, axis=axis_in(axis, spec_of_value(x).rank), descending=descending)


@rule("ArgSort", label="argsort", differentiable=False)
def _argsort(m: Maker, x: object, axis: int, descending: bool) -> object:
    made = m.argsort(x, axis=axis_in(axis, spec_of_value(x).rank), descending=descending)
    return m.cast(made, dtype=rows.i32)


def _order(type_: str, values: object, axis: int, direction: str, name: str | None) -> TfTensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"`direction` should be one of ['ASCENDING', 'DESCENDING']: {direction}")
    with InGraph(graph_of([values])):
        down = direction == "DESCENDING"
        return perform(type_, [convert(values)], name=name, axis=axis, descending=down)


def sort(
    values: object, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> TfTensor:
    """Put elements in order along an axis."""
    return _order("Sort", values, axis, direction, name)


def argsort(
    values: object,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> TfTensor:
    """Return where the elements in order come from."""
    return _order("ArgSort", values, axis, direction, name)


def _host(
    type_: str, *operands: str, **known: object
) -> Callable[[Callable[..., object]], Callable[..., TfTensor]]:
    return op(type_, *operands, strict=False, differentiable=False, **known)


def _one_axis(x: object) -> None:
    shape_ = spec_of_value(x).shape
    if shape_ is not None and len(shape_) != 1:
        raise TypeError("unique expects a 1D vector.")


@op_of_several("Unique", "x", strict=False, differentiable=None)
def _unique(m: Maker, x: object) -> object:
    """Return the different elements in the order they come, and which one each is."""
    _one_axis(x)
    if isinstance(x, Abstract) and x.value is None:
        spec = TensorSpec(spec_of_value(x).dtype, (unknown_dim(),))
        return Abstract(spec), Abstract(TensorSpec(rows.i32, spec_of_value(x).shape))
    if isinstance(x, Text) and x.is_long:
        found, places = x.row.different()
        return Text(found), places
    return at_once(_in_order_of_coming, x, is_open=True)


def _in_order_of_coming(array: Array) -> tuple[Array, Array]:
    """Return the different elements in the order they come, and which one each is."""
    if array.dtype.kind == "O" or (len(array) <= FEW and array.dtype.kind in "iub"):
        each = array.tolist()
        known = {x: i for i, x in enumerate(dict.fromkeys(each))}
        values = np.empty(len(known), array.dtype)
        values[:] = [*known]
        return values, np.fromiter(map(known.__getitem__, each), np.int32, len(each))
    if array.dtype.kind in "iu" and len(array):
        small = array.view(f"u{array.dtype.itemsize}")  # what is below 0 is large here
        if (width := int(small.max()) + 1) <= CLOSE * len(array):
            return of_table(small, array, width)
        low = array.min()
        if (width := int(array.max()) - int(low) + 1) <= CLOSE * len(array):
            return of_table((array - low).view(f"u{array.dtype.itemsize}"), array, width)
    if array.dtype.kind in "iu" or of_numpy(array.dtype).kind == "f":
        first, places = as_they_come(array)
        return array[first], places
    made = np.unique(array, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(made[1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return array[made[1][order]], rank[made[2]]


FEW = 64
"""So few numbers are looked up in a dictionary."""


CLOSE = 4
"""So many times as many numbers as elements may lie between the smallest and the largest."""


@op_of_several("UniqueWithCounts", "x", strict=False, differentiable=None)
def _unique_with_counts(m: Maker, x: object) -> object:
    """Return the different elements, which one each is, and how often each comes."""
    if isinstance(x, Abstract) and x.value is None:
        values, places = RULES["Unique"].function(m, x)
        return values, places, Abstract(TensorSpec(rows.i32, values.spec.shape))
    _one_axis(x)
    if isinstance(x, Text) and x.is_long:
        found, places = x.row.different()
        counts = np.bincount(places, minlength=len(found)).astype(np.int32)
        return Text(found), places, counts
    return at_once(_counted_as_they_come, x, is_open=True)


def _counted_as_they_come(array: Array) -> tuple[Array, Array, Array]:
    """Return the different elements, which one each is, and how often each comes."""
    values, places = _in_order_of_coming(array)
    return values, places, np.bincount(places, minlength=len(values)).astype(np.int32)


def unique(x: object, out_idx: DTypeLike | None = "int32", name: str | None = None) -> Unique:
    """Return the different elements in the order they come, and which one each is."""
    y, idx = _unique(x, name=name)
    return Unique(y, _as(idx, out_idx))


def unique_with_counts(
    x: object, out_idx: DTypeLike | None = "int32", name: str | None = None
) -> UniqueWithCounts:
    """Return the different elements, which one each is, and how often each comes."""
    y, idx, found = _unique_with_counts(x, name=name)
    return UniqueWithCounts(y, _as(idx, out_idx), _as(found, out_idx))


def _as(numbers: TfTensor, dtype: DTypeLike | None) -> TfTensor:
    """Return numbers of 32 bits in a type, which mostly is theirs."""
    return numbers if dtype == "int32" else cast(numbers, dtype)


@op_of_several("UniqueV2", "x", strict=False, differentiable=None)
def _unique_along(m: Maker, x: object, axis: int) -> object:
    """Return the different slices along an axis in the order they come, and which one each is."""
    place = axis_in(axis, spec_of_value(x).rank)
    if isinstance(x, Abstract):
        dims = x.spec.dims
        open_ = (*dims[:place], unknown_dim(), *dims[place + 1 :])
        places = Abstract(TensorSpec(rows.i32, (dims[place],)))
        return Abstract(x.spec.with_shape(open_)), places
    return at_once(partial(_slices_as_they_come, place), x, is_open=True)


def _slices_as_they_come(axis: int, array: Array) -> tuple[Array, Array]:
    """Return the different slices along an axis in the order they come, and which one each is."""
    known: dict[tuple[object, ...], int] = {}
    first, places = [], np.empty(array.shape[axis], np.int32)
    for number, part in enumerate(np.moveaxis(array, axis, 0)):
        key = tuple(part.ravel().tolist())
        if key not in known:
            known[key] = len(known)
            first.append(number)
        places[number] = known[key]
    return np.take(array, np.array(first, np.int64), axis), places


def _axis_of_unique(axis: object) -> int | None:
    """Return the axis that a list of one names, None if it is empty."""
    given = np.asarray(static(axis))
    if given.ndim != 1:
        raise ValueError(f"axis expects a 1D vector, found shape {given.shape}")
    if given.size > 1:
        raise ValueError(f"axis does not support input tensors larger than 1 elements: {given}")
    return int(given[0]) if given.size else None


def unique_v2(
    x: object, axis: object, out_idx: DTypeLike | None = "int32", name: str | None = None
) -> Unique:
    """Return the different elements, or slices along the axis of a list, and which one each is."""
    place = _axis_of_unique(axis)
    if place is None:
        return unique(x, out_idx, name)
    y, idx = _unique_along(x, axis=place, name=name)
    return Unique(y, cast(idx, out_idx))


def unique_with_counts_v2(
    x: object, axis: object, out_idx: DTypeLike | None = "int32", name: str | None = None
) -> UniqueWithCounts:
    """Return what `unique_v2` does, and how often each comes."""
    place = _axis_of_unique(axis)
    if place is None:
        return unique_with_counts(x, out_idx, name)
    with InGraph(graph_of([x])):
        y, idx = _unique_along(x, axis=place, name=name)
        count = bincount(idx, minlength=shape(y)[place])
        return UniqueWithCounts(y, cast(idx, out_idx), cast(count, out_idx))


@_host("Bincount", "arr", shapes=shapes_of.counts)
def _bincount(m: Maker, arr: object, least: int, most: int | None, dtype: DType) -> object:
    return _cut(_count(elements(arr), None, least), most).astype(dtype.numpy)


@_host("WeightedBincount", "arr", "weights", shapes=shapes_of.counts)
def _weighted(m: Maker, arr: object, weights: object, least: int, most: int | None) -> object:
    weight = elements(weights)
    found = _count(elements(arr), weight.ravel(), least)
    return _cut(found, most).astype(weight.dtype)


@op("TakenRows", "rows", "places", strict=False)
def _taken(m: Maker, rows: object, places: object) -> object:
    """Return rows of places that are known to be there: nothing is required of them."""
    return m.gather(rows, places, axis=0)


def _summed(
    weights: TfTensor, arr: TfTensor, least: object, most: object, name: str | None
) -> TfTensor:
    """Add up the weights of each number; of what is cut off the gradient is 0."""

    def gradient(grad: TfTensor) -> TfTensor:
        padded = pad(grad, [[0, 1]])
        return _taken(padded, FUNCTIONS["minimum"](arr, cast(size(grad), arr.dtype)))

    @custom_gradient
    def summed(weights: TfTensor) -> tuple[TfTensor, Callable[[TfTensor], TfTensor]]:
        return _counted("WeightedBincount", [arr, weights], least, most, name), gradient

    found: TfTensor = summed(weights)
    return found


@_host("DenseBincount", "arr", shapes=shapes_of.counts_of_rows)
def _dense(
    m: Maker, arr: object, least: int, most: int | None, dtype: DType, binary: bool
) -> object:
    found = elements(arr)
    width = max(int(found.max(initial=-1)) + 1, least)
    made = [_cut(_count(row, None, width), most) for row in _lines(found)]
    counts = np.stack(made) > 0 if binary else np.stack(made)
    return (counts if found.ndim > 1 else counts[0]).astype(dtype.numpy)


@_host("WeightedDenseBincount", "arr", "weights", shapes=shapes_of.counts_of_rows)
def _weighted_rows(m: Maker, arr: object, weights: object, least: int, most: int | None) -> object:
    found, weight = elements(arr), elements(weights)
    width = max(int(found.max(initial=-1)) + 1, least)
    pairs = zip(_lines(found), _lines(weight), strict=True)
    made = np.stack([_cut(_count(row, by, width), most) for row, by in pairs])
    return (made if found.ndim > 1 else made[0]).astype(weight.dtype)


def _lines(x: Array) -> Array:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _count(values: Array, weights: Array | None, least: int) -> Array:
    if not values.size:
        return np.zeros(least, np.int64)
    if (values < 0).any():
        raise TypeError("Input arr must be non-negative!")
    if weights is None:
        return tally(values, least)
    return np.bincount(values.ravel(), weights, minlength=least)


def tally(values: Array, least: int) -> Array:
    """Return how often each whole number comes, of which none is negative."""
    if values.size < MANY or values.dtype.kind != "i":
        return np.bincount(values.ravel(), minlength=least)
    flat = values.ravel().view(f"u{values.dtype.itemsize}")
    places = np.empty(max(least, int(flat.max()) + 1), np.bool_)
    made: Array = _counting(of_numpy(flat.dtype))(flat, places)
    return made


@cache
def _counting(row: DType) -> Kernel:
    """Return what counts how often each number comes, below as many as an array has elements."""
    n, count = parse("N"), parse("C")
    specs = [TensorSpec(row, (n,)), TensorSpec(rows.bool_, (count,))]

    def build(emit: Emit, values: object, _: object) -> object:
        m = Maker(emit)
        ones, at = m.filled(1, rows.i64, (n,)), m.reshape(values, shape=(n, 1))
        return m.scatter_nd(m.filled(0, rows.i64, (count,)), at, ones, reduction="add")

    ranges = {"N": (1, single.LONGEST), "C": (1, single.LONGEST)}

    def by_numpy(values: Array, places: Array) -> Array:
        return np.bincount(values.view(f"i{row.size}"), None, len(places))

    return by_need(by_numpy, partial(single.of_sizes, build, specs, ranges), is_simple=True)


def _cut(counts: Array, most: int | None) -> Array:
    return counts if most is None else counts[:most]


def bincount(
    arr: object,
    weights: object = None,
    minlength: object = None,
    maxlength: object = None,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> TfTensor:
    """Count each number, or add up the weights of each number."""
    least = 0 if minlength is None else static(minlength)
    most = None if maxlength is None else static(maxlength)
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if weights is not None and (axis == -1 or binary_output):
        if binary_output:
            raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive.")
        return _counted("WeightedDenseBincount", [arr, weights], least, most, name)
    row = row_of(dtype)
    if axis == -1 or binary_output:
        arr = arr if axis == -1 else reshape(arr, [-1])
        return _counted("DenseBincount", [arr], least, most, name, dtype=row, binary=binary_output)
    if weights is not None:
        with InGraph(graph_of([arr, weights])):
            return _summed(convert(weights), convert(arr), least, most, name)
    return _counted("Bincount", [arr], least, most, name, dtype=row)


def _counted(
    type_: str,
    given: Sequence[object],
    least: object,
    most: object,
    name: str | None,
    **options: object,
) -> TfTensor:
    """Count by an operation; the least and the most numbers to count may be computed."""
    with InGraph(graph_of([*given, least, most])):
        xs = [convert(x) for x in given]
        return perform(type_, xs, name=name, least=least, most=most, **options)


@rule("SearchSorted", label="searchsorted", differentiable=False)
def _searchsorted(
    m: Maker, sequence: object, values: object, side: Literal["left", "right"], dtype: DType
) -> object:
    if is_unknown(sequence) or is_unknown(values):
        return Abstract(spec_of_value(values).with_dtype(dtype))
    dims, wanted = spec_of_value(sequence).dims, spec_of_value(values).dims
    if not dims or not wanted or dims[:-1] != wanted[:-1]:
        raise TypeError(f"Leading dim_size of both tensors must match: {dims}, {wanted}")
    if isinstance(sequence, SSAValue) or isinstance(values, SSAValue):
        return m.to(_places_among(m, sequence, values, side), dtype)
    ordered, sought = elements(sequence), elements(values)
    made = np.empty(sought.shape, dtype.numpy)
    for place in np.ndindex(*ordered.shape[:-1]):
        made[place] = np.searchsorted(ordered[place], sought[place], side)
        if side == "left":
            made[place][np.isnan(sought[place])] = 0
    return made


def _places_among(m: Maker, sequence: object, values: object, side: str) -> object:
    """Return how many elements of its row are before each value.

    Few are counted; among many, half of the rest is left out in each step.
    """

    def before(element: object, value: object) -> object:
        return m.less(element, value) if side == "left" else m.logical_not(m.less(value, element))

    *outer, count = spec_of_value(sequence).dims
    dims = spec_of_value(values).dims
    if isinstance(count, int) and count <= FEW_IN_ROW:
        row = m.reshape(sequence, shape=(*outer, 1, count))
        found = before(row, m.reshape(values, shape=(*dims, 1)))
        return m.sum(m.cast(found, dtype=rows.i64), axes=(len(dims),))
    several = product(tuple(outer))
    flat = m.reshape(sequence, shape=(product((*outer, count)),))
    value = m.reshape(values, shape=(several, dims[-1]))
    length = m.extent_of(count)
    start = m.mul(m.iota(shape=(several, 1), axis=0, dtype=rows.i64), length)
    place = m.filled(0, rows.i64, (several, dims[-1]))
    bits = count.bit_length() if isinstance(count, int) else MOST_BITS
    for bit in reversed(range(bits)):
        next_ = m.add(place, m.number(1 << bit, rows.i64))
        inside = m.minimum(next_, length)
        element = m.gather(flat, m.sub(m.add(start, inside), m.number(1, rows.i64)), axis=0)
        goes = m.logical_and(m.equal(next_, inside), before(element, value))
        place = m.select(goes, next_, place)
    return m.reshape(place, shape=dims)


def searchsorted(
    sorted_sequence: object,
    values: object,
    side: str = "left",
    out_type: DTypeLike | None = "int32",
    name: str | None = None,
) -> TfTensor:
    """Return where values belong in an ordered sequence, for each row."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'. Saw: {side}.")
    with InGraph(graph_of([sorted_sequence, values])):
        given = same(sorted_sequence, values)
        return perform("SearchSorted", given, name=name, side=side, dtype=row_of(out_type))


@_host("SequenceMask", "lengths", shapes=shapes_of.masked)
def _sequence_mask(m: Maker, lengths: object, dtype: DTypeLike | None = "bool") -> object:
    """Mark the first elements of each row, up to the longest."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    if isinstance(lengths, SSAValue):
        return _masked_up(m, lengths, row)
    array = elements(lengths)
    width = int(array.max(initial=0))
    return (np.arange(width) < array[..., None]).astype(row.numpy)


def _masked_up(m: Maker, lengths: SSAValue, row: DType) -> object:
    """Mark the first elements of each row, up to the longest, which only the run has."""
    spec = spec_of_value(lengths)
    every = m.reshape(lengths, shape=(spec.size,))
    longest = m.max(m.concat(every, m.filled(0, spec.dtype, (1,)), axis=0), axes=(0,))
    width = read_extent(m, longest)
    places = m.iota(shape=(width,), axis=0, dtype=spec.dtype)
    return m.to(m.less(places, m.reshape(lengths, shape=(*spec.dims, 1))), row)


def sequence_mask(
    lengths: object,
    maxlen: object = None,
    dtype: DTypeLike | None = "bool",
    name: str | None = None,
) -> TfTensor:
    """Mark the first elements of each row; how many there are may be known only when it runs."""
    width = static(maxlen)
    if width is None:
        return _sequence_mask(lengths, dtype=dtype, name=name)
    if np.ndim(np.asarray(width)) if isinstance(width, list) else getattr(width, "ndim", 0):
        raise InvalidShapesError(f"`maxlen` must be scalar for sequence_mask, found {width}")
    if isinstance(width, int) and width < 0:
        raise InvalidShapesError(f"maxlen must be at least 0, not {width}")
    with InGraph(graph_of([lengths, width])):
        places = range_(convert(width))
        counts = cast(lengths, places.dtype)  # lengths with fractions are cut, as in TensorFlow
        return cast(places < expand_dims(counts, -1), dtype, name=name)


@_host("CountNonzero", "input", shapes=shapes_of.nonzero)
def count_nonzero(
    m: Maker,
    input: object,
    axis: object = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = "int64",
) -> object:
    """Count elements that are not 0."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    along = None if axis is None else tuple(np.ravel(static(axis)).tolist())
    return np.asarray(np.count_nonzero(elements(input), axis=along, keepdims=keepdims), row.numpy)


@_host("InvertPermutation", "x", shapes=shapes_of.like())
def invert_permutation(m: Maker, x: object) -> object:
    """Return where each number is."""
    return at_once(_inverted, x)


def _inverted(found: Array) -> Array:
    """Return where each number is of an array that has each once."""
    if found.ndim != 1:
        raise TypeError("invert_permutation expects a 1D vector.")
    places = np.full(found.size, -1, found.dtype)
    invert = _invert if found.dtype == np.int32 else _invert_wide
    wrong = invert(np.require(found, requirements=["C", "A"]), places)
    if wrong >= 0:
        raise TypeError(f"{found[wrong]} is not between 0 and {found.size}")
    if np.minimum.reduce(places, initial=0) < 0:
        _, first = np.unique(found, return_index=True)
        again = np.delete(found, first)[0]
        raise TypeError(f"{again} is duplicated in the input.")
    return places


@serial
def _invert(numbers: I32s, places: I32s) -> int:
    """Write where each number is; return where the first is that is outside, or -1."""
    for i in range(len(numbers)):
        at = numbers[i]
        if at < 0 or at >= len(places):
            return i
        places[at] = i
    return -1


@serial
def _invert_wide(numbers: I64s, places: I64s) -> int:
    for i in range(len(numbers)):
        at = numbers[i]
        if at < 0 or at >= len(places):
            return i
        places[at] = i
    return -1


remember_all(globals())
