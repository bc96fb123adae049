"""What the threads of a warp do together: shuffles, votes, and sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .faults import KernelFault, UnsupportedPtx
from .machine import AGAIN, WARP, Control, Machine, Plain, Reader
from .memory import Array
from .operands import Decoder
from .text import Instruction

Together = Callable[[Instruction, Decoder], tuple[Plain, Reader | None, int]]
"""Return what to do, the mask of the lanes that must come, and how many lanes are one group."""
TOGETHER: dict[str, Together] = {}
WARPGROUP = 128


def together(*names: str) -> Callable[[Together], Together]:
    """Register instructions that wait for their warp."""

    def register(function: Together) -> Together:
        for name in names:
            TOGETHER[name] = function
        return function

    return register


def control_of(plain: Plain, mask: Reader | None, size: int) -> Control:
    """Return what waits for the lanes of a group, and then does `plain`."""

    def control(m: Machine, pc: int) -> int:
        masks = None if mask is None else mask(m)
        if masks is not None and (np.asarray(masks) == 0xFFFFFFFF).all():
            masks = None
        if not m.meet(pc, size, masks):
            return AGAIN
        plain(m)
        return pc + 1

    return control


def whole_warps(m: Machine, values: Array, fill: int = 0) -> tuple[Array, Array]:
    """Return the active lanes' values as rows of warps, and which of them are active.

    Lanes that are not active have `fill`.
    """
    kind = values.dtype
    if m.lanes is None:
        return np.broadcast_to(values, (m.count,)).reshape(-1, WARP), np.ones(
            (m.count // WARP, WARP), np.bool_
        )
    whole = np.full(m.count, fill, kind)
    whole[m.lanes] = values
    active = np.zeros(m.count, np.bool_)
    active[m.lanes] = True
    return whole.reshape(-1, WARP), active.reshape(-1, WARP)


def of_active(m: Machine, rows: Array) -> Array:
    """Return the active lanes' values of rows of warps."""
    flat = np.ascontiguousarray(rows).reshape(-1)
    return flat if m.lanes is None else flat[m.lanes]


@together("shfl")
def _shuffle(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    out, value, by, limits, mask = instruction.operands
    names = out.split("|")
    write = decoder.write(names[0], "b32")
    tell = decoder.write(names[1], "pred") if len(names) > 1 else None
    read, offset = decoder.read(value, "b32"), decoder.read(by, "u32")
    limit, mode = decoder.read(limits, "u32"), instruction.modifiers[1]

    def plain(m: Machine) -> None:
        rows, active = whole_warps(m, np.asarray(read(m)))
        lane = np.arange(WARP)
        bounds = whole_warps(m, np.asarray(limit(m)))[0].astype(np.int64)
        step = whole_warps(m, np.asarray(offset(m)))[0].astype(np.int64) & 31
        segment, clamp = bounds >> 8 & 31, bounds & 31
        last = (lane & segment) | (clamp & ~segment)
        source, inside = _source(mode, step, segment, last)
        source = np.where(inside, source, lane) & 31
        if not (np.take_along_axis(active, source, axis=1) | ~active).all():
            raise KernelFault("a shuffle reads from a thread that does not take part")
        write(m, of_active(m, np.take_along_axis(rows, source, axis=1)))
        if tell is not None:
            tell(m, of_active(m, np.broadcast_to(inside, rows.shape)))

    return plain, decoder.read(mask, "u32"), WARP


def _source(mode: str, step: Array, segment: Array, last: Array) -> tuple[Array, Array]:
    """Return the lane that each one reads, and whether that is within its segment."""
    lane = np.arange(WARP)
    if mode == "up":
        source = lane - step
        return source, source >= last
    if mode == "down":
        source = lane + step
        return source, source <= last
    if mode == "bfly":
        source = lane ^ step
        return source, source <= last
    if mode == "idx":
        source = (lane & segment) | (step & ~segment)
        return source, source <= last
    raise UnsupportedPtx(f"shfl.{mode}")


@together("vote")
def _vote(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    out, value, mask = instruction.operands
    mode = instruction.modifiers[1]
    write = decoder.write(out, "b32" if mode == "ballot" else "pred")
    read = decoder.read(value, "pred")

    def plain(m: Machine) -> None:
        rows, active = whole_warps(m, np.asarray(read(m)))
        if mode == "ballot":
            bits = np.packbits(rows & active, axis=1, bitorder="little").view(np.uint32)
            write(m, of_active(m, np.repeat(bits, WARP, axis=1)))
            return
        holds_all = np.all(rows | ~active, axis=1, keepdims=True)
        holds_any = np.any(rows & active, axis=1, keepdims=True)
        answers = {"all": holds_all, "any": holds_any, "uni": holds_all | ~holds_any}
        write(m, of_active(m, np.repeat(answers[mode], WARP, axis=1)))

    return plain, decoder.read(mask, "u32"), WARP


_REDUCE: Mapping[str, tuple[Callable[..., Array], Callable[[type], int]]] = {
    "add": (np.add.reduce, lambda kind: 0),
    "min": (np.minimum.reduce, lambda kind: int(np.iinfo(kind).max)),
    "max": (np.maximum.reduce, lambda kind: int(np.iinfo(kind).min)),
    "and": (np.bitwise_and.reduce, lambda kind: int(np.iinfo(kind).max)),
    "or": (np.bitwise_or.reduce, lambda kind: 0),
    "xor": (np.bitwise_xor.reduce, lambda kind: 0),
}


@together("redux")
def _reduce(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    out, value, mask = instruction.operands
    kind = instruction.type
    function, neutral = _REDUCE[instruction.modifiers[1]]
    fill = neutral(decoder.kind(kind))
    write, read = decoder.write(out, kind), decoder.read(value, kind)

    def plain(m: Machine) -> None:
        rows, _ = whole_warps(m, np.asarray(read(m)), fill)
        found = function(rows, axis=1, keepdims=True).astype(rows.dtype)
        write(m, of_active(m, np.repeat(found, WARP, axis=1)))

    return plain, decoder.read(mask, "u32"), WARP


@together("match")
def _match(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    if instruction.modifiers[0] != "any":
        raise UnsupportedPtx(str(instruction))
    out, value, mask = instruction.operands
    write, read = decoder.write(out, "b32"), decoder.read(value, instruction.type)

    def plain(m: Machine) -> None:
        rows, active = whole_warps(m, np.asarray(read(m)))
        same = (rows[:, :, None] == rows[:, None, :]) & active[:, None, :]
        bits = np.packbits(same, axis=2, bitorder="little").view(np.uint32)
        write(m, of_active(m, bits[:, :, 0]))

    return plain, decoder.read(mask, "u32"), WARP


@together("elect")
def _elect(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    out, mask = instruction.operands
    number, chosen = out.split("|")
    write = decoder.write(number, "b32")
    tell = decoder.write(chosen, "pred")

    def plain(m: Machine) -> None:
        _, active = whole_warps(m, np.zeros(1, np.uint32))
        leader = active.argmax(axis=1).astype(np.uint32)
        write(m, of_active(m, np.repeat(leader[:, None], WARP, axis=1)))
        tell(m, of_active(m, np.arange(WARP) == leader[:, None]))

    return plain, decoder.read(mask, "u32"), WARP
