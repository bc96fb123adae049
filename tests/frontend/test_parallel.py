"""Models compiled for several ranks: a library and a file of weights for each, and a manifest."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.errors import ArtifactError, GravureError
from gravure.frontend.programs.parallel import ParallelError
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.comm.protocol import WorldError

pytestmark = pytest.mark.sampled(3)

ROOT = Path(__file__).parent.parent.parent
MODELS = ROOT / "tests" / "models"
Dims = Mapping[str, tuple[int, int]]


def run_together(path: Path, ranks: int, inputs: Mapping[str, Any]) -> list[list[Any]]:
    """Return the results of all ranks."""
    return run_ranks(ranks, lambda _: gv.load(path).run(inputs))


def compare(source: Any, folder: Path, how: str, dims: Dims | None = None) -> dict[str, Any]:
    """Compile a model for ranks, run it and the whole one, and return the manifest."""
    path = folder / "m.parallel.json"
    made = gv.compile_parallel(source, path, how, dims=dims)
    assert made.files[-1] == path
    whole = gv.run(source, "random:3", dims=dims)
    ranks = int(how.partition("=")[2])
    for results in run_together(path, ranks, whole.inputs):
        for found, wanted in zip(results, whole.outputs.values(), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    manifest: dict[str, Any] = json.loads(path.read_text())
    assert len(manifest["files"]) == manifest["ranks"] == ranks
    return manifest


@pytest.mark.parametrize("how", ["tensor=2", "pipeline=2", "pipeline=3"])
@pytest.mark.parametrize(
    ("name", "dims"),
    [
        ("small/mlp.gv", None),
        ("small/transformer.gv", None),
        ("small/decoder.gv", None),
        ("mlp.onnx", None),
        ("attention.onnx", {"length": (1, 16)}),
    ],
)
def test_ranks_give_what_the_whole_gives(
    tmp_path: Path, name: str, dims: Dims | None, how: str
) -> None:
    steps = [step["do"] for step in compare(MODELS / name, tmp_path, how, dims)["steps"]]
    assert steps.count("give" if how.startswith("pipeline") else "run") > 0
    if how == "tensor=2":
        assert {"all_reduce", "all_gather"} & {*steps}


@pytest.mark.parametrize("name", ["small/resnet.gv", "small/mobilenet.gv", "small/unet.gv",
                                  "conv_norm.onnx", "digits.onnx"])  # fmt: skip
def test_convolutions_are_shared_out_by_filters_and_channels(tmp_path: Path, name: str) -> None:
    steps = [step["do"] for step in compare(MODELS / name, tmp_path, "tensor=2")["steps"]]
    assert {"all_reduce", "all_gather"} & {*steps}
    sizes = [(tmp_path / f"m.rank{rank}.weights").stat().st_size for rank in range(2)]
    assert sizes[0] == sizes[1]


def layer(
    op: str, path: Path, direction: str = "bidirectional", steps: Any = 5, **more: Any
) -> Path:
    """Write a model with a recurrent layer of random weights behind an activation."""
    rng = np.random.default_rng(7)
    ways, gates = (1 + (direction == "bidirectional")), {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    shapes = {
        "w": (ways, gates * 64, 48),
        "r": (ways, gates * 64, 64),
        "b": (ways, gates * 128),
        "h": (ways, 3, 64),
    }
    kept = [
        numpy_helper.from_array(rng.normal(0, 0.4, shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Tanh", ["x"], ["t"]),
        helper.make_node(
            op,
            ["t", "w", "r", "b", "", "h"],
            ["y", "last"],
            direction=direction,
            hidden_size=64,
            **more,
        ),
    ]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, 3, 48])
    made = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("y", [steps, ways, 3, 64]), ("last", [ways, 3, 64]))
    ]
    graph = helper.make_graph(nodes, "layer", [given], made, kept)
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_each_rank_has_a_direction_of_a_recurrent_layer(tmp_path: Path, op: str) -> None:
    steps = compare(layer(op, tmp_path / "m.onnx"), tmp_path, "tensor=2")["steps"]
    assert "all_gather" in {step["do"] for step in steps}
    sizes = [(tmp_path / f"m.rank{rank}.weights").stat().st_size for rank in range(2)]
    assert sizes[0] == sizes[1] < 0.75 * (tmp_path / "m.onnx").stat().st_size


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("op", "more"),
    [("LSTM", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("RNN", {}),
     ("RNN", {"activations": ["Relu"]})],
)  # fmt: skip
def test_each_rank_has_units_of_a_recurrent_layer_of_one_direction(
    tmp_path: Path, op: str, more: Any, direction: str, ranks: int
) -> None:
    path = layer(op, tmp_path / "m.onnx", direction, **more)
    manifest = compare(path, tmp_path, f"tensor={ranks}")
    assert {step["do"] for step in manifest["steps"]} == {"run", "all_gather"}
    runs = [step["part"] for step in manifest["steps"] if step["do"] == "run"]
    assert len(set(runs)) < len(runs)  # (the steps have one library)
    sizes = {(tmp_path / f"m.rank{rank}.weights").stat().st_size for rank in range(ranks)}
    assert len(sizes) == 1
    assert max(sizes) < (1.5 / ranks + 0.1) * path.stat().st_size


def test_one_direction_of_unknown_length_or_odd_units_is_no_work_for_several(
    tmp_path: Path,
) -> None:
    path = layer("GRU", tmp_path / "odd.onnx", "forward")
    with pytest.raises(ParallelError, match="no product with a weight that 3 ranks"):
        gv.compile_parallel(path, tmp_path / "m.parallel.json", "tensor=3")
    path = layer("GRU", tmp_path / "m.onnx", "forward", "time")
    with pytest.raises(ParallelError, match="no product with a weight"):
        gv.compile_parallel(path, tmp_path / "m.parallel.json", "tensor=2")


@pytest.mark.parametrize("name", ["resnet", "unet", "quantised", "black_scholes"])
def test_a_pipeline_takes_any_model(tmp_path: Path, name: str) -> None:
    manifest = compare(MODELS / f"small/{name}.gv", tmp_path, "pipeline=2")
    assert [step["rank"] for step in manifest["steps"] if step["do"] == "run"] == [0, 1]


def test_each_rank_has_a_part_of_the_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    weights = [rng.normal(0, 0.05, shape).astype(np.float32) for shape in ((96, 512), (512, 96))]
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"]),
        helper.make_node("Relu", ["h"], ["g"]),
        helper.make_node("MatMul", ["g", "b"], ["y"]),
    ]
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 96]) for name in "xy"]
    kept = [numpy_helper.from_array(array, name) for array, name in zip(weights, "ab", strict=True)]
    graph = helper.make_graph(nodes, "m", [info[0]], [info[1]], kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    manifest = compare(model.SerializeToString(), tmp_path, "tensor=2")
    assert [step["do"] for step in manifest["steps"]] == ["run", "all_reduce"]
    sizes = [(tmp_path / f"m.rank{rank}.weights").stat().st_size for rank in range(2)]
    half = sum(array.nbytes for array in weights) // 2
    assert half <= sizes[0] == sizes[1] < half + 10_000


PROGRAMS = {
    "a weight of two products, one turned": """model m(x: f32[N, 8], N in 1..5) -> (y, z) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      h = matmul(x, w) y = matmul(h, w, transpose_rhs=true) z = exp(h)
    }""",
    "two products of one tensor": """model m(x: f32[2, 3, 8], b: f32[8]) -> (y) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      y = matmul(x, w) * tanh(matmul(x, w + 1.0) + b)
    }""",
    "a result that is an input": """model m(x: f32[2, 8]) -> (y, x) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      y = softmax(matmul(x, w), axis=1)
    }""",
    "one value read by all that follow": """model m(x: f32[2, 8]) -> (y) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      a = matmul(x, w) b = matmul(exp(a * 0.01), w) c = matmul(b + a, w) y = c + a + b
    }""",
    "filters, then channels, beside the image": """model m(x: f32[N, 4, 6, 6], N in 1..3) -> (y) {
      v = reshape(iota(shape=[144], axis=0, dtype=f32), shape=[4, 4, 3, 3]) * 0.001
      b = reshape(iota(shape=[4], axis=0, dtype=f32), shape=[4, 1, 1]) * 0.1
      h = relu(conv(x, v, strides=[1, 1], pads=[[1, 1], [1, 1]], dilations=[1, 1]) + b)
      y = conv(h, v, strides=[1, 1], pads=[[1, 1], [1, 1]], dilations=[1, 1]) + x
    }""",
    "groups of channels, pools, channels last": """model m(x: f32[2, 6, 5, 8]) -> (y, z) {
      d = reshape(iota(shape=[72], axis=0, dtype=f32), shape=[8, 1, 3, 3]) * 0.01
      v = reshape(iota(shape=[128], axis=0, dtype=f32), shape=[16, 8, 1, 1]) * 0.01
      h = tanh(conv(x, d, groups=8, channels_last=true, strides=[1, 1], pads=[[1, 1], [1, 1]],
                    dilations=[1, 1]))
      g = max_pool(h * 0.5, window=[2, 2], channels_last=true, strides=[2, 1],
                   pads=[[0, 0], [0, 0]], dilations=[1, 1])
      y = conv(g, v, channels_last=true, strides=[1, 1], pads=[[0, 0], [0, 0]], dilations=[1, 1])
      z = max_pool(exp(y * 0.01), window=[2, 1], channels_last=true, strides=[1, 1],
                   pads=[[0, 0], [0, 0]], dilations=[1, 1])
    }""",
    "channels and columns of one value": """model m(x: f32[2, 8, 4, 8]) -> (y) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      v = reshape(w, shape=[8, 8, 1, 1])
      c = conv(x, v, strides=[1, 1], pads=[[0, 0], [0, 0]], dilations=[1, 1])
      y = tanh(matmul(x, w)) + c + matmul(c * 0.1, w)
    }""",
    "rows beside a whole operand": """model m(x: f32[2, 8], z: f32[2, 1]) -> (y) {
      w = reshape(iota(shape=[64], axis=0, dtype=f32), shape=[8, 8]) * 0.01
      y = sum(matmul(relu(matmul(x, w) + z) * x, w), axes=[1])
    }""",
}


@pytest.mark.parametrize("how", ["tensor=2", "tensor=4", "pipeline=2"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(tmp_path: Path, program: str, how: str) -> None:
    compare(PROGRAMS[program].encode(), tmp_path, how)


def test_another_number_of_ranks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.parallel.json"
    gv.compile_parallel(MODELS / "mlp.onnx", path, "pipeline=2")
    with pytest.raises(WorldError, match=r"compiled for 2 ranks \(pipeline\), and there are 1"):
        gv.load(path)
    with pytest.raises(WorldError, match="there are 3"):
        run_ranks(3, lambda _: gv.load(path))


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parallel.json"
    gv.compile_parallel(MODELS / "mlp.onnx", path, "tensor=2")
    library, weights = tmp_path / "m.rank1.so", tmp_path / "m.rank1.weights"
    good = library.read_bytes(), weights.read_bytes()
    library.write_bytes((tmp_path / "m.rank0.so").read_bytes())
    with pytest.raises(ArtifactError, match="not the library that was compiled"):
        run_ranks(2, lambda _: gv.load(path))
    library.write_bytes(good[0])
    weights.write_bytes((tmp_path / "m.rank0.weights").read_bytes())
    with pytest.raises(GravureError, match="weights"):
        run_ranks(2, lambda _: gv.load(path))
    weights.write_bytes(good[1][:-1] + b"?")
    with pytest.raises(GravureError, match=r"rank1\.weights"):
        run_ranks(2, lambda _: gv.load(path).check_weights())
    library.unlink()
    with pytest.raises(ArtifactError, match=r"rank1\.so"):
        run_ranks(2, lambda _: gv.load(path))
    for text in ("{", "[]", '{"schema": "other"}'):
        path.write_text(text)
        with pytest.raises(ArtifactError, match="no manifest"):
            gv.load(path)


@pytest.mark.parametrize(
    ("text", "how", "said"),
    [
        ("y = matmul(x, x)", "tensor=2", "no product with a weight that 2 ranks can share out"),
        ("y = softmax(x, axis=1)", "tensor=2", "no product with a weight that 2 ranks can share"),
        ("y = exp(x)", "pipeline=2", "operations for 1 stages, expected 2"),
        ("y = exp(x)", "rows=2", r"parallel 'rows=2', expected tensor=N or pipeline=N"),
        ("y = exp(x)", "tensor=1", r"parallel 'tensor=1', expected .* from 2"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(
    tmp_path: Path, text: str, how: str, said: str
) -> None:
    source = f"model m(x: f32[8, 8]) -> (y) {{ {text} }}".encode()
    with pytest.raises(ParallelError, match=said):
        gv.compile_parallel(source, tmp_path / "m.parallel.json", how)
    assert not [*tmp_path.iterdir()]


def test_targets_and_host_steps_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parallel.json"
    with pytest.raises(ParallelError, match="target cuda:sm_80: the parts of ranks"):
        gv.compile_parallel(MODELS / "mlp.onnx", path, "tensor=2", target="cuda:sm_80")
    with pytest.raises(GravureError, match="non_zero"):
        gv.compile_parallel(b"model m(x: f32[8]) -> (y) { y = non_zero(x) }", path, "pipeline=2")


def test_inputs_are_checked_as_in_every_model(tmp_path: Path) -> None:
    path = tmp_path / "m.parallel.json"
    gv.compile_parallel(MODELS / "small/mlp.gv", path, "pipeline=2")
    with pytest.raises(GravureError, match="with N from 1 to 9"):
        run_together(path, 2, {"x": np.zeros((10, 20), np.float32)})


PROGRAM = """
import sys, numpy as np, gravure as gv
model = gv.load("m.parallel.json")
x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(model.inputs[0].shape_for({}))
np.save(f"y{gv.distributed.rank()}.npy", model.run([x])[0])
"""


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("how", ["tensor=2", "pipeline=2"])
def test_processes_under_the_launcher(tmp_path: Path, how: str) -> None:
    source = MODELS / "mlp.onnx"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    (tmp_path / "run.py").write_text(PROGRAM.replace("16", str(size_of(source))))

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gravure", *arguments], cwd=tmp_path, env=environment,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    done = command("compile", str(source), "--parallel", how, "-o", "m.parallel.json")
    assert done.returncode == 0, done.stderr
    assert "m.rank1.so" in done.stdout
    done = command("launch", "-n", "2", "run.py")
    assert done.returncode == 0, done.stdout + done.stderr
    [info] = gv.compile(source).inputs
    x = np.linspace(-1, 1, size_of(source), dtype=np.float32).reshape(info.shape_for({}))
    for rank in range(2):
        found = np.load(tmp_path / f"y{rank}.npy")
        np.testing.assert_allclose(found, gv.compile(source)(x), rtol=1e-5, atol=1e-6)
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "compiled for 2 ranks" in done.stderr


def size_of(source: Path) -> int:
    [info] = gv.compile(source).inputs
    return int(np.prod(info.shape_for({})))
