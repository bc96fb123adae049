"""Tensors on devices, and operations that run there at once.

    with gravure.device("gpu:0"):
        y = x @ w                     # x and w are copied there if they are elsewhere
    y.device, y.numpy()               # Device('gpu:0'), a copy
    x.to_device("gpu:0") + 1          # runs where its operand is

Each operation is compiled for the device once for each shape. One that the device has no kernel
for runs on the processor, unless `device(..., soft=False)` says that this is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Protocol

from xdsl.dialects.builtin import ModuleOp

from ...codegen.compiled import Options
from ...errors import CompileError, UnsupportedOp
from ...ir import GraphEmit, Program
from ...ir.op import REGISTRY, Array, Op
from ...ir.program import finish, new_function, set_level
from ...ir.types.dtypes import DTYPES
from ...ir.types.tensor import TensorSpec
from ...ir.types.values import is_compilable
from ...runtime.devices import open_driver
from ...runtime.gpu.device_array import DeviceArray
from ...runtime.gpu.driver import Driver
from ..array.indexing import taken
from ..eager.kernels import HostOp, evaluate, explain
from ..eager.tape import identity
from ..eager.tensor import Tensor
from ..graph.frame import Store, Turn
from ..graph.graph import Graph, Kind
from ..graph.variables import ASSIGN, VariableState
from ..models.compiled import compile_piece
from ..models.gpu import DeviceModel, load_on_gpu
from ..values import dtypes
from ..values.context import STATE, record, running_on
from ..values.devices import CPU, Device, PlacementError, as_device, devices
from ..values.dtypes import DataType
from ..values.given import Index
from ..values.origin import short, user_line


class DeviceTensor(Tensor):
    """A computed value that lies on a GPU. What only the processor can do works on a copy."""

    __slots__ = ("_copy", "held", "place")
    direct: ClassVar[bool] = False

    def __init__(self, held: DeviceArray, place: Device) -> None:
        self.held = held
        self.place = place
        self._copy: Array | None = None

    @property
    def _array(self) -> Array:
        if self._copy is None:
            self._copy = self.held.numpy()
            self._copy.flags.writeable = False
        return self._copy

    @_array.setter
    def _array(self, array: Array) -> None:
        self.held, self._copy = DeviceArray.of(self.held.driver, array), None

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape as the IR states them."""
        return TensorSpec(DTYPES[self.held.dtype], self.held.shape)

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return dtypes.as_dtype(self.held.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extent of each axis."""
        return self.held.shape

    @property
    def size(self) -> int:
        """Return the number of elements."""
        found = 1
        for extent in self.held.shape:
            found *= extent
        return found

    @property
    def device(self) -> Device:
        """Return where the elements lie."""
        return self.place

    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""
        return DeviceTensor(self.held, self.place)

    def __getitem__(self, key: Index) -> Tensor:
        return taken(self, key)


class PlacedTensor(Tensor):
    """A computed value that belongs to another of the devices that the processor appears as."""

    __slots__ = ("place",)

    def __init__(self, array: object, place: Device) -> None:
        super().__init__(array)
        self.place = place

    @property
    def device(self) -> Device:
        """Return where the elements lie."""
        return self.place

    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""
        return PlacedTensor(self._array, self.place)

    def to_device(self, device: object, /, *, stream: object = None) -> Tensor:
        """Return the tensor on a device: itself if it is there, else a copy."""
        return moved(self, as_device(device))


class WorkElsewhere(Protocol):
    """What another task does for this process, operation by operation; values are tensors."""

    def apply(
        self, op: type[Op], values: Sequence[Tensor], attributes: dict[str, object]
    ) -> Sequence[Tensor]:
        """Carry an operation out; its results stay there."""

    def keep(self, array: object) -> RemoteTensor:
        """Bring an array there."""

    def fetch(self, number: int) -> Array:
        """Return a value that is kept there as an array."""

    def drop(self, number: int) -> None:
        """Let a value go that is kept there."""

    def call(self, trace: Any, inputs: Sequence[Tensor]) -> Sequence[object]:
        """Run a traced function; its results stay there."""

    def variable(self, name: str, spec: TensorSpec, value: Array) -> RemoteState:
        """Return the state of a variable whose value is there."""


@dataclass(frozen=True, eq=False)
class RemoteDevice(Device):
    """A device of another task, where operations can be carried out eagerly."""

    full: str = ""
    work: WorkElsewhere | None = None

    @property
    def full_name(self) -> str:
        """Return the name with all its parts."""
        return self.full

    def __str__(self) -> str:
        return self.full

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteDevice) and other.full == self.full

    def __hash__(self) -> int:
        return hash(self.full)


class RemoteValue:
    """A value that another task keeps, for as long as somebody here has this."""

    def __init__(self, place: RemoteDevice, number: int, spec: TensorSpec) -> None:
        self.place, self.number, self.spec = place, number, spec

    @property
    def work(self) -> WorkElsewhere:
        """Return what the task does for this process."""
        assert self.place.work is not None, "it is connected"
        return self.place.work

    def __del__(self) -> None:
        self.work.drop(self.number)


class RemoteTensor(Tensor):
    """A computed value that another task keeps; its elements come when they are asked for."""

    __slots__ = ("_copy", "held")
    direct: ClassVar[bool] = False

    def __init__(self, held: RemoteValue) -> None:
        self.held = held
        self._copy: Array | None = None

    @property
    def _array(self) -> Array:
        if self._copy is None:
            self._copy = self.held.work.fetch(self.held.number)
            self._copy.flags.writeable = False
        return self._copy

    @_array.setter
    def _array(self, array: Array) -> None:
        kept: RemoteTensor = self.held.work.keep(array)
        self.held, self._copy = kept.held, None

    @property
    def spec(self) -> TensorSpec:
        """Return element type and shape as the IR states them."""
        return self.held.spec

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return dtypes.as_dtype(self.held.spec.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extent of each axis."""
        return self.held.spec.static_shape

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)

    @property
    def device(self) -> Device:
        """Return where the elements lie."""
        return self.held.place

    def alias(self) -> Tensor:
        """Return another tensor of the same value, which recorders do not know."""
        return RemoteTensor(self.held)

    def to_device(self, device: object, /, *, stream: object = None) -> Tensor:
        """Return the tensor on a device: itself if it is there, else a copy."""
        return moved(self, as_device(device))

    def __getitem__(self, key: Index) -> Tensor:
        return taken(self, key)


class RemoteState(VariableState):
    """A variable whose value another task keeps."""

    def __init__(
        self,
        name: str,
        spec: TensorSpec,
        container: str,
        read: Callable[[], RemoteTensor],
        change: Callable[[Kind, Sequence[Tensor]], None],
    ) -> None:
        super().__init__(name, spec, container=container)
        self.is_eager = True
        self.turn = Turn()  # (the task has one of its own, also where it is this process)
        self.read, self.change = read, change
        """What gives the value now, and what changes it, both there."""

    def _present(self, store: Store) -> Array:
        found: Array = self.read().numpy()
        return found

    def put_in(self, store: Store, value: Array) -> None:
        """Change the value."""
        self.change(ASSIGN, [Tensor(value)])


def on_processor(array: object, place: Device) -> Tensor:
    """Return what was computed on a device that is the processor."""
    return Tensor(array) if place == CPU else PlacedTensor(array, place)


def moved(x: Tensor, device: Device) -> Tensor:
    """Return a tensor on a device: itself if it is there, else a copy."""
    if not x.eager:
        return in_graph(x, device)
    before = x.place if isinstance(x, DeviceTensor | PlacedTensor) else CPU
    if isinstance(x, RemoteTensor):
        before = x.held.place
    if before == device:
        return x
    made: Tensor
    if isinstance(device, RemoteDevice):
        assert device.work is not None, "it is connected"
        made = device.work.keep(x.numpy())
    elif device.kind == "cpu":
        made = on_processor(x.numpy(), device)
    else:
        made = DeviceTensor(held_on(x, driver_of(device)), device)
    record("to_device", [x], [made], lambda grad: [None if grad is None else moved(grad, before)])
    return made


def in_graph(x: Tensor, device: Device) -> Tensor:
    """Return the value of a graph, which the device computes."""
    graph = STATE.context if isinstance(STATE.context, Graph) else x.home()
    if not isinstance(graph, Graph):
        raise TypeError(f"a value of {STATE.context and STATE.context.name} has no device")
    with graph.on_device(f"/{device}"):
        made: Tensor = identity(x)
    return made


@contextmanager
def device(name: object, *, soft: bool = True) -> Iterator[Device]:
    """Let operations run on a device: `gpu:0`, `cpu:0`, or the full name of one.

    In a function that is traced, or a graph, operations get the device: what is asked for inside
    goes before what is asked for around a call. With `soft` false it is an error
    (`PlacementError`) if the device has no kernel for an operation.
    """
    graph = STATE.context
    with ExitStack() as stack:
        if isinstance(graph, Graph):
            stack.enter_context(graph.on_device(str(name)))
            yield CPU
        else:
            place = as_device(name)
            stack.enter_context(running_on(place, soft=soft))
            yield place


def driver_of(place: Device) -> Driver:
    """Return what drives a GPU."""
    return open_driver(str(place))


def place_of(array: DeviceArray) -> Device:
    """Return the device that memory is on."""
    gpus = (place for place in devices() if place.kind == "gpu")
    return next(place for place in gpus if driver_of(place) is array.driver)


def held_on(x: Tensor, driver: Driver) -> DeviceArray:
    """Return the memory of a tensor on a device, copied there if it is elsewhere."""
    if isinstance(x, DeviceTensor) and x.held.driver is driver:
        return x.held
    return DeviceArray.of(driver, x.numpy())


def wanted_place(values: Sequence[Tensor]) -> Device:
    """Return where an operation runs: as was asked for, else where an operand is."""
    found: Device | None = STATE.device
    if found is None:
        found = next((x.place for x in values if isinstance(x, DeviceTensor)), CPU)
    return found


def run_on_device(
    op: type[Op], values: Sequence[Tensor], attributes: dict[str, object]
) -> Sequence[Tensor]:
    """Return the results of an operation, on the device where it was to run if it can be."""
    place = wanted_place(values)
    if isinstance(place, RemoteDevice):
        return run_remotely(op, values, attributes, place)
    if place.kind != "cpu":
        driver = driver_of(place)
        model = kernel(op, [x.spec for x in values], attributes, driver)
        if model is not None:
            results = model.gpu.on_device([held_on(x, driver) for x in values])
            return [DeviceTensor(each, place) for each in results]
        if not STATE.soft:
            raise PlacementError(
                f"{place} has no kernel for {op.name}({', '.join(str(x.spec) for x in values)})",
                location=short(user_line()),
                hint="gravure.device(..., soft=True) lets the processor do it",
            )
    place = place if place.kind == "cpu" else CPU
    made = evaluate(op, [x.numpy() for x in values], attributes)
    return [on_processor(each, place) for each in made]


def run_remotely(
    op: type[Op], values: Sequence[Tensor], attributes: dict[str, object], place: RemoteDevice
) -> Sequence[Tensor]:
    """Return the results of an operation that another task carries out, where they stay.

    A function of numpy's without a name in the IR is carried out here, if it may be.
    """
    assert place.work is not None, "it is connected"
    if REGISTRY.get(op.name) is op:
        found: Sequence[Tensor] = place.work.apply(op, values, attributes)
        return found
    if not STATE.soft:
        raise PlacementError(f"{place} has no kernel for {op.name}", location=short(user_line()))
    return [Tensor(each) for each in evaluate(op, [x.numpy() for x in values], attributes)]


KERNELS: dict[object, DeviceModel | None] = {}
"""What was compiled for a device, by operation, types and attributes; None: there is no kernel."""
MOST = 1024
"""How many are kept."""


def kernel(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object], driver: Driver
) -> DeviceModel | None:
    """Return an operation compiled for a device, None if it has no kernel for it."""
    key = op, tuple(specs), repr(sorted(attributes.items())), driver
    if key not in KERNELS:
        if len(KERNELS) >= MOST:
            KERNELS.clear()
        KERNELS[key] = compiled(op, specs, attributes, driver)
    return KERNELS[key]


def compiled(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object], driver: Driver
) -> DeviceModel | None:
    """Compile a program of one operation; None where it does not become code of a GPU."""
    if issubclass(op, HostOp) or op.HOST:
        return None
    if not all(is_compilable(s.type) for s in (*specs, *explain(op, specs, attributes))):
        return None
    main = new_function("main", [(f"x{number}", spec) for number, spec in enumerate(specs)])
    made = GraphEmit.at_end(main.body.block)(op, *main.body.block.args, **attributes)
    results = list(made) if isinstance(made, tuple) else [made]
    finish(main, results, [f"y{number}" for number in range(len(results))])
    module = ModuleOp([main])
    set_level(module, "graph")
    try:
        program = compile_piece(
            Program(module), Options(target=f"cuda:{driver.architecture}", tag="eager")
        )
    except (UnsupportedOp, CompileError):
        return None
    model = load_on_gpu(program, driver)
    assert isinstance(model, DeviceModel), "compiled for a GPU"
    return model
