"""`gravure run --outputs all`: tensors inside are compared, the first that differs is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
)

import gravure as gv
from gravure.errors import GravureError
from gravure.frontend.programs.marked import mark
from gravure.tools.comparing import judges

FLOAT = onnx.TensorProto.FLOAT


def changed(source: Path, path: Path, name: str) -> Path:
    """Write a model with other numbers in one stored tensor."""
    model = onnx.load(source)
    [tensor] = [t for t in model.graph.initializer if t.name == name]
    tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * 1.5, name))
    onnx.save(model, path)
    return path


def test_all_tensors_are_those_of_others(gravure: Any, models: Path) -> None:
    pytest.importorskip("onnxruntime")
    found = gravure("run", models / "digits.onnx", "--vs", "ort", "--vs", "interp", "--outputs=all")
    assert found.status == 0
    assert "10 tensors against ort: all are ok" in found.out
    assert "10 tensors against interp: all are ok" in found.out


def test_the_first_that_differs_is_named(gravure: Any, models: Path, tmp_path: Path) -> None:
    other = changed(models / "digits.onnx", tmp_path / "other.onnx", "conv2.weight")
    arguments = ["run", models / "digits.onnx", "--vs", other, "--outputs", "all"]
    found = gravure(*arguments)
    assert found.status == 1
    assert "first: c2, by Conv Conv_c2, of x1 (ok), conv2.weight" in found.out
    data = json.loads(gravure(*arguments, "--json").out)["tensors"][str(other)]
    assert data["first"]["name"] == "c2"
    assert [row["name"] for row in data["tensors"]][:4] == ["x0", "c1", "n1", "x1"]
    assert [row["close"] for row in data["tensors"]][:5] == [True, True, True, True, False]


def test_a_wrong_kernel_is_found_where_it_is(
    models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    right = judges.by_interpreter

    def wrong(task: judges.Task) -> dict[str, Any]:
        found = right(task)
        return {name: value + (name in ("x1", "n2")) for name, value in found.items()}

    monkeypatch.setitem(judges.JUDGES, "interp", wrong)  # type: ignore[arg-type]
    found = gv.run(models / "digits.onnx", against=["interp"], outputs="all")
    assert not found.is_close
    assert found.tensors is not None
    assert found.tensors.first("interp") == "x1"
    assert "no tensor differs where all are kept" not in str(found)


def test_what_is_kept_can_be_compared_with_later(gravure: Any, tmp_path: Path) -> None:
    text, kept = tmp_path / "m.gv", tmp_path / "all.npz"
    text.write_text("model m(x: f32[2]) -> (y) {\n  a = exp(x)\n  y = relu(tanh(a)) + a\n}\n")
    assert gravure("run", text, "--outputs", "all", "-o", kept).status == 0
    assert [*np.load(kept)] == ["m.gv:2", "m.gv:3", "m.gv:3.2", "y"]
    text.write_text(text.read_text().replace("tanh", "sin"))
    found = gravure("run", text, "--outputs", "all", "--vs", kept)
    assert found.status == 1
    assert "first: m.gv:3, by gv.sin at m.gv:3, of m.gv:2 (ok)" in found.out


def test_a_function_and_ir_text_are_looked_into(gravure: Any, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(
        "import gravure as gv\n\n@gv.function\ndef f(x):\n    return gv.exp(gv.sum(x * 2.0))\n"
    )
    given = ["-i", "x=3x4xf32", "--vs", "interp", "--outputs", "all"]
    found = gravure("run", f"{file}:f", *given)
    assert (found.status, found.err) == (0, "")
    assert "3 tensors against interp: all are ok" in found.out
    text = tmp_path / "f.mlir"
    assert gravure("opt", f"{file}:f", "--shape", "x=N,4", "-p", "dce", "-o", text).status == 0
    assert gravure("run", text, *given, "--save-inputs", tmp_path / "x.npz").status == 0
    assert np.load(tmp_path / "x.npz")["x"].shape == (3, 4)


def test_sequences_are_left_out(tmp_path: Path) -> None:
    nodes = [
        make_node("SplitToSequence", ["x"], ["/s/seq"], axis=0),
        make_node("ConcatFromSequence", ["/s/seq"], ["/s/c"], axis=1),
        make_node("Relu", ["/s/c"], ["y"]),
    ]
    graph = make_graph(
        nodes,
        "g",
        [make_tensor_value_info("x", FLOAT, [4, 3])],
        [make_tensor_value_info("y", FLOAT, None)],
    )
    model = make_model(graph, opset_imports=[make_opsetid("", 20)], ir_version=10)
    assert [*mark(model.SerializeToString(), tmp_path).tensors] == ["/s/c", "y"]
    found = gv.run(model.SerializeToString(), against=["interp"], outputs="all")
    assert found.is_close


def test_inside_of_a_library_is_nothing(models: Path, tmp_path: Path) -> None:
    gv.compile(models / "mlp.onnx").save(tmp_path / "m.so")
    with pytest.raises(GravureError, match="inside of a library are gone"):
        gv.run(tmp_path / "m.so", outputs="all")
    with pytest.raises(GravureError, match="expected 'all'"):
        gv.run(models / "mlp.onnx", outputs="some")


def test_a_mistake_in_a_function_is_told_with_its_line(gravure: Any, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text("import gravure as gv\n\n\ndef f(x):\n    return gv.nothing_such(x)\n")
    found = gravure("run", f"{file}:f", "-i", "x=3xf32")
    assert found.status == 65
    assert "f.py:5: AttributeError" in found.err
