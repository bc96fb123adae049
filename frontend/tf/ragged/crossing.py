"""Crosses of features with rows of different lengths, and counts of the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.values import convert
from ..nondense import sparse_functions as _counts
from ..nondense.crossing import HASH_KEY, Crossing, crossed_rows
from ..nondense.sparse_tensor import SparseTensor
from ..ops import indexing, sorting
from ..ops.math_ops import FUNCTIONS, cast
from .making import from_row_lengths
from .moving import same_rows
from .planning import assembled
from .tensor import RaggedTensor

RAGGED = Crossing(
    "RaggedCross",
    False,
    "inputs must all have the same batch dimension size",
    "tf.ragged.cross only supports inputs with rank=2",
    "tf.ragged.cross only supports inputs with rank=2",
)


def cross(inputs: Sequence[object], name: str | None = None) -> RaggedTensor:
    """Return the crosses of the features of each row as texts with `_X_` between."""
    values, lengths = crossed_rows(RAGGED, inputs, None, 0, b"_X_", name)
    return from_row_lengths(values, lengths, validate=False)


def cross_hashed(
    inputs: Sequence[object], num_buckets: int = 0, hash_key: int | None = None,
    name: str | None = None,
) -> RaggedTensor:  # fmt: skip
    """Return the numbers of the buckets that the crosses of each row fall into."""
    key = HASH_KEY if hash_key is None else hash_key
    values, lengths = crossed_rows(RAGGED, inputs, num_buckets, key, b"", name)
    return from_row_lengths(values, lengths, validate=False)


@handles(RaggedTensor, sorting.bincount)
def _bincount(
    arr: RaggedTensor,
    weights: object = None,
    minlength: object = None,
    maxlength: object = None,
    dtype: DTypeLike | None = "int32",
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> TfTensor:
    """Count numbers, in each row with `axis=-1`: rows are filled up with a number of their own."""
    by = weights.flat_values if isinstance(weights, RaggedTensor) else weights
    if axis != -1:
        return sorting.bincount(
            arr.flat_values, by, minlength, maxlength, dtype, name, axis, binary_output
        )
    filled = FUNCTIONS["add"](cast(arr.to_tensor(-1), "int64"), convert(1, "int64"))
    least = None if minlength is None else int(minlength) + 1  # type: ignore[call-overload]
    most = None if maxlength is None else int(maxlength) + 1  # type: ignore[call-overload]
    rest = weights.to_tensor(0) if isinstance(weights, RaggedTensor) else weights
    made = sorting.bincount(filled, rest, least, most, dtype, name, -1, binary_output)
    return indexing.slice_(made, [0, 1], [-1, -1])


@handles(RaggedTensor, _counts.bincount)
def _sparse_bincount(
    values: object,
    weights: object = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Count how often each number occurs, in all rows or (axis -1) in each."""
    counted: object = values
    by: object = weights
    if not isinstance(values, RaggedTensor):
        kind = "SparseTensor" if isinstance(values, SparseTensor) else "tf.Tensor"
        _counts.refuse_weights(weights, kind, kind)
    if weights is not None:
        if not isinstance(weights, RaggedTensor):
            _counts.refuse_weights(weights, "RaggedTensor", "RaggedTensor")
        splits = same_rows(
            [values, weights], "'weights' and 'values' must have the same row splits."
        )
        values = assembled(values.flat_values, splits)
        by = weights.flat_values
        assert isinstance(values, RaggedTensor), "it has rows"
    if axis == -1:
        counted = values.to_sparse()
        assert isinstance(counted, SparseTensor), "rows are made sparse"
        by = None if by is None else counted.with_values(by)
    else:
        counted = values.flat_values
    return _counts.bincount(counted, by, axis, minlength, maxlength, binary_output, name)
