"""Graphs, sessions, variables, functions and control flow by TensorFlow's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ....ir.types.tensor import TensorSpec as Traced
from ...eager.backward import key_of
from ...eager.remembered import READERS
from ...eager.tensor import Tensor
from ...function.traces import ConcreteFunction
from ...function.variable import Variable as CoreVariable
from ...graph.func_graph import FuncGraph, listing_around
from ...graph.graph import Graph, GraphTensor, Operation, WaitedFor, dims_or_none, op_of
from ...graph.kinds import NoOp, Placeholder, PlaceholderWithDefault
from ...graph.variables import ASSIGN, IS_INITIALIZED, Handle
from ...values import nest
from ...values.context import STATE, entered, executing_eagerly
from ...values.dtypes import DTypeLike
from ...values.run_errors import OutOfRangeError
from ..core.bridge import (
    COMPARISONS,
    SLICED,
    Common,
    EagerTensor,
    Reference,
    SymbolicTfTensor,
    TfTensor,
    dressed,
    dressed_leaves,
    wrap,
)
from ..core.calls import perform
from ..core.creators import Created, VariableAggregation, VariableSynchronization
from ..core.dimensions import Behaviour
from ..core.names import device, name_of_device, outside
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import TensorSpec
from ..core.values import InGraph, InvalidShapesError, convert, graph_of, shape_spec
from ..ops.array_ops import ensure_shape
from ..ops.assigned_slices import SlicedVariable, assign_slice, noted
from ..ops.gathering import (
    gather,
    gather_nd,
    rows_within,
    tensor_scatter_nd_div,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_mul,
)
from ..ops.indexed_slices import (
    as_parts,
    change_batches,
    in_column,
    of_node,
    scattered,
    scattered_at,
)
from ..ops.math_ops import identity
from ..runs import printed as _printed
from ..runs.call_time import Taking
from ..runs.counting import CountUpTo
from ..runs.function_graphs import LookedAt, function_message
from ..runs.implementing import Implementing
from ..runs.operations import Creating, TfOperation
from ..runs.retracing import note_trace
from ..runs.variable_messages import MessagedVariable
from .graph_def import GraphDef

NODE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class TfGraph(Creating):
    """A graph that is built in `with graph.as_default()`."""

    tensor_class = SymbolicTfTensor
    operation_class = TfOperation

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self._overriding: dict[str, str] = {}
        self._overridden: dict[Operation, str] = {}
        self.unfeedable: set[object] = set()
        self.unfetchable: set[object] = set()

    def unique_name(self, name: str, mark_as_used: bool | None = None, *, mark: bool = True) -> str:
        """Return the name, within the scope, with a number if it is taken."""
        mark = mark if mark_as_used is None else mark_as_used
        full = name if name.endswith("/") else f"{self.scope}{name}"
        if not NODE_NAME.match(full):
            raise ValueError(f"{full!r} is not a valid node name, expected {NODE_NAME.pattern}")
        return super().unique_name(name, mark=mark)

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Put operations under a name, which may begin with an underscore inside of another."""
        wanted, kind = (SCOPE_NAME, "scope") if self.scope else (NODE_NAME, "root scope")
        if name and not wanted.match(name):
            raise ValueError(f"{name!r} is not a valid {kind} name, expected {wanted.pattern}")
        with super().name_scope(name) as scope:
            yield scope

    def device(
        self, device_name_or_function: str | Callable[[Operation], str | None] | None
    ) -> AbstractContextManager[None]:
        """Ask for a device, or let a function say that of each operation."""
        asked = device_name_or_function
        wish = None if asked is None or callable(asked) else name_of_device(asked)
        return self.by_function(asked) if callable(asked) else self.on_device(wish)

    @contextmanager
    def as_default(self) -> Iterator[TfGraph]:
        """Let operations go here."""
        with entered(self):
            yield self

    def convert(self, value: object, dtype: DTypeLike | None = None) -> GraphTensor:
        """Return a value from outside as a tensor of this graph, by TensorFlow's rules."""
        with entered(self) if STATE.context is not self else nullcontext():
            return self.owned(convert(value, dtype))

    def control_dependencies(self, control_inputs: Iterable[object] | None) -> WaitedFor:
        """Let operations wait for others, which may be given by their names."""
        found = None if control_inputs is None else list(map(self._node, control_inputs))
        return super().control_dependencies(found)

    def _node(self, value: object) -> object:
        """Return the operation or tensor that is waited for; a name is looked up."""
        if not isinstance(value, str | Operation) and not hasattr(value, "spec"):
            raise TypeError(
                f"Control input must be an Operation, a Tensor, or IndexedSlices: {value!r}"
            )
        return self.as_graph_element(value) if isinstance(value, str) else value

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Give operations of some types that are made inside another gradient, by its name."""
        before = self._overriding
        self._overriding = {**before, **op_type_map}
        try:
            yield
        finally:
            self._overriding = before

    def add(self, kind: Any, *args: Any, **options: Any) -> Operation:
        """Add an operation; what its outputs are is inferred where it is not given."""
        made = super().add(kind, *args, **options)
        if made.type in self._overriding:
            self._overridden[made] = self._overriding[made.type]
        return made

    def override_of(self, op: Operation) -> str | None:
        """Return the name of the gradient function that stands in for that of an operation."""
        return self._overridden.get(op) or super().override_of(op)

    @property
    def version(self) -> int:
        """Return a number that grows with each operation."""
        return len(self.operations)

    def get_name_scope(self) -> str:
        """Return the scope that names of new operations begin with, without its last slash."""
        return self.scope.removesuffix("/")

    @property
    def building_function(self) -> bool:
        """Say whether it is the graph of a function."""
        return isinstance(self, FuncGraph)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """Return a list of the graph; of those with names that begin as the scope says."""
        found = super().get_collection(name)
        return [x for x in found if scope is None or re.match(scope, getattr(x, "name", ""))]

    def get_all_collection_keys(self) -> list[str]:
        """Return the names of the lists that hold something."""
        return [name for name, values in self.collections.items() if values]

    def get_collection_ref(self, name: str) -> list[object]:
        """Return a list of the graph itself: what is put there stays there."""
        return self.collections.setdefault(name, [])

    def clear_collection(self, name: str) -> None:
        """Empty a list of the graph."""
        self.collections.pop(name, None)

    def as_graph_def(self, **_: object) -> GraphDef:
        """Return the graph as data."""
        return GraphDef(self)

    def sparse_gradient(self, op: Operation, grads: Sequence[object]) -> Sequence[object] | None:
        """Return the gradients of an operation of which some are `IndexedSlices`, or None."""
        return of_node(op, grads)

    def inner_class(self) -> type[FuncGraph]:
        """Return the class of graphs inside of it: branches and bodies."""
        return TfFuncGraph

    def prevent_feeding(self, tensor: object) -> None:
        """Let a tensor never be fed."""
        self.unfeedable.add(tensor)

    def is_feedable(self, tensor: object) -> bool:
        """Say whether a tensor may be fed: all may, but those that must not."""
        return isinstance(tensor, GraphTensor) and tensor not in self.unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Let an operation never be fetched."""
        self.unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: object) -> bool:
        """Say whether a tensor or an operation may be fetched."""
        return op_of(tensor_or_op) not in self.unfetchable

    def as_graph_element(
        self, obj: object, allow_tensor: bool = True, allow_operation: bool = True
    ) -> GraphTensor | Operation:
        """Return the tensor or operation of a name or an object."""
        if isinstance(obj, str):
            if (":" in obj and allow_tensor) or not allow_operation:
                return self.get_tensor_by_name(obj)
            return self.get_operation_by_name(obj)
        node = getattr(obj, "as_graph_element", None)
        found = node() if node is not None else obj
        kinds = (GraphTensor,) * allow_tensor + (Operation,) * allow_operation
        if not isinstance(found, kinds):
            wanted = " or ".join(k.__name__.removeprefix("Graph") for k in kinds)
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")
        return found


class TfFuncGraph(LookedAt, Taking, TfGraph):
    """The graph of a function."""

    tensor_class = SymbolicTfTensor

    @property
    def outer_graph(self) -> Graph | None:
        """Return the graph that it was begun in, None if operations ran at once there."""
        return self.outer


def new_default() -> TfGraph:
    """Return an empty graph for what no graph was entered for."""
    made = TfGraph()
    made.is_default = True
    return made


DEFAULT: list[TfGraph] = [new_default()]


def get_default_graph() -> TfGraph:
    """Return the graph that operations go to, or the process's own."""
    context = STATE.context
    return context if isinstance(context, TfGraph) else DEFAULT[0]


class TfFunction(Implementing):
    """`tf.function`."""

    graph_class = TfFuncGraph
    tensor_class = SymbolicTfTensor

    def to_tensor(self, value: object, dtype: DTypeLike | None = None) -> TfTensor:
        """Return an argument as a tensor."""
        return convert(value, dtype)

    def returned(self, made: object) -> object:
        """Return what the Python function gave as a structure of what becomes tensors."""
        return nest.map_structure(as_parts, made)

    def spec_of(self, tensor: GraphTensor, name: str) -> TensorSpec:
        """Return the spec of an argument of a trace."""
        return TensorSpec(dressed(tensor).shape, tensor.dtype, name)

    def wrap(self, array: object) -> EagerTensor:
        """Return a result as a tensor."""
        return wrap(array)

    def printed(self, trace: object, *, long: bool) -> str:
        """Return a trace as TensorFlow writes it: in lines, or in one."""
        assert isinstance(trace, ConcreteFunction), "a function prints its traces"
        return _printed.long(trace) if long else _printed.short(trace)

    def type_of(self, trace: object) -> object:
        """Return what a trace takes and gives."""
        assert isinstance(trace, ConcreteFunction), "a function describes its traces"
        return _printed.FunctionType.of_trace(trace)

    def message_of(self, trace: object) -> object:
        """Return a trace as TensorFlow's `FunctionDef`."""
        assert isinstance(trace, ConcreteFunction), "a function describes its traces"
        return function_message(trace)

    def inner(self, trace: object) -> object:
        """Return the function without gradients that a trace is."""
        assert isinstance(trace, ConcreteFunction), "a function describes its traces"
        return _printed.AtomicFunction(trace)

    def call(self, args: Sequence[object], kwargs: dict[str, object]) -> object:
        """Find or make the trace for arguments, and run it."""
        traced = self.traced
        made = super().call(args, kwargs)
        if self.traced != traced and executing_eagerly():
            note_trace(self)
        return dressed_leaves(made)


def placeholder(dtype: Any = "float32", shape: Any = None, name: str | None = None) -> GraphTensor:
    """Make a tensor whose value is fed; float32 of unknown shape if nothing is said."""
    attributes = {"spec": shape_spec(dtype, shape)}
    return get_default_graph().add(Placeholder(), (), attributes, name=name).outputs[0]


def placeholder_with_default(
    input: object, shape: ShapeLike = None, name: str | None = None
) -> TfTensor:
    """Make a tensor that may be fed; eagerly that is the tensor."""
    if executing_eagerly():
        return convert(input)
    return dressed(default_of(input, TensorShape(shape), name))


def default_of(
    input: object, shape: ShapeLike = None, name: str | None = None, *, begun: bool = False
) -> GraphTensor:
    """Make a tensor of the default graph that may be fed; `begun`: an array without elements."""
    graph = get_default_graph()
    with entered(graph):
        value = convert(input)
        spec = value.spec if shape is None else shape_spec(value.dtype, shape)
        attributes = {"spec": spec, "begun": True} if begun else {"spec": spec}
        return graph.add(PlaceholderWithDefault(), [value], attributes, name=name).outputs[0]


GLOBAL, TRAINABLE = "variables", "trainable_variables"


class Variable(Common, MessagedVariable, metaclass=Created):
    """A tensor that can be changed."""

    KEPT = ("constraint", "aggregation", "synchronization")
    guard: ClassVar[Callable[[GraphTensor], GraphTensor]] = staticmethod(lambda value: value)
    """What lets first values of the first version do without the values of other variables."""

    def __hash__(self) -> int:
        if self.graph is None:
            raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")
        return id(self)

    def __init__(
        self,
        initial_value: object = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike | None = None,
        import_scope: str | None = None,
        constraint: object = None,
        synchronization: object = VariableSynchronization.AUTO,
        aggregation: object = VariableAggregation.NONE,
        shape: ShapeLike = None,
        *,
        collections: Iterable[str] | None = None,
        **_: object,
    ) -> None:
        del validate_shape
        if variable_def is not None:
            self.be_described(get_default_graph(), variable_def, import_scope)
            return
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        self.aggregation, self.synchronization = aggregation, synchronization
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"The `constraint` argument must be a callable, got {constraint!r}")
        self.constraint, self.caching_device = constraint, caching_device
        with outside() as scope:
            label = f"{scope}{name or 'Variable'}" if scope else name
            super().__init__(initial_value, trainable, label, dtype, shape)
        self.share(synchronization, aggregation)
        first = self._first_shape()
        if shape is not None and not TensorShape(shape).is_compatible_with(first):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({first}) is not "
                f"compatible with the explicitly supplied `shape` argument ({shape})."
            )
        listing = self.graph or listing_around(STATE.context)
        if listing is not None:
            names = list(collections) if collections is not None else [GLOBAL]
            for each in dict.fromkeys([*names, *([TRAINABLE] if trainable else [])]):
                listing.add_to_collection(each, self)

    def first_value(self, value: GraphTensor) -> GraphTensor:
        """Return the value, or in the first version one that no variable's lack can hinder."""
        return Variable.guard(value) if Behaviour.references else value

    def _first_shape(self) -> TensorShape:
        """Return the shape of the first value."""
        first = self.state.value if self.graph is None else self.initial_value
        return TensorShape(None if first is None else first.shape)

    def declared(self, shape: ShapeLike) -> tuple[int | None, ...] | None:
        """Return the extents that are stated, None if nothing is."""
        return TensorShape(shape)._dims

    @property
    def spec(self) -> Traced:
        """Return element type and shape."""
        return self.state.spec

    def value(self) -> TfTensor:
        """Read it, on the device that was asked for to keep copies."""
        if self.caching_device is None or (graph := self._home()) is None:
            return self.read_value()
        with InGraph(graph), device(None), device(self.caching_device):
            return identity(self.read_value())

    def converted(self, value: object) -> TfTensor:
        """Return a value as a tensor of the variable's type."""
        return convert(value, self._row)

    def converted_like(self, value: object) -> TfTensor:
        """Return a value as a tensor of the variable's element type."""
        return convert(value, self.spec.dtype)

    def read_value(self) -> TfTensor:
        """Return the value that it has now."""
        return dressed(super().read_value())

    def _fitting(self, value: object) -> Tensor:
        with InGraph(self._home() or graph_of([value])):
            found = super()._fitting(self.converted_like(value))
            wanted = dims_or_none(self.spec.shape)
            known = found.eager or (found.spec.shape is not None and found.spec.is_static)
            return found if known or wanted is None else ensure_shape(found, wanted)

    def wrapped(self, array: object) -> EagerTensor:
        """Return an array as a tensor."""
        return wrap(array)

    def assign(
        self,
        value: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Give it a value."""
        tell_replica(value)
        return self._change_with(super().assign, value, read_value, name)

    def assign_unchecked(self, value: object, name: str | None = None) -> object:
        """Give it a value whose shape the run does not compare; what is known must fit."""
        with InGraph(self._home() or graph_of([value])):
            found = CoreVariable._fitting(self, self.converted_like(value))
            return self._change(ASSIGN, found, name=name)

    def assign_add(
        self,
        delta: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add to it."""
        tell_replica(delta)
        return self._change_with(super().assign_add, self._of_its_shape(delta), read_value, name)

    def assign_sub(
        self,
        delta: object,
        use_locking: object = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from it."""
        tell_replica(delta)
        return self._change_with(super().assign_sub, self._of_its_shape(delta), read_value, name)

    def count_up_to(self, limit: int, name: str | None = None) -> TfTensor:
        """Add one, and return what it was; `OutOfRangeError` once it is at the limit."""
        graph = self._home() or graph_of([])
        if graph is not None:
            return dressed(graph.add(CountUpTo(self, limit), [], name=name).outputs[0])
        before = self.read_value()
        if before.numpy() >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}")
        self.assign_add(np.ones((), self.dtype.as_numpy_dtype))
        return before

    def _of_its_shape(self, value: object) -> TfTensor:
        """Return what is added, which must not be one value for many."""
        with InGraph(self._home() or graph_of([value])):
            found = self.converted_like(value)
        if not found.shape.is_compatible_with(self.shape):
            raise InvalidShapesError(
                f"Cannot update variable with shape {self.shape} using a Tensor with shape "
                f"{found.shape}, shapes must be equal."
            )
        return found

    def _change_with(
        self, method: Callable[..., Any], value: object, read: bool = True, name: str | None = None
    ) -> Any:
        with InGraph(self._home() or graph_of([value])):
            made = noted(method(value, read_value=read, name=name), self.read_value)
        return made if read else None if made is self else made.op

    def is_initialized(self) -> TfTensor:
        """Say whether it has a value, in its graph or a function: one outside of graphs has."""
        graph = self._home()
        if self.graph is not None and not isinstance(graph, FuncGraph):
            graph = self.graph
        if graph is None:
            return wrap(np.array(True))
        attributes = {"variable": Handle(self.state, weak=isinstance(graph, FuncGraph))}
        return dressed(graph.add(IS_INITIALIZED, (), attributes).outputs[0])

    def gather_nd(self, indices: object, name: str | None = None) -> TfTensor:
        """Return the slices that rows of indices name."""
        return gather_nd(self, indices, name=name)

    def sparse_read(self, indices: object, name: str | None = None) -> TfTensor:
        """Return the slices at indices."""
        return gather(self, indices, name=name)

    def __repr__(self) -> str:
        shown = f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}"
        if self.graph is not None:
            return f"{shown}>"
        array = self.numpy()
        text = repr(array) if self.ndim else str(array)
        return f"{shown}, numpy={chr(10) if chr(10) in text else ''}{text}>"

    def __len__(self) -> int:
        raise TypeError("object of type 'ResourceVariable' has no len()")

    def numpy(self) -> Any:
        """Return the value."""
        array = super().numpy()
        return array if array.ndim else array[()]

    def set_shape(self, shape: ShapeLike) -> None:
        """Accept what is known already."""

    @property
    def device(self) -> str:
        """Return where the value is; in a graph, where it is asked to be."""
        return self.place.full_name if self.graph is None else str(self.op.device)

    def ref(self) -> Reference:
        """Return what stands for the variable as a key."""
        return Reference(self)

    def _rows(self, indices: object, updates: object) -> TfTensor:
        """Return rows of indices, which must be inside of the variable and fit the updates."""
        with InGraph(self._home() or graph_of([indices])):
            return rows_within(convert(indices), convert(updates), self.shape.as_list())

    def scatter_nd_update(
        self, indices: object, updates: object, name: str | None = None
    ) -> Tensor | Self:
        """Write slices at indices."""
        rows = self._rows(indices, updates)
        if self.spec.dtype.kind == "s":  # no compiled code puts texts in place
            given = [convert(x) for x in (self, rows, updates)]
            made: Tensor | Self = self.assign(perform("TensorScatterUpdate", given))
            return made
        return super().scatter_nd_update(rows, updates)

    def scatter_nd_add(
        self, indices: object, updates: object, name: str | None = None
    ) -> Tensor | Self:
        """Add slices at indices; those at one index add up."""
        return super().scatter_nd_add(self._rows(indices, updates), updates)

    def scatter_nd_sub(
        self, indices: object, updates: object, name: str | None = None
    ) -> Tensor | Self:
        """Subtract slices at indices; those at one index add up."""
        return super().scatter_nd_sub(self._rows(indices, updates), updates)

    def scatter_update(
        self, sparse_delta: object, use_locking: object = None, name: str | None = None
    ) -> Tensor | Self:
        """Write slices at indices."""
        return self.scatter_nd_update(*in_column(sparse_delta))

    def scatter_add(
        self, sparse_delta: object, use_locking: object = None, name: str | None = None
    ) -> Tensor | Self:
        """Add slices at indices; those at one index add up."""
        return self.scatter_nd_add(*in_column(sparse_delta))

    def scatter_sub(
        self, sparse_delta: object, use_locking: object = None, name: str | None = None
    ) -> Tensor | Self:
        """Subtract slices at indices; those at one index add up."""
        return self.scatter_nd_sub(*in_column(sparse_delta))

    def __getitem__(self, key: object) -> SlicedVariable | TfTensor:
        found = Common.__getitem__(self, key)
        if self._home() is None and STATE.context is None:
            made = SlicedVariable(found._array, self, key)
            made._key = key_of(found)
            return made
        if isinstance(found, GraphTensor):
            SLICED[found.op] = partial(assign_slice, self, key)
        return found

    experimental_ref = ref
    batch_scatter_update = change_batches
    scatter_nd_max = scattered_at("scatter_nd_max", tensor_scatter_nd_max)
    scatter_nd_min = scattered_at("scatter_nd_min", tensor_scatter_nd_min)
    scatter_max = scattered("scatter_max", tensor_scatter_nd_max)
    scatter_min = scattered("scatter_min", tensor_scatter_nd_min)
    scatter_mul = scattered("scatter_mul", tensor_scatter_nd_mul)
    scatter_div = scattered("scatter_div", tensor_scatter_nd_div)

    def initialized_value(self) -> Tensor:
        """Return the value; of a variable of a graph the first one, while it has none."""
        read = self.read_value()
        return Variable.guard(read) if isinstance(read, GraphTensor) and self.graph else read

    def __eq__(self, other: object) -> Any:
        if self.graph is not None:  # in the graphs of sessions it is itself, and nothing else
            return self is other
        return False if other is None else COMPARISONS["equal"](self, other)

    def __ne__(self, other: object) -> Any:
        if self.graph is not None:
            return self is not other
        return True if other is None else COMPARISONS["not_equal"](self, other)


READERS[Variable] = Variable.read_alone


def tell_replica(value: object) -> None:
    """Tell the replica that runs what it is about to assign, as it is given."""
    if STATE.replica is not None:
        STATE.replica.told = value


def group(*inputs: object, name: str | None = None) -> Operation | None:
    """Return an operation that waits for others."""
    flat = [x for x in nest.flatten(list(inputs)) if x is not None]
    if (graph := graph_of(flat)) is None:
        return None
    with graph.control_dependencies(flat):
        return graph.add(NoOp(), (), name=name or "group_deps")


def no_op(name: str | None = None) -> Operation | None:
    """Return an operation that does nothing."""
    context = STATE.context
    return context.add(NoOp(), (), name=name) if isinstance(context, Graph) else None


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Operation:
    """Return an operation that gives variables their initial value."""
    made = [v.initializer for v in var_list if v.graph is not None]
    graph = graph_of(made) or get_default_graph()
    with graph.control_dependencies(None), graph.control_dependencies(made):
        return graph.add(NoOp(), (), name=name)


def control_dependencies(control_inputs: Sequence[object] | None) -> AbstractContextManager[None]:
    """Let operations wait for others; eagerly, functions among them are called."""
    if isinstance(graph := STATE.context, Graph):
        return graph.control_dependencies(control_inputs)
    for each in filter(callable, control_inputs or ()):
        each()
    return nullcontext()
