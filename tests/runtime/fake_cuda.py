"""A `libcuda.so.1` that is none: its functions call Python, and kernels run on the emulator.

The library is built by the C compiler of the machine; every function of it takes twelve words and
gives them to a function of Python that was registered for its name, or says "not supported". So
pycuda and our own calls can be tried where there is no GPU, in a process of its own (see
`cuda_session.py`), for such a library stays loaded.

It refuses what a driver refuses: handles and addresses that it never gave, calls without a current
context, launches of other sizes than a kernel is made for, tensor maps that cannot be, waiting for
a stream that is recorded; and everything after a kernel failed.
"""

# ruff: noqa: N802, N815

from __future__ import annotations

import ctypes
import struct
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gravure.runtime.gpu.driver_calls import KernelParameters
from gravure.runtime.gpu.plan import PLAIN_SHARED
from gravure.runtime.ptx_emulator import (
    Heap,
    Image,
    KernelFault,
    KernelRun,
    TensorBox,
    UnsupportedPtx,
    read_module,
)
from gravure.runtime.ptx_emulator.machine import MOST_BLOCKS, MOST_SHARED

WORDS = 12
NOT_SUPPORTED, INVALID, OUT_OF_MEMORY, NOT_FOUND, LAUNCH_FAILED = 801, 1, 2, 500, 719
NO_BINARY, INVALID_DEVICE, NO_CONTEXT, NO_HANDLE, NOT_WHILE_RECORDED = 209, 101, 201, 400, 900
ANYWHERE = ("cuInit", "cuDriver", "cuDevice", "cuGetError", "cuCtxP", "cuTensorMap")
"""What needs no current context."""
LIVES_ON = ("cuGetError", "cuDriver", "cuCtxP")
"""What still works after a kernel failed."""
WAITS = (
    *("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemAlloc_v2"),
    *("cuMemFree_v2", "cuModuleLoadData", "cuModuleLoadDataEx", "cuMemcpyHtoDAsync_v2"),
    *("cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"),
)
"""What must not be while a stream is recorded: it waits, or is no launch."""
LIMIT = 1 << 28
"""The bytes of memory that the device has."""
Words = tuple[int, ...]


def build(folder: Path, names: list[str], compiler: str) -> Path:
    """Return the library made by a C compiler; it has all `names`, of which some do something."""
    words = ", ".join(f"long a{number}" for number in range(WORDS))
    given = ", ".join(f"a{number}" for number in range(WORDS))
    lines = ["#include <string.h>", f"typedef int (*function)({words});"]
    for name in names:
        lines.append(f"static function of_{name};")
        lines.append(f"int {name}({words}) {{ return of_{name} ? of_{name}({given}) : 801; }}")
    rows = ", ".join(f'{{"{name}", &of_{name}}}' for name in names)
    lines.append(f"static struct {{ const char *name; function *of; }} all[] = {{{rows}}};")
    lines.append(
        "void fake_set(const char *name, function of) {"
        f" for (int i = 0; i < {len(names)}; i++)"
        " if (!strcmp(all[i].name, name)) *all[i].of = of; }"
    )
    source, library = folder / "fake.c", folder / "libcuda.so.1"
    source.write_text("\n".join(lines))
    options = ["-shared", "-fPIC", "-O1", "-w", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([compiler, *options, str(source), "-o", str(library)], check=True)
    return library


def put(address: int, form: str, *values: Any) -> None:
    """Write numbers at an address of this process."""
    data = struct.pack(form, *values)
    ctypes.memmove(address, data, len(data))


def text_at(address: int) -> str:
    """Return the text at an address of this process."""
    return ctypes.string_at(address).decode()


class FakeCuda:
    """What the functions of the library do."""

    def __init__(self, library: Path) -> None:
        self.heap = Heap()
        self.library = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self.objects: dict[int, Any] = {}
        self.calls: list[str] = []
        self.used = self.made = 0
        self.recorded: list[Any] | None = None
        """The launches of a stream that is recorded."""
        self.edges: list[list[int]] = []
        """For each node that was added to a graph, which ones before it it waits for."""
        self.stack: list[int] = []
        """The contexts of this thread, the current one last."""
        self.current = ""
        """Which context was made the current one last."""
        self.lost = 0
        """What everything is answered with after a kernel failed."""
        self._kept: list[Any] = []
        form = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_long] * WORDS)
        for name in implemented():
            function = form(self._counted(name, getattr(self, name)))
            self._kept.append(function)
            self.library.fake_set(name.encode(), function)

    def _counted(self, name: str, function: Callable[..., int]) -> Callable[..., int]:
        def call(*words: int) -> int:
            self.calls.append(name)
            count = function.__code__.co_argcount - 1
            if self.lost and not name.startswith(LIVES_ON):
                return self.lost
            if not self.stack and not name.startswith(ANYWHERE):
                return NO_CONTEXT
            if self.recorded is not None and name in WAITS:
                return NOT_WHILE_RECORDED
            try:
                return function(*words[:count])
            except (KeyError, AttributeError):
                return NO_HANDLE
            except (KernelFault, AssertionError):
                traceback.print_exc()
                return INVALID

        return call

    def _new(self, value: Any) -> int:
        self.made += 1
        number = 0x1000 + 16 * self.made
        self.objects[number] = value
        return number

    def _make(self, out: int, value: Any = None) -> int:
        put(out, "Q", self._new(value))
        return 0

    def _nothing(self) -> int:
        return 0

    cuInit = cuCtxSynchronize = cuDevicePrimaryCtxRelease_v2 = cuMemFreeHost = _nothing

    def _known(self, handle: int) -> int:
        return 0 if handle in self.objects else NO_HANDLE

    def _forget(self, handle: int) -> int:
        del self.objects[handle]
        return 0

    cuStreamSynchronize = cuEventSynchronize = cuEventQuery = _known
    cuStreamDestroy_v2 = cuEventDestroy_v2 = cuGraphDestroy = cuGraphExecDestroy = _forget

    def cuEventRecord(self, event: int, stream: int) -> int:
        return self._known(event) or self._known(stream)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> int:
        return self._known(event) or self._known(stream) or INVALID * bool(flags & 0xFFFFFFFF)

    def cuFuncSetAttribute(self, function: int, attribute: int, value: int) -> int:
        kernel = self.objects[function]
        assert attribute & 0xFFFFFFFF == 8
        assert 0 <= value & 0xFFFFFFFF <= MOST_SHARED - kernel.program.shared_bytes
        kernel.most_shared = value & 0xFFFFFFFF
        return 0

    def cuDriverGetVersion(self, out: int) -> int:
        put(out, "i", 12080)
        return 0

    def cuDeviceGetCount(self, out: int) -> int:
        put(out, "i", 2)
        return 0

    def cuDeviceGet(self, out: int, number: int) -> int:
        if number & 0xFFFFFFFF > 1:
            return INVALID_DEVICE
        put(out, "i", number & 0xFFFFFFFF)
        return 0

    def cuDeviceGetName(self, out: int, size: int) -> int:
        ctypes.memmove(out, b"Fake GPU\0", 9)
        return 0

    def cuDeviceComputeCapability(self, major: int, minor: int) -> int:
        put(major, "i", 9)
        put(minor, "i", 0)
        return 0

    def cuDeviceGetAttribute(self, out: int, attribute: int) -> int:
        put(out, "i", {75: 9, 76: 0}.get(attribute & 0xFFFFFFFF, 1))
        return 0

    def cuDevicePrimaryCtxRetain(self, out: int, device: int) -> int:
        return self._make(out, f"context of {device & 0xFFFFFFFF}")

    def cuCtxPushCurrent_v2(self, context: int) -> int:
        self.current = str(self.objects[context])
        self.stack.append(context)
        return 0

    def cuCtxPopCurrent_v2(self, out: int) -> int:
        if not self.stack:
            return NO_CONTEXT
        put(out, "Q", self.stack.pop())
        return 0

    def cuCtxGetDevice(self, out: int) -> int:
        put(out, "i", 0)
        return 0

    def cuStreamCreate(self, out: int, flags: int) -> int:
        assert flags & 0xFFFFFFFF in (0, 1)
        return self._make(out, "stream")

    def cuEventCreate(self, out: int, flags: int) -> int:
        assert flags & 0xFFFFFFFF == 0, "events take the time"
        return self._make(out, "event")

    def cuEventElapsedTime_v2(self, out: int, start: int, end: int) -> int:
        put(out, "f", 2.0)
        return self._known(start) or self._known(end)

    cuEventElapsedTime = cuEventElapsedTime_v2

    def cuMemAlloc_v2(self, out: int, size: int) -> int:
        assert size > 0
        if self.used + size > LIMIT:
            return OUT_OF_MEMORY
        self.used += size
        put(out, "Q", self.heap.allocate(size))
        return 0

    def cuMemFree_v2(self, address: int) -> int:
        self.heap.free(address)
        return 0

    def cuMemGetInfo_v2(self, free: int, total: int) -> int:
        put(free, "Q", LIMIT - self.used)
        put(total, "Q", LIMIT)
        return 0

    def cuMemHostAlloc(self, out: int, size: int) -> int:
        room = ctypes.create_string_buffer(size)
        self._kept.append(room)
        put(out, "Q", ctypes.addressof(room))
        return 0

    def cuMemcpyHtoDAsync_v2(self, to: int, come: int, size: int) -> int:
        self.heap.bytes_at(to, size)[:] = np.frombuffer(ctypes.string_at(come, size), np.uint8)
        return 0

    def cuMemcpyDtoHAsync_v2(self, to: int, come: int, size: int) -> int:
        ctypes.memmove(to, self.heap.bytes_at(come, size).tobytes(), size)
        return 0

    def cuMemcpyDtoDAsync_v2(self, to: int, come: int, size: int) -> int:
        self.heap.bytes_at(to, size)[:] = self.heap.bytes_at(come, size)
        return 0

    def _name(self, out: int, text: bytes) -> int:
        room = ctypes.create_string_buffer(text)
        self._kept.append(room)
        put(out, "Q", ctypes.addressof(room))
        return 0

    def cuGetErrorName(self, status: int, out: int) -> int:
        names = {LAUNCH_FAILED: b"CUDA_ERROR_LAUNCH_FAILED", NOT_FOUND: b"CUDA_ERROR_NOT_FOUND"}
        return self._name(out, names.get(status & 0xFFFFFFFF, b"CUDA_ERROR"))

    def cuGetErrorString(self, status: int, out: int) -> int:
        return self._name(out, b"said by the fake")

    def cuPointerGetAttribute(self, out: int, attribute: int, address: int) -> int:
        assert attribute & 0xFFFFFFFF == 2
        starts = self.heap.starts
        ends = (a + n for a, n in zip(starts, self.heap.sizes, strict=True))
        if not any(a <= address < b for a, b in zip(starts, ends, strict=True)):
            return INVALID
        put(out, "i", 2)
        return 0

    def cuModuleLoadData(self, out: int, image: int) -> int:
        if ctypes.string_at(image, 4) == b"\x7fELF":
            return NO_BINARY
        return self._make(out, Image(read_module(text_at(image)), self.heap))

    def cuModuleLoadDataEx(
        self, out: int, image: int, count: int, options: int, values: int
    ) -> int:
        if ctypes.string_at(image, 4) == b"\x7fELF":
            return NO_BINARY
        try:
            return self._make(out, Image(read_module(text_at(image)), self.heap))
        except (UnsupportedPtx, ValueError) as error:
            kinds = struct.unpack("4i", ctypes.string_at(options, 16))
            places = struct.unpack("4Q", ctypes.string_at(values, 32))
            text = str(error).encode()[: places[kinds.index(6)] - 1] + b"\0"
            ctypes.memmove(places[kinds.index(5)], text, len(text))
            return INVALID

    def cuModuleUnload(self, module: int) -> int:
        self.objects.pop(module).unload()
        return 0

    def cuModuleGetFunction(self, out: int, module: int, name: int) -> int:
        image = self.objects[module]
        if text_at(name) not in image.module.kernels:
            return NOT_FOUND
        return self._make(out, Function(module, image, text_at(name)))

    def cuLaunchKernel(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int,
        shared: int, stream: int, parameters: int, extra: int,
    ) -> int:  # fmt: skip
        assert extra == 0, "where packed arguments lie, only the assembler knows"
        arguments = self._arguments(function, parameters)
        sizes = tuple(size & 0xFFFFFFFF for size in (gx, gy, gz, bx, by, bz))
        shared &= 0xFFFFFFFF
        refused = self._known(stream) or self._check(function, sizes, shared, arguments)
        if refused:
            return refused
        if self.recorded is not None:
            self.recorded.append((0, function, sizes, shared, arguments))
            return 0
        return self._run(function, sizes, shared, arguments)

    def _arguments(self, function: int, places: int) -> bytes:
        """Return the arguments of a launch, read where it says that each one is."""
        kernel = self.objects[function].program.kernel
        words = struct.unpack(
            f"{len(kernel.parameters)}Q", ctypes.string_at(places, 8 * len(kernel.parameters))
        )
        return kernel.packed(
            [
                ctypes.string_at(at, each.size)
                for at, each in zip(words, kernel.parameters, strict=True)
            ]
        )

    def _check(self, function: int, sizes: Words, shared: int, arguments: bytes) -> int:
        """Refuse what a driver would not launch."""
        kernel = self.objects[function]
        assert kernel.module in self.objects, "its module is unloaded"
        assert all(
            1 <= n <= most for n, most in zip(sizes, (*MOST_BLOCKS, 1024, 1024, 64), strict=True)
        )
        assert sizes[3] * sizes[4] * sizes[5] <= 1024
        wanted = kernel.program.kernel.block
        assert not wanted or sizes[3:] == (*wanted, 1, 1)[:3]
        assert shared <= kernel.most_shared
        assert len(arguments) >= kernel.program.kernel.argument_bytes
        return 0

    def cuStreamBeginCapture_v2(self, stream: int, mode: int) -> int:
        assert mode & 0xFFFFFFFF in (0, 1, 2)
        self.recorded = []
        return self._known(stream)

    def cuStreamEndCapture(self, stream: int, out: int) -> int:
        found, self.recorded = self.recorded, None
        return self._make(out, found)

    def _run(self, function: int, sizes: Words, shared: int, arguments: bytes) -> int:
        kernel = self.objects[function]
        gx, gy, gz, bx, by, bz = sizes
        try:
            kernel.image.launch(
                kernel.name, KernelRun((gx, gy, gz), (bx, by, bz), shared, arguments)
            )
        except KernelFault:
            self.lost = LAUNCH_FAILED
        return self.lost

    def cuGraphCreate(self, out: int, flags: int) -> int:
        assert flags & 0xFFFFFFFF == 0
        return self._make(out, [])

    def cuGraphAddKernelNode_v2(
        self, out: int, graph: int, before: int, count: int, given: int
    ) -> int:
        parameters = KernelParameters.from_address(given)
        assert not parameters.extra
        assert not parameters.kernel
        needed = struct.unpack(f"{count}Q", ctypes.string_at(before, 8 * count))
        nodes = self.objects[graph]
        known = [node for node, *_ in nodes]
        if not set(needed) <= set(known):
            return INVALID
        self.edges.append([known.index(node) for node in needed])
        sizes = (*parameters.grid, *parameters.block)
        arguments = self._arguments(parameters.function, parameters.parameters)
        self._check(parameters.function, sizes, parameters.shared, arguments)
        node = self._new("node")
        nodes.append((node, parameters.function, sizes, parameters.shared, arguments))
        put(out, "Q", node)
        return 0

    def cuGraphInstantiateWithFlags(self, out: int, graph: int, flags: int) -> int:
        assert flags == 0
        return self._make(out, list(self.objects[graph]))

    def cuGraphLaunch(self, graph: int, stream: int) -> int:
        assert stream in self.objects
        for _, function, sizes, shared, arguments in self.objects[graph]:
            status = self._run(function, sizes, shared, arguments)
            if status:
                return status
        return 0

    def cuTensorMapEncodeTiled(
        self, out: int, kind: int, rank: int, at: int, shape: int, strides: int, box: int,
        steps: int, interleave: int, swizzle: int, promotion: int, fill: int,
    ) -> int:  # fmt: skip
        count = rank & 0xFFFFFFFF
        assert 1 <= count <= 5
        size = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2}[kind & 0xFFFFFFFF]
        shapes = struct.unpack(f"{count}Q", ctypes.string_at(shape, 8 * count))
        apart = struct.unpack(f"{count - 1}Q", ctypes.string_at(strides, 8 * (count - 1)))
        boxes = struct.unpack(f"{count}I", ctypes.string_at(box, 4 * count))
        width = (0, 32, 64, 128)[swizzle & 0xFFFFFFFF]
        assert out % 64 == 0
        assert struct.unpack(f"{count}I", ctypes.string_at(steps, 4 * count)) == (1,) * count
        assert interleave & 0xFFFFFFFF == fill & 0xFFFFFFFF == 0
        assert 0 <= promotion & 0xFFFFFFFF <= 3
        ctypes.memmove(out, TensorBox(at, size, shapes, apart, boxes, width).encode(), 128)
        return 0


class Function:
    """A kernel that was found in a module."""

    def __init__(self, module: int, image: Image, name: str) -> None:
        self.module, self.image, self.name = module, image, name
        self.program = image.program(name)
        self.most_shared = PLAIN_SHARED


def implemented() -> list[str]:
    """Return the names of the functions that do something."""
    return [name for name in vars(FakeCuda) if name.startswith("cu") and name[2].isupper()]
