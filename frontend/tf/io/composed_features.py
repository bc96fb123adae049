"""Features that are made of several of an example: sparse ones of indices and values, ragged ones.

A ragged one is made of values and of what cuts them into rows, for each example by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import NamedTuple, TypeAlias

from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..graph.debugging import assert_equal
from ..nondense.sparse_first import sparse_merge
from ..nondense.sparse_tensor import SparseTensor
from ..ops.array_ops import concat, repeat, reshape, shape
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, cumsum
from ..ragged import making as made_by
from ..ragged.tensor import RaggedTensor
from . import features as ft

Feature: TypeAlias = TfTensor | SparseTensor | RaggedTensor
Parse: TypeAlias = Callable[..., dict[str, Feature]]
LIST = "list of "
"""What stands before the names of features that ragged ones are made of."""


def keys_of(feature: ft.SparseFeature) -> list[str]:
    """Return the names of the features that have the indices of a sparse one."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


def lists_of(name: str, feature: ft.RaggedFeature) -> dict[str, ft.ListFeature]:
    """Return the lists that a ragged feature is made of."""
    values = name if feature.value_key is None else feature.value_key
    made = {values: ft.ListFeature(values, feature.dtype)}
    for each in feature.partitions:
        if not isinstance(each, ft.UniformRowLength):
            made[each.key] = ft.ListFeature(each.key, "int64")
    return {LIST + key: each for key, each in made.items()}


def sparse_parts(feature: ft.SparseFeature) -> dict[str, ft.VarLenFeature]:
    """Return the features that a sparse one is made of."""
    parts = {key: ft.VarLenFeature("int64") for key in keys_of(feature)}
    return {**parts, feature.value_key: ft.VarLenFeature(feature.dtype)}


def taken_apart(features: Mapping[str, object]) -> dict[str, object]:
    """Return features with those that others are made of in their place."""
    found: dict[str, object] = {
        n: each for n, each in features.items()
        if not isinstance(each, ft.SparseFeature | ft.RaggedFeature)
    }  # fmt: skip
    for name, each in features.items():
        parts: Mapping[str, NamedTuple] = {}
        if isinstance(each, ft.SparseFeature):
            parts = sparse_parts(each)
        elif isinstance(each, ft.RaggedFeature):
            parts = lists_of(name, each)
        for key, part in parts.items():
            known = found.setdefault(key, part)
            if type(known) is not type(part) or known[-1] != part[-1]:
                raise ValueError(f"feature {name!r} takes {key!r} as {part}, but that is {known}")
    return found


def sparse(found: Mapping[str, Feature], feature: ft.SparseFeature) -> SparseTensor:
    """Return a sparse feature of those that it is made of."""
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    indices = [found[key] for key in keys_of(feature)]
    values = found[feature.value_key]
    return sparse_merge(indices, values, sizes, already_sorted=feature.already_sorted)


def ragged(name: str, found: Mapping[str, Feature], feature: ft.RaggedFeature) -> Feature:
    """Return a ragged feature of the lists that it is made of."""
    values = found[LIST + (name if feature.value_key is None else feature.value_key)]
    if not isinstance(values, RaggedTensor):
        for each in reversed(feature.partitions):
            values = cut(values, each, found, feature)
        return values
    values = values.with_row_splits_dtype(feature.row_splits_dtype)
    outer = values.row_splits if values.ragged_rank > 1 else None
    rows = values if outer is None else rows_within(values)
    for each in reversed(feature.partitions):
        rows = cut_each(name, rows, each, found, feature, outer)
    if outer is None:
        return rows
    return made_by.from_row_splits(rows, outer, validate=feature.validate)


CUTS: Mapping[type, Callable[..., RaggedTensor]] = {
    ft.RowSplits: made_by.from_row_splits,
    ft.RowLengths: made_by.from_row_lengths,
    ft.RowStarts: made_by.from_row_starts,
    ft.RowLimits: made_by.from_row_limits,
    ft.ValueRowIds: made_by.from_value_rowids,
}
"""By kind of a partition: what makes rows by it."""


def rows_within(x: Feature) -> RaggedTensor:
    """Return the rows of the rows of a ragged tensor."""
    assert isinstance(x, RaggedTensor), "there are rows"
    found = x.values
    assert isinstance(found, RaggedTensor), "there are two levels of them"
    return found


def flat(x: Feature) -> TfTensor:
    """Return a tensor, or the values of one with one level of rows."""
    found = x.values if isinstance(x, RaggedTensor) else x
    assert isinstance(found, TfTensor), "there is one level at most"
    return found


def evenly(values: TfTensor, length: int) -> TfTensor:
    """Return values in rows of one length, as a tensor."""
    return reshape(values, concat([[-1, length], shape(values)[1:]], 0))


def cut(
    values: Feature, partition: ft.Partition, found: Mapping[str, Feature],
    feature: ft.RaggedFeature,
) -> Feature:  # fmt: skip
    """Return the values of one example in rows."""
    if not isinstance(partition, ft.UniformRowLength):
        numbers = cast(flat(found[LIST + partition.key]), feature.row_splits_dtype)
        return CUTS[type(partition)](values, numbers, validate=feature.validate)
    if not isinstance(values, RaggedTensor):
        return evenly(flat(values), partition.length)
    length = convert(partition.length, feature.row_splits_dtype)
    made: RaggedTensor = made_by.from_uniform_row_length(values, length, validate=feature.validate)
    return made


def cut_evenly(rows: RaggedTensor, length: int, *, validate: bool) -> RaggedTensor:
    """Return the rows of several examples, each in rows of one length."""
    inner: Feature = evenly(flat(rows), length) if rows.ragged_rank == 1 else rows
    if rows.ragged_rank > 1:
        size = convert(length, rows.row_splits.dtype)
        inner = made_by.from_uniform_row_length(rows.values, size, validate=validate)
    splits = rows.row_splits // convert(length, rows.row_splits.dtype)
    made: RaggedTensor = made_by.from_row_splits(inner, splits, validate=validate)
    return made


def cut_each(
    name: str, rows: RaggedTensor, partition: ft.Partition, found: Mapping[str, Feature],
    feature: ft.RaggedFeature, outer: TfTensor | None,
) -> RaggedTensor:  # fmt: skip
    """Return the rows of several examples, each cut into rows by what it says itself."""
    if isinstance(partition, ft.UniformRowLength):
        return cut_evenly(rows, partition.length, validate=feature.validate)
    with InGraph(graph_of([rows.row_splits])):
        given = found[LIST + partition.key]
        assert isinstance(given, RaggedTensor), "examples have lists of their own"
        numbers = given.with_row_splits_dtype(feature.row_splits_dtype)
        numbers = numbers.with_flat_values(cast(numbers.flat_values, feature.row_splits_dtype))
        if outer is not None:
            if feature.validate:
                text = f"Feature {name}: values and partitions are not aligned"
                assert_equal(outer, numbers.row_splits, message=text)
            numbers = rows_within(numbers)
        return _cut_each(rows, partition, numbers, validate=feature.validate)


def _cut_each(
    rows: RaggedTensor, partition: ft.Keyed, numbers: RaggedTensor, *, validate: bool
) -> RaggedTensor:
    """Return the rows of several examples cut by numbers that begin anew with each."""
    make = CUTS[type(partition)]
    made: RaggedTensor
    if isinstance(partition, ft.RowLengths):
        made = numbers.with_values(make(rows.values, flat(numbers), validate=validate))
    elif isinstance(partition, ft.ValueRowIds):
        ends = numbers.with_values(flat(numbers) + 1)
        counts = FUNCTIONS["maximum"](REDUCTIONS["reduce_max"](ends, axis=1), 0)
        before = repeat(cumsum(counts, exclusive=True), numbers.row_lengths())
        inner = make(rows.values, flat(numbers) + before, validate=validate)
        made = made_by.from_row_lengths(inner, counts, validate=validate)
    else:
        splits = isinstance(partition, ft.RowSplits)  # the first of each example says nothing
        given = numbers[:, 1:] if splits else numbers
        assert isinstance(given, RaggedTensor), "rows are cut, and stay rows"
        make = made_by.from_row_limits if splits else make
        before = repeat(rows.row_starts(), given.row_lengths())
        made = given.with_values(make(rows.values, flat(given) + before, validate=validate))
    return made


def put_together(
    found: Mapping[str, Feature], features: Mapping[str, object]
) -> dict[str, Feature]:
    """Return the features that were asked for of those that were read."""
    made: dict[str, Feature] = {}
    for key, each in features.items():
        if isinstance(each, ft.SparseFeature):
            made[key] = sparse(found, each)
        elif isinstance(each, ft.RaggedFeature):
            made[key] = ragged(key, found, each)
        else:
            made[key] = found[key]
    return made


def composed(parse: Parse) -> Parse:
    """Let what parses examples give features that are made of several, too."""

    @wraps(parse)
    def run(
        serialized: object,
        features: Mapping[str, object],
        example_names: object = None,
        name: str | None = None,
    ) -> dict[str, Feature]:
        found = parse(serialized, taken_apart(features), example_names, name)
        return put_together(found, features)

    return run


Groups: TypeAlias = Mapping[str, object] | None
Sequences: TypeAlias = tuple[Mapping[str, Feature], ...]


def composed_sequences(parse: Callable[..., Sequences]) -> Callable[..., Sequences]:
    """Let what parses sequences give features that are made of several, too."""

    @wraps(parse)
    def run(
        serialized: object,
        context_features: Groups = None,
        sequence_features: Groups = None,
        *args: object,
        **options: object,
    ) -> Sequences:
        asked = [context_features or {}, sequence_features or {}]
        found = parse(serialized, *map(taken_apart, asked), *args, **options)
        context, steps, *rest = found
        both = [put_together(x, y) for x, y in zip((context, steps), asked, strict=True)]
        return (*both, *rest)

    return run
