"""Elements and rows of ragged tensors by their numbers."""

from __future__ import annotations

import numpy as np

from ....ir.op import Array
from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.values import static
from ..ops import array_ops as a
from ..ops import gathering as g
from ..ops import math_ops as m
from ..ops import window_ops as w
from ..ops.creation import one_hot, range_, zeros
from ..ops.older import batch_gather
from .elementwise import chosen
from .moving import concat, expand_dims, same_rows
from .planning import assembled, levels_of, planned, with_levels
from .rows import Rows, expanded
from .tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph


def _checked(numbers: Array, limits: Array | int) -> Array:
    """Return numbers that are in their range, or raise."""
    wrong = (numbers < 0) | (numbers >= limits)
    if wrong.any():
        at = int(np.argmax(wrong))
        limit = np.broadcast_to(limits, numbers.shape)[at]
        raise InvalidArgumentError(f"indices[{at}] = {numbers[at]} is not in [0, {limit})")
    return numbers


BATCH = "batch shape from indices does not match params shape"


def taken(params: Rows, wanted: Rows, batch: int) -> Rows:
    """Return rows by the numbers in rows of them: of each row of so many outer axes its own."""
    if batch == 0:
        return params.take(_checked(wanted.places, len(params))).over(wanted.splits)
    if len(wanted) != len(params):
        raise InvalidArgumentError(f"{BATCH}: {len(wanted)} rows against {len(params)}")
    if batch > 1:
        if (wanted.splits[0] != params.splits[0]).any():
            raise InvalidArgumentError(BATCH)
        return taken(params.below, wanted.below, batch - 1).over(wanted.splits[:1])
    owner = np.arange(len(wanted))
    below = wanted
    while below.splits:
        owner, below = owner[below.row_numbers()], below.below
    places = _checked(wanted.places, params.counts[owner]) + params.splits[0][:-1][owner]
    return taken(params.below, Rows(wanted.splits, places), 0)


def repeated(wanted: Rows, params: Rows, depth: int) -> Rows:
    """Return numbers once for each row of the axis behind so many ones."""
    if depth == 0:
        return expanded(wanted, 0).take(np.zeros(len(params), np.int64))
    if depth == 1:
        return wanted.take(params.row_numbers()).over(params.splits[:1])
    return repeated(wanted.below, params.below, depth - 1).over(params.splits[:1])


def one_each(wanted: Rows, params: Rows, depth: int, batch: int) -> Rows:
    """Return for each row of the axis behind so many ones the number of its batch."""
    level, owner = params, np.zeros(len(params), np.int64)
    for number in range(depth - 1):
        owner = np.arange(len(level)) if number == batch - 1 else owner
        owner, level = owner[level.row_numbers()], level.below
    owner = np.arange(len(level)) if depth == batch else owner
    return Rows(params.splits[: depth - 1], wanted.places[owner])


def _refuse_other_batches(params: object, indices: object, batch: int) -> None:
    """Raise where batch axes of two values are known to differ."""
    if not batch:
        return
    dims = [x.shape._dims or () for x in (params, indices)]  # type: ignore[attr-defined]
    for mine, theirs in zip(*(d[:batch] for d in dims), strict=False):
        if None not in (mine, theirs) and mine != theirs:
            raise ValueError(
                f"batch shape from indices {dims[1][:batch]} does not match params shape "
                f"{dims[0][:batch]}"
            )


def _placed(params: object, indices: object, axis: object, batch_dims: int) -> tuple[int, int]:
    """Return axis and number of batch axes, counted from the front."""
    ranks = [x.shape.rank for x in (params, indices)]  # type: ignore[attr-defined]
    batch = int(batch_dims)
    if batch < 0:
        if ranks[1] is None:
            raise ValueError(
                "batch_dims may only be negative if rank(indices) is statically known."
            )
        batch += ranks[1]
        if batch < 0:
            raise ValueError(
                f"batch_dims={batch_dims} out of bounds: expected 0<=batch_dims<{ranks[1]}"
            )
    if ranks[0] is not None and batch >= ranks[0]:
        raise ValueError("batch_dims must be less than rank(params)")
    _refuse_other_batches(params, indices, batch)
    at = batch if axis is None else int(static(axis))
    if at < 0:
        if ranks[0] is None:
            raise ValueError("axis may only be negative if params has a known rank")
        at += ranks[0]
    if ranks[1] is not None and batch > ranks[1]:
        raise ValueError(f"batch_dims={batch} must be less than or equal to rank {ranks[1]}")
    if at < batch or (ranks[0] is not None and at >= ranks[0]):
        raise ValueError(f"axis={at} is not in [batch_dims={batch}, {ranks[0]})")
    return at, batch


@handles(RaggedTensor, g.gather)
def gather(
    params: object,
    indices: object,
    validate_indices: bool | None = None,
    axis: object = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Ragged:
    """Take slices along an axis."""
    del validate_indices
    with same_graph(params, indices):
        x, numbers = ragged_or_tensor(params), ragged_or_tensor(indices)
        at, batch = _placed(x, numbers, axis, batch_dims)
        if isinstance(x, TfTensor) and at == 0 and isinstance(numbers, RaggedTensor):
            return numbers.with_flat_values(g.gather(x, numbers.flat_values))
        rank = numbers.shape.rank
        if rank is None:
            raise ValueError("indices has no known rank")
        if rank == 0 and at == 0 and isinstance(x, RaggedTensor):
            row: Ragged = x[numbers]
            return row
        depth = max(rank - 1, 0)
        levels = max(levels_of(x), at)
        table = with_levels(numbers, depth)
        flat = table.flat_values if isinstance(table, RaggedTensor) else table
        splits = table.nested_row_splits if isinstance(table, RaggedTensor) else ()

        def plan(rows: Rows, wanted: Array, *ends: Array) -> Rows:
            asked = Rows(tuple(s.astype(np.int64) for s in ends), wanted.astype(np.int64).ravel())
            if rank == batch < at or not rank:
                return taken(rows, one_each(asked, rows, at, batch), at)
            for number in range(batch, at):
                asked = repeated(asked, rows, number)
            return taken(rows, asked, at)

        left = levels + depth - batch if rank else levels - 1
        known = numbers.shape.as_list() if not batch and not at else [None] * (depth + 1)
        lengths = known[1:]
        made = planned(
            "RaggedGather", [x], plan, left, read=levels, more=[flat, *splits], name=name,
            nrows=known[0], lengths=lengths,
        )  # fmt: skip
        if batch == at >= levels_of(x) and isinstance(made, RaggedTensor):
            made = _folded(made, numbers, max(levels_of(x), levels_of(numbers)))
        full = at and not levels_of(numbers) and levels == at and at - batch <= (not batch)
        return made.to_tensor() if full and isinstance(made, RaggedTensor) else made


def _folded(made: RaggedTensor, numbers: Ragged, levels: int) -> RaggedTensor:
    """Return slices whose inner rows, as many as numbers have inner axes, are of one length."""
    if levels_of(numbers) != levels or made.ragged_rank <= levels or not levels:
        return made
    assert isinstance(numbers, RaggedTensor), "it has levels"
    sizes = a.shape(numbers.flat_values)[: 1 + made.ragged_rank - levels]
    behind = a.shape(made.flat_values)[1:]
    flat = a.reshape(made.flat_values, a.concat([sizes, behind], 0))
    kept_rows = made.row_sizes()[1 : levels + 1]
    folded = assembled(flat, made.nested_row_splits[:levels], kept_rows)
    assert isinstance(folded, RaggedTensor), "it has levels"
    return folded


@handles(RaggedTensor, batch_gather)
def ragged_batch_gather(params: object, indices: object, name: str | None = None) -> Ragged:
    """Take slices along the last axis of the indices; the axes before it are those of both."""
    return gather(params, indices, batch_dims=-1, name=name)


def _rank_of_places(numbers: Ragged) -> int:
    """Return the rank of indices, whose rows are places, or raise."""
    rank = numbers.shape.rank
    if rank is None:
        raise ValueError("indices.rank must be statically known.")
    if not rank:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(numbers, RaggedTensor) and numbers.ragged_rank + 1 == rank:
        raise ValueError("The innermost dimension of indices may not be ragged")
    return rank


def _width(numbers: TfTensor) -> int:
    """Return how many axes each row of numbers is for."""
    if numbers.shape.rank != 2:
        raise ValueError("The innermost dimension of indices may not be ragged")
    width = numbers.shape.as_list()[1]
    if width is None:
        raise ValueError("indices.shape[-1] must be known statically")
    return width


@handles(RaggedTensor, g.gather_nd)
def gather_nd(
    params: object,
    indices: object,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Ragged:
    """Take the slices that rows of indices name."""
    if batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with same_graph(params, indices):
        x, numbers = ragged_or_tensor(params), ragged_or_tensor(indices)
        rank = _rank_of_places(numbers)
        if isinstance(numbers, RaggedTensor) and isinstance(x, TfTensor):
            return numbers.with_flat_values(g.gather_nd(x, numbers.flat_values))
        assert isinstance(x, RaggedTensor), "one of both is ragged"
        if rank == 1:
            return _squeezed(gather_nd(x, a.expand_dims(numbers, 0)))
        depth = rank - 2
        table = with_levels(numbers, depth)
        flat = table.flat_values if isinstance(table, RaggedTensor) else table
        splits = table.nested_row_splits if isinstance(table, RaggedTensor) else ()
        width = _width(flat)
        if width == 0:
            return _whole_each(x, numbers)
        inside = width - x.ragged_rank - 1
        outer = min(width, x.ragged_rank + 1)

        def plan(rows: Rows, wanted: Array, *ends: Array) -> Rows:
            at = _checked(wanted[:, 0].astype(np.int64), len(rows))
            for column in range(1, outer):
                more = _checked(wanted[:, column].astype(np.int64), rows.counts[at])
                at = rows.splits[0][:-1][at] + more
                rows = rows.below
            return rows.take(at).over([s.astype(np.int64) for s in ends])

        left = x.ragged_rank - (outer - 1) + depth
        found = planned("RaggedGatherNd", [x], plan, left, more=[flat, *splits], name=name)
        if inside <= 0:
            return found
        values = found.flat_values if isinstance(found, RaggedTensor) else found
        picked = g.gather_nd(values, flat[:, outer:], batch_dims=1)
        return found.with_flat_values(picked) if isinstance(found, RaggedTensor) else picked


def _whole_each(x: RaggedTensor, indices: Ragged) -> Ragged:
    """Return all of a value for each row of indices, which are empty."""
    flat = indices.flat_values if isinstance(indices, RaggedTensor) else indices
    first = zeros(a.shape(flat)[:-1], "int32")
    places = indices.with_flat_values(first) if isinstance(indices, RaggedTensor) else first
    return gather(expand_dims(x, 0), places)


def _squeezed(x: Ragged) -> Ragged:
    """Return the only row."""
    found: Ragged = x[0]
    return found


def first_where(
    condition: object, x: object = None, y: object = None, name: str | None = None
) -> Ragged:
    """Choose elements of the same rows, or rows by one truth value for each."""
    if x is None or y is None:
        return where(condition, x, y, name)
    with same_graph(condition, x, y):
        test, one, two = (
            ragged_or_tensor(condition, "bool"),
            ragged_or_tensor(x),
            ragged_or_tensor(y),
        )
        if isinstance(test, RaggedTensor):
            every = [v for v in (test, one, two) if isinstance(v, RaggedTensor)]
            if len(every) < 3 or len({v.ragged_rank for v in every}) > 1:
                raise ValueError("Input shapes do not match: condition, x and y have other rows")
            first = assembled(test.flat_values, same_rows(every))
            assert isinstance(first, RaggedTensor), "it has rows"
            flats = [v.flat_values for v in every]
            return first.with_flat_values(a.where(flats[0], flats[1], flats[2]))
        test.shape.assert_has_rank(1)
        count = a.shape(test)[0]
        order = range_(count)
        rows = a.where(test, order, m.FUNCTIONS["add"](order, count))
        return gather(concat([with_levels(v, 1) for v in (one, two)], 0), rows)


@handles(RaggedTensor, a.where)
def where(condition: object, x: object = None, y: object = None, name: str | None = None) -> Ragged:
    """Choose elements by a condition; with it alone, return where it holds."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with same_graph(condition, x, y):
        if x is not None:
            return chosen(condition, x, y)
        test = ragged_or_tensor(condition, "bool")
        assert isinstance(test, RaggedTensor), "it is ragged"
        return m.cast(_places(test), "int64")


def _places(test: RaggedTensor) -> TfTensor:
    """Return where a condition holds."""
    sparse = test.to_sparse()
    flat = a.reshape(test.flat_values, [-1])
    return a.boolean_mask(sparse.components()[0], flat)


@handles(RaggedTensor, one_hot)
def ragged_one_hot(
    indices: RaggedTensor,
    depth: object,
    on_value: object = None,
    off_value: object = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Ragged:
    """Return a row of zeros with a one for each number."""
    rank = indices.shape.rank
    if axis is not None and axis < 0 and rank is not None:
        axis += rank + 1
    if axis is not None and (rank is None or axis <= indices.ragged_rank):
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank "
                         f"({indices.ragged_rank}).")  # fmt: skip
    inner = -1 if axis is None else axis - indices.ragged_rank
    made = one_hot(indices.flat_values, depth, on_value, off_value, inner, dtype)
    return indices.with_flat_values(made)


@handles(RaggedTensor, w.embedding_lookup)
def embedding_lookup(
    params: object, ids: RaggedTensor, max_norm: object = None, name: str | None = None
) -> Ragged:
    """Take the rows of a table that numbers name."""
    if isinstance(params, list | tuple) and not params:
        raise ValueError("params should not be empty.")
    if not ids.dtype.is_integer:
        raise ValueError(
            f"The values contained by the inputs have type {ids.dtype} and cannot be processed. "
            "All values should be indices, either of type `int32` or `int64`."
        )
    return ids.with_flat_values(w.embedding_lookup(params, ids.flat_values, max_norm))  # type: ignore[arg-type]
