"""What is raised when a condition does not hold, at once or when a node runs.

At once the parts of the message stand in lines of their own; a node's are in brackets:

    assertion failed: [message] [Condition x == y did not hold element-wise:] [x (x:0) = ] [1 2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ....ir.types.tensor import Array
from ...data.stored import StoredStep, stored
from ...eager.tensor import Tensor
from ...graph.graph import GraphTensor
from ...graph.kinds import PyFunction
from ...values.dtypes import DataType
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import EagerTensor, TfTensor
from ..core.element_types import TfDataType
from ..core.shapes import TensorShape
from ..core.values import InGraph, array_of, convert, graph_of
from .printing import element_text
from .state import no_op

MOST = 3
"""How many elements of an array a message has, where nothing is said."""


def summary(array: Array, most: int) -> str:
    """Return the first elements of an array, as a node that fails shows them."""
    if not array.ndim:
        return element_text(array[()])
    given = iter(array.ravel())
    left = [max(most, 0) if most >= 0 else array.size]
    text = "".join(_rows(array.shape, given, left, outer=True))
    return f"{text}..." if 0 <= most < array.size else text


def _rows(
    shape: Sequence[int], given: Iterator[object], left: list[int], *, outer: bool = False
) -> Iterator[str]:
    """Give the texts of the rows of a shape, as long as elements are left."""
    for i in range(shape[0]):
        if not left[0]:
            if len(shape) == 1 and not outer:
                yield "..."
            return
        if len(shape) > 1:
            yield "["
            yield from _rows(shape[1:], given, left)
            yield "]"
        else:
            left[0] -= 1
            yield " " * (i > 0) + element_text(next(given))


def _list_of(array: Array, most: int) -> str:
    """Return the first elements of an array, as what fails at once shows them."""
    if not array.ndim:
        return str(array[()])
    texts = [str(x) for x in array.ravel()[:most]]
    return str([*texts, "..."] if len(texts) < array.size else texts)


def shown_at_once(parts: Sequence[object], most: int) -> str:
    """Return the text of a check that fails at once: tensors as lists of their first elements."""
    return "\n".join(
        _list_of(np.asarray(x.numpy()), most) if isinstance(x, EagerTensor) else str(x)
        for x in parts
    )


class Described(Protocol):
    """A tensor, dense or sparse."""

    @property
    def dtype(self) -> TfDataType:
        """Return the element type."""

    @property
    def shape(self) -> TensorShape:
        """Return what is known of the shape."""


@runtime_checkable
class Sparse(Described, Protocol):
    """A tensor of which elements are listed that are not zero."""

    @property
    def dense_shape(self) -> TfTensor:
        """Return its extents."""


@runtime_checkable
class Ragged(Described, Protocol):
    """A tensor of rows that may be of different lengths."""

    @property
    def flat_values(self) -> TfTensor:
        """Return the elements of all rows."""


def of_either_kind(x: object) -> Described:
    """Return a value as a tensor; a sparse one stays what it is."""
    return x if isinstance(x, Sparse) else convert(x)


def prefixed(message: str | None) -> str:
    """Return what errors begin with, of what a caller wants to be said."""
    return f"{message}.  " if message else ""


def require_type(x: object, wanted: DataType, message: str | None = None) -> None:
    """Raise unless a tensor of any kind has an element type."""
    value = x if isinstance(x, Sparse | Ragged) else convert(x)
    if value.dtype != wanted:
        known = value.flat_values if isinstance(value, Ragged) else value
        called = known.name if isinstance(known, GraphTensor) else "tensor"
        raise TypeError(
            f"{prefixed(message)}{called} must be of type {wanted!r}; got {value.dtype!r}"
        )


def described(tensor: Described) -> str:
    """Return how messages call a tensor: by its name, or by what it is like."""
    if isinstance(tensor, GraphTensor):
        return str(tensor.name)
    return f"shape={tuple(tensor.shape.as_list())} dtype={tensor.dtype.name}"


RELATIONS: dict[str, Callable[..., object]] = {"all": np.asarray, "equal": np.equal}
"""What can be asked of operands, by the names under which graphs are written."""


@stored("assertion")
def assertion(
    relation: str, count: int, parts: Sequence[str | None], ends: int
) -> Callable[..., tuple[()]]:
    """Return what raises with texts and values unless a relation of the first values holds."""
    return _raising(RELATIONS[relation], count, parts, ends)


def _raising(
    holds: Callable[..., object], count: int, parts: Sequence[str | None], ends: int
) -> Callable[..., tuple[()]]:
    def run(*values: Array) -> tuple[()]:
        if not np.all(np.asarray(holds(*values[:count]))):
            given = iter(values[count:])
            texts = [summary(np.asarray(next(given)), ends) if x is None else x for x in parts]
            raise InvalidArgumentError("assertion failed: " + " ".join(f"[{x}]" for x in texts))
        return ()

    return run


def node(
    holds: str | Callable[..., object],
    operands: Sequence[object],
    parts: Sequence[object],
    *,
    most: int | None = None,
    name: str | None = None,
) -> object:
    """Add a node that raises with the parts unless the operands' values hold.

    What is asked by a name of `RELATIONS` can be saved.
    """
    count, ends = len(operands), MOST if most is None else most
    typed = [isinstance(x, Tensor) or hasattr(x, "__gv_tensor__") for x in parts]
    graph = graph_of([*operands, *parts])
    assert graph is not None, "a node is in a graph"
    texts = [
        None if t else summary(np.asarray(array_of(x)), ends)
        for x, t in zip(parts, typed, strict=True)
    ]
    if isinstance(holds, str):
        held = {"relation": holds, "count": count, "parts": texts, "ends": ends}
        run: Callable[..., object] = StoredStep("assertion", held)
    else:
        run = _raising(holds, count, texts, ends)
    with InGraph(graph):
        tensors = [convert(x) for x, t in zip(parts, typed, strict=True) if t]
        taken = [graph.owned(convert(v)) for v in [*operands, *tensors]]
        return graph.add(PyFunction(run, (), pure=False), taken, name=name)


def passed(graph: object) -> object:
    """Return the check that has been made: an operation in a graph, None at once."""
    return None if graph is None else no_op()
