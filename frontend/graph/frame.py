"""One run of a graph: how its operations are carried out, and what has been computed.

A kind of operation is run through a `Frame`. What the frame of a plan that is compiled does
otherwise (`function/lowering.py`) is overridden there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias
from weakref import WeakSet

import numpy as np

from ...forks import across, renewed
from ...ir.families import spec_of_value
from ...ir.op import Array
from ...ir.ops.host.python_step import PythonCall, PythonStep
from ...ir.ops.random import drawn_key
from ...ir.types.dims import Dim, DimExpr
from ...ir.types.dtypes import DType, string
from ...ir.types.tensor import TensorSpec
from ...ir.types.values import ANY
from ..eager.recorded import EMIT, Box, Recorded
from ..eager.tensor import Tensor
from ..values.context import Emitter


class NotStageableError(Exception):
    """A graph does something that has no form outside of Python."""

    by_nature = False
    """Whether nobody is to be told: it is for its effects outside of the program."""


class OutsideError(NotStageableError):
    """A graph works on files or queues, for other steps or programs."""

    by_nature = True


class NotSeenError(NotStageableError):
    """The shapes that a host step gives are not known, for it was not run yet."""


class LoweringError(AssertionError):
    """An operation of a trace failed while it was appended to a program: a mistake of gravure.

    What an operation refuses, and what only a run can know, is a `NotStageableError` or said by
    name; this is none of it, and nobody goes on from it.
    """

    def __init__(self, what: str, source: str, error: Exception) -> None:
        line = f"{source}: " if source else ""
        super().__init__(f"{line}{what} cannot be lowered: {type(error).__name__}: {error}")


class Typed(Protocol):
    """What has a type: a tensor of a graph."""

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""


class Turn:
    """Lets one step at a time change something."""

    all: ClassVar[WeakSet[Turn]] = WeakSet()

    def __init__(self) -> None:
        Turn.all.add(self)
        self.number = next(_NUMBERS)
        """Where it stands among all, for locks are taken in this order."""
        self.lock = renewed(threading.RLock())
        self.changing = False
        """Whether the value is changed in place now: who reads it waits."""


def _locks() -> list[threading.RLock]:
    """Return the locks of all turns, in the order in which they are taken."""
    return [turn.lock for turn in sorted(Turn.all, key=attrgetter("number"))]


def _end_turns() -> None:
    """Let nothing wait for the steps of threads that a child process has not got."""
    for turn in Turn.all:
        turn.changing = False


across(_locks)
os.register_at_fork(after_in_child=_end_turns)


class Guarded:
    """What one step at a time may change."""

    turn: Turn


_NUMBERS = count()


DRAWN_AS = "drawn_as"
"""The attribute with the number of a random operation that is copied into parts of plans."""


EVEN = 1 << 32
"""A multiple of so many counters is used by a draw of a replica, however many numbers it draws.

So all replicas use as many, also where their parts of a batch are not of one size.
"""


class NamedDraw(NamedTuple):
    """What counts the draws of a function's operation: the same in the next process."""

    replica: int | None
    function: str
    type: str
    seeds: tuple[int, int]
    """Those that the operation has without replicas."""
    place: int
    """Among the operations of the function that have all of this."""


class Stateful(Protocol):
    """What has a value that runs read and write: a variable, the count of a random operation."""

    name: str

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""

    @property
    def is_eager(self) -> bool:
        """Say whether the value is that of a Python object."""

    def owner(self) -> Owner | None:
        """Return the Python object, if there is one."""

    def value_in(self, store: Store) -> Array:
        """Return the value."""

    def put_in(self, store: Store, value: Array) -> None:
        """Change the value."""


class Guard(Enum):
    """Stands among what is touched for whether a requirement did not hold."""

    FAULT = "fault"


Touched: TypeAlias = "Stateful | Guard"
"""What a graph reads or writes outside of itself."""


class Owner(Protocol):
    """The Python object of a variable."""

    @property
    def trainable(self) -> bool:
        """Say whether it is among what optimisers change."""

    def read_value(self) -> Tensor:
        """Return the value."""


def counter_of(op: object) -> object:
    """Return what counts the draws of a random operation: all copies of one in parts of plans."""
    attributes: Mapping[str, object] = getattr(op, "attributes", {})
    return attributes.get(DRAWN_AS, op)


def source_key(source: object) -> Hashable:
    """Return what a variable or a random operation is known by in all copies of a graph."""
    counter = counter_of(source)
    names = [str(getattr(source, name, "")) for name in ("container", "name")]
    return counter if counter is not source else tuple(names)


class ReadValues:
    """What runs took from outside: values of variables and keys of draws, as they came."""

    def __init__(
        self,
        values: dict[Hashable, list[object]] | None = None,
        wanted: Set[Hashable] | None = None,
    ) -> None:
        self.values = {} if values is None else values
        self.wanted = wanted
        """The sources of which is taken note; None: all."""
        self.places: dict[Hashable, int] = {}

    def add(self, source: object, value: object) -> None:
        """Take note of a value."""
        key = source_key(source)
        if self.wanted is None or key in self.wanted:
            self.values.setdefault(key, []).append(value)

    def take_in(self, other: Mapping[Hashable, list[object]]) -> None:
        """Take note of what came elsewhere, or later."""
        for key, values in other.items():
            self.values.setdefault(key, []).extend(values)

    def next(self, source: object) -> object:
        """Return the next value that a source gave."""
        key = source_key(source)
        place = self.places.get(key, 0)
        self.places[key] = place + 1
        return self.values[key][place]

    def anew(self) -> ReadValues:
        """Return the same, to be told from the start."""
        return ReadValues(self.values)


Queues: TypeAlias = dict[object, Any]
"""Queues, and what is like them, by what they are known by."""


class Container:
    """What sessions share by names: values of variables, and queues."""

    def __init__(self) -> None:
        self.values: dict[object, Array] = {}
        self.queues: Queues = {}


CONTAINERS: dict[str, Container] = {}
"""The named containers of the process, for all sessions that are no other task's."""


class Store(Container):
    """Where the values of variables are: a session's, or that of the process."""

    def __init__(self) -> None:
        super().__init__()
        self.own: Queues = {}
        """Queues that no other session has: those without a name to share."""
        self.containers = CONTAINERS
        """By their names: what is kept elsewhere than here."""
        self.kept: dict[str, Array] = {}
        """Values that stay between steps, by their handles."""
        self.by_name = False
        """Whether variables and queues of one name are the same, whatever graph they are of."""
        self.lock = renewed(threading.RLock())
        """Held while something is looked up or made; nobody waits while having it."""
        self.draws: dict[object, int] = {}
        """How many counters each random operation has used."""
        self.initialise: Callable[[Store, Any], None] | None = None
        """Runs what initialises a variable that has no value when it is read, if that is to be."""

    def container(self, name: str) -> Container:
        """Return the container of a name; that without a name is the store itself."""
        return self.containers.setdefault(name, Container()) if name else self

    def reset(self, names: Sequence[str] | None) -> None:
        """Forget what is in containers; None means that without a name."""
        with self.lock:
            for name in [""] if names is None else names:
                kept = self if not name else self.containers.pop(name, Container())
                kept.values.clear()
                kept.queues.clear()


REFERENCE = TensorSpec(string, (2,))
"""What stands for something that is shared by its name: the container, and the name."""


class SharedByName:
    """What graphs know of something that sessions share if it has a name for that."""

    def __init__(self, name: str, shared: str, container: str) -> None:
        self.name, self.shared, self.container = name, shared, container

    def stated(self) -> dict[str, object]:
        """Return the attributes of what makes it, by TensorFlow's names."""
        return {"container": self.container.encode(), "shared_name": self.shared.encode()}

    def reference(self) -> Array:
        """Return container and name, as what refers to it gives them."""
        return np.array([self.container or "localhost", self.shared or self.name], object)

    def place(self, store: Store) -> tuple[Queues, object]:
        """Return among what a store keeps it, and under what key."""
        if self.shared:
            return store.container(self.container).queues, self.shared
        return store.own, self.name if store.by_name else self


@dataclass
class Frame:
    """One run: how operations are carried out, and what has been computed."""

    store: Store
    emit: Emitter = EMIT
    symbols: dict[str, Dim] = field(default_factory=dict)
    """The sizes that were not known: numbers, in a program also names that only it tells."""
    records: dict[object, Recorded] = field(default_factory=dict)
    """Of operations whose gradient is taken in the same run: what was recorded."""
    recorded: Recorded | None = None
    """What records this frame, if anything does."""

    recorded_rule: ClassVar[Callable[..., Sequence[object]] | None] = None
    """What carries operations out where this is recorded."""

    is_staging: ClassVar[bool] = False
    """Whether values are those of a program that is being made."""

    def begun(self, value: object) -> object:
        """Return an array that has no elements yet: they get the shape of the first one."""
        return value

    def choose(self, branches: Sequence[Any], inputs: Sequence[object]) -> Sequence[object]:
        """Append a choice to the program."""
        raise NotImplementedError("only a program that is being made holds choices")

    def loop(self, test: Any, body: Any, count: int, inputs: Sequence[object]) -> Sequence[object]:
        """Append a loop to the program."""
        raise NotImplementedError("only a program that is being made holds loops")

    def placed(self, ops: Sequence[Any]) -> dict[Any, str]:
        """Return the devices of operations, where there are others than the processor."""
        return {}

    def key(self, op: object, seeds: tuple[int, int], count: Dim, first: Dim = 0) -> object:
        """Return the key of a random draw of so many counters, which are used up.

        It begins with the first of them that is given.
        """
        return self.outside(op, lambda frame: frame.next_key(op, seeds, count, first))

    def next_key(self, op: object, seeds: tuple[int, int], count: Dim, first: Dim = 0) -> object:
        """Return the key of a random draw by the counters that were used before."""
        counter = counter_of(op)
        assert isinstance(count, int), "a run has numbers"
        assert isinstance(first, int), "a run has numbers"
        with self.store.lock:
            used = self.store.draws.get(counter, 0)
            self.store.draws[counter] = used + count
        return drawn_key(seeds, used + first)

    def carry_out(self, op: Any, inputs: Sequence[object]) -> Sequence[object]:
        """Return the results of an operation of a graph."""
        rule = Frame.recorded_rule
        if self.recorded is not None and rule is not None:
            return rule(self, op, inputs)
        made: Sequence[object] = op.kind.run(self, op, inputs)
        return made

    def constant(self, value: Array) -> object:
        """Return a value of a graph as a value of the run."""
        return value

    def host(
        self, function: Callable[..., object], inputs: Sequence[object], dtypes: Sequence[DType]
    ) -> Sequence[object]:
        """Call a Python function with arrays."""
        call: PythonCall | None = getattr(function, "call", None)
        if self.recorded is not None and call is not None:
            found = self.emit(PythonStep, *inputs, function=call.name, sizes=())
            return found if isinstance(found, tuple) else (found,)
        made = function(*[np.asarray(x) for x in inputs])
        listed = made if isinstance(made, tuple | list) else (made,)
        if len(dtypes) == 0:
            return ()
        return tuple(np.asarray(r, d.numpy) for r, d in zip(listed, dtypes, strict=True))

    def detached(self, value: object) -> object:
        """Return a value that is the same, but not known to what records the run."""
        return Box(value.array) if isinstance(value, Box) else value

    replay: list[object] | None = None
    """Values that were read when the same was run before, while it is run once more."""
    order: Callable[[int], int] | None = None
    """Chooses among the operations that are ready, by their count; None: as they were made."""
    run_piece: Callable[..., list[object]] | None = None
    """Runs a piece of a plan of which other parts wait; None: one operation after the other."""
    run_rest: Callable[..., list[object] | None] | None = None
    """Runs what is left of a loop by compiled code, once that pays; None: trip by trip."""
    patient: bool = True
    """Whether an operation on a queue waits, or raises a `WouldWaitError`."""
    device: str = ""
    """Where operations run that are carried out now; nothing for the processor."""

    outer: Frame | None = None
    """The frame that this one records an operation of: what it reads, that one reads."""
    noted: ReadValues | None = None
    """What is told of all values that are read."""
    told: ReadValues | None = None
    """What tells of values that were read elsewhere, where the same was run before."""
    again_by: Mapping[str, ReadValues] | None = None
    """Of operations that ran elsewhere before, by their names: what they read there."""

    def read(self, variable: Stateful) -> object:
        """Return the value that a variable has now."""
        return self.outside(variable, lambda frame: frame.present(variable))

    def present(self, variable: Stateful) -> object:
        """Return the value that a variable has in the store."""
        return variable.value_in(self.store)

    def outside(self, source: object, present: Callable[[Frame], object]) -> object:
        """Return a value from outside, the same as before if the run is repeated."""
        if self.replay is not None:
            value = self.replay.pop(0)
        elif self.told is not None:
            value = self.told.next(source)
        elif self.outer is not None:
            value = self.outer.outside(source, present)
        else:
            value = present(self)
            if self.noted is not None:
                self.noted.add(source, value)
        return value if self.recorded is None else self.recorded.read(source, value)

    def write(self, variable: Stateful, value: object) -> None:
        """Give a variable a value."""
        if self.replay is not None or self.told is not None:
            return
        if self.outer is not None:
            self.outer.write(variable, value)
        else:
            variable.put_in(self.store, np.asarray(value))

    def recording(self, op: object) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run so that its gradient can be taken."""
        record = Recorded(self.emit)
        self.records[op] = record
        inner = Frame(self.store, record.emit, self.symbols, self.records, record, outer=self)
        before = (self.again_by or {}).get(getattr(op, "name", ""))
        inner.told = None if before is None else before.anew()
        return inner, record

    def again(self, reads: Sequence[object]) -> tuple[Frame, Recorded]:
        """Return a frame in which an operation is run once more, with the values that it read."""
        record = Recorded(self.emit)
        return Frame(self.store, record.emit, self.symbols, self.records, record, [*reads]), record

    def bind(self, tensor: Typed, value: object) -> None:
        """Learn the sizes that stand as symbols in a tensor's shape."""
        shape = tensor.spec.shape
        if shape and not tensor.spec.is_static:
            known = value.shape if isinstance(value, np.ndarray) else spec_of_value(value).shape
            found = known or ()
            for dim, size in zip(shape, found, strict=False):
                if isinstance(dim, DimExpr) and size != ANY:
                    self.symbols.setdefault(str(dim), size)
