"""Whole models, beside onnxruntime: those in tests/models, and one file by every route."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gravure.ir as ir
from gravure.frontend.programs.load import load_program
from gravure.frontend.text.writer import save_text
from gravure.ir.program import argument_names, result_names

MODELS = Path(__file__).parent.parent / "models"
NUMPY = {1: np.float32, 7: np.int64}


def arguments(path: Path, size: int) -> dict[str, Any]:
    """Return inputs of a model, symbols having this size."""
    random = np.random.default_rng(5)
    made = {}
    for each in onnx.load(path).graph.input:
        tensor = each.type.tensor_type
        shape = [dim.dim_value or size for dim in tensor.shape.dim]
        values = random.standard_normal(shape) * 2
        made[each.name] = np.abs(values).astype(NUMPY[tensor.elem_type])
    return made


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
@pytest.mark.parametrize("size", [1, 3])
def test_model_computes_what_onnxruntime_does(path: Path, size: int) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    inputs = arguments(path, size)
    program = load_program(path)
    ir.verify(program.module)
    found = ir.interpret(program, [inputs[name] for name in argument_names(program.main)])
    session = onnxruntime.InferenceSession(path)
    expected = session.run(result_names(program.main), inputs)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["digits", "attention"])
def test_three_routes_give_one_program(name: str, tmp_path: Path) -> None:
    program = load_program(MODELS / f"{name}.onnx")
    save_text(program, tmp_path / "model.gv")
    (tmp_path / "model.mlir").write_text(ir.print_module(program.module))
    texts = [load_program(tmp_path / "model.gv"), load_program(tmp_path / "model.mlir")]
    expected = ir.canonical_hash(program.module)
    assert [ir.canonical_hash(each.module) for each in texts] == [expected, expected]
    for weight, array in program.weights.items():
        np.testing.assert_array_equal(texts[0].weights[weight], array)


def test_every_operation_knows_its_node() -> None:
    program = load_program(MODELS / "conv_norm.onnx")
    sources = {
        op.name: op.attributes["source"].data
        for op in program.main.body.block.ops
        if "source" in op.attributes
    }
    assert sources["gv.conv"] == "Conv_c"
    assert sources["gv.weight"] == "w"
    assert sources["gv.mean"] == "GlobalAveragePool_y"
