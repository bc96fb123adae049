"""Rows as sets, and the distance between sequences: `tf.sets`, `tf.edit_distance`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ....codegen.serial.function import F32s, I64s, serial
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ..core.bridge import TfTensor
from ..core.host_ops import host, of_elements, unknown
from ..core.shapes import TensorShape
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from .sparse_tensor import SparseTensor, SparseTensorValue

Row = tuple[Array, Array]
"""Of some values: which row each is in, and a number for it, in the order of values."""
DIFFERENCE, INTERSECTION, UNION = range(3)
INFINITE = float("inf")


def _rows(indices: Array, outer: Array) -> Array:
    """Return which row each place is in; -1 for those that are outside."""
    made = np.empty(len(indices), np.int64)
    _number(np.ascontiguousarray(indices, np.int64), outer, made)
    return made


@serial
def _number(indices: I64s, outer: I64s, made: I64s) -> int:
    """Say which row each place is in."""
    width = len(outer) + 1
    for i in range(len(made)):
        row, inside = 0, True
        for axis in range(len(outer)):
            at = indices[i * width + axis]
            inside = inside and 0 <= at < outer[axis]
            row = row * outer[axis] + at
        made[i] = row if inside else -1
    return 0


def _numbers(values: Sequence[Array]) -> tuple[list[Array], Array | None]:
    """Return numbers that are in the order of values, and what each stands for if not itself."""
    if all(x.dtype.kind in "biu" and x.dtype != np.uint64 for x in values):
        return [np.ascontiguousarray(x, np.int64) for x in values], None
    every, found = np.unique(np.concatenate(values), return_inverse=True, equal_nan=False)
    return np.split(found.reshape(-1), np.cumsum([len(x) for x in values])[:-1]), every


def _sorted(rows: Array, numbers: Array) -> Row:
    """Return values row by row, and in each in order."""
    order = np.lexsort((numbers, rows))
    return rows[order], numbers[order]


@serial
def _is_sorted(rows: I64s, numbers: I64s) -> int:
    """Say whether values stand row by row, and in each in order."""
    for i in range(1, len(rows)):
        if rows[i - 1] > rows[i] or (rows[i - 1] == rows[i] and numbers[i - 1] > numbers[i]):
            return 0
    return 1


@serial
def _merge(
    a_rows: I64s, a: I64s, b_rows: I64s, b: I64s, kind: int, rows: I64s, columns: I64s, made: I64s
) -> int:
    """Combine the values of rows, which are in order; return how many are left."""
    i, j, count = 0, 0, 0
    while i < len(a) or j < len(b):
        has_a, has_b = i < len(a), j < len(b)
        if has_a and has_b:
            before = a_rows[i] < b_rows[j] or (a_rows[i] == b_rows[j] and a[i] < b[j])
            behind = a_rows[i] > b_rows[j] or (a_rows[i] == b_rows[j] and a[i] > b[j])
            has_a, has_b = not behind, not before
        row, value = (a_rows[i], a[i]) if has_a else (b_rows[j], b[j])
        while i < len(a) and a_rows[i] == row and a[i] == value:
            i += 1
        while j < len(b) and b_rows[j] == row and b[j] == value:
            j += 1
        wanted = has_a and has_b
        if kind != INTERSECTION:
            wanted = kind == UNION or (has_a and not has_b)
        if wanted:
            column = 0
            if count and rows[count - 1] == row:
                column = columns[count - 1] + 1
            rows[count], columns[count], made[count] = row, column, value
            count += 1
    return count


Parts = tuple[Array, Array, Array]
"""The indices, values and extents of a tensor."""


def _whole(array: Array) -> Parts:
    """Return a dense array, all of whose elements count."""
    places = np.indices(array.shape, np.int64).reshape(array.ndim, -1).T
    return places, array.ravel(), np.array(array.shape, np.int64)


def _combined(kind: int, left: Parts, right: Parts) -> tuple[Parts, Array]:
    """Return the values of rows that are left, and the row of each."""
    outer = np.maximum(left[2][:-1], right[2][:-1])
    sides, meaning = _numbers([left[1], right[1]])
    rows = [_rows(x[0], outer) for x in (left, right)]
    each = [x if _is_sorted(*x) else _sorted(*x) for x in zip(rows, sides, strict=True)]
    room = np.empty((3, len(left[1]) + len(right[1])), np.int64)
    count = _merge(*each[0], *each[1], kind, room[0], room[1], room[2])
    found, columns, values = room[:, :count]
    places = [found] if len(outer) == 1 else np.unravel_index(found, outer)
    most = int(columns.max()) + 1 if count else 0
    made = values if meaning is None else meaning[values]
    parts = np.stack([*places, columns], 1), made.astype(left[1].dtype), np.array([*outer, most])
    return parts, found


def size(a: object, validate_indices: bool = True) -> TfTensor:
    """Return how many different values each row of a sparse tensor has."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")

    def compute(indices: Array, values: Array, extents: Array) -> Sequence[Array]:
        outer = extents[:-1]
        none = (indices[:0], values[:0], extents)
        _, found = _combined(UNION, (indices, values, extents), none)
        counts = np.bincount(found, minlength=math.prod(outer.tolist()))
        return (counts.astype(np.int32).reshape(outer),)

    rank = a.shape.rank
    spec = unknown(rows.i32, *[None] * (rank - 1)) if rank else TensorSpec(rows.i32, None)
    return host("SetSize", compute, a.components(), [spec])[0]


def difference(
    a: object, b: object, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """Return the values of rows of `a` that are not in those of `b`, or the other way round."""
    sides = (a, b) if aminusb else (b, a)
    return _difference(*sides, validate_indices)


def _operation(type_: str, kind: int) -> Callable[..., SparseTensor]:
    def function(a: object, b: object, validate_indices: bool = True) -> SparseTensor:
        """Combine the values of rows at the same place, in order."""
        del validate_indices  # rows are sets here, in whatever order they come
        given: list[TfTensor] = []
        with InGraph(graph_of([x for v in (a, b) for x in _parts(v)])):
            for value in (a, b):
                given += value.components() if isinstance(value, SparseTensor) else [convert(value)]
        is_sparse = isinstance(a, SparseTensor), isinstance(b, SparseTensor)

        def compute(*arrays: Array) -> Sequence[Array]:
            each = iter(arrays)
            sides = [
                (next(each), next(each), next(each)) if s else _whole(next(each)) for s in is_sparse
            ]
            return _combined(kind, *sides)[0]

        rank = a.shape.rank if isinstance(a, SparseTensor) else convert(a).shape.rank
        row = given[1 if is_sparse[0] else 0].spec.dtype
        specs = of_elements(row, rank)
        return SparseTensor(*host(type_, compute, given, specs))

    return function


def _parts(value: object) -> Sequence[object]:
    return value.components() if isinstance(value, SparseTensor) else [value]


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True,
    name: str | None = "edit_distance",
) -> TfTensor:  # fmt: skip
    """Return how many values have to be put in, left out or changed (Levenshtein).

    With `normalize`, for each value of `truth`.
    """
    if not all(isinstance(x, SparseTensor | SparseTensorValue) for x in (hypothesis, truth)):
        raise TypeError("Expected hypothesis and truth to be SparseTensors")
    hypothesis, truth = [
        x if isinstance(x, SparseTensor) else SparseTensor.from_value(x)
        for x in (hypothesis, truth)
    ]

    def compute(*arrays: Array) -> Sequence[Array]:
        outer = np.maximum(arrays[2], arrays[5])[:-1]
        numbers, _ = _numbers([arrays[1], arrays[4]])
        sides: list[Array] = []
        for each, values in zip((_rows(arrays[i], outer) for i in (0, 3)), numbers, strict=True):
            sides += (each, values) if _is_sorted(each, each) else _in_rows(each, values)
        made, costs = np.empty(outer, np.float32), np.empty(len(numbers[1]) + 1, np.int64)
        _distances(*sides, costs, made, int(normalize))
        return (made,)

    pair = hypothesis, truth
    tensors = [*hypothesis.components(), *truth.components()]

    def specs(_: object) -> Sequence[TensorSpec]:
        return [_outer(*[x.shape for x in pair])]

    return host("EditDistance", compute, tensors, specs, name=name)[0]


def _outer(one: TensorShape, other: TensorShape) -> TensorSpec:
    """Return what is known of a number for each of the rows of two tensors."""
    if one.rank is None and other.rank is None:
        return TensorSpec(rows.f32, None)
    sizes = [shape.as_list()[:-1] for shape in (one, other) if shape.rank is not None]
    pairs = zip(sizes[0], sizes[-1], strict=True)
    return unknown(rows.f32, *[None if a is None or b is None else max(a, b) for a, b in pairs])


def _in_rows(rows: Array, values: Array) -> Row:
    """Return values row by row, those of each in the order they come in."""
    order = np.argsort(rows, kind="stable")
    return rows[order], values[order]


@serial
def _distances(
    a_rows: I64s, a: I64s, b_rows: I64s, b: I64s, costs: I64s, made: F32s, normalize: int
) -> int:
    """Make the distance between the values of each row."""
    i, j = 0, 0
    while i < len(a) and a_rows[i] < 0:
        i += 1
    while j < len(b) and b_rows[j] < 0:
        j += 1
    for row in range(len(made)):
        first, second = i, j
        while i < len(a) and a_rows[i] == row:
            i += 1
        while j < len(b) and b_rows[j] == row:
            j += 1
        found = float(_distance(a, first, i, b, second, j, costs))
        if normalize:
            found = found / (j - second) if j > second else INFINITE if i > first else 0.0
        made[row] = found
    return 0


def _distance(a: I64s, first: int, i: int, b: I64s, second: int, j: int, costs: I64s) -> int:
    """Return how many values have to change, where what each costs has room (Levenshtein)."""
    count = j - second
    for k in range(count + 1):
        costs[k] = k
    for m in range(first, i):
        before = costs[0]
        costs[0] = m - first + 1
        for k in range(count):
            changed = before + (a[m] != b[second + k])
            before = costs[k + 1]
            costs[k + 1] = min(changed, 1 + min(costs[k], before))
    return int(costs[count])


_difference = _operation("SetDifference", DIFFERENCE)
sets = Space(
    "sets",
    difference=difference,
    intersection=_operation("SetIntersection", INTERSECTION),
    union=_operation("SetUnion", UNION),
    size=size,
)
FIRST_SETS: dict[str, object] = {
    "set_difference": sets.difference,
    "set_intersection": sets.intersection,
    "set_size": size,
    "set_union": sets.union,
}
"""What the names of the first version add."""
__all__ = ["FIRST_SETS", "edit_distance", "sets"]
