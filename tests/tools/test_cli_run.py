"""`gravure run`: inputs of every kind, judges, tolerances."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import gravure as gv
from gravure.errors import GravureError
from gravure.runtime.artifact import DimInfo, TensorInfo
from gravure.tools.comparing import judges
from gravure.tools.inputs import make_inputs

INFOS = (TensorInfo("x", "f32", ("N", 8)), TensorInfo("ids", "i64", ("2 * N",)))
DIMS = (DimInfo("N", 1, 64),)


@pytest.fixture
def library(models: Path, tmp_path: Path) -> Path:
    path = tmp_path / "m.so"
    gv.compile(models / "mlp_batch.onnx", dims={"batch": (1, 64)}).save(path)
    return path


def test_random_inputs_are_the_same_each_time() -> None:
    first, second = make_inputs([], INFOS, DIMS), make_inputs([], INFOS, DIMS)
    assert first["x"].shape == (64, 8)
    assert first["ids"].shape == (128,)
    assert 0 <= first["ids"].min() <= first["ids"].max() < 8
    np.testing.assert_array_equal(first["x"], second["x"])
    assert not np.array_equal(first["x"], make_inputs(["random:1"], INFOS, DIMS)["x"])


def test_dimension_comes_from_what_is_known(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((3, 8), np.float32))
    given = make_inputs([f"x=@{tmp_path}/x.npy", "zeros"], INFOS, DIMS)
    assert given["ids"].tolist() == [0] * 6
    assert make_inputs(["ids=10xi64:iota"], INFOS, DIMS)["x"].shape == (5, 8)
    assert make_inputs(["x=2.5"], INFOS, DIMS, {"N": 2})["x"].tolist() == [[2.5] * 8] * 2


def test_files_of_several_arrays(tmp_path: Path) -> None:
    arrays = {"x": np.zeros((2, 8), np.float32), "ids": np.arange(4)}
    np.savez(tmp_path / "all.npz", **arrays)
    found = make_inputs([f"@{tmp_path}/all.npz"], INFOS, DIMS)
    assert found["ids"].tolist() == [0, 1, 2, 3]
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 not really")
    np.save(tmp_path / "pickle.npy", np.array([{}], dtype=object))
    for name in ("bad.npz", "pickle.npy"):
        with pytest.raises(GravureError, match="not a file of arrays") as raised:
            make_inputs([f"x=@{tmp_path / name}"], INFOS, DIMS)
        assert raised.value.exit_status == 65


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("y=ones", "there is no input 'y'"),
        ("idz=ones", "did you mean 'ids'?"),
        ("x=2x3", "expected a shape and a type"),
        ("x=2x3xf31", "expected a shape and a type"),
        ("x=2x3xf32:many", "is not random, ones"),
        ("some", "expected NAME=VALUE"),
    ],
)
def test_wrong_input_is_named(spec: str, said: str) -> None:
    with pytest.raises(GravureError) as raised:
        make_inputs([spec], INFOS, DIMS)
    assert said in str(raised.value)
    assert raised.value.exit_status == 2


def test_model_and_library_give_the_same(gravure: Any, models: Path, library: Path) -> None:
    out, kept = library.parent / "out.npz", library.parent / "in.npz"
    found = gravure("run", library, "-i", "x=5x8xf32", "-o", out, "--save-inputs", kept)
    assert found.status == 0
    assert "float32[5, 4]" in found.out
    again = ("-i", f"@{kept}", "--dim", "batch=1..8", "--vs", out, "--vs", library, "--ulp=0")
    same = gravure("run", models / "mlp_batch.onnx", *again, "--rtol=0", "--atol=0")
    assert same.status == 0
    assert same.out.count("0 of 20") == 2


def test_weights_are_for_a_library_that_has_them_not(gravure: Any, models: Path) -> None:
    found = gravure("run", models / "mlp_batch.onnx", "--weights-file", "w.safetensors")
    assert (found.status, "it is no library" in found.err) == (2, True)


def test_interpreter_and_onnxruntime_agree(gravure: Any, models: Path) -> None:
    if importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed")
    found = gravure("run", models / "digits.onnx", "--vs=interp", "--vs=ort", "--json")
    assert found.status == 0
    compared = found.json["compared"]
    assert [*compared] == ["interp", "ort"]
    assert compared["ort"]["logits"]["close"]
    assert compared["ort"]["logits"]["absolute"] < 1e-4


def test_judge_that_is_not_installed_is_told(
    gravure: Any, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judges, "find_spec", lambda name: None)
    found = gravure("run", models / "mlp.onnx", "--vs", "ort")
    assert found.status == 69
    assert "pip install onnxruntime" in found.err


def test_results_that_differ_are_shown(gravure: Any, models: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "want.npz", y=np.zeros((1, 4), np.float32))
    found = gravure("run", models / "mlp.onnx", "--vs", tmp_path / "want.npz")
    assert found.status == 1
    assert "FAIL" in found.out
    assert "4 of 4" in found.out
    assert ", expected 0.0" in found.out
    wide = ("--atol", "1")
    assert gravure("run", models / "mlp.onnx", "--vs", tmp_path / "want.npz", *wide).status == 0
    np.savez(tmp_path / "other.npz", z=np.zeros((1, 4), np.float32))
    named = gravure("run", models / "mlp.onnx", "--vs", tmp_path / "other.npz", *wide)
    assert named.status == 0
    np.savez(tmp_path / "two.npz", z=np.zeros((1, 4), np.float32), v=np.zeros(1))
    assert gravure("run", models / "mlp.onnx", "--vs", tmp_path / "two.npz").status == 2
    np.savez(tmp_path / "shape.npz", y=np.zeros((2, 4), np.float32))
    shape = gravure("run", models / "mlp.onnx", "--vs", tmp_path / "shape.npz")
    assert shape.status == 1
    assert "float32[1, 4], expected float32[2, 4]" in shape.out


def test_judges_that_are_there_are_asked_though_one_is_not(
    gravure: Any, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judges, "find_spec", lambda name: None)
    found = gravure("run", models / "mlp.onnx", "--vs", "ort", "--vs", "interp")
    assert found.status == 69
    assert "against interp" in found.out
    assert "pip install onnxruntime" in found.err


def test_ulps_alone_are_all_that_may_differ(gravure: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "y.npz"
    assert gravure("run", models / "mlp.onnx", "-o", out).status == 0
    y = np.load(out)["y"]
    np.savez(out, y=np.nextafter(y, np.float32(9)))
    run = ("run", models / "mlp.onnx", "--vs", out)
    statuses = [gravure(*run, *more).status for more in ((), ("--ulp=0",), ("--ulp=1",))]
    assert statuses == [0, 1, 0]
    assert gravure(*run, "--ulp=0", "--atol=1").status == 0


@pytest.mark.parametrize("kind", ["named", "nameless", "text", "bounded"])
def test_dimensions_follow_from_inputs(gravure: Any, tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("m.gv" if kind in ("text", "bounded") else "m.onnx")
    if kind in ("text", "bounded"):
        bounds = ", N in 1..9" if kind == "bounded" else ""
        head = f"model m(x: f32[N, 3], z: f32[N]{bounds}) -> (y, w)"
        path.write_text(f"{head} {{ y = relu(x)\n w = -z }}")
    else:
        dim = "N" if kind == "named" else None
        path.write_bytes(open_model(dim))
    z = () if kind != "nameless" else ("-i", "z=5xf32")
    found = gravure("run", path, "-i", "x=5x3xf32:ones", *z)
    assert found.status == 0, found.err
    assert "float32[5, 3]" in found.out
    assert "float32[5]" in found.out
    other = gravure("run", path, "-i", "x=5x4xf32")
    assert other.status == 65
    assert "axis 1 is 3, the array is [5, 4]" in other.err
    if kind != "nameless":
        other = gravure("run", path, "-i", "x=5x3xf32", "-i", "z=6xf32")
        assert "axis 0 is N = 5, the array is [6]" in other.err
        assert gravure("run", path, "-i", "x=5x3xf32", "--dim", "N=1..8").status == 0


def open_model(dim: str | None) -> bytes:
    """Return an ONNX model of two inputs with an open dimension."""
    x = make_tensor_value_info("x", 1, [dim, 3]), make_tensor_value_info("y", 1, [dim, 3])
    z = make_tensor_value_info("z", 1, [dim]), make_tensor_value_info("w", 1, [dim])
    nodes = [make_node("Relu", ["x"], ["y"]), make_node("Neg", ["z"], ["w"])]
    graph = make_graph(nodes, "m", [x[0], z[0]], [x[1], z[1]])
    return make_model(graph, opset_imports=[make_opsetid("", 17)]).SerializeToString()


def test_first_node_that_is_not_finite_is_named(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.gv"
    path.write_text("model m(x: f32[3]) -> (y) {\n a = exp(x)\n b = a - a\n y = b * 2.0\n}")
    fine = gravure("run", path, "--check-numerics", "-i", "ones")
    assert (fine.status, fine.out) == (0, "every number is finite\n")
    found = gravure("run", path, "--check-numerics", "-i", "1000")
    assert found.status == 1
    assert "gv.exp gives 3 infinite" in found.out
    assert "m.gv:2" in found.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--vs", "interp"], 2, "a library has no program"),
        (["--check-numerics"], 2, "needs the model"),
        (["--dim", "batch=1..4"], 2, "expected a number"),
        (["--dim", "bach=3"], 2, "did you mean 'batch'?"),
        (["-i", "x=3x7xf32"], 65, "called with f32[3, 7]"),
        (["-i", "x=65x8xf32"], 65, "from 1 to 64"),
        (["-i", "x=3x8xf64"], 65, "called with f64[3, 8]"),
        (["-i", "x=@no.npy"], 66, "no such file"),
        (["--vs", "no.npz"], 66, "no such file"),
    ],
)
def test_wrong_argument_is_named(
    gravure: Any, library: Path, arguments: list[str], status: int, said: str
) -> None:
    found = gravure("run", library, *arguments)
    assert found.status == status
    assert said in found.err
