"""Rules for graphs inside of nodes: branches, loops, scans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper

from . import elementwise, moves
from .elementwise import Rule, needs
from .maker import Grower, UnfitError, Value, onnx_type

FEW = 3


def described(value: Value) -> onnx.ValueInfoProto:
    """Return how a value is declared: its type alone."""
    return helper.make_tensor_value_info(value.name, onnx_type(value.dtype), None)


def body(
    maker: Grower, name: str, inputs: Sequence[Value], outputs: Sequence[Value]
) -> onnx.GraphProto:
    """Return a maker's nodes as a graph."""
    every = [described(value) for value in inputs], [described(value) for value in outputs]
    return helper.make_graph(maker.nodes, name, *every)


def decided(maker: Grower) -> Value:
    """Return a condition: an input, a constant, or one that is computed."""
    truths = [v for v in maker.visible() if v.dtype == "bool" and not v.shape]
    if truths and maker.chance(0.5):
        return maker.choose(truths)
    numbers = [v for v in maker.visible() if v.is_exact and v.dtype == "float32"]
    if numbers and maker.chance(0.5):
        x = maker.choose(numbers)
        whole = maker.node("ReduceSum", [x], most=x.most * 2e4, step=x.step, single=False,
                           keepdims=0)  # fmt: skip
        needs(whole.is_exact)
        zero = maker.constant(np.array(0, np.float32))
        return maker.node("Less", [whole, zero], "bool", most=1.0, step=1.0)
    return maker.input("bool", ())


def like(maker: Grower, inner: Grower, x: Value) -> Value:
    """Return a value of the same type and shape that some rules make of one."""
    value = x
    for _ in range(maker.number(0, FEW)):
        rule = maker.choose([*elementwise.RULES, moves.sliced, moves.transposed, moves.reshaped])
        before = len(inner.nodes)
        try:
            made = rule(inner, value)
        except UnfitError:
            del inner.nodes[before:]
            continue
        inner.values.append(made)
        value = made if (made.dtype, made.shape) == (x.dtype, x.shape) else value
    name = inner.fresh()
    inner.nodes.append(helper.make_node("Identity", [value.name], [name]))
    return Value(name, x.dtype, x.shape, value.most, value.step, value.noise, value.single)


def branched(maker: Grower, x: Value) -> Value:
    """Return what one of two branches makes."""
    test = decided(maker)
    made, graphs = [], []
    for name in ("then", "else"):
        inner = maker.inside()
        made.append(like(maker, inner, x))
        graphs.append(body(inner, name, [], made[-1:]))
    return maker.append(
        "If", [test], [x.shape], x.dtype, most=max(v.most for v in made),
        step=min(v.step for v in made), noise=max(v.noise for v in made),
        single=all(v.single for v in made), then_branch=graphs[0], else_branch=graphs[1],
    )  # fmt: skip


def repeated(maker: Grower, x: Value) -> Value:
    """Return what a loop carries, and sometimes all that it carried."""
    needs(x.dtype != "bool")
    trips = maker.number(0, FEW)
    inner = maker.inside()
    index, go = (Value(inner.fresh(), dtype, (), 3.0, 1.0) for dtype in ("int64", "bool"))
    carried = Value(inner.fresh(), x.dtype, x.shape, 4 * x.most + 8, x.step / 4, x.noise, x.single)
    inner.values += [carried, index]
    made = like(maker, inner, carried)
    needs(made.most <= carried.most and made.step >= carried.step and made.noise <= x.noise)
    still = inner.fresh()
    inner.nodes.append(helper.make_node("Identity", [go.name], [still]))
    again = Value(still, "bool", ())
    collects = maker.chance(0.4)
    collected = [Value(inner.fresh(), made.dtype, made.shape)] if collects else []
    inner.nodes += [helper.make_node("Identity", [made.name], [v.name]) for v in collected]
    graph = body(inner, "loop", [index, go, carried], [again, made, *collected])
    count = maker.constant(np.array(trips, np.int64))
    if maker.chance(0.3):
        count = maker.input("int64", ())
        collected = []
    test = decided(maker) if maker.chance(0.3) else None
    shapes = [x.shape, (maker.fixed(trips), *x.shape)] if collects else [x.shape]
    value = maker.append("Loop", [count, test, x], shapes, x.dtype, most=carried.most,
                         step=carried.step, noise=carried.noise, single=x.single,
                         body=graph)  # fmt: skip
    if collected and test is None:
        name = maker.nodes[-1].output[1]
        maker.values.append(Value(name, x.dtype, shapes[1], value.most, value.step, value.noise))
    return value


def scanned(maker: Grower, x: Value) -> Value:
    """Return the sums of the rows of a value up to each, and a row of its own for each."""
    needs(x.dtype in ("float32", "float64", "int64") and x.rank > 1 and not x.can_be_empty)
    row = x.shape[1:]
    rounds = max(x.shape[0])
    inner = maker.inside()
    state = Value(inner.fresh(), x.dtype, row, x.most * rounds, x.step, x.noise * rounds)
    each = Value(inner.fresh(), x.dtype, row, x.most, x.step, x.noise, x.single)
    inner.values += [state, each]
    total, out = inner.fresh(), inner.fresh()
    name = maker.choose(["Add", "Max", "Sub"])
    if name == "Max":
        needs(x.is_float)
    inner.nodes += [
        helper.make_node(name, [state.name, each.name], [total]),
        helper.make_node(maker.choose(["Identity", "Neg"]), [total], [out]),
    ]
    ends = [Value(total, x.dtype, row), Value(out, x.dtype, row)]
    graph = body(inner, "scan", [state, each], ends)
    zero = maker.constant(np.zeros((), np.int64))
    first = maker.node("Gather", [x, zero], most=x.most, step=x.step, noise=x.noise, axis=0)
    way = maker.number(0, 1)
    noise = 2 * rounds * x.noise
    value = maker.append(
        "Scan", [first, x], [row, x.shape], x.dtype, most=x.most * (rounds + 1), step=x.step,
        noise=noise, single=False, body=graph, num_scan_inputs=1, scan_input_directions=[way],
        scan_output_directions=[maker.number(0, 1)],
    )  # fmt: skip
    rows = Value(maker.nodes[-1].output[1], x.dtype, x.shape, value.most, value.step, value.noise,
                 single=False)  # fmt: skip
    maker.values.append(rows)
    return value


RULES: tuple[Rule, ...] = (branched, branched, repeated, repeated, scanned)
