"""Nested lists as ragged tensors: `tf.ragged.constant`, and the values that sessions give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.op import Array
from ...values.dtypes import DTypeLike
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import convert
from ..ops.creation import constant as tensor_constant
from .planning import assembled
from .rows import splits_of
from .tensor import Ragged, RaggedTensor, RaggedTensorValue


def constant(
    pylist: object,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: object = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = "int64",
) -> Ragged:
    """Return nested lists as a ragged tensor, or as a tensor where there are no rows."""
    found = cut(pylist, ragged_rank, inner_shape)
    number = as_dtype(row_splits_dtype).name
    flat = tensor_constant(found.elements, dtype, found.shape, name)
    return assembled(flat, [convert(s.astype(number)) for s in found.splits])


def constant_value(
    pylist: object,
    dtype: object = None,
    ragged_rank: int | None = None,
    inner_shape: object = None,
    row_splits_dtype: object = "int64",
) -> Array | RaggedTensorValue:
    """Return nested lists as the value of a ragged tensor: elements have numpy's types."""
    found = cut(pylist, ragged_rank, inner_shape)
    number = as_dtype(row_splits_dtype).name
    flat = np.array(found.elements, dtype)  # type: ignore[call-overload]
    made: Array | RaggedTensorValue = flat if found.shape is None else flat.reshape(found.shape)
    for each in reversed(found.splits):
        made = RaggedTensorValue(made, each.astype(number))
    return made


@dataclass(frozen=True)
class CutLists:
    """Nested lists without their rows: elements, their shape if one is asked for, the splits."""

    elements: object
    shape: tuple[int, ...] | None
    splits: Sequence[Array] = ()


def cut(pylist: object, ragged_rank: int | None, inner_shape: object) -> CutLists:
    """Return the elements of nested lists, and where rows begin and end at each level."""
    if isinstance(pylist, RaggedTensor | RaggedTensorValue):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    inner = None if inner_shape is None else _sizes(inner_shape)
    if not _is_row(pylist):
        for given, what in ((ragged_rank, "ragged_rank"), (len(inner or ()), "dim(inner_shape)")):
            if given:
                raise ValueError(f"Invalid pylist={pylist!r}: incompatible with {what}={given}")
        return CutLists(pylist, inner)
    depth, scalars = _depths(pylist)
    if scalars is not None and depth > scalars:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    _refuse_depth(pylist, ragged_rank, inner, depth, scalars)
    if ragged_rank is None:
        ragged_rank = max(depth - 1 - len(inner or ()), 0)
    if not ragged_rank:
        return CutLists(pylist, inner)
    return _rows(pylist, ragged_rank, inner, by_place=inner is None and depth > ragged_rank + 1)


def _refuse_depth(
    pylist: object,
    ragged_rank: int | None,
    inner: tuple[int, ...] | None,
    depth: int,
    scalars: int | None,
) -> None:
    """Raise where lists are not as deep as is asked for."""
    if inner is not None and ragged_rank is not None:
        wanted = ragged_rank + len(inner) + 1
        if wanted < depth or (scalars is not None and wanted != scalars):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner)}"
            )


def _rows(
    pylist: object, ragged_rank: int, inner: tuple[int, ...] | None, *, by_place: bool
) -> CutLists:
    """Return what rows hold; `by_place` has the shape of that found by looking at it."""
    level, splits = _held([pylist]), []
    for number in range(ragged_rank):
        if not all(map(_is_row, level)):
            raise ValueError(
                f"pylist has scalar values depth {number + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        splits.append(splits_of(np.array([_length(x) for x in level], np.int64)))
        level = _held(level)
    if by_place:
        inner = _shape_of(level)
    return CutLists(_lists(level), (len(level), *(inner or ())), splits)


def _sizes(shape: object) -> tuple[int, ...]:
    """Return a shape of which all is known."""
    found = TensorShape(shape).as_list()  # type: ignore[arg-type]
    return tuple(n for n in found if n is not None)


def _is_row(value: object) -> bool:
    """Say whether a value holds others."""
    return isinstance(value, list | tuple) or np.ndim(value) > 0  # type: ignore[arg-type]


def _length(row: object) -> int:
    assert isinstance(row, list | tuple | np.ndarray), "it was looked at"
    return len(row)


def _held(rows: Iterable[object]) -> list[object]:
    """Return what rows hold, one behind the other."""
    return [x for row in rows if isinstance(row, list | tuple | np.ndarray) for x in row]


def _lists(value: object) -> object:
    """Return nested tuples as lists."""
    return [_lists(x) for x in value] if isinstance(value, list | tuple) else value


def _depths(value: object) -> tuple[int, int | None]:
    """Return how deep lists are nested, and how deep elements lie, None if there are none."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.ndim, value.ndim if value.size else None
    if not isinstance(value, list | tuple | np.ndarray):
        return 0, 0
    found = [_depths(x) for x in value]
    lies = {scalars for _, scalars in found if scalars is not None}
    if len(lies) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return 1 + max((d for d, _ in found), default=0), lies.pop() + 1 if lies else None


def _shape_of(level: list[object]) -> tuple[int, ...]:
    """Return the shape that all elements of a list have, as far as they hold others."""
    shape: list[int] = []
    while level and any(map(_is_row, level)):
        sizes = {_length(x) if _is_row(x) else None for x in level}
        found = sizes.pop()
        if sizes or found is None:
            raise ValueError("inner values have inconsistent shape")
        shape.append(found)
        level = _held(level)
    return tuple(shape)
