"""Rows as sets, and the distance between sequences: `tf.sets`, `tf.edit_distance`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.shapes import TensorShape
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from .sparse_tensor import SparseTensor, SparseTensorValue

Sets = dict[tuple[int, ...], list[object]]
"""By the place of a row: its different values in order."""


def _grouped(indices: Array, values: Array) -> Sets:
    made: dict[tuple[int, ...], set[object]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        made.setdefault(tuple(place), set()).add(value)
    return {place: sorted(found) for place, found in made.items()}  # type: ignore[type-var]


def _whole(array: Array) -> tuple[Array, Array, Array]:
    """Return indices, values and extents of a dense array, all of whose elements count."""
    places = np.argwhere(np.ones(array.shape, bool)).astype(np.int64)
    return places, array.ravel(), np.array(array.shape, np.int64)


def size(a: object, validate_indices: bool = True) -> TfTensor:
    """Return how many different values each row of a sparse tensor has."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")

    def compute(indices: Array, values: Array, extents: Array) -> Sequence[Array]:
        made = np.zeros(tuple(extents[:-1].tolist()), np.int32)
        for place, found in _grouped(indices, values).items():
            made[place] = len(found)
        return (made,)

    rank = a.shape.rank
    spec = unknown(rows.i32, *[None] * (rank - 1)) if rank else TensorSpec(rows.i32, None)
    return host("SetSize", compute, a.components(), [spec])[0]


def _operation(
    type_: str, combine: Callable[[set[object], set[object]], set[object]]
) -> Callable[..., SparseTensor]:
    def function(
        a: object, b: object, aminusb: bool = True, validate_indices: bool = True
    ) -> SparseTensor:
        """Combine the values of rows at the same place, in order."""
        del validate_indices  # rows are sets here, in whatever order they come
        if not aminusb:
            a, b = b, a
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
            return _combined(combine, *sides)

        rank = a.shape.rank if isinstance(a, SparseTensor) else convert(a).shape.rank
        row = given[1 if is_sparse[0] else 0].spec.dtype
        specs = [unknown(rows.i64, None, rank), unknown(row, None), unknown(rows.i64, rank)]
        return SparseTensor(*host(type_, compute, given, specs))

    return function


def _parts(value: object) -> Sequence[object]:
    return value.components() if isinstance(value, SparseTensor) else [value]


def _combined(
    combine: Callable[[set[object], set[object]], set[object]],
    left: tuple[Array, Array, Array],
    right: tuple[Array, Array, Array],
) -> Sequence[Array]:
    a, b = _grouped(*left[:2]), _grouped(*right[:2])
    places: list[tuple[int, ...]] = []
    values: list[object] = []
    most = 0
    for place in sorted({*a, *b}):
        found = sorted(combine(set(a.get(place, ())), set(b.get(place, ()))))  # type: ignore[type-var]
        places += [(*place, i) for i in range(len(found))]
        values += found
        most = max(most, len(found))
    outer = np.maximum(left[2][:-1], right[2][:-1])
    made = np.empty(len(values), left[1].dtype)
    made[:] = values
    indices = np.array(places, np.int64).reshape(-1, len(outer) + 1)
    return indices, made, np.array([*outer, most], np.int64)


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True,
    name: str | None = "edit_distance",
) -> TfTensor:  # fmt: skip
    """Return how many values have to be put in, left out or changed (Levenshtein).

    With `normalize`, for each value of `truth`.
    """
    if not all(isinstance(x, SparseTensor | SparseTensorValue) for x in (hypothesis, truth)):
        raise TypeError("Expected hypothesis and truth to be SparseTensors")
    hypothesis, truth = map(SparseTensor.from_value, (hypothesis, truth))

    def compute(*arrays: Array) -> Sequence[Array]:
        sides = [_sequences(*arrays[i : i + 2]) for i in (0, 3)]
        extents = np.maximum(arrays[2], arrays[5])[:-1]
        made = np.zeros(tuple(extents.tolist()), np.float32)
        for place in np.ndindex(*made.shape):
            given, wanted = (side.get(place, []) for side in sides)
            found = _distance(given, wanted)
            if normalize:
                made[place] = found / len(wanted) if wanted else (np.inf if given else 0.0)
            else:
                made[place] = found
        return (made,)

    spec = _outer(hypothesis.shape, truth.shape)
    tensors = [*hypothesis.components(), *truth.components()]
    return host("EditDistance", compute, tensors, [spec], name=name)[0]


def _outer(one: TensorShape, other: TensorShape) -> TensorSpec:
    """Return what is known of a number for each of the rows of two tensors."""
    if one.rank is None and other.rank is None:
        return TensorSpec(rows.f32, None)
    sizes = [shape.as_list()[:-1] for shape in (one, other) if shape.rank is not None]
    pairs = zip(sizes[0], sizes[-1], strict=True)
    return unknown(rows.f32, *[None if a is None or b is None else max(a, b) for a, b in pairs])


def _sequences(indices: Array, values: Array) -> Sets:
    made: Sets = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        made.setdefault(tuple(place), []).append(value)
    return made


def _distance(a: Sequence[object], b: Sequence[object]) -> int:
    costs = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, costs[0] = costs[0], i
        for j, y in enumerate(b, 1):
            before, costs[j] = costs[j], min(costs[j] + 1, costs[j - 1] + 1, before + (x != y))
    return costs[-1]


sets = Space(
    "sets",
    difference=_operation("SetDifference", lambda a, b: a - b),
    intersection=_operation("SetIntersection", lambda a, b: a & b),
    union=_operation("SetUnion", lambda a, b: a | b),
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
