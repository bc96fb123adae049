"""Small matrices of a warp: `ldmatrix`, `stmatrix` and `mma.sync`.

A register of every lane together holds a block of 8 rows and 16 bytes: lane `4 * row + part` has
the `part`-th 4 bytes of a row. Larger operands are several blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import ml_dtypes
import numpy as np

from .faults import UnsupportedPtx
from .machine import WARP, Machine, Plain, Reader
from .memory import Array
from .numbers import floats
from .operands import Decoder
from .text import Instruction
from .warp import together

_ELEMENTS: Mapping[str, tuple[int, Callable[[Array], Array]]] = {
    "f16": (2, lambda bits: bits.view(np.float16).astype(np.float32)),
    "bf16": (2, lambda bits: floats.from_bf16(bits.view(np.uint16))),
    "tf32": (4, lambda bits: floats.cut_tf32(bits.view(np.float32))),
    "s8": (1, lambda bits: bits.view(np.int8).astype(np.float64)),
    "u8": (1, lambda bits: bits.view(np.uint8).astype(np.float64)),
    "e4m3": (1, lambda bits: bits.view(ml_dtypes.float8_e4m3fn).astype(np.float32)),
    "e5m2": (1, lambda bits: bits.view(ml_dtypes.float8_e5m2).astype(np.float32)),
}


def element_bytes(kind: str) -> int:
    """Return the bytes of an element of a matrix."""
    if kind not in _ELEMENTS:
        raise UnsupportedPtx(f"matrices of {kind}")
    return _ELEMENTS[kind][0]


def elements(kind: str, data: Array) -> Array:
    """Return the numbers in bytes, whose last axis becomes longer or shorter."""
    if kind not in _ELEMENTS:
        raise UnsupportedPtx(f"matrices of {kind}")
    return _ELEMENTS[kind][1](np.ascontiguousarray(data))


def as_warps(m: Machine, values: Array) -> Array:
    """Return a register of the active lanes, all of whole warps, as rows of warps."""
    return np.broadcast_to(values, (len(m.active()),)).reshape(-1, WARP)


def _blocks(m: Machine, reads: Sequence[Reader], kind: str) -> list[Array]:
    """Return each register as a block of 8 rows, for every warp."""
    found = []
    for read in reads:
        words = np.ascontiguousarray(as_warps(m, read(m)))
        found.append(elements(kind, words).reshape(len(words), 8, -1))
    return found


@together("ldmatrix")
def _load_matrix(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    turned = _check_matrix(instruction)
    writes = decoder.writes(instruction.operands[0], "b32")
    address = decoder.address(instruction.operands[1])

    def plain(m: Machine) -> None:
        places = _rows(m, address(m), len(writes), is_write=False)
        data = m.shared.data.view(np.uint16)
        for number, write in enumerate(writes):
            block = data[places[:, number, :, None] // 2 + np.arange(8)]
            if turned:
                block = block.transpose(0, 2, 1)
            write(m, np.ascontiguousarray(block).view(np.uint32).reshape(-1))

    return plain, None, WARP


@together("stmatrix")
def _store_matrix(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    turned = _check_matrix(instruction)
    address = decoder.address(instruction.operands[0])
    reads = decoder.reads(instruction.operands[1], "b32")

    def plain(m: Machine) -> None:
        places = _rows(m, address(m), len(reads), is_write=True)
        data = m.shared.data.view(np.uint16)
        for number, read in enumerate(reads):
            words = np.ascontiguousarray(as_warps(m, read(m)))
            block = words.view(np.uint16).reshape(-1, 8, 8)
            if turned:
                block = block.transpose(0, 2, 1)
            data[places[:, number, :, None] // 2 + np.arange(8)] = block

    return plain, None, WARP


def _check_matrix(instruction: Instruction) -> bool:
    """Refuse what is not blocks of 8 by 8 halves; return whether they are transposed."""
    known = ("sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "b16", "shared", "shared::cta")
    if set(instruction.modifiers) - set(known):
        raise UnsupportedPtx(str(instruction))
    return "trans" in instruction.modifiers


def _rows(m: Machine, addresses: Array, count: int, is_write: bool) -> Array:
    """Return where the 8 rows of each block begin: those of the first are from lanes 0 to 7."""
    lanes = m.active().reshape(-1, WARP)[:, : 8 * count].reshape(-1)
    used = as_warps(m, addresses)[:, : 8 * count].reshape(-1)
    places = m.shared.places(used, 16, lanes)
    if m.races is not None:
        note = m.races.write if is_write else m.races.read
        note(places, 16, m.warp_of[lanes])
    return places.reshape(-1, count, 8)


def _left(blocks: list[Array], rows: int) -> Array:
    """Return the left operand: blocks go down first, then along its inner axis."""
    if rows == 8:
        return np.concatenate(blocks, axis=2)
    columns = [np.concatenate(blocks[at : at + 2], axis=1) for at in range(0, len(blocks), 2)]
    return np.concatenate(columns, axis=2)


@together("mma")
def _multiply(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    shape = next(each for each in instruction.modifiers if re.fullmatch(r"m\d+n\d+k\d+", each))
    kinds = instruction.modifiers[-4:]
    if "row" not in instruction.modifiers or "col" not in instruction.modifiers:
        raise UnsupportedPtx(str(instruction))
    if kinds[1] == "f64":
        return _multiply_f64(instruction, decoder)
    rows, columns, inner = (int(size) for size in re.findall(r"\d+", shape))
    wanted = inner * element_bytes(kinds[1])
    out, left, right, added = instruction.operands
    a, b = decoder.reads(left, "b32"), decoder.reads(right, "b32")
    if (rows, columns) != (16, 8) or len(a) * 8 != wanted or len(b) * 16 != wanted:
        raise UnsupportedPtx(str(instruction))
    total = _totals(decoder, out, added, (kinds[0], kinds[3]))

    def plain(m: Machine) -> None:
        x = _left(_blocks(m, a, kinds[1]), rows)
        y = np.concatenate(_blocks(m, b, kinds[2]), axis=2)
        total(m, x @ y.transpose(0, 2, 1))

    return plain, None, WARP


def _totals(
    decoder: Decoder, out: str, added: str, kinds: tuple[str, str]
) -> Callable[[Machine, Array], None]:
    """Return what adds a 16 by 8 product to one operand and writes it to another."""
    if kinds[0] != kinds[1]:
        raise UnsupportedPtx(f"mma of {kinds[1]} to {kinds[0]}")
    [kind, _] = kinds
    if kind == "f16":
        pair_writes, pair_reads = decoder.writes(out, "b32"), decoder.reads(added, "b32")

        def halves(m: Machine, product: Array) -> None:
            parts = _blocks(m, pair_reads, "f16")
            found = (product + np.concatenate(parts, axis=1)).astype(np.float16)
            for number, write in enumerate(pair_writes):
                block = np.ascontiguousarray(found[:, 8 * number : 8 * number + 8])
                write(m, block.view(np.uint32).reshape(-1))

        return halves
    writes, reads = decoder.writes(out, kind), decoder.reads(added, kind)
    is_integer = kind == "s32"

    def whole(m: Machine, product: Array) -> None:
        rows = [as_warps(m, read(m)).reshape(-1, 8, 4) for read in reads]
        parts = [product[:, :8, 0::2], product[:, :8, 1::2]]
        parts += [product[:, 8:, 0::2], product[:, 8:, 1::2]]
        for write, part, row in zip(writes, parts, rows, strict=True):
            summand = part.astype(np.int64) if is_integer else part
            write(m, (summand + row).astype(row.dtype).reshape(-1))

    return whole


def _multiply_f64(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    """Return the product of 8 by 4 and 4 by 8 numbers of f64."""
    if "m8n8k4" not in instruction.modifiers:
        raise UnsupportedPtx(str(instruction))
    out, left, right, added = instruction.operands
    [a], [b] = decoder.reads(left, "f64"), decoder.reads(right, "f64")
    c, writes = decoder.reads(added, "f64"), decoder.writes(out, "f64")

    def plain(m: Machine) -> None:
        x, y = (as_warps(m, read(m)).reshape(-1, 8, 4) for read in (a, b))
        product = x @ y.transpose(0, 2, 1)
        for number, write in enumerate(writes):
            before = as_warps(m, c[number](m)).reshape(-1, 8, 4)
            write(m, (product[:, :, number::2] + before).reshape(-1))

    return plain, None, WARP
