"""Streams that are made of elements: one behind the other, in turns, in groups, by choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..values.run_errors import InvalidArgumentError
from .order import least
from .sources import Listed
from .stages import (
    INFINITE,
    UNKNOWN,
    Apply,
    Element,
    Run,
    Stage,
    State,
    Stream,
    integer,
    known,
    part,
)

Open = Callable[[Element], Stream]
"""Opens the pipeline that a function gives for an element."""


class Flattened(Stream):
    """The elements of the pipelines that a function gives for each element."""

    METHOD = "flat_map"

    KEEPS = ("element",)

    def __init__(self, run: Run, stage: Stage, function: Open) -> None:
        super().__init__(run, stage)
        self.function = function
        self.element: Element | None = None
        self.inner: Stream | None = None

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the product, if all pipelines have as many elements and that is known."""
        inner = getattr(options["function"], "count", UNKNOWN)
        if 0 in (inputs[0], inner):
            return 0
        if INFINITE in (inputs[0], inner):
            return INFINITE
        return UNKNOWN if UNKNOWN in (inputs[0], inner) else inputs[0] * int(inner)

    def __next__(self) -> Element:
        while True:
            if self.inner is None:
                self.element = self.take()
                self.inner = self.function(self.element)
            try:
                return self.inner.__next__()
            except StopIteration:
                self.inner = None

    def save(self) -> State:
        """Return the state of the pipeline that is read now, too."""
        return {**super().save(), "inner": None if self.inner is None else self.inner.save()}

    def restore(self, state: State) -> None:
        """Go on, within the pipeline of the element that was read last."""
        super().restore(state)
        self.inner = None
        if state["inner"] is not None and self.element is not None:
            self.inner = self.function(self.element)
            self.inner.restore(state["inner"])


class InTurns(Stream):
    """Elements of several pipelines in turns: `block` of each, of `cycle` at once."""

    METHOD = "interleave"

    KEEPS = ("elements", "at", "block", "ended")

    def __init__(
        self, run: Run, stage: Stage, function: Open, cycle: object, length: object
    ) -> None:
        super().__init__(run, stage)
        self.function, self.cycle, self.length = function, integer(cycle), integer(length)
        self.streams: list[Stream | None] = [None] * self.cycle
        self.elements: list[Element | None] = [None] * self.cycle
        self.at = self.block = 0
        self.ended = False

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse turns of nothing."""
        for name, number in (("cycle", options["cycle"]), ("block", options["length"])):
            found = known(number)
            if found is not None and found <= 0:
                raise InvalidArgumentError(f"`{name}_length` must be > 0, got {found}")

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the product."""
        return Flattened.count(inputs, options)

    def __next__(self) -> Element:
        while True:
            stream = self.streams[self.at]
            if stream is not None:
                try:
                    made = stream.__next__()
                except StopIteration:
                    self.streams[self.at] = self.elements[self.at] = None
                    self._advance()
                    continue
                self.block += 1
                if self.block == self.length:
                    self._advance()
                return made
            if not self.ended:
                self._open()
            elif any(each is not None for each in self.streams):
                self._advance()
            else:
                raise StopIteration

    def _advance(self) -> None:
        self.block, self.at = 0, (self.at + 1) % self.cycle

    def _open(self) -> None:
        """Open the pipeline of the next element, if there is one."""
        try:
            element = self.take()
        except StopIteration:
            self.ended = True
            return
        self.elements[self.at] = element
        self.streams[self.at] = self.function(element)

    def save(self) -> State:
        """Return the states of all that are open, too."""
        inner = [None if each is None else each.save() for each in self.streams]
        return {**super().save(), "streams": inner, "elements": list(self.elements)}

    def restore(self, state: State) -> None:
        """Go on."""
        super().restore(state)
        self.streams = [None if e is None else self.function(e) for e in self.elements]
        for stream, kept in zip(self.streams, state["streams"], strict=True):
            if stream is not None:
                stream.restore(kept)


class Grouped(Stream):
    """Elements in groups by a key: what a function makes of each group that is full."""

    METHOD = "group_by_window"

    KEEPS = ("groups", "sizes", "ended", "reduced")

    def __init__(self, run: Run, stage: Stage, key: Apply, reduce: Open, size: Apply) -> None:
        super().__init__(run, stage)
        self.key, self.reduce, self.size = key, reduce, size
        self.groups: dict[int, list[Element]] = {}
        self.sizes: dict[int, int] = {}
        self.ended = False
        self.reduced: tuple[int, list[Element]] | None = None
        """Key and elements of the group that is given out now."""
        self.inner: Stream | None = None

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows, unless there is no end."""
        return INFINITE if inputs[0] == INFINITE else UNKNOWN

    def __next__(self) -> Element:
        while True:
            if self.inner is not None:
                try:
                    return self.inner.__next__()
                except StopIteration:
                    self.inner = self.reduced = None
            if not self.ended:
                self._collect()
            elif self.groups:
                first = min(self.groups)
                self._begin(first, self.groups.pop(first))
            else:
                raise StopIteration

    def _collect(self) -> None:
        """Put one element into its group."""
        try:
            element = self.take()
        except StopIteration:
            self.ended = True
            return
        key = integer(self.key(element)[0])
        if key not in self.sizes:
            size = integer(self.size((np.array(key, np.int64),))[0])
            if size <= 0:
                raise InvalidArgumentError(
                    f"Window size must be greater than zero, but got {size}."
                )
            self.sizes[key] = size
        group = self.groups.setdefault(key, [])
        group.append(element)
        if len(group) == self.sizes[key]:
            self._begin(key, self.groups.pop(key))

    def _begin(self, key: int, group: list[Element]) -> None:
        self.reduced = key, group
        listed = Stage(Listed, (), {"elements": group})
        self.inner = self.reduce((np.array(key, np.int64), part(listed)))

    def save(self) -> State:
        """Return the state of the group that is given out now, too."""
        kept = {k: list(v) for k, v in self.groups.items()}
        inner = None if self.inner is None else self.inner.save()
        return {**super().save(), "groups": kept, "inner": inner}

    def restore(self, state: State) -> None:
        """Go on."""
        super().restore(state)
        self.inner = None
        if self.reduced is not None:
            self._begin(*self.reduced)
            assert self.inner is not None, "it was begun"
            self.inner.restore(state["inner"])


class ReducedByKey(Stream):
    """For each key of elements, in their order, what a function makes of the last state."""

    METHOD = "group_by_reducer"

    KEEPS = ("states", "ended")

    def __init__(
        self, run: Run, stage: Stage, key: Apply, first: Apply, reduce: Apply, last: Apply
    ) -> None:
        super().__init__(run, stage)
        self.key, self.first, self.reduce, self.last = key, first, reduce, last
        self.states: dict[int, Element] = {}
        self.ended = False

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        while not self.ended:
            self._collect()
        if not self.states:
            raise StopIteration
        return self.last(self.states.pop(min(self.states)))

    def _collect(self) -> None:
        """Let one element change the state of its key."""
        try:
            element = self.take()
        except StopIteration:
            self.ended = True
            return
        key = integer(self.key(element)[0])
        if key not in self.states:
            self.states[key] = self.first((np.array(key, np.int64),))
        self.states[key] = self.reduce((*self.states[key], *element))

    def save(self) -> State:
        """Return the states of keys as they are now."""
        return {**super().save(), "states": dict(self.states)}


class Directed(Stream):
    """Elements of several stages; the first one says by number which is next."""

    KEEPS = ("open",)
    TAKES = ("streams",)

    def __init__(self, run: Run, stage: Stage, stop: bool) -> None:
        self.run, self.stage, self.stop = run, stage, stop
        self.streams = [run.open(each) for each in stage.inputs]
        self.open = [True] * (len(self.streams) - 1)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return the sum where all are read to their ends; else nobody knows."""
        if inputs[0] in (0,) or options["stop"]:
            return 0 if inputs[0] == 0 else UNKNOWN
        return UNKNOWN if least(inputs[1:]) != INFINITE else inputs[0]

    def __next__(self) -> Element:
        while any(self.open):
            number = integer(self.streams[0].__next__()[0])
            if not 0 <= number < len(self.open):
                raise InvalidArgumentError(
                    f"Selector index out of range: {number} >= {len(self.open)}"
                )
            if not self.open[number]:
                continue
            try:
                return self.streams[number + 1].__next__()
            except StopIteration:
                if self.stop:
                    self.open = [False] * len(self.open)
                self.open[number] = False
        raise StopIteration
