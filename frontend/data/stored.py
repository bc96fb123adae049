"""Steps of the host that graphs are written with: by a name, and by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NotRequired, TypeAlias, TypedDict, TypeVar, final

from ...ir.types.tensor import Array
from ..function.graph_data import (
    Codec,
    GraphTextError,
    NodeReader,
    NotSerialisableError,
    Plain,
    Writer,
    register_codec,
)
from ..graph.graph import Kind
from ..graph.kinds import PyFunction
from .host import ArrayKind
from .placed import found_again, placed

Compute: TypeAlias = "Callable[..., Sequence[object]]"
"""What a step does with arrays."""
Make = TypeVar("Make", bound=Callable[..., Compute])
STEPS: dict[str, Callable[..., Compute]] = {}
"""What makes steps of what they hold, by the names under which graphs are written."""


def stored(name: str) -> Callable[[Make], Make]:
    """Let graphs be written with the steps that a function makes."""

    def decorate(make: Make) -> Make:
        assert name not in STEPS, f"two kinds of steps are stored as {name!r}"
        STEPS[name] = make
        return make

    return decorate


@dataclass(frozen=True)
class StoredStep:
    """The form of a step outside of this process: the name of what makes it, what it holds."""

    name: str
    held: Mapping[str, object]
    effect: bool = False
    """Whether it changes what it holds, or gives what others have changed."""

    @cached_property
    def compute(self) -> Compute:
        """Return what the step does."""
        return STEPS[self.name](**self.held)

    def __call__(self, *arrays: Array) -> Sequence[object]:
        """Do it."""
        return self.compute(*arrays)

    def as_stored(self) -> StoredStep:
        """Return the step itself."""
        return self


@final
class StepData(TypedDict):
    """A step of the host: its type, the name of its function, and what that holds."""

    type: str
    step: str
    held: Plain
    effect: NotRequired[bool]


@final
class PlacedData(TypedDict):
    """A step of the host: its type, its function, and how that is called."""

    type: str
    function: Plain
    effect: bool
    reads_text: bool


def _written(type_: str, compute: object, writer: Writer) -> StepData | None:
    """Return a step that has a name, None for another one."""
    as_stored: Callable[[], StoredStep] | None = getattr(compute, "as_stored", None)
    if as_stored is None:
        return None
    step = as_stored()
    made: StepData = {"type": type_, "step": step.name, "held": writer.value(dict(step.held))}
    return {**made, "effect": True} if step.effect else made


def _read(data: StepData, reader: NodeReader) -> StoredStep:
    if data["step"] not in STEPS:
        raise GraphTextError(f"there is no step {data['step']!r}")
    return StoredStep(data["step"], reader.options(data["held"]), data.get("effect", False))


def write_step(kind: ArrayKind, writer: Writer) -> StepData | PlacedData:
    """Return a step of the host as data."""
    return _written(kind.type, kind.compute, writer) or {
        "type": kind.type,
        "function": placed(kind.compute, writer),
        "effect": kind.stateful,
        "reads_text": kind.reads_text,
    }


def read_step(data: StepData | PlacedData, reader: NodeReader) -> Kind:
    """Return the step of data."""
    specs = reader.specs
    if "step" in data:
        step = _read(data, reader)
        return ArrayKind(data["type"], step, lambda _: specs, effect=step.effect)
    how = {"effect": data["effect"], "reads_text": data["reads_text"]}
    return ArrayKind(data["type"], _function(data, reader), lambda _: specs, **how)


def _function(data: PlacedData, reader: NodeReader) -> Compute:
    found = found_again(data["function"], reader)
    if not callable(found):
        raise GraphTextError(f"the function of {data['type']} is {data['function']!r}")
    return found


def _write_called(kind: PyFunction, writer: Writer) -> StepData | PlacedData:
    if not kind.dtypes and kind.stateful:
        written = _written(kind.type, kind.function, writer)
        if written is not None:
            return written
    if kind.stateful:
        raise NotSerialisableError("what it does is known to this process only")
    function = placed(kind.function, writer)
    return {"type": kind.type, "function": function, "effect": False, "reads_text": False}


def _called(data: StepData | PlacedData, reader: NodeReader) -> Kind:
    if "step" in data:
        return PyFunction(_read(data, reader), (), pure=False)
    kind = PyFunction(_function(data, reader), [spec.dtype for spec in reader.specs], pure=True)
    kind.type = data["type"]
    return kind


register_codec(PyFunction, Codec("effect", _write_called, _called))
