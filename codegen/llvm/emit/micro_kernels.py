"""The micro-kernels of `gvk`: internal functions, made once a module for each specialisation.

`gemm_tile` keeps `rows * vectors` accumulators in registers through one loop over k, reads A as
scalars straight from its rows and B as vectors, and is unrolled twice. Everything but the tile
is told at run time, so one function serves all shapes; that there is one segment, or that k is
even, is seen in the IR and leaves out a third of LLVM's work.

Being functions that are not inlined, they have the registers to themselves: LLVM spills nothing
as long as the accumulators, one row of B and one element of A fit (`rows * vectors + vectors + 1`
registers), and loses half the speed beyond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from struct import pack

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from ....ir.dialects.kernel import GemmTile, LibraryGemm, Tile
from ....target import Target
from ..text.build import Shape, Text
from ..text.masked import masked_store
from ..text.transpose import BlockSize, transpose_function
from .emitter import Emit, Emitter, known_integer
from .float import extreme, multiply_add
from .memory import address, masked_load, prefetch
from .vector import first_lanes, splat

DOTS = {
    2: ("llvm.x86.avx512bf16.dpbf16ps.512", "<{} x bfloat>"),
    4: ("llvm.x86.avx512.vpdpbusd.512", "<{} x i32>"),
}
"""The instruction for groups of so many neighbours, and what it takes."""

LINE = 64
"""Bytes of a cache line."""

Accumulators = Sequence[str]


def _gemm_tile(e: Emitter, op: Operation) -> None:
    assert isinstance(op, GemmTile)
    a, a_offset, lda, b, b_offset, ldb, c, c_offset, ldc, *sizes = op.operands
    sizes = [*sizes[:6], *op.ahead]
    k = known_integer(sizes[0])
    form = GemmForm(
        op.tile,
        single=known_integer(sizes[1]) == 1,
        even=k is not None and k > 0 and k % 2 == 0,
        stored=e.stored(b).element,
        beside=len(op.beside) > 0,
        bias=len(op.bias) > 0,
    )
    function = gemm_function(e.text, e.target, e.stored(c).element, form)
    arguments = []
    for memref, offset, distance in ((a, a_offset, lda), (b, b_offset, ldb), (c, c_offset, ldc)):
        arguments.append(f"ptr {address(e, memref, e.names[offset])}, i64 {e.names[distance]}")
    arguments.extend(f"i64 {e.names[size]}" for size in sizes)
    arguments.extend(f"ptr {address(e, each, e.names[c_offset])}" for each in op.beside)
    arguments.extend(
        f"ptr {address(e, bias, e.names[at])}"
        for bias, at in zip(op.bias, op.bias_offset, strict=True)
    )
    e.text.line(f"call void @{function}({', '.join(arguments)})")


@dataclass(frozen=True)
class GemmForm:
    """What a `gemm_tile` function is specialised on."""

    tile: Tile
    single: bool = False
    """There is one segment."""
    even: bool = False
    """k is even and not 0."""
    stored: str = ""
    """The element type of B, if it is another than that of the sums."""
    beside: bool = False
    """Another buffer is asked for where C lies in its own."""
    bias: bool = False
    """A row is added to those of the tile."""

    @property
    def suffix(self) -> str:
        """Return the form as part of a name."""
        tile = self.tile
        flags = {"a": tile.accumulate, "m": tile.masked, "s": self.single, "e": self.even}
        flags["b"], flags["i"], flags["r"] = self.beside, self.bias, tile.added
        for name, bound in (("l", tile.low), ("u", tile.high)):
            bits = pack(">d", 0.0 if bound is None else bound).hex()
            flags[name + bits.rstrip("0")] = bound is not None
        flags[f"d{tile.dots}"] = tile.dots > 1
        flags[f"p{tile.ahead}"] = tile.ahead > 0
        letters = "".join(letter for letter, holds in flags.items() if holds)
        return f"{tile.rows}x{tile.vectors}x{tile.lanes}{letters}"


def adds_up(target: Target, tile: Tile) -> bool:
    """Say whether the machine has the instruction for the groups of a tile."""
    feature = {2: "avx512bf16", 4: "avx512vnni"}[tile.dots]
    return tile.lanes == target.lanes == 16 and target.has(feature)


PAIRS = {
    4: "llvm.x86.sse2.pmadd.wd",
    8: "llvm.x86.avx2.pmadd.wd",
    16: "llvm.x86.avx512.pmaddw.d.512",
}
"""The instruction that adds up products of pairs of i16, by the sums in a vector."""


def parted(text: Text, target: Target, words: Shape, value: str, *, signed: bool) -> Sequence[str]:
    """Return words of four bytes as two vectors of pairs of i16, or as four of i32."""
    pairs = target.triple.startswith("x86_64")
    shape = Shape("i16", 2 * words.lanes) if pairs else words
    if pairs:
        value = text.value(f"bitcast {words.name} {value} to {shape.name}")
    down = "ashr" if signed else "lshr"
    made = []
    for shift in range(shape.bits - 8, -1, -8):
        top = text.value(f"shl {shape.name} {value}, {shape.splat(shift)}") if shift else value
        made.append(text.value(f"{down} {shape.name} {top}, {shape.splat(shape.bits - 8)}"))
    return made


def part_product(text: Text, target: Target, words: Shape, pair: tuple[str, str]) -> str:
    """Return the products of two parts of words, added up in each word."""
    a, b = pair
    if not target.triple.startswith("x86_64"):
        return text.value(f"mul {words.name} {a}, {b}")
    name, halves = PAIRS[words.lanes], Shape("i16", 2 * words.lanes).name
    text.declare(f"declare {words.name} @{name}({halves}, {halves})")
    return text.value(f"call {words.name} @{name}({halves} {a}, {halves} {b})")


def halves_of(text: Text, target: Target, words: Shape, value: str) -> list[str]:
    """Return words of two i16 as a vector of pairs, or as one of each half in i32."""
    if target.triple.startswith("x86_64"):
        halves = Shape("i16", 2 * words.lanes)
        return [text.value(f"bitcast {words.name} {value} to {halves.name}")]
    top = text.value(f"shl {words.name} {value}, {words.splat(16)}")
    return [text.value(f"ashr {words.name} {each}, {words.splat(16)}") for each in (top, value)]


def gemm_function(text: Text, target: Target, element: str, form: GemmForm) -> str:
    """Have the function of a form in the module, and return its name."""
    if form.stored == element or form.tile.dots > 1:
        form = replace(form, stored="")
    name = f"gv_gemm_{element}{form.stored}_{form.suffix}"
    if name not in text.functions:
        inner = Text()
        Gemm(inner, target, Shape(element, form.tile.lanes), form).emit()
        text.declarations.update(inner.declarations)
        text.functions[name] = "\n".join(
            [
                f"define internal void @{name}(ptr %a, i64 %lda, ptr %b, i64 %ldb, ptr %c,"
                " i64 %ldc, i64 %k, i64 %segments, i64 %a_segment, i64 %b_segment,"
                " i64 %columns, i64 %a_step"
                f"{', i64 %ahead' if form.tile.ahead else ''}"
                f"{', ptr %beside' if form.beside else ''}"
                f"{', ptr %bias' if form.bias else ''}) noinline #0 {{",
                "entry:",
                *inner.lines,
                "}",
            ]
        )
    return name


class Gemm:
    """The emission of one `gemm_tile` function."""

    def __init__(self, text: Text, target: Target, shape: Shape, form: GemmForm) -> None:
        tile = form.tile
        self.text = text
        self.target = target
        self.shape = shape
        self.form = form
        self.tile = tile
        self.places = [(r, j) for r in range(tile.rows) for j in range(tile.vectors)]
        parts = -(-shape.bits * tile.lanes // (32 * target.lanes))
        needed = (tile.rows * tile.vectors + tile.vectors + 1) * parts
        assert needed <= target.registers, (
            f"gvk.gemm_tile: {tile} needs {needed} registers, {target} has {target.registers}"
        )
        self.rows: list[str] = []
        self.end: str | int = 0

    def emit(self) -> None:
        """Emit the body of the function."""
        text = self.text
        self.rows = [self._offset_a("%a", self._times("%lda", r)) for r in range(self.tile.rows)]
        self.end = self._times("%ldc", self.tile.rows)
        initial = self._load() if self.tile.accumulate else self._first()
        if self.form.single:
            self._store(self._sum("0", "%b", initial))
        else:
            segment, done = text.fresh_label(), text.fresh_label()
            some = text.value("icmp sgt i64 %segments, 0")
            text.line(f"br i1 {some}, label %{segment}, label %{done}")
            last, end = self._segments(segment, done, initial)
            text.label(done)
            self._store(self._phis([("entry", initial), (end, last)]))
        text.line("ret void")

    def _segments(self, segment: str, done: str, initial: Accumulators) -> tuple[Accumulators, str]:
        """Emit the loop over segments; return the sums and the block that leaves it."""
        text = self.text
        text.label(segment)
        number, following = text.fresh(), text.fresh()
        sums = [text.fresh() for _ in self.places]
        place = len(text.lines)
        index = text.value(f"mul i64 {number}, %a_segment")
        panel = self._offset_b("%b", text.value(f"mul i64 {number}, %b_segment"))
        summed = self._sum(index, panel, sums)
        text.lines[place:place] = [
            f"  {number} = phi i64 [ 0, %entry ], [ {following}, %{text.block} ]",
            *[
                f"  {name} = phi {self.shape.name} [ {first}, %entry ], [ {last}, %{text.block} ]"
                for name, first, last in zip(sums, initial, summed, strict=True)
            ],
        ]
        text.define(following, f"add i64 {number}, 1")
        again = text.value(f"icmp slt i64 {following}, %segments")
        text.line(f"br i1 {again}, label %{segment}, label %{done}")
        return summed, text.block

    def _sum(self, index: str, panel: str, sums: Accumulators) -> Accumulators:
        """Emit the loop over k, two steps a turn, and the step that may be left."""
        text = self.text
        start, loop, tested = text.block, text.fresh_label(), text.fresh_label()
        first = self._offset_b(panel, "%ahead") if self.tile.ahead else ""
        pairs = text.value("ashr i64 %k, 1")
        if self.form.even:
            text.line(f"br label %{loop}")
        else:
            some = text.value(f"icmp sgt i64 {pairs}, 0")
            text.line(f"br i1 {some}, label %{loop}, label %{tested}")
        text.label(loop)
        counter, here, row = text.fresh(), text.fresh(), text.fresh()
        left, index_2, row_2 = text.fresh(), text.fresh(), text.fresh()
        inner = [text.fresh() for _ in self.places]
        place = len(text.lines)
        asked, asked_2, far, far_2 = (text.fresh() for _ in range(4))
        self._ask(far, asked)
        once = self._step(here, row, inner)
        middle = text.value(f"add i64 {here}, %a_step")
        twice = self._step(middle, self._offset_b(row, "%ldb"), once)
        end = text.block
        rows = [(counter, "i64", pairs, left), (here, "i64", index, index_2)]
        rows += [(row, "ptr", panel, row_2), (asked, "i64", "0", asked_2)]
        rows += [(n, self.shape.name, a, b) for n, a, b in zip(inner, sums, twice, strict=True)]
        if self.tile.ahead:
            rows.append((far, "ptr", first, far_2))
            text.define(far_2, f"getelementptr i8, ptr {far}, i64 {self.tile.ahead * LINE}")
        text.lines[place:place] = [
            f"  {name} = phi {kind} [ {first}, %{start} ], [ {last}, %{end} ]"
            for name, kind, first, last in rows
        ]
        text.define(asked_2, f"add i64 {asked}, %ldc")
        text.define(index_2, f"add i64 {middle}, %a_step")
        double = text.value("shl i64 %ldb, 1")
        element = self.form.stored or self.shape.element
        text.define(row_2, f"getelementptr {element}, ptr {row}, i64 {double}")
        text.define(left, f"sub i64 {counter}, 1")
        again = text.value(f"icmp sgt i64 {left}, 0")
        text.line(f"br i1 {again}, label %{loop}, label %{tested}")
        text.label(tested)
        if self.form.even:
            return twice
        here = text.value(f"phi i64 [ {index}, %{start} ], [ {index_2}, %{end} ]")
        row = text.value(f"phi ptr [ {panel}, %{start} ], [ {row_2}, %{end} ]")
        return self._last_step(here, row, self._phis([(start, sums), (end, twice)]))

    def _ask(self, far: str, asked: str) -> None:
        """Emit what asks for lines: of C and beside it a row each turn, and of what comes later.

        All at once would fill the queue of what is asked for, and what is multiplied would wait.
        What comes later goes into L2: L1 is full of what is used.
        """
        text, tile = self.text, self.tile
        some, done = text.fresh_label(), text.fresh_label()
        more = text.value(f"icmp slt i64 {asked}, {self.end}")
        text.line(f"br i1 {more}, label %{some}, label %{done}")
        text.label(some)
        for buffer in ("%c", "%beside")[: 1 + self.form.beside]:
            self._ask_row(self._offset(buffer, asked), write=buffer == "%c")
        text.line(f"br label %{done}")
        text.label(done)
        for number in range(tile.ahead):
            place = text.value(f"getelementptr i8, ptr {far}, i64 {number * LINE}")
            prefetch(text, place, write=False, locality=2)

    def _ask_row(self, row: str, *, write: bool) -> None:
        """Emit what asks for the lines of a row of the tile."""
        size = self.tile.lanes * self.shape.bits // 8
        for j in range(self.tile.vectors):
            if j * size % LINE < size:
                place = self._offset(row, j * self.tile.lanes)
                prefetch(self.text, place, write=write, locality=3)

    def _last_step(self, index: str, row: str, sums: Accumulators) -> Accumulators:
        """Emit the step that is left where k is odd."""
        text = self.text
        tested, odd, end = text.block, text.fresh_label(), text.fresh_label()
        bit = text.value("and i64 %k, 1")
        remains = text.value(f"icmp ne i64 {bit}, 0")
        text.line(f"br i1 {remains}, label %{odd}, label %{end}")
        text.label(odd)
        final = self._step(index, row, sums)
        text.line(f"br label %{end}")
        text.label(end)
        return self._phis([(tested, sums), (odd, final)])

    def _step(self, index: str, row: str, sums: Accumulators) -> list[str]:
        """Emit one step of k: a row of B, and of A an element of each row."""
        text, shape, tile = self.text, self.shape, self.tile
        align = shape.bits // 8
        vectors = [self._row(self._offset_b(row, j * tile.lanes)) for j in range(tile.vectors)]
        if tile.dots > 1:
            return self._dots(index, vectors, sums)
        result = []
        for r, pointer in enumerate(self.rows):
            place = self._offset(pointer, index)
            scalar = text.value(f"load {shape.element}, ptr {place}, align {align}")
            factor = splat(text, shape, scalar)
            for j, vector in enumerate(vectors):
                total = sums[r * tile.vectors + j]
                result.append(multiply_add(text, self.target, shape, (factor, vector, total)))
        return result

    def _dots(self, index: str, vectors: Sequence[str], sums: Accumulators) -> list[str]:
        """Emit one step of k in groups: an instruction multiplies neighbours and adds them up."""
        text, tile, kind = self.text, self.tile, self.shape.name
        words = self.shape.of("i32")
        if tile.dots == 8:
            return self._bits(index, vectors, sums)
        if not adds_up(self.target, tile):
            return self._parted_dots(index, vectors, sums)
        name, narrow = DOTS[tile.dots]
        wide = narrow.format(tile.lanes * tile.dots) if tile.dots == 2 else words.name
        text.declare(f"declare {kind} @{name}({kind}, {wide}, {wide})")
        made = vectors
        if wide != words.name:
            made = [text.value(f"bitcast {words.name} {v} to {wide}") for v in vectors]
        result = []
        for r, pointer in enumerate(self.rows):
            place = self._offset_a(pointer, index)
            factor = splat(text, words, text.value(f"load i32, ptr {place}, align 1"))
            if wide != words.name:
                factor = text.value(f"bitcast {words.name} {factor} to {wide}")
            for j, vector in enumerate(made):
                total = sums[r * tile.vectors + j]
                call = f"call {kind} @{name}({kind} {total}, {wide} {factor}, {wide} {vector})"
                result.append(text.value(call))
        return result

    def _parted_dots(self, index: str, vectors: Sequence[str], sums: Accumulators) -> list[str]:
        """Emit the same of u8 by i8 where no instruction does it: from halves or single bytes."""
        text, words = self.text, self.shape.of("i32")
        weights = [parted(text, self.target, words, v, signed=True) for v in vectors]
        result = []
        for r, pointer in enumerate(self.rows):
            word = text.value(f"load i32, ptr {self._offset(pointer, index)}, align 1")
            row = parted(text, self.target, words, splat(text, words, word), signed=False)
            for j, columns in enumerate(weights):
                total = sums[r * self.tile.vectors + j]
                for a, b in zip(row, columns, strict=True):
                    made = part_product(text, self.target, words, (a, b))
                    total = text.value(f"add {words.name} {total}, {made}")
                result.append(total)
        return result

    def _bits(self, index: str, vectors: Sequence[str], sums: Accumulators) -> list[str]:
        """Emit one step of k in words of eight numbers: a pair of them in each lane at a time."""
        text, words, target = self.text, self.shape.of("i32"), self.target
        places = [self._offset_a(pointer, index) for pointer in self.rows]
        result = list(sums)
        for number in range(4):
            rows = []
            for place in places:
                here = text.value(f"getelementptr i32, ptr {place}, i64 {number}")
                word = splat(text, words, text.value(f"load i32, ptr {here}, align 1"))
                rows.append(halves_of(text, target, words, word))
            for j, vector in enumerate(vectors):
                low = text.value(f"lshr {words.name} {vector}, {words.splat(4 * number)}")
                pairs = text.value(f"and {words.name} {low}, {words.splat(0x000F000F)}")
                columns = halves_of(text, target, words, pairs)
                for r, row in enumerate(rows):
                    for a, b in zip(row, columns, strict=True):
                        made = part_product(text, target, words, (a, b))
                        at = r * self.tile.vectors + j
                        result[at] = text.value(f"add {words.name} {result[at]}, {made}")
        return result

    def _row(self, pointer: str) -> str:
        """Emit the load of a vector of B, as what is summed."""
        text, shape, stored = self.text, self.shape, self.form.stored
        if self.tile.dots > 1:
            return text.value(f"load {shape.of('i32').name}, ptr {pointer}, align 1")
        if not stored:
            return text.value(f"load {shape.name}, ptr {pointer}, align {shape.bits // 8}")
        lanes = self.tile.lanes
        whole = f"<{lanes} x {'i16' if stored == 'bfloat' else stored}>"
        read = text.value(f"load {whole}, ptr {pointer}, align {2 if stored == 'bfloat' else 1}")
        wide = f"<{lanes} x i32>"
        if stored == "i8":
            made = text.value(f"sext {whole} {read} to {wide}")
            return text.value(f"sitofp {wide} {made} to {shape.name}")
        assert shape.element == "float", f"products of {shape.element} and bfloat"
        made = text.value(f"zext {whole} {read} to {wide}")
        made = text.value(f"shl {wide} {made}, {shape.of('i32').splat(16)}")
        return text.value(f"bitcast {wide} {made} to {shape.name}")

    def _offset_a(self, pointer: str, distance: str | int) -> str:
        if self.tile.dots != 8 or distance == 0:
            return self._offset(pointer, distance)
        return self.text.value(f"getelementptr <4 x i32>, ptr {pointer}, i64 {distance}")

    def _offset_b(self, pointer: str, distance: str | int) -> str:
        if distance == 0:
            return pointer
        element = self.form.stored or self.shape.element
        return self.text.value(f"getelementptr {element}, ptr {pointer}, i64 {distance}")

    def _phis(self, ways: Sequence[tuple[str, Accumulators]]) -> list[str]:
        """Emit one phi an accumulator."""
        kind = self.shape.name
        return [
            self.text.value(
                f"phi {kind} {', '.join([f'[ {sums[n]}, %{label} ]' for label, sums in ways])}"
            )
            for n in range(len(self.places))
        ]

    def _offset(self, pointer: str, distance: str | int) -> str:
        if distance == 0:
            return pointer
        element = self.shape.element
        return self.text.value(f"getelementptr {element}, ptr {pointer}, i64 {distance}")

    def _times(self, distance: str, factor: int) -> str | int:
        if factor < 2:
            return distance if factor else 0
        return self.text.value(f"mul i64 {distance}, {factor}")

    def _outputs(self, buffer: str = "%c") -> list[str]:
        """Return the address of each vector of C, or of what lies beside it."""
        rows = [self._offset(buffer, self._times("%ldc", r)) for r in range(self.tile.rows)]
        return [self._offset(rows[r], j * self.tile.lanes) for r, j in self.places]

    def _masks(self) -> list[str]:
        """Return the mask of each vector of a row."""
        text, lanes = self.text, self.tile.lanes
        counts = ["%columns"]
        counts.extend(
            text.value(f"sub i64 %columns, {j * lanes}") for j in range(1, self.tile.vectors)
        )
        return [first_lanes(text, lanes, count) for count in counts]

    def _load(self) -> list[str]:
        """Return C."""
        masks = self._masks() if self.tile.masked else []
        return [
            self._load_vector(pointer, masks[j : j + 1])
            for (_, j), pointer in zip(self.places, self._outputs(), strict=True)
        ]

    def _load_vector(self, pointer: str, mask: Sequence[str]) -> str:
        """Return a vector of a row, under a mask if there is one."""
        text, shape = self.text, self.shape
        if mask:
            return masked_load(text, self.target, shape, pointer, mask[0], "zeroinitializer")
        return text.value(f"load {shape.name}, ptr {pointer}, align {shape.bits // 8}")

    def _first(self) -> list[str]:
        """Return what the sums begin with: the row that is added to each of the tile, or zeros."""
        bias = self._bias() or ["zeroinitializer"] * self.tile.vectors
        return [bias[j] for _, j in self.places]

    def _bias(self) -> list[str]:
        """Return the row that is added to each of the tile, if there is one."""
        if not self.form.bias:
            return []
        masks = self._masks() if self.tile.masked else []
        places = [self._offset("%bias", j * self.tile.lanes) for j in range(self.tile.vectors)]
        return [self._load_vector(p, masks[j : j + 1]) for j, p in enumerate(places)]

    def _store(self, sums: Accumulators) -> None:
        """Finish and store vector by vector, so that the next tile can begin meanwhile."""
        text, shape, tile = self.text, self.shape, self.tile
        masks = self._masks() if tile.masked else []
        bias = self._bias() if tile.accumulate else []
        beside = self._outputs("%beside") if tile.added else []
        for n, ((_, j), pointer) in enumerate(zip(self.places, self._outputs(), strict=True)):
            total, mask = sums[n], masks[j : j + 1]
            more = [*bias[j : j + 1], *[self._load_vector(p, mask) for p in beside[n : n + 1]]]
            for each in more:
                total = text.value(f"fadd {shape.name} {total}, {each}")
            for order, bound in (("ogt", tile.low), ("olt", tile.high)):
                if bound is not None:
                    total = extreme(text, shape, order, total, shape.splat(bound))
            if masks:
                masked_store(text, shape, total, pointer, masks[j])
            else:
                text.line(f"store {shape.name} {total}, ptr {pointer}, align {shape.bits // 8}")


def _transpose_tile(e: Emitter, op: Operation) -> None:
    src, src_offset, ls, dst, dst_offset, ld, rows, columns = op.operands
    lanes = op.properties["lanes"]
    assert isinstance(lanes, IntegerAttr)
    shape = Shape(e.stored(src).element, lanes.value.data)
    known = {each: known_integer(each) for each in (rows, columns, ls, ld)}
    block = BlockSize.of(shape, (known[rows], known[ld]), (known[columns], known[ls]))
    function = transpose_function(e.text, shape, block)
    sizes = [f"i64 {e.names[each]}" for each in (ls, ld, rows, columns)]
    source = address(e, src, e.names[src_offset])
    target = address(e, dst, e.names[dst_offset])
    e.text.line(
        f"call void @{function}(ptr {source}, {sizes[0]}, ptr {target}, {sizes[1]},"
        f" {sizes[2]}, {sizes[3]})"
    )


ROW_MAJOR, AS_IT_IS, TRANSPOSED = 101, 111, 112
"""What the functions of CBLAS are told of the order of elements."""


def _library_gemm(e: Emitter, op: Operation) -> None:
    """Call `cblas_sgemm` or its like: see Note [Integers of a library]."""
    assert isinstance(op, LibraryGemm)
    name, shape = op.function.data, e.stored(op.c)
    kind, one, zero = shape.name, shape.splat(1.0), shape.splat(0.0)
    m, n, k = (e.names[each] for each in (op.m, op.n, op.k))
    transpose_a, transpose_b = op.transposed
    columns = (m if transpose_a else k, k if transpose_b else n, n)
    for each in ("i64 @llvm.smax.i64(i64, i64)", f"void @{name}({_parameters(kind)})"):
        e.text.declare(f"declare {each}")
    places = ((op.a, op.a_offset), (op.b, op.b_offset), (op.c, op.c_offset))
    a, b, c = [
        f"ptr {address(e, buffer, e.names[offset])}, i64"
        f" {e.text.value(f'call i64 @llvm.smax.i64(i64 1, i64 {width})')}"
        for (buffer, offset), width in zip(places, columns, strict=True)
    ]
    flags = [TRANSPOSED if each else AS_IT_IS for each in op.transposed]
    e.text.line(
        f"call void @{name}(i32 {ROW_MAJOR}, i32 {flags[0]}, i32 {flags[1]}, i64 {m}, i64 {n},"
        f" i64 {k}, {kind} {one}, {a}, {b}, {kind} {zero}, {c})"
    )


def _parameters(kind: str) -> str:
    """Return the types of the arguments of a product of matrices."""
    return f"i32, i32, i32, i64, i64, i64, {kind}, ptr, i64, ptr, i64, {kind}, ptr, i64"


MICRO_KERNELS: Mapping[str, Emit] = {
    "gvk.gemm_tile": _gemm_tile,
    "gvk.transpose_tile": _transpose_tile,
    "gvk.library_gemm": _library_gemm,
}
"""Emitters of the operations that are calls of functions."""

# Note [Integers of a library]
# Sizes are passed in 64 bits, which is right whether the library counts in 32 bits or in 64: in the
# calling conventions of Linux each argument has a register, or eight bytes of the stack, of its
# own, and who wants 32 bits reads the lower half. (`use-library` leaves what is too large for it.)
