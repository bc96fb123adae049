"""Recurrent layers of one direction, with what does not depend on the state computed before.

The input's part of the gates, biases included, is one product over all steps: gates
[T, B, G * H]. The weights of the state are panels (see `packed`) of a matrix [H, G * H]. Order
of gates and formulas are those of `rnn`. Results are the states after each step [T, B, H] and
the last one [B, H]. `reverse` goes from the last step to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...facts import KernelForm, Work
from ...families import expect_same
from ...op import Array, Op, register
from ...samples import Sample
from ...types.dims import ceil_divide
from ...types.dtypes import f32, f64
from ...types.tensor import TensorSpec
from ..rnn import Gru, Lstm, Recurrent, Rnn, Step, double, gru_cell, lstm_cell, rnn_cell
from .packed import unpack


class PackedRecurrent(Op):
    """A layer of one direction that only has the state's part left."""

    STATES: ClassVar[int] = 1
    LAYER: ClassVar[type[Recurrent]]
    """The layer that this is the state's part of."""
    PANELS: ClassVar[tuple[int, ...]]
    """How many gates each operand behind the gates has the panels of."""
    KERNEL: ClassVar = KernelForm("rnn")

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the state's part, for gates [T, B, G * H] and states [T, B, H]."""
        units = results[0].static_shape[2]
        products = Work.products(prod(operands[0].static_shape) * units)
        return products + cls.LAYER.work_of_gates(results[0])

    @classmethod
    def result(
        cls, gates: TensorSpec, count: int, panels: dict[int, TensorSpec], *others: TensorSpec
    ) -> Sequence[TensorSpec]:
        """Return all states and the last ones, or raise `TypeError` where shapes disagree.

        There are `count` gates. Of `others` the last are the first states; `panels` hold
        the columns of some of the gates each.
        """
        expect_same(gates, *panels.values(), *others)
        if gates.dtype not in (f32, f64):
            raise TypeError(f"gates of {gates.dtype}, expected f32 or f64")
        state = others[-1]
        if gates.rank != 3 or state.rank != 2:
            raise TypeError(f"operands {gates} and {state}, expected [T, B, G * H] and [B, H]")
        steps, batch, width = gates.dims
        hidden = state.dims[1]
        if not isinstance(hidden, int) or width != hidden * count or state.dims[0] != batch:
            raise TypeError(f"state {state}, expected [{batch}, H] for {count} gates of {gates}")
        for number, spec in panels.items():
            check_panels(spec, hidden, hidden * number)
        for other in others[-cls.STATES :]:
            if other.dims != state.dims:
                raise TypeError(f"state {other}, expected {state}")
        return (gates.with_shape((steps, *state.dims)), *[state] * cls.STATES)

    @classmethod
    def run(
        cls, gates: Array, states: Sequence[Array], step: Step, *, reverse: bool
    ) -> Sequence[Array]:
        """Go through time."""
        first = [s[np.newaxis] for s in double(*states)]
        direction = "reverse" if reverse else "forward"
        (wide,) = double(gates)
        seen, *last = Recurrent.run(gates, first, direction, lambda _: (wide, step))
        return (seen[:, 0], *(state[0] for state in last))


def check_panels(panels: TensorSpec, rows: int, columns: int) -> None:
    """Raise `TypeError` where panels do not hold a matrix of these sizes."""
    if panels.rank == 3 and panels.is_static and panels.dims[1] == rows:
        count, _, tile = panels.static_shape
        if tile and ceil_divide(columns, tile) == count:
            return
    raise TypeError(f"panels {panels}, expected those of a matrix [{rows}, {columns}]")


def _samples(
    panels: Sequence[tuple[int, ...]], others: Sequence[tuple[int, ...]], gates: int,
    *changes: dict[str, Any],
) -> tuple[Sample, ...]:  # fmt: skip
    """Return samples of T, B, H = 3, 2, 5 both ways, and with other attributes."""

    def sample(steps: int, attributes: dict[str, Any], *dtypes: Any) -> Sample:
        shapes = ((steps, 2, 5 * gates), *panels, *others)
        return Sample(shapes, attributes, dtypes, low=-0.8, high=0.8)

    uses = [{"reverse": True}, *changes]
    return (sample(3, {}, f32, f64), sample(0, {}, f32), *(sample(3, use, f32) for use in uses))


STATE = (2, 5)


@register
class LstmPacked(PackedRecurrent):
    """Long short-term memory; gates are input, output, forget, cell. Also gives the last cells."""

    name = "gv.lstm_packed"
    LAYER: ClassVar = Lstm
    PANELS: ClassVar = (4,)
    STATES: ClassVar = 2
    SAMPLES: ClassVar = _samples([(2, 5, 16)], [STATE, STATE], 4)

    @classmethod
    def infer(
        cls,
        gates: TensorSpec,
        panels: TensorSpec,
        h0: TensorSpec,
        c0: TensorSpec,
        *,
        reverse: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs, the last output and the last cell."""
        return cls.result(gates, 4, {4: panels}, h0, c0)

    @classmethod
    def evaluate(
        cls, gates: Array, panels: Array, h0: Array, c0: Array, *, reverse: bool
    ) -> Sequence[Array]:
        """Go through time."""
        (weights,) = double(unpack(panels, gates.shape[2]))
        return cls.run(
            gates, (h0, c0), lambda g, s: lstm_cell(g + s[0] @ weights, s[1]), reverse=reverse
        )


@register
class GruPacked(PackedRecurrent):
    """Gated recurrent unit; gates are update, reset, hidden.

    `panels` are those of the first two, `hidden` and `bias` are for the new state: what
    the state adds to it is `h @ hidden + bias`, by the reset gate, or with
    `linear_before_reset = false` the reset gate acts on h.
    """

    name = "gv.gru_packed"
    LAYER: ClassVar = Gru
    PANELS: ClassVar = (2, 1)
    SAMPLES: ClassVar = _samples(
        [(1, 5, 16), (1, 5, 16), (5,)], [STATE], 3, {"linear_before_reset": True}
    )

    @classmethod
    def infer(
        cls,
        gates: TensorSpec,
        panels: TensorSpec,
        hidden: TensorSpec,
        bias: TensorSpec,
        h0: TensorSpec,
        *,
        reverse: bool = False,
        linear_before_reset: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs and the last one."""
        made = cls.result(gates, 3, {2: panels, 1: hidden}, bias, h0)
        if bias.dims != h0.dims[1:]:
            raise TypeError(f"bias {bias}, expected {h0.dims[1]} elements")
        return made

    @classmethod
    def evaluate(
        cls, gates: Array, panels: Array, hidden: Array, bias: Array, h0: Array, *,
        reverse: bool, linear_before_reset: bool,
    ) -> Sequence[Array]:  # fmt: skip
        """Go through time."""
        units = h0.shape[1]
        weights = double(unpack(panels, 2 * units), unpack(hidden, units), bias)

        def step(now: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            return (gru_cell(now, *states, *weights, linear_before_reset=linear_before_reset),)

        return cls.run(gates, (h0,), step, reverse=reverse)


@register
class RnnPacked(PackedRecurrent):
    """A plain recurrent layer: activation(gates + h r)."""

    name = "gv.rnn_packed"
    LAYER: ClassVar = Rnn
    PANELS: ClassVar = (1,)
    SAMPLES: ClassVar = _samples([(1, 5, 16)], [STATE], 1, {"activation": "relu"})

    @classmethod
    def infer(
        cls,
        gates: TensorSpec,
        panels: TensorSpec,
        h0: TensorSpec,
        *,
        reverse: bool = False,
        activation: str = "tanh",
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs and the last one."""
        if activation not in ("tanh", "relu"):
            raise TypeError(f"activation {activation!r}, expected tanh or relu")
        return cls.result(gates, 1, {1: panels}, h0)

    @classmethod
    def evaluate(
        cls, gates: Array, panels: Array, h0: Array, *, reverse: bool, activation: str
    ) -> Sequence[Array]:
        """Go through time."""
        (weights,) = double(unpack(panels, gates.shape[2]))
        return cls.run(
            gates, (h0,), lambda g, s: (rnn_cell(g + s[0] @ weights, activation),), reverse=reverse
        )
