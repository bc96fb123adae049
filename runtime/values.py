"""Arguments and results that no compiled code takes: sequences, optionals, and texts.

A sequence is a list of arrays, nothing is None, a tensor of texts is an array of `str`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import RuntimeInputError
from .arguments import describe, to_array
from .artifact import TensorInfo
from .buffer import Array

TEXT = "string"
"""The element type of texts."""
OPEN = "any"
"""What stands for a dimension that each tensor of a sequence has for itself."""


@dataclass(frozen=True)
class ValueInfo(TensorInfo):
    """What goes in or comes out of a model with host steps."""

    holders: tuple[str, ...] = ()
    """What holds the tensors, from outside: `sequence`, `optional`."""
    is_ranked: bool = True
    """Whether the number of dimensions is known."""

    def __post_init__(self) -> None:
        """Take every element type."""

    def __str__(self) -> str:
        inner = f"{self.dtype}[{', '.join(map(str, self.shape)) if self.is_ranked else '*'}]"
        for holder in reversed(self.holders):
            inner = f"{holder}({inner})"
        return inner


def to_value(value: Any, info: ValueInfo) -> Any:
    """Return an argument as host steps and compiled code take it, or raise."""
    return _held(value, info, info.holders)


def _held(value: Any, info: ValueInfo, holders: tuple[str, ...]) -> Any:
    if not holders:
        return _tensor(value, info, bool(info.holders))
    holder, *rest = holders
    if holder == "optional":
        return None if value is None else _held(value, info, tuple(rest))
    if not isinstance(value, list | tuple):
        found = describe(value)
        raise RuntimeInputError(f"argument {info.name!r} is {info} and was called with {found}")
    return [_held(each, info, tuple(rest)) for each in value]


def _texts(found: Array, info: ValueInfo) -> Array:
    """Return an array of texts as one of Python's own."""
    every = found.ravel().tolist() if found.dtype.kind in "OUST" else [None]
    if {*map(type, every)} <= {str}:
        return found.astype(object)
    if not all(isinstance(text, str | bytes) for text in every):
        raise RuntimeInputError(
            f"argument {info.name!r} is {info} and was called with {describe(found)}"
        )
    texts = np.empty(found.size, object)
    texts[:] = [text.decode() if isinstance(text, bytes) else str(text) for text in every]
    return texts.reshape(found.shape)


def _tensor(value: Any, info: ValueInfo, is_held: bool) -> Any:
    array = _texts(np.asarray(value), info) if info.dtype == TEXT else to_array(value, info)
    shape: tuple[int, ...] = array.shape
    fits = len(shape) == len(info.shape) and all(
        not isinstance(dim, int) or dim == size
        for dim, size in zip(info.shape, shape, strict=False)
    )
    if info.is_ranked and not fits:
        raise RuntimeInputError(
            f"argument {info.name!r} is {info} and was called with {describe(array)}"
        )
    return array
