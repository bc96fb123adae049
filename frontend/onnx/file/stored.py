"""The tensors that a graph holds, as they lie in a file: what they are, of all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from ....ir import Array, DType
from ...files.beside import Bytes
from .columns import RECORD, VARINT, Columns, Integers, columns_of, folded, names_at, rows_of
from .data import DTYPES, Tensors

EXTENT, TYPE, NAME, RAW, TEXT = (
    1 << 3 | VARINT, 2 << 3 | VARINT, 8 << 3 | RECORD, 9 << 3 | RECORD, 12 << 3 | RECORD,
)  # fmt: skip
EXTENTS = 1 << 3 | RECORD
"""How some write all extents as one field."""
Kind = tuple[int, tuple[int, ...]]
"""Type and shape of a tensor."""


@dataclass(frozen=True)
class StoredTensors:
    """The tensors of a graph, by their numbers."""

    data: Bytes
    starts: Integers
    ends: Integers
    names: list[str]
    kinds: Integers
    """For each the number of its kind."""
    of_kind: list[Kind]
    raw: Integers
    """Where the values of each lie, -1 where they are not written one behind the other."""
    columns: Columns
    tensors: Tensors

    @classmethod
    def of(
        cls, data: Bytes, starts: Integers, ends: Integers, tensors: Tensors
    ) -> StoredTensors | None:
        """Return the tensors in some places; None where one is written in an odd way."""
        columns, count = columns_of(data, starts, ends), len(starts)
        if columns is None or np.any(columns.tags == EXTENTS):
            return None
        names, types = columns.where(columns.tags == NAME), columns.where(columns.tags == TYPE)
        if np.any(names.counts(count) != 1) or np.any(types.counts(count) != 1):
            return None
        called = names_at(data, names.starts, names.ends)
        if called is None or len(set(called)) < count or "" in called:
            return None
        extents = columns.where(columns.tags == EXTENT)
        kinds = folded(types.values, extents.records, extents.values)
        of_kind: list[Kind] = []
        ranks = extents.counts(count)
        behind = np.cumsum(ranks)
        for first in np.unique(kinds, return_index=True)[1].tolist():
            shape = extents.values[behind[first] - ranks[first] : behind[first]]
            of_kind.append((int(types.values[first]), tuple(shape.tolist())))
        raw = _raw(columns, kinds, of_kind)
        return cls(data, starts, ends, called, kinds, of_kind, raw, columns, tensors)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    def arrays(self, numbers: Sequence[int]) -> list[Array]:
        """Return the values of tensors of one kind."""
        code, shape = self.of_kind[self.kinds[numbers[0]]]
        dtype = DTYPES.get(code)
        places = self.raw[list(numbers)].tolist()
        if dtype is None or min(places) < 0:
            return [self.tensors.read(self.tensor(number)) for number in numbers]
        data, element = self.data, dtype.numpy
        return [np.ndarray(shape, element, data, at) for at in places]

    def elements(self, numbers: Integers, place: int) -> NDArray[np.generic]:
        """Return one element of each of some tensors of one kind."""
        code, _ = self.of_kind[self.kinds[numbers[0]]]
        places, dtype = self.raw[numbers], DTYPES[code]
        if np.any(places < 0):
            return np.array([array.flat[place] for array in self.arrays(numbers.tolist())])
        rows = rows_of(self.data, places + place * dtype.size, dtype.size)
        return rows.view(dtype.numpy)[:, 0]

    def are_one_number(self, numbers: Integers) -> NDArray[np.bool_]:
        """Say of small tensors of one kind whether all elements of each are the same."""
        code, shape = self.of_kind[self.kinds[numbers[0]]]
        places, dtype = self.raw[numbers], DTYPES[code]
        if np.any(places < 0):
            rows = np.array(self.arrays(numbers.tolist())).reshape(len(numbers), -1)
        else:
            rows = rows_of(self.data, places, prod(shape) * dtype.size).view(dtype.numpy)
        return np.asarray((rows == rows[:, :1]).all(axis=1))

    def tensor(self, number: int) -> TensorProto:
        """Return one as protobuf has it."""
        data = self.record(number, self.starts[number], self.ends[number])
        found: TensorProto = TensorProto.FromString(data)
        return found

    def record(self, number: int, start: int, end: int) -> bytes:
        """Return some bytes of a tensor."""
        assert self.starts[number] <= start <= end <= self.ends[number], "not of this tensor"
        return bytes(memoryview(self.data.data)[start:end])

    def content(self, number: int) -> tuple[bytes, ...]:
        """Return all that a tensor is but its name."""
        first, behind = np.searchsorted(self.columns.records, [number, number + 1])
        own = Columns(*(column[first:behind] for column in self.columns))
        rows = zip(own.tags.tolist(), own.starts.tolist(), own.ends.tolist(), strict=True)
        fields = [(tag, start, end) for tag, start, end in rows if tag != NAME]
        return tuple(bytes([tag]) + self.record(number, a, b) for tag, a, b in fields)


def _raw(columns: Columns, kinds: Integers, of_kind: Sequence[Kind]) -> Integers:
    """Return where the values of plain tensors lie: those with a type and a shape besides."""
    count = len(kinds)
    odd = columns.where(~np.isin(columns.tags, (EXTENT, TYPE, NAME, RAW, TEXT)))
    values = columns.where(columns.tags == RAW)
    sizes = np.array([_size(*kind) for kind in of_kind], np.int64)
    found = np.full(count, -1, np.int64)
    found[values.records] = np.where(
        values.values == sizes[kinds[values.records]], values.starts, -1
    )
    found[(odd.counts(count) > 0) | (values.counts(count) != 1)] = -1
    return found


def _size(code: int, shape: tuple[int, ...]) -> int:
    """Return how many bytes a tensor is that may be viewed where it lies, -1 for others."""
    dtype: DType | None = DTYPES.get(code)
    size = -1 if dtype is None or dtype.kind not in "fiu" else prod(shape) * dtype.size
    return size if size < 1 << 62 else -1
