"""Take out of recurrent layers what does not depend on the state, and pack the state's weights.

    %y, %h, %c = gv.lstm %x, %w, %r, %b, %h0, %c0

    =>   %gates = gv.add (gv.matmul (gv.reshape %x), %w {transpose_rhs = true}), %bias
         %panels = transpose(reshape(pad(transpose(%r))))
         %y, %h, %c = gv.lstm_packed %gates, %panels, %h0, %c0

The input's part of the gates is one product over all steps. Each direction becomes a layer of
its own; their results are joined. Elements narrower than f32 are computed in f32. The product
with fixed weights is packed by `pack-weights`, the packing is moved by `hoist-prepare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from ..errors import UnsupportedOp
from ..ir import GraphEmit, Op, Program, replace
from ..ir.compose.maker import Maker
from ..ir.ops.laid_out.packed import pack
from ..ir.ops.rnn import Gru, Lstm, Recurrent, Rnn
from ..ir.program import functions
from ..ir.types.dims import Dim
from ..ir.types.dtypes import DType, f32, f64
from ..ir.types.tensor import spec_of
from ..ir.verify import place
from ..target import Target
from .analysis.blocks import operations_of
from .analysis.kernels.tiles import panel_width
from .analysis.targets import target_of
from .base import Pass


@dataclass(frozen=True)
class PackRecurrent(Pass):
    """Take out of recurrent layers what does not depend on the state."""

    NUMERICS = "reassociating"
    LEVEL = "graph"
    FOR = (Recurrent,)

    def apply(self, program: Program) -> None:
        """Rewrite in every function."""
        target = target_of(program)
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if isinstance(op, Recurrent):
                    self.rewrite(op, target)

    def rewrite(self, op: Recurrent, target: Target) -> None:
        """Replace one layer."""
        if not isinstance(op.specs[2].dims[2], int):
            text = f"{op.name}: state of {op.specs[2].dims[2]} units, expected a number"
            raise UnsupportedOp(text, location=place(op))
        layer = PackedLayer(op, target)
        ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        backward = ways[op.plain_attributes()["direction"]]
        made = [layer.way(number, reverse) for number, reverse in enumerate(backward)]
        replace(op, *layer.joined(made))
        self.count("directions", len(made))


class PackedLayer:
    """Builds what stands for one layer."""

    def __init__(self, op: Op, target: Target) -> None:
        self.op, self.target = op, target
        self.emit = GraphEmit.before(op)
        self.make = Maker(self.emit)
        self.attributes = op.plain_attributes()
        self.dtype: DType = op.specs[0].dtype
        self.wide = self.dtype if self.dtype in (f32, f64) else f32
        self.units = int(op.specs[2].dims[2])  # type: ignore[arg-type]
        self.batch: Dim = op.specs[0].dims[1]
        self.operands = [self.make.to(value, self.wide) for value in op.operands]

    def way(self, number: int, reverse: bool) -> Sequence[SSAValue]:
        """Return the results of one direction, without the axis of directions."""
        x, *rest = self.operands
        w, r, b, *states = (self.part(value, number) for value in rest)
        steps, _, inputs = spec_of(x.type).dims
        rows = self.make.reshape(x, shape=(steps * self.batch, inputs))
        product = self.make.matmul(rows, w, transpose_rhs=True)
        made: Sequence[SSAValue] = RULES[self.op.name](self, product, r, b, states, reverse)
        return made

    def gates(self, product: SSAValue, bias: SSAValue) -> SSAValue:
        """Return the input's part of the gates for each step."""
        made = self.make.add(product, bias)
        steps, width = self.op.specs[0].dims[0], spec_of(made.type).dims[1]
        return self.make.reshape(made, shape=(steps, self.batch, width))  # type: ignore[no-any-return]

    def joined(self, ways: Sequence[Sequence[SSAValue]]) -> list[SSAValue]:
        """Return the results of all directions, in the layer's type."""
        made = []
        for values, spec in zip(zip(*ways, strict=True), self.op.result_specs, strict=True):
            axis = spec.rank - 3
            shape = (*spec.dims[:axis], 1, *spec.dims[axis + 1 :])
            parts = [self.make.reshape(v, shape=shape) for v in values]
            whole = parts[0] if len(parts) == 1 else self.make.concat(*parts, axis=axis)
            made.append(self.make.to(whole, self.dtype))
        return made

    def part(self, value: SSAValue, number: int) -> SSAValue:
        """Return one direction of an operand."""
        dims = spec_of(value.type).dims
        if dims[0] != 1:
            value = self.cut(value, 0, number, number + 1)
        return self.make.reshape(value, shape=dims[1:])  # type: ignore[no-any-return]

    def cut(self, value: SSAValue, axis: int, low: Dim, high: Dim) -> SSAValue:
        """Return a stretch of an axis."""
        dims = spec_of(value.type).dims
        starts = tuple(low if a == axis else 0 for a in range(len(dims)))
        stops = tuple(high if a == axis else d for a, d in enumerate(dims))
        made: SSAValue = self.make.slice(value, starts=starts, stops=stops, steps=(1,) * len(dims))
        return made

    def halves(self, bias: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Return the biases of the input and of the state."""
        total = spec_of(bias.type).dims[0]
        half = int(total) // 2  # type: ignore[arg-type]
        return self.cut(bias, 0, 0, half), self.cut(bias, 0, half, total)

    def panels(self, r: SSAValue) -> SSAValue:
        """Return the panels of weights [columns, H]."""
        spec = spec_of(r.type)
        turned = spec.with_shape(spec.dims[::-1])
        columns = int(spec.dims[0])  # type: ignore[arg-type]
        tile = panel_width(self.target, self.batch, columns, spec.dtype)
        made: SSAValue = pack(self.emit, self.make.transpose(r, order=(1, 0)), turned, tile)
        return made


def _lstm(
    layer: PackedLayer, product: SSAValue, r: SSAValue, b: SSAValue, states: Sequence[SSAValue],
    reverse: bool,
) -> Sequence[SSAValue]:  # fmt: skip
    gates = layer.gates(product, layer.make.add(*layer.halves(b)))
    made: Sequence[SSAValue] = layer.make.lstm_packed(
        gates, layer.panels(r), *states, reverse=reverse
    )
    return made


def _gru(
    layer: PackedLayer, product: SSAValue, r: SSAValue, b: SSAValue, states: Sequence[SSAValue],
    reverse: bool,
) -> Sequence[SSAValue]:  # fmt: skip
    """Keep the state's bias of the new state apart: the reset gate may act on it."""
    make, units = layer.make, layer.units
    of_input, of_state = layer.halves(b)
    opening = make.pad(layer.cut(of_state, 0, 0, 2 * units), pads=((0, units),))
    gates = layer.gates(product, make.add(of_input, opening))
    made: Sequence[SSAValue] = make.gru_packed(
        gates,
        layer.panels(layer.cut(r, 0, 0, 2 * units)),
        layer.panels(layer.cut(r, 0, 2 * units, 3 * units)),
        layer.cut(of_state, 0, 2 * units, 3 * units),
        *states,
        reverse=reverse,
        linear_before_reset=layer.attributes["linear_before_reset"],
    )
    return made


def _rnn(
    layer: PackedLayer, product: SSAValue, r: SSAValue, b: SSAValue, states: Sequence[SSAValue],
    reverse: bool,
) -> Sequence[SSAValue]:  # fmt: skip
    gates = layer.gates(product, layer.make.add(*layer.halves(b)))
    activation = layer.attributes["activation"]
    made: Sequence[SSAValue] = layer.make.rnn_packed(
        gates, layer.panels(r), *states, reverse=reverse, activation=activation
    )
    return made


Rule: TypeAlias = Callable[..., Sequence[SSAValue]]
RULES: Mapping[str, Rule] = {Lstm.name: _lstm, Gru.name: _gru, Rnn.name: _rnn}
"""How the packed layer of one direction is made from the product and its other operands."""

__all__ = ["PackRecurrent"]
