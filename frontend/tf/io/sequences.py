"""Several examples of sequences at once, and features that are made of several others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...formats import examples as f
from ...formats.example_batches import Column, of_lists
from ...formats.messages import SequenceExample
from ..core.bridge import TfTensor
from ..core.host_ops import host, of_elements, unknown
from ..core.values import InvalidShapesError, convert, convert_text
from . import features as ft
from .composed_features import Feature, composed_sequences
from .parsing import (
    assembled,
    batch_specs,
    count_of,
    labels_of,
    named,
    several,
    step_request,
    stepwise,
)


@composed_sequences
def parse_sequence_example(
    serialized: object,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_names: object = None,
    name: str | None = None,
) -> tuple[dict[str, Feature], dict[str, Feature], dict[str, TfTensor]]:
    """Return features of contexts, those of steps, and how many steps each sequence has.

    Shorter sequences are filled up.
    """
    given = convert(serialized, "string")
    if given.shape.rank not in (1, None):
        raise InvalidShapesError(f"Input serialized must be a vector, got shape {given.shape}")
    batch = None if given.shape._dims is None else given.shape._dims[0]
    around = ft.requests(context_features) if context_features else []
    inside = [step_request(n, feature) for n, feature in sorted((sequence_features or {}).items())]

    def compute(data: Array, *names: Array) -> Sequence[Array]:
        labels = labels_of(names, len(data))
        messages = [f.parsed_as(SequenceExample, each) for each in data.tolist()]
        contexts = [f.Reading.of_features(each.context) for each in messages]
        lists = [each.feature_lists.feature_list for each in messages]
        made = [
            part for each in around for part in several(each, column_of(each, contexts), labels)
        ]
        return made + [part for each in inside for part in in_steps(each, lists, labels)]

    specs = [spec for each in around for spec in batch_specs(each, batch)]
    specs += [spec for each in inside for spec in steps_specs(each, batch)]
    found = host(
        "ParseSequenceExampleV2", compute, [given, *named(example_names)], specs, name=name
    )
    first = count_of(around, 1)
    context, rest = assembled(around, found[:first], 1), iter(found[first:])
    parts: list[TfTensor] = []
    lengths: dict[str, TfTensor] = {}
    for each in inside:
        parts += [next(rest) for _ in range(count_of([each], 2))]
        if each.way not in ("any", "lists"):
            lengths[each.wanted.name] = next(rest)
    return context, assembled(inside, parts, 2), lengths


def column_of(asked: ft.Request, readings: Sequence[f.Reading]) -> Column:
    """Return a feature of contexts."""
    return of_lists(asked.wanted, [each.values(asked.wanted) for each in readings])


def in_steps(
    asked: ft.Request, lists: Sequence[Mapping[str, object]], labels: Sequence[str]
) -> Sequence[Array]:
    """Return a feature of all steps of several sequences; of dense ones, also their lengths."""
    found = [stepwise(asked, *pair) for pair in zip(lists, labels, strict=True)]
    if asked.way == "lists":
        steps = np.array([len(counts) for _, counts in found], np.int64)
        every = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        return [*(every or [np.empty(0, asked.row.numpy), np.empty(0, np.int64)]), steps]
    if asked.way == "any":
        return sparse_steps([(parts[0], parts[1], parts[2]) for parts in found])
    values = [parts[0] for parts in found]
    counts = np.array([len(each) for each in values], np.int64)
    shape = tuple(d for d in asked.wanted.shape or () if d is not None)
    made = np.empty((len(values), counts.max(initial=0), *shape), asked.row.numpy)
    made[...] = b"" if asked.row.kind == "s" else 0
    for place, each in enumerate(values):
        made[place, : len(each)] = each
    return made, counts


def sparse_steps(found: Sequence[tuple[Array, Array, Array]]) -> Sequence[Array]:
    """Return rows of steps of several sequences as indices, values and shape."""
    numbers = np.repeat(np.arange(len(found), dtype=np.int64), [len(x) for _, x, _ in found])
    places = np.concatenate([np.empty((0, 2), np.int64), *(each for each, _, _ in found)])
    sizes = np.max([np.zeros(2, np.int64), *(each for _, _, each in found)], axis=0)
    values = np.concatenate([each for _, each, _ in found]) if found else np.empty(0)
    extents = np.array([len(found), *sizes], np.int64)
    return np.concatenate([numbers[:, None], places], axis=1), values, extents


def steps_specs(asked: ft.Request, batch: int | None) -> list[TensorSpec]:
    """Return what is known of the arrays of a feature of steps."""
    if asked.way == "lists":
        return [unknown(asked.row, None), unknown(rows.i64, None), unknown(rows.i64, batch)]
    if asked.way == "any":
        return of_elements(asked.row, 3)
    return [unknown(asked.row, batch, None, *(asked.wanted.shape or ())), unknown(rows.i64, batch)]


def decode_json_example(json_examples: object, name: str | None = None) -> TfTensor:
    """Return examples that are written in JSON as serialised ones."""
    given = convert_text(json_examples, "DecodeJSONExample")

    def compute(texts: Array) -> Sequence[Array]:
        made = np.empty(texts.shape, object)
        for place, text in np.ndenumerate(texts):
            made[place] = f.of_json(text)
        return (made,)

    return host("DecodeJSONExample", compute, [given], [given.spec], name=name)[0]
