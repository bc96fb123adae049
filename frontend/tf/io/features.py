"""What is wanted of examples: features of a fixed size, of any size, in sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import DType
from ...formats import examples as f
from ...values.dtypes import DTypeLike
from ...values.given import TensorLike
from ..core.bridge import row_of
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import array_of


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


class RaggedFeature(NamedTuple):
    """A feature of rows of any length."""

    dtype: DTypeLike
    value_key: str | None = None
    partitions: Sequence[object] = ()
    row_splits_dtype: DTypeLike = "int32"
    validate: bool = False


KINDS = {"f32": f.FLOATS, "i64": f.INTEGERS, "string": f.BYTES}


@dataclass(frozen=True)
class Request:
    """One feature as it is asked for."""

    wanted: f.Wanted
    row: DType
    way: str
    """`fixed`, `any` (sparse) or `steps` (of a sequence, filled up in batches)."""


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
        return Request(f.Wanted(name, kind, (None, *_extents(feature)), default), row, "steps")
    if isinstance(feature, FixedLenFeature):
        kind, row = kind_of(feature.dtype, name)
        shape = _extents(feature)
        return Request(f.Wanted(name, kind, shape, _default(feature, shape, row)), row, "fixed")
    if isinstance(feature, RaggedFeature | SparseFeature):
        raise NotImplementedError(
            f"feature {name!r}: {type(feature).__name__} is not supported, expected "
            "FixedLenFeature, VarLenFeature or FixedLenSequenceFeature"
        )
    raise ValueError(f"Invalid feature {name}:{feature}.")


def _extents(feature: FixedLenFeature | FixedLenSequenceFeature) -> tuple[int | None, ...]:
    dims = TensorShape(feature.shape)
    if dims._dims is None or None in dims._dims:
        raise ValueError(f"a feature of shape {dims}, expected one that is known")
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
