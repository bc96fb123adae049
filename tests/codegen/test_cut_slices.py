"""Slices by bounds that a run computes, in libraries: they are cut to the axis, as numpy cuts."""

from __future__ import annotations

import itertools
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


FAR = 1 << 40
Bound = int | tuple[int, int]
"""A number, or a pair: so often the size, and so much less."""


def cut(bounds: tuple[Bound, Bound], step: int, other: str) -> bytes:
    """Return `x[start:end:step]`, each squared, where bounds are computed of the size `other`."""
    nodes, numbers = [helper.make_node("Shape", ["y"], ["m"], end=1)], {"step": step, "axis": 0}
    for name, bound in zip(("start", "end"), bounds, strict=True):
        if isinstance(bound, int):
            numbers[name] = bound
            continue
        numbers[f"{name}_times"], numbers[f"{name}_less"] = bound
        nodes += [
            helper.make_node("Mul", ["m", f"{name}_times"], [f"{name}_most"]),
            helper.make_node("Sub", [f"{name}_most", f"{name}_less"], [name]),
        ]
    nodes += [
        helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["part"]),
        helper.make_node("Mul", ["part", "part"], ["z"]),
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 3])
        for name, size in (("x", "n"), ("y", other))
    )
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    given = [helper.make_tensor(name, TensorProto.INT64, [1], [v]) for name, v in numbers.items()]
    graph = helper.make_graph(nodes, "cut", [x, y], [z], given)
    opset = helper.make_opsetid("", 17)
    made: bytes = helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()
    return made


def bound_of(bound: Bound, m: int) -> int:
    """Return a bound where the size is m."""
    return bound if isinstance(bound, int) else bound[0] * m - bound[1]


@pytest.mark.parametrize("other", ["n", "m"])
@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (0, (1, 3), 1),
        (1, (1, 3), 1),
        ((1, 3), FAR, 1),
        (-2, (1, 2), 2),
        (-3, (1, 2), 2),
        (0, (-1, 0), 1),
        ((-1, 0), FAR, 1),
        ((1, 3), -FAR, -1),
        (FAR, (1, 3), -1),
        (-1, (1, 3), -1),
        ((1, 4), (1, 1), 1),
        ((1, 4), (1, 1), 2),
        ((-1, -1), (-1, -2), 3),
    ],
)
def test_bounds_below_0_count_from_the_end(
    start: Bound, end: Bound, step: int, other: str, tmp_path: Path
) -> None:
    path = tmp_path / "cut.so"
    sizes = dict.fromkeys({"n", other}, (0, 64))
    gv.compile(cut((start, end), step, other), dims=sizes).save(path)
    model = gv.load(path)
    for n, m in itertools.product(range(6), repeat=2):
        if other == "n" and n != m:
            continue
        x, y = (np.arange(size * 3, dtype=np.float32).reshape(size, 3) for size in (n, m))
        first = bound_of(start, m)
        if step < 0:
            first = max(first, -n)  # as ONNX has it: the first one
        last = bound_of(end, m)
        wanted = x[slice(first, last, step)] if n else x
        for at_end in (True, False):
            (found,) = model.run([guarded(x, at_end=at_end), guarded(y, at_end=at_end)])
            np.testing.assert_array_equal(found, wanted * wanted, f"{n} {m}")


def test_of_few_rows_a_bound_far_below_0_is_refused(tmp_path: Path) -> None:
    """Of 60 rows `m - 100` is the 20th, and not 0."""
    gv.compile(sliced(100, from_there=False), dims={"m": (0, 640)}).save(tmp_path / "sliced.so")
    model = gv.load(tmp_path / "sliced.so")
    assert model.run([np.ones((104, 3), np.float32)])[0].shape == (4, 3)
    with pytest.raises(gv.GravureError, match="m - 100"):
        model.run([np.ones((60, 3), np.float32)])
