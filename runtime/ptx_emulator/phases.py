"""Barriers with phases: `mbarrier`."""

from __future__ import annotations

import numpy as np

from .barriers import WAITS
from .copies import bring, shared_places
from .faults import UnsupportedPtx
from .machine import AGAIN, Control, Machine, Plain, Reader
from .memory import Array
from .operands import Decoder, rule
from .text import Instruction

_SCOPES = ("shared", "shared::cta", "shared::cluster", "release", "acquire", "relaxed", "cta")
_KNOWN = {*_SCOPES, "cluster", "b64", "init", "inval", "arrive", "expect_tx", "complete_tx"}
WAITING = ("try_wait", "test_wait")


def is_wait(instruction: Instruction) -> bool:
    """Say whether an instruction looks whether a phase is over."""
    return instruction.op == "mbarrier" and instruction.modifiers[0] in WAITING


@rule("mbarrier")
def _phase(instruction: Instruction, decoder: Decoder) -> Plain:
    names = set(instruction.modifiers)
    if names - _KNOWN:
        raise UnsupportedPtx(str(instruction))
    action = instruction.modifiers[0]
    if action == "init":
        return _init(instruction, decoder)
    if action == "inval":
        address = decoder.address(instruction.operands[0])
        return lambda m: _forget(m, address(m))
    if action == "arrive":
        return _arrive(instruction, decoder, "expect_tx" in names)
    return _count_bytes(instruction, decoder, 1 if action == "expect_tx" else -1)


def _init(instruction: Instruction, decoder: Decoder) -> Plain:
    address = decoder.address(instruction.operands[0])
    count = decoder.read(instruction.operands[1], "u32")

    def plain(m: Machine) -> None:
        places = shared_places(m, address(m), 8)
        m.phases.make(places, np.broadcast_to(count(m), (len(places),)).tolist())

    return plain


def _forget(m: Machine, addresses: Array) -> None:
    for place in shared_places(m, addresses, 8):
        m.phases.find(place)
        del m.phases.at[place]


def _arrive(instruction: Instruction, decoder: Decoder, expects: bool) -> Plain:
    operands = list(instruction.operands)
    out = operands.pop(0) if not operands[0].startswith("[") else "_"
    write = decoder.write(out, "b64")
    address = decoder.address(operands[0])
    number = decoder.read(operands[1], "u32") if operands[1:] else None

    def plain(m: Machine) -> None:
        lanes = m.active().tolist()
        given = 1 if number is None else number(m)
        counts = np.broadcast_to(given, (len(lanes),)).tolist()
        tokens = []
        for lane, place, count in zip(lanes, shared_places(m, address(m), 8), counts, strict=True):
            if m.races is not None:
                m.races.arrive(place, int(m.block_of[lane]), int(m.warp_of[lane]))
            arrivals, transfer = (1, count) if expects else (count, 0)
            tokens.append(m.phases.arrive(m, place, arrivals, transfer))
        write(m, np.array(tokens, np.uint64))

    return plain


def _count_bytes(instruction: Instruction, decoder: Decoder, sign: int) -> Plain:
    address = decoder.address(instruction.operands[0])
    number = decoder.read(instruction.operands[1], "u32")

    def plain(m: Machine) -> None:
        places = shared_places(m, address(m), 8)
        counts = np.broadcast_to(number(m), (len(places),)).tolist()
        for place, count in zip(places, counts, strict=True):
            m.phases.transferred(m, place, -sign * count)

    return plain


def wait_control(instruction: Instruction, decoder: Decoder, guard: Reader | None) -> Control:
    """Return what goes on where a phase is over; `try_wait` waits for it, `test_wait` tells."""
    if guard is not None:
        raise UnsupportedPtx(f"a guard of {instruction}")
    known = {*_SCOPES, *WAITING, "parity", "cluster", "b64"}
    if set(instruction.modifiers) - known:
        raise UnsupportedPtx(str(instruction))
    by_parity = "parity" in instruction.modifiers
    out, where, which = instruction.operands[:3]
    write = decoder.write(out, "pred")
    address = decoder.address(where)
    read = decoder.read(which, "u32" if by_parity else "u64")
    stays = instruction.modifiers[0] == "try_wait"

    def control(m: Machine, pc: int) -> int:
        active = m.active()
        places = shared_places(m, address(m), 8)
        tokens = np.broadcast_to(read(m), active.shape).tolist()
        for place in dict.fromkeys(places):
            bring(m, place)
        over = np.array(
            [
                m.phases.find(place).number % 2 != token % 2
                if by_parity
                else m.phases.find(place).number != token
                for place, token in zip(places, tokens, strict=True)
            ],
            np.bool_,
        )
        if m.races is not None:
            _learn(m, active[over], [place for place, ok in zip(places, over, strict=True) if ok])
        return _go_on(m, pc, write, over, stays)

    return control


def _learn(m: Machine, lanes: Array, places: list[int]) -> None:
    assert m.races is not None
    rows = zip(places, m.block_of[lanes].tolist(), m.warp_of[lanes].tolist(), strict=True)
    for place, block, warp in dict.fromkeys(rows):
        m.races.passed(place, block, warp)


def _go_on(m: Machine, pc: int, write: object, over: Array, stays: bool) -> int:
    """Write the answers of the lanes that go on; the others look again when a phase ends."""
    assert callable(write)
    active = m.active()
    if over.all() or not stays:
        write(m, over)
        if not over.all():
            m.pc[active] = pc + 1
            return AGAIN
        return pc + 1
    m.pc[active] = np.where(over, pc + 1, pc)
    m.state[active[~over]] = WAITS
    if over.any():
        m.lanes = active[over]
        write(m, np.ones(len(m.lanes), np.bool_))
    return AGAIN
