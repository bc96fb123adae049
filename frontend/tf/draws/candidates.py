"""Samples of classes, and the losses that take them for all classes; the numbers are TensorFlow's.

A sampler gives classes, how often each is expected among them, and how often the true ones are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...graph.graph import spec_with_unknowns
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import concat, expand_dims, reshape, shape, transpose, where
from ..ops.creation import ones_like
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, matmul
from ..ops.nn_ops import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from ..ops.random_ops import seeded_key
from ..ops.window_ops import embedding_lookup
from .classes import Distribution, Learned, LogUniform, Uniform, Weighted, sampled

LIMIT = 1 << 31
SAMPLERS = (
    "all_candidate_sampler",
    "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
)
"""The names of the samplers."""


class Sampled(NamedTuple):
    """Classes, and how often they and the true ones are expected."""

    sampled_candidates: TfTensor
    true_expected_count: TfTensor
    sampled_expected_count: TfTensor


def _sampler(type_: str, kind: Callable[[int], Distribution]) -> Callable[..., Sampled]:
    """Return what samples classes of a distribution."""

    def sample(
        true_classes: object,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> Sampled:
        """Draw classes, each at most once if they are to be unique."""
        del name
        _require_range(range_max, num_sampled, unique)
        label = f"{type_}/{num_true}/{num_sampled}/{range_max}/{unique}/CandidateSampler"
        asked = SamplerCall(type_, label, num_true, num_sampled, unique)
        return asked.of(true_classes, kind(range_max), seed)

    return sample


def _require_range(range_max: int, wanted: int, unique: bool) -> None:
    """Raise where there are too few classes, or too many."""
    if unique and wanted > range_max:
        raise ValueError(f"Sampler's range is too small: {wanted} of {range_max} unique classes")
    if range_max < 1 or range_max >= LIMIT:
        raise ValueError(f"range_max is {range_max}, expected from 1 to below {LIMIT}")


class SamplerCall(NamedTuple):
    """What is asked of a sampler."""

    type_: str
    label: str
    num_true: int
    wanted: int
    unique: bool

    def of(self, true_classes: object, kind: Distribution, seed: int | None) -> Sampled:
        """Draw classes of a distribution."""
        with InGraph(graph_of([true_classes])):
            true = self.true(true_classes)

            def draw(key: Array, true: Array) -> Sequence[Array]:
                return sampled(key, true, self.wanted, self.unique, kind)

            return self.drawn(draw, [seeded_key(self.label, self.wanted, seed), true])

    def true(self, classes: object) -> TfTensor:
        """Return the true classes."""
        found = convert(classes, rows.i64)
        dims = found.shape._dims
        if dims is not None and len(dims) == 2 and dims[1] not in (None, self.num_true):
            raise ValueError(f"true_classes of shape {found.shape}, expected [.., {self.num_true}]")
        return found

    def drawn(self, draw: Callable[..., Sequence[Array]], given: Sequence[TfTensor]) -> Sampled:
        """Return what a function gives for tensors, of which the last are the true classes."""

        def specs(_: object) -> Sequence[TensorSpec]:
            return [
                spec_with_unknowns(rows.i64, (self.wanted,)),
                spec_with_unknowns(rows.f32, given[-1].shape._dims),
                spec_with_unknowns(rows.f32, (self.wanted,)),
            ]

        return Sampled(*host(self.type_, draw, given, specs))


uniform_candidate_sampler = _sampler("UniformCandidateSampler", cache(Uniform))
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler", cache(LogUniform))
learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler", Learned)


def fixed_unigram_candidate_sampler(
    true_classes: object,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Draw classes by weights: those listed, or those at the ends of a file's lines."""
    del name
    _require_range(range_max, num_sampled, unique)
    if bool(vocab_file) == bool(len(unigrams)):
        raise ValueError("Must provide either vocab_file or unigrams, and not both.")
    listed = _weights_of(vocab_file) if vocab_file else [float(x) for x in unigrams]
    kind, number = _weighted(tuple(listed[shard::num_shards]), distortion, num_reserved_ids)
    if kind.count != range_max:
        raise ValueError(f"range_max is {range_max}, but there are {kind.count} weights")
    label = f"FixedUnigram/{num_true}/{num_sampled}/{unique}/{number}"
    asked = SamplerCall(
        "FixedUnigramCandidateSampler", f"{label}/CandidateSampler", num_true, num_sampled, unique
    )
    return asked.of(true_classes, kind, seed)


@lru_cache(maxsize=32)
def _weighted(
    listed: tuple[float, ...], distortion: float, reserved: int
) -> tuple[Distribution, int]:
    """Return the distribution of weights, behind classes of none, and what its draws count by."""
    kept = np.power(np.array(listed, np.float32), np.float32(distortion))
    weights = np.concatenate([np.zeros(reserved, np.float32), kept])
    return Weighted(weights), hash(weights.tobytes())


def _weights_of(path: str) -> list[float]:
    """Return the weights at the ends of a file's lines, behind the last comma."""
    lines = Path(path).read_text().splitlines()
    return [float(line.rpartition(",")[2]) for line in lines if line.strip()]


def all_candidate_sampler(
    true_classes: object,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Return all classes, each expected once."""
    del seed, name
    asked = SamplerCall("AllCandidateSampler", "", num_true, num_sampled, unique)

    def every(true: Array) -> Sequence[Array]:
        ones = [np.ones(shape, np.float32) for shape in (true.shape, num_sampled)]
        return [np.arange(num_sampled), *ones]

    with InGraph(graph_of([true_classes])):
        return asked.drawn(every, [asked.true(true_classes)])


def compute_accidental_hits(
    true_classes: object,
    sampled_candidates: object,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Return rows, places in the sample and weights of sampled classes that are true ones."""
    del seed, name
    with InGraph(graph_of([true_classes, sampled_candidates])):
        true, classes = convert(true_classes, "int64"), convert(sampled_candidates, "int64")

        def hits(true: Array, classes: Array) -> Sequence[Array]:
            found = [
                (i, place)
                for i, row in enumerate(true.reshape(-1, num_true).tolist())
                for place, each in enumerate(classes.tolist())
                if each in row
            ]
            pairs = np.array(found, np.int64).reshape(-1, 2)
            weights = np.full(len(pairs), -np.finfo(np.float32).max, np.float32)
            return pairs[:, 0].astype(np.int32), pairs[:, 1].copy(), weights

        open_ = (None,)
        specs = [spec_with_unknowns(row, open_) for row in (rows.i32, rows.i64, rows.f32)]
        at, places, weights = host("ComputeAccidentalHits", hits, [true, classes], specs)
        return at, places, weights


def _logits(
    weights: object,
    biases: object,
    inputs: TfTensor,
    labels: TfTensor,
    sampled: Sampled,
    num_true: int,
    remove_hits: bool,
) -> tuple[TfTensor, TfTensor]:
    """Return logits of the true and the sampled classes, less what is expected; and labels."""
    flat = reshape(labels, [-1])
    classes = sampled.sampled_candidates
    every = concat([flat, classes], 0)
    rows_of, biases_of = embedding_lookup(weights, every), embedding_lookup(biases, every)
    count = shape(flat)[0]
    true_rows, true_biases = rows_of[:count], biases_of[:count]
    other_rows, other_biases = rows_of[count:], biases_of[count:]
    width = inputs.shape.as_list()[1]
    products = expand_dims(inputs, 1) * reshape(true_rows, [-1, num_true, width])
    true = REDUCTIONS["reduce_sum"](products, axis=2) + reshape(true_biases, [-1, num_true])
    others = matmul(inputs, transpose(other_rows)) + other_biases
    if remove_hits:
        same = FUNCTIONS["equal"](expand_dims(labels, 2), reshape(classes, [1, 1, -1]))
        hit = REDUCTIONS["reduce_any"](same, axis=1)
        low = convert(float(np.finfo(np.float32).min), others.dtype)
        others = where(hit, others + low, others)
    log = FUNCTIONS["log"]
    true = true - cast(log(sampled.true_expected_count), true.dtype)
    others = others - cast(log(sampled.sampled_expected_count), others.dtype)
    made = concat([true, others], 1)
    ones = ones_like(true) / float(num_true)
    return made, concat([ones, others * 0.0], 1)


def _prepared(
    labels: object, num_sampled: int, num_classes: int, num_true: int, given: object, seed: object
) -> tuple[TfTensor, Sampled]:
    """Return the true classes, and a sample: that given, or a new one."""
    true = cast(convert(labels), "int64")
    if given is not None:
        if not isinstance(given, tuple):
            raise TypeError(f"sampled_values is {given!r}, expected what a sampler gives")
        return true, Sampled(*given)
    number = seed if isinstance(seed, int) else None
    found = log_uniform_candidate_sampler(true, num_true, num_sampled, True, num_classes, number)
    return true, found


def nce_loss(
    weights: object,
    biases: object,
    labels: object,
    inputs: object,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: object = None,
    remove_accidental_hits: bool = False,
    name: str | None = None,
    partition_strategy: str = "div",
) -> TfTensor:
    """Return by row the loss of telling the true classes from sampled ones."""
    _one_way(weights, partition_strategy)
    with InGraph(graph_of([weights, biases, labels, inputs])):
        given = _prepared(labels, num_sampled, num_classes, num_true, sampled_values, None)
        made, wanted = _logits(
            weights, biases, convert(inputs), *given, num_true, remove_accidental_hits
        )
        losses = sigmoid_cross_entropy_with_logits(labels=wanted, logits=made)
        return REDUCTIONS["reduce_sum"](losses, axis=1)


def sampled_softmax_loss(
    weights: object,
    biases: object,
    labels: object,
    inputs: object,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: object = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
) -> TfTensor:
    """Return by row the cross entropy of the true classes among these and sampled ones."""
    _one_way(weights, partition_strategy)
    with InGraph(graph_of([weights, biases, labels, inputs])):
        given = _prepared(labels, num_sampled, num_classes, num_true, sampled_values, seed)
        made, wanted = _logits(
            weights, biases, convert(inputs), *given, num_true, remove_accidental_hits
        )
        return softmax_cross_entropy_with_logits(labels=wanted, logits=made)


def _one_way(weights: object, strategy: str) -> None:
    """Raise where weights come in parts whose rows take turns."""
    several = isinstance(weights, list | tuple) and len(weights) > 1
    if several and strategy != "div":
        raise NotImplementedError(f"weights in parts by {strategy!r}, expected 'div'")
