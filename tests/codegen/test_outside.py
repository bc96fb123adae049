"""`GRAVURE_CHECK=bounds` looks at each access: what is outside is told of, and not touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from guard_pages import guarded
from test_bounds import CASES, arrays, outcome, program
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

import gravure as gv
from gravure.codegen import kernels, objects
from gravure.codegen.compiled import Options
from gravure.errors import PerformanceWarning, RuntimeInputError
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.interpret.launch import GUARDED, SCRATCH, SIZES
from gravure.target import Target

ROW = "model m(x: f32[40], y: f32[40]) -> (z) { z = exp(x) + y }"
PRODUCT = "model m(x: f32[40, 24], y: f32[24, 50]) -> (z) { z = matmul(x, y) }"
PICKED = "model m(x: f32[9, 5], i: i64[7]) -> (z) { z = gather(x, i, axis=0) * 2.0 }"
SOFTMAX = "model m(x: f32[6, 500]) -> (z) { z = softmax(x, axis=1) }"
SORTED = "model m(x: f32[6, 50]) -> (z) { z = sort(x, axis=1) }"


@pytest.fixture(autouse=True)
def unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have only what is not shown looked at, also where the suite runs under the switch."""
    monkeypatch.delenv("GRAVURE_CHECK", raising=False)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every access looked at."""
    monkeypatch.setenv("GRAVURE_CHECK", "bounds")


def draw(text: str) -> list[Any]:
    """Return arguments for a model."""
    random = np.random.default_rng(3)
    made = []
    for spec in gv.compile(text.encode(), cache=False).inputs:
        wide = (
            random.integers(-4, 4, spec.shape) if spec.dtype == "i64" else random.random(spec.shape)
        )
        made.append(wide.astype(np.int64 if spec.dtype == "i64" else np.float32))
    return made


@pytest.mark.parametrize("text", [ROW, PRODUCT, PICKED, SORTED])
def test_results_are_the_same_bits(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = draw(text)
    plain = gv.compile(text.encode(), cache=False)
    monkeypatch.setenv("GRAVURE_CHECK", "bounds")
    looked = gv.compile(text.encode(), cache=False)
    assert "outside" in looked.manifest
    assert "outside" not in plain.manifest
    np.testing.assert_array_equal(looked(*given), plain(*given))


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_told_of_what_is_right(name: str) -> None:
    model = gv.compile(program(name), cache=False)
    for n, m in ((0, 3), (1, 1), (17, 16), (5, 33)):
        given = arrays(name, {"N": n, "M": m})
        found = outcome(lambda given=given: model.run([guarded(x) for x in given]))
        if found is not None:
            wanted = interpret(program(name).main, given)
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("looking")
def test_weights_for_a_gpu_are_prepared_by_code_that_looks() -> None:
    # This machine's `prepare` notes where it looked in a workspace that the GPU's plan lacks.
    text = b"""model m(x: f32[24, 64]) -> (y) {
      weight w: f32[64, 96] = random(seed=1)
      y = relu(x @ w)
    }"""
    compiled = compile_source(text, Options(target="cuda:sm_90a", dtype="bf16", cache=False))
    assert compiled.description.prepare
    assert compiled.blob.any()


def smaller(which: int, size: str) -> Callable[[FuncOp, Target], FuncOp]:
    """Return what lowers kernels that take one of their buffers to be smaller than it is."""
    lower = kernels.lower

    def lowered(kernel: FuncOp, target: Target) -> FuncOp:
        made = lower(kernel, target)
        rows = [each.data for each in made.attributes[SIZES].data]  # type: ignore[attr-defined]
        rows[which] = size
        made.attributes[SIZES] = type(made.attributes[SIZES])(map(StringAttr, rows))  # type: ignore[call-arg]
        return made

    return lowered


@pytest.mark.parametrize("every", [True, False], ids=["all are looked at", "what is not shown"])
@pytest.mark.parametrize(
    ("text", "which", "size"),
    [(ROW, 0, "20"), (ROW, 2, "39"), (PRODUCT, 0, "959"), (PRODUCT, 2, "1999"), (PICKED, 0, "10"),
     (SORTED, 0, "299")],
)  # fmt: skip
def test_what_goes_outside_is_told_of(
    text: str, which: int, size: str, every: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = draw(text)
    if every:
        monkeypatch.setenv("GRAVURE_CHECK", "bounds")
    monkeypatch.setattr(objects.kernels, "lower", smaller(which, size))
    model = gv.compile(load_program(text.encode()), cache=False)
    for _ in range(4):
        with pytest.raises(RuntimeInputError, match=r"kernel \w+: .*: access \d+ at element \d+"):
            model(*given)


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize("text", [SOFTMAX, PRODUCT])
def test_what_goes_outside_of_its_scratch_is_told_of(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of what it uses is there, as its looks are told: no byte more."""
    lower, given = kernels.lower, draw(text)

    def lowered(kernel: FuncOp, target: Target) -> FuncOp:
        made = lower(kernel, target)
        size = int(made.attributes[SCRATCH].data)  # type: ignore[attr-defined]
        assert size > 0
        made.attributes[SCRATCH] = StringAttr(str(size // 2))
        return made

    monkeypatch.setattr(objects.kernels, "lower", lowered)
    model = gv.compile(load_program(text.encode()), cache=False)
    with pytest.raises(RuntimeInputError, match=r"kernel \w+: .*: access \d+ at element \d+"):
        model(*given)


def test_what_is_shown_is_not_looked_at() -> None:
    made = gv.compile(load_program(PRODUCT.encode()), cache=False)
    assert "outside" not in made.manifest
    assert GUARDED == "gv.guarded"


def test_what_is_read_before_a_loop_without_turns_is_looked_at() -> None:
    """Of two columns a slice from the third on has none; what each row repeats is read before."""
    node, of = onnx.helper.make_node, onnx.numpy_helper.from_array
    bounds = ("starts", [2]), ("stops", [7]), ("axes", [1]), ("steps", [2])
    nodes = [
        node("Slice", ["x", *(name for name, _ in bounds)], ["y"]),
        node("Shape", ["y"], ["shape"]),
        node("ConstantOfShape", ["shape"], ["first"], value=of(np.zeros(1, np.int64))),
        node("GatherElements", ["y", "first"], ["z"], axis=1),
    ]
    given = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ("N", "W"))]
    made = [onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None)]
    constants = [of(np.array(row, np.int64), name) for name, row in bounds]
    graph = onnx.helper.make_graph(nodes, "columns", given, made, constants)
    opset = [onnx.helper.make_opsetid("", 18)]
    whole = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    sizes = {"N": (1, 9), "W": (2, 33)}
    model = gv.compile(whole.SerializeToString(), dims=sizes, cache=False)
    x = np.arange(45, dtype=np.float32).reshape(9, 5)
    for width, columns in ((5, 2), (4, 1), (3, 1)):
        want = np.repeat(x[:, 2:3], columns, 1)
        np.testing.assert_array_equal(model(x[:, :width]), want)
    with pytest.warns(PerformanceWarning, match="access outside of its buffer: access 0"):
        assert model(guarded(x[:, :2], at_end=True)).shape == (9, 0)
