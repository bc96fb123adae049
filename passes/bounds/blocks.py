"""What operations of a GPU's blocks of threads touch, in memory that a launch or a block has.

Tensor maps are the hardware's: what lies outside of them is zero, or not written. What they bring
lies in the memory that a launch gives each block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...ir.dialects.gpu import SHARED_BYTES, CopyAsync, LoadMatrix, Shared
from ...ir.dialects.warpgroup import Staged, StoreTile, WarpgroupMultiply

VECTOR = 16
"""Bytes that a copy or a row of a matrix has."""
PANEL = 64
"""Elements of a row of a panel, and rows that a warpgroup stores."""


@dataclass(frozen=True)
class Reach:
    """So many elements from a place on, if `given` is a number above 0."""

    buffer: SSAValue
    at: SSAValue
    length: int
    given: SSAValue | None = None


def _copied(op: CopyAsync) -> Iterator[Reach]:
    count = elements(op.target, VECTOR)
    yield Reach(op.target, op.target_offset, count)
    yield Reach(op.source, op.source_offset, count, op.given)


def _matrix(op: LoadMatrix) -> Iterator[Reach]:
    yield Reach(op.memref, op.offset, elements(op.memref, VECTOR))


def _tile(op: StoreTile) -> Iterator[Reach]:
    yield Reach(op.memref, op.offset, PANEL * PANEL)


def _panels(op: WarpgroupMultiply) -> Iterator[Reach]:
    along = 8 * len(op.before) if op.turned.value.data else 16 * len(op.left)
    yield Reach(op.memref, op.offset, -(-along // PANEL) * op.panel.value.data * PANEL)


REACHES: Mapping[str, Callable[[Any], Iterator[Reach]]] = {
    "gvk.copy_async": _copied,
    "gvk.load_matrix": _matrix,
    "gvk.store_tile": _tile,
    "gvk.warpgroup_multiply": _panels,
}
"""Operations that read or write memory by one index for each part, and which elements."""


def reaches_of(op: Operation) -> list[Reach]:
    """Return which elements an operation reads and writes."""
    return list(REACHES[op.name](op))


def _stage(op: Staged, given: int) -> str:
    needed = op.tile.shared_bytes
    return f"{needed} bytes of stages in {given}" if needed > given else ""


def _shared(op: Shared, given: int) -> str:
    kind = op.result.type
    assert isinstance(kind, MemRefType), "memory of a block"
    end = (op.at.value.data if op.at is not None else 0) + kind.get_shape()[0] * _bits(kind) // 8
    return f"memory up to byte {end} of {given}" if op.at is not None and end > given else ""


FIXED: Mapping[str, Callable[[Any, int], str]] = {
    "gvk.shared": _shared,
    "gvk.begin_stages": _stage,
    "gvk.bring_tiles": _stage,
    "gvk.warpgroup_product": _stage,
}
"""Operations that touch the same in each run, and what is wrong of the bytes that a block has."""


def given_to_blocks(function: FuncOp) -> int:
    """Return the bytes of memory that a launch gives each block."""
    row = function.attributes.get(SHARED_BYTES)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


def elements(memory: SSAValue, count: int) -> int:
    """Return how many elements so many bytes are."""
    assert isinstance(memory.type, MemRefType), f"{memory.type} is no memory"
    return count * 8 // _bits(memory.type)


def _bits(kind: MemRefType[Any]) -> int:
    return int(getattr(kind.element_type, "bitwidth", 8))
