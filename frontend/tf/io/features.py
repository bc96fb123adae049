"""What is wanted of examples: features of a fixed size, of any size, in sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import DType
from ...formats import examples as f
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ..core.bridge import row_of
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import array_of

KINDS = {"f32": f.FLOATS, "i64": f.INTEGERS, "string": f.BYTES}


class FixedLenFeature(NamedTuple):
    """A feature of a fixed shape."""

    shape: ShapeLike
    dtype: DTypeLike
    default_value: TensorLike | None = None


class VarLenFeature(NamedTuple):
    """A feature of any length: a sparse tensor."""

    dtype: DTypeLike


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of steps of a fixed shape."""

    shape: ShapeLike
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: TensorLike | None = None


class SparseFeature(NamedTuple):
    """Two features, indices and values, as one sparse tensor."""

    index_key: str | Sequence[str]
    value_key: str
    dtype: DTypeLike
    size: int | Sequence[int]
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """Rows that begin and end at the numbers of a feature."""

    key: str


class RowLengths(NamedTuple):
    """Rows of the lengths in a feature."""

    key: str


class RowStarts(NamedTuple):
    """Rows that begin at the numbers of a feature."""

    key: str


class RowLimits(NamedTuple):
    """Rows that end at the numbers of a feature."""

    key: str


class ValueRowIds(NamedTuple):
    """Rows whose numbers a feature has for each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of one length."""

    length: int


Keyed: TypeAlias = RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds
"""Partitions that a feature says."""
Partition: TypeAlias = Keyed | UniformRowLength


@dataclass(frozen=True)
class RaggedFeature:
    """A feature of rows of any length; partitions cut the rows into rows, the outermost first."""

    dtype: DTypeLike
    value_key: str | None = None
    partitions: Sequence[Partition] = ()
    row_splits_dtype: DTypeLike = "int32"
    validate: bool = False

    RowSplits: ClassVar = RowSplits
    RowLengths: ClassVar = RowLengths
    RowStarts: ClassVar = RowStarts
    RowLimits: ClassVar = RowLimits
    ValueRowIds: ClassVar = ValueRowIds
    UniformRowLength: ClassVar = UniformRowLength

    def __post_init__(self) -> None:
        if self.value_key is not None and not isinstance(self.value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {self.value_key}")
        if self.value_key == "":
            raise ValueError("Argument `value_key` must not be empty")
        if str(row_of(self.dtype)) not in KINDS:
            raise ValueError(
                f"Argument `dtype` must be int64, float32, or bytes; got {self.dtype!r}"
            )
        if str(row_of(self.row_splits_dtype)) not in ("i32", "i64"):
            raise ValueError(
                f"Argument `row_splits_dtype` must be int32 or int64; got {self.row_splits_dtype!r}"
            )
        if not isinstance(self.partitions, list | tuple):
            raise TypeError("Argument `partitions` must be a list or tuple.")
        if wrong := [p for p in self.partitions if not isinstance(p, Partition)]:
            raise TypeError(
                f"Argument `partitions` must be a list of partition objects; got: {wrong[0]!r}"
            )
        if not isinstance(self.validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {self.validate!r}")


class ListFeature(NamedTuple):
    """The values of a feature by themselves, which ragged ones are made of; by its own name."""

    name: str
    dtype: DTypeLike


@dataclass(frozen=True)
class Request:
    """One feature as it is asked for."""

    wanted: f.Wanted
    row: DType
    way: str
    """`fixed`, `any` (sparse), `steps` (of a sequence, filled up in batches) or `lists`."""
    key: str = ""
    """What it is called among the results, if that is not its own name."""

    @property
    def label(self) -> str:
        """What it is called among the results."""
        return self.key or self.wanted.name


def kind_of(dtype: DTypeLike | None, name: str) -> tuple[int, DType]:
    """Return the kind of lists that an element type is in, and its row."""
    row = row_of(dtype)
    if row is None or str(row) not in KINDS:
        raise TypeError(
            f"Feature {name!r}: unsupported dtype {dtype}, expected float32, int64 or string"
        )
    return KINDS[str(row)], row


def requested(name: str, feature: object) -> Request:
    """Return one feature as it is asked for, or raise `ValueError`."""
    if isinstance(feature, VarLenFeature):
        kind, row = kind_of(feature.dtype, name)
        return Request(f.Wanted(name, kind), row, "any")
    if isinstance(feature, FixedLenSequenceFeature):
        kind, row = kind_of(feature.dtype, name)
        if not feature.allow_missing:
            raise ValueError(
                f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True: {name!r}"
            )
        default = None if feature.default_value is None else array_of(feature.default_value, row)
        return Request(
            f.Wanted(name, kind, (None, *_extents(feature, name)), default), row, "steps"
        )
    if isinstance(feature, FixedLenFeature):
        kind, row = kind_of(feature.dtype, name)
        shape = _extents(feature, name)
        return Request(f.Wanted(name, kind, shape, _default(feature, shape, row)), row, "fixed")
    if isinstance(feature, ListFeature):
        kind, row = kind_of(feature.dtype, feature.name)
        return Request(f.Wanted(feature.name, kind), row, "lists", name)
    if isinstance(feature, SparseFeature):
        raise NotImplementedError(f"feature {name!r}: a SparseFeature is none of sequences")
    raise ValueError(f"Invalid feature {name}:{feature}.")


def _extents(
    feature: FixedLenFeature | FixedLenSequenceFeature, name: str
) -> tuple[int | None, ...]:
    dims = TensorShape(feature.shape)
    what = f"Missing shape for feature {name}"
    if dims._dims is not None:
        what = f"All dimensions of shape for feature {name} need to be known"
    if dims._dims is None or None in dims._dims:
        raise ValueError(f"{what}: a feature of shape {dims}, expected one that is known")
    return tuple(dims.as_list())


def _default(feature: FixedLenFeature, shape: Sequence[int | None], row: DType) -> Array | None:
    if feature.default_value is None:
        return None
    found = array_of(feature.default_value, row)
    dims = tuple(d for d in shape if d is not None)
    return found.reshape(dims) if found.size == int(np.prod(dims)) else np.broadcast_to(found, dims)


def requests(features: Mapping[str, object]) -> list[Request]:
    """Return the features that are asked for, in the order of their names."""
    if not features:
        raise ValueError("Argument `features` cannot be empty.")
    return [requested(name, features[name]) for name in sorted(features)]
