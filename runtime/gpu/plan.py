"""What a model compiled for a GPU is, as plain data: modules of PTX, and launches in order.

    >>> twice = GpuKernel("twice", module=0, block=(256, 1, 1))
    >>> step = GpuLaunch("twice", (Pointer("input", 0), Pointer("output", 0), Scalar("N")),
    ...                  grid=("(N + 255) // 256", 1, 1))
    >>> step.grid_for({"N": 1000})
    (4, 1, 1)

All memory of a run lies in one arena of `workspace` bytes, one piece of `weights` bytes, one of
`host` bytes, which is the host's, and the tensors that go in and out; `Pointer.offset` counts bytes
from the start of one of them. A pointer or a number is an argument of 8 bytes, a tensor map one of
128. Addresses do not change between runs, so arguments may be made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..artifact import DimInfo, Pointer, Scalar, SizeDemand, TensorInfo
from ..expression import Extent, evaluate

Three: TypeAlias = tuple[Extent, Extent, Extent]

PLAIN_SHARED = 48 << 10
"""Bytes of dynamic shared memory that a launch gets without asking for more first."""


@dataclass(frozen=True)
class GpuModule:
    """The text of one PTX module: ASCII, without a zero byte at its end."""

    name: str
    ptx: str
    architecture: str
    """What the code needs: `sm_80` runs on all later ones too, `sm_90a` on that one only."""
    version: tuple[int, int]
    """The version of PTX, so that a driver too old can be told by name."""
    cubin: bytes = b""
    """The module assembled, where there was an assembler."""


@dataclass(frozen=True)
class GpuKernel:
    """One entry of a module."""

    name: str
    module: int
    """Which module it is in."""
    block: tuple[int, int, int]
    """Threads of a block."""
    shared: int = 0
    """Bytes of dynamic shared memory; above `PLAIN_SHARED` the function's limit must be raised."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """Blocks of a cluster; part of the kernel's own attributes, so that a launch need not say."""


@dataclass(frozen=True)
class TensorMap:
    """A tensor that a kernel reads or writes tile by tile; sizes go from the innermost dim out."""

    tensor: Pointer
    dtype: str
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    """Bytes from one to the next along all dims but the innermost."""
    box: tuple[int, ...]
    """Elements of one tile."""
    swizzle: Literal[0, 32, 64, 128] = 0


GpuArgument: TypeAlias = Pointer | Scalar | TensorMap


@dataclass(frozen=True)
class GpuLaunch:
    """Run a kernel. A grid with no blocks is not launched: there is nothing to do.

    `after` are the numbers of the earlier launches, counted from the last choice or loop before
    it, that must be done before: those that wrote what this one reads, or used the memory that it
    writes. What is not named may run at the same time.
    """

    kernel: str
    arguments: tuple[GpuArgument, ...]
    grid: Three
    after: tuple[int, ...] = ()
    source: tuple[str, ...] = ()
    """Names of the model's nodes that this computes, for messages."""

    def grid_for(self, values: Mapping[str, int]) -> tuple[int, int, int]:
        """Return the blocks along x, y and z when the symbols have these values."""
        x, y, z = (evaluate(size, values) for size in self.grid)
        return x, y, z


@dataclass(frozen=True)
class GpuChoice:
    """Run `then` when the byte at `condition` is not zero, and else `otherwise`.

    The processor decides: it waits for all launches before, and reads the byte.
    """

    condition: Pointer
    then: tuple[GpuStep, ...]
    otherwise: tuple[GpuStep, ...] = ()


@dataclass(frozen=True)
class GpuLoop:
    """Run `test` and then, as long as the byte at `condition` is not zero, `body` and `test`."""

    test: tuple[GpuStep, ...]
    condition: Pointer
    body: tuple[GpuStep, ...]


GpuStep: TypeAlias = GpuLaunch | GpuChoice | GpuLoop


def blocks_of(step: GpuChoice | GpuLoop) -> tuple[tuple[GpuStep, ...], tuple[GpuStep, ...]]:
    """Return the two lists of steps that a step holds."""
    if isinstance(step, GpuChoice):
        return step.then, step.otherwise
    return step.test, step.body


def launches_of(steps: tuple[GpuStep, ...]) -> Iterator[GpuLaunch]:
    """Give every launch, also those inside of choices and loops, in order."""
    for step in steps:
        if isinstance(step, GpuLaunch):
            yield step
        else:
            for block in blocks_of(step):
                yield from launches_of(block)


@dataclass(frozen=True)
class GpuPlan:
    """All that is to be known to run a model on a GPU, except the data of its weights.

    `dims` get their values from the shapes of the inputs (`artifact.bindings`).
    """

    tag: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    modules: tuple[GpuModule, ...]
    kernels: tuple[GpuKernel, ...]
    steps: tuple[GpuStep, ...]
    dims: tuple[DimInfo, ...] = ()
    demands: tuple[SizeDemand, ...] = ()
    """What every run must find of its dimensions."""
    workspace: int = 0
    """Bytes of the arena, at the largest dimensions."""
    weights: int = 0
    """Bytes of the constants."""
    host: int = 0
    """Bytes of the host's memory that kernels read and write."""
    target: str = "cuda:sm_80"
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def launches(self) -> tuple[GpuLaunch, ...]:
        """Return all launches in the order of the text, also those that a run may leave out."""
        return tuple(launches_of(self.steps))

    @property
    def has_maps(self) -> bool:
        """Say whether a kernel copies by tensor maps."""
        arguments = (argument for launch in self.launches for argument in launch.arguments)
        return any(isinstance(argument, TensorMap) for argument in arguments)
