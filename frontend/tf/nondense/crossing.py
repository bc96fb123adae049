"""Crosses of features: each choice of one value of every feature of a row, as a text or its hash.

A hash is that of TensorFlow's kernels: FarmHash's fingerprints, joined one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ....codegen.serial.function import I64s, U64s, Word, serial
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...formats.fingerprints import farms
from ...formats.hashing import hashes
from ...values.arrays import as_listed
from ...values.dispatch import composites
from ...values.dtypes import DataType
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT, Text, made_text
from ..core.bridge import TfTensor
from ..core.host_ops import host, texts, unknown
from ..core.shapes import TensorShape
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, static
from ..ops.math_ops import cast
from .composite import CompositeTensor
from .numbering import is_inside
from .row_loops import order_of
from .sparse_tensor import SparseTensor, SparseTensorValue, sparse_of

Column: TypeAlias = tuple[Text | Array, Array]
"""The values of a feature in the order of rows, and how many each row has."""
Part: TypeAlias = tuple[list[TfTensor], Callable[..., Column]]
"""The tensors of a feature, and what makes its column of their arrays."""

HASH_KEY = 0xDECAFCAFFE
"""The key of hashes where none is given."""
_FACTOR, _WORD = 0xC6A4A7935BD1E995, (1 << 64) - 1


def _mixed(value: Word) -> Word:
    return value ^ value >> 47


def joined_fingerprints(first: Word, second: Word) -> Word:
    """Return the fingerprint of two fingerprints in their order."""
    made = first ^ _FACTOR ^ (_mixed(second * _FACTOR & _WORD) * _FACTOR & _WORD)
    made = made * _FACTOR & _WORD
    return _mixed(_mixed(made) * _FACTOR & _WORD)


@serial
def _cross_all(
    words: U64s, begins: I64s, sizes: I64s, rows_: int, key: Word, buckets: Word, made: U64s
) -> int:
    """Write the bucket of each choice of one word of every feature of a row.

    The word of the last feature varies fastest. Where words begin and how many there are, is said
    of all rows of each feature.
    """
    last, at = len(begins) // rows_ - 1, 0
    for row in range(rows_):
        total = 1
        for k in range(last):
            total *= sizes[k * rows_ + row]
        begin = begins[last * rows_ + row]
        end = begin + sizes[last * rows_ + row]
        for number in range(total):
            first, step = key, total  # what the choices begin with that differ in the last word
            for k in range(last):
                here = k * rows_ + row
                step = step // sizes[here]
                first = joined_fingerprints(
                    first, words[begins[here] + number // step % sizes[here]]
                )
            for place in range(begin, end):
                made[at] = joined_fingerprints(first, words[place]) % buckets
                at += 1
    return at


PARTS = ("indices", "matrix", 2), ("values", "vector", 1), ("shapes", "vector", 1)
"""The tensors of a sparse feature: what they are called, and their rank."""


def _of_sparse(indices: Array, values: Text | Array, extents: Array) -> Column:
    for array, (what, kind, rank) in zip((indices, values, extents), PARTS, strict=True):
        if len(array.shape) != rank:
            shape = as_listed(array.shape)
            raise InvalidArgumentError(
                f"Input {what} should be a {kind} but received shape {shape}"
            )
    row, count = indices[:, :1], int(extents[0])
    if not is_inside(row, [count]):
        raise InvalidArgumentError(f"a row of indices is none of {count} rows")
    order = order_of(row)
    if order is not None:
        values = np.asarray(values)[order]
    return values, np.bincount(row[:, 0], minlength=count)


def _of_ragged(values: Text | Array, splits: Array) -> Column:
    return values, np.diff(splits)


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
        if dtype not in ("string", "int64"):
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

    def _of_matrix(self, array: Text | Array) -> Column:
        if len(array.shape) != 2:
            raise InvalidArgumentError(f"{self.matrix}: found shape {array.shape}")
        height, width = array.shape
        return array, np.full(height, width)

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
    if buckets is not None and buckets < 0:
        raise InvalidArgumentError(f"num_buckets is {buckets}, expected 0 or more")
    inputs = [sparse_of(x) if isinstance(x, SparseTensorValue) else composites(x) for x in inputs]
    with InGraph(graph_of([x for value in inputs for x in _tensors(value)])):
        parts = [crossing.part(value, number) for number, value in enumerate(inputs)]
    pairs = zip(inputs, parts, strict=True)
    crossing.refuse_other_heights([_height(value, tensors) for value, (tensors, _) in pairs])
    counts = [len(tensors) for tensors, _ in parts]

    def compute(*arrays: Text | Array) -> Sequence[Array]:
        given = iter(arrays)
        columns = [
            read(*itertools.islice(given, n)) for (_, read), n in zip(parts, counts, strict=True)
        ]
        crossing.refuse_other_heights([len(sizes) for _, sizes in columns])
        if buckets is not None:
            return _hashed(columns, buckets, key)
        listed = [_rows(column) for column in columns]
        made = [
            [joint.join(choice) for choice in itertools.product(*row)]
            for row in zip(*listed, strict=True)
        ]
        lengths = np.array([len(row) for row in made], np.int64)
        return texts([value for row in made for value in row]), lengths

    def specs(_: object) -> Sequence[TensorSpec]:
        return unknown(TEXT if buckets is None else rows.i64, None), unknown(rows.i64, None)

    type_ = crossing.type_ + "Hashed" * (buckets is not None)
    every = [x for tensors, _ in parts for x in tensors]
    return host(type_, compute, every, specs, reads_text=True, name=name)


def _tensors(value: object) -> list[object]:
    return list(value.components()) if isinstance(value, CompositeTensor) else [value]


def _rows(column: Column) -> list[list[bytes]]:
    """Return the texts of each row; integers are written as such."""
    values, sizes = column
    flat = [x if isinstance(x, bytes) else b"%d" % x for x in np.asarray(values).ravel().tolist()]
    ends = [0, *np.cumsum(sizes).tolist()]
    return [flat[a:b] for a, b in itertools.pairwise(ends)]


def _hashed(columns: Sequence[Column], buckets: int, key: int) -> Sequence[Array]:
    """Return the buckets of the choices of all rows, and how many each row has."""
    if not columns:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    sizes = np.array([size for _, size in columns], np.int64)
    begins = (sizes.cumsum() - sizes.ravel()).reshape(sizes.shape)
    words = np.concatenate([_words(values) for values, _ in columns])
    lengths = np.multiply.reduce(sizes, axis=0)
    made = np.empty(int(lengths.sum()), np.uint64)
    if len(made):
        height = len(lengths)
        _cross_all(words, begins, sizes, height, key & _WORD, buckets or _WORD >> 1, made)
    return made.view(np.int64), lengths


def _words(values: Text | Array) -> Array:
    """Return the fingerprint of each text, or the integers."""
    if values.dtype != object:
        return np.asarray(values, np.int64).ravel().view(np.uint64)
    row = made_text(values).row
    return hashes(farms, row.every, row.sizes, 0)


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
    return _as_sparse(crossed_rows(SPARSE, _sparse_first(inputs), None, 0, joint, name))


def _sparse_first(inputs: Sequence[object]) -> Sequence[object]:
    """Return features in the order of their values in a cross: those of sparse ones come first."""
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    return sorted(inputs, key=lambda x: not isinstance(x, SparseTensor | SparseTensorValue))


def cross_hashed(
    inputs: Sequence[object], num_buckets: int = 0, hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return the numbers of the buckets that the crosses of features fall into."""
    key = HASH_KEY if hash_key is None else hash_key
    return _as_sparse(crossed_rows(SPARSE, _sparse_first(inputs), int(num_buckets), key, b"", name))
