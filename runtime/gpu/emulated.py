"""A GPU that is none: kernels run on the emulator of PTX, which checks what they do.

    >>> driver = EmulatedDriver(seed=1, races=True)
    >>> driver.name
    'emulated GPU'

Without a seed, launches run in the order of the plan and the threads of a kernel keep pace. With
one, launches run in a random order that their dependencies allow, and warps in an order that is
against the kernel, so that what was only right by luck comes out wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ...errors import GravureError
from ..artifact import DTYPES
from ..buffer import Array
from ..ptx_emulator import Heap, Image, KernelFault, KernelRun, Order, TensorBox, read_module
from ..ptx_emulator.faults import UnsupportedPtx
from .driver import Code, Node, Tiles
from .plan import GpuModule


@dataclass(frozen=True)
class EmulatedCode:
    """Modules loaded for the emulator."""

    images: tuple[Image, ...]

    def close(self) -> None:
        """Give back the memory of their variables."""
        for image in self.images:
            image.unload()


@dataclass(frozen=True)
class EmulatedReplay:
    """Launches that the emulator runs."""

    driver: EmulatedDriver
    code: EmulatedCode
    nodes: tuple[Node, ...]

    def launch(self) -> None:
        """Run all."""
        for number in self.driver.order(self.nodes):
            self.driver.run(self.code, self.nodes[number])

    def close(self) -> None:
        """Keep nothing."""


class EmulatedDriver:
    """A device whose memory is an array, and whose kernels numpy runs."""

    name = "emulated GPU"

    def __init__(
        self, architecture: str = "sm_90a", *, seed: int | None = None, races: bool = False
    ) -> None:
        self.architecture = architecture
        self.version = 9, 0
        self.heap = Heap()
        self.races = races
        self.seed = seed
        self.on_host = 0
        """How many bytes of the host's memory were asked for."""
        self.launched = 0
        """How many launches were run."""
        self.instructions = 0
        """How many instructions were done, each for many threads at a time."""
        self._random = random.Random(seed)

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        return self.heap.allocate(size)

    def allocate_host(self, size: int) -> int:
        """Return the address of new memory: here all is the host's."""
        self.on_host += size
        return self.heap.allocate(size)

    def free(self, address: int) -> None:
        """Give memory back."""
        self.heap.free(address)

    def write(self, address: int, array: Array) -> None:
        """Copy an array to the device."""
        self.heap.bytes_at(address, array.nbytes)[:] = _bytes(array)

    def read(self, address: int, array: Array) -> None:
        """Copy from the device into an array."""
        _bytes(array)[:] = self.heap.bytes_at(address, array.nbytes)

    def copy(self, to: int, come: int, size: int) -> None:
        """Copy on the device."""
        self.heap.bytes_at(to, size)[:] = self.heap.bytes_at(come, size)

    def wait(self) -> None:
        """Do nothing: all is done when it is asked for."""

    def load(self, modules: Sequence[GpuModule]) -> EmulatedCode:
        """Read the text of the modules."""
        return EmulatedCode(tuple(Image(read_module(each.ptx), self.heap) for each in modules))

    def tensor_map(self, tiles: Tiles) -> bytes:
        """Return a map in the emulator's own form."""
        return TensorBox(
            tiles.address,
            DTYPES[tiles.dtype],
            tiles.shape,
            tiles.strides,
            tiles.box,
            tiles.swizzle,
        ).encode()

    def replay(self, code: Code, nodes: Sequence[Node], *, check: bool) -> EmulatedReplay:
        """Return what runs all nodes; they are always checked."""
        del check
        assert isinstance(code, EmulatedCode)
        return EmulatedReplay(self, code, tuple(nodes))

    def seconds(self, action: Callable[[], object]) -> float:
        """Return how long the emulator takes for an action."""
        start = perf_counter()
        action()
        return perf_counter() - start

    def close(self) -> None:
        """Forget all memory."""
        self.heap = Heap()

    def order(self, nodes: Sequence[Node]) -> list[int]:
        """Return the order to run nodes in: as they are, or any that their dependencies allow."""
        if self.seed is None:
            return [*range(len(nodes))]
        left = {number: set(node.after) for number, node in enumerate(nodes)}
        found: list[int] = []
        while left:
            ready = [number for number, needs in left.items() if not needs]
            chosen = self._random.choice(ready)
            found.append(chosen)
            del left[chosen]
            for needs in left.values():
                needs.discard(chosen)
        return found

    def run(self, code: EmulatedCode, node: Node) -> None:
        """Run one launch; a fault names what it computes."""
        kernel = node.kernel
        if kernel.cluster != (1, 1, 1):
            raise UnsupportedPtx(f"{node}: clusters of {kernel.cluster} blocks")
        seed = None if self.seed is None else self._random.getrandbits(32)
        image = code.images[kernel.module]
        arguments = image.module.kernels[kernel.name].packed(node.arguments)
        launch = KernelRun(
            node.grid, kernel.block, kernel.shared, arguments, Order(seed), races=self.races
        )
        self.launched += 1
        try:
            counts = image.launch(kernel.name, launch)
        except (KernelFault, UnsupportedPtx) as fault:
            raise _with_source(fault, node) from None
        self.instructions += counts["instructions"]


def _with_source(fault: GravureError, node: Node) -> GravureError:
    """Return a fault that says which part of the model it is in."""
    return type(fault)(f"{node}: {fault.message}", location=fault.location, hint=fault.hint)


def _bytes(array: Array) -> Array:
    """Return the bytes of an array without gaps."""
    view: Array = array.reshape(-1).view(np.uint8)
    return view
