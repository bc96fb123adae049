"""Copies that run by themselves: `cp.async`, and bulk and tensor copies (TMA).

When such a copy is done is not known to the kernel, so it is done as late as it may be (`cp.async`,
and what goes from shared to global memory), or, for what comes into shared memory and is awaited
at an mbarrier, at once; against the kernel, at once or as late as somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .barriers import LEFT
from .faults import KernelFault, UnsupportedPtx
from .machine import Machine, Plain
from .memory import Array
from .operands import Decoder, rule
from .tensor_map import TensorBox
from .text import Instruction, split_operands

TILE_ALIGNMENT = 128
"""What tiles in shared memory begin at multiples of."""


@dataclass
class ThreadCopy:
    """What some lanes have begun to copy by `cp.async`."""

    lanes: Array
    groups: Array
    """For each lane the number of the group that the copy belongs to."""
    into: Array
    come: Array
    size: int
    given: Array
    """How many bytes are copied; the rest is zero."""


@dataclass
class ThreadCopies:
    """The copies that lanes have begun, and how many groups each has closed."""

    closed: Array
    waiting: list[ThreadCopy]


def thread_copies(m: Machine) -> ThreadCopies:
    """Return the copies that threads of a machine have begun."""
    found = m.queues.get("threads")
    if found is None:
        found = m.queues["threads"] = ThreadCopies(np.zeros(m.count, np.int64), [])
    assert isinstance(found, ThreadCopies)
    return found


@rule("cp")
def _copy(instruction: Instruction, decoder: Decoder) -> Plain:
    names = instruction.modifiers
    if names[:2] == ("async", "bulk"):
        return _bulk(instruction, decoder)
    if names[:2] in (("async", "ca"), ("async", "cg")):
        return _begin(instruction, decoder)
    if names[:2] == ("async", "commit_group"):
        return _close_group
    if names[:2] == ("async", "wait_group"):
        return _wait_group(decoder.number(instruction.operands[0]))
    if names[:2] == ("async", "wait_all"):
        return _wait_all
    if names[:3] == ("async", "mbarrier", "arrive"):
        return _arrive_when_done(instruction, decoder)
    raise UnsupportedPtx(str(instruction))


def _begin(instruction: Instruction, decoder: Decoder) -> Plain:
    into, come, size_text, *given_text = instruction.operands
    size = decoder.number(size_text)
    target, source = decoder.address(into), decoder.address(come)
    count = decoder.read(given_text[0], "u32") if given_text else None

    def plain(m: Machine) -> None:
        lanes = m.active()
        given = np.full(len(lanes), size) if count is None else np.asarray(count(m)).astype(int)
        given = np.broadcast_to(given, lanes.shape)
        places = m.shared.places(target(m), size, m.lanes)
        addresses = source(m)
        used = given > 0
        come_from = np.zeros(len(lanes), np.int64)
        if (addresses[used] % size).any():
            raise KernelFault(f"a copy of {size} bytes from an address that is no multiple of it")
        come_from[used] = m.heap.places(addresses[used], 1)
        m.heap.places((addresses + given - 1)[used], 1)
        if m.races is not None:
            m.races.write(places, size)
        if m.block_races is not None:
            m.block_races.read(m, come_from[used], 1, lanes[used])
        copies = thread_copies(m)
        copies.waiting.append(
            ThreadCopy(lanes, copies.closed[lanes], places, come_from, size, given)
        )

    return plain


def _close_group(m: Machine) -> None:
    thread_copies(m).closed[m.active()] += 1


def _wait_group(count: int) -> Plain:
    return lambda m: _finish(m, thread_copies(m).closed - count)


def _wait_all(m: Machine) -> None:
    _finish(m, np.full(m.count, np.iinfo(np.int64).max))


def _finish(m: Machine, limits: Array) -> None:
    """Do the copies of the active lanes whose group is below the lane's limit."""
    copies = thread_copies(m)
    active = np.zeros(m.count, np.bool_)
    active[m.active()] = True
    kept = []
    for copy in copies.waiting:
        now = active[copy.lanes] & (copy.groups < limits[copy.lanes])
        if now.any():
            _move_threads(m, copy, now)
        if not now.all():
            rest = ~now
            kept.append(
                ThreadCopy(
                    copy.lanes[rest],
                    copy.groups[rest],
                    copy.into[rest],
                    copy.come[rest],
                    copy.size,
                    copy.given[rest],
                )
            )
    copies.waiting = kept


def _move_threads(m: Machine, copy: ThreadCopy, now: Array) -> None:
    into, come, given = copy.into[now], copy.come[now], copy.given[now]
    if m.races is not None:
        m.races.write(into, copy.size, m.warp_of[copy.lanes[now]])
    if copy.size == 16 and (given == 16).all():
        m.shared.data.view(np.complex128)[into // 16] = m.heap.data.view(np.complex128)[come // 16]
        return
    steps = np.arange(copy.size)
    inside = steps < given[:, None]
    data = m.heap.data[np.where(inside, come[:, None] + steps, 0)]
    m.shared.data[into[:, None] + steps] = np.where(inside, data, 0)


def _arrive_when_done(instruction: Instruction, decoder: Decoder) -> Plain:
    """Return what arrives at an mbarrier when the lane's copies are done: that is now."""
    address = decoder.address(instruction.operands[0])
    counts = "noinc" in instruction.modifiers

    def plain(m: Machine) -> None:
        _wait_all(m)
        if not counts:
            return
        places = m.shared.places(address(m), 8, m.lanes)
        for place, lane in zip(places.tolist(), m.active().tolist(), strict=True):
            if m.races is not None:
                m.races.arrive(place, int(m.block_of[lane]), int(m.warp_of[lane]))
            m.phases.arrive(m, place, 1)

    return plain


# Bulk copies: begun by one lane, done for a whole piece of memory.

Move = Callable[[Machine], None]


@dataclass
class Bulk:
    """Bulk copies that are not done: into shared memory, and out of it."""

    into: dict[int, list[Move]]
    """By mbarrier, what is done when somebody asks for it."""
    out: list[tuple[int, int, Move]]
    """Lane, group, and what is done."""
    closed: dict[int, int]
    """How many groups each lane has closed."""


def bulk_copies(m: Machine) -> Bulk:
    """Return the bulk copies that have begun on a machine."""
    found = m.queues.get("bulk")
    if found is None:
        found = m.queues["bulk"] = Bulk({}, [], {})
        m.at_end.append(finish_bulk)
    assert isinstance(found, Bulk)
    return found


def bring(m: Machine, place: int) -> None:
    """Do the copies that an mbarrier waits for."""
    found = m.queues.get("bulk")
    if isinstance(found, Bulk):
        for move in found.into.pop(place, []):
            move(m)


def _bulk(instruction: Instruction, decoder: Decoder) -> Plain:
    names = set(instruction.modifiers)
    if "commit_group" in names:
        return _close_bulk
    if "wait_group" in names:
        return _wait_bulk(decoder.number(instruction.operands[0]))
    if names & {"im2col", "prefetch"}:
        raise UnsupportedPtx(str(instruction))
    order = [each.partition("::")[0] for each in instruction.modifiers]
    spaces = [each for each in order if each in ("shared", "global")]
    if spaces == ["shared", "global"]:
        return _bulk_in(instruction, decoder)
    if spaces == ["global", "shared"]:
        return _bulk_out(instruction, decoder)
    raise UnsupportedPtx(str(instruction))


def _close_bulk(m: Machine) -> None:
    closed = bulk_copies(m).closed
    for lane in m.active().tolist():
        closed[lane] = closed.get(lane, 0) + 1


def _wait_bulk(count: int) -> Plain:
    def plain(m: Machine) -> None:
        bulk, mine = bulk_copies(m), set(m.active().tolist())
        kept = []
        for lane, group, move in bulk.out:
            if lane in mine and group < bulk.closed.get(lane, 0) - count:
                move(m)
            else:
                kept.append((lane, group, move))
        bulk.out = kept
        if m.races is not None:
            for lane in mine:
                m.races.copies_done(int(m.block_of[lane]), int(m.warp_of[lane]))

    return plain


def finish_bulk(m: Machine) -> None:
    """Do what is not done at the end of a kernel."""
    found = m.queues.get("bulk")
    if isinstance(found, Bulk):
        for _, _, move in found.out:
            move(m)


def _box(decoder: Decoder, operand: str) -> Callable[[Machine], list[tuple[int, list[int]]]]:
    """Return what gives, for each lane, the address of the map and the coordinates."""
    found = re.fullmatch(r"\[\s*([^,\s]+)\s*,\s*(\{.*\})\s*\]", operand)
    if found is None:
        raise UnsupportedPtx(f"tensor {operand!r}")
    address = decoder.address(f"[{found[1]}]")
    reads = [decoder.read(each, "s32") for each in split_operands(found[2][1:-1])]

    def lanes(m: Machine) -> list[tuple[int, list[int]]]:
        count = len(m.active())
        columns = [np.broadcast_to(read(m), (count,)).tolist() for read in reads]
        return [
            (int(at), [int(column[lane]) for column in columns])
            for lane, at in enumerate(address(m))
        ]

    return lanes


def _bulk_in(instruction: Instruction, decoder: Decoder) -> Plain:
    """Return what begins a copy from global to shared memory."""
    if "mbarrier::complete_tx::bytes" not in instruction.modifiers:
        raise UnsupportedPtx(str(instruction))
    into, come, *rest = instruction.operands
    is_tensor = "tensor" in instruction.modifiers
    target = decoder.address(into)
    barrier = decoder.address(rest[0] if is_tensor else rest[1])
    boxes = _box(decoder, come) if is_tensor else None
    source = None if is_tensor else decoder.address(come)
    size = None if is_tensor else decoder.read(rest[0], "u32")
    to_many = "multicast::cluster" in instruction.modifiers
    mask = decoder.read(rest[1 if is_tensor else 2], "u16") if to_many else None

    def plain(m: Machine) -> None:
        lanes = m.active().tolist()
        places = shared_places(m, target(m), TILE_ALIGNMENT if is_tensor else 16)
        barriers = shared_places(m, barrier(m), 8)
        masks = None if mask is None else np.broadcast_to(mask(m), (len(lanes),)).tolist()
        if boxes is not None:
            parts = [
                _tile_in(TensorBox.find(m, at), where, place)
                for (at, where), place in zip(boxes(m), places, strict=True)
            ]
        else:
            assert source is not None
            assert size is not None
            sizes = np.broadcast_to(size(m), (len(lanes),)).tolist()
            starts = source(m).tolist()
            parts = [
                _plain_in(start, place, count)
                for start, place, count in zip(starts, places, sizes, strict=True)
            ]
        for number, (lane, at, part) in enumerate(zip(lanes, barriers, parts, strict=True)):
            for apart in [0] if masks is None else _others(m, lane, masks[number]):
                where, read = part
                _start(m, lane, at + apart, (where + apart, read))

    return plain


def _others(m: Machine, lane: int, mask: int) -> list[int]:
    """Return how far the shared memory of a cluster's blocks is from that of a lane's."""
    if mask >> m.cluster:
        raise KernelFault(f"a copy to blocks {mask:#b}: a cluster has {m.cluster}")
    rank = int(m.block_of[lane]) % m.cluster
    return [(n - rank) * m.shared.stride for n in range(m.cluster) if mask >> n & 1]


def _expect_running(m: Machine, block: int) -> None:
    """Refuse the shared memory of a block that has ended."""
    if (m.state[block * m.lanes_per_block : (block + 1) * m.lanes_per_block] == LEFT).all():
        raise KernelFault("shared memory of a block of the cluster that has ended")


RANK = 56
"""From this bit on addresses of a cluster say which block is meant, counted from 1."""


def shared_places(m: Machine, addresses: Array, size: int) -> list[int]:
    """Return where generic, shared, or a cluster's addresses are in the memory of all blocks."""
    inner = addresses & ((1 << 24) - 1)
    places = m.shared.places(inner, size, m.lanes)
    ranks = (addresses.astype(np.uint64) >> np.uint64(RANK)).astype(np.int64)
    if ranks.any():
        own = m.of_lanes(m.block_of) % m.cluster
        places = places + np.where(ranks > 0, ranks - 1 - own, 0) * m.shared.stride
        for block in np.unique(places // m.shared.stride).tolist():
            _expect_running(m, block)
    found: list[int] = places.tolist()
    return found


@rule("mapa")
def _of_another_block(instruction: Instruction, decoder: Decoder) -> Plain:
    """Give the address of what lies at the same place in another block of the cluster."""
    out, value, which = instruction.operands
    if instruction.modifiers[:1] != ("shared::cluster",) or instruction.type != "u64":
        raise UnsupportedPtx(str(instruction))
    write, read = decoder.write(out, "u64"), decoder.read(value, "u64")
    number = decoder.read(which, "u32")

    def plain(m: Machine) -> None:
        ranks = np.broadcast_to(number(m), (len(m.active()),)).astype(np.uint64)
        if (ranks >= m.cluster).any():
            raise KernelFault(f"block {int(ranks.max())} of a cluster of {m.cluster}")
        write(m, read(m) | (ranks + np.uint64(1)) << np.uint64(RANK))

    return plain


Part = tuple[Array, Callable[[Machine], Array]]
"""Where bytes go in shared memory, and what reads them."""


def _tile_in(box: TensorBox, start: list[int], place: int) -> Part:
    return box.places(place), lambda m: box.read(m, start)


def _plain_in(start: int, place: int, count: int) -> Part:
    if count % 16 or start % 16:
        raise KernelFault(f"a bulk copy of {count} bytes from {start:#x}, not of whole 16 bytes")
    return place + np.arange(count), lambda m: m.heap.bytes_at(start, count)


def _start(m: Machine, lane: int, barrier: int, part: Part) -> None:
    where, read = part
    block = barrier // m.shared.stride
    base = block * m.shared.stride
    if m.phases.find(barrier).is_fresh:
        raise KernelFault(
            "a copy arrives at an mbarrier that it may not see",
            hint="fence.mbarrier_init or fence.proxy.async is missing behind mbarrier.init",
        )
    _expect_running(m, block)
    if len(where) and int(where.max()) >= base + m.shared.size:
        raise KernelFault("a copy that does not fit into shared memory")
    if m.races is not None:
        m.races.copy_starts(int(m.block_of[lane]), int(m.warp_of[lane]), block)

    def move(machine: Machine) -> None:
        machine.shared.data[where] = read(machine)
        if machine.races is not None:
            words = np.unique(where // 16 * 16)
            machine.races.write(words, 16, np.full(len(words), machine.races.copier))
            machine.races.arrive(barrier, block, machine.races.copier)
        machine.phases.transferred(machine, barrier, len(where))

    if m.is_against and m.random.random() < 0.5:
        bulk_copies(m).into.setdefault(barrier, []).append(move)
        m.wake()  # who waits already is who brings it
    else:
        move(m)


def _bulk_out(instruction: Instruction, decoder: Decoder) -> Plain:
    """Return what begins a copy from shared to global memory."""
    into, come, *rest = instruction.operands
    is_tensor = "tensor" in instruction.modifiers
    source = decoder.address(come)
    boxes = _box(decoder, into) if is_tensor else None
    target = None if is_tensor else decoder.address(into)
    size = None if is_tensor else decoder.read(rest[0], "u32")

    def plain(m: Machine) -> None:
        lanes = m.active().tolist()
        places = shared_places(m, source(m), TILE_ALIGNMENT if is_tensor else 16)
        bulk = bulk_copies(m)
        if boxes is not None:
            found = [(TensorBox.find(m, at), where) for at, where in boxes(m)]
            moves = [
                _tile_out(box, where, (place, lane))
                for (box, where), place, lane in zip(found, places, lanes, strict=True)
            ]
            parts = [box.places(place) for (box, _), place in zip(found, places, strict=True)]
        else:
            assert target is not None
            assert size is not None
            sizes = np.broadcast_to(size(m), (len(lanes),)).tolist()
            starts = target(m).tolist()
            moves = [
                _plain_out(start, place, count)
                for start, place, count in zip(starts, places, sizes, strict=True)
            ]
            parts = [place + np.arange(count) for place, count in zip(places, sizes, strict=True)]
        for lane, move, part in zip(lanes, moves, parts, strict=True):
            if m.races is not None:
                words = np.unique(part // 16 * 16)
                m.races.copy_out(int(m.block_of[lane]), int(m.warp_of[lane]), words)
            bulk.out.append((lane, bulk.closed.get(lane, 0), move))

    return plain


def _tile_out(box: TensorBox, start: list[int], come: tuple[int, int]) -> Move:
    place, lane = come
    return lambda m: box.write(m, start, m.shared.data[box.places(place)], lane)


def _plain_out(start: int, place: int, count: int) -> Move:
    def move(m: Machine) -> None:
        m.heap.bytes_at(start, count)[:] = m.shared.data[place : place + count]

    return move
