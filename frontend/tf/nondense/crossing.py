"""Crosses of features: each choice of one value of every feature of a row, as a text or its hash.

A hash is that of TensorFlow's kernels: FarmHash's fingerprints, joined one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...formats.fingerprints import farm
from ...values.arrays import as_listed
from ...values.dispatch import composites
from ...values.dtypes import DataType
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.shapes import TensorShape
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..ops.math_ops import cast
from .composite import CompositeTensor
from .sparse_tensor import SparseTensor, SparseTensorValue, sparse_of

Row: TypeAlias = list[object]
Part: TypeAlias = tuple[list[TfTensor], Callable[..., list[Row]]]
"""The tensors of a feature, and what makes a list of values of each row from their arrays."""

HASH_KEY = 0xDECAFCAFFE
"""The key of hashes where none is given."""
_FACTOR, _WORD = 0xC6A4A7935BD1E995, (1 << 64) - 1


def _mixed(value: int) -> int:
    return value ^ value >> 47


def joined_fingerprints(first: int, second: int) -> int:
    """Return the fingerprint of two fingerprints in their order."""
    made = first ^ _FACTOR ^ (_mixed(second * _FACTOR & _WORD) * _FACTOR & _WORD)
    made = made * _FACTOR & _WORD
    return _mixed(_mixed(made) * _FACTOR & _WORD)


PARTS = ("indices", "matrix", 2), ("values", "vector", 1), ("shapes", "vector", 1)
"""The tensors of a sparse feature: what they are called, and their rank."""


def _of_sparse(indices: Array, values: Array, extents: Array) -> list[Row]:
    for array, (what, kind, rank) in zip((indices, values, extents), PARTS, strict=True):
        if array.ndim != rank:
            shape = as_listed(array.shape)
            raise InvalidArgumentError(
                f"Input {what} should be a {kind} but received shape {shape}"
            )
    made: list[Row] = [[] for _ in range(int(extents[0]))]
    for place, value in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        made[place].append(value)
    return made


def _of_ragged(values: Array, splits: Array) -> list[Row]:
    flat = values.tolist()
    return [flat[a:b] for a, b in itertools.pairwise(splits.tolist())]


@dataclass(frozen=True)
class Crossing:
    """An operation that crosses features: which types they may have, and what it refuses."""

    type_: str
    floats: bool
    """Whether features may be floats, which are cut down to integers."""
    heights: str
    matrix: str
    sparse: str

    def part(self, value: object, number: int) -> Part:
        """Return a feature's tensors, and how its rows are read."""
        made: CompositeTensor | TfTensor
        made = value if isinstance(value, CompositeTensor) else convert(value)
        dtype: DataType = made.dtype  # type: ignore[union-attr]
        if dtype != "string" and not (dtype.is_integer or self.floats):
            raise ValueError(f"Unexpected dtype for inputs[{number}]: {dtype}")
        if dtype != "string":
            made = cast(made, "int64")
        if isinstance(made, SparseTensor):
            parts = list(made.components())
            ranks = [x.shape.rank for x in parts]
            fits = all(r in (rank, None) for r, (_, _, rank) in zip(ranks, PARTS, strict=True))
            if fits and made.shape.rank not in (2, None):
                raise InvalidShapesError(f"{self.sparse}: found {made.shape}")
            return parts, _of_sparse
        if isinstance(made, CompositeTensor):
            parts = list(made.components())
            if len(parts) != 2 or parts[0].shape.rank not in (1, None):
                raise InvalidShapesError(f"{self.matrix}: inputs[{number}] is {made}")
            return parts, _of_ragged
        if made.shape.rank not in (2, None):
            raise InvalidShapesError(f"{self.matrix}: found {made.shape}")
        return [made], self._of_matrix

    def _of_matrix(self, array: Array) -> list[Row]:
        if array.ndim != 2:
            raise InvalidArgumentError(f"{self.matrix}: found shape {array.shape}")
        made: list[Row] = array.tolist()
        return made

    def refuse_other_heights(self, heights: Sequence[int | None]) -> None:
        """Raise where features have other numbers of rows."""
        if len({*heights} - {None}) > 1:
            raise InvalidShapesError(f"{self.heights}: {[*heights]}")


SPARSE = Crossing(
    "SparseCross",
    True,
    "Expected batch size to be the same",
    "Dense inputs should be a matrix",
    "Expected D2 of index to be 2",
)


def _height(value: object, tensors: Sequence[TfTensor]) -> int | None:
    """Return how many rows a feature has, if that is known."""
    made = value if isinstance(value, CompositeTensor) else tensors[0]
    shape: TensorShape = made.shape  # type: ignore[union-attr]
    return shape.as_list()[0] if shape.rank else None


def crossed_rows(
    crossing: Crossing,
    inputs: Sequence[object],
    buckets: int | None,
    key: int,
    joint: bytes,
    name: str | None,
) -> list[TfTensor]:
    """Return the crosses of all rows, and how many each row has; texts without buckets."""
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    inputs = [sparse_of(x) if isinstance(x, SparseTensorValue) else composites(x) for x in inputs]
    with InGraph(graph_of([x for value in inputs for x in _tensors(value)])):
        parts = [crossing.part(value, number) for number, value in enumerate(inputs)]
    pairs = zip(inputs, parts, strict=True)
    crossing.refuse_other_heights([_height(value, tensors) for value, (tensors, _) in pairs])
    counts = [len(tensors) for tensors, _ in parts]

    def compute(*arrays: Array) -> Sequence[Array]:
        given = iter(arrays)
        columns = [
            read(*itertools.islice(given, n)) for (_, read), n in zip(parts, counts, strict=True)
        ]
        crossing.refuse_other_heights([len(column) for column in columns])
        made = [
            [_cross(choice, buckets, key, joint) for choice in itertools.product(*row)]
            for row in zip(*columns, strict=True)
        ]
        lengths = np.array([len(row) for row in made], np.int64)
        flat = [value for row in made for value in row]
        if buckets is not None:
            return np.array(flat, np.int64), lengths
        texts = np.empty(len(flat), object)
        texts[:] = flat
        return texts, lengths

    row = TEXT if buckets is None else rows.i64
    specs: list[TensorSpec] = [unknown(row, None), unknown(rows.i64, None)]
    type_ = crossing.type_ + "Hashed" * (buckets is not None)
    return host(type_, compute, [x for tensors, _ in parts for x in tensors], specs, name=name)


def _tensors(value: object) -> list[object]:
    return list(value.components()) if isinstance(value, CompositeTensor) else [value]


def _cross(choice: Sequence[object], buckets: int | None, key: int, joint: bytes) -> object:
    if buckets is None:
        return joint.join(v if isinstance(v, bytes) else str(v).encode() for v in choice)
    found = key
    for value in choice:
        number = farm(value) if isinstance(value, bytes) else int(value) & _WORD  # type: ignore[call-overload]
        found = joined_fingerprints(found, number)
    return found % buckets if buckets else found % (_WORD >> 1)


def _as_sparse(found: Sequence[TfTensor]) -> SparseTensor:
    values, lengths = found

    def compute(counts: Array) -> Sequence[Array]:
        total = int(counts.sum())
        first = np.repeat(np.arange(len(counts)), counts)
        second = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        extents = np.array([len(counts), counts.max(initial=0)], np.int64)
        return np.stack([first, second], axis=1).astype(np.int64), extents

    specs = [unknown(rows.i64, None, 2), TensorSpec(rows.i64, (2,))]
    places, extents = host("SparseCrossPlaces", compute, [lengths], specs)
    return SparseTensor(places, values, extents)


def cross(
    inputs: Sequence[object], name: str | None = None, separator: object = None
) -> SparseTensor:
    """Return the crosses of features as texts, their values with `separator` between."""
    given = "_X_" if separator is None else static(separator)
    if isinstance(given, list):
        raise InvalidArgumentError(f"Input separator should be a scalar. Received: {given}")
    if not isinstance(given, str | bytes):
        raise InvalidArgumentError(f"a separator is a text that is known, found {given!r}")
    joint = given.encode() if isinstance(given, str) else given
    return _as_sparse(crossed_rows(SPARSE, inputs, None, 0, joint, name))


def cross_hashed(
    inputs: Sequence[object], num_buckets: int = 0, hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return the numbers of the buckets that the crosses of features fall into."""
    key = HASH_KEY if hash_key is None else hash_key
    return _as_sparse(crossed_rows(SPARSE, inputs, int(num_buckets), key, b"", name))
