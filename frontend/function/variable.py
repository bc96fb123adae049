"""`Variable`: the Python object of a variable, in eager code, in functions and in graphs."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from ...errors import GraphError, printed_as
from ...ir.families import spec_of_value
from ...ir.types.tensor import Array, TensorSpec
from ..eager.operators import Operators
from ..eager.recorded import EMIT, unboxed
from ..eager.tensor import Tensor, as_tensor, operate
from ..graph.execute import Plan
from ..graph.frame import Frame, Store
from ..graph.func_graph import FuncGraph, lifted
from ..graph.graph import Graph, GraphTensor, Operation, dims_or_none, spec_with_unknowns, within
from ..graph.inference import spec_of
from ..graph.kinds import MissingFeedError
from ..graph.symbolic import SymbolicTensor, leaked
from ..graph.variables import (
    ASSIGN,
    ASSIGN_ADD,
    ASSIGN_SUB,
    READ,
    SCATTER,
    SCATTER_ADD,
    SCATTER_SUB,
    AssignVariable,
    Handle,
    Held,
    ReadVariable,
    VariableState,
)
from ..values import dtypes
from ..values.context import STATE, accessed, default_session, entered, record
from ..values.devices import CPU, Device
from ..values.dtypes import DataType, DTypeLike
from ..values.given import Index
from .on_device import RemoteDevice, RemoteState
from .traces import ACTIVE


@printed_as(ValueError)
class VariableError(GraphError, ValueError):
    """A variable was given what does not fit it, or made where that is not allowed."""

    code = "GV2340"


def note_created(graph: FuncGraph, variable: object, name: str) -> None:
    """Let the functions around know that a variable is made, which they are traced again for.

    The innermost one says whether it may be. Raises `VariableError` if not.
    """
    functions: list[FuncGraph] = []
    around: Graph | None = graph
    while isinstance(around, FuncGraph):
        functions += [around] if around.may_create is not None or around.outer is None else []
        around = around.outer
    if not (functions and functions[0].may_create):
        raise VariableError(
            "tf.function only supports singleton tf.Variables created on the first call: a "
            "tf.function-decorated function tried to create variables on a call after the first "
            f"(variable {name!r})",
            hint="make variables once: outside of the function, or guarded by `if v is None`",
        )
    for each in functions:
        each.created.append(variable)


class VariableV2(ReadVariable):
    """The operation that stands for a variable in a graph; its output is the value."""

    type = "VariableV2"


VARIABLE = VariableV2()
NUMBERS = count()


Shared = TypeVar("Shared", bound="Variable")


class Spread(ABC):
    """The values that replicas have of a variable."""

    @abstractmethod
    def read(self, first: Variable) -> Tensor:
        """Return the value of the replica that runs; between replicas what they make together."""

    @abstractmethod
    def change(
        self, first: Shared, kind: AssignVariable, values: Sequence[Tensor], read: bool
    ) -> Tensor | Shared:
        """Change the value of the replica that runs; between replicas those of all."""

    @abstractmethod
    def values(self, first: Variable) -> tuple[Tensor, ...]:
        """Return the value of each replica of this process."""


def _copied(
    kind: type[Shared], value: Array, options: dict[str, Any], kept: dict[str, object]
) -> Shared:
    """Return a variable like another one, of its value."""
    made = kind(value, **options)
    for key, each in kept.items():
        setattr(made, key, each)
    return made


class Variable(Operators):
    """A tensor that can be changed."""

    KEPT: ClassVar[tuple[str, ...]] = ()
    """The attributes that a copy has, too."""

    eager: ClassVar[bool] = False
    spread: Spread | None = None
    """The values that replicas have of it, if each has its own."""
    aggregation: object = None
    """How what replicas of a step assign becomes one value."""
    _operate = staticmethod(operate)
    __hash__ = object.__hash__

    def __init__(
        self,
        initial_value: object = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        shape: object = None,
    ) -> None:
        self._label = name or "Variable"
        self._trainable = trainable
        self._row = None if dtype in (None, dtypes.string) else dtypes.as_dtype(dtype).row
        self._declared = self.declared(shape)
        self._has_shape = shape is not None
        self.number = next(NUMBERS)
        context, within = STATE.context, STATE.initialising
        STATE.initialising = True
        try:
            if isinstance(context, FuncGraph):
                self._make_in_function(context, initial_value)
            elif isinstance(context, Graph):
                self._make_in_graph(context, initial_value)
            else:
                self._make_now(initial_value)
        finally:
            STATE.initialising = within
        self.state.owner = weakref.ref(self)

    def share(self, synchronization: object, aggregation: object) -> None:
        """Let each replica have a value of its own, if that is what is asked for."""
        if STATE.creating is not None and self.graph is None:
            spread = STATE.creating.spread(self, synchronization, aggregation)
            self.spread = spread if isinstance(spread, Spread) else None

    def declared(self, shape: Any) -> tuple[int | None, ...] | None:
        """Return the extents that are stated, None if nothing is."""
        return None if shape is None else tuple(shape)

    def converted(self, value: object) -> Tensor:
        """Return a value as a tensor of the variable's type."""
        return as_tensor(value, self._row)

    def first_value(self, value: GraphTensor) -> GraphTensor:
        """Return what a variable of a graph starts with: the value that was given."""
        return value

    def _spec(self, found: TensorSpec) -> TensorSpec:
        return spec_with_unknowns(found.dtype, self._declared) if self._has_shape else found

    def _make_now(self, initial: object) -> None:
        value = self.converted(initial() if callable(initial) else initial)
        if isinstance(value, SymbolicTensor):
            raise leaked(value)
        array = np.array(value._array)
        if STATE.creating is not None:
            array = np.array(STATE.creating.first(array))
        self.graph: Graph | None = None
        self.initializer: Operation | None = None
        self.place: Device = STATE.device or CPU
        """The device that an eager variable was made on."""
        spec = self._spec(spec_of(array))
        if isinstance(self.place, RemoteDevice) and self.place.work is not None:
            self.state: VariableState = self.place.work.variable(self._label, spec, array)
        else:
            self.state = VariableState(self._label, spec, value=array)

    def _make_in_function(self, graph: FuncGraph, initial: object) -> None:
        note_created(graph, self, self._label)
        if isinstance(initial, GraphTensor):
            initial = self._computed(graph, initial)
        with entered(None):
            self._make_now(initial)

    def _computed(self, graph: FuncGraph, value: GraphTensor) -> Array:
        """Return what a tensor of the function is in the call that it is traced for.

        Of arguments only the types may be known; it may not be made of these.
        """
        captured = [tensor.numpy() for tensor in graph.captures]
        given = zip(graph.all_inputs, [*(graph.values or ()), *captured], strict=False)
        known = {x: each for x, each in given if isinstance(each, np.ndarray | np.generic | Tensor)}
        plan = Plan([value], [*known])
        try:
            with entered(None):
                return np.asarray(unboxed(plan.run(Frame(ACTIVE[-1]), [*known.values()])[0]))
        except MissingFeedError as error:
            raise self._of_argument() from error

    def _of_argument(self) -> VariableError:
        """Return the error of a first value that is made of an argument."""
        return VariableError(
            f"the initial value of variable {self._label!r} depends on an argument of which "
            "only the type is known",
            hint="make the variable outside of the function, or of a value that is known",
        )

    def _lifted(self, graph: Graph, value: Tensor) -> GraphTensor:
        """Return the first value in the graph around the function that makes the variable."""
        try:
            return lifted(value, graph)
        except MissingFeedError as error:
            raise self._of_argument() from error

    def _make_in_graph(self, graph: Graph, initial: object) -> None:
        self.graph = graph
        name = graph.unique_name(self._label)
        with graph.control_dependencies(None), graph.name_scope(f"{name}/"):
            begun = len(graph.operations)
            value = initial() if callable(initial) else initial
            beside = graph.operations[begun:]
            tensor = self.first_value(self._lifted(graph, self.converted(value)))
            self.initial_value: GraphTensor | None = tensor
            state = VariableState(name, self._spec(tensor.spec), container=graph.container_name)
            self.state = state
            attributes = {"variable": Handle(state, weak=False)}
            self.op: Operation = graph.add(VARIABLE, (), attributes, name=f"{name}/")
            state.home = self.op
            for each in beside:  # (what a function computes for it lies where it lies)
                each.colocated = each.colocated or (self.op,)
            self.initializer = graph.add(ASSIGN, [tensor], attributes, name="Assign")
            state.initial = self.initializer
        self.snapshot = self.op.outputs[0]

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape."""
        return self.state.spec

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return dtypes.as_dtype(self.spec.dtype)

    @property
    def shape(self) -> Any:
        """Return the shape."""
        return dims_or_none(self.spec.shape)

    @property
    def trainable(self) -> bool:
        """Say whether it is among what optimisers change."""
        return self._trainable

    @property
    def name(self) -> str:
        """Return the name of the variable's output."""
        return f"{self.state.name}:0"

    def as_graph_element(self) -> GraphTensor:
        """Return what a session fetches for the variable."""
        return self.snapshot

    def __gv_tensor__(self) -> Tensor:
        """Read the variable."""
        return self.read_value()

    def value(self) -> Tensor:
        """Read the variable."""
        return self.read_value()

    def passed_state(self) -> VariableState | None:
        """Return what graphs know of it if a function may be called with another one instead.

        None of a variable of a graph or of another task, and of one with a value for each replica.
        """
        alone = self.graph is None and self.spread is None
        return self.state if alone and type(self.state) is VariableState else None

    def _home(self) -> Graph | None:
        context = STATE.context
        if isinstance(context, FuncGraph):
            return context
        return self.graph or (context if isinstance(context, Graph) else None)

    def read_value(self) -> Tensor:
        """Read the variable, where operations are carried out now."""
        if self.spread is not None:
            return self.spread.read(self)
        return self.read_own()

    def read_alone(self) -> Tensor | None:
        """Return the value where the variable has one and is in no graph, else None."""
        return self.read_value() if self.graph is None and self.spread is None else None

    def read_own(self) -> Tensor:
        """Read this value, whatever other replicas have."""
        accessed(self)
        graph = self._home()
        made: Tensor
        if graph is not None:
            name = f"{self.state.name.rsplit('/', 1)[-1]}/Read/ReadVariableOp"
            attributes = {"variable": Handle(self.state, weak=isinstance(graph, FuncGraph))}
            made = graph.add(READ, (), attributes, name=name).outputs[0]
        else:
            state = self.state
            value = state.read() if isinstance(state, RemoteState) else state.value_in(ACTIVE[-1])
            made = self.wrapped(value)
        record("ReadVariableOp", (self,), (made,), lambda grad: (grad,))
        return made

    def wrapped(self, array: object) -> Tensor:
        """Return an array as a tensor; one of another task is one."""
        return array if isinstance(array, Tensor) else Tensor(np.asarray(array))

    def _change(
        self, kind: AssignVariable, *values: Tensor, read: bool = True, name: str | None = None
    ) -> Tensor | Self:
        if self.spread is not None:
            return self.spread.change(self, kind, values, read)
        if STATE.replica is not None:
            made: Tensor | Self = STATE.replica.change(self, kind, values, read)
            return made
        return self.change_now(kind, *values, read=read, name=name)

    def change_now(
        self, kind: AssignVariable, *values: Tensor, read: bool = True, name: str | None = None
    ) -> Tensor | Self:
        """Change it, in a graph or at once; whoever runs replicas does so once for all of them."""
        graph = self._home()
        if graph is None:
            graph = next((v.home() for v in values if not v.eager), None)
        if graph is not None:
            attributes = {"variable": Handle(self.state, weak=isinstance(graph, FuncGraph))}
            given = [graph.owned(v) for v in values]
            result = graph.add(kind, given, attributes, name=name).outputs[0]
            # In a function, as eagerly, it is the variable: read where it is used.
            return self if read and isinstance(graph, FuncGraph) and graph.runs_effects else result
        state, store = self.state, ACTIVE[-1]
        if isinstance(state, RemoteState):
            state.change(kind, values)
            return self
        with Held([state]):
            arrays = [x._array if x.direct else x.numpy() for x in values]
            if kind.change is None:
                is_own = values[0].direct and not values[0].lends
                state.put_in(store, arrays[0] if is_own else np.array(arrays[0]))
            elif kind.at_once is None or not state.changed_in_place(store, kind.at_once, arrays[0]):
                made = np.asarray(kind.change(EMIT, state.value_in(store), *arrays))
                if not within(spec_of(made), self.spec):
                    raise VariableError(
                        f"Cannot update variable '{self.name}' of shape "
                        f"{dims_or_none(self.spec.shape)} by a value that makes it one of shape "
                        f"{made.shape}: the shapes must match"
                    )
                state.put_in(store, made)
        return self

    def _fitting(self, value: object) -> Tensor:
        tensor = self.converted(value)
        if tensor.spec.dtype != self.spec.dtype:
            raise VariableError(
                f"Tensor conversion requested dtype {self.spec.dtype} for Tensor with dtype "
                f"{tensor.spec.dtype}"
            )
        if not within(tensor.spec, self.spec):
            raise VariableError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable "
                f"shape {dims_or_none(self.spec.shape)}, and the assigned value shape "
                f"{dims_or_none(tensor.spec.shape)} are incompatible."
            )
        return tensor

    def assign(
        self,
        value: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Self:
        """Give it a value."""
        return self._change(ASSIGN, self._fitting(value), read=read_value, name=name)

    def assign_add(
        self,
        value: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Self:
        """Add to it."""
        return self._change(ASSIGN_ADD, self.converted_like(value), read=read_value, name=name)

    def assign_sub(
        self,
        value: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Tensor | Self:
        """Subtract from it."""
        return self._change(ASSIGN_SUB, self.converted_like(value), read=read_value, name=name)

    def converted_like(self, value: object) -> Tensor:
        """Return a value as a tensor of the variable's element type."""
        return as_tensor(value, self.spec.dtype)

    def scatter_nd_update(self, indices: object, updates: object) -> Tensor | Self:
        """Write slices at indices."""
        return self._change(SCATTER, as_tensor(indices), self.converted_like(updates))

    def scatter_nd_add(self, indices: object, updates: object) -> Tensor | Self:
        """Add slices at indices; those at one index add up."""
        return self._change(SCATTER_ADD, as_tensor(indices), self.converted_like(updates))

    def scatter_nd_sub(self, indices: object, updates: object) -> Tensor | Self:
        """Subtract slices at indices; those at one index add up."""
        return self._change(SCATTER_SUB, as_tensor(indices), self.converted_like(updates))

    def numpy(self) -> Array:
        """Return the value."""
        if self.spread is not None:
            return np.array(self.spread.read(self).numpy())
        return np.array(self.state.value_in(ACTIVE[-1]))

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return a variable of its own with the same value."""
        made, arguments = self.__reduce__()
        copied = made(*arguments)
        assert isinstance(copied, type(self)), "a copy is of the same class"
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Return what makes a variable with the same value; that of a graph is of its sessions."""
        if self.graph is not None:
            raise NotImplementedError(
                f"variable {self.name!r} is of a graph, and has its values in sessions: it is "
                "neither copied nor pickled"
            )
        shape = dims_or_none(self.spec.shape) if self._has_shape else None
        options = {"name": self._label, "trainable": self.trainable, "shape": shape}
        kept = {key: getattr(self, key) for key in self.KEPT}
        return _copied, (type(self), self.numpy(), options, kept)

    def load(self, value: object, session: object = None) -> None:
        """Put a value in a session's store: that of the default one, if none is given."""
        if self.graph is None and session is None:
            self.assign(value)
            return
        store: Store = self._session(session).store
        array = np.asarray(value, self.spec.dtype.numpy)
        if not within(spec_of(array), self.spec):
            raise VariableError(
                f"Cannot feed value of shape {array.shape} for variable '{self.name}', which has "
                f"shape {dims_or_none(self.spec.shape)}"
            )
        self.state.put_in(store, array)

    def eval(self, session: object = None) -> Array:
        """Return the value in a session."""
        found: Array = self._session(session).run(self)
        return found

    def _session(self, given: object) -> Any:
        """Return a session, or the default one."""
        found = given or default_session()
        if found is None:
            raise VariableError(
                f"the value of {self.name!r} is that of a session, and there is none",
                hint="pass a session, or enter one",
            )
        return found

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        return np.asarray(self.numpy(), dtype)

    def __getitem__(self, key: Index) -> Tensor:
        return self.read_value()[key]

    def __len__(self) -> int:
        return len(self.read_value())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.read_value())

    def __matmul__(self, other: object) -> Tensor:
        return self.read_value() @ other

    def __rmatmul__(self, other: object) -> Tensor:
        return other @ self.read_value()

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        return int(self.read_value())

    def __float__(self) -> float:
        return float(self.read_value())

    def __complex__(self) -> complex:
        return complex(self.read_value())

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"<Variable '{self.name}' {spec_of_value(self)}>"
