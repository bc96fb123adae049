"""`tf.experimental.Optional`: an element that may not be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...values.run_errors import InvalidArgumentError
from ..core.bridge import wrap
from ..core.nested import flatten
from ..core.structures import normal, packed, spec_of, tensor_of
from ..core.values import convert


class Optional:
    """An element, or that there is none."""

    def __init__(self, there: Any, tensors: Sequence[object], spec: object) -> None:
        self._there, self._tensors, self._spec = there, list(tensors), spec

    @classmethod
    def from_value(cls, value: object) -> Optional:
        """Return that there is an element."""
        element = normal(value)
        tensors = [tensor_of(leaf) for leaf in flatten(element)]
        return cls(wrap(np.array(True)), tensors, spec_of(element))

    @classmethod
    def empty(cls, element_spec: object) -> Optional:
        """Return that there is none."""
        return cls(wrap(np.array(False)), [], element_spec)

    def staged_parts(self) -> list[object] | None:
        """Return the tensors that a choice gives and a loop carries; None of an empty one."""
        known = len(self._tensors) == len(flatten(self._spec))
        return [convert(self._there), *map(convert, self._tensors)] if known else None

    def with_staged_parts(self, parts: Sequence[object]) -> Optional:
        """Return such a value of other tensors."""
        return Optional(parts[0], parts[1:], self._spec)

    def staged_copy(self) -> Optional:
        """Return the value: it does not change."""
        return self

    def staged_like(self, other: Optional) -> Optional:
        """Return what the other value is like."""
        return other

    def staged_shapes(self) -> list[object]:
        """Return the shapes of the tensors: those of the first turn."""
        return [None] * (len(self._tensors) + 1)

    @property
    def element_spec(self) -> object:
        """Return what the element is like."""
        return self._spec

    def has_value(self, name: str | None = None) -> object:
        """Say whether there is an element."""
        return self._there

    def get_value(self, name: str | None = None) -> object:
        """Return the element; there must be one."""
        if self._there.eager and not bool(self._there):
            raise InvalidArgumentError("The given optional does not have a value.")
        return packed(self._spec, self._tensors)
