"""A GPU of NVIDIA, by pycuda.

pycuda gives the context, memory, streams and events; what it lacks is called by ctypes (see
`cuda_calls`). The primary context is used, so other libraries of the process can share arrays. It
is current only while a method runs. Kernels run on one stream in the order that they are asked for,
and arrays are copied on another, through pinned memory: a copy waits for what was launched before,
unless it goes to memory that is newer, and what is launched after waits for the copy. So the next
batch comes while the last one is computed.

pycuda is built from source and needs CUDA's headers for that; to run, it needs the driver's
`libcuda.so.1` and numpy. Both may be missing: then `CudaDriver` says which.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..buffer import Array
from .driver import Code, GpuError, Node, Tiles
from .driver_calls import Calls, Loaded, Parameters
from .plan import GpuModule

CHUNK = 4 << 20
"""Bytes of each of the two pinned buffers that copies go through."""
BLOCKING = "CUDA_LAUNCH_BLOCKING"
"""The environment's variable that asks to wait for each launch; CUDA's own launches heed it too."""
HINT = f"run with {BLOCKING}=1 to see which kernel it was; start again where one failed"
NEWEST_PLAIN = 9
"""From this major version on, devices have code of their own besides that of all: `sm_90a`."""


def pycuda_driver() -> Any:
    """Return pycuda's driver module, or say what is missing."""
    try:
        return import_module("pycuda.driver")
    except ModuleNotFoundError as error:
        raise GpuError(
            f"pycuda is not installed ({error})",
            hint="pip install gravure[gpu]; the device 'emulated' needs no GPU",
        ) from error
    except ImportError as error:
        raise GpuError(
            f"there is no CUDA driver ({error})",
            hint="install the GPU's driver; the device 'emulated' needs no GPU",
        ) from error


def device_count() -> int:
    """Return how many devices can be used; 0 where pycuda or a driver is missing."""
    try:
        return int(_started().Device.count())
    except GpuError:
        return 0


def _started() -> Any:
    """Return pycuda's driver module, ready to be asked for devices."""
    cuda = pycuda_driver()
    try:
        cuda.init()
    except cuda.Error as error:
        raise GpuError(f"CUDA does not start: {error}") from error
    return cuda


@dataclass(frozen=True)
class CudaCode:
    """Modules that are loaded on a device."""

    driver: CudaDriver
    modules: tuple[ctypes.c_void_p, ...]

    def close(self) -> None:
        """Unload them."""
        with self.driver.current():
            for module in self.modules:
                self.driver.calls("cuModuleUnload", module)


class CudaReplay:
    """Launches as one graph, which is one call to run."""

    def __init__(self, driver: CudaDriver, nodes: Sequence[Loaded]) -> None:
        self.driver = driver
        self.graph = driver.calls.graph(nodes) if nodes else None

    def launch(self) -> None:
        """Begin to run all."""
        if self.graph is not None:
            self.driver.launching()
            with self.driver.current():
                self.driver.calls("cuGraphLaunch", self.graph, self.driver.handle)

    def close(self) -> None:
        """Give back the graph."""
        if self.graph is not None:
            with self.driver.current():
                self.driver.calls("cuGraphExecDestroy", self.graph)
            self.graph = None


class CheckedReplay:
    """Launches that are run one by one, so that what fails is known."""

    def __init__(self, driver: CudaDriver, nodes: Sequence[Loaded]) -> None:
        self.driver = driver
        self.nodes = nodes

    def launch(self) -> None:
        """Run all, and wait for each."""
        calls, stream = self.driver.calls, self.driver.handle
        self.driver.launching()
        with self.driver.current():
            for loaded in self.nodes:
                calls.launch(loaded, stream)
                calls("cuStreamSynchronize", stream, what=str(loaded.node))

    def close(self) -> None:
        """Keep nothing."""


class CudaDriver:
    """One device, by its number."""

    def __init__(self, index: int = 0) -> None:
        self._cuda = cuda = _started()
        count = cuda.Device.count()
        if not 0 <= index < count:
            raise GpuError(f"there is no device gpu:{index}: CUDA has {count}")
        self.index = index
        self._process, self._thread = os.getpid(), threading.get_ident()
        self.calls = Calls()
        self.version = self.calls.version()
        device = cuda.Device(index)
        self.name = f"{device.name()} (gpu:{index})"
        major, minor = device.compute_capability()
        self.architecture = f"sm_{major}{minor}{'a' if major >= NEWEST_PLAIN else ''}"
        self.context = device.retain_primary_context()
        self._release = weakref.finalize(
            self, _release, self.context, self.calls, (self._process, self._thread)
        )
        self._memory: dict[int, Any] = {}
        self._new: set[int] = set()
        """Memory that nothing was launched or copied since."""
        self._lock = threading.RLock()
        with self.current():
            self._stream, self._copies = cuda.Stream(), cuda.Stream()
            self._launched = cuda.Event()
            self._pinned = [cuda.pagelocked_empty(CHUNK, np.uint8) for _ in range(2)]
            self._copied = [cuda.Event() for _ in range(2)]
            self._timed = [cuda.Event() for _ in range(2)]
        self.handle = ctypes.c_void_p(self._stream.handle)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Make the device's context the current one of this thread for a while."""
        if os.getpid() != self._process:
            raise GpuError(
                f"{self.name} was opened by the process that this one was forked from",
                hint="open it here first, or start processes by 'spawn'",
            )
        try:
            self.context.push()
            try:
                yield
            finally:
                self.context.pop()
        except self._cuda.Error as error:
            raise GpuError(f"{self.name}: {error}", hint=HINT) from error

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        with self.current():
            try:
                found = self._cuda.mem_alloc(size)
            except self._cuda.MemoryError as error:
                free, total = self._cuda.mem_get_info()
                raise GpuError(
                    f"{self.name}: no memory for {size} bytes, {free} of {total} are free"
                ) from error
        address = int(found)
        self._memory[address] = found
        self._new.add(address)
        return address

    def allocate_host(self, size: int) -> int:
        """Return the address of new memory of the host, the same for the host and all devices."""
        flags = self._cuda.host_alloc_flags
        with self.current():
            try:
                found = self._cuda.pagelocked_empty(
                    size, np.uint8, mem_flags=flags.PORTABLE | flags.DEVICEMAP
                )
            except self._cuda.MemoryError as error:
                raise GpuError(f"{self.name}: the host cannot lock {size} bytes") from error
            at = int(found.base.get_device_pointer())
        self._memory[at] = found.base
        return at

    def free(self, address: int) -> None:
        """Give memory back; the driver waits for what uses it. A forked process has none."""
        if os.getpid() != self._process:
            return
        self._new.discard(address)
        with self.current():
            self._memory.pop(address).free()

    def write(self, address: int, array: Array) -> None:
        """Copy an array to the device, through the pinned buffers in turn."""
        data = array.reshape(-1).view(np.uint8)
        with self._lock, self.current():
            if address not in self._new:
                self._after_launches()
            self._new.discard(address)
            for start in range(0, data.size, CHUNK):
                turn = start // CHUNK % 2
                part = data[start : start + CHUNK]
                self._copied[turn].synchronize()
                pinned = self._pinned[turn][: part.size]
                pinned[:] = part
                self._cuda.memcpy_htod_async(address + start, pinned, self._copies)
                self._copied[turn].record(self._copies)
                self._stream.wait_for_event(self._copied[turn])

    def read(self, address: int, array: Array) -> None:
        """Copy from the device into an array: while one part is copied out, the next comes."""
        data = array.reshape(-1).view(np.uint8)
        starts = range(0, data.size, CHUNK)
        with self._lock, self.current():
            for event in self._copied:
                event.synchronize()
            self._after_launches()
            for number, start in enumerate([*starts, data.size]):
                if start < data.size:
                    part = self._pinned[number % 2][: data.size - start]
                    self._cuda.memcpy_dtoh_async(part, address + start, self._copies)
                    self._copied[number % 2].record(self._copies)
                if number:
                    before = starts[number - 1]
                    self._copied[(number - 1) % 2].synchronize()
                    whole = data[before : before + CHUNK]
                    whole[:] = self._pinned[(number - 1) % 2][: whole.size]

    def _after_launches(self) -> None:
        """Let copies from now on wait for all that was launched."""
        self._launched.record(self._stream)
        self._copies.wait_for_event(self._launched)

    def launching(self) -> None:
        """Note that memory may be used from now on."""
        self._new.clear()

    def copy(self, to: int, come: int, size: int) -> None:
        """Copy on the device."""
        self.launching()
        with self.current():
            self._cuda.memcpy_dtod_async(to, come, size, self._stream)

    def wait(self) -> None:
        """Wait until all is done."""
        with self.current():
            self._stream.synchronize()

    def load(self, modules: Sequence[GpuModule]) -> CudaCode:
        """Load modules: assembled ones where they fit this device, else their text."""
        with self.current():
            return CudaCode(self, tuple(self._load(module) for module in modules))

    def _load(self, module: GpuModule) -> ctypes.c_void_p:
        fits = module.architecture == self.architecture
        assembled = [module.cubin] if module.cubin and fits else []
        return self.calls.load([*assembled, module.ptx.encode("ascii") + b"\0"], module.name)

    def tensor_map(self, tiles: Tiles) -> bytes:
        """Return the 128 bytes by which a kernel copies tiles of a tensor."""
        with self.current():
            return self.calls.tensor_map(tiles)

    def replay(
        self, code: Code, nodes: Sequence[Node], *, check: bool
    ) -> CudaReplay | CheckedReplay:
        """Return what runs all nodes."""
        assert isinstance(code, CudaCode)
        with self.current():
            loaded = [
                Loaded(
                    node,
                    self.calls.function(
                        code.modules[node.kernel.module], node.kernel.name, node.kernel.shared
                    ),
                    Parameters(node.arguments),
                )
                for node in nodes
            ]
            check = check or os.environ.get(BLOCKING, "0") != "0"
            return (CheckedReplay if check else CudaReplay)(self, loaded)

    def seconds(self, action: Callable[[], object]) -> float:
        """Return how long the device works on what an action begins."""
        start, end = self._timed
        with self._lock:
            with self.current():
                start.record(self._stream)
            action()
            with self.current():
                end.record(self._stream)
                end.synchronize()
                return float(end.time_since(start)) * 1e-3

    def close(self) -> None:
        """Give back all memory and the context."""
        with self.current():
            self._stream.synchronize()
            self._copies.synchronize()
            for memory in self._memory.values():
                memory.free()
            self._memory.clear()
            self._pinned.clear()
        self._release()


def _release(context: Any, calls: Calls, owner: tuple[int, int]) -> None:
    """Release a context, also at the end of the process: pycuda would say that it cannot.

    In the thread that it is of, pycuda makes it current for that, and leaves it so.
    """
    if os.getpid() == owner[0]:
        context.detach()
        if threading.get_ident() == owner[1]:
            calls("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
