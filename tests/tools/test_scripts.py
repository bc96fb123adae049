"""Programs of the tools that are run by hand: what they count, and what they say of themselves."""

import importlib
import resource
import sys
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import onnx
import pytest

import gravure.tools
from gravure.tools import bench_gpu, tensorflow_names, tune_gpu
from gravure.tools.accuracy import math_speed
from gravure.tools.measuring import bench_convolutions, measure_weights, peer_process

TOOLS = Path(gravure.tools.__file__).parent
SCRIPTS = [
    ".".join(path.relative_to(TOOLS).with_suffix("").parts)
    for path in sorted(TOOLS.rglob("*.py"))
    if path.parent.name != "commands" and "ArgumentParser(description=" in path.read_text()
]


def test_there_are_scripts() -> None:
    assert {"bench_gpu", "tune_gpu", "measuring.measure_tracing"} <= {*SCRIPTS}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_say_what_they_are_for(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(f"gravure.tools.{name}")
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (module.__doc__ or "").splitlines()[0] in said


def test_a_rate_is_elements_for_each_nanosecond_of_the_fastest_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, calls = [0], count()
    monkeypatch.setattr(math_speed.time, "perf_counter_ns", lambda: now[0])

    def call() -> None:
        now[0] += 64 if next(calls) // math_speed.CALLS == 3 else 256

    assert math_speed.rate(call) == math_speed.COUNT / 64


@pytest.mark.parametrize("case", ["4,2,3,2,9", "4,4,5,1,8", "4,2,3,1,7,2"])
def test_products_of_convolutions_are_counted(case: str, tmp_path: Path) -> None:
    path, arrays, products = bench_convolutions.make_model(tmp_path, case)
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    shapes = {
        value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
        for value in (*model.graph.value_info, *model.graph.output)
    }
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    taps = int(np.prod(model.graph.initializer[0].dims[1:]))
    assert len(convolutions) == bench_convolutions.sizes_of(case)[-1]
    assert products == sum(int(np.prod(shapes[node.output[0]])) * taps for node in convolutions)
    assert arrays["x"].shape == (1, 4, *[bench_convolutions.sizes_of(case)[4]] * 2)


def test_the_most_memory_of_a_process_is_what_the_system_says() -> None:
    found = peer_process.peak_bytes()
    known = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert abs(found - known) <= known / 10


def test_runtimes_are_known_by_name_or_by_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def prepare(*given): return given")
    given = ("m.onnx", {"x": 1}, 2)
    assert peer_process.prepare(str(file), *given) == given
    monkeypatch.setitem(peer_process.KNOWN, "mine", lambda *given: ["known", *given])
    assert peer_process.prepare("mine", *given) == ["known", *given]


def test_seconds_of_a_compilation_are_those_by_the_clock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure_weights, "WIDTH", 16)
    ticks = iter([1000.0, 1007.0])
    monkeypatch.setattr(measure_weights, "perf_counter", lambda: next(ticks))
    started: list[list[str]] = []

    def popen(command: list[str]) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(pid=0, wait=lambda: 3)

    monkeypatch.setattr(measure_weights.subprocess, "Popen", popen)
    assert measure_weights.main(["--gib", "0.000001", "--weights", "file"]) == 3
    assert started[0][-2:] == ["--weights", "file"]
    assert capsys.readouterr().out.endswith("over the weights, 7 s\n")


def test_names_of_tensorflow_are_those_of_its_namespaces() -> None:
    def space(name: str, **names: object) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(names)
        return made

    first = {name: space(name, old=1, _private=2) for name in tensorflow_names.FIRST_VERSION}
    whole = space(
        "tensorflow", __version__="2.0", add=1, _hidden=2, math=space("math", sin=1, _cos=2),
        compat=SimpleNamespace(v1=SimpleNamespace(**first)),
        keras=space("keras", layers=space("layers", Dense=1)), estimator=space("estimator", a=1),
    )  # fmt: skip
    made = tensorflow_names.spaces(whole)
    assert made["tf"] == ["add", "compat", "estimator", "keras", "math"]
    assert made["tf.math"] == ["sin"]
    assert made["tf.keras.layers"] == ["Dense"]
    assert made["tf.compat.v1.train"] == ["old"]
    assert made["tf.compat.v1"] == sorted(first)
    assert "tf.estimator" not in made
    assert "tf.compat" not in made


def test_products_that_are_tuned_have_a_batch_where_there_are_several() -> None:
    one, turned = tune_gpu.products([(1, 2, 3, 4)], "f16")
    assert "x: f16[2, 4], y: f16[4, 3]" in one
    assert "y: f16[3, 4]" in turned
    assert "transpose(y, order=[1, 0])" in turned
    one, turned = tune_gpu.products([(2, 2, 3, 4)], "f16")
    assert "x: f16[2, 2, 4], y: f16[2, 4, 3]" in one
    assert "transpose(y, order=[0, 2, 1])" in turned


def test_a_case_is_compared_with_what_its_text_says() -> None:
    [case] = [case for case in bench_gpu.cases(small=True) if case.name.startswith("map: ")]
    x, y = np.float32([[2, 3]]), np.float32([[5, 7]])
    found, wanted = case.sample([x, y], [np.float32([[1, 2]])])
    np.testing.assert_array_equal(found, [[1, 2]])
    np.testing.assert_array_equal(wanted, [[11, 22]])
