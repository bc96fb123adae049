"""Recurrent layers step by step, as a loop: for forms that the graph operations do not have.

These are peepholes, clipped gates, coupled gates, other activations, and sequences of different
lengths. What the input adds to the gates is one product before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ...ir.compose import functions as c
from ...ir.types import dtypes as d
from .node import Node, Value
from .rules.control import UNROLLED_TRIPS, Running


class Activation(Protocol):
    """What a gate applies to its sum."""

    def __call__(self, x: Value, *, is_clipped: bool = True) -> Value:
        """Return its results; what goes in is clipped first where the layer says so.

        Of a cell's own state it is not: models are trained with layers that clip sums only, though
        the standard's words have it so that all that activations are given is clipped.
        """


@dataclass(frozen=True)
class Direction:
    """One direction of a layer: its weights for the state, biases, and how gates are computed."""

    node: Node
    kind: str
    r: Value
    """[gates * H, H]."""
    bias: Value
    """[2 * gates * H]."""
    peepholes: Value | None
    """[3 * H], of the input, output and forget gate."""
    functions: Sequence[Activation]

    def step(self, gates: Value, states: Sequence[Value]) -> list[Value]:
        """Return the next states from what the input adds to the gates, [B, gates * H]."""
        return {"LSTM": self._lstm, "GRU": self._gru, "RNN": self._rnn}[self.kind](gates, states)

    def _part(self, gates: Value, index: int, count: int) -> Value:
        axis = self.node.rank(gates) - 1
        hidden = self.node.shape(self.r)[1]
        return c.cut(self.node.emit, gates, axis, hidden * index, hidden * (index + count))

    def _product(self, state: Value, first: int, count: int) -> Value:
        """Return what a state adds to some of the gates."""
        hidden = self.node.shape(self.r)[1]
        rows = c.cut(self.node.emit, self.r, 0, hidden * first, hidden * (first + count))
        return self.node.make.matmul(state, rows, transpose_rhs=True)

    def _biases(self, first: int, count: int) -> Value:
        """Return the biases of the state's part of some gates."""
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[self.kind]
        return self._part(self.bias, gates + first, count)

    def _rnn(self, gates: Value, states: Sequence[Value]) -> list[Value]:
        make = self.node.make
        total = make.add(make.add(gates, self._product(states[0], 0, 1)), self._biases(0, 1))
        return [self.functions[0](total)]

    def _gru(self, gates: Value, states: Sequence[Value]) -> list[Value]:
        make, node, (state,) = self.node.make, self.node, states
        both = make.add(self._part(gates, 0, 2), self._product(state, 0, 2))
        both = self.functions[0](make.add(both, self._biases(0, 2)))
        update, reset = self._part(both, 0, 1), self._part(both, 1, 1)
        if node.integer("linear_before_reset", 0):
            inner = make.add(self._product(state, 2, 1), self._biases(2, 1))
            inner = make.mul(reset, inner)
        else:
            inner = make.add(self._product(make.mul(reset, state), 2, 1), self._biases(2, 1))
        new = self.functions[1](make.add(self._part(gates, 2, 1), inner))
        kept = make.mul(update, make.sub(state, new))
        return [make.add(new, kept)]

    def _lstm(self, gates: Value, states: Sequence[Value]) -> list[Value]:
        make, (state, cell) = self.node.make, states
        gates = make.add(make.add(gates, self._product(state, 0, 4)), self._biases(0, 4))
        inner, hidden_function = self.functions[1:]
        taken = self.functions[0](self._peep(gates, 0, cell))
        if self.node.integer("input_forget", 0):
            kept = make.sub(make.number(1, self.node.dtype(taken)), taken)
        else:
            kept = self.functions[0](self._peep(gates, 2, cell))
        new = make.add(make.mul(kept, cell), make.mul(taken, inner(self._part(gates, 3, 1))))
        shown = self.functions[0](self._peep(gates, 1, new))
        return [make.mul(shown, hidden_function(new, is_clipped=False)), new]

    def _peep(self, gates: Value, index: int, cell: Value) -> Value:
        """Return a gate's sum, with what its peephole sees of a cell."""
        found = self._part(gates, index, 1)
        if self.peepholes is None:
            return found
        make = self.node.make
        return make.add(found, make.mul(self._part(self.peepholes, index, 1), cell))


def functions_of(node: Node, given: Sequence[str]) -> list[Activation]:
    """Return activations by their names, each with its own factors; all clipped if asked for."""
    alphas = list(node.floats("activation_alpha") or ())
    betas = list(node.floats("activation_beta") or ())
    found: list[Activation] = []
    for name in given:
        if name.lower() not in ACTIVATIONS:
            node.refuse(f"activation {name} is not supported")
        function, factors = ACTIVATIONS[name.lower()]
        columns = {"alpha": alphas, "beta": betas}
        attributes = {f: columns[f].pop(0) for f in factors if columns[f]}
        found.append(partial(_activated, node, function, attributes))
    return found


def _activated(
    node: Node, function: str | Callable[..., Value], attributes: dict[str, float], x: Value,
    *, is_clipped: bool = True,
) -> Value:  # fmt: skip
    make, dtype = node.make, node.dtype(x)
    if node.has("clip") and is_clipped:
        limit = node.number("clip")
        x = make.clip(x, make.number(-limit, dtype), make.number(limit, dtype))
    if isinstance(function, str):
        return getattr(make, function)(x, **attributes)
    return function(node, x, **attributes)


def _affine(node: Node, x: Value, alpha: float = 1.0, beta: float = 0.0) -> Value:
    make, dtype = node.make, node.dtype(x)
    return make.add(make.mul(x, make.number(alpha, dtype)), make.number(beta, dtype))


def _scaled_tanh(node: Node, x: Value, alpha: float = 1.0, beta: float = 1.0) -> Value:
    make, dtype = node.make, node.dtype(x)
    inner = make.tanh(make.mul(x, make.number(beta, dtype)))
    return make.mul(inner, make.number(alpha, dtype))


ACTIVATIONS: dict[str, tuple[str | Callable[..., Value], tuple[str, ...]]] = {
    "relu": ("relu", ()),
    "tanh": ("tanh", ()),
    "sigmoid": ("sigmoid", ()),
    "softsign": ("softsign", ()),
    "softplus": ("softplus", ()),
    "leakyrelu": ("leaky_relu", ("alpha",)),
    "thresholdedrelu": ("thresholded_relu", ("alpha",)),
    "hardsigmoid": ("hard_sigmoid", ("alpha", "beta")),
    "elu": ("elu", ("alpha",)),
    "affine": (_affine, ("alpha", "beta")),
    "scaledtanh": (_scaled_tanh, ("alpha", "beta")),
}
"""The operation that each activation is, and the factors it takes."""


def run_steps(
    layer: Direction,
    gates: Value,
    states: Sequence[Value],
    lengths: Value | None,
    *,
    backward: bool,
) -> list[Value]:
    """Return all outputs [T, B, H] and the last states, from [T, B, gates * H] and first states.

    Sequences shorter than T keep their state behind their end, and give zeros there.
    """
    steps = layer.node.shape(gates)[0]
    if isinstance(steps, int) and 0 < steps <= UNROLLED_TRIPS:
        times = range(steps)[::-1] if backward else range(steps)
        return _unrolled(layer, gates, states, lengths, times)
    return _looped(layer, gates, states, lengths, backward=backward)


def _unrolled(
    layer: Direction, gates: Value, states: Sequence[Value], lengths: Value | None, times: range
) -> list[Value]:
    node = layer.node
    shown: list[Value] = [None] * len(times)
    for time in times:
        part = c.squeeze(node.emit, c.cut(node.emit, gates, 0, time, time + 1), (0,))
        at = node.make.number(time, d.i64)
        shown[time], states = _one(layer, part, states, lengths, at)
    return [c.stack(node.emit, shown, 0), *states]


def _looped(
    layer: Direction,
    gates: Value,
    states: Sequence[Value],
    lengths: Value | None,
    *,
    backward: bool,
) -> list[Value]:
    node, make = layer.node, layer.node.make
    steps = node.shape(gates)[0]
    loop = Running(node, [make.number(0, d.i64), *states])
    index, *now = loop.body.args
    with node.inside(loop.body):
        time = make.sub(make.extent_of(steps - 1), index) if backward else index
        part = make.gather(gates, time, axis=0)
        shown, made = _one(layer, part, now, lengths, time)
        following = make.add(index, make.number(1, d.i64))
    loop.results = [following, *made]
    loop.collect(shown, time, steps)
    found = loop.run(lambda index, *others: make.less(index, make.extent_of(steps)))
    return [found[-1], *found[1:-1]]


def _one(
    layer: Direction, gates: Value, states: Sequence[Value], lengths: Value | None, time: Value
) -> tuple[Value, Sequence[Value]]:
    """Return what a step shows, and the next states."""
    node, make = layer.node, layer.node.make
    made = layer.step(gates, states)
    if lengths is None:
        return made[0], made
    runs = make.less(time, make.to(lengths, d.i64))
    runs = make.reshape(runs, shape=(*node.shape(runs), 1))
    shown = make.select(runs, made[0], make.number(0, node.dtype(made[0])))
    return shown, [make.select(runs, a, b) for a, b in zip(made, states, strict=True)]
