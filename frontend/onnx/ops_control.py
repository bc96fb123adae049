"""Rules of control flow that is decided while the model is read.

A condition that is known takes its branch. Of branches that have the same results both are
computed and one is selected: operations have no effects, so that only time is lost. Loops whose
number of trips is known are unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto

from ...ir import compositions as c
from ...ir import dtypes as d
from ...ir.shapes import normalize_axis
from .node import Node, Value
from .rules import rule

MAX_TRIPS = 1024
"""Loops of more trips are not unrolled."""


@rule("If")
def if_(node: Node, condition: Value) -> Sequence[Value]:
    """Take a branch, or select between both."""
    branches: list[GraphProto] = [node.graph("then_branch"), node.graph("else_branch")]
    known = node.known(condition)
    if known is not None and known.dtype != object:
        return node.read_graph(branches[0 if known.ravel()[0] else 1], ())
    taken, other = (node.read_graph(branch, ()) for branch in branches)
    where = node.make.reshape(condition, shape=())
    made = []
    for a, b in zip(taken, other, strict=True):
        if node.spec(a) != node.spec(b):
            specs = f"{node.spec(a)} and {node.spec(b)}"
            node.refuse(f"branches of different results, {specs}, are not supported")
        made.append(node.make.select(where, a, b))
    return made


@rule("Loop")
def loop(
    node: Node, trips: Value | None = None, condition: Value | None = None, *states: Value
) -> Sequence[Value]:
    """Unroll a loop whose number of trips is known."""
    body = node.graph("body")
    count = MAX_TRIPS + 1 if trips is None else int(node.numbers(trips, "M").ravel()[0])
    goes_on = condition is None or _is_true(node, condition)
    now, collected = list(states), []
    trip = 0
    while goes_on and trip < count:
        if trip >= MAX_TRIPS:
            node.refuse(f"more than {MAX_TRIPS} trips are not unrolled")
        number = node.make.number(trip, d.i64)
        goes, *made = node.read_graph(body, [number, node.make.number(True, d.bool_), *now])
        now, seen = made[: len(states)], made[len(states) :]
        collected.append(seen)
        goes_on = _is_true(node, goes)
        trip += 1
    scans = len(body.output) - 1 - len(states)
    if not collected and scans:
        node.refuse("a loop without trips that collects values is not supported")
    stacks = [c.stack(node.emit, column, 0) for column in zip(*collected, strict=True)]
    return [*now, *stacks]


def _is_true(node: Node, condition: Value) -> bool:
    return bool(node.numbers(condition, "cond").ravel()[0])


@rule("Scan", until=8)
def scan_of_batches(node: Node, *operands: Value | None) -> Sequence[Value]:
    """Refuse the first form, which goes over batches too."""
    return node.refuse("Scan before opset 9 is not supported", hint="export with opset 9 or newer")


@rule("Scan", since=9)
def scan(node: Node, *operands: Value) -> Sequence[Value]:
    """Unroll a scan over an axis whose extent is known."""
    body, width = node.graph("body"), node.integer("num_scan_inputs")
    states, inputs = list(operands[:-width]), operands[-width:]
    ranks = [node.rank(x) for x in inputs]
    axes = _listed(node, "scan_input_axes", width)
    axes = [normalize_axis(a, r) for a, r in zip(axes, ranks, strict=True)]
    backward = _listed(node, "scan_input_directions", width)
    count = {node.shape(x)[axis] for x, axis in zip(inputs, axes, strict=True)}
    trips = count.pop()
    if count or not isinstance(trips, int) or not 0 < trips <= MAX_TRIPS:
        node.refuse(f"a scan over {trips} elements is not unrolled")
    collected: list[Sequence[Any]] = []
    for trip in range(trips):
        parts = []
        for x, axis, back in zip(inputs, axes, backward, strict=True):
            at = trips - 1 - trip if back else trip
            parts.append(c.squeeze(node.emit, c.cut(node.emit, x, axis, at, at + 1), (axis,)))
        made = node.read_graph(body, [*states, *parts])
        states = made[: len(states)]
        collected.append(made[len(states) :])
    return [*states, *_stacked(node, collected)]


def _stacked(node: Node, collected: Sequence[Sequence[Any]]) -> list[Value]:
    """Return what each trip of a scan gives, along the axis and in the order it wants."""
    columns = list(zip(*collected, strict=True))
    axes = _listed(node, "scan_output_axes", len(columns))
    backward = _listed(node, "scan_output_directions", len(columns))
    made = []
    for column, axis, back in zip(columns, axes, backward, strict=True):
        ordered = column[::-1] if back else column
        at = normalize_axis(axis, node.rank(column[0]) + 1)
        made.append(c.stack(node.emit, ordered, at))
    return made


def _listed(node: Node, name: str, count: int) -> list[int]:
    given = node.integers(name) or (0,) * count
    if len(given) != count:
        node.fail(f"{name} has {len(given)} numbers, expected {count}")
    return list(given)


@rule("NonZero")
def non_zero(node: Node, x: Value) -> Value:
    """Return the places of elements that are not 0, of a value that is known."""
    known = node.known(x)
    if known is None or known.dtype == object:
        hint = "its result's shape depends on data; mask with Where instead"
        node.refuse("the operand must be a constant", hint=hint)
    return node.stored(f"{node.label}.places", np.array(np.nonzero(known), np.int64))


@rule("Compress")
def compress(node: Node, x: Value, condition: Value) -> Value:
    """Take the slices for which a known condition holds."""
    chosen = np.flatnonzero(node.numbers(condition, "condition"))
    if node.has("axis"):
        axis = normalize_axis(node.integer("axis"), node.rank(x))
    else:
        x, axis = node.make.reshape(x, shape=(node.spec(x).size,)), 0
    return node.make.gather(x, node.stored(f"{node.label}.places", chosen), axis=axis)
