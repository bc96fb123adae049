"""Rows of a table by sparse indices, combined to one row for each line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.op import Array
from ...eager.remembered import remembered
from ...values.dispatch import NotDenseError
from ..core.bridge import EagerTensor, TfTensor, row_of
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import concat, reshape, shape, where
from ..ops.creation import zeros_like
from ..ops.math_ops import FUNCTIONS, cast
from ..ops.special import divide_no_nan
from ..ops.window_ops import embedding_lookup
from .composite import CompositeTensor
from .sparse_functions import combined_rows, rows_at_once
from .sparse_places import Moved, fill_empty_rows, moved
from .sparse_places import reshape as sparse_reshape
from .sparse_tensor import SparseTensor

COMBINERS = ("mean", "sqrtn", "sum")
Lookup = Callable[..., TfTensor]


@dataclass(frozen=True)
class Combining:
    """How rows are found and combined."""

    combiner: str
    max_norm: float | None
    name: str | None
    lookup: Lookup = embedding_lookup

    def rows(
        self, params: object, ids: SparseTensor, weights: SparseTensor | None, count: object = None
    ) -> TfTensor:
        """Return the rows of each line of ids, combined; `count` says how many lines there are."""
        lines = _in_a_row(ids.indices[:, 0])
        kind = {"sqrtn": "sqrt_n"}.get(self.combiner, self.combiner)
        if weights is count is self.max_norm is None and self.lookup is embedding_lookup:
            table = params[0] if isinstance(params, list | tuple) and len(params) == 1 else params
            if made := rows_at_once(table, ids.values, lines, kind):
                return made[0]
        found = self.lookup(params, ids.values, max_norm=self.max_norm)
        if weights is None:
            return combined_rows(found, lines, count, kind, self.name)
        column = [-1, *[1] * ((found.shape.rank or 2) - 1)]
        scale = cast(weights.values, found.dtype)
        scaled = FUNCTIONS["multiply"](found, reshape(scale, column))
        total = combined_rows(scaled, lines, count, "sum", self.name)
        if self.combiner == "sum":
            return total
        square = self.combiner == "sqrtn"
        given = FUNCTIONS["multiply"](scale, scale) if square else scale
        weight = combined_rows(given, lines, count, "sum")
        weight = FUNCTIONS["sqrt"](weight) if square else weight
        return divide_no_nan(total, reshape(weight, column))


def _in_a_row(x: TfTensor) -> TfTensor:
    """Return numbers one behind the other, where they are computed: each step would do so."""
    is_apart = x.__class__ is EagerTensor and not x._array.flags.c_contiguous
    return EagerTensor(np.ascontiguousarray(x._array)) if is_apart else x


def looked_up(params: object, sp_ids: object, sp_weights: object, how: Combining) -> TfTensor:
    """Return the rows of each line of ids, combined."""
    if how.combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {how.combiner}")
    _refuse_others(sp_ids, sp_weights)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if not isinstance(sp_weights, SparseTensor | None):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    if sp_weights is not None:
        _check_weights(sp_ids, sp_weights)
    tables = params if isinstance(params, list | tuple) else [params]
    with InGraph(graph_of([*sp_ids.components(), *tables])):
        return how.rows(params, sp_ids, sp_weights)


def _refuse_others(*values: object) -> None:
    """Raise for values of several tensors that are not sparse, which others stand in for."""
    for value in values:
        if isinstance(value, CompositeTensor) and not isinstance(value, SparseTensor):
            raise NotDenseError(value)


def _refuse_other_types(tables: Sequence[object], weights: SparseTensor) -> None:
    """Raise where tables have another type than weights of theirs."""
    for table in tables:
        dtype = getattr(table, "dtype", None) if hasattr(table, "spec") else None
        if dtype is not None and row_of(dtype) != row_of(weights.values.dtype):
            raise ValueError(
                f"embedding_weights have type {dtype}, expected that of weights: "
                f"{weights.values.dtype}"
            )


def _check_weights(ids: SparseTensor, weights: SparseTensor) -> None:
    counts = [x.values.shape.num_elements() for x in (ids, weights)]
    if None not in counts and counts[0] != counts[1]:
        raise ValueError(f"Shapes ({counts[0]},) and ({counts[1]},) are incompatible")


def safely_looked_up(
    params: object,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None,
    default_id: int | None,
    how: Combining,
) -> TfTensor:
    """Return the rows of each line of valid ids, combined; lines without have a default."""
    if params is None or (isinstance(params, list | tuple) and not params):
        raise ValueError(f"Missing embedding_weights {params}.")
    _refuse_others(sparse_ids, sparse_weights)
    tables = params if isinstance(params, list | tuple) else [params]
    with InGraph(graph_of([*sparse_ids.components(), *tables])):
        if sparse_weights is not None:
            _refuse_other_types(tables, sparse_weights)
        front, flat, weights = _lines(sparse_ids, sparse_weights)
        ids, weights = _pruned(flat, weights, positive=how.combiner != "sum")
        filled, empty = fill_empty_rows(ids, convert(default_id or 0, ids.values.dtype))
        if weights is not None:
            weights, _ = fill_empty_rows(weights, convert(1, weights.values.dtype))
        made = how.rows(params, filled, weights, _height(filled))
        if default_id is None:
            column = reshape(empty, [-1, *[1] * ((made.shape.rank or 2) - 1)])
            made = where(column, zeros_like(made), made)
        if front is None:
            return made
        return reshape(made, concat([front, shape(made, "int64")[1:]], 0))


@remembered
def embedding_lookup_sparse(
    params: object,
    sp_ids: object,
    sp_weights: object,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> TfTensor:
    """Combine the rows of each line of ids: their sum, mean, or sum over the root of the count."""
    return looked_up(params, sp_ids, sp_weights, Combining(combiner or "mean", max_norm, name))


@remembered
def safe_embedding_lookup_sparse(
    embedding_weights: object,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> TfTensor:
    """Combine rows as `embedding_lookup_sparse` does; lines without valid ids are zero.

    With `default_id` they are its row. Ids below zero are left out, and so are weights that are
    not positive.
    """
    how = Combining(combiner or "mean", max_norm, name)
    return safely_looked_up(embedding_weights, sparse_ids, sparse_weights, default_id, how)


def _height(sp: SparseTensor) -> object:
    """Return the number of lines, as a number if it is known."""
    dims = sp.shape._dims
    return dims[0] if dims and dims[0] is not None else sp.dense_shape[0]


def _lines(
    ids: SparseTensor, weights: SparseTensor | None
) -> tuple[TfTensor | None, SparseTensor, SparseTensor | None]:
    """Return ids as lines of one axis: the sizes of the other axes, and both as matrices."""
    if ids.shape.rank == 2:
        return None, ids, weights
    front = ids.dense_shape[:-1]
    known = ids.shape._dims
    height = -1
    if known is not None and None not in known[:-1]:
        height = int(np.prod(known[:-1]))  # type: ignore[arg-type]
    sizes = concat([convert([height], "int64"), ids.dense_shape[-1:]], 0)
    lines = sparse_reshape(ids, sizes)
    if weights is None:
        return front, lines, None
    return front, lines, lines.with_values(weights.values)


def _pruned(
    ids: SparseTensor, weights: SparseTensor | None, *, positive: bool
) -> tuple[SparseTensor, SparseTensor | None]:
    """Leave out ids below zero and, with `positive`, weights that are not above zero."""
    more = [ids.values] if weights is None else [ids.values, weights.values]

    def compute(indices: Array, sizes: Array, numbers: Array, *weight: Array) -> Moved:
        good = numbers >= 0
        if weight and positive:
            good &= weight[0] > 0
        return indices[good], np.flatnonzero(good), sizes

    left = moved("SparsePruned", ids, compute, more, rank=2, shape=ids.shape)
    if weights is None:
        return left, None
    scale = SparseTensor.stated(ids.indices, weights.values, ids.dense_shape, ids.shape)
    return left, moved("SparsePruned", scale, compute, more, rank=2, shape=ids.shape)
