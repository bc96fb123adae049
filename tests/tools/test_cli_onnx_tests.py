"""`gravure run --onnx-test` and `gravure explain shapes`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

X = np.float32([1, 0, -2])


def write_case(folder: Path, op: str, wanted: Any, *, opset: int = 20) -> None:
    """Write a test folder of one operator."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], name="n")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_empty_tensor_value_info("y")],
    )
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]),
        folder / "model.onnx",
    )
    for name, array in (("input", X), ("output", wanted)):
        (data / f"{name}_0.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    write_case(tmp_path / "a_right", "NonZero", np.array([[0, 2]]))
    write_case(tmp_path / "b_wrong", "Relu", np.float32([1, 0, 1]))
    write_case(tmp_path / "c_refused", "NoSuch", X)
    return tmp_path


def test_folders_of_cases_are_judged(gravure: Any, cases: Path) -> None:
    found = gravure("run", "--onnx-test", cases)
    assert found.status == 1
    lines = found.out.splitlines()
    assert lines[0].split() == ["ok", "a_right"]
    assert "output 'y': 1 of 3 elements differ, at (2,) found 0.0, expected 1.0" in lines[1]
    assert lines[2].startswith("refused")
    assert "NoSuch" in lines[2]
    assert lines[3] == "1 ok, 1 wrong, 1 refused, 0 error"
    assert gravure("run", "--onnx-test", cases / "a_right").status == 0
    assert gravure("run", "--onnx-test", cases / "b_wrong", "--atol", 2).status == 0
    counts = gravure("run", "--onnx-test", cases, "--json").json["counts"]
    assert counts == {"ok": 1, "wrong": 1, "refused": 1, "error": 0}


@pytest.mark.parametrize(
    ("damage", "status", "said"),
    [
        ({"model.onnx": None}, 66, "no test here"),
        ({"model.onnx": b"\xff\xff"}, 1, "not an ONNX model"),
        ({"test_data_set_0/output_0.pb": None}, 1, "output_0.pb is missing"),
        ({"test_data_set_0/input_0.pb": b"\xff"}, 1, "no value of the standard"),
    ],
)
def test_damaged_cases(
    gravure: Any, cases: Path, damage: dict[str, bytes | None], status: int, said: str
) -> None:
    for name, data in damage.items():
        path = cases / "a_right" / name
        path.unlink() if data is None else path.write_bytes(data)
    found = gravure("run", "--onnx-test", cases / "a_right")
    assert found.status == status
    assert said in found.out + found.err
    assert "internal" not in found.err


def model_of(path: Path, nodes: Sequence[onnx.NodeProto], inputs: dict[str, list[Any]]) -> Path:
    """Write a model of floats."""
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in inputs.items()
    ]
    outputs = [helper.make_empty_tensor_value_info("y")]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", values, outputs)), path)
    return path


def test_each_constraint_is_told_with_its_node(gravure: Any, tmp_path: Path) -> None:
    node = helper.make_node
    path = model_of(
        tmp_path / "m.onnx",
        [
            node("Add", ["a", "b"], ["s"], name="sum"),
            node("NonZero", ["s"], ["p"], name="find"),
            node("Neg", ["p"], ["y"]),
        ],
        {"a": ["N", 4], "b": [None, 4]},
    )
    found = gravure("explain", "shapes", path, "--dim", "N=2..8")
    assert found.status == 0
    rows = [line.split("  ", 1) for line in found.out.splitlines()]
    told = {condition: cause.strip() for condition, cause in rows}
    assert told["2 <= N <= 8"] == "dimension 0 of input 'a', dimension 0 of input 'b'"
    assert told["0 <= p <= 32"] == "known when node 'find' (gv.non_zero) was run"
    assert told["b_d0 = N"].startswith("node 'sum': gv.add: shapes (N, 4) and (b_d0, 4)")
    data = gravure("explain", "shapes", path, "--dim", "N=2..8", "--json").json
    assert [row["condition"] for row in data["constraints"]] == list(told)


def test_shapes_wants_a_model(gravure: Any, tmp_path: Path) -> None:
    assert gravure("explain", "shapes").status == 2
    assert gravure("explain", "GV2100", "m.onnx").status == 2
    path = model_of(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": [2]})
    assert gravure("explain", "shapes", path).out == "all sizes are numbers\n"
