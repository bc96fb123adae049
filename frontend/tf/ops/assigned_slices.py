"""Assignments to parts of variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from ...eager.backward import key_of
from ...eager.remembered import READERS
from ...function.variable import Variable
from ...graph.graph import GraphTensor
from ...values.given import Index
from ..core.bridge import CHANGED, EagerTensor, TfTensor, eager, wrap
from ..core.values import InGraph, InvalidShapesError, convert
from .array_ops import broadcast_to, reshape, shape
from .creation import constant
from .gathering import tensor_scatter_nd_update

Changed = TypeVar("Changed")


class SlicedVariable(EagerTensor):
    """What indexing a variable gives: a tensor that can be assigned to."""

    __slots__ = ("_of", "_where")

    def __init__(self, array: object, variable: Variable, key: Any) -> None:
        super().__init__(array)
        self._of, self._where = variable, key

    def alias(self) -> TfTensor:
        """Return another tensor of the same value, which recorders do not know."""
        return wrap(self._array)

    def assign(self, value: object, name: str | None = None) -> Variable:
        """Change this part of the variable."""
        array = np.asarray(self._of.read_value().numpy())  # which nobody else has
        given = convert(value, self.dtype).numpy()
        try:
            array[self._where] = given
        except ValueError as error:
            raise InvalidShapesError(str(error)) from None
        self._of.assign(eager(array))
        return self._of


def _plain(part: SlicedVariable) -> TfTensor:
    """Return the tensor that a part is, by whose key recorders know it."""
    made = wrap(part._array)
    made._key = key_of(part)
    return made


READERS[SlicedVariable] = _plain


def assign_slice(variable: Variable, key: Index, value: object, name: str | None = None) -> object:
    """Change a part of a variable in a graph; the part is found by indexing numbers of elements."""
    dims = variable.shape.known()
    with InGraph(variable._home()):
        places = constant(np.arange(variable.shape.num_elements() or 0).reshape(dims))[key]
        updates = broadcast_to(variable.converted_like(value), shape(places))
        flat = tensor_scatter_nd_update(
            reshape(variable, [-1]), reshape(places, [-1, 1]), reshape(updates, [-1])
        )
        return variable.assign(reshape(flat, dims), name=name)


def noted(changed: Changed, read: Callable[[], TfTensor]) -> Changed:
    """Return what a change of a variable gives; in a graph it reads the variable behind that."""
    if not isinstance(changed, GraphTensor):
        return changed
    op = ref(changed.op)

    def behind() -> TfTensor:
        made = op()
        assert made is not None, "its result is asked"
        with made.graph.control_dependencies([made]):
            return read()

    CHANGED[changed.op] = behind
    return changed
