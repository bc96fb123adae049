"""Who carries out an operation: the context, one stack a thread.

Every operation of the Python frontend goes through `tensor.apply(op, *operands, **attributes)`,
which asks `STATE`:

- no context: the operation runs now, by its `evaluate` (`eager`);
- a context (a function being traced, a graph being built, a branch of a `cond`): its
  `apply(op, operands, attributes)` carries it out, usually by appending to a block (`trace`).
  Operands may be eager tensors and tensors of contexts further out: it decides whether they
  become constants or captured inputs;
- no context, but an operand belongs to a context that takes operations at any time (`is_open`
  and `is_default`, as the default graph does): that one carries it out.

Afterwards each *recorder* (a gradient tape) of the same frame sees the use. A frame is a context
with its recorders: entering a context hides the recorders outside, so that a tape never sees the
inside of a function that is traced under it; whoever calls the finished function records the
call as one use with a gradient of its own (`record`).

    with entered(context): ...     trace into a context; entered(None) runs eagerly in between
    with recording(tape): ...      a recorder sees what happens in the present frame
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ...ir.op import Op
from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array

Backward = Callable[..., Sequence[object]]
"""Gives the gradient of each operand (None: there is none) from those of the results."""
Rule = Callable[..., Sequence[object]]
"""The same from the `Call` and the gradients of the results, as `Op.gradient` is."""
Way = Callable[..., Sequence[object]]
"""The same from operands, results, gradients of these, and whether each operand's is wanted."""


class Emitter(Protocol):
    """Carries operations out, or appends them to something."""

    def __call__(self, op: type[Op], *operands: object, **attributes: object) -> object:
        """Return the result, or the tuple of several."""


class Context(ABC):
    """What carries operations out instead of running them."""

    name: str = ""
    """What it is, for messages: `function 'f'`."""
    is_open: bool = False
    """Whether operations on its tensors may be added while it is not the present context."""
    is_default: bool = False
    """Whether they may be while operations run at once, too: of the process's own graph."""
    is_finished: bool = False
    """Whether nothing can be added any more: a tensor of it that is used now has leaked."""

    @abstractmethod
    def apply(
        self, op: type[Op], operands: Sequence[object], attributes: dict[str, object]
    ) -> object:
        """Carry out an operation; return its result, or the tuple of several."""

    @abstractmethod
    def convert(self, value: object, dtype: DType | None = None) -> object:
        """Return a value from outside (an eager tensor, an array, a number) as a tensor of it."""

    def filled_like(self, x: object, value: int) -> object:
        """Return a tensor of zeros or ones of the shape that `x` has in the run."""
        raise TypeError(f"the rank of {x} is unknown, expected a known rank")

    def backward_of(self, result: object) -> Backward | None:
        """Return what goes back over the operation of a result, where a run tells its sizes."""
        return None


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an operation as recorders see it.

    `op` and `attributes` say what was done (`rule` stands in for the gradient of `op`), or
    `backward` or `way` says what the gradient is; without any there is none.
    """

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    op: type[Op] | None = None
    attributes: dict[str, object] | None = None
    backward: Backward | None = None
    rule: Rule | None = None
    name: str = ""
    way: Way | None = None


class Recorder(Protocol):
    """What watches the operations of a frame."""

    def record(self, use: Use) -> None:
        """See one use."""

    def accessed(self, variable: object) -> None:
        """See that a variable is about to be read."""

    def knows(self, value: object) -> bool:
        """Say whether gradients may be asked for that go through a value."""


class Replica(Protocol):
    """The replica of a step that runs, which changes variables together with the others."""

    told: object
    """What is about to be assigned to a variable, before it is a tensor; zero if unknown."""

    @property
    def draws_as(self) -> int | None:
        """Return the number by which it draws random numbers, None if it draws as the process."""

    def change(self, variable: object, kind: Any, values: Sequence[object], read: bool) -> Any:
        """Change a variable once for all replicas."""

    def refuse_rows(self, variable: object, what: str) -> None:
        """Raise where rows of several replicas cannot change a variable together."""

    def apply(self, applied: Callable[[Any], object], pairs: Sequence[object]) -> object:
        """Change variables once by the sums of all gradients."""


@dataclass(frozen=True)
class AsReceived:
    """A backward function that is told of which results no gradient came in: they are None."""

    function: Backward

    def __call__(self, *grads: object) -> Sequence[object]:
        """Return the gradients of the operands."""
        return self.function(*grads)


class Creating(Protocol):
    """The scope that variables are made in."""

    def first(self, array: Array) -> Array:
        """Return the value that a variable begins with."""

    def spread(self, variable: object, synchronization: object, aggregation: object) -> object:
        """Return the values that replicas have of a variable; None if they share one."""


class Passing(Protocol):
    """The variables that a trace is called with, in the stead of those that it was made with."""

    def other(self, state: object) -> object:
        """Return the variable in the stead of another one, None if it is that one."""

    def for_programs(self) -> Passing:
        """Return the same while a program is made: what stands for whatever is passed."""


class State(threading.local):
    """The present frame of a thread."""

    busy: bool = False
    """Whether there is a context, a recorder or a device: otherwise operations just run."""
    context: Context | None = None
    recorders: tuple[Recorder, ...] = ()
    device: Any = None
    """Where operations run at once (`devices.Device`); None: where their operands are."""
    soft: bool = True
    """Whether an operation that the device has no kernel for may run on the processor."""
    replica: Replica | None = None
    """The replica of a step that runs, which changes variables together with the others."""
    creating: Creating | None = None
    """The scope that makes the first value of an eager variable the one that it is to have."""
    initialising: bool = False
    """Whether the first value of a variable is made."""
    part: str = ""
    """The operation of several that is being carried out, while recorders see its parts."""
    rules: dict[str, Rule] | None = None
    """Gradients that stand in for those of operations, by the operation's name."""
    passed: Passing | None = None
    """The variables that the trace is called with that runs now, if it takes any."""

    def set(self, context: Context | None, recorders: tuple[Recorder, ...]) -> None:
        """Make another frame the present one."""
        self.context, self.recorders = context, recorders
        self.busy = context is not None or bool(recorders) or self.device is not None


STATE = State()


def executing_eagerly() -> bool:
    """Say whether operations run at once."""
    return STATE.context is None


@contextmanager
def entered(context: Context | None) -> Iterator[Context | None]:
    """Trace into a context; with None, run eagerly. Recorders outside see nothing of it."""
    before = STATE.context, STATE.recorders
    STATE.set(context, ())
    try:
        yield context
    finally:
        STATE.set(*before)


@contextmanager
def passing(passed: Passing | None) -> Iterator[None]:
    """Let a trace run with the variables that it is called with; None: with its own."""
    before, STATE.passed = STATE.passed, passed
    try:
        yield
    finally:
        STATE.passed = before


def programming() -> AbstractContextManager[None]:
    """Let a program be made for whatever variables the trace is called with."""
    return passing(None if STATE.passed is None else STATE.passed.for_programs())


@contextmanager
def running_on(device: object, *, soft: bool) -> Iterator[None]:
    """Let operations run on a device; None: where their operands are."""
    before = STATE.device, STATE.soft
    STATE.device, STATE.soft = device, soft
    STATE.set(STATE.context, STATE.recorders)
    try:
        yield
    finally:
        STATE.device, STATE.soft = before
        STATE.set(STATE.context, STATE.recorders)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Let a recorder see the operations of the present frame."""
    start(recorder)
    try:
        yield
    finally:
        stop(recorder)


def start(recorder: Recorder) -> None:
    """Let a recorder see operations from now on."""
    STATE.set(STATE.context, (*STATE.recorders, recorder))


def stop(recorder: Recorder) -> None:
    """Let a recorder see operations no longer."""
    STATE.set(STATE.context, tuple(r for r in STATE.recorders if r is not recorder))


@contextmanager
def unrecorded() -> Iterator[None]:
    """Let no recorder see what happens inside."""
    before = STATE.recorders
    STATE.set(STATE.context, ())
    try:
        yield
    finally:
        STATE.set(STATE.context, before)


def record(
    name: str, operands: Sequence[object], results: Sequence[object], backward: Backward | None
) -> None:
    """Show recorders a use whose gradient is `backward`; None means that it has none."""
    if STATE.recorders:
        show(Use(tuple(operands), tuple(results), backward=backward, name=name))


def show(use: Use) -> None:
    """Show a use to all recorders of the frame."""
    for recorder in STATE.recorders:
        recorder.record(use)


def accessed(variable: object) -> None:
    """Tell all recorders of the frame that a variable is about to be read."""
    for recorder in STATE.recorders:
        recorder.accessed(variable)


class Entered(threading.local):
    """The sessions that a thread has entered."""

    def __init__(self) -> None:
        self.sessions: list[object] = []


_ENTERED = Entered()


def stack() -> list[object]:
    """Return the sessions that are entered, the innermost last."""
    return _ENTERED.sessions


def default_session() -> Any:
    """Return the innermost session that is entered, None if there is none."""
    return stack()[-1] if stack() else None
