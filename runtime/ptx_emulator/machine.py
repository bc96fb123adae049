"""The threads of some blocks that run one kernel: their registers, and which of them goes on.

All threads of a batch of blocks are lanes of numpy arrays, and one instruction is done for all
lanes that stand at it. Lanes stand apart after a branch that divides them; then those with the
lowest instruction go on, until they meet others. This is `Order(seed=None)`. With a seed it is
against the kernel: one warp, chosen at random, goes on alone as long as it can, so that what is
only right when warps keep pace comes out wrong.

Instructions with `.sync` wait for the lanes of their mask, barriers for their threads, and
`mbarrier.try_wait` for its phase. When no lane can go on and some have not left, that is a fault
which says where they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from .barriers import (
    AT_BARRIER,
    LEFT,
    PARKED,
    RUNS,
    WAITS,
    BlockBarriers,
    ClusterBarriers,
    PhaseBarriers,
)
from .block_races import BlockRaces
from .faults import KernelFault
from .memory import GARBAGE, Array, Heap, Scratch
from .races import Races
from .text import Instruction, Kernel

WARP = 32
AGAIN = -1
"""What a control step returns instead of the next instruction: choose which lanes go on."""
PATIENCE = 256
"""After so many choices some other lanes than the lowest have a turn."""
SWITCH = 0.02
"""How often, against the kernel, another warp has a turn before this one must wait."""

MOST_SHARED = 227 << 10
"""Bytes of shared memory that a block of a Hopper may have."""
MOST_BLOCKS = (2**31 - 1, 65535, 65535)

Reader: TypeAlias = Callable[["Machine"], Array]
Writer: TypeAlias = Callable[["Machine", Array], None]
Plain: TypeAlias = Callable[["Machine"], None]
Control: TypeAlias = Callable[["Machine", int], int]


@dataclass(frozen=True)
class DecodedStep:
    """One instruction, ready to be done."""

    instruction: Instruction
    plain: Plain | None = None
    """What an instruction does that has the next one after it."""
    control: Control | None = None
    """What one does that chooses where to go on."""
    guard: Reader | None = None


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel that is ready to run."""

    kernel: Kernel
    steps: tuple[DecodedStep, ...]
    register_kinds: tuple[Any, ...]
    """The numpy type of each register."""
    shared_bytes: int
    """Bytes of shared memory of known size; what is of unknown size comes behind."""
    local_bytes: int
    access: int
    """The fewest bytes of shared memory that an instruction takes at a time."""
    global_access: int = 1
    """The same of global memory."""
    most_shared: int = MOST_SHARED
    """Bytes of shared memory that a block may have."""


@dataclass(frozen=True)
class Order:
    """In which order lanes go on: all together, or by seed against the kernel."""

    seed: int | None = None


@dataclass(frozen=True)
class KernelRun:
    """One run of a kernel: its sizes, and its packed arguments."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: bytes
    order: Order = Order()
    races: bool = False
    """Whether accesses to shared memory, and of blocks to global memory, must be ordered."""
    limit: int = 50_000_000
    """After so many instructions a kernel is said not to end."""


@dataclass
class Machine:
    """Some blocks of a launch, on their way through a program."""

    program: LoadedKernel
    launch: KernelRun
    blocks: Array
    heap: Heap
    lanes: Array | None = None
    """The lanes that an instruction is done for; None means all."""
    block_races: BlockRaces | None = None
    """Notes what blocks do to global memory, if that is looked at."""
    done: int = 0
    """How many instructions were done."""
    at_end: list[Plain] = field(default_factory=list)
    """What is done when all lanes have left."""
    queues: dict[str, Any] = field(default_factory=dict)
    """What instructions keep that finish later, by who looks after it."""

    def __post_init__(self) -> None:
        x, y, z = self.launch.block
        self.threads = x * y * z
        self.cluster = self.program.kernel.cluster
        """How many blocks see each other's shared memory."""
        self.lanes_per_block = -(-self.threads // WARP) * WARP
        self.count = len(self.blocks) * self.lanes_per_block
        self.block_of = np.repeat(np.arange(len(self.blocks)), self.lanes_per_block)
        self.thread_of = np.tile(np.arange(self.lanes_per_block, dtype=np.uint32), len(self.blocks))
        self.warp_of = self.thread_of // WARP
        lanes = np.arange(self.count) % (self.cluster * self.lanes_per_block)
        self.warp_in_cluster = lanes // WARP
        self.registers: list[Array | None] = [None] * len(self.program.register_kinds)
        self.specials: dict[str, Array] = {}
        self.state = np.where(self.thread_of < self.threads, RUNS, LEFT).astype(np.uint8)
        self.pc = np.zeros(self.count, np.int64)
        self.masks = np.zeros(self.count, np.uint32)
        size = self.program.shared_bytes + self.launch.shared
        self.shared = Scratch("shared", size, self.block_of)
        self.local = Scratch("local", self.program.local_bytes, np.arange(self.count))
        self.barriers = BlockBarriers(len(self.blocks), self.threads)
        self.phases = PhaseBarriers()
        self.clusters = ClusterBarriers(
            len(self.blocks), self.cluster, self.lanes_per_block, self.threads
        )
        self.races = Races(self, self.program.access) if self.launch.races else None
        seed = self.launch.order.seed
        self.random = np.random.default_rng(0 if seed is None else seed)
        self.is_against = seed is not None
        self.turn = -1
        self.choices = 0
        self.is_alone = True
        """Whether no other lanes can go on than those that do."""
        self.stop = -1
        """The instruction where other lanes are met."""

    # Registers

    def active(self) -> Array:
        """Return the numbers of the lanes that an instruction is done for."""
        return np.arange(self.count) if self.lanes is None else self.lanes

    def of_lanes(self, values: Array) -> Array:
        """Return what belongs to the active lanes, of one value for every lane."""
        return values if self.lanes is None else values[self.lanes]

    def read(self, number: int) -> Array:
        """Return a register of the active lanes."""
        values = self.registers[number]
        if values is None:
            values = self.registers[number] = self._garbage(number)
        return values if self.lanes is None else values[self.lanes]

    def write(self, number: int, values: Array) -> None:
        """Set a register of the active lanes; the values are the register's from now on."""
        if self.lanes is None:
            if values.ndim == 0:
                values = np.full(self.count, values)
            self.registers[number] = values
            return
        found = self.registers[number]
        if found is None:
            found = self.registers[number] = self._garbage(number)
        found[self.lanes] = values

    def _garbage(self, number: int) -> Array:
        kind = np.dtype(self.program.register_kinds[number])
        if kind == np.bool_:
            return np.ones(self.count, np.bool_)
        return np.full(self.count * kind.itemsize, GARBAGE, np.uint8).view(kind)

    # Which lanes go on

    def run(self) -> None:
        """Run until all lanes have left."""
        if self.threads == self.lanes_per_block and not self.is_against:
            self._go(0)
        while self._choose():
            lanes = self.lanes
            self._go(int(self.pc[0 if lanes is None else lanes[0]]))
        for action in self.at_end:
            action(self)

    def _choose(self) -> bool:
        """Choose the lanes that go on; return whether there are any."""
        can = self.state == RUNS
        if not can.any():
            if (self.state == LEFT).all():
                return False
            raise KernelFault(f"deadlock: {self._waiting()}")
        if self.is_against:
            can = self._with_turn(can)
        where = self.pc[can]
        low = int(where.min())
        self.choices += 1
        if self.choices % PATIENCE == 0:
            low = int(self.random.choice(where))
        chosen = can & (self.pc == low)
        others = where[where > low]
        self.stop = int(others.min()) if others.size else -1
        self.is_alone = bool((where == low).all()) and not self.is_against
        self.lanes = None if chosen.all() else np.nonzero(chosen)[0]
        return True

    def _with_turn(self, can: Array) -> Array:
        """Return the lanes of the one warp of each cluster of blocks that has its turn."""
        mine: Array = can & (self.warp_in_cluster == self.turn)
        if not mine.any() or self.random.random() < SWITCH:
            self.turn = int(self.random.choice(np.unique(self.warp_in_cluster[can])))
            mine = can & (self.warp_in_cluster == self.turn)
        return mine

    def _go(self, pc: int) -> None:
        """Do instructions from `pc` on until the lanes part, wait, leave, or meet others."""
        steps = self.program.steps
        try:
            while True:
                step = steps[pc]
                self.done += 1
                if step.control is not None:
                    self._check_limit()
                    pc = step.control(self, pc)
                    if pc == AGAIN:
                        break
                    if self.is_alone:
                        continue
                    self.pc[self.active()] = pc
                    break
                self._do(step)
                pc += 1
                if pc == self.stop:
                    self.pc[self.active()] = pc
                    break
        except KernelFault as fault:
            if fault.location:
                raise
            raise self._placed(fault, steps[pc].instruction) from None

    def _check_limit(self) -> None:
        if self.done > self.launch.limit:
            raise KernelFault(f"the kernel does not end after {self.done} instructions")

    def _do(self, step: DecodedStep) -> None:
        """Do an instruction for the lanes where its guard holds."""
        assert step.plain is not None
        if step.guard is None:
            step.plain(self)
            return
        holds = step.guard(self)
        if holds.all():
            step.plain(self)
        elif holds.any():
            before = self.lanes
            self.lanes = self.active()[holds]
            step.plain(self)
            self.lanes = before

    def _placed(self, fault: KernelFault, instruction: Instruction) -> KernelFault:
        name = self.program.kernel.name
        message = f"{fault.message}, in {instruction}"
        return KernelFault(message, location=f"{name}, line {instruction.line}", hint=fault.hint)

    def _waiting(self) -> str:
        """Say where lanes wait, and how many have left."""
        lines: dict[str, int] = {}
        for state, pc in zip(self.state, self.pc, strict=True):
            if state in (PARKED, AT_BARRIER, WAITS):
                instruction = self.program.steps[int(pc)].instruction
                text = f"at line {instruction.line} ({instruction})"
                lines[text] = lines.get(text, 0) + 1
        parts = [f"{count} threads wait {text}" for text, count in lines.items()]
        left = int((self.state == LEFT).sum()) - self.count + len(self.blocks) * self.threads
        return ", ".join([*parts, f"{left} have left {self.program.kernel.name}"])

    # What control steps do

    def leave(self) -> int:
        """End the active lanes."""
        self.state[self.active()] = LEFT
        self.barriers.release(self)
        self.state[self.state == PARKED] = RUNS
        return AGAIN

    def branch(self, taken: Array | None, target: int, pc: int) -> int:
        """Go to `target` where `taken` holds, and else to the next instruction."""
        if taken is None or taken.all():
            return target
        if not taken.any():
            return pc + 1
        self.pc[self.active()] = np.where(taken, target, pc + 1)
        return AGAIN

    def wake(self) -> None:
        """Let the lanes look again that wait for a phase."""
        self.state[self.state == WAITS] = RUNS

    def meet(self, pc: int, size: int, masks: Array | None) -> bool:
        """Wait for the other lanes of each warp (or of `size` lanes); say if any can go on.

        `masks` has a bit for each lane of a warp that must come; None means all. Afterwards the
        active lanes are those of complete warps.
        """
        if self.lanes is None and masks is None and self.threads == self.lanes_per_block:
            return True
        active = self.active()
        self.masks[active] = 0xFFFFFFFF if masks is None else masks
        self.pc[active] = pc
        here = (self.state == PARKED) & (self.pc == pc)
        here[active] = True
        rows = here.reshape(-1, WARP)
        come = (here | (self.state == LEFT)).reshape(-1, WARP)
        bits = np.packbits(come, axis=1, bitorder="little").view(np.uint32)
        lacking = (self.masks.reshape(-1, WARP) & ~bits) != 0
        complete = rows.any(axis=1) & ~(lacking & rows).any(axis=1)
        if size > WARP:
            warps = complete.reshape(-1, size // WARP).all(axis=1)
            complete = np.repeat(warps, size // WARP)
        go = here & np.repeat(complete, WARP)
        self.state[here] = PARKED
        self.state[go] = RUNS
        self.lanes = np.nonzero(go)[0]
        self.is_alone = False
        return bool(self.lanes.size)


def run_program(program: LoadedKernel, launch: KernelRun, heap: Heap) -> Mapping[str, int]:
    """Run a kernel on all blocks of a grid; return what was counted."""
    _check(program, launch)
    _keep_freed_memory()
    x, y, z = launch.grid
    blocks = x * y * z
    cluster = program.kernel.cluster
    at_once = max(1, batch_size(program, launch) // cluster) * cluster
    counts = {"instructions": 0, "blocks": blocks}
    blocks_apart = BlockRaces(heap, program.global_access) if launch.races else None
    with np.errstate(all="ignore"):
        for start in range(0, blocks, at_once):
            numbers = np.arange(start, min(start + at_once, blocks))
            machine = Machine(program, launch, numbers, heap, block_races=blocks_apart)
            machine.run()
            counts["instructions"] += machine.done
    return counts


@cache
def _keep_freed_memory() -> None:
    """Free one large piece of memory, after which the C library keeps what is freed.

    Without it, each array of a few hundred KiB is given back to the system and faulted in again,
    which takes several times longer than what is computed.
    """
    np.empty(1 << 24, np.uint8)


LANES_AT_ONCE = 1 << 15
BYTES_AT_ONCE = 1 << 26


def batch_size(program: LoadedKernel, launch: KernelRun) -> int:
    """Return how many blocks run at the same time."""
    x, y, z = launch.block
    by_lanes = LANES_AT_ONCE // (x * y * z)
    shared = program.shared_bytes + launch.shared
    width = 20 * WARP if launch.races else 1
    by_bytes = BYTES_AT_ONCE // max(1, shared * width, x * y * z * program.local_bytes)
    return max(1, min(by_lanes, by_bytes))


def _check(program: LoadedKernel, launch: KernelRun) -> None:
    """Refuse what a driver would not launch."""
    kernel = program.kernel
    x, y, z = launch.block
    wanted = tuple((*kernel.block, 1, 1, 1)[:3])
    if kernel.block and wanted != launch.block:
        raise KernelFault(f"{kernel.name}: launched with blocks {launch.block}, made for {wanted}")
    grid_fits = all(1 <= n <= most for n, most in zip(launch.grid, MOST_BLOCKS, strict=True))
    whole = launch.grid[0] % kernel.cluster == 0
    if not 1 <= x * y * z <= 1024 or not grid_fits or not whole:
        raise KernelFault(f"{kernel.name}: grid {launch.grid} of blocks {launch.block}")
    if program.shared_bytes + launch.shared > program.most_shared:
        found = program.shared_bytes + launch.shared
        raise KernelFault(
            f"{kernel.name}: {found} bytes of shared memory, there are {program.most_shared}"
        )
    if len(launch.arguments) < kernel.argument_bytes:
        found = len(launch.arguments)
        raise KernelFault(
            f"{kernel.name}: {found} bytes of arguments, expected {kernel.argument_bytes}"
        )
