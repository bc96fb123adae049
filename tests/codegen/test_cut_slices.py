"""Slices by bounds that a run computes, in libraries: they are cut to the axis, as numpy cuts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from guard_pages import guarded
from onnx import TensorProto, helper

import gravure as gv


def sliced(away: int, *, from_there: bool) -> bytes:
    """Return `x[:m - away]`, or `x[m - away:]`, of m rows, each squared."""
    bounds = ["end", "far"] if from_there else ["none", "end"]
    nodes = [
        helper.make_node("Shape", ["x"], ["m"], end=1),
        helper.make_node("Sub", ["m", "away"], ["end"]),
        helper.make_node("Slice", ["x", *bounds], ["part"]),
        helper.make_node("Mul", ["part", "part"], ["y"]),
    ]
    numbers = [
        helper.make_tensor(name, TensorProto.INT64, [1], [value])
        for name, value in (("away", away), ("far", 1 << 40), ("none", 0))
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "sliced", [x], [y], numbers)
    opset = helper.make_opsetid("", 17)
    made: bytes = helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()
    return made


@pytest.mark.parametrize("from_there", [False, True])
@pytest.mark.parametrize("away", [1, 2])
def test_bounds_before_the_first_element(away: int, from_there: bool, tmp_path: Path) -> None:
    path = tmp_path / "sliced.so"
    gv.compile(sliced(away, from_there=from_there), dims={"m": (0, 64)}).save(path)
    model = gv.load(path)
    for rows in (0, 1, 2, 3, 17):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        wanted = x[rows - away :] if from_there else x[: rows - away]
        for at_end in (True, False):
            (found,) = model.run([guarded(x, at_end=at_end)])
            np.testing.assert_array_equal(found, wanted * wanted)


def test_of_few_rows_a_bound_that_counts_from_the_end_is_refused(tmp_path: Path) -> None:
    """Of two rows `m - 3` is the last, and not 0."""
    gv.compile(sliced(3, from_there=False), dims={"m": (0, 64)}).save(tmp_path / "sliced.so")
    model = gv.load(tmp_path / "sliced.so")
    assert model.run([np.ones((4, 3), np.float32)])[0].shape == (1, 3)
    with pytest.raises(gv.GravureError, match="m - 3"):
        model.run([np.ones((2, 3), np.float32)])
