"""Crosses of features with rows of different lengths, and counts of the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

from ...values.dispatch import handles
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.values import convert
from ..nondense.crossing import HASH_KEY, crossed_rows
from ..ops import array_ops, sorting
from ..ops.math_ops import FUNCTIONS, cast
from .making import from_row_lengths
from .tensor import RaggedTensor


def cross(inputs: Sequence[object], name: str | None = None) -> RaggedTensor:
    """Return the crosses of the features of each row as texts with `_X_` between."""
    values, lengths = crossed_rows("RaggedCross", inputs, None, 0, b"_X_", name)
    return from_row_lengths(values, lengths)


def cross_hashed(
    inputs: Sequence[object], num_buckets: int = 0, hash_key: int | None = None,
    name: str | None = None,
) -> RaggedTensor:  # fmt: skip
    """Return the numbers of the buckets that the crosses of each row fall into."""
    key = HASH_KEY if hash_key is None else hash_key
    values, lengths = crossed_rows("RaggedCrossHashed", inputs, num_buckets, key, b"", name)
    return from_row_lengths(values, lengths)


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
    return array_ops.slice_(made, [0, 1], [-1, -1])
