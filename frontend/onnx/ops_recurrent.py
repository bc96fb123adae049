"""Rules of recurrent layers, which the graph operations have in ONNX's own layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .node import Node, Value
from .rules import rule

ACTIVATIONS = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@rule("RNN", "GRU")
def recurrent(node: Node, *inputs: Value | None) -> Sequence[Value]:
    """Return all states and the last one."""
    x, w, r, b, lengths, h0 = node.padded(inputs, 6)
    x, bias, states = _prepared(node, x, r, b, lengths, [h0])
    if node.op_type == "GRU":
        _activation(node)
        made = node.make.gru(
            x, w, r, bias, *states, direction=_direction(node),
            linear_before_reset=bool(node.integer("linear_before_reset", 0)),
        )  # fmt: skip
    else:
        made = node.make.rnn(
            x, w, r, bias, *states, direction=_direction(node), activation=_activation(node)
        )
    return _arranged(node, made)


@rule("LSTM")
def lstm(node: Node, *inputs: Value | None) -> Sequence[Value]:
    """Return all outputs, the last output and the last cell."""
    x, w, r, b, lengths, h0, c0, peepholes = node.padded(inputs, 8)
    if node.integer("input_forget", 0):
        node.refuse("coupled input and forget gates are not supported")
    if peepholes is not None:
        known = node.known(peepholes)
        if known is None or known.any():
            node.refuse("peepholes are not supported")
    _activation(node)
    x, bias, states = _prepared(node, x, r, b, lengths, [h0, c0])
    made = node.make.lstm(x, w, r, bias, *states, direction=_direction(node))
    return _arranged(node, made)


def _direction(node: Node) -> str:
    return node.text("direction", "forward").lower()


def _activation(node: Node) -> str:
    """Return the activation of a plain layer; refuse what the others do not have."""
    node.floats("activation_alpha")
    node.floats("activation_beta")
    usual = ACTIVATIONS[node.op_type]
    given = tuple(name.lower() for name in node.texts("activations") or usual)
    if node.has("clip"):
        node.refuse("clipping is not supported")
    ways = len(given) // len(usual)
    if given == usual * ways:
        return usual[0]
    if node.op_type == "RNN" and set(given) == {"relu"}:
        return "relu"
    return node.refuse(f"activations {', '.join(given)} are not supported")


def _prepared(
    node: Node, x: Value, r: Value, b: Value | None, lengths: Value | None,
    states: Sequence[Value | None],
) -> tuple[Value, Value, list[Value]]:  # fmt: skip
    """Return the input with time first, biases and first states, zero where not given."""
    node.has("output_sequence")
    if node.rank(x) != 3 or node.rank(r) != 3:
        node.fail(f"ranks {node.rank(x)} and {node.rank(r)}, expected 3 and 3")
    batch_first = bool(node.integer("layout", 0))
    if batch_first:
        x = node.make.transpose(x, order=(1, 0, 2))
        states = [None if s is None else node.make.transpose(s, order=(1, 0, 2)) for s in states]
    steps, batch, _ = node.shape(x)
    ways, _, hidden = node.shape(r)
    if (given := node.integer("hidden_size", 0)) not in (0, hidden):
        node.fail(f"hidden_size {given}, expected {hidden} as the weights have")
    if lengths is not None and not _are_full(node, lengths, steps):
        node.refuse("sequences of different lengths are not supported")
    make, dtype = node.make, node.dtype(x)
    if b is None:
        b = make.filled(0, dtype, (ways, hidden * (2 * GATES[node.op_type])))
    zeros = make.filled(0, dtype, (ways, batch, hidden)) if None in states else None
    return x, b, [zeros if s is None else s for s in states]


def _are_full(node: Node, lengths: Value, steps: object) -> bool:
    known = node.known(lengths)
    return known is not None and bool(np.all(known == steps))


def _arranged(node: Node, made: Sequence[Value]) -> Sequence[Value]:
    """Return the results with the batch first if the node wants it so."""
    if not node.integer("layout", 0):
        return made
    first, *last = made
    moved = node.make.transpose(first, order=(2, 0, 1, 3))
    return [moved, *(node.make.transpose(s, order=(1, 0, 2)) for s in last)]
