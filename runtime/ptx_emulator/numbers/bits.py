"""Logic, shifts and bit fields."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import numpy as np

from ..faults import UnsupportedPtx
from ..machine import Machine, Plain
from ..memory import UNSIGNED, Array
from ..operands import Decoder, expect, rule
from ..text import WIDTHS, Instruction
from .arithmetic import apply

_LOGIC: Mapping[str, Callable[..., Array]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
}


@rule(*_LOGIC)
def _logic(instruction: Instruction, decoder: Decoder) -> Plain:
    return apply(decoder, instruction, _LOGIC[instruction.op], instruction.type)


@rule("cnot")
def _is_zero(instruction: Instruction, decoder: Decoder) -> Plain:
    return apply(decoder, instruction, lambda x: (x == 0).astype(x.dtype), instruction.type)


@rule("shl", "shr")
def _shift(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    bits = 8 * WIDTHS[kind]
    out, x, by = instruction.operands
    write, value, count = decoder.write(out, kind), decoder.read(x, kind), decoder.read(by, "u32")
    shift = np.left_shift if instruction.op == "shl" else np.right_shift
    is_signed = kind[0] == "s" and instruction.op == "shr"

    def plain(m: Machine) -> None:
        values, counts = value(m), count(m)
        within = np.minimum(counts, bits - 1).astype(values.dtype)
        found = shift(values, within)
        if not is_signed:
            found = np.where(counts >= bits, values.dtype.type(0), found)
        write(m, found)

    return plain


@rule("shf")
def _funnel(instruction: Instruction, decoder: Decoder) -> Plain:
    expect(instruction, "l", "r", "wrap", "clamp")
    is_left, wraps = instruction.modifiers[0] == "l", "wrap" in instruction.modifiers

    def function(low: Array, high: Array, count: Array) -> Array:
        by = (count & 31 if wraps else np.minimum(count, 32)).astype(np.uint64)
        both = low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))
        found = (both << by) >> np.uint64(32) if is_left else both >> by
        return (found & np.uint64(0xFFFFFFFF)).astype(np.uint32)

    return apply(decoder, instruction, function, "b32")


@rule("bfe")
def _extract(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    bits = 8 * WIDTHS[kind]
    out, x, start, length = instruction.operands
    write, value = decoder.write(out, kind), decoder.read(x, kind)
    first, count = decoder.read(start, "u32"), decoder.read(length, "u32")

    def plain(m: Machine) -> None:
        values = value(m)
        at, size = (first(m) & 255).astype(np.int64), (count(m) & 255).astype(np.int64)
        room = np.clip(bits - at, 0, size)
        up = np.clip(bits - at - room, 0, bits - 1)
        down = np.clip(bits - room, 0, bits - 1)
        type_of = values.dtype.type
        found = (values << up.astype(values.dtype)) >> down.astype(values.dtype)
        empty = values >> type_of(bits - 1) if kind[0] == "s" else type_of(0)
        nothing = np.where(size == 0, type_of(0), empty)
        found = np.where((size == 0) | (at >= bits), nothing, found)
        short = (size > room) & (at < bits)
        if kind[0] == "u":
            write(m, found)
            return
        sign_only = np.where(short & (room == 0), empty, found)
        write(m, sign_only)

    return plain


@rule("bfi")
def _insert(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    bits = 8 * WIDTHS[kind]
    out, x, y, start, length = instruction.operands
    write, field = decoder.write(out, kind), decoder.read(x, kind)
    into = decoder.read(y, kind)
    first, count = decoder.read(start, "u32"), decoder.read(length, "u32")

    def plain(m: Machine) -> None:
        target = into(m)
        type_of = target.dtype.type
        at, size = (first(m) & 255).astype(np.int64), (count(m) & 255).astype(np.int64)
        size = np.clip(size, 0, np.maximum(bits - at, 0))
        ones = np.where(
            size == 0, type_of(0), ~type_of(0) >> np.clip(bits - size, 0, bits - 1).astype(type_of)
        )
        by = np.clip(at, 0, bits - 1).astype(type_of)
        mask = np.where(at >= bits, type_of(0), ones << by)
        write(m, (target & ~mask) | ((field(m) << by) & mask))

    return plain


@rule("bfind")
def _highest(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    bits = 8 * WIDTHS[kind]
    out, x = instruction.operands
    write, value = decoder.write(out, "u32"), decoder.read(x, kind)
    from_top = "shiftamt" in instruction.modifiers

    def plain(m: Machine) -> None:
        values = value(m)
        if kind[0] == "s":
            values = np.where(values < 0, ~values, values)
        unsigned: Array = np.atleast_1d(values).view(UNSIGNED[WIDTHS[kind]])
        found = bits - 1 - leading_zeros(unsigned, bits).astype(np.int64)
        shown = np.where(found < 0, 0xFFFFFFFF, bits - 1 - found if from_top else found)
        write(m, shown.astype(np.uint32).reshape(np.shape(values)))

    return plain


def leading_zeros(values: Array, bits: int) -> Array:
    """Return how many bits are zero above the highest that is not."""
    count = np.full(values.shape, bits, np.uint32)
    rest = values.copy()
    while rest.any():
        count -= (rest != 0).astype(np.uint32)
        rest >>= rest.dtype.type(1)
    return count


def _reversed(values: Array) -> Array:
    """Return the bits of every number in reverse order."""
    flat = np.ascontiguousarray(np.atleast_1d(values))
    width = flat.dtype.itemsize
    bits = np.unpackbits(flat.view(np.uint8).reshape(-1, width), axis=1, bitorder="little")
    turned = np.packbits(bits[:, ::-1], axis=1, bitorder="little")
    return np.ascontiguousarray(turned).view(flat.dtype).reshape(np.shape(values))


@rule("brev")
def _reverse(instruction: Instruction, decoder: Decoder) -> Plain:
    return apply(decoder, instruction, _reversed, instruction.type)


@rule("popc", "clz")
def _count(instruction: Instruction, decoder: Decoder) -> Plain:
    kind = instruction.type
    bits = 8 * WIDTHS[kind]
    out, x = instruction.operands
    write, value = decoder.write(out, "u32"), decoder.read(x, kind)
    if instruction.op == "popc":
        return lambda m: write(m, np.bitwise_count(value(m)).astype(np.uint32))
    return lambda m: write(m, leading_zeros(np.atleast_1d(value(m)), bits))


@rule("prmt")
def _permute(instruction: Instruction, decoder: Decoder) -> Plain:
    if instruction.modifiers != ("b32",):
        raise UnsupportedPtx(f"prmt.{'.'.join(instruction.modifiers)}")

    def function(x: Array, y: Array, selector: Array) -> Array:
        both = x.astype(np.uint64) | (y.astype(np.uint64) << np.uint64(32))
        found = np.zeros(np.shape(both | selector), np.uint32)
        for number in range(4):
            choice = (selector >> np.uint32(4 * number)) & np.uint32(15)
            byte = (both >> (8 * (choice & 7)).astype(np.uint64)) & np.uint64(255)
            sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
            byte = np.where(choice & 8, sign, byte)
            found |= byte.astype(np.uint32) << np.uint32(8 * number)
        return found

    return apply(decoder, instruction, function, "b32")


@rule("lop3")
def _logic_of_three(instruction: Instruction, decoder: Decoder) -> Plain:
    out, x, y, z, table_text = instruction.operands
    table = decoder.number(table_text)
    write = decoder.write(out, "b32")
    reads = [decoder.read(each, "b32") for each in (x, y, z)]

    def plain(m: Machine) -> None:
        values = [read(m) for read in reads]
        found = np.zeros(np.shape(values[0] | values[1] | values[2]), np.uint32)
        for row in range(8):
            if table >> row & 1:
                parts = [
                    value if row >> 2 - place & 1 else ~value for place, value in enumerate(values)
                ]
                found |= parts[0] & parts[1] & parts[2]
        write(m, found)

    return plain


@rule("dp4a")
def _dot_of_four(instruction: Instruction, decoder: Decoder) -> Plain:
    kinds = [np.int8 if kind == "s32" else np.uint8 for kind in instruction.modifiers]
    out, x, y, z = instruction.operands
    is_signed = "s32" in instruction.modifiers
    kind = "s32" if is_signed else "u32"
    write, third = decoder.write(out, kind), decoder.read(z, kind)
    first, second = decoder.read(x, "b32"), decoder.read(y, "b32")

    def plain(m: Machine) -> None:
        wide = np.int32 if is_signed else np.uint32
        parts = [
            np.ascontiguousarray(np.atleast_1d(read(m))).view(each).reshape(-1, 4).astype(wide)
            for read, each in zip((first, second), kinds, strict=True)
        ]
        write(m, (parts[0] * parts[1]).sum(axis=1, dtype=wide) + third(m))

    return plain
