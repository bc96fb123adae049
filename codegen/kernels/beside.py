"""The gates of a recurrent layer, of which each panel of a step computes some of later steps.

Of T steps with panels of S vectors, the first step computes the gates of `lead` steps, S+1 to 2S,
and each of the next T - lead one vector of every gate, for a block of S steps: all of them are
there one step before the block begins.

    round 0        for gate, for v in S vectors    gates[lead rows, v] = x W + bias: gvk.gemm_tile
    round r        for gate                        its panel, and a vector: gvk.gemm_pair
                     product = state @ panel
                     gates[block (r - 1) / S, vector (r - 1) % S of the gate] = x W + bias
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.dialects import kernel as gvk
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.recurrent import input_product, panels_of
from ...passes.analysis.kernels.tiles import lanes_of
from ...target import Target
from .builder.loops import Index, Loops


class Beside:
    """Builds the product of a layer's inputs [T, K], packed weights and a bias."""

    def __init__(
        self, layer: Op, buffers: tuple[SSAValue, ...], depth: int, tile: int, lanes: int
    ) -> None:
        self.x, self.panels, self.bias, self.gates = buffers
        self.depth, self.tile, self.lanes = depth, tile, lanes
        self.steps, _, self.width = layer.specs[0].static_shape
        self.units, stride = panels_of(layer)[0][1:]
        self.vectors = stride // lanes
        self.lead = self.vectors + 1 + (self.steps - self.vectors - 1) % self.vectors
        self.rounds = self.steps - self.lead
        """The last step that computes gates of later ones."""
        self.reverse = bool(layer.plain_attributes()["reverse"])

    @classmethod
    def of(
        cls, layer: Op, buffers: Mapping[SSAValue, SSAValue], gates: SSAValue, target: Target
    ) -> Beside | None:
        """Return what computes the gates of a layer, if its kernel does."""
        product = input_product(layer.operands[0])
        if product is None:
            return None
        places = (*(buffers[value] for value in product), gates)
        spec = spec_of(product.panels.type)
        _, depth, tile = spec.static_shape
        return cls(layer, places, depth, tile, lanes_of(target, spec.dtype))

    def begin(self, loops: Loops, first: Index) -> None:
        """Compute the gates of the first steps, in the columns of a part of the state."""
        sizes = self.sizes(loops, self.depth)
        row = self.rounds if self.reverse else 0
        with loops.loop(0, self.width // self.units) as gate:
            columns = loops.add(loops.multiply(gate.index, self.units), first)
            with loops.loop(0, self.vectors) as vector:
                column = loops.add(columns, loops.multiply(vector.index, self.lanes))
                a, b, c, bias = self.places(loops, row, column)
                tile = gvk.Tile(self.lead, 1, self.lanes)
                loops.here(gvk.GemmTile(a, b, c, sizes, tile, gvk.Behind(bias=bias)))

    def multiply(
        self, loops: Loops, state: tuple[gvk.Strided, ...], sizes: gvk.GemmSizes,
        place: tuple[Index, Index],
    ) -> None:  # fmt: skip
        """Multiply a state by a panel, and a block of inputs by a vector.

        `place` is the number of the step, and the first column of the part of a gate.
        """
        number = loops.subtract(place[0], 1)
        block = loops.multiply(loops.divide(number, self.vectors), self.vectors)
        row = loops.add(self.lead, block)
        if self.reverse:
            row = loops.subtract(self.rounds - self.vectors, loops.index(block))
        vector = loops.multiply(loops.remainder(number, self.vectors), self.lanes)
        x, w, g, bias = self.places(loops, row, loops.add(place[1], vector))
        a, b, c = state
        depth = min(self.units, self.depth)
        pair = gvk.PairSizes(loops.index(depth), sizes.a_step)
        tile = gvk.Tile(self.vectors, self.vectors, self.lanes)
        loops.here(gvk.GemmPair((*a[:2], *b, *c[:2]), (*x, *w, *g, *bias), pair, tile))
        self.add_rest(loops, state, (depth, self.units), sizes.a_step, (1, self.vectors))
        one = loops.index(1)
        self.add_rest(loops, (x, w, g), (depth, self.depth), one, (self.vectors, 1))

    def add_rest(
        self, loops: Loops, product: tuple[gvk.Strided, ...], span: tuple[int, int],
        step: SSAValue, tile: tuple[int, int],
    ) -> None:  # fmt: skip
        """Add what a product has in a stretch of the depth that only it has."""
        low, high = span
        if low == high:
            return
        a, b, c = product
        a = (a[0], loops.index(loops.add(a[1], loops.multiply(step, low))), a[2])
        b = (b[0], loops.index(loops.add(b[1], loops.multiply(b[2], low))), b[2])
        sizes = self.sizes(loops, high - low)._replace(a_step=step)
        whole = gvk.Tile(*tile, self.lanes, accumulate=True)
        loops.here(gvk.GemmTile(a, b, c, sizes, whole))

    def places(
        self, loops: Loops, row: Index, column: Index
    ) -> tuple[gvk.Strided, gvk.Strided, gvk.Strided, tuple[SSAValue, SSAValue]]:
        """Return where rows of inputs, a vector of weights, gates and the bias of these begin."""
        panel = loops.multiply(loops.divide(column, self.tile), self.depth * self.tile)
        w_at = loops.index(loops.add(panel, loops.remainder(column, self.tile)))
        x_at = loops.index(loops.multiply(row, self.depth))
        g_at = loops.index(loops.add(loops.multiply(row, self.width), column))
        return (
            (self.x, x_at, loops.index(self.depth)),
            (self.panels, w_at, loops.index(self.tile)),
            (self.gates, g_at, loops.index(self.width)),
            (self.bias, loops.index(column)),
        )

    def sizes(self, loops: Loops, depth: int) -> gvk.GemmSizes:
        """Return the sizes of a tile of so much depth."""
        zero, one = loops.index(0), loops.index(1)
        return gvk.GemmSizes(loops.index(depth), one, zero, zero, loops.index(self.lanes), one)
