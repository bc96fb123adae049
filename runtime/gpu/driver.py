"""What running a plan needs of a GPU: memory, modules, and launches that are replayed.

There are two: `cuda.CudaDriver` is a GPU, `emulated.EmulatedDriver` runs the same PTX by numpy. A
plan becomes `Node`s, in which all numbers are filled in, and these become one `Replay`, which is
launched as a whole for each run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...errors import GravureError
from ..artifact import Pointer, Scalar
from ..buffer import Array
from ..expression import evaluate
from .plan import GpuArgument, GpuKernel, GpuLaunch, GpuModule, GpuPlan, TensorMap

MAP_BYTES, MAP_ALIGNMENT = 128, 64
"""The size of a tensor map, and what the place that one is made at is a multiple of."""


class GpuError(GravureError):
    """A GPU cannot be used, or what runs on it failed.

    There is no CUDA driver or device, pycuda is not installed, the device is too old for the
    code, its memory is full, or a kernel was stopped. With `CUDA_LAUNCH_BLOCKING=1` in the
    environment a model runs one launch after the other, so that the message names the one that
    failed.
    """

    code = "GV5900"
    exit_status = 69


@dataclass(frozen=True)
class Tiles:
    """A tensor that is copied tile by tile: a `TensorMap` with all numbers filled in."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


@dataclass(frozen=True)
class Node:
    """One launch of a plan with all numbers filled in."""

    kernel: GpuKernel
    grid: tuple[int, int, int]
    arguments: tuple[bytes, ...]
    """The bytes of each parameter: where they lie among the others, only the driver knows."""
    after: tuple[int, ...]
    """The nodes before that must be done first."""
    source: tuple[str, ...]

    def __str__(self) -> str:
        """Return what is to be said of a launch in a message."""
        names = ", ".join(self.source)
        return f"kernel {self.kernel.name} ({names})" if names else f"kernel {self.kernel.name}"


class Code(Protocol):
    """Modules that are loaded."""

    def close(self) -> None:
        """Unload them."""


class Replay(Protocol):
    """Launches that are run as a whole, again and again."""

    def launch(self) -> None:
        """Begin to run all; what is launched later begins after them."""

    def close(self) -> None:
        """Give back what was kept."""


class Driver(Protocol):
    """A GPU. What it is told to do, it does in that order; only `read` and `wait` wait for it."""

    @property
    def name(self) -> str:
        """Return what the device is called."""

    @property
    def architecture(self) -> str:
        """Return what its code is made for: `sm_90a`."""

    @property
    def version(self) -> tuple[int, int]:
        """Return the newest version of PTX that can be loaded."""

    def allocate(self, size: int) -> int:
        """Return the address of new memory, aligned to 256 bytes."""

    def allocate_host(self, size: int) -> int:
        """Return the address of new memory of the host, which kernels read and write as theirs."""

    def free(self, address: int) -> None:
        """Give memory back, after what uses it is done."""

    def write(self, address: int, array: Array) -> None:
        """Copy an array to the device; it may be changed afterwards."""

    def read(self, address: int, array: Array) -> None:
        """Copy from the device into an array, when all before is done."""

    def copy(self, to: int, come: int, size: int) -> None:
        """Copy on the device."""

    def wait(self) -> None:
        """Wait until all is done; raise what went wrong."""

    def load(self, modules: Sequence[GpuModule]) -> Code:
        """Load the modules of a plan."""

    def tensor_map(self, tiles: Tiles) -> bytes:
        """Return the 128 bytes that a kernel gets to copy tiles by."""

    def replay(self, code: Code, nodes: Sequence[Node], *, check: bool) -> Replay:
        """Return what runs all nodes, and with `check` one by one, waiting for each."""

    def seconds(self, action: Callable[[], object]) -> float:
        """Return how long the device works on what an action begins."""

    def close(self) -> None:
        """Give back all memory."""


def check_fits(plan: GpuPlan, driver: Driver) -> None:
    """Refuse a plan whose code the device does not run."""
    have = driver.architecture
    for module in plan.modules:
        if not runs_on(module.architecture, have):
            raise GpuError(
                f"module {module.name} is for {module.architecture}: {driver.name} is {have}",
                hint=f"compile the model for cuda:{have}",
            )
        if module.version > driver.version:
            wanted, found = (".".join(map(str, each)) for each in (module.version, driver.version))
            raise GpuError(
                f"module {module.name} is PTX {wanted}: the driver knows up to {found}",
                hint="use a newer CUDA driver",
            )


def runs_on(architecture: str, device: str) -> bool:
    """Say whether code runs: later devices run older code, but code for `sm_90a` only that one.

    >>> runs_on("sm_80", "sm_90a"), runs_on("sm_90a", "sm_100a"), runs_on("sm_90", "sm_80")
    (True, False, False)
    """
    wanted, have = architecture.removeprefix("sm_"), device.removeprefix("sm_")
    if wanted.endswith("a"):
        return wanted == have
    return int(wanted) <= int(have.rstrip("a"))


Find = Callable[[Pointer], int]
"""Return the address of a base: an input, an output, the arena, the weights."""


def make_nodes(
    plan: GpuPlan,
    launches: Sequence[GpuLaunch],
    values: Mapping[str, int],
    find: Find,
    driver: Driver,
) -> list[Node]:
    """Return launches of a plan for the values of its dimensions.

    A launch without blocks is left out; what waits for it waits for what it waits for.
    """
    kernels = {kernel.name: kernel for kernel in plan.kernels}
    places: list[tuple[int, ...]] = []
    nodes: list[Node] = []
    for launch in launches:
        after = tuple(sorted({node for number in launch.after for node in places[number]}))
        grid = launch.grid_for(values)
        if 0 in grid:
            places.append(after)
            continue
        places.append((len(nodes),))
        arguments = tuple(argument_bytes(each, values, find, driver) for each in launch.arguments)
        nodes.append(Node(kernels[launch.kernel], grid, arguments, after, launch.source))
    return nodes


def argument_bytes(
    argument: GpuArgument, values: Mapping[str, int], find: Find, driver: Driver
) -> bytes:
    """Return the bytes of one argument of a kernel."""
    match argument:
        case Pointer():
            return struct.pack("<Q", find(argument) + evaluate(argument.offset, values))
        case Scalar():
            return struct.pack("<q", evaluate(argument.value, values))
        case TensorMap():
            return driver.tensor_map(tiles_of(argument, values, find))


def tiles_of(argument: TensorMap, values: Mapping[str, int], find: Find) -> Tiles:
    """Return a tensor map with all numbers filled in."""
    tensor = argument.tensor
    return Tiles(
        find(tensor) + evaluate(tensor.offset, values),
        argument.dtype,
        tuple(evaluate(size, values) for size in argument.shape),
        tuple(evaluate(stride, values) for stride in argument.strides),
        argument.box,
        argument.swizzle,
    )
