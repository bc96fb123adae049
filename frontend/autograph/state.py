"""The variables of a piece of code as tensors: what a choice gives and a loop carries.

A value is a tensor, what becomes one (numbers, arrays, variables), a list, tuple or dictionary of
values, or an object that is made of tensors and says so (`Staged`). Anything else stays what it
is, and must be the same object in both branches and in all turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...errors import GraphError, printed_as
from ..eager.tensor import Tensor
from ..graph.graph import GraphTensor
from ..values import nest
from ..values.origin import short, user_line


@printed_as(ValueError)
class VariableValueError(GraphError, ValueError):
    """A variable has no value, or one of another shape, on one way through converted code."""

    code = "GV2350"


@printed_as(TypeError)
class VariableTypeError(GraphError, TypeError):
    """A variable has values of other types or structures on the ways through converted code."""

    code = "GV2351"


@printed_as(NotImplementedError)
class MixedControlError(GraphError, NotImplementedError):
    """A loop of Python's is left, or a function returns, depending on a tensor."""

    code = "GV2352"


class MissingReturnError(GraphError, NotImplementedError, ValueError):
    """A function returns depending on a tensor, and ends without a value otherwise."""

    code = "GV2354"


@printed_as(TypeError)
class UnsupportedFunctionError(GraphError, TypeError):
    """A function that is to be a graph is of a kind that has no form in one: a generator."""

    code = "GV2353"


def value_error(message: str, hint: str = "") -> VariableValueError:
    """Return an error at the user's line."""
    return VariableValueError(message, location=short(user_line()), hint=hint)


def type_error(message: str, hint: str = "") -> VariableTypeError:
    """Return an error at the user's line."""
    return VariableTypeError(message, location=short(user_line()), hint=hint)


@dataclass(frozen=True)
class Undefined:
    """Stands for the value of a variable that has none."""

    name: str


@runtime_checkable
class MadeOfTensors(Protocol):
    """An object that is made of tensors, which a choice gives and a loop carries."""

    def staged_parts(self) -> list[GraphTensor] | None:
        """Return its tensors; None as long as it is not known what they are like."""

    def with_staged_parts(self, parts: Sequence[GraphTensor]) -> MadeOfTensors:
        """Return such an object of other tensors."""

    def staged_copy(self) -> MadeOfTensors:
        """Return another object with the same tensors."""

    def staged_like(self, other: MadeOfTensors) -> MadeOfTensors:
        """Return the object with tensors like another one's, which it has none of yet."""

    def staged_shapes(self) -> list[object]:
        """Return the shapes that its tensors have in all turns of a loop."""


@runtime_checkable
class Describing(Protocol):
    """An object of tensors that do not say all of what it is like: a pipeline."""

    def staged_joined(self, other: object, *, stays: bool) -> MadeOfTensors | None:
        """Return what stands for this one or another one, None if no object does.

        `stays` says that only what is like this one can stand for both.
        """


def is_tensor(value: object) -> bool:
    """Say whether a value is a tensor, or a variable that is read as one."""
    return isinstance(value, Tensor) or hasattr(value, "__gv_tensor__")


def is_number(value: object) -> bool:
    """Say whether a value of Python's becomes a tensor."""
    return isinstance(value, bool | int | float | complex | str | bytes | np.ndarray | np.generic)


@dataclass(frozen=True)
class Slot:
    """The place of a tensor."""

    index: int


@dataclass(frozen=True)
class TensorPlaces:
    """The places of an object's tensors."""

    like: MadeOfTensors
    indices: tuple[int, ...]


@dataclass(frozen=True)
class Opaque:
    """A value that stays what it is."""

    value: object


@dataclass(frozen=True)
class Late:
    """An object whose tensors are not known yet."""

    value: MadeOfTensors


@dataclass
class Packing:
    """Tensors taken out of values; `convert` makes tensors of what is none."""

    convert: Callable[[object], Any]
    tensors: list[GraphTensor] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The variable that each tensor belongs to."""
    shapes: list[object] = field(default_factory=list)
    """The shapes that tensors are to have, as far as their objects say so."""
    wholes: list[object] = field(default_factory=list)
    """The object that each tensor is a part of, or its own place: it stands for itself."""

    def add(self, value: object, name: str) -> object:
        """Return a value with places instead of tensors."""
        if isinstance(value, Mapping):
            made = {key: self.add(each, name) for key, each in value.items()}
            return made if type(value) is dict else Dressed(type(value), made)
        if isinstance(value, list | tuple):
            return nest.pack_level(value, [self.add(each, name) for each in value])
        if isinstance(value, MadeOfTensors):
            parts = value.staged_parts()
            if parts is None:
                return Late(value)
            shapes = value.staged_shapes()
            rows = zip(parts, shapes, strict=True)
            return TensorPlaces(value, tuple(self._slot(x, name, dims, value) for x, dims in rows))
        if is_tensor(value) or is_number(value):
            return Slot(self._slot(self.convert(value), name, None))
        return value if value is None or isinstance(value, Undefined) else Opaque(value)

    def _slot(self, tensor: GraphTensor, name: str, shape: object, whole: object = None) -> int:
        self.wholes.append(len(self.tensors) if whole is None else whole)
        self.tensors.append(tensor)
        self.names.append(name)
        self.shapes.append(shape)
        return len(self.tensors) - 1


@dataclass(frozen=True)
class Dressed:
    """A mapping that is no plain dictionary."""

    kind: Callable[[dict[object, object]], object]
    parts: dict[object, object]


def filled(form: object, tensors: Sequence[GraphTensor] | Mapping[int, GraphTensor]) -> object:
    """Return a value with tensors in their places."""
    match form:
        case Slot():
            return tensors[form.index]
        case TensorPlaces():
            return form.like.with_staged_parts([tensors[i] for i in form.indices])
        case Opaque():
            return form.value
        case Late():
            return form.value.staged_copy()
        case Dressed():
            return form.kind({key: filled(each, tensors) for key, each in form.parts.items()})
        case dict():
            return {key: filled(each, tensors) for key, each in form.items()}
        case list() | tuple():
            return nest.pack_level(form, [filled(each, tensors) for each in form])
    return form


class DifferentFormError(Exception):
    """Two values are not made of the same parts: how they differ."""


def pairs(a: object, b: object, *, stays: bool = False) -> list[tuple[int, int]]:
    """Return the places of tensors that stand for each other in two values of one form.

    `stays` says that what is described is not to change from one to the other.
    """
    match a, b:
        case Slot(), Slot():
            return [(a.index, b.index)]
        case TensorPlaces(), TensorPlaces() if len(a.indices) == len(b.indices):
            either(a, b, stays=stays)
            return list(zip(a.indices, b.indices, strict=True))
        case Opaque(), Opaque() if a.value is b.value:
            return []
        case Late(), Late():
            return []
        case Dressed(), Dressed() if a.kind is b.kind:
            return pairs(a.parts, b.parts, stays=stays)
        case dict(), dict() if a.keys() == b.keys():
            return [pair for key in a for pair in pairs(a[key], b[key], stays=stays)]
        case ((list() | tuple()), (list() | tuple())) if type(a) is type(b) and len(a) == len(b):
            each = zip(a, b, strict=True)
            return [pair for x, y in each for pair in pairs(x, y, stays=stays)]
        case None, None:
            return []
        case Undefined(), Undefined():
            return []
    raise DifferentFormError(f"{described(a)} against {described(b)}")


def either(a: object, b: object, *, stays: bool = False) -> object:
    """Return a value of places, of one form with another one, that stands for both."""
    match a, b:
        case TensorPlaces(), TensorPlaces() if isinstance(a.like, Describing):
            like = a.like.staged_joined(b.like, stays=stays)
            if like is None:
                raise DifferentFormError(f"{a.like!r} against {b.like!r}")
            return TensorPlaces(like, a.indices)
        case Dressed(), Dressed():
            return Dressed(a.kind, {key: either(a.parts[key], b.parts[key]) for key in a.parts})
        case dict(), dict():
            return {key: either(a[key], b[key]) for key in a}
        case ((list() | tuple()), (list() | tuple())):
            return nest.pack_level(a, [either(x, y) for x, y in zip(a, b, strict=True)])
    return a


def described(form: object) -> str:
    """Return in words what a value is made of."""
    match form:
        case Slot():
            return "a tensor"
        case TensorPlaces():
            return f"a {type(form.like).__name__}"
        case Opaque():
            return f"{form.value!r}"
        case list() | tuple():
            return f"a {type(form).__name__} of {len(form)}"
        case dict():
            return f"a dictionary of {list(form)}"
        case Undefined():
            return "nothing"
    return repr(form)


def has_late_parts(form: object) -> bool:
    """Say whether a value is not yet what a loop can carry."""
    match form:
        case None | Undefined() | Late():
            return True
        case Dressed():
            return has_late_parts(form.parts)
        case dict():
            return any(map(has_late_parts, form.values()))
        case list() | tuple():
            return any(map(has_late_parts, form))
    return False
