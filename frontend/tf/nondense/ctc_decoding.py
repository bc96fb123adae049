"""Connectionist temporal classification with sparse labels, and decoders (Graves et al., 2006)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, of_elements, unknown
from ..core.values import InGraph, convert, graph_of, static
from ..ops.array_ops import reshape, shape
from ..ops.creation import ones_like
from ..ops.math_ops import REDUCTIONS, cast
from ..train import ctc
from .beams import search
from .sparse_dense import to_dense
from .sparse_tensor import SparseTensor

Words = list[list[int]]
Decoded = tuple[list[SparseTensor], TfTensor]


def ctc_loss(
    labels: object,
    logits: object,
    label_length: object,
    logit_length: object,
    logits_time_major: bool = True,
    unique: object = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Return minus the logarithm of how likely logits say the labels, which may be sparse."""
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when labels is a SparseTensor."
            )
        label_length = _lengths(labels)
        labels = to_dense(labels)
    options = {"logits_time_major": logits_time_major, "blank_index": blank_index, "name": name}
    return ctc.ctc_loss(labels, logits, label_length, logit_length, **options)  # type: ignore[arg-type]


def _lengths(labels: SparseTensor) -> TfTensor:
    """Return how many labels each row has."""
    marked = SparseTensor(
        labels.indices, cast(ones_like(labels.values), "int32"), labels.dense_shape
    )
    return REDUCTIONS["reduce_sum"](to_dense(marked), axis=1)


def first_ctc_loss(
    labels: SparseTensor,
    inputs: object = None,
    sequence_length: object = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: object = None,
) -> TfTensor:
    """Return the loss of sparse labels; the last class is the blank."""
    for option, given, wanted in (
        ("preprocess_collapse_repeated", preprocess_collapse_repeated, False),
        ("ctc_merge_repeated", ctc_merge_repeated, True),
        ("ignore_longer_outputs_than_inputs", ignore_longer_outputs_than_inputs, False),
    ):
        if given is not wanted:
            raise NotImplementedError(f"ctc_loss: {option} is {given}, expected {wanted}")
    scores = inputs if logits is None else logits
    return ctc_loss(labels, scores, None, sequence_length, time_major, None, -1)


def ctc_greedy_decoder(
    inputs: object,
    sequence_length: object,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> Decoded:
    """Return the best label of each time, without blanks, and minus the sum of their logits."""
    with InGraph(graph_of([inputs, sequence_length])):
        scores, times = convert(inputs), convert(sequence_length, "int32")

        def compute(logits: Array, lengths: Array) -> Sequence[Array]:
            classes = logits.shape[2]
            blank = classes - 1 if blank_index is None else int(static(blank_index)) % classes
            words: Words = []
            total = np.zeros((logits.shape[1], 1), logits.dtype)
            for place, length in enumerate(lengths.tolist()):
                own = logits[:length, place]
                best = own.argmax(-1).tolist()
                total[place, 0] = -own.max(-1).sum()
                words.append(
                    [
                        label
                        for at, label in enumerate(best)
                        if label != blank and not (merge_repeated and at and best[at - 1] == label)
                    ]
                )
            return (*_sparse(words), total)

        last = TensorSpec(scores.spec.dtype, None)
        made = host("CTCGreedyDecoder", compute, [scores, times], [*_specs(), last])
        return [SparseTensor(*made[:3])], reshape(made[3], [shape(scores)[1], 1])


def _specs() -> list[TensorSpec]:
    return of_elements(rows.i64, 2)


def _sparse(words: Words) -> Sequence[Array]:
    """Return lists of labels as indices, values and extents."""
    places = [(i, j) for i, word in enumerate(words) for j in range(len(word))]
    values = [label for word in words for label in word]
    extents = [len(words), max(map(len, words), default=0)]
    indices = np.array(places, np.int64).reshape(-1, 2)
    return indices, np.array(values, np.int64), np.array(extents, np.int64)


def _merged(labels: Sequence[int], merge: bool) -> list[int]:
    return [x for i, x in enumerate(labels) if not (merge and i and labels[i - 1] == x)]


def _found(table: Array, sizes: Array, *, merge: bool) -> Sequence[Array]:
    """Return the first labels of the rows of a table as indices, values and extents."""
    is_there = np.arange(table.shape[1]) < sizes[:, None]
    if merge:
        is_there[:, 1:] &= table[:, 1:] != table[:, :-1]
    rows_, _ = np.nonzero(is_there)
    left = is_there.sum(1)
    columns = np.arange(len(rows_)) - np.repeat(np.cumsum(left) - left, left)
    extents = np.array([len(table), left.max(initial=0)], np.int64)
    return np.stack([rows_, columns], 1), table[is_there], extents


def ctc_beam_search_decoder(
    inputs: object,
    sequence_length: object,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = False,
) -> Decoded:
    """Return the likeliest sequences of labels, and the logarithms of their chances.

    The last class is the blank.
    """
    if top_paths > beam_width:
        raise InvalidArgumentError(
            f"requested more paths than the beam width: {top_paths} of {beam_width}"
        )
    with InGraph(graph_of([inputs, sequence_length])):
        scores, times = convert(inputs), convert(sequence_length, "int32")

        def compute(logits: Array, lengths: Array) -> Sequence[Array]:
            found = search(logits, lengths, beam_width, top_paths)
            paths = [
                _found(found.labels[:, path], found.sizes[:, path], merge=merge_repeated)
                for path in range(top_paths)
            ]
            chances = found.chances.astype(logits.dtype)
            return (*(part for path in paths for part in path), chances)

        specs = [spec for _ in range(top_paths) for spec in _specs()]
        last = TensorSpec(scores.spec.dtype, None)
        made = host("CTCBeamSearchDecoder", compute, [scores, times], [*specs, last])
        paths = [SparseTensor(*made[3 * i : 3 * i + 3]) for i in range(top_paths)]
        return paths, reshape(made[-1], [shape(scores)[1], top_paths])


def first_ctc_beam_search_decoder(
    inputs: object,
    sequence_length: object,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> Decoded:
    """Return the likeliest sequences of labels; repeated ones are merged."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated)


def collapse_repeated(
    labels: object, seq_length: object, name: str | None = None
) -> tuple[TfTensor, TfTensor]:
    """Return labels of which those that follow equal ones are gone, and how many are left."""
    with InGraph(graph_of([labels, seq_length])):
        words, lengths = convert(labels), convert(seq_length)

        def compute(array: Array, counts: Array) -> Sequence[Array]:
            kept = [
                _merged(row[:count], merge=True)
                for row, count in zip(array.tolist(), counts.tolist(), strict=True)
            ]
            found = [len(row) for row in kept]
            made = np.zeros((len(kept), max(found, default=0)), array.dtype)
            for row, values in zip(made, kept, strict=True):
                row[: len(values)] = values
            return made, np.array(found, counts.dtype)

        specs = [unknown(words.spec.dtype, None, None), unknown(lengths.spec.dtype, None)]
        made, left = host("CollapseRepeated", compute, [words, lengths], specs, name=name)
        return made, left


def ctc_unique_labels(labels: object, name: str | None = None) -> tuple[TfTensor, TfTensor]:
    """Return the different labels of each row, and which one each label is."""
    with InGraph(graph_of([labels])):
        words = convert(labels)

        def compute(array: Array) -> Sequence[Array]:
            values = np.zeros_like(array)
            places = np.zeros(array.shape, np.int32)
            for at, row in enumerate(array.tolist()):
                seen: dict[int, int] = {}
                places[at] = [seen.setdefault(x, len(seen)) for x in row]
                values[at, : len(seen)] = list(seen)
            return values, places

        spec = words.spec
        made, places = host(
            "UniqueLabels", compute, [words], [spec, spec.with_dtype(rows.i32)], name=name
        )
        return made, places


V2: dict[str, object] = {
    "collapse_repeated": collapse_repeated,
    "ctc_beam_search_decoder": ctc_beam_search_decoder,
    "ctc_greedy_decoder": ctc_greedy_decoder,
    "ctc_loss": ctc_loss,
    "ctc_unique_labels": ctc_unique_labels,
}
V1: dict[str, object] = {
    "ctc_beam_search_decoder": first_ctc_beam_search_decoder,
    "ctc_beam_search_decoder_v2": ctc_beam_search_decoder,
    "ctc_loss": first_ctc_loss,
    "ctc_loss_v2": ctc_loss,
}
"""What of `nn` is otherwise in the first version."""
