"""Recurrent layers: one step after the other, each a product with the state and a cell.

    for unit in lo..hi                  parallel: blocks of the batch, whose rows never meet
      state = first state               the state lies in the results
      for time
        for panel                       product = state @ weights: gvk.gemm_tile, in scratch
        for row, for v in units step L
          state, y[time] = cell(gates[time] + product, state)

What is left of the weights in caches after one step is what was read last: every other step goes
through the panels, and each panel, backwards, so that weights a little larger than L2 stay there
for the most part, and the last of them in L1.

Where panels end with gates, a step is shared: panels are independent, and so are the columns of
a cell. The state before is read where it was put out, so that no column is written while it is
read, and all threads meet after each step:

    for time                            rounds of the kernel
      for unit in lo..hi                parallel: blocks of the batch x panels of the state
        for gate                        product = y[time - 1] @ panel: gvk.gemm_tile, in scratch
        for row, for v in panel step L
          state, y[time] = cell(gates[time] + product, state)

Where the gates are a product of the kernel's own (`beside`), each panel of a step also computes a
few of those of later steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import REGISTRY, Op
from ...ir.dialects import kernel as gvk
from ...ir.ops.laid_out.recurrent import GruPacked, LstmPacked, PackedRecurrent, RnnPacked
from ...ir.types.dtypes import DType
from ...ir.types.indices import Token
from ...passes.analysis.kernels.recurrent import keeps, panels_of, parts_of
from ...passes.analysis.kernels.tiles import lanes_of, rows_for
from ...target import Target
from .beside import Beside
from .builder.blocks import RowBlocks
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import open_kernel, returned_values
from .builder.read import ElementReader
from .builder.space import Group, Space
from .map import fitting_lanes, walk_vectors


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a recurrent layer."""
    anchor = returned_values(kernel)[-1].owner
    assert isinstance(anchor, Op), "the root is an operation"
    return layer_of(anchor, LAYERS)(kernel, anchor, target).build()


LayerT = TypeVar("LayerT", bound="LayerKernel")


def layer_of(anchor: Op, layers: Sequence[type[LayerT]]) -> type[LayerT]:
    """Return which of the layers an operation is."""
    return next(layer for layer in layers if isinstance(anchor, layer.OF))


@dataclass(frozen=True)
class Product:
    """A product with the state: packed weights, and where in scratch the result lies."""

    panels: SSAValue
    count: int
    tile: int
    place: Index
    gate: int = 0
    """The number of the first gate of a part that it gives."""

    @property
    def width(self) -> int:
        """Return the distance of rows in scratch."""
        return self.count * self.tile


@dataclass(frozen=True)
class Block:
    """Rows of the batch that go through time together."""

    rows: int
    start: Index


class LayerKernel:
    """Builds one kernel; subclasses say what a step does."""

    OF: ClassVar[type[PackedRecurrent]]
    """The operation that is such a layer."""
    STATES = 1

    def __init__(self, kernel: FuncOp, anchor: Op, target: Target) -> None:
        self.anchor, self.target = anchor, target
        self.attributes = anchor.plain_attributes()
        self.loops, arguments, results = open_kernel(kernel, target)
        self.y, *self.states = results[-1 - self.STATES :]
        buffers = dict(zip(arguments, self.loops.buffers, strict=False))
        self.inputs = [buffers.get(value, results[0]) for value in anchor.operands]
        self.gates = self.inputs[0]
        self.dtype: DType = anchor.specs[0].dtype
        self.steps, self.batch, self.width = anchor.specs[0].dims
        self.units = int(anchor.result_specs[1].dims[1])  # type: ignore[arg-type]
        self.walked = Group((Token(self.units),))
        lanes = fitting_lanes(self.units, lanes_of(target, self.dtype))
        self.reader = ElementReader(self.loops, (), Space([self.walked], self.walked, lanes))
        self.math, self.lanes = self.reader.math, lanes
        self.time: Index = 0
        self.odd: Index = 0
        self.part: Index = 0
        self.first: Index = 0
        self.stride = self.units
        """The columns of the state that are computed at a time, and how many they are."""
        self.beside = Beside.of(anchor, buffers, self.gates, target)
        """What computes the gates, where this kernel does."""

    # -- sizes ----------------------------------------------------------------------------

    def plan(self) -> None:
        """Decide the register tile and lay out the scratch."""
        shapes = panels_of(self.anchor)
        self.tile_lanes = lanes_of(self.target, self.dtype)
        while any(tile % self.tile_lanes for _, _, tile in shapes):
            self.tile_lanes //= 2
        widest = max(tile for _, _, tile in shapes) // self.tile_lanes
        most = (self.target.registers - 1) // 2 if self.batch == 1 else self.target.registers // 8
        self.vectors = min(widest, most)
        self.tall = 1 if self.batch == 1 else rows_for(self.target, self.vectors)
        extra = self.tall * self.units if keeps(self.anchor) else 0
        self.parts = 1 if self.loops.fine else max(1, parts_of(self.anchor))
        if self.parts > 1:
            self.stride = shapes[0][2]
            shapes = [(count // self.parts, depth, tile) for count, depth, tile in shapes]
        sizes = [self.tall * count * tile for count, _, tile in shapes]
        self.scratch, base = self.loops.scratch(self.dtype, sum(sizes) + extra)
        places = [self.loops.add(base, sum(sizes[:i])) for i in range(len(sizes) + 1)]
        self.kept = places[-1]
        self.products = [
            Product(self.inputs[1 + n], count, tile, places[n], sum(c for c, *_ in shapes[:n]))
            for n, (count, _, tile) in enumerate(shapes)
        ]

    # -- loops ----------------------------------------------------------------------------

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        if self.batch == 0:
            return loops.finish(0)
        self.plan()
        blocks = RowBlocks(self.batch, self.tall, 1)
        if self.parts > 1 or self.beside:
            self.shared(blocks)
            return loops.finish(blocks.count * self.parts)
        with loops.loop(loops.lo, loops.hi) as unit:
            blocks.walk(loops, unit.index, lambda rows, start: self.block(Block(rows, start)))
        return loops.finish(blocks.count)

    def shared(self, blocks: RowBlocks) -> None:
        """Compute parts of the state, for all blocks of the batch, one step a round."""
        loops = self.loops
        self.round = loops.rounds(self.steps)
        self.time = self.round
        if self.attributes["reverse"]:
            self.time = loops.subtract(loops.subtract(loops.index(self.steps), 1), self.round)
        self.odd = loops.remainder(self.round, 2)
        ends = loops.subtract(loops.add(loops.lo, loops.hi), 1)
        with loops.loop(loops.lo, loops.hi) as one:
            mirrored = loops.subtract(ends, one.index)
            further = loops.multiply(self.odd, loops.subtract(mirrored, one.index))
            unit = loops.add(one.index, further)
            self.part = loops.remainder(unit, self.parts)
            self.first = loops.multiply(self.part, self.stride)
            block = loops.divide(unit, self.parts)
            blocks.walk(loops, block, lambda rows, start: self.part_of_step(Block(rows, start)))

    def part_of_step(self, block: Block) -> None:
        """Compute the columns of a part of the next state of a block."""
        loops, firsts = self.loops, self.inputs[-self.STATES :]
        begins = loops.compare("eq", self.round, 0)
        with loops.when(begins):
            self.walk(block, lambda row: self.begin(block, row, firsts))
            if self.beside:
                self.beside.begin(loops, self.first)
            self.multiply_all((firsts[0], block.start), block)
        with loops.when(loops.compare("ne", self.round, 0)):
            step = 1 if self.attributes["reverse"] else -1
            before = loops.multiply(loops.add(self.time, step), self.batch)
            state = (self.y, loops.add(before, block.start))
            last = self.beside.rounds if self.beside else 0
            if self.beside:
                with loops.when(loops.compare("sle", self.round, last)):
                    self.multiply_all(state, block, self.beside)
            with loops.when(loops.compare("sgt", self.round, last)):
                self.multiply_all(state, block)
        self.walk(block, lambda row: self.cell(block, row))

    def block(self, block: Block) -> None:
        """Take one block of the batch through time."""
        loops = self.loops
        firsts = self.inputs[-self.STATES :]
        self.walk(block, lambda row: self.begin(block, row, firsts))
        last = loops.subtract(loops.index(self.steps), 1)
        with loops.loop(0, loops.index(self.steps)) as one:
            time: Index = one.index
            if self.attributes["reverse"]:
                time = loops.subtract(last, time)
            self.time, self.odd = time, loops.remainder(one.index, 2)
            self.step(block)

    def step(self, block: Block) -> None:
        """Compute the next state of a block."""
        (product,) = self.products
        self.multiply(product, (self.states[0], block.start), block)
        self.walk(block, lambda row: self.cell(block, row))

    def cell(self, block: Block, row: Index) -> None:
        """Compute one vector of the next state."""
        raise NotImplementedError(f"{type(self).__name__} has no cell")

    def begin(self, block: Block, row: Index, firsts: Sequence[SSAValue]) -> None:
        """Copy one vector of the first state."""
        at = self.place(self.loops.add(block.start, row))
        for first, state in zip(firsts, self.states, strict=True):
            value = self.loops.load(first, at, self.lanes, self.reader.mask)
            self.loops.store(value, state, at, self.reader.mask)

    def walk(self, block: Block, body: Callable[[Index], None]) -> None:
        """Run `body(row)` for each vector of each row of a block."""

        def vectors(row: Index) -> None:
            span = (self.first, self.loops.add(self.first, self.stride))
            walk_vectors(self.loops, self.reader, self.walked, span, lambda: body(row))

        if block.rows == 1:
            vectors(0)
            return
        with self.loops.loop(0, block.rows) as one:
            vectors(one.index)

    def multiply_all(
        self, state: tuple[SSAValue, Index], block: Block, beside: Beside | None = None
    ) -> None:
        """Multiply a state by all weights."""
        for each in self.products:
            self.multiply(each, state, block, beside)

    def multiply(
        self, product: Product, state: tuple[SSAValue, Index], block: Block,
        beside: Beside | None = None,
    ) -> None:  # fmt: skip
        """Multiply the rows of a block by all panels; `state` is a buffer and its first row.

        `beside` computes a part of later gates in the loop of each panel.
        """
        loops = self.loops
        buffer, row = state
        at = self.kept if buffer is self.scratch else loops.multiply(row, self.units)
        begin = loops.multiply(self.odd, self.units - 1)
        a = (buffer, loops.index(loops.add(at, begin)), loops.index(self.units))
        tile, width = loops.index(product.tile), loops.index(product.width)
        zero, one = loops.index(0), loops.index(1)
        way = loops.index(loops.subtract(one, loops.multiply(self.odd, 2)))
        down = loops.index(loops.multiply(way, product.tile))
        sizes = gvk.GemmSizes(loops.index(self.units), one, zero, zero, tile, way)
        with loops.loop(0, product.count) as panels:
            mirrored = loops.subtract(loops.index(product.count - 1), panels.index)
            further = loops.multiply(self.odd, loops.subtract(mirrored, panels.index))
            panel = loops.add(panels.index, further)
            c_at = loops.add(product.place, loops.multiply(panel, product.tile))
            gate = loops.add(product.gate, panel)
            panel = loops.add(loops.multiply(panel, self.parts), self.part)
            b_at = loops.multiply(panel, self.units * product.tile)
            b_at = loops.add(b_at, loops.multiply(begin, product.tile))
            for first in range(0, product.tile // self.tile_lanes, self.vectors):
                vectors = min(self.vectors, product.tile // self.tile_lanes - first)
                shift = first * self.tile_lanes
                b = (product.panels, loops.index(loops.add(b_at, shift)), down)
                c = (self.scratch, loops.index(loops.add(c_at, shift)), width)
                shape = gvk.Tile(block.rows, vectors, self.tile_lanes)
                if beside:
                    column = loops.add(loops.multiply(gate, self.units), self.first)
                    beside.multiply(loops, (a, b, c), sizes, (self.round, column))
                else:
                    loops.here(gvk.GemmTile(a, b, c, sizes, shape))

    # -- elements -------------------------------------------------------------------------

    def place(self, row: Index) -> Index:
        """Return the offset of the current vector in a matrix of rows as wide as the state."""
        assert self.walked.value is not None, "the units are walked"
        return self.loops.add(self.loops.multiply(row, self.units), self.walked.value)

    def load(self, buffer: SSAValue, at: Index, *, constant: bool = False) -> Element:
        """Load a vector."""
        value = self.loops.load(buffer, at, self.lanes, self.reader.mask, constant=constant)
        return Element(value, self.dtype, self.lanes)

    def store(self, element: Element, buffer: SSAValue, at: Index) -> None:
        """Store a vector."""
        self.loops.store(element.value, buffer, at, self.reader.mask)

    def given(self, block: Block, row: Index, number: int) -> Element:
        """Return the input's part of a gate."""
        loops = self.loops
        line = loops.add(
            loops.multiply(self.time, self.batch), loops.index(loops.add(block.start, row))
        )
        assert self.walked.value is not None, "the units are walked"
        column = loops.add(self.walked.value, number * self.units)
        at = loops.add(loops.multiply(line, self.width), column)
        return self.load(self.gates, at, constant=self.beside is None)

    def made(self, product: Product, row: Index, number: int) -> Element:
        """Return the state's part of a gate, which is the `number`th of a product."""
        assert self.walked.value is not None, "the units are walked"
        column = self.loops.subtract(self.walked.value, self.loops.index(self.first))
        column = self.loops.add(column, number * self.stride)
        line = self.loops.add(product.place, self.loops.multiply(row, product.width))
        return self.load(self.scratch, self.loops.add(line, column))

    def gate(self, block: Block, row: Index, number: int) -> Element:
        """Return a gate before its activation."""
        made = self.made(self.products[0], row, number)
        return self.math.add(self.given(block, row, number), made)

    def sigmoid(self, x: Element) -> Element:
        """Return the logistic function."""
        made = REGISTRY["gv.sigmoid"].scalar(self.math, x)
        assert isinstance(made, Element), f"the scalar rule gave {made}"
        return made

    def finish(self, block: Block, row: Index, *states: Element) -> None:
        """Store one vector of the next state, and as the result of this step."""
        at = self.place(self.loops.add(block.start, row))
        for element, state in zip(states, self.states, strict=True):
            self.store(element, state, at)
        line = self.loops.multiply(self.loops.multiply(self.time, self.batch), self.units)
        self.store(states[0], self.y, self.loops.add(line, self.loops.index(at)))

    def state(self, block: Block, row: Index, number: int = 0) -> Element:
        """Return one vector of the current state."""
        return self.load(self.states[number], self.place(self.loops.add(block.start, row)))


class Lstm(LayerKernel):
    """Long short-term memory."""

    OF = LstmPacked
    STATES = 2

    def cell(self, block: Block, row: Index) -> None:
        """Forget, take in, put out."""
        math = self.math
        i, o, f, c = (self.gate(block, row, number) for number in range(4))
        taken = math.mul(self.sigmoid(i), math.tanh(c))
        cell = math.fma(self.sigmoid(f), self.state(block, row, 1), taken)
        self.finish(block, row, math.mul(self.sigmoid(o), math.tanh(cell)), cell)


class Gru(LayerKernel):
    """Gated recurrent unit."""

    OF = GruPacked

    def step(self, block: Block) -> None:
        """Compute the gates, then the new state."""
        gates, hidden = self.products
        state = (self.states[0], block.start)
        self.multiply(gates, state, block)
        if keeps(self.anchor):
            self.walk(block, lambda row: self.reset(block, row))
            state = (self.scratch, 0)
        self.multiply(hidden, state, block)
        self.walk(block, lambda row: self.cell(block, row))

    def reset(self, block: Block, row: Index) -> None:
        """Keep the state by the reset gate."""
        opened = self.sigmoid(self.gate(block, row, 1))
        at = self.loops.add(self.kept, self.loops.index(self.place(row)))
        self.store(self.math.mul(opened, self.state(block, row)), self.scratch, at)

    def cell(self, block: Block, row: Index) -> None:
        """Mix the old state and the new one by the update gate."""
        math = self.math
        assert self.walked.value is not None, "the units are walked"
        bias = self.load(self.inputs[3], self.walked.value, constant=True)
        made = math.add(self.made(self.products[1], row, 0), bias)
        given = self.given(block, row, 2)
        if keeps(self.anchor):
            new = math.tanh(math.add(given, made))
        else:
            new = math.tanh(math.fma(self.sigmoid(self.gate(block, row, 1)), made, given))
        old, update = self.state(block, row), self.sigmoid(self.gate(block, row, 0))
        self.finish(block, row, math.fma(update, math.sub(old, new), new))


class Rnn(LayerKernel):
    """A plain recurrent layer."""

    OF = RnnPacked

    def cell(self, block: Block, row: Index) -> None:
        """Apply the activation."""
        total, math = self.gate(block, row, 0), self.math
        if self.attributes["activation"] == "tanh":
            self.finish(block, row, math.tanh(total))
        else:
            self.finish(block, row, math.maximum(total, math.constant(0, self.dtype)))


LAYERS: tuple[type[LayerKernel], ...] = (Lstm, Gru, Rnn)
