"""Lists that loops of ONNX models append to: rows that compiled code writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper

import gravure as gv
from gravure.frontend.models.pieces import SteppedModel

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
W = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 4)).astype(np.float32)


def body(
    nodes: list[NodeProto], states: list[str], results: list[str], lists: int = 1
) -> onnx.GraphProto:
    """Return a trip: the last states are lists."""
    number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    go = [helper.make_tensor_value_info(n, TensorProto.BOOL, []) for n in ("go", results[0])]

    def info(name: str, *, is_list: bool) -> onnx.ValueInfoProto:
        if is_list:
            return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)

    split = len(states) - lists
    given = [info(name, is_list=k >= split) for k, name in enumerate(states)]
    made = [info(name, is_list=k >= split) for k, name in enumerate(results[1:])]
    return helper.make_graph(nodes, "trip", [number, go[0], *given], [go[1], *made])


TRIP = [node("MatMul", ["h", "w"], ["p"]), node("Tanh", ["p"], ["h2"])]
APPEND = node("SequenceInsert", ["s", "h2"], ["s2"])


def rows(trips: int, first: int = 0) -> list[Any]:
    """Return what is appended in so many trips, behind so many that are there."""
    found, h = [X] * first, X
    for _ in range(trips):
        h = np.tanh(h @ W)
        found.append(h)
    return found


@pytest.mark.parametrize(("is_new", "axis", "first"), [(1, 2, 0), (1, 0, 2), (0, 1, 0), (0, 0, 2)])
def test_what_trips_append_to_a_list_is_joined(
    model: Make, is_new: int, axis: int, first: int
) -> None:
    trip = body([*TRIP, node("Identity", ["go"], ["on"]), APPEND], ["h", "s"], ["on", "h2", "s2"])
    start = (
        node("SequenceConstruct", ["x"] * first, ["s0"])
        if first
        else node("SequenceEmpty", [], ["s0"])
    )
    made = model(
        [start, node("Loop", ["n", "", "x", "s0"], ["last", "all"], body=trip),
         node("ConcatFromSequence", ["all"], ["y"], axis=axis, new_axis=is_new),
         node("SequenceLength", ["all"], ["count"])],
        {"x": ("f32", [2, 4]), "n": ("i64", [])}, ["y", "last", "count"], {"w": W},
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    assert not any("loop" in str(step) for step in getattr(found, "host_steps", ()))
    for trips in (1, 3, 70, 2):
        wanted = rows(trips, first)
        y, last, count = found.run([X, np.array(trips)])
        join = np.stack if is_new else np.concatenate
        np.testing.assert_allclose(y, join(wanted, axis), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(last, wanted[-1], rtol=1e-4, atol=1e-6)
        assert count == trips + first
    if first:
        np.testing.assert_array_equal(found.run([X, np.array(0)])[0], join([X] * first, axis))


def test_a_list_of_a_loop_that_ends_by_itself_is_collected_by_compiled_code(model: Make) -> None:
    """Each trip was three steps of the host, at fourteen times onnxruntime's time."""
    trip = body(
        [*TRIP, node("ReduceMax", ["h2"], ["m"], keepdims=0), node("Add", ["m", "m"], ["mm"]),
         node("Cast", ["i"], ["f"], to=1), node("Add", ["mm", "f"], ["sum"]),
         node("Less", ["sum", "most"], ["on"]), APPEND],
        ["h", "s"], ["on", "h2", "s2"],
    )  # fmt: skip
    made = model(
        [node("SequenceEmpty", [], ["s0"]),
         node("Loop", ["", "t", "x", "s0"], ["last", "all"], body=trip),
         node("ConcatFromSequence", ["all"], ["y"], axis=0, new_axis=1)],
        {"x": ("f32", [2, 4]), "most": ("f32", [])}, ["y", "last"],
        {"w": W, "t": np.array(True)},
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    assert isinstance(found, SteppedModel)
    (loop,) = found.growing.values()
    assert found.straight is not None
    for most in (3.0, 100.0, 0.0, 300.0, 5.0):
        count = next(n + 1 for n, h in enumerate(rows(400)[0:]) if not 2 * h.max() + n < most)
        y, last = found.run([X, np.float32(most)])
        np.testing.assert_allclose(y, np.stack(rows(count)), rtol=1e-3, atol=1e-5)
        np.testing.assert_array_equal(last, y[-1])
    assert [*loop.made] == [64, 256, 1024]


def test_lists_whose_values_differ_in_size_stay_lists(model: Make) -> None:
    trip = body(
        [node("Concat", ["h", "x"], ["h2"], axis=0), node("Identity", ["go"], ["on"]), APPEND],
        ["h", "s"], ["on", "h2", "s2"],
    )  # fmt: skip
    made = model(
        [node("SequenceEmpty", [], ["s0"]),
         node("Loop", ["n", "", "x", "s0"], ["last", "all"], body=trip),
         node("ConcatFromSequence", ["all"], ["y"], axis=0)],
        {"x": ("f32", [2, 4]), "n": ("i64", [])}, ["y"],
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    for trips in (1, 3):
        wanted = np.concatenate([X] * sum(range(2, trips + 2)))
        np.testing.assert_array_equal(found.run([X, np.array(trips)])[0], wanted)


def test_a_list_is_a_result_where_its_values_are_looked_at(model: Make) -> None:
    """One list is only appended to, the other one is read in each trip."""
    trip = body(
        [*TRIP, node("Identity", ["go"], ["on"]), APPEND, node("SequenceAt", ["r", "i"], ["old"]),
         node("Add", ["old", "h2"], ["new"]), node("SequenceInsert", ["r", "new"], ["r2"])],
        ["h", "s", "r"], ["on", "h2", "s2", "r2"], 2,
    )  # fmt: skip
    made = model(
        [node("SequenceEmpty", [], ["s0"]), node("SequenceConstruct", ["x"], ["r0"]),
         node("Loop", ["n", "", "x", "s0", "r0"], ["last", "all", "others"], body=trip),
         node("ConcatFromSequence", ["all"], ["y"], axis=0),
         node("ConcatFromSequence", ["others"], ["z"], axis=0),
         node("SequenceAt", ["all", "k"], ["one"])],
        {"x": ("f32", [2, 4]), "n": ("i64", []), "k": ("i64", [])}, ["y", "z", "one"], {"w": W},
    )  # fmt: skip
    wanted = rows(3)
    y, z, one = gv.compile(made.SerializeToString()).run([X, np.array(3), np.array(-2)])
    np.testing.assert_allclose(y, np.concatenate(wanted), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one, wanted[1], rtol=1e-4, atol=1e-6)
    others = np.cumsum([X, *wanted], axis=0)
    np.testing.assert_allclose(z, np.concatenate([*others]), rtol=1e-4, atol=1e-6)
