"""Recurrent layers on a GPU: a block takes one row of the batch through time.

    block: row of the batch
      state = first state                   the state lies in the results
      for time
        each thread: columns of state @ weights      in shared memory
        each thread: units of the cell               state, y[time] = cell(gates + product, state)

Between the two, and between steps, the threads of the block wait for each other. Rows of the batch
never meet. The weights are read from the cache that all blocks share, once a step.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...errors import CompileError
from ...ir import Op
from ...ir.dialects.gpu import THREADS, Barrier
from ...passes.analysis.kernels.recurrent import keeps, panels_of
from ...target import Target
from ..kernels.beside import Beside
from ..kernels.builder.elements import Element, computed
from ..kernels.builder.loops import Index
from ..kernels.builder.plan import returned_values
from ..kernels.builder.read import ElementReader
from ..kernels.builder.space import Space
from ..kernels.rnn import Block, Gru, LayerKernel, Lstm, Product, Rnn, layer_of
from .products.tile import shared

MOST_THREADS = 512
SHARED_BYTES = 48 << 10
"""What a block has without asking."""
PARTS = 4
"""Sums of one column that do not wait for each other."""


class Together(LayerKernel):
    """A layer whose steps the threads of a block share."""

    def __init__(self, kernel: FuncOp, anchor: Op, target: Target) -> None:
        super().__init__(kernel, anchor, target)
        self.reader = ElementReader(self.loops, (), Space([self.walked], None, 0))
        self.math, self.lanes = self.reader.math, 0

    def build(self) -> FuncOp:
        """Fill the function."""
        loops = self.loops
        shapes = panels_of(self.anchor)
        widths = [count * tile for count, _, tile in shapes]
        places = [sum(widths[:i]) for i in range(len(widths) + 1)]
        size = places[-1] + (self.units if keeps(self.anchor) else 0)
        if size * self.dtype.size > SHARED_BYTES:
            raise CompileError(
                f"{self.anchor.name}: {self.units} units take {size * self.dtype.size} bytes of"
                f" shared memory, expected {SHARED_BYTES} at most"
            )
        self.scratch = shared(loops, computed(self.dtype), size)
        self.kept = places[-1]
        self.threads = min(MOST_THREADS, max(32, 1 << (max(widths) - 1).bit_length()))
        self.products = [
            Product(self.inputs[1 + n], count, tile, places[n])
            for n, (count, _, tile) in enumerate(shapes)
        ]
        with loops.loop(loops.lo, loops.hi) as unit:
            self.block(Block(1, unit.index))
        function = loops.finish(self.batch)
        function.attributes[THREADS] = IntegerAttr(self.threads, 64)
        return function

    def walk(self, block: Block, body: Callable[[Index], None]) -> None:
        """Run `body` for each unit of this thread, then wait for the others."""
        del block
        with self.loops.loop(self.loops.slot, self.units, self.threads) as one:
            self.walked.value = one.index
            self.reader.fresh()
            body(0)
        self.loops.here(Barrier())

    def multiply(
        self, product: Product, state: tuple[SSAValue, Index], block: Block,
        beside: Beside | None = None,
    ) -> None:  # fmt: skip
        """Multiply the state by this thread's columns, then wait for the others."""
        assert beside is None, "gates are computed beside steps for processors"
        loops = self.loops
        buffer, row = state
        first = self.kept if buffer is self.scratch else loops.multiply(row, self.units)
        parts = PARTS if self.units % PARTS == 0 else 1
        zero = self.math.constant(0, self.dtype)
        with loops.loop(loops.slot, product.width, self.threads) as column:
            panel = loops.divide(column.index, product.tile)
            start = loops.add(
                loops.multiply(panel, self.units * product.tile),
                loops.remainder(column.index, product.tile),
            )
            with loops.loop(0, self.units, parts, [zero.value] * parts) as unit:
                sums = []
                for number, value in enumerate(unit.values):
                    at = loops.add(unit.index, number)
                    x = loops.load(buffer, loops.add(first, at), 0, constant=False)
                    there = loops.add(start, loops.multiply(at, product.tile))
                    w = loops.load(product.panels, there, 0)
                    a, b, total = (Element(each, self.dtype, 0) for each in (x, w, value))
                    sums.append(self.math.fma(a, b, total).value)
                unit.carry(*sums)
            made = [Element(value, self.dtype, 0) for value in unit.results]
            while len(made) > 1:
                made = [self.math.add(a, b) for a, b in zip(made[::2], made[1::2], strict=True)]
            loops.store(made[0].value, self.scratch, loops.add(product.place, column.index))
        loops.here(Barrier())


class GpuLstm(Together, Lstm):
    """Long short-term memory."""


class GpuGru(Together, Gru):
    """Gated recurrent unit."""


class GpuRnn(Together, Rnn):
    """A plain recurrent layer."""


LAYERS: tuple[type[Together], ...] = (GpuLstm, GpuGru, GpuRnn)


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a recurrent layer."""
    anchor = returned_values(kernel)[0].owner
    assert isinstance(anchor, Op), "the root is an operation"
    return layer_of(anchor, LAYERS)(kernel, anchor, target).build()
