"""Products of four warps: `wgmma`.

Operands lie in shared memory and are named by descriptors: where they begin, how far their blocks
are apart, and how they are swizzled. Products are done when they are waited for, so that operands
or sums that are touched too early come out wrong here as they may on hardware.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .faults import KernelFault, UnsupportedPtx
from .machine import Machine, Plain, Reader, Writer
from .matrix import element_bytes, elements
from .memory import Array
from .operands import Decoder
from .tensor_map import swizzled
from .text import Instruction
from .warp import WARPGROUP, together

_SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}


@dataclass
class Product:
    """A product that a warpgroup has begun."""

    lanes: Array
    group: int
    shape: tuple[int, int]
    """Columns of the result, and the inner size."""
    kinds: tuple[str, str, str]
    left: list[Reader] | Array
    """Registers, or a descriptor for each warpgroup."""
    right: Array
    turned: tuple[bool, bool]
    adds: Array
    signs: tuple[int, int]
    reads: list[Reader]
    writes: list[Writer]


@dataclass
class Products:
    """The products that warpgroups have begun, and how many groups each has closed."""

    waiting: list[Product]
    closed: dict[int, int]


def products(m: Machine) -> Products:
    """Return the products that have begun on a machine."""
    found = m.queues.get("products")
    if found is None:
        found = m.queues["products"] = Products([], {})
    assert isinstance(found, Products)
    return found


@together("wgmma")
def _warpgroup(instruction: Instruction, decoder: Decoder) -> tuple[Plain, Reader | None, int]:
    action = instruction.modifiers[0]
    if action == "mma_async":
        return _begin(instruction, decoder), None, WARPGROUP
    if action == "commit_group":
        return _close, None, WARPGROUP
    if action == "wait_group":
        count = decoder.number(instruction.operands[0])
        return (lambda m: _wait(m, count)), None, WARPGROUP
    if action == "fence":
        return (lambda m: None), None, WARPGROUP
    raise UnsupportedPtx(str(instruction))


def _begin(instruction: Instruction, decoder: Decoder) -> Plain:
    names = instruction.modifiers
    shape = next(each for each in names if re.fullmatch(r"m64n\d+k\d+", each))
    _, columns, inner = (int(size) for size in re.findall(r"\d+", shape))
    kinds = (names[-3], names[-2], names[-1])
    if inner * element_bytes(kinds[1]) != 32 or kinds[0] not in ("f32", "f16", "s32"):
        raise UnsupportedPtx(str(instruction))
    out, left, right, adds, *flags = instruction.operands
    stored = "b32" if kinds[0] == "f16" else kinds[0]
    reads, writes = decoder.reads(out, stored), decoder.writes(out, stored)
    from_registers = left.startswith("{")
    a = decoder.reads(left, "b32") if from_registers else [decoder.read(left, "b64")]
    b, scale = decoder.read(right, "b64"), decoder.read(adds, "pred" if adds[0] == "%" else "s32")
    numbers = [decoder.number(flag) for flag in flags]
    signs = (numbers[0], numbers[1]) if numbers else (1, 1)
    flips = [bool(number) for number in numbers[2:]]
    turned = (False if from_registers else (flips or [False])[0], (flips or [False])[-1])

    def plain(m: Machine) -> None:
        lanes = m.active()
        first = lanes.reshape(-1, WARPGROUP)[:, 0]
        queue = products(m)
        whole = np.broadcast_to(b(m), lanes.shape).reshape(-1, WARPGROUP)
        _check_same(whole)
        if from_registers:
            x: list[Reader] | Array = a
        else:
            x = np.broadcast_to(a[0](m), lanes.shape).reshape(-1, WARPGROUP)
            _check_same(x)
            x = x[:, 0]
        keep = np.broadcast_to(scale(m) != 0, lanes.shape).reshape(-1, WARPGROUP)[:, 0]
        for number, lane in enumerate(first.tolist()):
            mine = lanes.reshape(-1, WARPGROUP)[number]
            queue.waiting.append(
                Product(
                    mine,
                    queue.closed.get(lane, 0),
                    (columns, inner),
                    kinds,
                    x if isinstance(x, list) else x[number : number + 1],
                    whole[number, :1],
                    turned,
                    keep[number : number + 1],
                    signs,
                    reads,
                    writes,
                )
            )

    return plain


def _check_same(descriptors: Array) -> None:
    if (descriptors != descriptors[:, :1]).any():
        raise KernelFault("the threads of a warpgroup have different descriptors")


def _close(m: Machine) -> None:
    closed = products(m).closed
    for lane in m.active().reshape(-1, WARPGROUP)[:, 0].tolist():
        closed[lane] = closed.get(lane, 0) + 1


def _wait(m: Machine, count: int) -> None:
    """Do the products of the active warpgroups but for those of the last `count` groups."""
    queue = products(m)
    mine = set(m.active().reshape(-1, WARPGROUP)[:, 0].tolist())
    before, kept = m.lanes, []
    for product in queue.waiting:
        lane = int(product.lanes[0])
        if lane in mine and product.group < queue.closed.get(lane, 0) - count:
            m.lanes = product.lanes
            _multiply(m, product)
        else:
            kept.append(product)
    m.lanes = before
    queue.waiting = kept


def _multiply(m: Machine, product: Product) -> None:
    columns, inner = product.shape
    total, left_kind, right_kind = product.kinds
    if isinstance(product.left, list):
        x = _registers(m, product.left, left_kind)
    else:
        x = _tile(m, int(product.left[0]), (64, inner), left_kind, product.turned[0])
    y = _tile(m, int(product.right[0]), (columns, inner), right_kind, product.turned[1])
    found = product.signs[0] * x @ (product.signs[1] * y.T)
    # A row's 8 columns lie in 4 lanes, 8 rows in a warp, twice; then the next 8 columns.
    parts = found.reshape(4, 2, 8, columns // 8, 4, 2).transpose(0, 2, 4, 3, 1, 5)
    rows = parts.reshape(WARPGROUP, columns // 4, 2)
    if total == "f16":
        _add_halves(m, product, rows)
        return
    flat = rows.reshape(WARPGROUP, columns // 2)
    for number, (read, write) in enumerate(zip(product.reads, product.writes, strict=True)):
        before = read(m) if product.adds[0] else np.zeros(WARPGROUP, np.int32)
        if total == "s32":
            write(m, (flat[:, number].astype(np.int64) + before).astype(np.int32))
        else:
            write(m, (flat[:, number] + before).astype(np.float32))


def _add_halves(m: Machine, product: Product, rows: Array) -> None:
    for number, (read, write) in enumerate(zip(product.reads, product.writes, strict=True)):
        before = np.ascontiguousarray(read(m)).view(np.float16).reshape(-1, 2).astype(np.float32)
        added = rows[:, number] + (before if product.adds[0] else np.float32(0))
        write(m, np.ascontiguousarray(added.astype(np.float16)).view(np.uint32).reshape(-1))


def _registers(m: Machine, reads: list[Reader], kind: str) -> Array:
    """Return the left operand that lies in registers: 16 rows of each warp."""
    blocks = [elements(kind, read(m).reshape(4, 32)).reshape(4, 8, -1) for read in reads]
    sides = [np.concatenate(blocks[at : at + 2], axis=1) for at in (0, 2)]
    return np.concatenate(sides, axis=2).reshape(64, -1)


def _tile(m: Machine, descriptor: int, shape: tuple[int, int], kind: str, turned: bool) -> Array:
    """Return the rows (of which each has the inner axis) that a descriptor names."""
    size = element_bytes(kind)
    places = places_of(descriptor, shape, size, turned)
    lane = int(m.active()[0])
    if int(places.max()) + size > m.shared.size:
        raise KernelFault("a descriptor of wgmma reaches out of shared memory")
    base = int(m.block_of[lane]) * m.shared.stride
    if m.races is not None:
        units = np.unique((base + places).reshape(-1) // 16 * 16)
        m.races.multiply(int(m.block_of[lane]), np.unique(m.warp_of[m.active()]), units)
    view = m.shared.data.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[size])
    return elements(kind, view[(base + places) // size]).reshape(shape)


def places_of(descriptor: int, shape: tuple[int, int], size: int, turned: bool) -> Array:
    """Return where element [row, inner] of an operand is, from the start of shared memory.

    Pieces of 8 rows and 16 bytes are 128 bytes together without a swizzle; with one, rows of
    `swizzle` bytes follow each other. `turned` operands have rows and inner axis exchanged.
    """
    start, leading, stride = ((descriptor >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    swizzle = _SWIZZLES[descriptor >> 62]
    row, inner = np.indices(shape)
    if turned:
        return _turned_places(start, (leading, stride), swizzle, (row, inner), size)
    along = inner * size
    if swizzle == 0:
        offset = row // 8 * stride + row % 8 * 16 + along // 16 * leading + along % 16
        return np.asarray(start + offset)
    offset = row // 8 * stride + row % 8 * swizzle + along
    return swizzled(start + offset, swizzle)


def _turned_places(
    start: int, apart: tuple[int, int], swizzle: int, index: tuple[Array, Array], size: int
) -> Array:
    """Return the same for an operand whose rows are contiguous."""
    leading, stride = apart
    row, inner = index
    if swizzle == 0:
        raise UnsupportedPtx("transposed operands of wgmma without a swizzle")
    width = swizzle // size
    offset = row // width * leading + inner // 8 * stride + inner % 8 * swizzle + row % width * size
    return swizzled(start + offset, swizzle)
