"""Rules of recurrent layers: the graph operations have ONNX's layout, what they lack is a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.compose import functions as c
from ..node import Node, Value
from ..recurrent_steps import Direction, functions_of, run_steps
from ..registry import rule
from ..within import require_within

ACTIVATIONS = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@dataclass(frozen=True)
class Inputs:
    """What a layer is given, with time first, and all of it there."""

    x: Value
    w: Value
    r: Value
    bias: Value
    lengths: Value | None
    """None where all sequences are full."""
    states: list[Value]
    peepholes: Value | None


@rule("RNN", "GRU", "LSTM")
def recurrent(node: Node, *inputs: Value | None) -> Sequence[Value]:
    """Return the outputs of all steps, the last output, and of an LSTM the last cell."""
    return layer_of(node, node.op_type, inputs)


def layer_of(node: Node, kind: str, inputs: Sequence[Value | None]) -> Sequence[Value]:
    """Return what a layer of a kind gives for inputs in the standard's order."""
    x, w, r, *others = node.padded(inputs, 8)
    given = _prepared(node, kind, x, w, r, others)
    direction = node.text("direction", "forward").lower()
    functions = _activations(node, kind)
    usual = ACTIVATIONS[kind]
    is_usual = functions == usual * (len(functions) // len(usual))
    is_plain = not (node.has("clip") or node.integer("input_forget", 0) or given.peepholes)
    if not is_plain or given.lengths or not (is_usual or _is_relu(kind, functions)):
        return _arranged(node, _stepped(node, kind, given, direction, functions))
    node.floats("activation_alpha")
    node.floats("activation_beta")
    operands = [given.x, given.w, given.r, given.bias, *given.states]
    if kind == "LSTM":
        made = node.make.lstm(*operands, direction=direction)
    elif kind == "GRU":
        made = node.make.gru(
            *operands, direction=direction,
            linear_before_reset=bool(node.integer("linear_before_reset", 0)),
        )  # fmt: skip
    else:
        made = node.make.rnn(*operands, direction=direction, activation=functions[0])
    return _arranged(node, made)


def _is_relu(kind: str, functions: Sequence[str]) -> bool:
    return kind == "RNN" and set(functions) == {"relu"}


def _activations(node: Node, kind: str) -> tuple[str, ...]:
    """Return the activations of all directions, in small letters."""
    usual = ACTIVATIONS[kind]
    given = tuple(name.lower() for name in node.texts("activations") or ())
    ways = 2 if node.text("direction", "forward").lower() == "bidirectional" else 1
    if given and len(given) != ways * len(usual):
        node.fail(f"{len(given)} activations, expected {ways * len(usual)}")
    return given or usual * ways


def _prepared(
    node: Node, kind: str, x: Value, w: Value, r: Value, others: Sequence[Value | None]
) -> Inputs:
    """Return the input with time first, biases and first states, zero where not given."""
    b, lengths, h0, c0, peepholes = others
    node.has("output_sequence")
    if node.rank(x) != 3 or node.rank(r) != 3:
        node.fail(f"ranks {node.rank(x)} and {node.rank(r)}, expected 3 and 3")
    states = [h0, c0] if kind == "LSTM" else [h0]
    if node.integer("layout", 0):
        x = node.make.transpose(x, order=(1, 0, 2))
        states = [None if s is None else node.make.transpose(s, order=(1, 0, 2)) for s in states]
    steps, batch, _ = node.shape(x)
    ways, _, hidden = node.shape(r)
    if (given := node.integer("hidden_size", 0)) not in (0, hidden):
        node.fail(f"hidden_size {given}, expected {hidden} as the weights have")
    if lengths is not None:
        require_within(node, lengths, 0, steps + 1, "length")
        lengths = None if _are_full(node, lengths, steps) else lengths
    if peepholes is not None and (known := node.known(peepholes)) is not None and not known.any():
        peepholes = None
    make, dtype = node.make, node.dtype(x)
    if b is None:
        b = make.filled(0, dtype, (ways, hidden * (2 * GATES[kind])))
    zeros = make.filled(0, dtype, (ways, batch, hidden)) if None in states else None
    first = [zeros if s is None else s for s in states]
    return Inputs(x, w, r, b, lengths, first, peepholes)


def _are_full(node: Node, lengths: Value, steps: object) -> bool:
    known = node.known(lengths)
    return known is not None and bool(np.all(known == steps))


def _stepped(
    node: Node, kind: str, given: Inputs, direction: str, functions: Sequence[str]
) -> Sequence[Value]:
    """Return the results of a layer as loops, one a direction."""
    make = node.make
    ways = ["forward", "reverse"] if direction == "bidirectional" else [direction]
    applied = functions_of(node, functions)
    each = len(ACTIVATIONS[kind])
    columns = []
    for way, name in enumerate(ways):
        w, r, bias = (_at(node, v, way) for v in (given.w, given.r, given.bias))
        peepholes = None if given.peepholes is None else _at(node, given.peepholes, way)
        gates = make.matmul(given.x, make.transpose(w, order=(1, 0)))
        gates = make.add(gates, c.cut(node.emit, bias, 0, 0, node.shape(w)[0]))
        layer = Direction(node, kind, r, bias, peepholes, applied[way * each : (way + 1) * each])
        states = [_at(node, s, way) for s in given.states]
        columns.append(run_steps(layer, gates, states, given.lengths, backward=name == "reverse"))
    outputs, *last = zip(*columns, strict=True)
    return [c.stack(node.emit, outputs, 1), *(c.stack(node.emit, column, 0) for column in last)]


def _at(node: Node, value: Value, way: int) -> Value:
    return c.squeeze(node.emit, c.cut(node.emit, value, 0, way, way + 1), (0,))


def _arranged(node: Node, made: Sequence[Value]) -> Sequence[Value]:
    """Return the results with the batch first if the node wants it so."""
    if not node.integer("layout", 0):
        return made
    first, *last = made
    moved = node.make.transpose(first, order=(2, 0, 1, 3))
    return [moved, *(node.make.transpose(s, order=(1, 0, 2)) for s in last)]
