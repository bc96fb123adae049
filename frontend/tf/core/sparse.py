"""`SparseTensor`: the elements of a tensor that are not zero, and where they are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec as CoreSpec
from ...data.batches import Pile
from ...data.stages import part
from ...graph.graph import spec_with_unknowns
from ...graph.text_arrays import TEXT
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from .bridge import TfTensor, row_of
from .host_ops import host
from .shapes import ShapeLike, TensorShape
from .structures import Part, PartSpec
from .values import InGraph, convert, graph_of, static

SparseTensorValue = namedtuple("SparseTensorValue", "indices values dense_shape")


class SparsePile(Pile):
    """Indices, values and shape as one part of an element."""

    def __init__(self, indices: Array, values: Array, shape: Array) -> None:
        self.indices, self.values, self.shape = indices, values, shape

    @classmethod
    def piled(cls, piles: Sequence[Any]) -> SparsePile:
        """Return several along a new first axis."""
        counts = [len(each.values) for each in piles]
        first = np.repeat(np.arange(len(piles), dtype=np.int64), counts)[:, None]
        rest = np.concatenate([each.indices for each in piles])
        shapes = np.stack([each.shape for each in piles])
        extents = np.array([len(piles), *shapes.max(axis=0)], np.int64)
        values = np.concatenate([each.values for each in piles])
        return cls(np.concatenate([first, rest], axis=1), values, extents)

    def rows(self) -> list[SparsePile]:
        """Return the parts along the first axis."""
        made = []
        for number in range(int(self.shape[0])):
            here = self.indices[:, 0] == number
            made.append(SparsePile(self.indices[here, 1:], self.values[here], self.shape[1:]))
        return made


class SparseTensor(Part):
    """The elements of a tensor that are not zero: where they are, what they are, its shape."""

    def __init__(self, indices: object, values: object, dense_shape: object) -> None:
        with InGraph(graph_of([indices, values, dense_shape])):
            self._indices = convert(indices, None if hasattr(indices, "spec") else "int64")
            self._values = convert(values)
            self._shape = convert(dense_shape, None if hasattr(dense_shape, "spec") else "int64")
        for name, tensor, rank in (("indices", self._indices, 2), ("values", self._values, 1),
                                   ("dense_shape", self._shape, 1)):  # fmt: skip
            if tensor.shape.rank not in (rank, None):
                raise ValueError(f"{name} of rank {tensor.shape.rank}, expected {rank}")

    @classmethod
    def from_value(cls, value: Any) -> SparseTensor:
        """Return what a value describes that has indices, values and a shape."""
        return cls(value.indices, value.values, value.dense_shape)

    indices = property(lambda self: self._indices)
    values = property(lambda self: self._values)
    dense_shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)
    op = property(lambda self: self._values.op)

    @property
    def shape(self) -> TensorShape:
        """Return the shape as far as it is known."""
        known = static(self._shape)
        if isinstance(known, list):
            return TensorShape(known)
        rank = self._shape.shape.num_elements()
        return TensorShape(None if rank is None else [None] * rank)

    def get_shape(self) -> TensorShape:
        """Return the shape as far as it is known."""
        return self.shape

    @property
    def parts(self) -> list[Any]:
        """Return the tensors that a session fetches for it."""
        return [self._indices, self._values, self._shape]

    def fetched(self, values: Sequence[object]) -> SparseTensorValue:
        """Return what a session gives for it."""
        return SparseTensorValue(*values)

    @property
    def part_spec(self) -> SparseTensorSpec:
        """Return what it is like."""
        return SparseTensorSpec(self.shape, self.dtype)

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for it."""

        def compute(*arrays: Array) -> Sequence[Array]:
            return (part(SparsePile(*arrays)),)

        return host("SerializeSparse", compute, self.parts, [CoreSpec(TEXT, ())])[0]

    def rows(self) -> TfTensor:
        """Say that it has slices along its first axis."""
        return self._shape[0]

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!r}, values={self._values!r}, "
            f"dense_shape={self._shape!r})"
        )


class SparseTensorSpec(PartSpec):
    """What a sparse tensor is like."""

    value_type = SparseTensor

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike | None = "float32") -> None:
        from ...values.dtypes import as_dtype  # noqa: PLC0415

        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    def part_of(self, tensor: TfTensor) -> SparseTensor:
        """Return the sparse tensor that a tensor stands for."""
        rank, row = self.shape.rank, row_of(self.dtype)
        specs = [
            spec_with_unknowns(rows.i64, (None, rank)),
            spec_with_unknowns(row, (None,)),  # type: ignore[arg-type]
            spec_with_unknowns(rows.i64, (rank,)),
        ]

        def compute(value: Array) -> Sequence[Array]:
            pile: SparsePile = value.item()
            return pile.indices, pile.values, pile.shape

        return SparseTensor(*host("DeserializeSparse", compute, [tensor], specs))

    def stacked(self, extent: int | None) -> SparseTensorSpec:
        """Return what several are like along a new first axis."""
        dims = self.shape._dims
        return SparseTensorSpec(None if dims is None else (extent, *dims), self.dtype)

    def unstacked(self) -> SparseTensorSpec:
        """Return what one is like of several along the first axis."""
        dims = self.shape._dims
        return SparseTensorSpec(None if dims is None else dims[1:], self.dtype)

    def numpy_value(self) -> None:
        """Say that numpy's iterator gives it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and (
            self.shape._dims == other.shape._dims and self.dtype == other.dtype
        )

    def __hash__(self) -> int:
        return hash(str(self.shape))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape}, tf.{self.dtype.name})"


def to_dense(
    sp_input: SparseTensor,
    default_value: object = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return the whole tensor, with a value where nothing is given."""
    row = sp_input.values.spec.dtype
    empty = b"" if row.kind == "s" else np.zeros((), row.numpy)
    value = convert(empty if default_value is None else default_value, row)

    def compute(indices: Array, values: Array, shape: Array, fill: Array) -> tuple[Array]:
        made = np.empty(tuple(shape.tolist()), values.dtype)
        made[...] = fill
        if validate_indices:
            _check(indices, shape)
        made[tuple(indices.T)] = values
        return (made,)

    return host("SparseToDense", compute, [*sp_input.parts, value],
                [spec_with_unknowns(row, sp_input.shape._dims)], name=name)[0]  # fmt: skip


def _check(indices: Array, shape: Array) -> None:
    """Raise unless indices are within a shape, in order, each once."""
    for number, row in enumerate(indices.tolist()):
        if any(not 0 <= i < n for i, n in zip(row, shape.tolist(), strict=True)):
            raise InvalidArgumentError(
                f"indices[{number}] = {row} is out of bounds: need 0 <= index < {shape.tolist()}"
            )
        before = indices[number - 1].tolist() if number else None
        if before is not None and before >= row:
            kind = "repeated" if before == row else "out of order"
            raise InvalidArgumentError(f"indices[{number}] = {row} is {kind}")


def from_dense(tensor: object, name: str | None = None) -> SparseTensor:
    """Return the elements of a tensor that are not zero."""
    x = convert(tensor)
    rank = x.shape.rank

    def compute(array: Array) -> tuple[Array, Array, Array]:
        places = np.argwhere(array != (b"" if array.dtype.kind == "O" else 0)).astype(np.int64)
        return places, array[tuple(places.T)], np.array(array.shape, np.int64)

    specs = [
        spec_with_unknowns(rows.i64, (None, rank)),
        spec_with_unknowns(x.spec.dtype, (None,)),
        spec_with_unknowns(rows.i64, (rank,)),
    ]
    return SparseTensor(*host("DenseToSparse", compute, [x], specs, name=name))
