"""Host steps that select: how many elements they give depends on data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...errors import RuntimeInputError
from ..demands import at_most
from ..families import expect_same
from ..host import HostOp, label, one_of
from ..op import Array, Op, register
from ..types.dims import Dim
from ..types.dtypes import f32, i64
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec
from .layout import check_axis


def places(x: Array) -> Array:
    """Return a row of indices for each element that is not 0, in row-major order.

    >>> places(np.array([[0, 3], [5, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    rest = x.astype(np.bool_, copy=False).ravel().nonzero()[0]
    if x.ndim <= 1:
        return rest.reshape(-1, 1)[:, : x.ndim]
    made = np.empty((len(rest), x.ndim), np.int64)
    for axis in range(x.ndim - 1, 0, -1):  # numpy's own search over several axes takes 6 times this
        above = rest // x.shape[axis]
        np.subtract(rest, above * x.shape[axis], out=made[:, axis])
        rest = above
    made[:, :1] = rest.reshape(-1, 1)
    return made


@register
class NonZero(HostOp):
    """The places of the elements that are not 0, each a column, in row-major order."""

    name = "gv.non_zero"
    MOVES: ClassVar = True
    COUNTS: ClassVar = True

    @classmethod
    def infer(cls, x: TensorSpec, *, sizes: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return a row for each axis."""
        return (TensorSpec(i64, (max(x.rank, 1), one_of(sizes))),)

    @classmethod
    def evaluate(cls, x: Array, *, sizes: Any = ()) -> Sequence[Array]:
        """Find them."""
        return (np.ascontiguousarray(places(np.atleast_1d(x)).T),)


@register
class Leading(HostOp):
    """The first slices along the first axis, as many as a number says."""

    name = "gv.leading"
    MOVES: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, count: TensorSpec, *, sizes: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the operand's shape with another first extent."""
        if x.rank == 0 or count.shape != () or not count.dtype.is_integer:
            raise TypeError(f"{count} slices of {x}, expected a number of slices of an axis")
        return (x.with_shape((one_of(sizes), *x.dims[1:])),)

    @classmethod
    def evaluate(cls, x: Array, count: Array, *, sizes: Any = ()) -> Sequence[Array]:
        """Cut."""
        return (x[: int(count)],)


@register
class Told(Op):
    """The first slices along the first axis, as many as a number says that compiled code computes.

    It is `gv.leading` without a host: from here on the run knows the symbol. A number below 0 means
    none, one above the extent means all. Where `most` is given, a run ends that is told more.
    """

    name = "gv.told"
    PURE: ClassVar = False
    WORKLESS: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, count: TensorSpec, *, sizes: tuple[Dim, ...], most: int | None = None
    ) -> Sequence[TensorSpec]:
        """Return the operand's shape with another first extent."""
        if count.dtype != i64:
            raise TypeError(f"{count} slices, expected a number of i64")
        if most is not None:
            at_most(one_of(sizes), most, f"a computed size, expected 0 to {most}")
        return Leading.infer(x, count, sizes=sizes)

    @classmethod
    def evaluate(
        cls, x: Array, count: Array, *, sizes: Any = (), most: int | None = None
    ) -> Sequence[Array]:
        """Cut."""
        if most is not None and not 0 <= int(count) <= most:
            raise RuntimeInputError(f"a computed size {int(count)}, expected 0 to {most}")
        return (x[: max(int(count), 0)],)

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Evaluate, and give the symbol its value."""
        results = self.evaluate(*operands, most=self.plain_attributes()["most"])
        machine.bind(self.result_specs[0], results[0], label(self), self)
        return results


@register
class Unique(HostOp):
    """The distinct slices of an axis, or of all elements: where each first is, and how often.

    Results: the slices, the place of the first of each, for each slice of the operand its place
    in the result, and the counts. Sorted, or else in the order of the first places.
    """

    name = "gv.unique"
    MOVES: ClassVar = True
    COUNTS: ClassVar = True

    @classmethod
    def infer(
        cls, x: TensorSpec, *, sizes: tuple[Dim, ...], axis: int | None = None, sorted: bool = True
    ) -> Sequence[TensorSpec]:
        """Return the operand's shape with another extent, and vectors."""
        count = one_of(sizes)
        places = TensorSpec(i64, (count,))
        if axis is None:
            return (x.with_shape((count,)), places, TensorSpec(i64, (x.size,)), places)
        check_axis(axis, x.rank)
        slices = x.with_shape((*x.dims[:axis], count, *x.dims[axis + 1 :]))
        return (slices, places, TensorSpec(i64, (x.dims[axis],)), places)

    @classmethod
    def evaluate(
        cls, x: Array, *, sizes: Any = (), axis: int | None = None, sorted: bool = True
    ) -> Sequence[Array]:
        """Sort, and take the first of each."""
        wide = x.astype(np.float32) if x.dtype.kind == "V" else x
        if axis is None:
            first, inverse, counts = numbered(wide.ravel())
        else:
            first, inverse, counts = numbered_rows(np.moveaxis(wide, axis, 0))
        if not sorted:
            order = np.argsort(first, kind="stable")
            place = np.argsort(order, kind="stable")
            first, counts, inverse = first[order], counts[order], place[inverse]
        values = x.ravel()[first] if axis is None else np.take(x, first, axis)
        vectors = (first, inverse, counts)
        return (values, *(np.asarray(v, np.int64) for v in vectors))


def numbered(x: Array) -> tuple[Array, Array, Array]:
    """Return of the distinct elements of a vector, in order, where each first is; see `Unique`.

    All NaN are one. numpy's own search keeps the order of equal elements, which takes longer.

    >>> [each.tolist() for each in numbered(np.array([7, 3, 7]))]
    [[1, 0], [1, 0, 1], [1, 2]]
    """
    close = _numbered_close(x) if x.size >= SOME and x.dtype.kind in "iu" else None
    if close is not None:
        return close
    few = _numbered_few(x) if x.size >= MANY and x.dtype.kind in "biuf" else None
    if few is not None:
        return few
    order = x.argsort()
    ordered = x[order]
    starts_new = np.ones(x.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=starts_new[1:])
    if x.dtype.kind in "fc" and x.size and ordered[-1] != ordered[-1]:
        starts_new[1:] &= ~np.isnan(ordered[:-1])
    return _counted(order, starts_new)


MANY, HEAD, SHARE = 1 << 10, 1 << 8, 8
"""Of so many elements the first ones are looked at: whether they are a part of as many values."""


SOME = 1 << 8
"""So many whole numbers are counted, where their range is no larger than there are of them."""


def _numbered_close(x: Array) -> tuple[Array, Array, Array] | None:
    """Return the same of whole numbers that are close to each other; else None."""
    low, high = int(x.min()), int(x.max())
    if high - low >= x.size:
        return None
    places = x.astype(np.int64) - low if high < 1 << 63 else (x - x.dtype.type(low)).view(np.int64)
    counts = np.bincount(places)
    (known,) = counts.nonzero()
    first, numbers = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64)
    first[places[::-1]] = np.arange(x.size - 1, -1, -1)  # what is written last is the first place
    numbers[known] = np.arange(len(known))
    return first[known], numbers[places], counts[known]


def _numbered_few(x: Array) -> tuple[Array, Array, Array] | None:
    """Return the same of many elements of few values, which need not be sorted; else None."""
    first, _, _ = numbered(x[:HEAD])
    known = x[first]
    if len(known) * SHARE > HEAD or known[-1] != known[-1]:
        return None
    inverse = np.minimum(known.searchsorted(x), len(known) - 1)
    (rest,) = (known[inverse] != x).nonzero()
    if len(rest) * SHARE > len(x):
        return None
    if len(rest):
        more, numbers, _ = numbered(x[rest])
        inverse[rest] = numbers + len(known)
        first = np.concatenate([first, rest[more]])
        order = x[first].argsort()
        inverse, first = order.argsort()[inverse], first[order]
    return first, inverse, np.bincount(inverse)


def numbered_rows(x: Array) -> tuple[Array, Array, Array]:
    """Return the same of the slices along the first axis; NaN are none of them equal."""
    rows = x.reshape(len(x), prod(x.shape[1:]))
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    ordered = rows[order]
    starts_new = np.ones(len(rows), np.bool_)
    starts_new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    return _counted(order, starts_new)


def _counted(order: Array, starts_new: Array) -> tuple[Array, Array, Array]:
    """Return first places, numbers and counts of stretches of equal elements."""
    (starts,) = starts_new.nonzero()
    inverse = np.empty(order.size, np.int64)
    inverse[order] = starts_new.cumsum() - 1
    first = np.minimum.reduceat(order, starts) if order.size else order
    counts = np.empty(starts.size, np.int64)
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    counts[-1:] = order.size - starts[-1:]
    return first, inverse, counts


@register
class NonMaxSuppression(HostOp):
    """The boxes that stand out: of those that overlap too much only the one of the best score.

    Boxes of shape batch, boxes, 4; scores of shape batch, classes, boxes. Each row of the result
    is a batch, a class and a box. A box of score `score_threshold` or less is left out.
    """

    name = "gv.non_max_suppression"
    COUNTS: ClassVar = True

    @classmethod
    def infer(
        cls,
        boxes: TensorSpec,
        scores: TensorSpec,
        most: TensorSpec,
        iou_threshold: TensorSpec,
        score_threshold: TensorSpec,
        *,
        sizes: tuple[Dim, ...],
        center: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return as many rows of three as there are boxes left."""
        expect_same(boxes, scores, TensorSpec(f32, ()))
        if boxes.rank != 3 or scores.rank != 3 or boxes.dims[2] != 4:
            raise TypeError(f"boxes {boxes} and scores {scores}")
        for one, other in zip(boxes.dims[:2], (scores.dims[0], scores.dims[2]), strict=True):
            if one != other:
                raise UnequalError(f"boxes {boxes} do not fit scores {scores}", one, other)
        return (TensorSpec(i64, (one_of(sizes), 3)),)

    @classmethod
    def evaluate(
        cls,
        boxes: Array,
        scores: Array,
        most: Array,
        iou_threshold: Array,
        score_threshold: Array,
        *,
        sizes: Any = (),
        center: bool = False,
    ) -> Sequence[Array]:
        """Take the best box again and again, and drop those that it overlaps."""
        limit, overlap = int(most.item()), np.float32(iou_threshold.item())
        rows: list[tuple[int, int, int]] = []
        for batch, box in enumerate(corners(boxes, center=center)):
            for kind, score in enumerate(scores[batch]):
                order = np.argsort(-score, kind="stable")
                order = order[score[order] > score_threshold.item()]
                kept = suppressed(box, order, limit, overlap)
                rows += [(batch, kind, int(place)) for place in kept]
        return (np.array(rows, np.int64).reshape(-1, 3),)


def corners(boxes: Array, *, center: bool) -> Array:
    """Return boxes as y and x of one corner and the opposite, the lower one first."""
    if center:
        x, y, width, height = np.moveaxis(boxes, -1, 0)
        low, high = (y - height / 2, x - width / 2), (y + height / 2, x + width / 2)
    else:
        first, second = boxes[..., :2], boxes[..., 2:]
        low = tuple(np.moveaxis(np.minimum(first, second), -1, 0))
        high = tuple(np.moveaxis(np.maximum(first, second), -1, 0))
    return np.stack([*low, *high], -1)


def overlaps(box: Array, others: Array) -> Array:
    """Return which part of what a box and each of others cover both cover; 0 without an area.

    The lower corner comes first. Of several boxes along an axis before, it is a table.
    """
    top, left, bottom, right = np.ascontiguousarray(np.moveaxis(box, -1, 0))
    other_top, other_left, other_bottom, other_right = np.ascontiguousarray(
        np.moveaxis(others, -1, 0)
    )
    height = np.minimum(bottom, other_bottom) - np.maximum(top, other_top)
    width = np.minimum(right, other_right) - np.maximum(left, other_left)
    common = np.maximum(height, 0) * np.maximum(width, 0)
    areas = (other_bottom - other_top) * (other_right - other_left)
    union = (bottom - top) * (right - left) + areas - common
    share: Array = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return share


BLOCK = 64
"""So many boxes are compared with all others at a time."""


def suppressed(boxes: Array, order: Array, limit: int, overlap: Any) -> list[int]:
    """Return the places of at most `limit` boxes, in the order of their scores."""
    kept: list[int] = []
    while order.size and len(kept) < limit:
        block, rest = order[:BLOCK], order[BLOCK:]
        near = ~(overlaps(boxes[block][:, None], boxes[block]) <= overlap)
        gone, found = np.zeros(len(block), np.bool_), list[int]()
        for place in range(len(block)):
            if not gone[place]:
                found.append(place)
                gone |= near[place]
        best = block[found]
        kept += best.tolist()
        order = rest[(overlaps(boxes[best][:, None], boxes[rest]) <= overlap).all(0)]
    return kept[:limit]
