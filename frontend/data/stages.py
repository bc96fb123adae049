"""Stages of a pipeline, and the streams that carry them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from ...ir.op import Array
from ..eager.tensor import Tensor
from ..graph.frame import Store
from ..graph.graph import GraphTensor
from ..values.run_errors import (
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    UnimplementedError,
)
from .draws import drawing_anew

Element = tuple[Any, ...]
"""An array for each part; a part that is a pipeline itself is a `Stage` in an array."""
State = dict[str, Any]
Apply = Callable[[Element], Element]
Rows = Sequence[Array | None]
"""Where the parts of a result may be written, None for those that may not; none for no part."""


class Write(Protocol):
    """A function of elements that may be told where to write its results."""

    def __call__(self, element: Element, rows: Rows = ()) -> Element:
        """Return the results, wherever they are."""


INFINITE, UNKNOWN = -1, -2
"""How many elements there are, where that is no number."""


class Program(Protocol):
    """A function of elements."""

    tensors: Sequence[Tensor]
    """What it takes from outside."""

    def bound(self, run: Run) -> Write:
        """Return it as a function of elements only."""


@dataclass(frozen=True, eq=False)
class Given:
    """An option that is a tensor: known when the pipeline is opened."""

    tensor: Tensor


@dataclass(frozen=True, eq=False)
class Stage:
    """What is done (`kind`) to other stages; options may be tensors and programs."""

    kind: type[Stream]
    inputs: tuple[Stage, ...] = ()
    options: Mapping[str, object] = field(default_factory=dict)
    lasts: bool = False
    """Whether what it keeps outlives a run: it was made eagerly, and is one object."""
    memory: dict[str, object] = field(default_factory=dict)
    """What it keeps from one stream to the next, if it lasts: a cache, a generator of seeds."""

    def tensors(self) -> list[Tensor]:
        """Return the tensors that must be known to open it, each once."""
        found: dict[int, Tensor] = {}
        for stage in self.inputs:
            found.update((id(t), t) for t in stage.tensors())
        for option in self.options.values():
            found.update((id(t), t) for t in taken_by(option))
        return list(found.values())

    @property
    def count(self) -> int:
        """Return how many elements there are, `INFINITE` or `UNKNOWN`."""
        return self.kind.count([stage.count for stage in self.inputs], self.options)


def taken_by(option: object) -> list[Tensor]:
    """Return the tensors that must be known for an option."""
    if isinstance(option, Given):
        return [option.tensor]
    if isinstance(option, tuple):
        return [tensor for each in option for tensor in taken_by(each)]
    return list(getattr(option, "tensors", ()))


class Run:
    """What is known while a pipeline runs: the values of tensors, the store of variables."""

    def __init__(self, store: Store, values: Mapping[int, object] | None = None) -> None:
        self.store, self.values = drawing_anew(store), values or {}
        self._kept: dict[int, dict[str, object]] = {}
        self.is_by_place = False
        """Whether elements are asked for by their places: an order is the same each time."""

    def memory(self, stage: Stage) -> dict[str, Any]:
        """Return what a stage keeps from one of its streams to the next."""
        return stage.memory if stage.lasts else self._kept.setdefault(id(stage), {})

    def value(self, tensor: Tensor) -> object:
        """Return the elements of a tensor."""
        known = self.values.get(id(tensor))
        return tensor.numpy() if known is None else known

    def within(self, values: Mapping[int, object]) -> Run:
        """Return a run that knows more tensors: those of the graph of a function."""
        made = Run(self.store, {**self.values, **values})
        made.store, made.is_by_place = self.store, self.is_by_place
        return made

    def option(self, option: object) -> object:
        """Return an option as streams take it."""
        if isinstance(option, Given):
            return self.value(option.tensor)
        if isinstance(option, tuple):
            return tuple(map(self.option, option))
        return option.bound(self) if hasattr(option, "bound") else option

    def open(self, stage: Stage) -> Stream:
        """Return a stream of a stage's elements, from the first one."""
        options = {name: self.option(option) for name, option in stage.options.items()}
        for name, option in stage.options.items():
            function = options[name]
            if hasattr(option, "bound") and callable(function):
                options[name] = within(stage.kind, function)
        stage.kind.check(options)
        return stage.kind(self, stage, **options)


class Stream:
    """Elements, one after the other; the end is `StopIteration`."""

    KEEPS: ClassVar[tuple[str, ...]] = ()
    """The attributes that are its state: numbers, arrays, elements and lists of these."""
    TAKES: ClassVar[tuple[str, ...]] = ("upstream",)
    """The attributes that are streams, None, or lists of streams."""
    METHOD: ClassVar[str] = ""
    """The method of datasets that makes it, if functions are given to that."""
    ONE_FOR_EACH: ClassVar[bool] = False
    """Whether a function gives something for each element, and so cannot end the stream."""
    moved = ""
    """Which share of the elements is restored in which other one, if it is another."""

    def __init__(self, run: Run, stage: Stage) -> None:
        self.run, self.stage = run, stage
        self.upstream: Stream | None = run.open(stage.inputs[0]) if stage.inputs else None

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse numbers that no stream can be of, as far as they are `known`.

        A stage that is made eagerly asks at once, so that the line is named that said them; a
        pipeline asks when it is opened, when all of them are known.
        """

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return how many elements there are, of the counts of the inputs."""
        return inputs[0] if len(inputs) == 1 else UNKNOWN

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        raise NotImplementedError(type(self).__name__)

    def rows(self, count: int) -> Sequence[Array] | None:
        """Return up to so many elements stacked, fewer at the end; None: take them one by one."""
        return None

    def places(self, count: int) -> range | None:
        """Pass over up to so many elements and return where they are; None: they have no places.

        What reorders elements keeps their places, and lets `gathered` copy them at last.
        """
        return None

    def gathered(self, places: Sequence[int]) -> Sequence[Array]:
        """Return the elements at places, stacked."""
        raise NotImplementedError(type(self).__name__)

    def write_rows(self, count: int) -> None:
        """Take note that so many elements will be one: they may be written side by side."""

    def take(self) -> Element:
        """Return the next element of what it reads."""
        assert self.upstream is not None, "it reads a stream"
        return self.upstream.__next__()

    def save(self) -> State:
        """Return what it takes to go on from here."""
        state: State = {name: getattr(self, name) for name in self.KEEPS}
        state["of"] = type(self).__name__
        for name in self.TAKES:
            found = getattr(self, name, None)
            if isinstance(found, Stream):
                state[name] = found.save()
            elif isinstance(found, list):
                state[name] = [each.save() for each in found]
        return state

    def restore(self, state: State) -> None:
        """Go on from a state; streams that are not open are opened first."""
        self._check_kind(state)
        for name in self.KEEPS:
            setattr(self, name, state[name])
        for name in self.TAKES:
            kept = state.get(name)
            if kept is None:
                setattr(self, name, None)
            elif isinstance(kept, list):
                for each, part in zip(getattr(self, name), kept, strict=True):
                    each.restore(part)
            else:
                found = getattr(self, name) or self.reopened(name)
                setattr(self, name, found)
                found.restore(kept)
        self._check_moved(state)

    def _check_kind(self, state: State) -> None:
        """Refuse the state of another kind of stream, or of as many others as there are not."""
        mine, found = type(self).__name__, state.get("of", type(self).__name__)
        lists = [n for n in self.TAKES if isinstance(state.get(n), list)]
        sizes = [(len(state[n]), len(getattr(self, n) or ())) for n in lists]
        missing = [name for name in self.KEEPS if name not in state]
        if found != mine or missing or any(a != b for a, b in sizes):
            raise NotFoundError(
                f"the state of {found} is restored in {mine}. Make sure the dataset definition has "
                "not changed since the state was saved"
            )

    def _check_moved(self, state: State) -> None:
        """Refuse elements that wait here, and belong to another share of them than this one's."""
        found = [getattr(self, name, None) for name in self.TAKES]
        streams = [x for each in found for x in (each if isinstance(each, list) else [each])]
        self.moved = next((x.moved for x in streams if isinstance(x, Stream) and x.moved), "")
        held = [name for name in self.KEEPS if isinstance(state[name], list) and state[name]]
        if self.moved and held:
            raise InvalidArgumentError(
                f"the state of {self.moved}: {len(state[held[0]])} elements wait behind it, in "
                f"{type(self).__name__}",
                hint="shard() behind shuffle() and prefetch() has a state that all shards share",
            )

    def reopened(self, name: str) -> Stream:
        """Return a stream that was open when the state was saved."""
        return self.run.open(self.stage.inputs[0])


def within(kind: type[Stream], function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of elements whose errors say what it was given to."""
    name = kind.METHOD or kind.__name__
    place = f"Iterator::Root::{name.title().replace('_', '')}"

    def call(*given: object) -> object:
        try:
            return function(*given)
        except OutOfRangeError as error:
            if not kind.ONE_FOR_EACH:
                raise
            said = f"Function invocation produced OutOfRangeError: {error.message}"
            raise InvalidArgumentError(said, location=error.location) from error
        except OpError as error:
            error.message += (
                f"\n\nError in user-defined function passed to {name} transformation with "
                f"iterator: {place}"
            )
            raise

    return call


class Unsaved(Stream):
    """A stream whose state is outside of the process's reach: it is refused by name."""

    def save(self) -> State:
        """Refuse."""
        raise UnimplementedError(
            f"the state of {type(self).__name__} cannot be saved: it is in a Python object, "
            "expected a source that can be read again"
        )


def integer(option: object) -> int:
    """Return an option that is a number of elements."""
    return int(np.asarray(option))


def known(option: object) -> int | None:
    """Return an option that is a number as far as it is known before the pipeline runs."""
    if not isinstance(option, Given):
        return None if option is None else integer(option)
    tensor = option.tensor
    if isinstance(tensor, GraphTensor):
        return integer(tensor.op.attributes["value"]) if tensor.op.type == "Const" else None
    return integer(tensor.numpy()) if tensor.eager else None


def part(value: object) -> Array:
    """Return one value as a part of an element: an array without axes."""
    made: Array = np.empty((), object)
    made[()] = value
    return made
