"""What is computed of sparse tensors: sums, largest elements, combinations, segments."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence

import numpy as np

from ....codegen.serial.function import Flags, I64s, serial
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ...dims.unknown import unknown_dim
from ...values.arrays import as_listed
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import OPERATORS, EagerTensor, TfTensor
from ..core.host_ops import host, unknown
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..ops.array_ops import concat, expand_dims, reshape, shape, where
from ..ops.creation import fill, ones_like, zeros_like
from ..ops.gathering import (
    gather,
    gather_nd,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
)
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, truediv
from . import sparse_at_once as at_once
from .numbering import different, is_inside, numbered
from .row_loops import interlaced
from .sparse_at_once import are_here
from .sparse_dense import added, listed, refuse_outside, taken, whole
from .sparse_places import Moved, moved
from .sparse_tensor import COMBINE, SparseTensor, SparseTensorValue, known_sizes, sparse_of


def combined(name: str, sp: SparseTensor, other: object) -> SparseTensor:
    """Combine the elements with those of a tensor, which is broadcast, at the same places."""
    with InGraph(graph_of([*sp.components(), other])):
        y = convert(other, None if hasattr(other, "spec") else sp.values.spec.dtype)
        rank, have = sp.shape.rank, y.shape.rank
        if None not in (rank, have) and (have or 0) > (rank or 0):
            raise InvalidArgumentError(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                f"shapes: [{sp.shape}] vs. [{y.shape}]"
            )
        if have == 0:
            return sp.with_values(OPERATORS[name](sp.values, y))

        def compute(indices: Array, sizes: Array, dims: Array) -> Sequence[Array]:
            ends = sizes[len(sizes) - len(dims) :]
            if len(dims) > len(sizes) or any(
                d not in (1, s) for d, s in zip(dims.tolist(), ends.tolist(), strict=True)
            ):
                raise InvalidArgumentError(
                    "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
                    f"shapes: {sizes.tolist()} vs. {dims.tolist()}"
                )
            places, is_one = indices[:, len(sizes) - len(dims) :], dims == 1
            return (np.where(is_one, 0, places) if is_one.any() else places,)

        given = [sp.indices, sp.dense_shape, shape(y, "int64")]
        places = host("SparseBroadcast", compute, given, [unknown(rows.i64, None, have)])[0]
        return sp.with_values(OPERATORS[name](sp.values, gather_nd(y, places)))


COMBINE.append(combined)
_OF_DENSE = OPERATORS["mul"]


def _times(x: object, y: object) -> TfTensor:
    """Return what `x * y` is, where x is dense: sparse, if y is."""
    if not isinstance(y, SparseTensor):
        return _OF_DENSE(x, y)
    return typing.cast("TfTensor", combined("mul", y, x))


OPERATORS["mul"] = _times


class Reduced:
    """The axes of a sparse tensor that a reduction leaves, and what lies along them."""

    def __init__(self, sp: SparseTensor, axis: object, *, keepdims: bool) -> None:
        self.sp, self.keepdims = sp, keepdims
        self.asked = None if axis is None else [int(a) for a in np.ravel(static(axis))]
        self.rank = sp.shape.rank
        self.axes: list[int] | None = None if self.rank is None else self.left(self.rank)
        self.whole = self.asked is None or self.axes == []
        """Whether all axes are reduced."""
        self.sizes: list[int] | TfTensor | None = None
        if self.whole:
            return
        if self.axes is None:
            specs = [unknown(rows.i64, None, None), unknown(rows.i64, None)]
            given = [sp.indices, sp.dense_shape]
            self.indices, self.sizes = host("SparseKept", self.columns, given, specs)
            return
        self.indices = gather(sp.indices, np.array(self.axes, np.int64), axis=1)
        sizes = known_sizes(sp)
        if isinstance(sizes, list):
            self.sizes = [sizes[i] for i in self.axes]
        else:
            self.sizes = gather(sizes, self.axes)

    def columns(self, indices: Array, sizes: Array) -> Sequence[Array]:
        """Return the indices and the sizes along the axes that are left."""
        axes = self.left(len(sizes))
        return indices[:, axes], sizes[axes]

    def left(self, rank: int) -> list[int]:
        """Return the axes that are left of so many."""
        axes = list(range(rank)) if self.asked is None else self.asked
        wrong = [a for a in axes if not -rank <= a < rank]
        if wrong:
            raise InvalidArgumentError(
                f"Invalid reduction dimension {wrong[0]}, for input with {rank} dimension(s)"
            )
        gone = {int(a) % rank for a in axes}
        return [i for i in range(rank) if i not in gone]

    def shaped(self, made: TfTensor) -> TfTensor:
        """Return a result with axes of one element where they were reduced."""
        if not self.keepdims:
            return made

        def compute(sizes: Array) -> Sequence[Array]:
            axes = self.left(len(sizes))
            return (np.array([n if i in axes else 1 for i, n in enumerate(sizes)], np.int64),)

        sizes = known_sizes(self.sp)
        if isinstance(sizes, list):
            return reshape(made, compute(np.array(sizes))[0].tolist())
        spec = unknown(rows.i64, self.rank)
        return reshape(made, host("SparseKeptSizes", compute, [sizes], [spec])[0])


def _sum(kept: Reduced) -> TfTensor:
    values = kept.sp.values
    if kept.whole:
        return REDUCTIONS["reduce_sum"](values)
    return added(kept.indices, values, kept.sizes)


def _max(kept: Reduced) -> TfTensor:
    """Return the largest of the elements that are given, zero where there are none."""
    values = kept.sp.values
    row = values.spec.dtype
    if kept.whole and are_here([values]) and values._array.size:
        return REDUCTIONS["reduce_max"](values)
    low = convert(-np.inf if row.is_float else row.minimum, row)
    if kept.whole:
        some = FUNCTIONS["greater"](shape(values)[0], 0)
        return where(some, REDUCTIONS["reduce_max"](values), zeros_like(low))
    start = fill(kept.sizes, low)
    made = tensor_scatter_nd_max(start, kept.indices, values)
    none = fill(kept.sizes, convert(0, "int32"))
    count = tensor_scatter_nd_add(none, kept.indices, ones_like(values, "int32"))
    return where(FUNCTIONS["greater"](count, 0), made, zeros_like(made))


def _reduction(
    compute: Callable[[Reduced], TfTensor], here: Callable[[Array, at_once.Left], Array]
) -> Callable[..., object]:
    def function(
        sp_input: object,
        axis: object = None,
        keepdims: bool | None = None,
        output_is_sparse: bool = False,
        name: str | None = None,
    ) -> object:
        """Reduce along axes, all of them if none is given."""
        sp = sparse_of(sp_input)
        if not output_is_sparse and are_here(sp.components()):
            given = [x._array for x in sp.components()]
            left = at_once.left_of(given, axis, keeps=bool(keepdims))
            if left is not None:
                return EagerTensor(here(given[1], left))
        with InGraph(graph_of([*sp.components()])):
            kept = Reduced(sp, axis, keepdims=bool(keepdims))
            made = compute(kept)
            return _sparse(kept, made) if output_is_sparse else kept.shaped(made)

    return function


def _sparse(kept: Reduced, made: TfTensor) -> SparseTensor:
    """Return a reduction as a sparse tensor of what there are elements for."""

    def compute(indices: Array, sizes: Array) -> Sequence[Array]:
        axes = kept.left(len(sizes))
        there = different(indices[:, axes])[0] if axes else np.zeros((1, 0), np.int64)
        if not kept.keepdims:
            return there, there, sizes[axes]
        wide = np.zeros((len(there), len(sizes)), np.int64)
        wide[:, axes] = there
        ends = np.array([n if i in axes else 1 for i, n in enumerate(sizes)], np.int64)
        return there, wide, ends

    left = None if kept.axes is None else len(kept.axes)
    rank = kept.rank if kept.keepdims else left
    count = unknown_dim()
    specs = [
        unknown(rows.i64, count, left),
        unknown(rows.i64, count, rank),
        unknown(rows.i64, rank),
    ]
    given = [kept.sp.indices, kept.sp.dense_shape]
    found, places, sizes = host("SparseReduced", compute, given, specs)
    values = reshape(made, [1]) if kept.whole else gather_nd(made, found)
    return SparseTensor(places, values, sizes)


reduce_sum = _reduction(_sum, at_once.sums)
reduce_max = _reduction(_max, at_once.largest)


def add(a: object, b: object, threshold: object = 0, name: str | None = None) -> object:
    """Add two tensors of which at least one is sparse; so is the sum if both are.

    What is smaller than the threshold is left out of a sparse sum.
    """
    a, b = (sparse_of(x) if isinstance(x, SparseTensorValue) else x for x in (a, b))
    both = [x for x in (a, b) if isinstance(x, SparseTensor)]
    if not both:
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if len(both) == 1:
        dense = b if both[0] is a else a
        return _add_dense(both[0], dense, name)
    return _add_sparse(both[0], both[1], threshold)


def _add_sparse(a: SparseTensor, b: SparseTensor, threshold: object) -> SparseTensor:
    with InGraph(graph_of([*a.components(), *b.components()])):
        group, places, total = _summed(_parts(a, b), _rank(a, b))
        limit = convert(threshold, None if hasattr(threshold, "spec") else _real(total))
        made = SparseTensor.trusted(places, total, a.dense_shape, a)
        if static(limit) == 0:
            return made
        small = FUNCTIONS["less"](FUNCTIONS["abs"](total), limit)
        count = expand_dims(shape(places, "int64")[0], 0)
        ones = scatter_nd(expand_dims(group, 1), ones_like(group), count)
        summed = FUNCTIONS["equal"](ones, 2)
        return _kept(made, FUNCTIONS["logical_not"](FUNCTIONS["logical_and"](small, summed)))


def _summed(both: Both, rank: int | None) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return which sum each element goes to, where the sums are, and the sums."""
    if are_here([*both[0], *both[1]]):
        (first, one, sizes), (second, two, dims) = [[x._array for x in part] for part in both]
        _refuse_other_sizes(sizes, dims)
        if len(sizes):
            to_one, to_two, places_ = interlaced(first, second)
            parts = at_once.sides(one, two, to_one, to_two, len(places_))
            total = FUNCTIONS["add"](*map(EagerTensor, parts))
            return EagerTensor(np.concatenate([to_one, to_two])), EagerTensor(places_), total
    order, group, places = _merged(both, rank, "SparseAdd", _merge)
    values = taken(concat([both[0][1], both[1][1]], 0), order)
    count = expand_dims(shape(places, "int64")[0], 0)
    return group, places, added(expand_dims(group, 1), values, count)


def _real(x: TfTensor) -> DType:
    """Return the type of absolute values."""
    row = x.spec.dtype
    if row.kind != "c":
        return row
    return rows.f32 if row.size == 8 else rows.f64


def _kept(sp: SparseTensor, keep: TfTensor) -> SparseTensor:
    def compute(indices: Array, sizes: Array, mask: Array) -> Moved:
        return indices[mask], np.flatnonzero(mask), sizes

    return moved("SparseKept", sp, compute, [keep], rank=sp.shape.rank, shape=sp.shape)


def _add_dense(sp: SparseTensor, dense: object, name: str | None) -> TfTensor:
    if dense.__class__ is EagerTensor and are_here([*sp.components(), dense]):
        found = at_once.added_to([x._array for x in sp.components()], dense._array)
        if found is not None:
            return EagerTensor(found)
    with InGraph(graph_of([*sp.components(), dense])):
        other = convert(dense, None if hasattr(dense, "spec") else sp.values.spec.dtype)
        if not other.shape.is_compatible_with(sp.shape):
            raise InvalidShapesError(_misfit(sp.shape.as_list(), other.shape.as_list()))
        if are_here([*sp.components(), other]):
            _refuse_outside(sp.indices._array, other._array.shape)
        return tensor_scatter_nd_add(other, sp.indices, sp.values, name=name)


def _misfit(one: Sequence[int | None], other: Sequence[int | None]) -> str:
    """Say where the shapes of a sparse and of a whole tensor differ."""
    if len(one) != len(other):
        return f"Two operands have different ranks; received: {len(one)} and {len(other)}"
    pairs = zip(one, other, strict=True)
    at = next(i for i, pair in enumerate(pairs) if None not in pair and pair[0] != pair[1])
    return (
        f"Dimension {at} does not equal (no broadcasting is supported): sparse side {one[at]} vs "
        f"dense side {other[at]}"
    )


def _refuse_outside(indices: Array, sizes: Sequence[int]) -> None:
    """Raise if an index is not one of a tensor of these sizes."""
    if indices.shape[1] != len(sizes) or is_inside(indices, sizes):
        return
    outside = (indices < 0) | (indices >= np.array(sizes))
    row, axis = np.argwhere(outside)[0].tolist()
    raise InvalidArgumentError(
        f"Sparse tensor has an invalid index on dimension {axis}: a_indices({row},{axis}) = "
        f"{indices[row, axis]}, dense tensor shape: {as_listed(sizes)}"
    )


Both = tuple[tuple[TfTensor, TfTensor, TfTensor], tuple[TfTensor, TfTensor, TfTensor]]
"""Indices, values and shape of two sparse tensors."""


def _parts(a: SparseTensor, b: SparseTensor) -> Both:
    return (a.indices, a.values, a.dense_shape), (b.indices, b.values, b.dense_shape)


def _merged(
    both: Both, rank: int | None, type_: str, merge: Callable[..., Sequence[Array]]
) -> list[TfTensor]:
    """Return how two lists of elements become one.

    That is an order of both, in it the place among the results of each, and their indices.
    """
    specs = [unknown(rows.i64, None), unknown(rows.i64, None), unknown(rows.i64, None, rank)]
    (first, _, one), (second, _, other) = both
    return host(type_, merge, [first, one, second, other], specs)


def _rank(a: SparseTensor, b: SparseTensor) -> int | None:
    return a.shape.rank if a.shape.rank is not None else b.shape.rank


def _merge_inside(first: Array, one: Array, second: Array, other: Array) -> Sequence[Array]:
    """Do the same of indices that have to be within the shapes."""
    _refuse_other_sizes(one, other)
    refuse_outside(first, one)
    refuse_outside(second, other)
    return _merge(first, one, second, other)


def _merge(first: Array, one: Array, second: Array, other: Array) -> Sequence[Array]:
    """Return the order of both lists, in it the place of each among the results, and their rows."""
    _refuse_other_sizes(one, other)
    order, fresh = interleaved(first, second)
    there = np.concatenate([first, second]).take(order[fresh], axis=0)
    return order, np.cumsum(fresh, dtype=np.int64) - 1, there


def _refuse_other_sizes(one: Array, other: Array) -> None:
    """Raise where two tensors have other sizes."""
    if len(one) != len(other):
        raise InvalidArgumentError(
            f"Operands do not have the same ranks; got shapes: {listed(one)} and {listed(other)}"
        )
    if (one != other).any():
        at = int(np.argmax(one != other))
        raise InvalidArgumentError(
            f"Operands' shapes do not match: got {one[at]} and {other[at]} for dimension {at}"
        )


def interleaved(first: Array, second: Array) -> tuple[Array, Array]:
    """Return an order of two lists of indices that are in order, and where a new index begins.

    What is not in order stays as it is: the smaller of the two next ones comes first.
    """
    found = numbered(first, second)
    if found is None:
        return _interleaved_slowly(first.tolist(), second.tolist())
    count = len(first) + len(second)
    order, fresh = np.empty(count + 1, np.int64), np.empty(count + 1, np.bool_)
    _interleave(*found[0], order, fresh)
    return order[:count], fresh[:count]


@serial
def _interleave(one: I64s, two: I64s, order: I64s, fresh: Flags) -> int:
    """Write the same of numbers; there is room for one more, which is written without a choice."""
    i, j, at = 0, 0, 0
    while i < len(one) and j < len(two):
        left, both = one[i] <= two[j], one[i] == two[j]
        order[at] = i if left else len(one) + j
        order[at + 1] = len(one) + j
        fresh[at], fresh[at + 1] = True, False
        at += 1 + both
        i += left
        j += 1 - left + both
    for rest in range(i, len(one)):
        order[at], fresh[at] = rest, True
        at += 1
    for rest in range(j, len(two)):
        order[at], fresh[at] = len(one) + rest, True
        at += 1
    return at


def _interleaved_slowly(one: list[list[int]], two: list[list[int]]) -> tuple[Array, Array]:
    order, fresh = [], []
    i = j = 0
    while i < len(one) or j < len(two):
        left = j == len(two) or (i < len(one) and one[i] <= two[j])
        both = left and j < len(two) and one[i] == two[j]
        order += [i, len(one) + j] if both else [i if left else len(one) + j]
        fresh += [True, False] if both else [True]
        i, j = i + left, j + (both or not left)
    return np.array(order, np.int64), np.array(fresh, bool)


def _extreme(type_: str, function: Callable[..., TfTensor]) -> Callable[..., SparseTensor]:
    def combine(both: Both, rank: int | None) -> tuple[TfTensor, TfTensor]:
        """Return where elements are, and what they are."""
        if are_here([*both[0], *both[1]]):
            (first, x, sizes), (second, y, dims) = [[z._array for z in part] for part in both]
            _refuse_other_sizes(sizes, dims)
            refuse_outside(first, sizes)
            refuse_outside(second, dims)
            if len(sizes):
                to_one, to_two, places_ = interlaced(first, second)
                parts_ = at_once.sides(x, y, to_one, to_two, len(places_))
                return EagerTensor(places_), function(*map(EagerTensor, parts_))
        order, group, places = _merged(both, rank, type_, _merge_inside)
        (_, one, _), (_, other, _) = both
        count, at = expand_dims(shape(places, "int64")[0], 0), expand_dims(group, 1)
        sides = [
            scatter_nd(at, taken(concat(parts, 0), order), count)
            for parts in ([one, zeros_like(other)], [zeros_like(one), other])
        ]
        return places, function(*sides)

    def made(sp_a: object, sp_b: object, name: str | None = None) -> SparseTensor:
        """Combine two sparse tensors of one shape; what one has not is zero there."""
        a, b = sparse_of(sp_a, "sp_a"), sparse_of(sp_b, "sp_b")
        with InGraph(graph_of([*a.components(), *b.components()])):
            places, values = combine(_parts(a, b), _rank(a, b))
            return SparseTensor.trusted(places, values, a.dense_shape, a)

    return made


maximum = _extreme("SparseSparseMaximum", FUNCTIONS["maximum"])
minimum = _extreme("SparseSparseMinimum", FUNCTIONS["minimum"])


def softmax(sp_input: object, name: str | None = None) -> SparseTensor:
    """Return the softmax along the last axis of the elements that there are."""
    sp = sparse_of(sp_input)
    if sp.shape.rank is not None and sp.shape.rank < 2:
        raise InvalidArgumentError(f"Input should have rank >= 2, but got: {sp.shape.rank}")
    with InGraph(graph_of(sp.components())):
        if are_here(sp.components()) and sp.values._array.dtype.kind == "f":
            made = EagerTensor(at_once.shares(sp.indices._array, sp.values._array))
            return SparseTensor.trusted(sp.indices, made, sp.dense_shape, sp)
        return sp.with_values(_shares(sp.indices, sp.values, sp.dense_shape, name))


def _shares(indices: TfTensor, values: TfTensor, sizes: TfTensor, name: str | None) -> TfTensor:
    """Return the powers of values over their sum, of those whose places differ in the last axis."""

    def compute(indices: Array, sizes: Array) -> Sequence[Array]:
        found = different(indices[:, :-1])[1]
        return found, np.array(found.max(initial=-1) + 1, np.int64)

    specs = [unknown(rows.i64, None), unknown(rows.i64)]
    group, count = host("SparseRows", compute, [indices, sizes], specs, name=name)
    top = scatter_max(values, group, count)
    powers = FUNCTIONS["exp"](FUNCTIONS["subtract"](values, taken(top, group)))
    total = scatter_nd(expand_dims(group, 1), powers, expand_dims(count, 0))
    return truediv(powers, taken(total, group))


def scatter_max(values: TfTensor, group: TfTensor, count: TfTensor) -> TfTensor:
    """Return the largest value of each group."""
    low = convert(-np.inf, values.spec.dtype)
    return tensor_scatter_nd_max(fill(expand_dims(count, 0), low), expand_dims(group, 1), values)


def map_values(op: Callable[..., object], *args: object, **kwargs: object) -> SparseTensor:
    """Return what a function gives for the elements of sparse tensors with the same indices."""
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = given[0]
    inner = [x.values if isinstance(x, SparseTensor) else x for x in args]
    named = {k: x.values if isinstance(x, SparseTensor) else x for k, x in kwargs.items()}
    for other in given[1:]:
        _assert_same_places(first, other)
    return first.with_values(op(*inner, **named))


def _assert_same_places(a: SparseTensor, b: SparseTensor) -> None:
    """Raise unless elements stand at the same places, as far as that is known."""
    for x, y in ((a.indices, b.indices), (a.dense_shape, b.dense_shape)):
        one, other = static(x), static(y)
        if isinstance(one, list) and isinstance(other, list) and one != other:
            raise InvalidArgumentError(
                "SparseTensor's indices or dense_shape differ: expected those of the first one"
            )


def to_indicator(sp_input: object, vocab_size: int, name: str | None = None) -> TfTensor:
    """Return for each number up to a size whether it is among the elements of a row."""
    sp = sparse_of(sp_input)
    if sp.values.spec.dtype not in (rows.i32, rows.i64):
        raise TypeError("Input sp_input must have integer values")
    with InGraph(graph_of(sp.components())):

        def compute(indices: Array, values: Array, sizes: Array) -> Sequence[Array]:
            wrong = (values < 0) | (values >= vocab_size)
            if wrong.any():
                raise InvalidArgumentError(
                    f"a value of sp_input is {values[np.argmax(wrong)]}, expected one in [0, "
                    f"{vocab_size})"
                )
            there = np.concatenate([indices[:, :-1], values[:, None].astype(np.int64)], axis=1)
            return different(there)[0], np.array([*sizes[:-1], vocab_size], np.int64)

        rank = sp.shape.rank
        specs = [unknown(rows.i64, None, rank), unknown(rows.i64, rank)]
        places, sizes = host("SparseToIndicator", compute, sp.components(), specs, name=name)
        there = fill(shape(places)[:1], convert(True))
        return whole(places, sizes, there, False, validates=False)
