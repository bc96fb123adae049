"""Branches, the end, and barriers of the block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .barriers import AT_BARRIER, RUNS, WAITS
from .faults import KernelFault, UnsupportedPtx
from .machine import AGAIN, WARP, Control, Machine, Plain, Reader
from .memory import Array
from .operands import Decoder, rule
from .text import Instruction
from .warp import WARPGROUP, control_of, together

Controls = Callable[[Instruction, Decoder, Reader | None], Control]
CONTROLS: dict[str, Controls] = {}


def controls(*names: str) -> Callable[[Controls], Controls]:
    """Register instructions that say where to go on."""

    def register(function: Controls) -> Controls:
        for name in names:
            CONTROLS[name] = function
        return function

    return register


@controls("bra")
def _branch(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    target = decoder.label(instruction.operands[0])
    if guard is None:
        return lambda m, pc: target
    read = guard
    return lambda m, pc: m.branch(np.broadcast_to(read(m), m.active().shape), target, pc)


@controls("brx")
def _branch_by_table(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    if guard is not None:
        raise UnsupportedPtx("brx with a guard")
    index, table = instruction.operands
    targets = np.array([decoder.label(name) for name in decoder.tables[table]])
    read = decoder.read(index, "u32")

    def control(m: Machine, pc: int) -> int:
        numbers = read(m)
        if (numbers >= len(targets)).any():
            raise KernelFault(f"brx to entry {int(numbers.max())} of {len(targets)}")
        m.pc[m.active()] = targets[numbers]
        return AGAIN

    return control


@controls("ret", "exit")
def _leave(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    if guard is None:
        return lambda m, pc: m.leave()
    read = guard

    def control(m: Machine, pc: int) -> int:
        leaves = np.broadcast_to(read(m), m.active().shape)
        active = m.active()
        m.pc[active] = pc + 1
        if leaves.any():
            m.lanes = active[leaves]
            m.leave()
        return AGAIN

    return control


@controls("trap")
def _trap(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    def control(m: Machine, pc: int) -> int:
        if guard is not None and not np.any(guard(m)):
            return pc + 1
        raise KernelFault("the kernel stops itself")

    return control


@controls("bar", "barrier")
def _barrier(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    modifiers = [each for each in instruction.modifiers if each not in ("cta", "aligned")]
    if guard is not None:
        raise UnsupportedPtx("a barrier with a guard")
    if modifiers[:2] == ["warp", "sync"]:
        return control_of(lambda m: None, decoder.read(instruction.operands[0], "u32"), WARP)
    if modifiers[:1] == ["cluster"]:
        return _cluster_barrier(instruction, modifiers[1:])
    if modifiers not in (["sync"], ["arrive"]):
        raise UnsupportedPtx(str(instruction))
    number = decoder.read(instruction.operands[0], "u32")
    count = decoder.read(instruction.operands[1], "u32") if instruction.operands[1:] else None
    waits = modifiers == ["sync"]

    def control(m: Machine, pc: int) -> int:
        wanted = None if count is None else np.asarray(count(m))
        if waits and m.barriers.is_trivial(m, wanted):
            if m.races is not None:
                m.races.meet_all()
            return pc + 1
        return _come(m, pc, np.asarray(number(m)), wanted, waits)

    return control


def _come(m: Machine, pc: int, numbers: Array, wanted: Array | None, waits: bool) -> int:
    active = m.active()
    m.barriers.come(m, numbers, wanted)
    m.pc[active] = pc if waits else pc + 1
    m.state[active] = AT_BARRIER if waits else RUNS
    m.barriers.release(m)
    return AGAIN


def _cluster_barrier(instruction: Instruction, modifiers: list[str]) -> Control:
    """Return what all threads of a cluster come to, or what waits for them."""
    if modifiers not in (["arrive"], ["wait"]):
        raise UnsupportedPtx(str(instruction))
    return _come_to_cluster if modifiers == ["arrive"] else _await_cluster


def _come_to_cluster(m: Machine, pc: int) -> int:
    for lane in m.active().tolist():
        m.clusters.come(m, lane)
    return pc + 1


def _await_cluster(m: Machine, pc: int) -> int:
    active = m.active()
    over = m.clusters.is_over(m, active)
    if over.all():
        return pc + 1
    m.pc[active] = np.where(over, pc + 1, pc)
    m.state[active[~over]] = WAITS
    return AGAIN


@rule("membar", "fence")
def _fence(instruction: Instruction, decoder: Decoder) -> Plain:
    names = set(instruction.modifiers)
    orders = "mbarrier_init" in names or {"proxy", "async"} <= {n.partition("::")[0] for n in names}

    def plain(m: Machine) -> None:
        m.phases.fence(m)
        if m.races is not None and "mbarrier_init" not in names:
            m.races.fence()

    return plain if orders else lambda m: None


@together("setmaxnreg")
def _set_registers(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    count = decoder.number(instruction.operands[0])
    takes = "inc" in instruction.modifiers

    def plain(m: Machine) -> None:
        begun = m.program.kernel.most_registers
        if not begun:
            raise KernelFault("setmaxnreg in a kernel without .maxnreg")
        held = m.queues.get("registers")
        if held is None:
            held = m.queues["registers"] = np.full(m.count // WARP, begun)
            m.at_end.append(_check_registers)
        warps = np.unique(m.active() // WARP)
        if ((held[warps] > count) if takes else (held[warps] < count)).any():
            raise KernelFault(f"setmaxnreg from {int(held[warps][0])} to {count} registers")
        held[warps] = count

    return plain, None, WARPGROUP


def _check_registers(m: Machine) -> None:
    """Refuse that the warps of a block take more registers than it began with: they would wait."""
    held = m.queues["registers"].reshape(-1, m.lanes_per_block // WARP).sum(axis=1)
    given = m.program.kernel.most_registers * m.lanes_per_block // WARP
    if (held > given).any():
        raise KernelFault(
            f"{m.program.kernel.name}: warps wait for {WARP * int(held.max())} registers,"
            f" the block has {WARP * given}"
        )


@rule("griddepcontrol", "nanosleep", "pmevent")
def _without_effect(instruction: Instruction, decoder: Decoder) -> Plain:
    return lambda m: None


@rule("activemask")
def _active_mask(instruction: Instruction, decoder: Decoder) -> Plain:
    write = decoder.write(instruction.operands[0], "b32")

    def plain(m: Machine) -> None:
        active = np.zeros(m.count, np.bool_)
        active[m.active()] = True
        bits = np.packbits(active.reshape(-1, WARP), axis=1, bitorder="little").view(np.uint32)
        write(m, m.of_lanes(np.repeat(bits.reshape(-1), WARP)))

    return plain
