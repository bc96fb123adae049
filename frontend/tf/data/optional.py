"""`tf.experimental.Optional`: an element that may not be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.graph import Graph
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, wrap
from ..core.nested import flatten
from ..core.specs import TensorSpec
from ..core.structures import normal, packed, spec_of, tensor_of
from ..core.values import convert
from ..graph.debugging import Assert
from ..graph.state import control_dependencies
from ..ops.creation import zeros
from ..ops.math_ops import identity


def said(there: bool) -> TfTensor:
    """Return whether there is an element: as a tensor of the graph that is being made, if any."""
    return convert(there) if isinstance(STATE.context, Graph) else wrap(np.array(there))


ABSENT = "The given optional does not have a value."


class Optional:
    """An element, or that there is none."""

    def __init__(self, there: Any, tensors: Sequence[object], spec: object) -> None:
        self._there, self._tensors, self._spec = there, list(tensors), spec

    @classmethod
    def from_value(cls, value: object) -> Optional:
        """Return that there is an element."""
        element = normal(value)
        tensors = [tensor_of(leaf) for leaf in flatten(element)]
        return cls(said(True), tensors, spec_of(element))

    @classmethod
    def empty(cls, element_spec: object) -> Optional:
        """Return that there is none."""
        return cls(said(False), [], element_spec)

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
            raise InvalidArgumentError(ABSENT)
        if self._tensors or not flatten(self._spec):
            return packed(self._spec, self._tensors)
        with control_dependencies([Assert(self._there, [ABSENT])]):
            return packed(self._spec, [_nothing_of(leaf) for leaf in flatten(self._spec)])


def _nothing_of(spec: object) -> TfTensor:
    """Return what no run gets: a tensor of a spec, behind the check that there is one."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        raise NotImplementedError(
            f"Optional.get_value of an empty one of {spec!r} in a graph, expected tensors of "
            "known rank"
        )
    return identity(zeros([size or 0 for size in spec.shape.as_list()], spec.dtype))
