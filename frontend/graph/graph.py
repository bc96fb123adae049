"""Graphs: operations by name, the tensors between them, and the order that control edges ask for.

A graph is what staged code is traced into, and what sessions run parts of. Its operations are
of a `Kind` (kinds.py): one operation of the IR, a function made of several, a variable's read or
write, a call, a choice, a loop. Sizes that are not known are symbols of their own (`d7`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

from ...errors import GraphError
from ...forks import renewed
from ...ir.op import Op
from ...ir.types.dims import Dim, DimExpr
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec
from ..dims.unknown import known_dim, unknown_dim
from ..eager.kernels import OperandError
from ..eager.tensor import Tensor, as_tensor, cast
from ..values.context import Backward as BackwardRule
from ..values.context import Context, Emitter, default_session
from ..values.devices import parse_device
from ..values.origin import short, user_line
from .frame import Frame, Guarded, Stateful, Touched
from .inference import Abstract
from .symbolic import (
    FinalizedGraphError,
    ForeignTensorError,
    NameFormError,
    NoSuchNameError,
    SymbolicTensor,
    as_text,
)

EVERYWHERE = ("CPU", "GPU")
"""The kinds of devices that there are."""


class Kind:
    """The behaviour of an operation of a graph."""

    type: str = "Op"
    stateful: bool = False
    devices: tuple[str, ...] = ("CPU",)
    """The kinds of devices that have a kernel for it."""
    is_state: bool = False
    """Whether it only reads or writes what is kept, which needs no code."""
    draws: bool = False
    """Whether it draws random numbers, with a key of its own each time."""
    refuses: bool = False
    """Whether it refuses values that are known only when it is run."""
    checks: bool = False
    """Whether a function runs it even if nothing uses its result: it may refuse to go on."""
    waits: bool = False
    """Whether it may wait for another step or thread."""
    is_python: bool = False
    """Whether it calls Python that somebody wrote."""
    slides: bool = False
    """Whether it multiplies windows: carried out by itself, it is compiled for its sizes."""
    goes_back: bool = False
    """Whether it gives the gradients of another operation, from what was recorded there."""
    reads_text: bool = False
    """Whether many texts may be given as a row of bytes, and not as objects."""
    is_numbers: bool = False
    """Whether the host makes arrays of arrays and nothing else: a program leaves that to it."""
    line: object = None
    """In what line it waits behind others of its run, if it does."""
    takes_dead: bool = False
    """Whether it runs although an input comes from a way that was not taken."""
    home: str = ""
    """The device that what it uses was made on, if that was asked for: it runs there."""

    @property
    def label(self) -> str:
        """Return the name that an operation has where none is given."""
        return self.type

    def stated(self) -> Mapping[str, object]:
        """Return the attributes that follow from what it uses, by TensorFlow's names."""
        return {}

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the specs of the results, or raise `TypeError`."""
        raise NotImplementedError(self.type)

    def multiplied(self, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Return about how often it multiplies, of what slides and of sizes that are known."""
        return Op.multiplied(operands, results)

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Return what is known of the results of a node where more is known of its inputs."""
        return [Abstract(tensor.spec) for tensor in op.outputs]

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the results."""
        raise NotImplementedError(self.type)

    def touched(self) -> Sequence[Touched]:
        """Return the variables that graphs inside of the kind read or write."""
        return ()

    def variables(self, op: Operation) -> Sequence[Stateful]:
        """Return the variables that are read by running the operation."""
        return ()

    def smooth_operands(self, op: Operation) -> Sequence[Hashable]:
        """Return by what the results may change smoothly: inputs, and the ids of variables."""
        return [*op.inputs, *map(id, self.variables(op))]

    def changed(self, op: Operation) -> Sequence[Guarded]:
        """Return the variables that the operation itself changes, or reads as of one moment."""
        return ()

    def gradient(
        self, op: Operation, grads: Sequence[object], emit: Emitter
    ) -> Sequence[object] | None:
        """Return the gradient of each input, or None: it is to be taken by recording a run."""
        return None


class GraphTensor(SymbolicTensor):
    """An edge of a graph: one output of an operation."""

    __slots__ = ("op", "seen", "users", "value_index")

    graph: Graph

    def __init__(self, op: Operation, index: int, spec: TensorSpec) -> None:
        self.graph = op.graph
        self.op = op
        self.value_index = index
        self._spec = spec
        self.users: list[Operation] = []
        self.seen: tuple[int | None, ...] | None = None
        """The shape that it had in runs, where it is not known before: None for what differed."""

    def see(self, shape: tuple[int, ...]) -> None:
        """Take note of the shape that it has in a run."""
        old = self.seen
        if old is None or len(old) != len(shape):
            self.seen = shape
        elif old != shape:
            self.seen = tuple(a if a == b else None for a, b in zip(old, shape, strict=True))

    @property
    def edge(self) -> GraphTensor:
        """Return the operation's own output, of which another tensor may be a view."""
        return self.op.outputs[self.value_index]

    @property
    def name(self) -> str:
        """Return `operation:output`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def source(self) -> str:
        """Return the line of the user's program that made it."""
        return self.op.source

    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""
        return self.graph.add(STANDARD.stop, [self]).outputs[0]

    def consumers(self) -> list[Operation]:
        """Return the operations that take the tensor."""
        return list(dict.fromkeys(self.users))

    def set_shape(self, shape: Sequence[int | None]) -> None:
        """State what is known of the shape."""
        known = self._spec.shape if self._spec.shape is not None else (None,) * len(shape)
        pairs = list(zip(known, shape, strict=False))
        fixed = [(a, b) for a, b in pairs if isinstance(a, int) and b is not None]
        if len(known) != len(shape) or any(a != b for a, b in fixed):
            raise ValueError(
                f"Shapes {dims_or_none(self._spec.shape)} and {tuple(shape)} are not compatible"
            )
        merged = [
            b if not isinstance(a, int) and b is not None else a
            for a, b in zip(known, shape, strict=True)
        ]
        dims = tuple(unknown_dim() if d is None else d for d in merged)
        self._spec = self._spec.with_shape(dims)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.spec}>"


class Inferred(NamedTuple):
    """What a kind gives of inputs like these: lowering asks no more where they are the same."""

    taken: Sequence[TensorSpec]
    made: Sequence[TensorSpec]


class Operation:
    """A node: a kind with its inputs, control inputs, attributes and outputs."""

    __slots__ = (
        "__weakref__",
        "attributes",
        "colocated",
        "control_inputs",
        "device",
        "graph",
        "index",
        "inferred",
        "inputs",
        "kind",
        "name",
        "outputs",
        "source",
        "varies",
    )

    def __init__(
        self,
        graph: Graph,
        name: str,
        kind: Kind,
        inputs: Sequence[GraphTensor],
        attributes: dict[str, Any],
        specs: Sequence[TensorSpec],
    ) -> None:
        self.graph, self.name, self.kind = graph, name, kind
        self.inputs = list(inputs)
        self.attributes = attributes
        self.control_inputs: list[Operation] = []
        self.index = len(graph.operations)
        self.source = user_line()
        self.device = graph.around.device
        self.colocated = graph.colocated
        """The operations that it shall run on the same device as."""
        self.outputs = [graph.tensor_class(self, i, spec) for i, spec in enumerate(specs)]
        self.inferred: Inferred | None = None
        """What was inferred, if its outputs were not given."""
        self.varies = False  # whether a run has given another size than was likely

    @property
    def type(self) -> str:
        """Return the name of the kind."""
        return self.kind.type

    def get_attr(self, name: str) -> Any:
        """Return an attribute; `T` is the element type that it was inferred to be for."""
        options: Mapping[str, object] = getattr(self.kind, "options", {})
        given = {**self.kind.stated(), **options, **self.attributes}
        if name in given:
            return given[name]
        typed = {"T": self.inputs or self.outputs, "dtype": self.outputs}.get(name)
        if not typed:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return typed[0].dtype

    def update_input(self, index: int, tensor: GraphTensor) -> None:
        """Take another tensor: so the way back of a loop that is made of single nodes is closed."""
        if tensor.graph is not self.graph:
            raise foreign(tensor, self.graph)
        old, tensor = self.inputs[index], tensor.edge
        self.inputs[index] = tensor
        tensor.users.append(self)
        if all(old is not other for other in self.inputs):
            old.users[:] = [user for user in old.users if user is not self]

    _update_input = update_input
    """The name that hand-made graphs for TensorFlow use."""

    def run(self, feed_dict: object = None, session: Any = None) -> None:
        """Run the operation in a session: the default one, if none is given."""
        found = session or default_session()
        if found is None:
            raise ValueError(
                f"Cannot execute operation {self.name!r} using `run()`: No default session is "
                "registered."
            )
        found.run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}>"


class Around:
    """What those operations wait for that are made now, and the device that is asked for them."""

    def __init__(self, control: list[Operation], device: str) -> None:
        self.control, self.device = control, device


class AroundInThread(threading.local):
    """The same for each thread by itself: it begins with what was there."""

    def __init__(self, control: list[Operation], device: str) -> None:
        self.control, self.device = control, device


class NamedInThread(threading.local):
    """What names of new operations begin with, for each thread by itself: at first with nothing."""

    scope = ""


class WaitedFor(AbstractContextManager[None]):
    """Lets operations of a graph wait for others, from where it is entered on.

    Who enters it need not keep it.
    """

    def __init__(self, graph: Graph, inputs: Sequence[object] | None) -> None:
        self.graph, self.inputs = graph, inputs
        self.before: list[list[Operation]] = []

    def __enter__(self) -> None:
        around, graph = self.graph.around, self.graph
        found = [op for each in self.inputs or () if (op := op_of(each)) is not None]
        graph.wait_for([op for op in found if op.graph is not graph])
        own = [op for op in found if op.graph is graph]
        self.before.append(around.control)
        around.control = [] if self.inputs is None else [*around.control, *own]

    def __exit__(self, *error: object) -> None:
        self.graph.around.control = self.before.pop()


class Graph(Context):
    """Operations in the order they were made, each under a name of its own."""

    tensor_class: type[GraphTensor] = GraphTensor
    operation_class: type[Operation] = Operation
    outer: Graph | None = None

    name = "a graph"
    is_open = True

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.by_name: dict[str, Operation] = {}
        self.finalized = False
        self.device_functions: tuple[Callable[[Operation], str | None], ...] = ()
        """What says the devices of operations, the innermost last."""
        self.colocated: tuple[Operation, ...] = ()
        self.seed: int | None = None
        self.container_name = ""
        """Where the values of variables lie that are made now; nothing: in each session."""
        self.collections: dict[str, list[object]] = {}
        self.lock = renewed(threading.RLock())
        self._names: dict[str, int] = {}
        self._named = NamedInThread()
        self.around: Around | AroundInThread = Around([], "")
        self.gradient_overrides: dict[str, str] = {}

    @contextmanager
    def container(self, container_name: str) -> Iterator[None]:
        """Let variables that are made inside have their values in a container of this name."""
        before, self.container_name = self.container_name, container_name
        try:
            yield
        finally:
            self.container_name = before

    def sparse_gradient(self, op: Operation, grads: Sequence[object]) -> Sequence[object] | None:
        """Return the gradients of an operation of which some are slices with indices, or None."""
        return None

    def inner_class(self) -> type[Any]:
        """Return the class of graphs inside of it: branches and bodies."""
        return STANDARD.inner

    def apply(
        self, op: type[Op], operands: Sequence[object], attributes: dict[str, object]
    ) -> GraphTensor | tuple[GraphTensor, ...]:
        """Add an operation of the IR."""
        inputs = [self.owned(x) for x in operands]
        try:
            outputs = self.add(STANDARD.primitive(op), inputs, attributes).outputs
        except TypeError as error:
            if isinstance(error, OperandError | GraphError):
                raise
            raise OperandError(str(error), location=short(user_line())) from None
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def filled_like(self, x: object, value: int) -> GraphTensor:
        """Add zeros or ones of the shape that a tensor has in the run."""
        kind = STANDARD.ones if value else STANDARD.zeros
        return self.add(kind, [self.owned(x)]).outputs[0]

    def backward_of(self, result: object) -> BackwardRule | None:
        """Return what goes back over a node whose sizes are open: its rule is for known ones."""
        assert isinstance(result, GraphTensor), "an operation of a graph gives tensors of it"
        op = result.op
        is_known = all(x.spec.is_static for x in (*op.inputs, *op.outputs))
        return None if is_known else STANDARD.backward(op)

    def convert(self, value: object, dtype: DType | None = None) -> Tensor:
        """Return a value from outside as a tensor of this graph."""
        tensor = as_tensor(value, dtype)
        return self.owned(tensor if dtype is None else cast(tensor, dtype))

    def owned(self, tensor: object) -> GraphTensor:
        """Return the graph's tensor for a tensor, which is captured if it is not of here."""
        if isinstance(tensor, GraphTensor):
            return tensor.edge if tensor.graph is self else self.capture(tensor.edge)
        return self.capture(as_tensor(tensor))

    def capture(self, tensor: Tensor) -> GraphTensor:
        """Return what stands for a tensor from outside: of an eager one, a constant."""
        if isinstance(tensor, GraphTensor):
            raise foreign(tensor, self)
        return self.constant(tensor.numpy())

    def constant(self, value: object, name: str | None = None) -> GraphTensor:
        """Add a constant."""
        return self.add(STANDARD.constant, (), {"value": value}, name=name).outputs[0]

    def add(
        self,
        kind: Kind,
        inputs: Sequence[GraphTensor],
        attributes: Mapping[str, object] | None = None,
        *,
        specs: Sequence[TensorSpec] | None = None,
        name: str | None = None,
    ) -> Operation:
        """Add an operation; what its outputs are is inferred where it is not given."""
        if self.finalized:
            raise FinalizedGraphError("Graph is finalized and cannot be modified.")
        given = dict(attributes or {})
        for tensor in inputs:
            if tensor.graph is not self:
                raise foreign(tensor, self)
        inputs = [tensor.edge for tensor in inputs]
        inferred = None
        if specs is None:
            taken = [tensor.spec for tensor in inputs]
            specs = kind.infer(taken, given)
            inferred = Inferred(taken, specs)
        with self.lock:
            label = self.unique_name(name or kind.label)
            op = self.operation_class(self, label, kind, inputs, given, specs)
            op.inferred = inferred
            for tensor in inputs:
                tensor.users.append(op)
            op.control_inputs = self._control_of(op)
            self._place(op)
            self.operations.append(op)
            self.by_name[op.name] = op
        return op

    def _place(self, op: Operation) -> None:
        """Let device functions say where an operation is; what uses a variable is where that is.

        So is what uses a queue.
        """
        for function in reversed(self.device_functions):
            op.device = function(op) or ""
        op.device = op.kind.home or op.device
        handle = op.attributes.get("variable")
        home = None if handle is None else handle().home
        if home is not None:
            op.device = home.device

    def device_of(self, kind: Kind) -> str:
        """Return the device that an operation of a kind would be given now."""
        op = self.operation_class(self, kind.label, kind, [], {}, [])
        self._place(op)
        return op.device

    def _control_of(self, op: Operation) -> list[Operation]:
        direct = {tensor.op for tensor in op.inputs}
        return [each for each in dict.fromkeys(self.around.control) if each not in direct]

    def unique_name(self, name: str, *, mark: bool = True) -> str:
        """Return the name, within the scope, with a number if it is taken.

        A name that ends in a slash is taken as it is: the scope is given with it.
        """
        if name.endswith("/") and len(name) > 1:
            return name[:-1]
        full = f"{self._named.scope}{name}"
        key = full.lower()
        used = self._names.get(key)
        if mark:
            self._names[key] = (used or 0) + 1
        if used is None:
            return full
        number = used
        while (made := f"{full}_{number}").lower() in self._names:
            number += 1
        if mark:
            self._names[key] = number + 1
            self._names[made.lower()] = 1
        return made

    @property
    def scope(self) -> str:
        """Return what names of new operations begin with."""
        return self._named.scope

    @scope.setter
    def scope(self, scope: str) -> None:
        self._named.scope = scope

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Put operations under `name/`; a name that ends in a slash is entered again."""
        named, before = self._named, self._named.scope
        if not name:
            named.scope = ""
        elif name.endswith("/"):
            named.scope = name
        else:
            named.scope = f"{self.unique_name(name)}/"
        try:
            yield named.scope
        finally:
            named.scope = before

    @contextmanager
    def colocate_with(self, *others: object, ignore_existing: bool = False) -> Iterator[None]:
        """Let operations run on the same device as others do: they ask for what the first does.

        They run with what was asked for around as well, unless that is to be ignored.
        """
        before = self.colocated
        found = [op for op in map(op_of, others) if op is not None]
        first = [root for op in found for root in op.colocated or (op,)]  # (of the whole group)
        self.colocated = tuple(dict.fromkeys((*(() if ignore_existing else before), *first)))
        try:
            with self.beside(found[0]) if found else nullcontext():
                yield
        finally:
            self.colocated = before

    def control_dependencies(self, inputs: Sequence[object] | None) -> WaitedFor:
        """Let operations wait for others; None clears what outer contexts ask for."""
        return WaitedFor(self, inputs)

    def switch_to_thread_local(self) -> None:
        """Let contexts of waiting and of devices hold for the thread alone that enters them."""
        if isinstance(self.around, Around):
            self.around = AroundInThread(self.around.control, self.around.device)

    def wait_for(self, others: Sequence[Operation]) -> None:
        """Wait for operations of graphs outside, as far as there are any; this one has none."""

    def override_of(self, op: Operation) -> str | None:
        """Return the name of the gradient function that stands in for that of an operation."""
        return self.gradient_overrides.get(op.type)

    @contextmanager
    def on_device(self, name: str | None) -> Iterator[None]:
        """Give operations a device, as far as the name says one; None: what was asked is over."""
        before = self.around.device
        functions = self.device_functions
        if name is None:
            self.around.device, self.device_functions = "", ()
        else:
            self.around.device = str(parse_device(before).merge(parse_device(name)))
        try:
            yield
        finally:
            self.around.device, self.device_functions = before, functions

    @contextmanager
    def by_function(self, function: Callable[[Operation], str | None]) -> Iterator[None]:
        """Let a function say the devices of operations."""
        before = self.device_functions
        self.device_functions = (*before, function)
        try:
            yield
        finally:
            self.device_functions = before

    @contextmanager
    def beside(self, op: Operation) -> Iterator[None]:
        """Give operations the device of another one, whatever was asked for around."""
        before = self.around.device, self.device_functions
        self.around.device, self.device_functions = op.device, ()
        try:
            yield
        finally:
            self.around.device, self.device_functions = before

    def get_operations(self) -> list[Operation]:
        """Return all operations in the order they were made."""
        return list(self.operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation of a name."""
        if ":" in as_text(name, "Operation"):
            raise NameFormError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
        found = self.by_name.get(name)
        if found is None:
            raise NoSuchNameError(f"The name '{name}' refers to an Operation not in the graph.")
        return found

    def get_tensor_by_name(self, name: str) -> GraphTensor:
        """Return the tensor of a name `operation:output`."""
        if ":" not in as_text(name, "Tensor"):
            raise NameFormError(
                f"The name '{name}' refers to an Operation, not a Tensor. Tensor names must be "
                'of the form "<op_name>:<output_index>".'
            )
        stem, _, port = name.rpartition(":")
        start = f"The name '{name}' refers to a Tensor which does not exist. The operation, "
        op = self.by_name.get(stem)
        if op is None:
            raise NoSuchNameError(f"{start}'{stem}', does not exist in the graph.")
        count = len(op.outputs)
        if not port.isdigit() or int(port) >= count:
            raise NoSuchNameError(f"{start}'{stem}', exists but only has {count} outputs.")
        return op.outputs[int(port)]

    @contextmanager
    def reopened(self) -> Iterator[None]:
        """Let a session add reads of variables that are fetched, also to a finalized graph."""
        before, self.finalized = self.finalized, False
        try:
            yield
        finally:
            self.finalized = before

    def finalize(self) -> None:
        """Let nothing be added any more."""
        self.finalized = True

    def add_to_collection(self, name: str, value: object) -> None:
        """Put a value into a list of the graph."""
        self.collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Sequence[str] | str, value: object) -> None:
        """Put a value into several lists of the graph."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: str) -> list[object]:
        """Return a list of the graph."""
        return list(self.collections.get(name, ()))


def op_of(value: object) -> Operation | None:
    """Return the operation behind a tensor, a variable or an operation; None of values."""
    if isinstance(value, Operation):
        return value
    found = getattr(value, "op", None)
    return found if isinstance(found, Operation) else None


def foreign(tensor: GraphTensor, graph: Graph) -> ForeignTensorError:
    """Return the error of a tensor that is used in a graph that is not its own."""
    where = tensor.graph.name
    return ForeignTensorError(
        f"{tensor!r} must be from the same graph: it was made at {tensor.op.source} in {where}",
        hint="return it from the function, or make it an argument",
    )


def dims_or_none(shape: tuple[Dim, ...] | None) -> tuple[int | None, ...] | None:
    """Return a shape with None for sizes that are not known."""
    if shape is None:
        return None
    return tuple(d if isinstance(d, int) else None for d in shape)


def spec_with_unknowns(dtype: DType, shape: Sequence[Dim | None] | None) -> TensorSpec:
    """Return a spec with a symbol for each size that is not known; one with a symbol has that."""
    if shape is None:
        return TensorSpec(dtype, None)
    return TensorSpec(dtype, tuple([known_dim(dim) for dim in shape]))


class Standard:
    """The kinds and classes that every graph needs; the files above that define them fill it."""

    constant: Kind
    stop: Kind
    zeros: Kind
    ones: Kind
    primitive: Callable[[type[Op]], Kind]
    backward: Callable[[Operation], BackwardRule]
    inner: type[object]


STANDARD = Standard()


def within(found: TensorSpec, wanted: TensorSpec) -> bool:
    """Say whether a value of one spec can stand for another, whose sizes may be open."""
    if found.dtype != wanted.dtype:
        return False
    if wanted.shape is None or found.shape is None:
        return True
    return len(found.shape) == len(wanted.shape) and all(
        isinstance(w, DimExpr) or isinstance(f, DimExpr) or f == w
        for f, w in zip(found.shape, wanted.shape, strict=True)
    )
