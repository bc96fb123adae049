"""Recurrent layers in ONNX's layout, activations and order of gates.

x is [T, B, I]. There are D directions: 1, or 2 if `bidirectional`. For G gates of H units the
weights are w [D, G * H, I] for the input and r [D, G * H, H] for the state, the biases b
[D, 2 * G * H] (of the input, then of the state), the first state [D, B, H]. Results are the
states after each step [T, D, B, H] and the last one [D, B, H]. `reverse` goes from the last
step to the first. No layer here has a gradient yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..facts import Work
from ..families import FLOAT, expect, expect_same
from ..op import Array, Op, register
from ..samples import Sample
from ..types.dims import Dim
from ..types.dtypes import bf16, f16, f32, f64
from ..types.numerics import round_to
from ..types.shapes import UnequalError
from ..types.tensor import TensorSpec, spec_of_array

DIRECTIONS = ("forward", "reverse", "bidirectional")

Step: TypeAlias = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]
"""`step(input's part of the gates, states)` gives the next states, the layer's output first."""


class Recurrent(Op):
    """A layer with a state that each step changes."""

    GATES: ClassVar[int]
    STATES: ClassVar[int] = 1
    FUNCTIONS: ClassVar[int]
    """Functions for each element of a state."""

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count the products of every step with the weights of input and state."""
        x, *weights = (spec.static_shape for spec in operands)
        macs = prod(x[:2]) * sum(prod(w) for w in weights[:2])
        return Work.products(macs) + cls.work_of_gates(results[0])

    @classmethod
    def work_of_gates(cls, states: TensorSpec) -> Work:
        """Count the functions of all gates, and about what is added and multiplied around them."""
        count = prod(states.static_shape)
        return Work(flops=(2 * cls.GATES + 4) * count, functions=cls.FUNCTIONS * count)

    @classmethod
    def result(cls, *specs: TensorSpec, direction: str) -> Sequence[TensorSpec]:
        """Return all states, and the last ones; raise `TypeError` where shapes disagree."""
        x, _, r, *_ = specs
        expect(x, FLOAT)
        expect_same(*specs)
        if direction not in DIRECTIONS:
            raise TypeError(f"direction {direction!r}, expected one of {', '.join(DIRECTIONS)}")
        if x.rank != 3 or r.rank != 3:
            raise TypeError(f"operands {x} and {r}, expected [T, B, I] and [D, G * H, H]")
        (steps, batch, inputs), hidden = x.dims, r.dims[2]
        ways, gates = (2 if direction == "bidirectional" else 1), hidden * cls.GATES
        state: tuple[Dim, ...] = (ways, batch, hidden)
        expected = {
            "w": (ways, gates, inputs),
            "r": (ways, gates, hidden),
            "b": (ways, gates * 2),
            "h0": state,
            "c0": state,
        }
        for (name, shape), spec in zip(expected.items(), specs[1:], strict=False):
            if spec.dims != shape:
                message = f"operand {name} {spec}, expected {x.with_shape(shape)}"
                pairs = zip(spec.dims, shape, strict=False)
                other = next((pair for pair in pairs if pair[0] != pair[1]), (spec.rank, 3))
                raise UnequalError(message, *other)
        last = [x.with_shape(state)] * cls.STATES
        return (x.with_shape((steps, *state)), *last)

    @classmethod
    def run(cls, x: Array, states: Sequence[Array], direction: str, steps: Any) -> Sequence[Array]:
        """Go through time in each direction; `steps(way)` gives the input's gates and the step."""
        backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        ways, lasts = [], []
        for way, reverse in enumerate(backward[direction]):
            gates, step = steps(way)
            now = tuple(s[way] for s in states)
            seen = np.empty((len(x), *now[0].shape))
            for time in reversed(range(len(x))) if reverse else range(len(x)):
                now = step(gates[time], now)
                seen[time] = now[0]
            ways.append(seen)
            lasts.append(now)
        dtype = spec_of_array(x).dtype
        results = [np.stack(ways, axis=1), *map(np.stack, zip(*lasts, strict=True))]
        return [round_to(result, dtype) for result in results]


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * np.tanh(0.5 * x) + 0.5)


def double(*arrays: Array) -> list[Array]:
    """Return the arrays in f64."""
    return [x.astype(np.float64) for x in arrays]


def lstm_cell(gates: Array, cell: Array) -> tuple[Array, Array]:
    """Return the next output and the next cell for gates [..., 4 * H]."""
    i, o, f, c = np.split(gates, 4, axis=-1)
    cell = _sigmoid(f) * cell + _sigmoid(i) * np.tanh(c)
    return _sigmoid(o) * np.tanh(cell), cell


def gru_cell(
    gates: Array, h: Array, gated: Array, hidden: Array, bias: Array, *, linear_before_reset: bool
) -> Array:
    """Return the next state for the input's part of the gates [..., 3 * H].

    The state's part is made here: by `gated` [H, 2 * H] for the update and reset gate, by
    `hidden` [H, H] and `bias` for the new state.
    """
    opening, new = np.split(gates, [gated.shape[1]], axis=-1)
    update, reset = np.split(_sigmoid(opening + h @ gated), 2, axis=-1)
    if linear_before_reset:
        new = np.tanh(new + reset * (h @ hidden + bias))
    else:
        new = np.tanh(new + (reset * h) @ hidden + bias)
    return np.asarray((1 - update) * new + update * h)


def rnn_cell(gates: Array, activation: str) -> Array:
    """Return the next state for the gates [..., H]."""
    return np.asarray(np.tanh(gates) if activation == "tanh" else np.maximum(gates, 0))


def _samples(gates: int, states: int, *changes: dict[str, Any]) -> tuple[Sample, ...]:
    """Return samples of T, B, I, H = 3, 2, 4, 5 in each direction, and with other attributes."""

    def shapes(ways: int, steps: int = 3, batch: int = 2) -> tuple[tuple[int, ...], ...]:
        weights = ((ways, gates * 5, 4), (ways, gates * 5, 5), (ways, gates * 10))
        return ((steps, batch, 4), *weights, *((ways, batch, 5),) * states)

    uses = [
        (shapes(1), {"direction": "forward"}, (f32, f64, f16, bf16)),
        (shapes(1), {"direction": "reverse"}, (f32,)),
        (shapes(2), {"direction": "bidirectional"}, (f32,)),
        (shapes(1, steps=0), {}, (f32,)),
        (shapes(1, batch=0), {}, (f32,)),
        *((shapes(2), {"direction": "bidirectional", **change}, (f32,)) for change in changes),
    ]
    return tuple(Sample(*use, low=-0.8, high=0.8) for use in uses)


@register
class Lstm(Recurrent):
    """Long short-term memory; gates are input, output, forget, cell. Also gives the last cells."""

    name = "gv.lstm"
    GATES: ClassVar = 4
    FUNCTIONS: ClassVar = 5
    STATES: ClassVar = 2
    SAMPLES: ClassVar = _samples(4, 2)

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        w: TensorSpec,
        r: TensorSpec,
        b: TensorSpec,
        h0: TensorSpec,
        c0: TensorSpec,
        *,
        direction: str = "forward",
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs, the last output and the last cell."""
        return cls.result(x, w, r, b, h0, c0, direction=direction)

    @classmethod
    def evaluate(cls, *operands: Array, direction: str) -> Sequence[Array]:
        """Go through time."""
        x, w, r, b, *states = double(*operands)

        def steps(way: int) -> tuple[Array, Step]:
            of_input, of_state = np.split(b[way], 2)
            gates = x @ w[way].T + (of_input + of_state)
            return gates, lambda g, s: lstm_cell(g + s[0] @ r[way].T, s[1])

        return cls.run(operands[0], states, direction, steps)


@register
class Gru(Recurrent):
    """Gated recurrent unit; gates are update, reset, hidden.

    With `linear_before_reset` the reset gate acts on the state's product instead of the state.
    """

    name = "gv.gru"
    GATES: ClassVar = 3
    FUNCTIONS: ClassVar = 3
    SAMPLES: ClassVar = _samples(3, 1, {"linear_before_reset": True})

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        w: TensorSpec,
        r: TensorSpec,
        b: TensorSpec,
        h0: TensorSpec,
        *,
        direction: str = "forward",
        linear_before_reset: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs and the last one."""
        return cls.result(x, w, r, b, h0, direction=direction)

    @classmethod
    def evaluate(
        cls, *operands: Array, direction: str, linear_before_reset: bool
    ) -> Sequence[Array]:
        """Go through time."""
        x, w, r, b, h0 = double(*operands)
        units = r.shape[2]

        def steps(way: int) -> tuple[Array, Step]:
            of_input, of_state = np.split(b[way], 2)
            gated, hidden = np.split(r[way].T, [2 * units], axis=1)
            gate_bias, bias = np.split(of_state, [2 * units])
            gates = x @ w[way].T + of_input
            gates[..., : 2 * units] += gate_bias
            return gates, lambda g, s: (
                gru_cell(g, s[0], gated, hidden, bias, linear_before_reset=linear_before_reset),
            )

        return cls.run(operands[0], [h0], direction, steps)


@register
class Rnn(Recurrent):
    """A plain recurrent layer: activation(x w + h r + biases)."""

    name = "gv.rnn"
    GATES: ClassVar = 1
    FUNCTIONS: ClassVar = 1
    SAMPLES: ClassVar = _samples(1, 1, {"activation": "relu"})

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        w: TensorSpec,
        r: TensorSpec,
        b: TensorSpec,
        h0: TensorSpec,
        *,
        direction: str = "forward",
        activation: str = "tanh",
    ) -> Sequence[TensorSpec]:
        """Return the specs of all outputs and the last one."""
        if activation not in ("tanh", "relu"):
            raise TypeError(f"activation {activation!r}, expected tanh or relu")
        return cls.result(x, w, r, b, h0, direction=direction)

    @classmethod
    def evaluate(cls, *operands: Array, direction: str, activation: str) -> Sequence[Array]:
        """Go through time."""
        x, w, r, b, h0 = double(*operands)

        def steps(way: int) -> tuple[Array, Step]:
            of_input, of_state = np.split(b[way], 2)
            gates = x @ w[way].T + (of_input + of_state)
            return gates, lambda g, s: (rnn_cell(g + s[0] @ r[way].T, activation),)

        return cls.run(operands[0], [h0], direction, steps)
