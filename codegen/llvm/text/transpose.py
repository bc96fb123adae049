"""Transpose a square block of elements in registers: a function in LLVM text.

For 32-bit elements and 4, 8 or 16 lanes: elements change places within the quarters of 128 bits
(two rounds of unpacking pairs of rows), then the quarters do, so that each shuffle is one
instruction on x86 and NEON; of fewer rows, if more than a few, the columns are stored under a mask.
Others are unpacked in pairs of rows as often as the lanes can be halved. Few rows whose columns lie
without gaps become as many vectors, each of which takes from all, and the other way round for few
columns. Blocks at an edge go element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .build import Shape, Text
from .masked import masked_read, masked_store

FEW, WORD = 8, 32
"""Rows or columns that are few: each of as many vectors takes from all; and the bits of elements of
which blocks of any number are turned."""


Side: TypeAlias = "tuple[int | None, int | None]"
"""How many rows or columns there are, and how far apart those of the other kind lie, if known."""


@dataclass(frozen=True)
class BlockSize:
    """The sizes of a block: as many rows and columns as lanes, or less of one."""

    rows: int
    columns: int

    @classmethod
    def of(cls, shape: Shape, rows: Side, columns: Side) -> BlockSize:
        """Return the size that there is a form for: few have to lie without gaps."""
        lanes = shape.lanes
        sizes = [
            count
            if count and count < lanes and (step == count if count <= FEW else shape.bits == WORD)
            else lanes
            for count, step in (rows, columns)
        ]
        return cls(lanes, lanes) if max(sizes) < lanes else cls(*sizes)


def transpose_function(text: Text, shape: Shape, block: BlockSize) -> str:
    """Have the function for blocks of a size in the module; return its name."""
    lanes = shape.lanes
    few = "" if block.rows == block.columns else f"_{block.rows}x{block.columns}"
    name = f"gv_transpose_{shape.element}_{lanes}{few}"
    if name not in text.functions:
        inner = Text()
        if few or (lanes > 1 and lanes & (lanes - 1) == 0):
            _whole_or_part(inner, shape, block)
        else:
            _element_by_element(inner, shape)
        text.declarations.update(inner.declarations)
        text.functions[name] = "\n".join(
            [
                f"define internal void @{name}(ptr %src, i64 %ls, ptr %dst, i64 %ld, i64 %rows,"
                " i64 %columns) noinline #0 {",
                "entry:",
                *inner.lines,
                "}",
            ]
        )
    return name


def _whole_or_part(text: Text, shape: Shape, block: BlockSize) -> None:
    """Emit the test for whole blocks, their shuffles, and the loop for all others."""
    whole, part = text.fresh_label(), text.fresh_label()
    rows = text.value(f"icmp eq i64 %rows, {block.rows}")
    columns = text.value(f"icmp eq i64 %columns, {block.columns}")
    both = text.value(f"and i1 {rows}, {columns}")
    text.line(f"br i1 {both}, label %{whole}, label %{part}")
    text.label(whole)
    align, lanes = shape.bits // 8, shape.lanes
    some, few_columns = FEW < block.columns < lanes, block.columns <= min(FEW, lanes - 1)
    apart, count = (str(lanes), block.columns) if few_columns else ("%ls", block.rows)
    pointers = [_row(text, shape, "%src", apart, r) for r in range(count)]
    loaded = [
        masked_read(text, shape, pointer, _first(shape, block.columns), "zeroinitializer")
        if some
        else text.value(f"load {shape.name}, ptr {pointer}, align {align}")
        for pointer in pointers
    ]
    distance = "%ld"
    if few_columns:
        made = parted(text, shape, loaded)
    elif some:
        made = network(text, shape, loaded)[: block.columns]
    elif FEW < block.rows < lanes:
        made = network(text, shape, [*loaded, *["zeroinitializer"] * (lanes - block.rows)])
    elif block.rows < lanes:
        made, distance = interleaved(text, shape, loaded), str(lanes)
    elif shape.bits == 32 and lanes in (4, 8, 16):
        made = network(text, shape, loaded)
    else:
        made = unpacked(text, shape, loaded)
    for r, column in enumerate(made):
        pointer = _row(text, shape, "%dst", distance, r)
        if FEW < block.rows < lanes:
            masked_store(text, shape, column, pointer, _first(shape, block.rows))
        else:
            text.line(f"store {shape.name} {column}, ptr {pointer}, align {align}")
    text.line("ret void")
    text.label(part)
    _element_by_element(text, shape)


def _first(shape: Shape, count: int) -> str:
    """Return the mask of the first lanes."""
    bits = ", ".join(f"i1 {'true' if lane < count else 'false'}" for lane in range(shape.lanes))
    return f"<{bits}>"


def unpacked(text: Text, shape: Shape, rows: Sequence[str]) -> list[str]:
    """Return the columns of as many rows as lanes: the halves of them alternate, and again."""
    half, made = len(rows) // 2, list(rows)
    low = [each for lane in range(half) for each in (lane, half * 2 + lane)]
    high = [lane + half for lane in low]
    for _ in range(half.bit_length()):
        pairs = zip(made[:half], made[half:], strict=True)
        made = [_shuffle(text, shape, x, y, lanes) for x, y in pairs for lanes in (low, high)]
    return made


def parted(text: Text, shape: Shape, vectors: Sequence[str]) -> list[str]:
    """Return the columns of rows that lie one behind the other, in as many vectors as columns."""
    lanes, count = range(shape.lanes), len(vectors)
    return [
        _gathered(text, shape, vectors, [divmod(lane * count + c, shape.lanes) for lane in lanes])
        for c in range(count)
    ]


def interleaved(text: Text, shape: Shape, rows: Sequence[str]) -> list[str]:
    """Return the columns of a few rows, one behind the other, as many vectors."""
    count = len(rows)
    places = [(at % count, at // count) for at in range(shape.lanes * count)]
    return [
        _gathered(text, shape, rows, places[first : first + shape.lanes])
        for first in range(0, len(places), shape.lanes)
    ]


def _gathered(
    text: Text, shape: Shape, vectors: Sequence[str], places: Sequence[tuple[int, int]]
) -> str:
    """Return a vector whose lanes are those of some vectors, by the number and lane of each."""
    made = vectors[0]
    for number in range(1, len(vectors)):
        chosen = [
            shape.lanes + lane if vector == number else lane if number == 1 else own
            for own, (vector, lane) in enumerate(places)
        ]
        made = _shuffle(text, shape, made, vectors[number], chosen)
    return made


def _row(text: Text, shape: Shape, first: str, distance: str, number: int) -> str:
    offset = text.value(f"mul i64 {distance}, {number}")
    return text.value(f"getelementptr {shape.element}, ptr {first}, i64 {offset}")


def _shuffle(text: Text, shape: Shape, x: str, y: str, lanes: Sequence[int]) -> str:
    chosen = ", ".join([f"i32 {lane}" for lane in lanes])
    kind = shape.name
    return text.value(f"shufflevector {kind} {x}, {kind} {y}, <{len(lanes)} x i32> <{chosen}>")


def _within_quarters(lanes: int, pattern: Sequence[int]) -> list[int]:
    """Return the lanes of two vectors that `pattern` takes in each quarter (4 to 7: of y)."""
    return [
        first + lane % 4 + (lanes if lane >= 4 else 0)
        for first in range(0, lanes, 4)
        for lane in pattern
    ]


def _of_quarters(quarters: Sequence[int]) -> list[int]:
    """Return the lanes of whole quarters."""
    return [4 * quarter + lane for quarter in quarters for lane in range(4)]


def network(text: Text, shape: Shape, rows: Sequence[str]) -> list[str]:
    """Return the columns of `shape.lanes` rows of as many 32-bit elements."""
    lanes = shape.lanes
    low, high = ([0, 4, 1, 5], [2, 6, 3, 7])
    pairs = list(rows)
    for r in range(0, lanes, 2):
        x, y = rows[r : r + 2]
        pairs[r : r + 2] = [
            _shuffle(text, shape, x, y, _within_quarters(lanes, each)) for each in (low, high)
        ]
    low, high = ([0, 1, 4, 5], [2, 3, 6, 7])
    quads = list(pairs)
    for r in range(0, lanes, 4):
        a, b, c, d = pairs[r : r + 4]
        quads[r : r + 4] = [
            _shuffle(text, shape, x, y, _within_quarters(lanes, each))
            for x, y in ((a, c), (b, d))
            for each in (low, high)
        ]
    # Now quarter q of quads[4 * p + i] is column 4 * q + i of rows 4 * p to 4 * p + 3.
    if lanes == 4:
        return quads
    result = [""] * lanes
    for i in range(4):
        column = quads[i::4]
        for q, vector in enumerate(_transpose_quarters(text, shape, column)):
            result[4 * q + i] = vector
    return result


def _transpose_quarters(text: Text, shape: Shape, rows: Sequence[str]) -> list[str]:
    """Transpose 2 rows of 2 quarters, or 4 of 4."""

    def shuffle(x: str, y: str, quarters: Sequence[int]) -> str:
        return _shuffle(text, shape, x, y, _of_quarters(quarters))

    if len(rows) == 2:
        return [shuffle(rows[0], rows[1], each) for each in ((0, 2), (1, 3))]
    a, b, c, d = rows
    even, odd = (0, 2, 4, 6), (1, 3, 5, 7)
    first = [shuffle(x, y, even) for x, y in ((a, b), (c, d))]
    second = [shuffle(x, y, odd) for x, y in ((a, b), (c, d))]
    ways = ((even, first), (even, second), (odd, first), (odd, second))
    return [shuffle(x, y, quarters) for quarters, (x, y) in ways]


def _element_by_element(text: Text, shape: Shape) -> None:
    """Emit two loops, and return from the function."""
    column, row, next_column, done = (text.fresh_label() for _ in range(4))
    start, element, align = text.block, shape.element, shape.bits // 8
    some_rows = text.value("icmp sgt i64 %rows, 0")
    some_columns = text.value("icmp sgt i64 %columns, 0")
    some = text.value(f"and i1 {some_rows}, {some_columns}")
    text.line(f"br i1 {some}, label %{column}, label %{done}")
    text.label(column)
    j, following_j, i, following_i = (text.fresh() for _ in range(4))
    text.define(j, f"phi i64 [ 0, %{start} ], [ {following_j}, %{next_column} ]")
    target = text.value(f"mul i64 {j}, %ld")
    text.line(f"br label %{row}")
    text.label(row)
    text.define(i, f"phi i64 [ 0, %{column} ], [ {following_i}, %{row} ]")
    source = text.value(f"mul i64 {i}, %ls")
    source = text.value(f"add i64 {source}, {j}")
    pointer = text.value(f"getelementptr {element}, ptr %src, i64 {source}")
    loaded = text.value(f"load {element}, ptr {pointer}, align {align}")
    place = text.value(f"add i64 {target}, {i}")
    pointer = text.value(f"getelementptr {element}, ptr %dst, i64 {place}")
    text.line(f"store {element} {loaded}, ptr {pointer}, align {align}")
    text.define(following_i, f"add i64 {i}, 1")
    more = text.value(f"icmp slt i64 {following_i}, %rows")
    text.line(f"br i1 {more}, label %{row}, label %{next_column}")
    text.label(next_column)
    text.define(following_j, f"add i64 {j}, 1")
    more = text.value(f"icmp slt i64 {following_j}, %columns")
    text.line(f"br i1 {more}, label %{column}, label %{done}")
    text.label(done)
    text.line("ret void")
