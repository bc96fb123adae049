"""A list of Python's that a loop of a graph appends to: one tensor of all its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Self

from ...ir.compose.maker import Maker
from ..eager.tensor import Tensor, apply
from ..graph.graph import GraphTensor, dims_or_none
from ..graph.symbolic import SymbolicError
from ..values.context import STATE
from ..values.given import Index
from ..values.origin import short, user_line
from .conditional import zeros_like
from .iteration import extent
from .loops import here, here_graph
from .state import is_number, is_tensor, value_error

MAKE = Maker(apply)


class Missing:
    """A method of lists that such a list does not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, values: GrowingList | None, owner: type) -> Self:
        if values is not None:
            raise values._refused(f"{self.name}()")
        return self


class GrowingList:
    """The elements along a first axis that grows; nothing is known of them before the first."""

    def __init__(self, flow: GraphTensor | None = None) -> None:
        self.flow = flow

    def append(self, value: object) -> None:
        """Append an element."""
        self.flow = self.appended(value).flow

    def appended(self, value: object) -> GrowingList:
        """Return the list with one more element."""
        tensor = here(value)
        dims = dims_or_none(tensor.spec.shape)
        if dims is None or None in dims:
            raise value_error(f"what is appended in a loop has a shape that is not known: {dims}")
        row = MAKE.reshape(tensor, shape=(1, *dims))
        return GrowingList(row if self.flow is None else MAKE.concat(self.flow, row, axis=0))

    def __gv_tensor__(self) -> GraphTensor:
        """Return the elements as one tensor."""
        if self.flow is None:
            raise value_error("a list to which nothing was appended is no tensor")
        return self.flow

    def __getitem__(self, key: Index) -> Tensor:
        return self.__gv_tensor__()[key]

    def __len__(self) -> NoReturn:
        raise self._refused("len()")

    def __iter__(self) -> NoReturn:
        raise self._refused("a loop of Python's")

    clear, copy, count, extend, index = Missing(), Missing(), Missing(), Missing(), Missing()
    insert, pop, remove, reverse, sort = Missing(), Missing(), Missing(), Missing(), Missing()

    def _refused(self, what: str) -> SymbolicError:
        return SymbolicError(
            f"{what} of a list that a loop of a graph has appended to",
            location=short(user_line()),
            hint="stack it first (tf.stack), which gives all elements as one tensor",
        )

    # What a choice gives and a loop carries (`Staged`).

    def staged_parts(self) -> list[GraphTensor] | None:
        """Return the tensor of all elements."""
        return None if self.flow is None else [self.flow]

    def with_staged_parts(self, parts: Sequence[GraphTensor]) -> GrowingList:
        """Return a list of other elements."""
        return GrowingList(parts[0])

    def staged_copy(self) -> GrowingList:
        """Return another list of the same elements."""
        return GrowingList(self.flow)

    def staged_like(self, other: GrowingList) -> GrowingList:
        """Return a list of no elements like those of another one."""
        spec = other.__gv_tensor__().spec
        return GrowingList(zeros_like(here_graph(), spec.with_shape((0, *spec.dims[1:]))))

    def staged_shapes(self) -> list[object]:
        """Return the shape of all elements in all turns of a loop."""
        dims = dims_or_none(self.__gv_tensor__().spec.shape) or ()
        return [(None, *dims[1:])]

    def staged_length(self) -> GraphTensor:
        """Return how many elements there are."""
        return extent(here_graph(), self.__gv_tensor__())


def growing(value: object) -> object:
    """Return a list that a loop appends to as one that may grow there; anything else as it is."""
    fits = isinstance(value, list) and all(is_tensor(x) or is_number(x) for x in value)
    if not fits or type(value) is not list:
        return value
    made = GrowingList()
    for each in value:
        made = made.appended(each)
    return made


def append(values: Any, item: object) -> object:
    """Append to a list, and return it: another one where it is one of a graph."""
    if isinstance(values, GrowingList) and STATE.context is not None:
        return values.appended(item)
    values.append(item)
    return values
