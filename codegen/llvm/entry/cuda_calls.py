"""The functions of a library for GPUs that talk to CUDA's driver, which is found when it runs.

    int32_t TAG_create(workspace, context, device)       finds, loads, allocates, copies the weights
    void    TAG_destroy(workspace)                       gives everything back

The workspace of such a model is memory of the processor, in which all that was found is kept:

    mark 0 | context 8 | device 16 | stream 24 | memory 32 | graph 40 | calls ... | modules |
    kernels | known

`mark` is set when all is there, `memory` is the address of the one piece of memory on the device.
`known` is what the last run had for addresses and dimensions. When a run has the same, its launches
are recorded as a `graph`, which is one call for all further runs that have the same.
A call of the driver that fails ends the function with its number as the status.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....runtime.artifact import ALIGNMENT, round_up
from ....runtime.gpu.plan import PLAIN_SHARED, GpuPlan
from .cuda_text import TEXT
from .routine import Routine, c_string
from .status import CUDA, NO_GPU, status

LIBRARY = "libcuda.so.1"
CALLS = (
    *("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"),
    *("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuStreamCreate", "cuStreamSynchronize"),
    *("cuStreamDestroy_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoDAsync_v2"),
    *("cuMemcpyDtoHAsync_v2", "cuPointerGetAttribute", "cuModuleLoadData", "cuModuleUnload"),
    *("cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel", "cuGraphLaunch"),
    *("cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"),
    *("cuGraphDestroy", "cuGraphExecDestroy"),
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
    **{200: "INVALID_IMAGE", 201: "INVALID_CONTEXT", 209: "NO_BINARY_FOR_GPU"},
    **{214: "ECC_UNCORRECTABLE", 218: "INVALID_PTX", 221: "JIT_COMPILER_NOT_FOUND"},
    **{222: "UNSUPPORTED_PTX_VERSION", 400: "INVALID_HANDLE", 500: "NOT_FOUND"},
    **{700: "ILLEGAL_ADDRESS", 701: "LAUNCH_OUT_OF_RESOURCES", 702: "LAUNCH_TIMEOUT"},
    **{715: "ILLEGAL_INSTRUCTION", 716: "MISALIGNED_ADDRESS", 717: "INVALID_ADDRESS_SPACE"},
    **{718: "INVALID_PC", 719: "LAUNCH_FAILED", 801: "NOT_SUPPORTED", 802: "SYSTEM_NOT_READY"},
    **{803: "SYSTEM_DRIVER_MISMATCH", 804: "COMPAT_NOT_SUPPORTED_ON_DEVICE", 999: "UNKNOWN"},
    **{900: "STREAM_CAPTURE_UNSUPPORTED", 901: "STREAM_CAPTURE_INVALIDATED"},
}
"""CUDA's names of the errors that a run can end with."""


@dataclass(frozen=True)
class WorkspaceFields:
    """Where things are in the workspace of a model for GPUs."""

    plan: GpuPlan
    MARK, CONTEXT, DEVICE, STREAM, MEMORY, GRAPH, FIRST = range(0, 56, 8)

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
    def known(self) -> int:
        """Return the offset of what the last run had."""
        return self.kernels + 8 * len(self.plan.kernels)

    @property
    def words(self) -> int:
        """Return how many addresses and dimensions a run has."""
        return len(self.plan.inputs) + len(self.plan.outputs) + len(self.plan.dims)

    @property
    def bytes(self) -> int:
        """Return how large the workspace is."""
        return round_up(self.known + 8 * self.words, ALIGNMENT)

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


def emit_calls(tag: str, state: WorkspaceFields) -> str:
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
        **{"FIRST": f"{state.FIRST}", "KNOWN": f"{state.known}", "RUN_WORDS": f"{state.words}"},
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


def load_code(routine: Routine, tag: str, state: WorkspaceFields) -> None:
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
