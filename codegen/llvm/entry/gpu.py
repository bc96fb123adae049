"""Emit the functions of a library for GPUs: those that every model has, and create and destroy.

    int32_t TAG_run(inputs, outputs, workspace, context)

looks at the arguments as on a processor, copies inputs to the device, launches the kernels on the
workspace's own stream, copies outputs back, and returns when all is there. An argument whose data
lies on the device is used where it is. From the second run with the same addresses and dimensions
on, all launches are one graph; but the processor decides choices and loops, by the flag that it
reads back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ....errors import CompileError
from ....runtime.artifact import ALIGNMENT, DTYPES, Description, Pointer, TensorInfo, round_up
from ....runtime.gpu.driver import MAP_ALIGNMENT, MAP_BYTES
from ....runtime.gpu.driver_calls import MAP_TYPES, PROMOTE_128, SWIZZLES
from ....runtime.gpu.plan import (
    GpuArgument,
    GpuChoice,
    GpuLaunch,
    GpuLoop,
    GpuPlan,
    TensorMap,
    launches_of,
)
from ....target import Target, TargetError, native
from ..compile import assemble
from .checks import DATA, TENSOR_SIZE, Checks, RunSlots
from .cuda_calls import ENCODE, MARK, WorkspaceFields, emit_calls, emit_images, load_code, messages
from .functions import WEIGHTS_AT, WEIGHTS_SUFFIX, Entry, emit_check, entry_target
from .routine import Routine
from .status import NOT_CREATED, OK, POINTER, WEIGHTS, argument_number, status
from .status import messages as plain_messages
from .steps import StepFunctions

ROOM = 256
"""What addresses in the memory on the device are multiples of."""
DIMS, STRIDES, BOX, STEPS, MAP_ROOM = 0, 40, 72, 96, 120
"""Where the numbers of a tensor map stand on the stack, for up to five dimensions."""


def gpu_entry_object(
    model: Description, plan: GpuPlan, manifest: str, *, embedded: bool = False
) -> bytes:
    """Return the object that, linked with the weights, is the library of a model for GPUs."""
    text = GpuEntry(model, plan, manifest, embedded).text()
    return assemble(text, entry_target(Target.parse(model.triple)), optimisation=0)


def host_target(name: str) -> Target:
    """Return the machine that a library's own code is for: this one's kind if none is named.

    Raises `TargetError` where the library would not find a driver.
    """
    host = Target.parse(name or f"{native().architecture.name}-unknown-linux-gnu")
    if host.system != "linux":
        raise TargetError(f"host {name!r}: expected a processor of Linux, to load the CUDA driver")
    return host


class DeviceLayout:
    """Where the parts of the one piece of memory on the device are."""

    def __init__(self, plan: GpuPlan) -> None:
        largest = {dim.name: dim.high for dim in plan.dims}
        self.weights = round_up(plan.workspace, ROOM)
        at = self.weights + round_up(plan.weights, ROOM)
        self.tensors: list[int] = []
        for info in (*plan.inputs, *plan.outputs):
            self.tensors.append(at)
            size = DTYPES[info.dtype]
            for each in info.shape_for(largest):
                size *= each
            at += round_up(size, ROOM)
        self.bytes = max(at, ROOM)


def host_description(model: Description, plan: GpuPlan, host: Target) -> Description:
    """Return a model for GPUs as its callers see it: the workspace is what `State` says.

    The library's own code uses none of the host's features.
    """
    if plan.host:
        raise CompileError(
            "swap in a library for GPUs, whose memory is one piece on the device: expected a model"
            " for this process"
        )
    gpu = {
        "bytes": DeviceLayout(plan).bytes,
        "code_bytes": sum(len(each.ptx) + len(each.cubin) for each in plan.modules),
        "cubin": all(each.cubin for each in plan.modules),
        "launches": len(plan.launches),
        "ptx": ".".join(map(str, max((each.version for each in plan.modules), default=(0, 0)))),
    }
    return replace(
        model,
        workspace=WorkspaceFields(plan).bytes,
        slots=1,
        raw=(),
        prepare=(),
        copies=(),
        fixed=(),
        prepare_workspace=0,
        triple=host.triple,
        features=(),
        extras={**model.extras, "gpu": gpu},
    )


class GpuEntry(Entry):
    """The module under construction."""

    def __init__(self, model: Description, plan: GpuPlan, manifest: str, embedded: bool) -> None:
        super().__init__(model, manifest, embedded)
        self.plan = plan
        self.state = WorkspaceFields(plan)
        self.layout = DeviceLayout(plan)

    def outside(self) -> str:
        """Return what does not depend on the arguments."""
        parts = [emit_check(self.model), emit_images(self.tag, self.plan)]
        return "\n".join([*parts, emit_calls(self.tag, self.state)])

    def messages(self) -> dict[int, str]:
        """Return what every status means."""
        found = plain_messages(self.model) | messages(self.plan.target)
        return found | {NOT_CREATED: f"workspace: {self.tag}_create was not called on it"}

    def functions(self) -> Iterator[tuple[Routine, str]]:
        """Give every function that returns a status, with its head."""
        tag = self.tag
        yield from Checks(self.model, self.frame).functions()
        yield from GpuSteps(self.model, self.frame, self.plan).functions("steps", self.plan.steps)
        yield self.fill(), f"internal i32 @{tag}.cuda.fill(ptr %state, ptr %context)"
        head = "(ptr %state, ptr %context, i32 %device)"
        yield self.begin(), f"internal i32 @{tag}.cuda.begin{head}"
        yield self.create(), f"i32 @{tag}_create{head}"
        yield self.inside(), f"internal i32 @{tag}.cuda.run(ptr %outputs, ptr %frame, ptr %state)"
        yield self.run(), f"i32 @{tag}_run(ptr %inputs, ptr %outputs, ptr %state, ptr %context)"
        yield self.output_shapes(), f"i32 @{tag}_output_shapes(ptr %inputs, ptr %shapes)"

    def fill(self) -> Routine:
        """Make the function that puts code and weights on the device."""
        routine, state, layout = Routine(), self.state, self.layout
        state.call(routine, "cuStreamCreate", state.part(routine, state.STREAM), "i32 1")
        load_code(routine, self.tag, state)
        memory = state.part(routine, state.MEMORY)
        state.call(routine, "cuMemAlloc_v2", memory, f"i64 {layout.bytes}")
        if self.plan.weights:
            weights = self.weights(routine)
            there = routine.address(routine.load("ptr", "%state", state.MEMORY), layout.weights)
            size = f"i64 {self.plan.weights}"
            routine.require_call(
                f"@{self.tag}.cuda.put(ptr %state, ptr {there}, ptr {weights}, {size})"
            )
            routine.require_call(f"@{self.tag}.cuda.wait(ptr %state)")
        return routine

    def weights(self, routine: Routine) -> str:
        """Return the address of the weights: those of the context, or those in the library."""
        number = argument_number(self.model, "weights")
        given, own, found = (routine.fresh_label() for _ in range(3))
        place = routine.value("alloca ptr")
        embedded = f"@{self.tag}{WEIGHTS_SUFFIX}" if self.embedded else "null"
        routine.store("ptr", embedded, place)
        none = routine.value("icmp eq ptr %context, null")
        routine.line(f"br i1 {none}, label %{found}, label %{given}")
        routine.label(given)
        theirs = routine.load("ptr", "%context", WEIGHTS_AT)
        none = routine.value(f"icmp eq ptr {theirs}, null")
        routine.line(f"br i1 {none}, label %{found}, label %{own}")
        routine.label(own)
        routine.store("ptr", theirs, place)
        routine.line(f"br label %{found}")
        routine.label(found)
        weights = routine.load("ptr", place)
        routine.require(routine.value(f"icmp ne ptr {weights}, null"), status(WEIGHTS, number))
        routine.require_aligned(weights, ALIGNMENT, status(POINTER, number), null=True)
        return weights

    def begin(self) -> Routine:
        """Make the function that finds driver and device, and does the rest in its context."""
        routine, state = Routine(), self.state
        routine.require_call(f"@{self.tag}.cuda.find(ptr %state)")
        state.call(routine, "cuInit", "i32 0")
        place = state.part(routine, state.DEVICE)
        state.call(routine, "cuDeviceGet", place, "i32 %device")
        found = routine.load("i32", "%state", state.DEVICE)
        context = state.part(routine, state.CONTEXT)
        state.call(routine, "cuDevicePrimaryCtxRetain", context, f"i32 {found}")
        self.in_context(routine, f"@{self.tag}.cuda.fill(ptr %state, ptr %context)")
        return routine

    def in_context(self, routine: Routine, call: str) -> None:
        """Call a function while the device's context is current; return what it returns."""
        state = self.state
        old = routine.value("alloca ptr")
        context = routine.load("ptr", "%state", state.CONTEXT)
        state.call(routine, "cuCtxPushCurrent_v2", f"ptr {context}")
        found = routine.value(f"call i32 {call}")
        state.call(routine, "cuCtxPopCurrent_v2", f"ptr {old}")
        good, bad = routine.fresh_label(), routine.fresh_label()
        right = routine.value(f"icmp eq i32 {found}, {OK}")
        routine.line(f"br i1 {right}, label %{good}, label %{bad}")
        routine.label(bad)
        routine.line(f"ret i32 {found}")
        routine.label(good)

    def create(self) -> Routine:
        """Make the function that makes a workspace ready; what fails leaves nothing behind."""
        routine, tag = Routine(), self.tag
        self.require_state(routine)
        routine.line(f"call void @{tag}.cuda.clear(ptr %state)")
        begun = f"@{tag}.cuda.begin(ptr %state, ptr %context, i32 %device)"
        found = routine.value(f"call i32 {begun}")
        good, bad = routine.fresh_label(), routine.fresh_label()
        right = routine.value(f"icmp eq i32 {found}, {OK}")
        routine.line(f"br i1 {right}, label %{good}, label %{bad}")
        routine.label(bad)
        routine.line(f"call void @{tag}_destroy(ptr %state)")
        routine.line(f"ret i32 {found}")
        routine.label(good)
        routine.store("i64", self.mark(routine), "%state", self.state.MARK)
        return routine

    def mark(self, routine: Routine) -> str:
        """Return the mark of a workspace that is ready, which no copy of it has."""
        return routine.value(f"xor i64 {routine.value('ptrtoint ptr %state to i64')}, {MARK}")

    def require_state(self, routine: Routine) -> None:
        """Return a status if there is no workspace, or at no good place."""
        wrong = status(POINTER, argument_number(self.model, "workspace"))
        routine.require_aligned("%state", ALIGNMENT, wrong, null=False)

    def run(self) -> Routine:
        """Make the function that runs the model."""
        routine, tag, state = Routine(), self.tag, self.state
        routine.line(self.alloca)
        routine.require_call(f"@{tag}.inputs(ptr %inputs, ptr %frame)")
        routine.require_call(f"@{tag}.outputs(ptr %outputs, ptr %frame)")
        self.require_state(routine)
        found = routine.load("i64", "%state", state.MARK)
        same = routine.value(f"icmp eq i64 {found}, {self.mark(routine)}")
        routine.require(same, NOT_CREATED)
        self.in_context(routine, f"@{tag}.cuda.finish(ptr %outputs, ptr %frame, ptr %state)")
        return routine

    def inside(self) -> Routine:
        """Make the function that runs the model in the device's context."""
        routine, frame, tag, model = self.frame.routine(), self.frame, self.tag, self.model
        memory = routine.load("ptr", "%state", self.state.MEMORY)
        routine.store("ptr", "%state", "%frame", frame.POOL)
        routine.store("ptr", memory, "%frame", frame.WORKSPACE)
        weights = routine.address(memory, self.layout.weights)
        routine.store("ptr", weights, "%frame", frame.WEIGHTS)
        kinds = ["input"] * len(model.inputs) + ["output"] * len(model.outputs)
        tensors = (*model.inputs, *model.outputs)
        for number, (kind, info) in enumerate(zip(kinds, tensors, strict=True)):
            slot = routine.address("%frame", frame.bases["input"] + 8 * number)
            room = routine.address(memory, self.layout.tensors[number])
            size = tensor_bytes(routine, info)
            wrong, copied = status(POINTER, number), int(kind == "input")
            arguments = f"ptr {slot}, ptr {room}, i64 {size}, i32 {copied}, i32 {wrong}"
            routine.require_call(f"@{tag}.cuda.settle(ptr %state, {arguments})")
        if all(isinstance(step, GpuLaunch) for step in self.plan.steps):
            run = routine.address("%frame", frame.bases["input"])
            routine.require_call(f"@{tag}.cuda.replay(ptr %state, ptr %frame, ptr {run})")
        else:
            routine.require_call(f"@{tag}.steps(ptr %frame)")
        for number, info in enumerate(model.outputs):
            to = routine.load("ptr", "%outputs", TENSOR_SIZE * number + DATA)
            come = routine.load("ptr", "%frame", frame.bases["output"] + 8 * number)
            size = tensor_bytes(routine, info)
            arguments = f"ptr {to}, ptr {come}, i64 {size}"
            routine.require_call(f"@{tag}.cuda.get(ptr %state, {arguments})")
        return routine


def tensor_bytes(routine: Routine, info: TensorInfo) -> str:
    """Return how many bytes a tensor has in this run."""
    found = str(DTYPES[info.dtype])
    for size in info.shape:
        found = routine.value(f"mul i64 {found}, {routine.extent(size)}")
    return found


class GpuSteps(StepFunctions):
    """The functions that launch kernels on a device."""

    def __init__(self, model: Description, frame: RunSlots, plan: GpuPlan) -> None:
        super().__init__(model, frame)
        self.plan = plan
        self.state = WorkspaceFields(plan)
        self.numbers = {kernel.name: number for number, kernel in enumerate(plan.kernels)}

    def room(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Reserve room for the arguments of one launch, its grid and block, and a tensor map."""
        given = [each.arguments for each in launches_of(tuple(steps))]
        size = max([1, *map(size_of, given)])
        routine.line(f"%slots = alloca [{size} x i8], align {MAP_ALIGNMENT}")
        routine.line(f"%parameters = alloca [{max([1, *map(len, given)])} x ptr], align 16")
        routine.line("%grid = alloca [3 x i64], align 16")
        routine.line("%block = alloca [4 x i32], align 16")
        routine.line(f"%map = alloca [{MAP_ROOM} x i8], align 16")
        routine.line("%flag = alloca i8")
        state = routine.load("ptr", "%frame", self.frame.POOL)
        routine.line(f"%state = getelementptr i8, ptr {state}, i64 0")

    def call(self, routine: Routine, name: str) -> None:
        """Call the function of a piece; leave if a launch in it fails."""
        routine.require_call(name)

    def steps(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Emit steps one after the other."""
        for step in steps:
            match step:
                case GpuLaunch():
                    self.start(routine, step)
                case GpuChoice():
                    self.branch(routine, step.condition, step.then, step.otherwise)
                case GpuLoop():
                    self.loop(routine, step.test, step.condition, step.body)

    def condition(self, routine: Routine, pointer: Pointer) -> str:
        """Read a byte of the device, when all before is done, and say whether it is not zero."""
        there = self.pointer(routine, pointer)
        arguments = f"ptr %flag, ptr {there}, i64 1"
        routine.require_call(f"@{self.tag}.cuda.get(ptr %state, {arguments})")
        routine.require_call(f"@{self.tag}.cuda.wait(ptr %state)")
        return routine.value(f"icmp ne i8 {routine.load('i8', '%flag')}, 0")

    def start(self, routine: Routine, launch: GpuLaunch) -> None:
        """Store the arguments and where each of them is, and launch the kernel."""
        at = 0
        for number, argument in enumerate(launch.arguments):
            place = place_of(argument, at)
            slot = routine.address("%slots", place)
            routine.store("ptr", slot, "%parameters", 8 * number)
            self.fill(routine, argument, slot)
            at = place + bytes_of(argument)
        number = self.numbers[launch.kernel]
        kernel = self.plan.kernels[number]
        for axis in range(3):
            routine.store("i64", routine.extent(launch.grid[axis]), "%grid", 8 * axis)
            routine.store("i32", kernel.block[axis], "%block", 4 * axis)
        function = routine.load("ptr", "%state", self.state.kernels + 8 * number)
        sizes = f"ptr %grid, ptr %block, i32 {kernel.shared}"
        arguments = f"ptr %state, ptr {function}, {sizes}, ptr %parameters"
        routine.require_call(f"@{self.tag}.cuda.launch({arguments})")

    def fill(self, routine: Routine, argument: GpuArgument, slot: str) -> None:
        """Store an argument."""
        if isinstance(argument, TensorMap):
            self.encode(routine, argument, slot)
        else:
            kind, value = self.argument(routine, argument)
            routine.store(kind, value, slot)

    def encode(self, routine: Routine, tiles: TensorMap, place: str) -> None:
        """Make the tensor map of an argument."""
        for axis, size in enumerate(tiles.shape):
            routine.store("i64", routine.extent(size), "%map", DIMS + 8 * axis)
            routine.store("i32", tiles.box[axis], "%map", BOX + 4 * axis)
            routine.store("i32", 1, "%map", STEPS + 4 * axis)
        for axis, stride in enumerate(tiles.strides):
            routine.store("i64", routine.extent(stride), "%map", STRIDES + 8 * axis)
        tables = (f"ptr {routine.address('%map', at)}" for at in (DIMS, STRIDES, BOX, STEPS))
        self.state.call(
            routine,
            ENCODE,
            *(f"ptr {place}", f"i32 {MAP_TYPES[tiles.dtype]}", f"i32 {len(tiles.shape)}"),
            *(f"ptr {self.pointer(routine, tiles.tensor)}", *tables),
            *("i32 0", f"i32 {SWIZZLES[tiles.swizzle]}", f"i32 {PROMOTE_128}", "i32 0"),
        )


def bytes_of(argument: GpuArgument) -> int:
    """Return the bytes of an argument."""
    return MAP_BYTES if isinstance(argument, TensorMap) else 8


def place_of(argument: GpuArgument, at: int) -> int:
    """Return where an argument stands behind `at` bytes of others."""
    return round_up(at, MAP_ALIGNMENT) if isinstance(argument, TensorMap) else at


def size_of(arguments: Sequence[GpuArgument]) -> int:
    """Return the bytes of all arguments of a launch."""
    at = 0
    for argument in arguments:
        at = place_of(argument, at) + bytes_of(argument)
    return at
