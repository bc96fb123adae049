"""Which elements the register tiles of products touch: places, and how far they are walked from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from xdsl.ir import Operation, SSAValue

from ...ir.dialects.kernel import GemmPair, GemmTile, LibraryGemm, TransposeTile


class Amount(NamedTuple):
    """A number: a factor, times a value if there is one, which counts as `most` at the most."""

    factor: int = 1
    value: SSAValue | None = None
    most: int | None = None


class Walk(NamedTuple):
    """So many elements from a place on, and from each place that some steps lead to."""

    buffer: SSAValue
    offset: SSAValue
    steps: tuple[tuple[Amount, Amount], ...]
    """How often, and how far."""
    length: int = 1


Walks: TypeAlias = Callable[[Any], Iterator[Walk]]
ONE = Amount()
AHEAD = 15
"""Operands of a tile before those that say where lines lie which are asked for ahead."""


def _gemm_tile(op: GemmTile) -> Iterator[Walk]:
    tile = op.tile
    rows, width, dots = Amount(tile.rows), tile.vectors * tile.lanes, tile.dots
    # All at once: each by its name is looked for among segments, and tiles are many.
    (
        a, a_offset, lda, b, b_offset, ldb, c, c_offset, ldc,
        depth, parts, a_segment, b_segment, width_left, a_step,
    ) = op.operands[:AHEAD]  # fmt: skip
    segments, k = Amount(1, parts), Amount(1, depth)
    a_steps = (
        (rows, Amount(dots, lda)), (segments, Amount(dots, a_segment)), (k, Amount(dots, a_step)),
    )  # fmt: skip
    yield Walk(a, a_offset, a_steps, dots)
    grouped = 1 if dots == 8 else dots  # eight numbers are one word
    b_steps = ((segments, Amount(grouped, b_segment)), (k, Amount(grouped, ldb)))
    yield Walk(b, b_offset, b_steps, width * grouped)
    columns = Amount(1, width_left, width) if tile.masked else Amount(width)
    for buffer in (c, *(op.beside if tile.added else ())):
        yield Walk(buffer, c_offset, ((rows, Amount(1, ldc)), (columns, ONE)))
    for buffer, offset in zip(op.bias, op.bias_offset, strict=True):
        yield Walk(buffer, offset, ((columns, ONE),))


def _gemm_pair(op: GemmPair) -> Iterator[Walk]:
    tile = op.tile
    k, width, rows = Amount(1, op.k), tile.vectors * tile.lanes, Amount(tile.rows)
    yield Walk(op.a, op.a_offset, ((k, Amount(1, op.a_step)),))
    yield Walk(op.b, op.b_offset, ((k, Amount(1, op.ldb)),), width)
    yield Walk(op.c, op.c_offset, (), width)
    yield Walk(op.x, op.x_offset, ((rows, Amount(1, op.ldx)), (k, ONE)))
    yield Walk(op.w, op.w_offset, ((k, Amount(1, op.ldw)),), tile.lanes)
    yield Walk(op.g, op.g_offset, ((rows, Amount(1, op.ldg)),), tile.lanes)
    yield Walk(op.bias, op.bias_offset, (), tile.lanes)


def _transpose_tile(op: TransposeTile) -> Iterator[Walk]:
    rows, columns = Amount(1, op.rows), Amount(1, op.cols)
    yield Walk(op.src, op.src_offset, ((rows, Amount(1, op.ls)), (columns, ONE)))
    yield Walk(op.dst, op.dst_offset, ((columns, Amount(1, op.ld)), (rows, ONE)))


def _library_gemm(op: LibraryGemm) -> Iterator[Walk]:
    m, n, k = (Amount(1, each) for each in (op.m, op.n, op.k))
    transpose_a, transpose_b = op.transposed
    sizes = ((k, m) if transpose_a else (m, k), (n, k) if transpose_b else (k, n), (m, n))
    matrices = ((op.a, op.a_offset), (op.b, op.b_offset), (op.c, op.c_offset))
    for (buffer, offset), (rows, columns) in zip(matrices, sizes, strict=True):
        yield Walk(buffer, offset, ((rows, columns), (columns, ONE)))


WALKS: Mapping[str, Walks] = {
    "gvk.gemm_tile": _gemm_tile,
    "gvk.gemm_pair": _gemm_pair,
    "gvk.transpose_tile": _transpose_tile,
    "gvk.library_gemm": _library_gemm,
}
"""Operations that walk buffers in steps, and how."""


def walks_of(op: Operation) -> list[Walk]:
    """Return how an operation walks its buffers."""
    return list(WALKS[op.name](op))
