"""Variables: values that change, read and written by name in graphs, at once in eager code.

The value of an eager variable belongs to the Python object; graphs that use it refer to it
weakly. A variable that is made in a graph has a value in each session, or in a container that
sessions share.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from sys import getrefcount
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from ...ir.op import REGISTRY, Array
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.artifact import ALIGNMENT
from ...runtime.buffer import address, aligned_array, is_plain
from ...runtime.deadline import DEADLINE, LateError
from ..values.context import STATE, Emitter
from ..values.run_errors import FailedPreconditionError, InvalidArgumentError
from .frame import Guarded, OutsideError, Stateful, Turn
from .graph import EVERYWHERE, Graph, Kind, Operation, dims_or_none, spec_with_unknowns

if TYPE_CHECKING:
    from .frame import Frame, Owner, Stateful, Store


OWN = 3
"""References to an array that only one place has: that one, a name here, and the call's own."""


MANY = 1 << 16
"""Of fewer numbers it costs no more to make others."""
IN_PLACE = {np.dtype(name) for name in ("float32", "float64", "int32", "int64")}
"""The types whose numbers are changed in place."""


class VariableState(Guarded):
    """What graphs know of a variable: name, spec, and where its value is."""

    def __init__(
        self, name: str, spec: TensorSpec, *, value: Array | None = None, container: str = ""
    ) -> None:
        self.name, self.spec = name, spec
        self.value = value
        """The value of an eager variable."""
        self.is_eager = value is not None
        self.container = container
        self.owner: Callable[[], Owner | None] = lambda: None
        """The Python object, if it is still there."""
        self.initial: Operation | None = None
        """What gives the first value in a session."""
        self.turn = TURNS.setdefault((container, name), Turn()) if container else Turn()
        """By which steps that change the value take turns."""

    home: Operation | None = None
    """The operation that stands for it in a graph: it is used where that is placed."""
    part = ""
    """Of a part of a variable: the name of the whole and which part it is, as in checkpoints."""

    def key(self, store: Store) -> Hashable:
        """Return what a store keeps the value under."""
        return self.name if self.container or store.by_name else self

    def where(self, store: Store) -> dict[object, Array]:
        """Return the values among which it is."""
        return store.container(self.container).values

    def value_in(self, store: Store) -> Array:
        """Return the value, or say that there is none; not while it is changed in place."""
        value = self._present(store)
        if self.turn.changing:  # a step that begins from here on sees that the value is read
            with Held([self]):
                value = self._present(store)
        return value

    def _present(self, store: Store) -> Array:
        if self.is_eager:
            assert self.value is not None, "an eager variable has a value"
            return self.value
        if self.container:
            found = self.where(store).get(self.key(store))
        else:  # (asked for in each step)
            found = store.values.get(self.name if store.by_name else self)
        if found is None and store.initialise is not None and self.initial is not None:
            with Held([self]):
                if not self.has_value(store):
                    store.initialise(store, self.initial)
            found = self.where(store).get(self.key(store))
        if found is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {self.name}",
                hint="run the variable's initializer first",
            )
        if self.container and not fits(found, self.spec):  # a variable of another graph is there
            raise InvalidArgumentError(
                f"variable {self.name} is {spec_of_array(found)} in container '{self.container}', "
                f"expected {self.spec}"
            )
        return found

    def own(self, store: Store) -> None:
        """Copy the value if somebody else has it too, or compiled code cannot write it."""
        array = self.value_in(store)
        base = array.base
        shared = getrefcount(array) > OWN or (base is not None and getrefcount(base) > OWN)
        if (
            shared
            or not (base is None or isinstance(base, np.ndarray))
            or not (array.flags.writeable and is_plain(array))
            or address(array) % ALIGNMENT
        ):
            copy = aligned_array(array.shape, array.dtype)
            copy[...] = array
            self.put_in(store, copy)

    def changed_in_place(self, store: Store, change: np.ufunc, by: Array) -> bool:
        """Change many numbers element by element where nobody else has them; False: nothing is."""
        self.turn.changing = True  # (who reads it from here on waits for the turn)
        try:
            array = self._present(store)
            if array.size < MANY or array.dtype not in IN_PLACE or array.base is not None:
                return False
            if by.shape != array.shape or by.dtype != array.dtype or not array.flags.carray:
                return False
            if getrefcount(array) > OWN:
                return False
            with np.errstate(all="ignore"):
                change(array, by, out=array)
            return True
        finally:
            self.turn.changing = False

    def put_in(self, store: Store, value: Array) -> None:
        """Change the value."""
        if self.is_eager:
            self.value = value
        else:
            self.where(store)[self.key(store)] = value

    def has_value(self, store: Store) -> bool:
        """Say whether there is a value."""
        return self.is_eager or self.key(store) in self.where(store)


class StandIn(VariableState):
    """What programs are made for where any variable of its type may be passed."""

    def __init__(self, own: VariableState) -> None:
        super().__init__(own.name, own.spec)
        self.is_eager = True
        self.of = Handle(own, weak=True)

    def present(self) -> VariableState:
        """Return what it stands for while nothing is passed: what the trace was made with."""
        return self.of()


def fits(value: Array, spec: TensorSpec) -> bool:
    """Say whether a value is of a variable's type and shape."""
    if value.dtype != spec.dtype.numpy or spec.shape is None:
        return value.dtype == spec.dtype.numpy
    return value.ndim == len(spec.dims) and all(
        not isinstance(d, int) or d == n for d, n in zip(spec.dims, value.shape, strict=True)
    )


TURNS: dict[tuple[str, str], Turn] = {}
"""By container and name: the turns of such a variable, which graphs share as its value."""


class Held:
    """Lets no other step change variables; raises if they are not free in time.

    All take the locks in the same order, and wait for nothing else while they have them, so that
    steps do not wait for each other in a circle.
    """

    __slots__ = ("taken", "turns")

    def __init__(self, states: Sequence[Guarded]) -> None:
        self.turns = [state.turn for state in states]
        if len(self.turns) > 1:
            self.turns.sort(key=attrgetter("number"))

    def __enter__(self) -> None:
        self.taken = 0
        for turn in self.turns:
            if not turn.lock.acquire(blocking=False):
                left = DEADLINE.left()
                if not turn.lock.acquire(timeout=-1 if left is None else left):
                    Held.__exit__(self)
                    raise LateError
            self.taken += 1

    def __exit__(self, *error: object) -> None:
        for turn in self.turns[: self.taken]:
            turn.lock.release()


class ChangedInPlace(Held):
    """Gives each variable a value that nobody else has, and lets readers wait.

    The `others` get other values: nobody else changes them meanwhile.
    """

    __slots__ = ("states", "store")

    def __init__(
        self, states: Sequence[VariableState], others: Sequence[Guarded], store: Store
    ) -> None:
        super().__init__([*states, *others])
        self.states, self.store = states, store

    def __enter__(self) -> None:
        super().__enter__()
        try:
            for state in self.states:
                state.value_in(self.store)  # it has one
                state.turn.changing = True
                state.own(self.store)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        for state in self.states:
            state.turn.changing = False
        super().__exit__()


class DeadVariableError(FailedPreconditionError):
    """A graph uses a variable whose Python object is gone."""

    code = "GV2317"


S = TypeVar("S", bound=Stateful)


class Handle(Generic[S]):
    """A graph's way to a variable: in functions weak, as the Python object decides its life."""

    def __init__(self, state: S, *, weak: bool) -> None:
        self.name = state.name
        self._state = weakref.ref(state)
        self._kept = None if weak and state.is_eager else state

    def __call__(self) -> S:
        """Return the variable's state, or say that it is gone."""
        if STATE.passed is not None and (other := STATE.passed.other(self._state)) is not None:
            return cast("S", other)
        found = self._state()
        if isinstance(found, StandIn):
            return cast("S", found.present())
        if found is None:
            raise DeadVariableError(
                f"variable {self.name!r} was deleted, but a function that uses it is called",
                hint="keep the variable as long as functions that were traced with it",
            )
        return found


class Passed:
    """The variables that a trace is called with, by those that it was made with.

    A program is made for what stands for any of them (`stands`), so that it serves all.
    """

    def __init__(
        self,
        own: Sequence[weakref.ReferenceType[VariableState]],
        given: Sequence[VariableState],
        stands: Sequence[VariableState],
    ) -> None:
        self.own, self.given, self.stands = own, given, stands
        self._by: dict[object, VariableState] = dict(
            zip((*own, *map(weakref.ref, stands)), (*given, *given), strict=False)
        )

    def other(self, state: object) -> VariableState | None:
        """Return the variable in the stead of another one, None if it is that one."""
        return self._by.get(state)

    def for_programs(self) -> Passed:
        """Return what stands for the variables while a program is made."""
        return self if self.given is self.stands else Passed(self.own, self.stands, self.stands)


class VariablesTaken:
    """The variables that a trace was made with, in whose stead others may be passed."""

    def __init__(self, own: Sequence[VariableState], touched: Sequence[object]) -> None:
        """Take note of `own`, and of what the trace touches beside them."""
        self.own = [*map(weakref.ref, own)]
        self.stands = [StandIn(state) for state in own]
        others = [v for v in touched if isinstance(v, VariableState) and v not in own]
        self.others = {*map(weakref.ref, others)}

    def standing(self) -> Passed:
        """Return what the graph is looked at with: its own may be gone."""
        return Passed(self.own, self.stands, self.stands)

    def are(self, states: Sequence[VariableState]) -> bool:
        """Say whether variables are those that it was made with."""
        pairs = zip(self.own, states, strict=True)
        return all(ref() is state for ref, state in pairs)

    def may_be(self, states: Sequence[VariableState]) -> bool:
        """Say whether variables may be passed: the trace has them from nowhere else."""
        return not any(weakref.ref(state) in self.others for state in states)

    def passing(self, states: Sequence[VariableState]) -> Passed | None:
        """Return what a call with variables runs with, None without any."""
        return None if not states else Passed(self.own, states, self.stands)


def now(state: S) -> S:
    """Return the variable that is passed in the stead of one, if one is."""
    other = None if STATE.passed is None else STATE.passed.other(weakref.ref(state))
    return state if other is None else cast("S", other)


def state_in(attributes: Mapping[str, object]) -> VariableState:
    """Return the variable that an operation is about."""
    handle = attributes["variable"]
    assert isinstance(handle, Handle), "variables are reached by handles"
    state: VariableState = handle()
    return state


class ReadVariable(Kind):
    """The value that a variable has when the operation runs."""

    type = "ReadVariableOp"
    stateful = True
    devices = EVERYWHERE
    is_state = True

    @property
    def label(self) -> str:
        """Return the default name."""
        return "ReadVariableOp"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the variable's spec."""
        return (state_in(attributes).spec,)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Read."""
        return (frame.read(state_in(op.attributes)),)

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variable."""
        return (state_in(op.attributes),)

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing: there are no inputs (the walk collects for the variable)."""
        return ()


Change = Callable[..., object]


def _binary(name: str) -> Change:
    return lambda emit, old, new: emit(REGISTRY[name], old, new)


class AssignVariable(Kind):
    """Change a variable; the result is its new value. `change(emit, old, *inputs)` gives it."""

    stateful = True
    devices = EVERYWHERE
    is_state = True

    def __init__(self, type_: str, change: Change | None, at_once: np.ufunc | None = None) -> None:
        self.type = type_
        self.change = change
        self.at_once = at_once
        """What does the same to numbers of numpy's, in their place."""

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the variable's spec."""
        return (state_in(attributes).spec,)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Write."""
        state = state_in(op.attributes)
        with Held(() if frame.is_staging else (state,)):
            made = inputs[0]
            if self.change is not None:
                made = self.change(frame.emit, frame.read(state), *inputs)
            frame.write(state, made)
        return (made,)

    def changed(self, op: Operation) -> Sequence[VariableState]:
        """Return the variable."""
        return (state_in(op.attributes),)

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variable, if its old value matters."""
        return (state_in(op.attributes),) if self.change is not None else ()

    def gradient(
        self, op: Operation, grads: Sequence[object], emit: object
    ) -> Sequence[object] | None:
        """Pass no gradient on: what is given to a variable is another thing than its value."""
        return (None,) * len(op.inputs)


class IsInitialized(Kind):
    """Whether a variable has a value."""

    type = "IsVariableInitialized"
    devices = EVERYWHERE
    is_state = True

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return one bool."""
        return (spec_of_array(np.array(True)),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Look."""
        state = op.attributes["variable"]()
        if frame.is_staging and not state.is_eager:
            raise OutsideError(f"whether variable {state.name!r} has a value")
        return (np.array(state.has_value(frame.store)),)


def scatter(reduction: str) -> Change:
    """Return the change that writes rows at indices: `none`, `add`, `mul`, `max`, `min`."""

    def change(emit: Emitter, old: object, indices: object, updates: object) -> object:
        return emit(REGISTRY["gv.scatter_nd"], old, indices, updates, reduction=reduction)

    return change


ASSIGN = AssignVariable("AssignVariableOp", None)
ASSIGN_ADD = AssignVariable("AssignAddVariableOp", _binary("gv.add"), np.add)
ASSIGN_SUB = AssignVariable("AssignSubVariableOp", _binary("gv.sub"), np.subtract)
SCATTER = AssignVariable("ScatterNdUpdate", scatter("none"))
SCATTER_ADD = AssignVariable("ScatterNdAdd", scatter("add"))
SCATTER_SUB = AssignVariable(
    "ScatterNdSub",
    lambda emit, old, i, u: emit(
        REGISTRY["gv.scatter_nd"], old, i, emit(REGISTRY["gv.neg"], u), reduction="add"
    ),
)
READ = ReadVariable()
IS_INITIALIZED = IsInitialized()

__all__ = [
    "ASSIGN",
    "ASSIGN_ADD",
    "ASSIGN_SUB",
    "IS_INITIALIZED",
    "READ",
    "SCATTER",
    "SCATTER_ADD",
    "SCATTER_SUB",
    "AssignVariable",
    "Graph",
    "Handle",
    "ReadVariable",
    "VariableState",
    "dims_or_none",
    "spec_with_unknowns",
]
