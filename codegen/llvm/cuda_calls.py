"""The functions of a library for GPUs that talk to CUDA's driver, which is found when it runs.

    int32_t TAG_create(workspace, context, device)       finds, loads, allocates, copies the weights
    void    TAG_destroy(workspace)                       gives everything back

The workspace of such a model is memory of the processor, in which all that was found is kept:

    mark 0 | context 8 | device 16 | stream 24 | memory 32 | calls 40 ... | modules | kernels

`mark` is set when all is there, `memory` is the address of the one piece of memory on the device.
A call of the driver that fails ends the function with its number as the status.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...runtime.artifact import ALIGNMENT, round_up
from ...runtime.gpu_plan import PLAIN_SHARED, GpuPlan
from .entry_status import CUDA, NO_GPU, status
from .routine import Routine, c_string

LIBRARY = "libcuda.so.1"
CALLS = (
    *("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"),
    *("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuStreamCreate", "cuStreamSynchronize"),
    *("cuStreamDestroy_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoDAsync_v2"),
    *("cuMemcpyDtoHAsync_v2", "cuPointerGetAttribute", "cuModuleLoadData", "cuModuleUnload"),
    *("cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel"),
)
"""What is asked for of the driver's library."""
ENCODE = "cuTensorMapEncodeTiled"
"""This too, where a kernel copies by tensor maps; drivers before 12.0 have it not."""
NAME_BYTES = 32
"""Room for each name."""
MARK = 0x6576617267
"""What the mark is, but for the address of the workspace itself."""
MOST_SHARED = 8
"""The attribute of a function that says how much dynamic shared memory it may be given."""

ERRORS = {
    **{1: "INVALID_VALUE", 2: "OUT_OF_MEMORY", 3: "NOT_INITIALIZED", 4: "DEINITIALIZED"},
    **{34: "STUB_LIBRARY", 46: "DEVICE_UNAVAILABLE", 100: "NO_DEVICE", 101: "INVALID_DEVICE"},
    **{200: "INVALID_IMAGE", 201: "INVALID_CONTEXT", 209: "NO_BINARY_FOR_GPU", 218: "INVALID_PTX"},
    **{222: "UNSUPPORTED_PTX_VERSION", 400: "INVALID_HANDLE", 500: "NOT_FOUND"},
    **{700: "ILLEGAL_ADDRESS", 701: "LAUNCH_OUT_OF_RESOURCES", 702: "LAUNCH_TIMEOUT"},
    **{716: "MISALIGNED_ADDRESS", 719: "LAUNCH_FAILED", 801: "NOT_SUPPORTED", 999: "UNKNOWN"},
}
"""CUDA's names of the errors that a run can end with."""


@dataclass(frozen=True)
class State:
    """Where things are in the workspace of a model for GPUs."""

    plan: GpuPlan
    MARK, CONTEXT, DEVICE, STREAM, MEMORY, FIRST = range(0, 48, 8)

    @property
    def calls(self) -> tuple[str, ...]:
        """Return the driver's functions that are used."""
        return (*CALLS, ENCODE) if self.plan.has_maps else CALLS

    @property
    def modules(self) -> int:
        """Return the offset of the first module."""
        return self.FIRST + 8 * len(self.calls)

    @property
    def kernels(self) -> int:
        """Return the offset of the first kernel."""
        return self.modules + 8 * len(self.plan.modules)

    @property
    def bytes(self) -> int:
        """Return how large the workspace is."""
        return round_up(self.kernels + 8 * len(self.plan.kernels), ALIGNMENT)

    def call(self, routine: Routine, name: str, *arguments: str) -> None:
        """Call a function of the driver with arguments as LLVM has them; leave if it fails."""
        function = routine.load("ptr", "%state", self.FIRST + 8 * self.calls.index(name))
        result = routine.value(f"call i32 {function}({', '.join(arguments)})")
        good, bad = routine.fresh_label(), routine.fresh_label()
        right = routine.value(f"icmp eq i32 {result}, 0")
        routine.line(f"br i1 {right}, label %{good}, label %{bad}")
        routine.label(bad)
        high = routine.value(f"shl i32 {result}, 8")
        routine.line(f"ret i32 {routine.value(f'or i32 {high}, {CUDA}')}")
        routine.label(good)

    def part(self, routine: Routine, offset: int) -> str:
        """Return the address of a part of the workspace."""
        return f"ptr {routine.address('%state', offset)}"


def messages(device: str = "") -> dict[int, str]:
    """Return what the statuses mean that only models for GPUs have."""
    found = {status(CUDA, number): f"CUDA_ERROR_{name}" for number, name in ERRORS.items()}
    found[status(NO_GPU, 0)] = f"there is no {LIBRARY}, the driver of a GPU"
    found[status(NO_GPU, 1)] = f"{LIBRARY} is too old: it lacks a function"
    return found | ({status(CUDA, 209): f"CUDA_ERROR_NO_BINARY_FOR_GPU: made for {device}"})


def emit_calls(tag: str, state: State) -> str:
    """Return the functions that need nothing of the model but how much of everything it has."""
    plan = state.plan
    names = ", ".join(f"[{NAME_BYTES} x i8] {_padded(name)}" for name in state.calls)
    size, library = c_string(LIBRARY)
    numbers = {name.upper(): f"{state.FIRST + 8 * i}" for i, name in enumerate(state.calls)}
    numbers |= {
        **{"COUNT": f"{len(state.calls)}", "NAMES": names, "SIZE": f"{size}", "LIBRARY": library},
        **{"WORDS": f"{state.bytes // 8}", "MODULES": f"{state.modules}"},
        **{"MODULE_COUNT": f"{len(plan.modules)}", "NO_GPU": f"{NO_GPU}", "CUDA": f"{CUDA}"},
        "TOO_OLD": f"{status(NO_GPU, 1)}",
    }
    text = TEXT
    for name in sorted(numbers, key=len, reverse=True):
        text = text.replace(f"@{name}@", numbers[name])
    return text.replace("TAG", tag)


def _padded(name: str) -> str:
    """Return a name with zeros up to its room."""
    assert len(name) < NAME_BYTES, f"{name} is too long"
    return f'c"{name}{chr(92) + "00"}{(chr(92) + "00") * (NAME_BYTES - 1 - len(name))}"'


def emit_images(tag: str, plan: GpuPlan) -> str:
    """Return the modules' code and the kernels' names as constants."""
    lines = []
    for number, module in enumerate(plan.modules):
        size, text = c_string(module.ptx)
        lines.append(f"@{tag}.ptx{number} = internal constant [{size} x i8] {text}, align 64")
        if module.cubin:
            data = "".join(f"\\{byte:02X}" for byte in module.cubin)
            kind = f"[{len(module.cubin)} x i8]"
            lines.append(f'@{tag}.cubin{number} = internal constant {kind} c"{data}", align 64')
    for number, kernel in enumerate(plan.kernels):
        size, text = c_string(kernel.name)
        lines.append(f"@{tag}.kernel{number} = internal constant [{size} x i8] {text}")
    return "\n".join(lines)


def load_code(routine: Routine, tag: str, state: State) -> None:
    """Load all modules, the assembled form where there is one that fits, and find all kernels."""
    plan = state.plan
    for number, module in enumerate(plan.modules):
        room = state.part(routine, state.modules + 8 * number)
        cubin = f"@{tag}.cubin{number}" if module.cubin else "null"
        routine.require_call(
            f"@{tag}.cuda.load(ptr %state, {room}, ptr {cubin}, ptr @{tag}.ptx{number})"
        )
    for number, kernel in enumerate(plan.kernels):
        place = state.kernels + 8 * number
        module_at = routine.load("ptr", "%state", state.modules + 8 * kernel.module)
        name = f"ptr @{tag}.kernel{number}"
        found = state.part(routine, place)
        state.call(routine, "cuModuleGetFunction", found, f"ptr {module_at}", name)
        if kernel.shared > PLAIN_SHARED:
            function = f"ptr {routine.load('ptr', '%state', place)}"
            more = (f"i32 {MOST_SHARED}", f"i32 {kernel.shared}")
            state.call(routine, "cuFuncSetAttribute", function, *more)


TEXT = """
@TAG.cuda.library = internal constant [@SIZE@ x i8] @LIBRARY@
@TAG.cuda.names = internal constant [@COUNT@ x [32 x i8]] [@NAMES@]
declare ptr @dlopen(ptr, i32)
declare ptr @dlsym(ptr, ptr)
define internal void @TAG.cuda.clear(ptr %state) nounwind {
entry:
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %after, %next ]
  %place = getelementptr i64, ptr %state, i64 %number
  store i64 0, ptr %place
  %after = add i64 %number, 1
  %more = icmp ult i64 %after, @WORDS@
  br i1 %more, label %next, label %end
end:
  ret void
}
define internal i32 @TAG.cuda.find(ptr %state) nounwind {
entry:
  %library = call ptr @dlopen(ptr @TAG.cuda.library, i32 2)
  %none = icmp eq ptr %library, null
  br i1 %none, label %missing, label %next
next:
  %number = phi i64 [ 0, %entry ], [ %after, %found ]
  %name = getelementptr [32 x i8], ptr @TAG.cuda.names, i64 %number
  %function = call ptr @dlsym(ptr %library, ptr %name)
  %gone = icmp eq ptr %function, null
  br i1 %gone, label %old, label %found
found:
  %first = getelementptr i8, ptr %state, i64 40
  %place = getelementptr ptr, ptr %first, i64 %number
  store ptr %function, ptr %place
  %after = add i64 %number, 1
  %more = icmp ult i64 %after, @COUNT@
  br i1 %more, label %next, label %end
end:
  ret i32 0
missing:
  ret i32 @NO_GPU@
old:
  ret i32 @TOO_OLD@
}
define internal i32 @TAG.cuda.status(i32 %result) nounwind {
entry:
  %good = icmp eq i32 %result, 0
  %high = shl i32 %result, 8
  %status = or i32 %high, @CUDA@
  %found = select i1 %good, i32 0, i32 %status
  ret i32 %found
}
define internal i32 @TAG.cuda.load(ptr %state, ptr %place, ptr %cubin, ptr %ptx) nounwind {
entry:
  %load.at = getelementptr i8, ptr %state, i64 @CUMODULELOADDATA@
  %load = load ptr, ptr %load.at
  %none = icmp eq ptr %cubin, null
  br i1 %none, label %text, label %binary
binary:
  %fits = call i32 %load(ptr %place, ptr %cubin)
  %loaded = icmp eq i32 %fits, 0
  br i1 %loaded, label %end, label %text
text:
  %result = call i32 %load(ptr %place, ptr %ptx)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.wait(ptr %state) nounwind {
entry:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %wait.at = getelementptr i8, ptr %state, i64 @CUSTREAMSYNCHRONIZE@
  %wait = load ptr, ptr %wait.at
  %result = call i32 %wait(ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
}
define internal i32 @TAG.cuda.put(ptr %state, ptr %to, ptr %come, i64 %size) nounwind {
entry:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %copy.at = getelementptr i8, ptr %state, i64 @CUMEMCPYHTODASYNC_V2@
  %copy = load ptr, ptr %copy.at
  %result = call i32 %copy(ptr %to, ptr %come, i64 %size, ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
}
define internal i32 @TAG.cuda.get(ptr %state, ptr %to, ptr %come, i64 %size) nounwind {
entry:
  %same = icmp eq ptr %to, %come
  %empty = icmp eq i64 %size, 0
  %nothing = or i1 %same, %empty
  br i1 %nothing, label %end, label %some
some:
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %copy.at = getelementptr i8, ptr %state, i64 @CUMEMCPYDTOHASYNC_V2@
  %copy = load ptr, ptr %copy.at
  %result = call i32 %copy(ptr %to, ptr %come, i64 %size, ptr %stream)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.settle(ptr %state, ptr %slot, ptr %room, i64 %size, i32 %copied,
    i32 %wrong) nounwind {
entry:
  %kind = alloca i32
  %given = load ptr, ptr %slot
  store i32 0, ptr %kind
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %inside, label %some
some:
  %ask.at = getelementptr i8, ptr %state, i64 @CUPOINTERGETATTRIBUTE@
  %ask = load ptr, ptr %ask.at
  %result = call i32 %ask(ptr %kind, i32 2, ptr %given)
  %known = icmp eq i32 %result, 0
  %where = load i32, ptr %kind
  %there = icmp eq i32 %where, 2
  %device = and i1 %known, %there
  br i1 %device, label %outside, label %inside
outside:
  %number = ptrtoint ptr %given to i64
  %low = and i64 %number, 15
  %aligned = icmp eq i64 %low, 0
  %bad = select i1 %aligned, i32 0, i32 %wrong
  ret i32 %bad
inside:
  store ptr %room, ptr %slot
  %fill = icmp ne i32 %copied, 0
  %full = xor i1 %empty, true
  %move = and i1 %fill, %full
  br i1 %move, label %put, label %end
put:
  %status = call i32 @TAG.cuda.put(ptr %state, ptr %room, ptr %given, i64 %size)
  ret i32 %status
end:
  ret i32 0
}
define internal i32 @TAG.cuda.launch(ptr %state, ptr %kernel, ptr %grid, ptr %block, i32 %shared,
    ptr %arguments, i64 %size) nounwind {
entry:
  %extra = alloca [5 x i64], align 16
  %bytes = alloca i64
  %gy.at = getelementptr i8, ptr %grid, i64 8
  %gz.at = getelementptr i8, ptr %grid, i64 16
  %gx.wide = load i64, ptr %grid
  %gy.wide = load i64, ptr %gy.at
  %gz.wide = load i64, ptr %gz.at
  %plane = mul i64 %gx.wide, %gy.wide
  %blocks = mul i64 %plane, %gz.wide
  %none = icmp eq i64 %blocks, 0
  br i1 %none, label %end, label %some
some:
  %gx = trunc i64 %gx.wide to i32
  %gy = trunc i64 %gy.wide to i32
  %gz = trunc i64 %gz.wide to i32
  %by.at = getelementptr i8, ptr %block, i64 4
  %bz.at = getelementptr i8, ptr %block, i64 8
  %bx = load i32, ptr %block
  %by = load i32, ptr %by.at
  %bz = load i32, ptr %bz.at
  store i64 %size, ptr %bytes
  %extra1 = getelementptr i8, ptr %extra, i64 8
  %extra2 = getelementptr i8, ptr %extra, i64 16
  %extra3 = getelementptr i8, ptr %extra, i64 24
  %extra4 = getelementptr i8, ptr %extra, i64 32
  store i64 1, ptr %extra
  store ptr %arguments, ptr %extra1
  store i64 2, ptr %extra2
  store ptr %bytes, ptr %extra3
  store i64 0, ptr %extra4
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %launch.at = getelementptr i8, ptr %state, i64 @CULAUNCHKERNEL@
  %launch = load ptr, ptr %launch.at
  %result = call i32 %launch(ptr %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz,
    i32 %shared, ptr %stream, ptr null, ptr %extra)
  %status = call i32 @TAG.cuda.status(i32 %result)
  ret i32 %status
end:
  ret i32 0
}
define void @TAG_destroy(ptr %state) nounwind {
entry:
  %old = alloca ptr
  store i64 0, ptr %state
  %context.at = getelementptr i8, ptr %state, i64 8
  %context = load ptr, ptr %context.at
  %none = icmp eq ptr %context, null
  br i1 %none, label %end, label %push
push:
  %push.at = getelementptr i8, ptr %state, i64 @CUCTXPUSHCURRENT_V2@
  %pop.at = getelementptr i8, ptr %state, i64 @CUCTXPOPCURRENT_V2@
  %unload.at = getelementptr i8, ptr %state, i64 @CUMODULEUNLOAD@
  %free.at = getelementptr i8, ptr %state, i64 @CUMEMFREE_V2@
  %stop.at = getelementptr i8, ptr %state, i64 @CUSTREAMDESTROY_V2@
  %release.at = getelementptr i8, ptr %state, i64 @CUDEVICEPRIMARYCTXRELEASE_V2@
  %push.call = load ptr, ptr %push.at
  %pop.call = load ptr, ptr %pop.at
  %unload = load ptr, ptr %unload.at
  %free = load ptr, ptr %free.at
  %stop = load ptr, ptr %stop.at
  %release = load ptr, ptr %release.at
  %pushed = call i32 %push.call(ptr %context)
  %stream.at = getelementptr i8, ptr %state, i64 24
  %stream = load ptr, ptr %stream.at
  %never = icmp eq ptr %stream, null
  br i1 %never, label %test, label %streams
streams:
  %waited = call i32 @TAG.cuda.wait(ptr %state)
  %stopped = call i32 %stop(ptr %stream)
  br label %test
test:
  %number = phi i64 [ 0, %push ], [ 0, %streams ], [ %after, %again ]
  %more = icmp ult i64 %number, @MODULE_COUNT@
  br i1 %more, label %one, label %memory
one:
  %first = getelementptr i8, ptr %state, i64 @MODULES@
  %place = getelementptr ptr, ptr %first, i64 %number
  %module = load ptr, ptr %place
  %unloaded = icmp eq ptr %module, null
  br i1 %unloaded, label %again, label %loaded
loaded:
  %gone = call i32 %unload(ptr %module)
  br label %again
again:
  %after = add i64 %number, 1
  br label %test
memory:
  %memory.at = getelementptr i8, ptr %state, i64 32
  %memory.is = load ptr, ptr %memory.at
  %no.memory = icmp eq ptr %memory.is, null
  br i1 %no.memory, label %leave, label %give
give:
  %given = call i32 %free(ptr %memory.is)
  br label %leave
leave:
  %popped = call i32 %pop.call(ptr %old)
  %device.at = getelementptr i8, ptr %state, i64 16
  %device = load i32, ptr %device.at
  %released = call i32 %release(i32 %device)
  store ptr null, ptr %context.at
  br label %end
end:
  ret void
}
"""
"""What is the same for all models, but for some numbers. `settle` leaves an address on the device
where it is, and gives any other the model's own room there, with a copy where it is an input."""
