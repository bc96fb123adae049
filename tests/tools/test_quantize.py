"""Models that compute in fewer bits: what is written, how accurate it is, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.errors import GravureError
from gravure.tools.verbs.quantize import accuracy_of

MODELS = Path(__file__).parents[1] / "models"
DIGITS = MODELS / "digits.onnx"


@pytest.fixture(scope="module")
def images() -> Any:
    with np.load(MODELS / "digits_test.npz") as stored:
        return stored["images"][:60].astype(np.float32)


def model_of(path: Path, nodes: list[Any], weights: dict[str, Any], shape: list[int]) -> Path:
    """Write a model of one input x and one output y."""
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    ends += [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    stored = [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "m", ends[:1], ends[1:], stored)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def random(*shape: int, scale: float = 1.0) -> Any:
    return (np.random.default_rng(len(shape)).standard_normal(shape) * scale).astype(np.float32)


def test_a_classifier_stays_one(tmp_path: Path, images: Any) -> None:
    found = gv.quantize(DIGITS, tmp_path / "q.onnx", {"image": images})
    (row,) = found.accuracy
    assert (found.nodes, found.samples) == (3, 60)
    assert row.agreement == 1.0
    assert row.decibels > 30
    assert found.bytes_after < 0.4 * found.bytes_before
    kinds = {t.data_type for t in onnx.load(tmp_path / "q.onnx").graph.initializer}
    assert {TensorProto.INT8, TensorProto.INT32, TensorProto.UINT8} <= kinds


def test_others_read_it_alike(gravure: Any, tmp_path: Path, images: Any) -> None:
    pytest.importorskip("onnxruntime")
    gv.quantize(DIGITS, tmp_path / "q.onnx", {"image": images})
    np.save(tmp_path / "x.npy", images[:1])
    found = gravure("run", tmp_path / "q.onnx", "-i", f"image=@{tmp_path / 'x.npy'}", "--vs", "ort")
    assert found.status == 0, found.out


def test_weights_have_a_scale_for_each_channel(tmp_path: Path) -> None:
    steps = np.array([1e-3, 1.0, 1e3], np.float32)  # one scale for all would lose the first
    weights = {"w": random(8, 3) * steps, "t": random(3, 8) * steps[:, None], "b": steps}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Gemm", ["x", "t", "b"], ["g"], transB=1),
        helper.make_node("Concat", ["m", "g"], ["y"], axis=1),
    ]
    path = model_of(tmp_path / "m.onnx", nodes, weights, [4, 8])
    x = random(5, 4, 8)
    gv.quantize(path, tmp_path / "q.onnx", {"x": x})
    old, new = (gv.compile(p)(x[0]) for p in (path, tmp_path / "q.onnx"))
    scale = np.abs(old).max(axis=0)
    assert (np.abs(old - new).max(axis=0) / scale).max() < 0.03
    made = onnx.load(tmp_path / "q.onnx")
    assert sum(n.op_type == "QuantizeLinear" for n in made.graph.node) == 1, "x is quantised once"


def test_a_weight_that_others_read_too_stays(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node("Add", ["b", "w"], ["y"]),
    ]
    path = model_of(tmp_path / "m.onnx", nodes, {"w": random(8, 8)}, [8, 8])
    found = gv.quantize(path, tmp_path / "q.onnx", {"x": random(2, 8, 8)})
    assert found.nodes == 2
    names = [t.name for t in onnx.load(tmp_path / "q.onnx").graph.initializer]
    assert names.count("w") == 1
    assert sum(name.endswith("_i8") for name in names) == 1, "it is stored once"
    assert found.accuracy[0].decibels > 25


def test_outliers_can_be_left_out(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    path = model_of(tmp_path / "m.onnx", nodes, {"w": random(64, 4)}, [4, 64])
    x = random(3, 4, 64)
    x[0, 0, 0] = 1000
    whole = gv.quantize(path, tmp_path / "a.onnx", {"x": x})
    most = gv.quantize(path, tmp_path / "b.onnx", {"x": x}, percentile=99)
    calm = [gv.compile(tmp_path / name)(x[1]) for name in ("a.onnx", "b.onnx")]
    wanted = gv.compile(path)(x[1])
    errors = [np.abs(each - wanted).max() for each in calm]
    assert errors[1] < errors[0] / 4
    assert whole.accuracy[0].absolute < most.accuracy[0].absolute


@pytest.mark.parametrize(("dtype", "decibels"), [("f16", 55), ("bf16", 35)])
def test_sixteen_bits(tmp_path: Path, images: Any, dtype: str, decibels: float) -> None:
    found = gv.quantize(DIGITS, tmp_path / "h.onnx", {"image": images}, dtype=dtype)
    assert found.accuracy[0].decibels > decibels
    made = onnx.load(tmp_path / "h.onnx")
    assert all(t.data_type != TensorProto.FLOAT for t in made.graph.initializer)
    assert made.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT
    onnx.checker.check_model(made, full_check=True)


def test_what_must_be_f32_stays_so(tmp_path: Path) -> None:
    nodes = [helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="nearest")]
    weights = {"scales": np.array([1, 1, 2, 2], np.float32)}
    path = model_of(tmp_path / "m.onnx", nodes, weights, [1, 1, 2, 2])
    found = gv.quantize(path, tmp_path / "h.onnx", {"x": random(1, 1, 2, 2)}, dtype="f16")
    assert found.nodes == 0
    assert found.accuracy[0].absolute < 1e-2


def test_what_is_refused(tmp_path: Path, images: Any) -> None:
    out = tmp_path / "q.onnx"
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (DIGITS, None, {}, "there is no data"),
        (DIGITS, {"other": images, "more": images}, {}, "no array for input 'image'"),
        (DIGITS, {"image": images[0, 0]}, {}, "has 4 axes, its array has 2"),
        (DIGITS, {"image": images}, {"dtype": "i2"}, "dtype 'i2', expected one of"),
        (DIGITS, {"image": images}, {"percentile": 10.0}, "percentile 10"),
        (DIGITS, {"image": images * np.nan}, {}, "not finite"),
        (MODELS / "elementwise.onnx", None, {"dtype": "i8"}, "there is no data"),
        (b"model m(x: f32[4]) -> (y) { y = exp(x) }", None, {"dtype": "f16"}, "works on ONNX"),
    ]
    for source, data, more, said in cases:
        with pytest.raises(GravureError, match=said):
            gv.quantize(source, out, data, **more)
    assert not out.exists()


def test_accuracy_of_equal_and_of_small_results() -> None:
    same = accuracy_of("y", [(np.ones((2, 3)), np.ones((2, 3)))])
    assert (same.absolute, same.decibels, same.agreement) == (0.0, float("inf"), 1.0)
    assert same.as_json()["decibels"] is None
    assert accuracy_of("y", [(np.array(1.0), np.array(1.1))]).agreement is None


def test_the_command(gravure: Any, tmp_path: Path, images: Any) -> None:
    np.savez(tmp_path / "x.npz", image=images)
    out = tmp_path / "q.onnx"
    found = gravure("quantize", DIGITS, "--data", tmp_path / "x.npz", "-o", out)
    assert found.status == 0
    assert "3 nodes multiply integers" in found.out
    assert "over 60 samples" in found.out
    data = gravure("quantize", DIGITS, "--dtype", "f16", "-o", out, "--json").json
    assert (data["dtype"], data["accuracy"]) == ("f16", [])
