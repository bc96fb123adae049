"""Recurrent layers, which are in ONNX's own layout."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir import Op
from .rules import writes
from .writer import Writer


@writes("gv.lstm", "gv.gru", "gv.rnn")
def recurrent(out: Writer, op: Op, x: str, w: str, r: str, b: str, *states: str) -> Sequence[str]:
    """Write the layer with all states given."""
    rules, hidden = op.plain_attributes(), op.specs[2].dims[-1]
    more = {"direction": rules["direction"], "hidden_size": hidden}
    if op.name == "gv.gru":
        more["linear_before_reset"] = int(rules["linear_before_reset"])
    if op.name == "gv.rnn":
        name = {"tanh": "Tanh", "relu": "Relu"}[rules["activation"]]
        more["activations"] = [name] * (2 if rules["direction"] == "bidirectional" else 1)
    operator = op.name.removeprefix("gv.").upper()
    made: Sequence[str] = out.node(
        operator, x, w, r, b, "", *states, outputs=len(op.results), **more
    )
    return made
