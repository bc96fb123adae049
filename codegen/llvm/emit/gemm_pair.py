"""The micro-kernel of `gvk.gemm_pair`: a row by a panel, and rows by a vector in the same loop.

The row reads a vector of the panel for each multiplication, and so waits for L2; the rows read one
for all of them, and wait for the multipliers. Each step of k has both, so that neither waits: in
1.2 ms, where one after the other takes 1.5, 100 steps of 256 x 1024 weights twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation

from ....ir.dialects.kernel import GemmPair, Tile
from ....target import Target
from ..text.build import Shape, Text
from .emitter import Emit, Emitter
from .float import multiply_add
from .memory import address, prefetch
from .vector import splat


def _gemm_pair(e: Emitter, op: Operation) -> None:
    assert isinstance(op, GemmPair)
    a, b, c, x, w, g, bias = (
        f"ptr {address(e, memref, e.names[offset])}"
        for memref, offset in (
            (op.a, op.a_offset), (op.b, op.b_offset), (op.c, op.c_offset), (op.x, op.x_offset),
            (op.w, op.w_offset), (op.g, op.g_offset), (op.bias, op.bias_offset),
        )
    )  # fmt: skip
    ldb, ldx, ldw, ldg, k, step = (
        f"i64 {e.names[each]}" for each in (op.ldb, op.ldx, op.ldw, op.ldg, op.k, op.a_step)
    )
    name = pair_function(e.text, e.target, Shape(e.stored(op.c).element, op.tile.lanes), op.tile)
    arguments = (a, step, b, ldb, c, x, ldx, w, ldw, g, ldg, bias, k)
    e.text.line(f"call void @{name}({', '.join(arguments)})")


def pair_function(text: Text, target: Target, shape: Shape, tile: Tile) -> str:
    """Have the function of a tile in the module, and return its name."""
    name = f"gv_pair_{shape.element}_{tile.rows}x{tile.vectors}x{tile.lanes}"
    if name not in text.functions:
        inner = Text()
        Pair(inner, target, shape, tile).emit()
        text.declarations.update(inner.declarations)
        lines = (
            f"define internal void @{name}(ptr %a, i64 %step, ptr %b, i64 %ldb, ptr %c, ptr %x,"
            " i64 %ldx, ptr %w, i64 %ldw, ptr %g, i64 %ldg, ptr %bias, i64 %k) noinline #0 {",
            "entry:",
            *inner.lines,
            "}",
        )
        text.functions[name] = "\n".join(lines)
    return name


class Pair:
    """The emission of one function."""

    def __init__(self, text: Text, target: Target, shape: Shape, tile: Tile) -> None:
        self.text, self.target, self.shape, self.tile = text, target, shape, tile
        needed = tile.vectors + tile.rows + 3
        assert needed <= target.registers, (
            f"gvk.gemm_pair: {tile} needs {needed} registers, {target} has {target.registers}"
        )

    def emit(self) -> None:
        """Emit the body of the function."""
        text, tile = self.text, self.tile
        self.rows = [self.beyond("%x", self.times("%ldx", r)) for r in range(tile.rows)]
        results = [self.beyond("%g", self.times("%ldg", r)) for r in range(tile.rows)]
        for result in results:
            prefetch(text, result, write=True, locality=3)
        first = ["zeroinitializer"] * tile.vectors + [self.load("%bias")] * tile.rows
        some, loop, end = text.value("icmp sgt i64 %k, 0"), text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {some}, label %{loop}, label %{end}")
        text.label(loop)
        last = self.turn(loop, end, first)
        text.label(end)
        sums = [
            text.value(f"phi {self.shape.name} [ {a}, %entry ], [ {b}, %{loop} ]")
            for a, b in zip(first, last, strict=True)
        ]
        places = [self.beyond("%c", j * tile.lanes) for j in range(tile.vectors)] + results
        for total, place in zip(sums, places, strict=True):
            text.line(f"store {self.shape.name} {total}, ptr {place}, align {self.align}")
        text.line("ret void")

    def turn(self, loop: str, end: str, first: Sequence[str]) -> Sequence[str]:
        """Emit one step of k; return the sums behind it."""
        text, kind = self.text, self.shape.name
        names = [text.fresh() for _ in range(4)]
        following = [text.fresh() for _ in names]
        rows = zip(("i64", *["ptr"] * 3), ("0", "%a", "%b", "%w"), names, following, strict=True)
        for type_, start, name, later in rows:
            text.define(name, f"phi {type_} [ {start}, %entry ], [ {later}, %{loop} ]")
        sums = [text.fresh() for _ in first]
        place = len(text.lines)
        number, a, b, w = names
        later_sums = self.multiplied(number, (a, b, w), sums)
        text.lines[place:place] = [
            f"  {name} = phi {kind} [ {start}, %entry ], [ {later}, %{loop} ]"
            for name, start, later in zip(sums, first, later_sums, strict=True)
        ]
        text.define(following[0], f"add i64 {number}, 1")
        for name, pointer, distance in zip(
            following[1:], (a, b, w), ("%step", "%ldb", "%ldw"), strict=True
        ):
            text.define(name, f"getelementptr {self.shape.element}, ptr {pointer}, i64 {distance}")
        again = text.value(f"icmp slt i64 {following[0]}, %k")
        text.line(f"br i1 {again}, label %{loop}, label %{end}")
        return later_sums

    def multiplied(
        self, number: str, pointers: tuple[str, str, str], sums: Sequence[str]
    ) -> Sequence[str]:
        """Emit the multiplications of a step, those of both products by turns."""
        vectors, (a, b, w) = self.tile.vectors, pointers
        factor, vector = self.splat(a), self.load(w)
        made: dict[int, str] = {}
        for turn in range(max(vectors, self.tile.rows)):
            if turn < vectors:
                column = self.load(self.beyond(b, turn * self.tile.lanes))
                made[turn] = self.add((factor, column, sums[turn]))
            if turn < self.tile.rows:
                row = self.splat(self.beyond(self.rows[turn], number))
                made[vectors + turn] = self.add((row, vector, sums[vectors + turn]))
        return [made[each] for each in range(len(sums))]

    @property
    def align(self) -> int:
        """Return the bytes of an element."""
        return self.shape.bits // 8

    def add(self, operands: tuple[str, str, str]) -> str:
        """Return x * y + z."""
        return multiply_add(self.text, self.target, self.shape, operands)

    def load(self, pointer: str) -> str:
        """Return a vector."""
        return self.text.value(f"load {self.shape.name}, ptr {pointer}, align {self.align}")

    def splat(self, pointer: str) -> str:
        """Return a vector of one element in memory."""
        element = self.text.value(f"load {self.shape.element}, ptr {pointer}, align {self.align}")
        return splat(self.text, self.shape, element)

    def beyond(self, pointer: str, distance: str | int) -> str:
        """Return the address of an element."""
        if distance == 0:
            return pointer
        return self.text.value(f"getelementptr {self.shape.element}, ptr {pointer}, i64 {distance}")

    def times(self, distance: str, factor: int) -> str | int:
        """Return a multiple of a distance."""
        return self.text.value(f"mul i64 {distance}, {factor}") if factor else 0


PAIRS: Mapping[str, Emit] = {"gvk.gemm_pair": _gemm_pair}
"""The emitter of the operation."""
