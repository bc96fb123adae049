"""Make small ONNX models, and run programs beside onnxruntime."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import gravure.ir as ir
from gravure.frontend.programs.load import load_program

Shape = Sequence[int | str | None]
CODES = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64, "bool": TensorProto.BOOL,
         "u8": TensorProto.UINT8, "f16": TensorProto.FLOAT16, "f64": TensorProto.DOUBLE,
         "i32": TensorProto.INT32, "i8": TensorProto.INT8,
         "string": TensorProto.STRING}  # fmt: skip


def info(name: str, spec: tuple[str, Shape]) -> onnx.ValueInfoProto:
    """Return the declaration of an input or an output."""
    return helper.make_tensor_value_info(name, CODES[spec[0]], spec[1])


def make_model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Sequence[str],
    constants: Mapping[str, Any] | None = None,
    *,
    opset: int = 17,
    **more: Any,
) -> onnx.ModelProto:
    """Return an unchecked model; the types of outputs are left open."""
    graph = helper.make_graph(
        nodes,
        "g",
        [info(name, spec) for name, spec in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in (constants or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **more)


def interpret(program: ir.Program, *arguments: Any) -> list[np.ndarray]:
    """Verify a program and run it."""
    ir.verify(program.module)
    return ir.interpret(program, [np.asarray(a) for a in arguments])


@pytest.fixture
def model() -> Callable[..., onnx.ModelProto]:
    return make_model


@pytest.fixture
def run_onnx() -> Callable[..., list[np.ndarray]]:
    def run(made: onnx.ModelProto, *arguments: Any, **options: Any) -> list[np.ndarray]:
        return interpret(load_program(made.SerializeToString(), **options), *arguments)

    return run


@pytest.fixture
def same_as_onnxruntime() -> Callable[..., None]:
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3

    def check(made: onnx.ModelProto, *arguments: Any, rtol: float = 1e-4) -> None:
        data = made.SerializeToString()
        session = onnxruntime.InferenceSession(data, options)
        names = [each.name for each in session.get_inputs()]
        expected = session.run(None, dict(zip(names, arguments, strict=True)))
        found = interpret(load_program(data), *arguments)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-5)

    return check
