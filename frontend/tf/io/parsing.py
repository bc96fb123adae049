"""Examples as tensors: `parse_example`, `parse_single_example`, and those of sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...formats import examples as f
from ...formats.example_batches import Column, columns
from ...formats.messages import SequenceExample
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, of_elements, unknown
from ..core.shapes import TensorShape
from ..core.values import convert
from ..nondense.sparse_tensor import SparseTensor
from ..ragged import making as made_by
from . import features as ft
from .composed_features import Feature, composed, composed_sequences

Request = ft.Request


@composed
def parse_single_example(
    serialized: object,
    features: Mapping[str, object],
    example_names: object = None,
    name: str | None = None,
) -> dict[str, Feature]:
    """Return the features of one example."""
    asked = ft.requests(features)
    given = convert(serialized, "string")
    if given.shape.rank not in (0, None):
        raise ValueError(f"Input serialized must be a scalar, got shape {given.shape}")

    def compute(data: Array) -> Sequence[Array]:
        if data.ndim:
            raise InvalidArgumentError(f"serialized must be a scalar, got {list(data.shape)}")
        reading = f.Reading(data.item())
        return [part for each in asked for part in one(each, reading)]

    specs = [spec for each in asked for spec in single_specs(each)]
    return assembled(asked, host("ParseSingleExample", compute, [given], specs, name=name))


def one(asked: Request, reading: f.Reading) -> Sequence[Array]:
    """Return a feature of one example: an array, or those of a sparse tensor."""
    values = reading.values(asked.wanted)
    if asked.way == "lists":
        return (f.ragged(asked.wanted, [values]).values,)
    if asked.way == "fixed":
        return (f.dense(asked.wanted, values),)
    if asked.way == "any":
        found = f.ragged(asked.wanted, [values])
        return (
            np.arange(len(found.values), dtype=np.int64)[:, None],
            found.values,
            found.counts,
        )
    if asked.way == "steps" and values is None:
        shape = [d for d in asked.wanted.shape or () if d is not None]
        return (np.empty((0, *shape), asked.row.numpy),)
    return (f.dense(asked.wanted, values),)


def single_specs(asked: Request) -> list[TensorSpec]:
    """Return what is known of the arrays of a feature."""
    if asked.way == "lists":
        return [unknown(asked.row, None)]
    if asked.way == "any":
        return of_elements(asked.row, 1)
    return [unknown(asked.row, *(asked.wanted.shape or ()))]


def assembled(
    asked: Sequence[Request], tensors: Sequence[TfTensor], levels: int = 0
) -> dict[str, Feature]:
    """Return tensors by the names of the features; lists have so many levels of rows."""
    made: dict[str, Feature] = {}
    rest = iter(tensors)
    for each in asked:
        if each.way == "any":
            made[each.label] = SparseTensor(*[next(rest) for _ in range(3)])
        elif each.way == "lists":
            made[each.label] = rows_made([next(rest) for _ in range(1 + levels)])
        else:
            made[each.label] = next(rest)
    return made


def count_of(asked: Sequence[Request], levels: int) -> int:
    """Return how many tensors features are, of which lists have so many levels of rows."""
    of_way = {"any": 3, "lists": 1 + levels}
    return sum(of_way.get(each.way, 1) for each in asked)


def rows_made(parts: Sequence[TfTensor]) -> Feature:
    """Return values in rows whose lengths are said, the innermost first."""
    found: Feature = parts[0]
    for lengths in parts[1:]:
        found = made_by.from_row_lengths(found, lengths, validate=False)
    return found


@composed
def parse_example(
    serialized: object,
    features: Mapping[str, object],
    example_names: object = None,
    name: str | None = None,
) -> dict[str, Feature]:
    """Return the features of several examples, stacked."""
    asked = ft.requests(features)
    given = convert(serialized, "string")
    if given.shape.rank == 0:
        return parse_single_example(given, features, example_names, name)
    batch = given.shape._dims[0] if given.shape._dims else None

    def compute(data: Array, *names: Array) -> Sequence[Array]:
        if data.ndim != 1:
            raise InvalidArgumentError(f"serialized must be a vector, got {list(data.shape)}")
        found = columns(data.tolist(), [each.wanted for each in asked])
        pairs = zip(asked, found, strict=True)
        labels = labels_of(names, len(data))
        return [part for each, column in pairs for part in several(each, column, labels)]

    specs = [spec for each in asked for spec in batch_specs(each, batch)]
    every = [given, *named(example_names)]
    return assembled(asked, host("ParseExampleV2", compute, every, specs, name=name), 1)


def named(names: object) -> list[TfTensor]:
    """Return the names of examples as a tensor, if there are any."""
    return [] if names is None else [convert(names, "string")]


def labels_of(names: Sequence[Array], count: int) -> list[str]:
    """Return what examples are called where something is wrong with them."""
    if not names or not names[0].size:
        return ["<unknown>"] * count
    return [x.decode(errors="replace") for x in np.ravel(names[0]).tolist()]


def batch_specs(asked: Request, batch: int | None) -> list[TensorSpec]:
    """Return what is known of the arrays of a feature of several examples."""
    if asked.way == "lists":
        return [unknown(asked.row, None), unknown(rows.i64, batch)]
    if asked.way == "any":
        return of_elements(asked.row, 2)
    return [unknown(asked.row, batch, *(asked.wanted.shape or ()))]


def several(asked: Request, column: Column, labels: Sequence[str]) -> Sequence[Array]:
    """Return a feature of several examples: an array, or those of a sparse tensor."""
    if asked.way in ("lists", "any"):
        found = f.Ragged(column.values, np.maximum(column.counts, 0))
        return sparse_rows(found) if asked.way == "any" else (found.values, found.counts)
    if asked.way == "steps":
        return (filled(asked, column.lists(), labels),)
    shape = tuple(d for d in asked.wanted.shape or () if d is not None)
    block = column.block(asked.wanted.count)
    if block is not None:
        return (block.reshape(len(block), *shape),)
    lists = column.lists()
    made = np.empty((len(lists), *shape), asked.row.numpy)
    for place, values in enumerate(lists):
        source = f.FeatureSource(labels[place], place)
        made[place, ...] = f.dense(asked.wanted, values, source)  # (of a text, not an array of one)
    return (made,)


def sparse_rows(found: f.Ragged) -> Sequence[Array]:
    """Return rows of any length as indices, values and shape."""
    count = len(found.counts)
    row = np.repeat(np.arange(count, dtype=np.int64), found.counts)
    starts = np.cumsum(found.counts) - found.counts
    column = np.arange(len(found.values), dtype=np.int64) - np.repeat(starts, found.counts)
    shape = np.array([count, found.counts.max(initial=0)], np.int64)
    return np.stack([row, column], axis=1), found.values, shape


def filled(asked: Request, lists: Sequence[f.Values | None], labels: Sequence[str]) -> Array:
    """Return sequences of several examples, the shorter ones filled up."""
    shape = tuple(d for d in asked.wanted.shape or () if d is not None)
    count = asked.wanted.count or 1
    steps = [0 if values is None else len(values) // count for values in lists]
    made = np.empty((len(lists), max(steps, default=0), *shape), asked.row.numpy)
    empty: bytes | int = b"" if asked.row.kind == "s" else 0
    made[...] = empty if asked.wanted.default is None else asked.wanted.default
    for place, values in enumerate(lists):
        if values is not None:
            found = f.dense(asked.wanted, values, f.FeatureSource(labels[place], place))
            made[place, : len(found)] = found
    return made


@composed_sequences
def parse_single_sequence_example(
    serialized: object,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_name: object = None,
    name: str | None = None,
) -> tuple[dict[str, Feature], dict[str, Feature]]:
    """Return the features of a sequence's context, and those of its steps."""
    around = ft.requests(context_features) if context_features else []
    inside = [step_request(n, feature) for n, feature in sorted((sequence_features or {}).items())]

    def compute(data: Array, *names: Array) -> Sequence[Array]:
        message = f.parsed_as(SequenceExample, data.item())
        (label,) = labels_of(names, 1)
        context = f.Reading.of_features(message.context)
        made = [part for each in around for part in one(each, context)]
        lists = message.feature_lists.feature_list
        return made + [part for each in inside for part in stepwise(each, lists, label)]

    specs = [spec for each in around for spec in single_specs(each)]
    specs += [spec for each in inside for spec in step_specs(each)]
    every = [convert(serialized, "string"), *named(example_name)]
    made = host("ParseSingleSequenceExample", compute, every, specs, name=name)
    first = count_of(around, 0)
    return assembled(around, made[:first]), assembled(inside, made[first:], 1)


def step_request(name: str, feature: object) -> Request:
    """Return a feature of steps as it is asked for."""
    if isinstance(feature, ft.VarLenFeature | ft.ListFeature):
        return ft.requested(name, feature)
    if not isinstance(feature, ft.FixedLenSequenceFeature):
        raise ValueError(f"Invalid feature {name}:{feature}, expected one of a sequence.")
    kind, row = ft.kind_of(feature.dtype, name)
    shape = tuple(TensorShape(feature.shape).as_list())
    way = "optional" if feature.allow_missing else "steps"
    return Request(f.Wanted(name, kind, shape), row, way)


def stepwise(asked: Request, lists: Any, label: str) -> Sequence[Array]:
    """Return a feature of all steps."""
    if asked.way in ("any", "lists"):
        steps = lists[asked.wanted.name].feature if asked.wanted.name in lists else ()
        sources = [f.FeatureSource(label, number, "Feature list") for number in range(len(steps))]
        values = [f.values_of(*x) for x in zip(steps, repeat(asked.wanted), sources, strict=False)]
        found = f.ragged(asked.wanted, values)
        return sparse_rows(found) if asked.way == "any" else (found.values, found.counts)
    made = f.sequence(asked.wanted, lists, label)
    if made is None and asked.way != "optional":
        raise InvalidArgumentError(
            f"Name: {label}, Feature list '{asked.wanted.name}' is required but could not be "
            "found.  Did you mean to include it in feature_list_dense_missing_assumed_empty or "
            "feature_list_dense_defaults?"
        )
    if made is None:
        shape = tuple(d for d in asked.wanted.shape or () if d is not None)
        made = np.empty((0, *shape), asked.row.numpy)
    return (made,)


def step_specs(asked: Request) -> list[TensorSpec]:
    """Return what is known of the arrays of a feature of steps."""
    if asked.way in ("any", "lists"):
        return batch_specs(asked, None)
    return [unknown(asked.row, None, *(asked.wanted.shape or ()))]
