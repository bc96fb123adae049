"""Indexing by numpy's rules: arrays of indices and masks among slices, numbers and new axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

import numpy as np

from ..core.bridge import Common, TfTensor
from ..core.values import convert
from ..ops.array_ops import boolean_mask, broadcast_to, shape, stack, transpose, unstack, where
from ..ops.gathering import gather_nd
from ..ops.indexing import getitem as part_of
from ..ops.math_ops import cast
from .elementwise import nonzero
from .promoting import Together, Value, result_type, tensor

Key = Value
"""What stands between brackets: a number, a slice, a tensor, an array, a list, None, `...`."""


def _is_list(key: Key) -> bool:
    """Say whether a key is indices or a mask, and no number."""
    if isinstance(key, np.ndarray):
        return key.ndim > 0
    return isinstance(key, list) or (isinstance(key, Common) and len(key.shape) > 0)


def _is_mask(key: Key) -> bool:
    return bool(result_type(key) == np.bool_)


def getitem(x: TfTensor, key: Key) -> TfTensor:
    """Return the elements that numpy would."""
    keys = list(key) if isinstance(key, tuple) else [key]
    keys = [list(each) if isinstance(each, tuple) else each for each in keys]
    lists = [each for each in keys if _is_list(each)]
    if not lists:
        return part_of(x, key)
    with Together(x, *lists):
        x = convert(x)
        if len(keys) == 1 and _is_mask(keys[0]):
            return boolean_mask(x, keys[0])
        return _taken(x, _one_for_each_axis(keys, len(x.shape)))


def _one_for_each_axis(keys: Sequence[Key], rank: int) -> list[Key]:
    """Return keys without `...` and masks: each of them, but a new axis, is of one axis."""
    found: list[Key] = []
    for key in keys:
        found += nonzero(key) if _is_list(key) and _is_mask(key) else [key]
    missing = rank - sum(key is not None and key is not Ellipsis for key in found)
    places = [i for i, key in enumerate(found) if key is Ellipsis] or [len(found)]
    found[places[0] : places[0] + 1] = [slice(None)] * missing
    return found


def _taken(x: TfTensor, keys: Sequence[Key]) -> TfTensor:
    """Return what slices leave, then what indices take of that."""
    is_index = [key is not None and not isinstance(key, slice) for key in keys]
    pairs = zip(keys, is_index, strict=True)
    left = part_of(x, tuple(slice(None) if taken else key for key, taken in pairs))
    places = [i for i, taken in enumerate(is_index) if taken]
    others = [i for i, taken in enumerate(is_index) if not taken]
    sizes = unstack(shape(left), num=len(keys))
    every = [_from_start(keys[i], sizes[i]) for i in places]
    wide = shape(reduce(operator.add, every))
    rank = max(len(each.shape) for each in every)
    indices = stack([broadcast_to(each, wide) for each in every], -1)
    found = gather_nd(transpose(left, [*places, *others]), indices)
    if places != [*range(places[0], places[-1] + 1)]:
        return found
    before = [*range(rank, rank + places[0])]
    behind = [*range(rank + places[0], rank + len(others))]
    return transpose(found, [*before, *range(rank), *behind])


def _from_start(key: Key, size: TfTensor) -> TfTensor:
    """Return indices that are counted from the start of their axis."""
    index = cast(tensor(key) if isinstance(key, list) else convert(key), "int32")
    return where(index < 0, index + size, index)
