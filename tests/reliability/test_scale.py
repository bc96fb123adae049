"""Long and deep programs: no recursion, work that grows as they do."""

import os
import subprocess
import sys
from cProfile import Profile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.collection import paused
from gravure.frontend.programs.load import load_program
from gravure.passes import parse_pipeline
from gravure.passes.pipelines import LEVELS

pytestmark = pytest.mark.sweep
KINDS = ("Relu", "Neg", "Tanh", "Sigmoid")


def chain(length: int) -> bytes:
    """Return a model of element-wise operations, one behind the other."""
    nodes = [
        helper.make_node(KINDS[i % len(KINDS)], [f"t{i}"], [f"t{i + 1}"]) for i in range(length)
    ]
    return model(nodes, (4,), f"t{length}")


def products(length: int) -> bytes:
    """Return a model of products, which cannot be one kernel."""
    nodes = []
    for i in range(length):
        nodes.append(helper.make_node("MatMul", [f"t{i}", "w"], [f"u{i}"]))
        nodes.append(helper.make_node("Softmax", [f"u{i}"], [f"t{i + 1}"]))
    weight = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
    return model(nodes, (4, 4), f"t{length}", [weight])


def model(nodes: list[Any], shape: tuple[int, ...], last: str, weights: Any = None) -> bytes:
    """Return an ONNX model from t0 to its last result."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("t0", last)]
    graph = helper.make_graph(nodes, "long", ends[:1], ends[1:], weights)
    made: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    return made.SerializeToString()


def calls_to_compile(source: bytes) -> int:
    """Return how many Python and C functions compiling calls in this process."""
    profile = Profile()
    profile.runcall(gv.compile, source, cache=False)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.slow
@pytest.mark.parametrize(("build", "length"), [(chain, 1000), (products, 100)])
def test_work_to_compile_grows_as_the_model_does(build: Any, length: int) -> None:
    gv.compile(build(length), cache=False)  # what is done once for all is done
    calls = [calls_to_compile(build(size)) for size in (length, 2 * length)]
    assert calls[1] < 2.3 * calls[0], calls


@pytest.mark.slow
def test_long_chain_computes_what_it_says() -> None:
    [found] = gv.compile(chain(8000), cache=False).run([np.full(4, 0.5, np.float32)])
    value = np.float64(0.5)
    for _ in range(2000):
        value = 1 / (1 + np.exp(-np.tanh(-max(value, 0.0))))
    np.testing.assert_allclose(found, value, rtol=1e-5)


def layers(length: int) -> bytes:
    """Return a model of products that all use one weight and one number."""
    nodes = []
    for i in range(length):
        nodes.append(helper.make_node("MatMul", [f"t{i}", "w"], [f"u{i}"]))
        nodes.append(helper.make_node("Mul", [f"t{i}", "half"], [f"v{i}"]))
        nodes.append(helper.make_node("Add", [f"u{i}", f"v{i}"], [f"s{i}"]))
        nodes.append(helper.make_node("Tanh", [f"s{i}"], [f"t{i + 1}"]))
    weights = {"w": np.eye(4, dtype=np.float32), "half": np.array(0.5, np.float32)}
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    return model(nodes, (4, 4), f"t{length}", stored)


def calls_by_pass(source: bytes) -> dict[str, int]:
    """Return how many functions each pass calls."""
    program, found = load_program(source), {}
    for number, rewrite in enumerate(parse_pipeline(LEVELS["O2"])):
        profile = Profile()
        with paused():  # what is collected meanwhile is no work of the pass
            profile.runcall(rewrite.apply, program)
        found[f"{number} {rewrite.name}"] = sum(entry.callcount for entry in profile.getstats())
    return found


@pytest.mark.slow
def test_x7_the_work_of_each_pass_grows_as_an_unrolled_trace_does() -> None:
    calls_by_pass(layers(400))  # what is done once for all, and remembered, is done
    few, many = (calls_by_pass(layers(length)) for length in (200, 400))
    grown = {name: round(many[name] / few[name], 2) for name in few}
    assert {name: factor for name, factor in grown.items() if factor > 2.2} == {}


MEASURED = """
import gc
from gravure.tools.cli import main
for name in ("few", "many"):
    gc.collect()
    main(["compile", name + ".onnx", "-o", name + ".so"])
    print("peak", open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count", "limit"), [(4096, 1, 2.0), (4096, 4, 1.5)])
def test_compiling_takes_less_memory_than_twice_the_weights(
    tmp_path: Path, size: int, count: int, limit: float
) -> None:
    for file, width in (("few", 64), ("many", size)):
        names = [[f"t{i}", f"w{i}", f"t{i + 1}"] for i in range(count)]
        nodes = [helper.make_node("MatMul", [x, w], [y]) for x, w, y in names]
        array = np.ones((width, width), np.float32)
        weights = [numpy_helper.from_array(array + i, f"w{i}") for i in range(count)]
        made = onnx.load_from_string(model(nodes, (4, width), f"t{count}", weights))
        path = tmp_path / f"{file}.onnx"
        onnx.save(made, path, save_as_external_data=True, location=f"{file}.data")
    environment = {**os.environ, "GRAVURE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", MEASURED]
    printed = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    lines = [line.split() for line in printed.splitlines()]
    few, many = (int(line[1]) / 1024 for line in lines if line[:1] == ["peak"])
    taken = 4 * count * size**2 >> 20  # so much that files are given back many times meanwhile
    assert taken < many - few < limit * taken + 8, "8 MiB are for all that is not weights"


@pytest.mark.paying
def test_x7_a_large_function_is_compiled_after_as_few_calls_as_pay() -> None:
    def step(x: Any) -> Any:
        for _ in range(600):
            x = x * 0.5 + 1.0
        return x

    x = gv.asarray(np.zeros(3, np.float32))
    for function, is_compiled in ((gv.function(step), True), (gv.function(lambda x: x + 1), False)):
        for _ in range(6):
            function(x)
        [made] = function.get_concrete_function(x).compiled.values()
        assert hasattr(made, "model") == is_compiled
    assert np.allclose(gv.function(step)(x).numpy(), 2.0)
