"""The calls of CUDA's driver that pycuda does not have: modules with handles, graphs, tensor maps.

They go to the same `libcuda.so.1` by ctypes; contexts, streams and addresses are those of pycuda.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifact import DTYPES
from .driver import GpuError, Node, Tiles
from .plan import PLAIN_SHARED

LIBRARY = "libcuda.so.1"
LOG_BYTES = 1 << 14
_INFO_LOG, _INFO_BYTES, _ERROR_LOG, _ERROR_BYTES = 3, 4, 5, 6
_MOST_SHARED = 8
"""The attribute of a function that says how much dynamic shared memory it may be given."""
PROMOTE_128 = 2
"""Bring 128 bytes to the second cache for each tile's row."""

MAP_TYPES: Mapping[str, int] = {
    **{"u8": 0, "i8": 0, "bool": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5},
    **{"f16": 6, "f32": 7, "f64": 8, "bf16": 9},
}
"""The numbers of element types in tensor maps; whole numbers of 1 and 2 bytes are all the same."""
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}

VERSIONS: Sequence[tuple[int, tuple[int, int]]] = (
    (13010, (9, 1)),
    (13000, (9, 0)),
    (12090, (8, 8)),
    (12080, (8, 7)),
    (12070, (8, 6)),
    (12050, (8, 5)),
    (12040, (8, 4)),
    (12030, (8, 3)),
    (12020, (8, 2)),
    (12010, (8, 1)),
    (12000, (8, 0)),
)
"""For each version of the driver (1000 * major + 10 * minor), the newest PTX that it loads."""


class KernelParameters(ctypes.Structure):
    """What a kernel's node in a graph is made from: `CUDA_KERNEL_NODE_PARAMS_v2`."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("parameters", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    )


class Parameters:
    """A kernel's arguments, in the form that launches take: the address of each.

    Packed into one buffer they would have to lie as the assembler laid them out, and that depends
    on where the device keeps them: a parameter that is aligned to 64 need not begin at 0.
    """

    def __init__(self, arguments: Sequence[bytes]) -> None:
        self.data = [ctypes.create_string_buffer(each, len(each)) for each in arguments]
        self.words = (ctypes.c_void_p * max(1, len(arguments)))(*map(ctypes.addressof, self.data))


@dataclass(frozen=True)
class Loaded:
    """A launch, with its kernel on the device and its arguments."""

    node: Node
    function: ctypes.c_void_p
    parameters: Parameters


class Calls:
    """The driver's library."""

    def __init__(self, library: str = LIBRARY) -> None:
        self.library = ctypes.CDLL(library)

    def __call__(self, name: str, *arguments: Any, what: str = "") -> None:
        """Call a function; raise what it says if it fails."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise GpuError(f"{what or name}: {self.error(status)}")

    def error(self, status: int) -> str:
        """Return the name and meaning of a status."""
        parts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            found = ctypes.c_char_p()
            if getattr(self.library, name)(status, ctypes.byref(found)) == 0 and found.value:
                parts.append(found.value.decode("ascii", "replace"))
        return ": ".join(parts) or f"CUDA error {status}"

    def version(self) -> tuple[int, int]:
        """Return the newest version of PTX that the driver loads."""
        found = ctypes.c_int()
        self("cuDriverGetVersion", ctypes.byref(found))
        for number, version in VERSIONS:
            if found.value >= number:
                return version
        major, minor = found.value // 1000, found.value % 1000 // 10
        raise GpuError(
            f"the CUDA driver is of version {major}.{minor}, expected 12.0 or newer",
            hint="use a newer CUDA driver",
        )

    def load(self, images: Sequence[bytes], name: str) -> ctypes.c_void_p:
        """Load a module, of which the driver may refuse all forms but the last, which is text.

        An assembled one may be of a newer assembler than the driver knows. An error has what the
        driver's own assembler says.
        """
        status, said = 0, ""
        for image in images:
            module, status, said = self.try_to_load(image)
            if status == 0:
                return module
        raise GpuError(f"module {name}: {self.error(status)}{f': {said}' if said else ''}")

    def try_to_load(self, image: bytes) -> tuple[ctypes.c_void_p, int, str]:
        """Return a module of PTX or a cubin, the status, and what the driver's assembler says."""
        logs = [ctypes.create_string_buffer(LOG_BYTES) for _ in range(2)]
        options = (ctypes.c_int * 4)(_INFO_LOG, _INFO_BYTES, _ERROR_LOG, _ERROR_BYTES)
        values = (ctypes.c_void_p * 4)(
            ctypes.addressof(logs[0]), LOG_BYTES, ctypes.addressof(logs[1]), LOG_BYTES
        )
        module = ctypes.c_void_p()
        status = self.library.cuModuleLoadDataEx(
            ctypes.byref(module), ctypes.c_char_p(image), 4, options, values
        )
        return module, status, logs[1].value.decode("utf-8", "replace").strip()

    def function(self, module: ctypes.c_void_p, name: str, shared: int) -> ctypes.c_void_p:
        """Return a kernel of a module, which may take `shared` bytes of dynamic memory."""
        found = ctypes.c_void_p()
        text = name.encode("ascii")
        self("cuModuleGetFunction", ctypes.byref(found), module, text, what=f"kernel {name}")
        if shared > PLAIN_SHARED:
            what = f"kernel {name} with {shared} bytes of shared memory"
            self("cuFuncSetAttribute", found, _MOST_SHARED, shared, what=what)
        return found

    def launch(self, loaded: Loaded, stream: ctypes.c_void_p) -> None:
        """Launch a kernel."""
        node = loaded.node
        sizes = [ctypes.c_uint(size) for size in (*node.grid, *node.kernel.block)]
        shared = ctypes.c_uint(node.kernel.shared)
        rest = (shared, stream, loaded.parameters.words, None)
        self("cuLaunchKernel", loaded.function, *sizes, *rest, what=str(node))

    def graph(self, nodes: Sequence[Loaded]) -> ctypes.c_void_p:
        """Return a graph of launches, ready to be run."""
        graph, found = ctypes.c_void_p(), ctypes.c_void_p()
        made: list[ctypes.c_void_p] = []
        self("cuGraphCreate", ctypes.byref(graph), 0)
        try:
            for loaded in nodes:
                made.append(self._add(graph, [made[n] for n in loaded.node.after], loaded))
            flags = ctypes.c_ulonglong(0)
            self("cuGraphInstantiateWithFlags", ctypes.byref(found), graph, flags)
        finally:
            self("cuGraphDestroy", graph)
        return found

    def _add(
        self, graph: ctypes.c_void_p, after: Sequence[ctypes.c_void_p], loaded: Loaded
    ) -> ctypes.c_void_p:
        """Add a launch to a graph, behind others; the arguments are copied."""
        node, found = loaded.node, ctypes.c_void_p()
        parameters = KernelParameters(
            function=loaded.function,
            grid=(ctypes.c_uint * 3)(*node.grid),
            block=(ctypes.c_uint * 3)(*node.kernel.block),
            shared=node.kernel.shared,
            parameters=ctypes.addressof(loaded.parameters.words),
        )
        before = (ctypes.c_void_p * max(1, len(after)))(*after)
        count = ctypes.c_size_t(len(after))
        self(
            "cuGraphAddKernelNode_v2",
            *(ctypes.byref(found), graph, before, count, ctypes.byref(parameters)),
            what=str(node),
        )
        return found

    def tensor_map(self, tiles: Tiles) -> bytes:
        """Return the 128 bytes by which a kernel copies tiles of a tensor."""
        room = (ctypes.c_uint8 * 192)()
        at = -(-ctypes.addressof(room) // 64) * 64
        rank = len(tiles.shape)
        size = DTYPES[tiles.dtype]
        self(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(at),
            MAP_TYPES[tiles.dtype],
            rank,
            ctypes.c_void_p(tiles.address),
            (ctypes.c_uint64 * rank)(*tiles.shape),
            (ctypes.c_uint64 * max(1, rank - 1))(*tiles.strides),
            (ctypes.c_uint32 * rank)(*tiles.box),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            *(0, SWIZZLES[tiles.swizzle], PROMOTE_128, 0),
            what=f"tensor map of {tiles.dtype} ({size} bytes) {tiles.shape} in {tiles.box}",
        )
        return ctypes.string_at(at, 128)
